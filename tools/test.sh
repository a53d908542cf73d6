#!/usr/bin/env bash
# test.sh: every check of the project, stage by stage; what `make test` and CI run. A stage is a function; its checks and test
# cases are counted, and the last line is "N passed, N failed". TEST_STAGES="format layers" runs a part of it.
set -u
cd "$(dirname "$0")/.."
JOBS=${JOBS:-$(nproc)}
passed=0
failed=0
launcher=""
command -v ccache >/dev/null && launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# check NAME COMMAND...: one check, one line; what it printed only when it fails.
check() {
    local name=$1
    shift
    if "$@" >"$log/check" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        tail -n 60 "$log/check"
    fi
}

# build PRESET [TARGET...]: configures and builds; a failure counts as one and skips the stage's tests.
build() {
    local preset=$1
    shift
    cmake --preset "$preset" $launcher >"$log/build" 2>&1 &&
        cmake --build --preset "$preset" -j "$JOBS" ${1:+--target "$@"} >>"$log/build" 2>&1
    local code=$?
    if [ $code -ne 0 ]; then
        failed=$((failed + 1))
        echo "FAILED: build of preset $preset"
        grep -E 'error|Error|warning' "$log/build" | head -n 40
        tail -n 20 "$log/build"
    fi
    return $code
}

# tests FOLDER [ctest options]: counts cmocka cases of programs that report them, one for every other ctest.
tests() {
    local folder=$1
    shift
    ctest --test-dir "$folder" --output-on-failure --timeout 900 -j 1 -V "$@" >"$log/ctest" 2>&1
    local cases bad programs
    cases=$(grep -cE '^[0-9]+: \[       OK \]' "$log/ctest")
    bad=$(grep -cE '^[0-9]+: \[  FAILED  \] [a-z_]' "$log/ctest")
    programs=$(grep -cE '\*\*\*(Failed|Timeout|Exception|Not Run)' "$log/ctest")
    # Programs that do not report cases (scripts) count as one each.
    local plain
    plain=$(awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: .* Passed/ {n++} END {print n+0}' "$log/ctest")
    local cmocka
    cmocka=$(grep -cE '^[0-9]+: \[==========\] Running' "$log/ctest")
    plain=$((plain > cmocka ? plain - cmocka : 0))
    [ "$bad" -lt "$programs" ] && bad=$programs
    passed=$((passed + cases + plain))
    failed=$((failed + bad))
    if [ "$programs" -gt 0 ] || [ "$cases" -eq 0 ]; then
        [ "$cases" -eq 0 ] && [ "$plain" -eq 0 ] && { failed=$((failed + 1)); echo "FAILED: no test ran in $folder"; }
        grep -E '\*\*\*|\[  FAILED|ERROR|SUMMARY|error:' "$log/ctest" | head -n 80
    fi
    grep -E '^[0-9]+: (skip|note):' "$log/ctest" | sed 's/^[0-9]*: /  /' | sort | uniq | head -n 20
}

stage_format() { check "clang-format" tools/check_format.sh; }
stage_layers() {
    check "include order" tools/check_layers.sh
    check "the include check finds a planted violation" tools/check_layers_selftest.sh
}
stage_headers() { check "public headers alone, as C and C++" tools/check_headers.sh; }
stage_kernels() { check "kernel files compile alone" tools/check_kernels.sh; }
stage_release() { build release && tests build; }
stage_debug() { build debug && tests build-debug -LE slow; }
stage_tsan() { build tsan && tests build-tsan -L threads; }
stage_fuzz() { check "fuzz targets" env FUZZ_SECONDS="${FUZZ_SECONDS:-4}" JOBS="$JOBS" tools/fuzz.sh; }
stage_install() { check "install, pkg-config and CMake package" tools/check_install.sh; }
stage_portable() { build portable kwright && check "portable kwright links no third-party library" tools/check_portable.sh; }

for stage in ${TEST_STAGES:-format layers headers kernels release debug tsan fuzz install portable}; do
    start=$(date +%s)
    before=$failed
    printf '== %s\n' "$stage"
    "stage_$stage"
    printf '   %s in %d s (%d passed, %d failed so far)\n' "$([ $failed -eq $before ] && echo fine || echo FAILED)" \
        $(($(date +%s) - start)) $passed $failed
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
