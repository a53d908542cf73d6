#!/usr/bin/env bash
# selftest/check_folders.sh: the check of sizes must find a folder with a file too many, a file with a line too many, and a useless exception.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/tools/check" "$root/src/base"
list=$root/tools/check/folders.txt
: >"$list"
refused() { "$here/check_folders.sh" "$root" >/dev/null 2>&1 && { echo "not found: $1"; exit 1; }; }
taken() { "$here/check_folders.sh" "$root" || { echo "refused: $1"; exit 1; }; }
refused "a tree without source files"
for i in {1..16}; do echo "int n$i;" >"$root/src/base/n$i.c"; done
seq -f 'int line%.0f;' 600 >"$root/src/base/n1.c"
echo "no source" >"$root/src/base/notes.txt"
taken "16 files, 600 lines"
echo "int one_more;" >>"$root/src/base/n1.c"
refused "a C file of 601 lines"
echo "src/base/n1.c: made up for this test" >"$list"
taken "a named exception for a file"
echo "int one;" >"$root/src/base/n1.c"
refused "an exception that nothing needs"
: >"$list"
touch "$root/src/base/n17.py"
refused "a folder of 17 files"
echo "src/base:" >"$list"
refused "an exception without a reason"
echo "src/base: made up for this test" >"$list"
taken "a named exception for a folder"
exit 0
