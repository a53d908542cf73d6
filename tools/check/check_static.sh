#!/usr/bin/env bash
# check_static.sh: cppcheck finds nothing in what is shipped. tools/check/cppcheck.txt lists what it is wrong about, and why.
cd "$(dirname "$0")/../.." || exit 3
cppcheck --quiet --enable=warning,performance,portability --std=c11 -j "${JOBS:-2}" -Iinclude -Isrc -Ikernels \
    --suppressions-list=tools/check/cppcheck.txt --error-exitcode=1 src cli examples
