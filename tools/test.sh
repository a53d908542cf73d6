#!/usr/bin/env bash
# test.sh: every check of the project, stage by stage; what `make test` and CI run. A stage is a function. Counted are the cases of the test
# programs and, as one each, the checks by script; the last line is "N passed, N failed", and the exit status is 0 only when
# something passed and nothing failed. Skipped cases are named with their reason and counted in the line before it. `tools/test.sh text
# headers` runs these stages alone, `tools/test.sh python,install,report` side by side, for none of them keeps all processors busy.
set -u
cd "$(dirname "$0")/.." || exit 3
. tools/common.sh
export KW_RATES=usual # estimates, and what is printed of them, are the same on every machine
passed=0
failed=0
skipped=0
log=$(mktemp -d)
locks=$log/locks # a stage has a folder by its name beside it
mkdir "$locks"
trap 'rm -rf "$log"' EXIT

# check NAME COMMAND...: one check; what it printed only when it fails.
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

# built PRESET [TARGET...]: a failure to configure or build counts as one, and the stage's tests are not run. Of stages that build the same
# preset one waits for the other.
built() {
    (
        flock 9
        build "$@" >"$log/build" 2>&1
    ) 9>"$locks/$1" && return
    failed=$((failed + 1))
    echo "FAILED: build of preset $1; its tests are not run"
    grep -E 'error|Error|warning' "$log/build" | head -n 40
    tail -n 20 "$log/build"
    return 1
}

# tests FOLDER [ctest options]: twice as many at a time as there are processors, for many wait. tools/stage/ctest_count.awk says how they are
# counted.
tests() {
    local folder=$1 code kind text good=0 bad=0
    shift
    ctest --test-dir "$folder" --timeout 900 -j $((JOBS * 2)) -V "$@" >"$log/ctest" 2>&1
    code=$?
    while read -r kind text; do
        case $kind in
        fail) echo "FAILED: $text" ;;
        show) echo "    $text" ;;
        skip)
            skipped=$((skipped + 1))
            echo "   skipped $text"
            ;;
        count) read -r good bad <<<"$text" ;;
        esac
    done < <(awk -f tools/stage/ctest_count.awk "$log/ctest")
    if [ $((good + bad)) -eq 0 ]; then
        echo "FAILED: no test ran in $folder"
        tail -n 20 "$log/ctest"
        bad=1
    elif [ $code -ne 0 ] && [ "$bad" -eq 0 ]; then
        echo "FAILED: ctest exits with $code"
        tail -n 20 "$log/ctest"
        bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
}

# Programs of a label are built alone: a program is named as its test.
tests_of_label() {
    ctest --test-dir "$1" -N -L "$2" | sed -nE 's/^ *Test +#[0-9]+: //p'
}

stage_text() {
    check "clang-format" tools/check/check_format.sh
    check "shell scripts" tools/check/check_scripts.sh
    check "no path of one machine" tools/check/check_paths.sh
    check "links, names and sizes of the documentation" tools/check/check_docs.sh
    check "include order" tools/check/check_layers.sh
    check "the include check finds a planted violation" tools/check/selftest/check_layers.sh
    check "sizes of folders and files" tools/check/check_folders.sh
    check "the check of sizes finds a file too many and a line too many" tools/check/selftest/check_folders.sh
    check "backends and families by name" tools/check/check_names.sh
    check "the check of names finds a planted comparison" tools/check/selftest/check_names.sh
    check "headers that kernels and library share" tools/check/check_shared.sh
    check "the check of shared headers finds a name too few and one too many" tools/check/selftest/check_shared.sh
    check "the check of circles finds a planted one" tools/check/selftest/check_circles.sh
    check "an embedded file that changed is not answered from ccache" tools/check/selftest/embed_ccache.sh
    check "cppcheck" tools/check/check_static.sh
}
stage_headers() { check "public headers alone, as C and C++" tools/check/check_headers.sh; }
stage_release() {
    built release all benches || return
    check "no circle of files" tools/check/check_circles.sh build/src
    tests build -LE '^sanitised$'
}
stage_kernels() { built release kwright && check "kernel files compile alone, with samples as the generator writes them" tools/stage/check_kernels.sh; }
# Kernels for GPUs that are not here: the script counts its cases itself, a kernel each.
stage_gpu() {
    local good=0 bad=1
    built release kwright gpu_pairs || return
    tools/stage/gpu_check.sh >"$log/gpu" 2>&1
    sed '$d' "$log/gpu"
    read -r good bad < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log/gpu")
    passed=$((passed + ${good:-0}))
    failed=$((failed + ${bad:-1}))
}
stage_debug() { built debug && tests build-debug -LE '^plain$'; }
stage_tsan() {
    configure tsan >"$log/tsan" 2>&1
    # shellcheck disable=SC2046
    built tsan $(tests_of_label build-tsan threads) && tests build-tsan -L threads
}
stage_fuzz() { check "fuzz targets" env FUZZ_SECONDS="${FUZZ_SECONDS:-1}" tools/stage/fuzz.sh; }
stage_install() { check "install, pkg-config, CMake package and the README's program" tools/stage/check_install.sh; }
# The models on the rows that they were not trained on.
stage_choice() {
    built release kwright || return
    check "the committed models choose as well as when they were trained" tools/data/holdouts.sh
    check "the check of choices finds a mean that fell" tools/check/selftest/holdouts.sh
}
stage_report() { built release kwright make_store png_colours && check "a report in a browser" tools/stage/check_report.sh; }
# pytests CODE: counts by what pytest printed to $log/pytest before it ended with this code; its last line is "2 failed, 46 passed, 1 error in
# 8.5s".
pytests() {
    local good bad
    grep -E "^(FAILED|ERROR|SKIPPED|kernelwright-|(python|torch).sh:)" "$log/pytest"
    good=$(sed -nE '$s/^(.* )?([0-9]+) passed.*/\2/p' "$log/pytest")
    bad=$(sed -nE '$p' "$log/pytest" | grep -oE '[0-9]+ (failed|error)' | awk '{ n += $1 } END { print n + 0 }')
    if [ "$1" -ne 0 ] && [ "$bad" -eq 0 ] || [ -z "$good" ]; then
        bad=$((bad + 1))
        tail -n 40 "$log/pytest"
    fi
    passed=$((passed + ${good:-0}))
    failed=$((failed + bad))
}
stage_python() {
    built release kernelwright_shared kernelwright_tune_shared kwright || return
    tools/python.sh build >"$log/pytest" 2>&1
    pytests $?
}
# The operators by PyTorch's own checkers; `make test-torch` is all of it.
stage_torch() {
    built release kernelwright_shared kernelwright_tune_shared kwright || return
    if ! KW_TORCH=fetch timeout 300 tools/long/torch.sh build >"$log/fetch" 2>&1; then
        skipped=$((skipped + 1))
        echo "   skipped torch: PyTorch cannot be had: $(tail -n 1 "$log/fetch")"
        return
    fi
    tools/long/torch.sh build -k "opcheck or gradcheck" >"$log/pytest" 2>&1
    pytests $?
}
stage_portable() { built portable && check "the portable kwright needs the C library alone and no compiler" tools/stage/check_portable.sh; }

# Seconds of processor time that this shell's commands have used. Not to be called in a subshell, which has children of its own.
cpu_seconds() {
    times >"$log/times"
    awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } printf "%d", sum }' "$log/times"
}

# run_stage STAGE: in a shell and a folder of its own; what it counted is in counts there.
run_stage() (
    log=$log/$1 passed=0 failed=0 skipped=0
    mkdir -p "$log"
    start=$(date +%s)
    printf '== %s\n' "$1"
    "stage_$1"
    cpu_seconds >"$log/cpu"
    printf '   %s in %d s, %d s of processor time (%d passed, %d failed)\n' "$([ $failed -eq 0 ] && echo fine || echo FAILED)" \
        $(($(date +%s) - start)) "$(cat "$log/cpu")" $passed $failed
    echo $passed $failed $skipped >"$log/counts"
)

# run_beside STAGE...: two at a time where there are processors for it. A stage that did not come to its end has failed.
run_beside() {
    local stage good bad without
    for stage in "$@"; do
        [ "$(jobs -rp | wc -l)" -lt $((JOBS < 2 ? JOBS : 2)) ] || wait -n
        if [ $# -eq 1 ]; then
            run_stage "$stage" &
        else
            run_stage "$stage" >"$log/said.$stage" 2>&1 &
        fi
    done
    wait
    for stage in "$@"; do
        [ $# -eq 1 ] || cat "$log/said.$stage"
        if [ -s "$log/$stage/counts" ]; then
            read -r good bad without <"$log/$stage/counts"
        else
            echo "FAILED: stage $stage ended before its end"
            good=0 bad=1 without=0
        fi
        passed=$((passed + good))
        failed=$((failed + bad))
        skipped=$((skipped + without))
    done
}

stages=${*:-text,portable,headers release gpu debug tsan fuzz python,install,torch,report,kernels,choice}
for stage in ${stages//,/ }; do
    declare -F "stage_$stage" >/dev/null || { echo "test.sh: no stage $stage; there are: $(declare -F | sed -n 's/.* stage_//p' | xargs)" >&2; exit 2; }
done
# What trains models. Without it the tests that train are skipped.
case " ${stages//,/ } " in
*" release "* | *" debug "*)
    timeout 180 tools/lightgbm.sh library >"$log/lightgbm" 2>&1 ||
        echo "== LightGBM cannot be had, so the tests that train are skipped: $(tail -n 1 "$log/lightgbm")"
    ;;
esac
for group in $stages; do
    # shellcheck disable=SC2086
    run_beside ${group//,/ }
done
[ $skipped -eq 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
