#!/bin/sh
# abi.sh: what programs are compiled and linked against, held against abi.txt: the symbols that each library exports under its public
# version, and every declaration of the public headers with its members and values in their order. Whoever changes one of them on purpose
# remakes the file (make golden) and reads in its diff what breaks: a line that is gone or altered needs another soname after a release.
#   abi.sh COMPILER NM INCLUDE_FOLDER LIBRARY ...      KW_GOLDEN_WRITE=1 writes the file
set -eu
compiler=$1 nm=$2 include=$3
shift 3
golden=$(dirname "$0")/abi.txt
now=$(mktemp)
trap 'rm -f "$now"' EXIT
for library; do
    echo "exports of $(basename "$library")"
    "$nm" -D --defined-only -P "$library" | sed -n 's/@@\(KERNELWRIGHT_[0-9]*\) .*/  \1/p' | LC_ALL=C sort
done >"$now"
test "$(grep -c KERNELWRIGHT_ "$now")" -gt 50 || { echo "no exports were found in $*"; exit 1; }
# The preprocessor drops comments and tells of each line which header it is of.
for header in "$include"/kernelwright/*.h "$include"/kernelwright_tune/*.h; do
    name=${header#"$include"/}
    echo "$name"
    printf '#include <%s>\n' "$name" | "$compiler" -I "$include" -E - | awk -v name="/$name\"" '
        /^#/ { mine = index($0, name) > 0; next }
        mine { text = text " " $0 }
        END {
            gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?\)\)/, "", text)
            gsub(/[ \t]+/, " ", text)
            gsub(/ *; */, ";\n", text)
            gsub(/ *{ */, " {\n", text)
            gsub(/, */, ", ", text)
            print text
        }' | sed 's/^ *//; s/ *$//; /^$/d; s/^/  /'
done >>"$now"
if [ -n "${KW_GOLDEN_WRITE:-}" ]; then
    cp "$now" "$golden"
elif ! diff -u "$golden" "$now"; then
    echo "the interface is not the one of $golden; if that is wanted, make golden, and mind who is linked already"
    exit 1
fi
