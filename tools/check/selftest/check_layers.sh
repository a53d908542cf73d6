#!/usr/bin/env bash
# selftest/check_layers.sh: the include check must fail on planted violations, or it is worth nothing.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/tools/check" "$root/src/base" "$root/src/jit" "$root/cli" "$root/examples"
cp "$here/layers.txt" "$root/tools/check/"
echo '#include "base/a.h"' >"$root/src/jit/good.c"
"$here/check_layers.sh" "$root" >/dev/null 2>&1 || { echo "a legal include was refused"; exit 1; }
plant() {
    echo "$2" >"$root/$1"
    "$here/check_layers.sh" "$root" >/dev/null 2>&1 && { echo "not found: $2 in $1"; exit 1; }
    rm "$root/$1"
}
plant src/base/bad.c '#include "jit/jit.h"'
plant src/jit/bad.c '#include <lua.h>'
plant src/jit/bad.c '#include <sqlite3.h>'
plant cli/bad.c '#include "base/text.h"'
