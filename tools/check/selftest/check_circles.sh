#!/usr/bin/env bash
# selftest/check_circles.sh: the check of circles must find a planted one, and nothing else.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
plant() { echo "$2" | "${CC:-cc}" -x c -c -o "$root/$1.c.o" - || exit 1; }
plant top 'int middle(void); int top(void) { return middle(); }'
plant middle 'int bottom(void); int middle(void) { return bottom(); }'
plant bottom 'int bottom(void) { return 0; }'
"$here/check_circles.sh" "$root" >/dev/null 2>&1 || { echo "files without a circle were refused"; exit 1; }
plant bottom 'int top(void); int bottom(void) { return top(); }'
"$here/check_circles.sh" "$root" >/dev/null 2>&1 && { echo "a circle of three files was not found"; exit 1; }
"$here/check_circles.sh" "$root/nothing" >/dev/null 2>&1 && { echo "a folder without objects was taken"; exit 1; }
exit 0
