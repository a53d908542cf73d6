#!/usr/bin/env bash
# selftest/check_names.sh: the check of names must fail on planted comparisons, or it is worth nothing.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/src/problem/target" "$root/src/families" "$root/src/jit/toolchain" "$root/cli"
cp "$here/../../src/problem/target/backend_id.h" "$root/src/problem/target/"
echo '    .name = "conv.direct", /* "cpu" and "conv.direct" in a comment are no code */' >"$root/src/families/good.c"
echo '    .name = "hip",' >"$root/src/jit/toolchain/good.c"
"$here/check_names.sh" "$root" >/dev/null 2>&1 || { echo "legal names were refused"; exit 1; }
plant() {
    echo "$2" >"$root/$1"
    "$here/check_names.sh" "$root" >/dev/null 2>&1 && { echo "not found: $2 in $1"; exit 1; }
    rm "$root/$1"
}
plant src/problem/bad.c '    if (!strcmp(name, "cuda")) {'
plant cli/bad.c 'const char *device = "emu:gfx942"; /* plays one */'
plant src/families/bad.c '    return kw_word_is(kind, "gpu");'
plant cli/bad.c '    if (!strncmp(config, "conv.direct ", 12)) {'
plant src/families/bad.c '    return !strcmp(family->name, "gemm.mma");'
