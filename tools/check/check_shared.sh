#!/usr/bin/env bash
# check_shared.sh: the headers of kernels/ that the library is compiled with too are those that src/families/source.c lists (is_shared_with_host):
# a folder KW_KERNELS whose copy of one is another is refused, where kernel and launch would read their params differently.
cd "${1:-$(dirname "$0")/../..}" || exit 3
bad=0
complain() { echo "$1" >&2; bad=1; }
includes() { sed -nE 's/^#include "((cpu|gpu|prelude)\/[^"]+)".*/\1/p' "$@"; }
listed=$(sed -n '/^static bool is_shared_with_host/,/^}/p' src/families/source.c | grep -oE '"[a-z_/]+\.h"' | tr -d '"')
mapfile -t sources < <(find src -name '*.[ch]')
[ ${#sources[@]} -gt 0 ] || { echo "check_shared.sh finds no sources" >&2; exit 3; }
files=$(includes "${sources[@]}" | sort -u)
[ -n "$listed" ] && [ -n "$files" ] || complain "check_shared.sh finds no list or no headers"
while more=$({ echo "$files"; for file in $files; do includes "kernels/$file"; done; } | sort -u) && [ "$more" != "$files" ]; do
    files=$more
done
matches() { [ "$1" = "$2" ] || [ "${1%/"$2"}" != "$1" ]; }
used=" "
for file in $files; do
    found=
    for name in $listed; do matches "$file" "$name" && found=1 used="$used$name "; done
    # The reference kernels are part of the library; KW_KERNELS does not replace them.
    [ -n "$found" ] || [ "${file#cpu/reference/}" != "$file" ] || complain "kernels/$file: the library includes it; is_shared_with_host in src/families/source.c does not list it"
done
for name in $listed; do
    [ "${used#* "$name" }" != "$used" ] || complain "src/families/source.c: is_shared_with_host lists $name, which the library does not include"
done
exit $bad
