#!/usr/bin/env bash
# memcheck.sh [BUILD]: the unit tests of what reads, stores and scores, under valgrind: uses of values that were never set, which no sanitizer
# of gcc finds, and leaks. Tests that run compiled kernels are not among them: valgrind does not know AVX-512. A test that takes
# longer than LIMIT seconds (600) is skipped and named. The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 3
build=${1:-build}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0
export KW_VALGRIND=1
# First that valgrind finds what is planted.
for folder in fault/test_sanitizers unit/{base,problem,config,json,store,predict,learn,report,space,evaluate,search}/'test_*'; do
    # shellcheck disable=SC2231
    for program in "$build/tests"/$folder; do
        [ -f "$program" ] || continue
        (cd "$(dirname "$program")" && timeout "${LIMIT:-600}" valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
            --child-silent-after-fork=yes "./$(basename "$program")") >"$log" 2>&1
        code=$?
        if [ $code -eq 124 ]; then
            echo "skipped: $(basename "$program"): longer than ${LIMIT:-600} s"
        elif [ $code -eq 0 ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAILED: $program: exit code $code"
            grep -m 12 -E '^==|FAILED|ERROR' "$log"
        fi
    done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
