#!/usr/bin/env bash
# check_names.sh [ROOT]: who may know a backend or a kernel family by name. A backend's or a kind's name ("cuda", "gpu") stands in code in
# src/problem/target/backend_id.* alone; toolchains and their compilers have names of their own. A family's name ("conv.direct") stands in the files of
# families; no file compares one. Everything else asks the tables for a property.
cd "${1:-$(dirname "$0")/../..}" || exit 3
bad=0
complain() {
    echo "$1" >&2
    bad=1
}
# Code without comments: blocks on one line, then lines of a longer one, which begin with " *" or "/*".
code() { grep -rnE "$1" src cli --include='*.[ch]' | sed -E 's,/\*.*\*/,,' | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*|\*)' | grep -E "$1"; }
backends=$(sed -nE 's/^ *X\([A-Z]+, "([a-z]+)", KW_KIND.*/\1/p' src/problem/target/backend_id.h | paste -sd '|')
[ -n "$backends" ] || complain "src/problem/target/backend_id.h: no list of backends is found"
while read -r line; do
    complain "$line: a backend or a kind by name; ask problem/target/backend_id.h"
done < <(code "\"($backends|gpu)(:[^\"]*)?\"" | grep -vE '^src/(problem/target/backend_id\.|jit/toolchain/)')
while read -r line; do
    complain "$line: a kernel family by name; ask for a property of kw_family"
done < <(code '"(conv|gemm)\.[a-z0-9_]+' | grep -vE '^src/families/')
while read -r line; do
    complain "$line: a family's name is compared; ask for a property of kw_family"
done < <(code '(strcmp|strncmp|strstr|kw_word_is|kw_word_starts)\([^;]*"(conv|gemm)\.')
exit $bad
