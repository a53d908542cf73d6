#!/usr/bin/env bash
# check_layers.sh [ROOT]: the direction of dependency. Each folder of src/ includes only itself and folders to its left in
# tools/check/layers.txt. Of kernels/, all from config on may include prelude/, and families/ the kernels' own headers (cpu/, gpu/).
# lua.h stands only in src/space, sqlite3.h only in src/store; cli/ and examples/ include nothing of src/.
cd "${1:-$(dirname "$0")/../..}" || exit 3
read -r -a layers <tools/check/layers.txt
bad=0
allowed=""
complain() {
    echo "$1" >&2
    bad=1
}
for layer in "${layers[@]}"; do
    allowed="$allowed $layer"
    [ "$layer" = config ] && allowed="$allowed prelude"
    of_kernels=""
    [ "$layer" = families ] && of_kernels="cpu gpu"
    [ -d "src/$layer" ] || continue
    while IFS=: read -r file line include; do
        folder=${include%%/*}
        case " $allowed $of_kernels " in
        *" $folder "*) ;;
        *) complain "$file:$line: src/$layer may not include \"$include\"; allowed:$allowed (tools/check/layers.txt)" ;;
        esac
    done < <(grep -rnoE '^#include "[a-z_]+/[a-z_0-9/]+\.h"' "src/$layer" --include='*.[ch]' | sed -E 's/#include "(.*)"/\1/')
done
while read -r match; do
    complain "$match: lua.h is included outside src/space"
done < <(grep -rnE '^#include <(lua|lauxlib|lualib)\.h>' src cli examples --include='*.[ch]' | grep -v '^src/space/')
while read -r match; do
    complain "$match: sqlite3.h is included outside src/store"
done < <(grep -rnE '^#include <sqlite3\.h>' src cli examples --include='*.[ch]' | grep -v '^src/store/')
while read -r match; do
    complain "$match: cli/ and examples/ stand on the public headers only"
done < <(grep -rnE '^#include "[a-z_]+/' cli examples --include='*.[ch]')
for folder in src/*/; do
    name=$(basename "$folder")
    case " ${layers[*]} " in
    *" $name "*) ;;
    *) complain "src/$name is not in tools/check/layers.txt" ;;
    esac
done
exit $bad
