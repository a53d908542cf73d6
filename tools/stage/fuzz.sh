#!/usr/bin/env bash
# fuzz.sh: builds the libFuzzer targets and runs each for FUZZ_SECONDS on its corpus, JOBS of them side by side. A crash leaves its input in
# build-fuzz/ and fails. What a target finds new ways with is kept in FUZZ_CORPUS (build-fuzz/corpus), so that the next run goes on from there.
set -eu
cd "$(dirname "$0")/../.."
. tools/common.sh
build fuzz
: >build-fuzz/failed
export FUZZ_SECONDS=${FUZZ_SECONDS:-60} FUZZ_CORPUS=${FUZZ_CORPUS:-build-fuzz/corpus}

# fuzz_one TARGET: what it printed comes in one piece.
fuzz_one() {
    local name work code=0 corpora
    name=$(basename "$1")
    work=$(mktemp -d)
    mkdir -p "$FUZZ_CORPUS/$name"
    corpora=("$FUZZ_CORPUS/$name")
    [ ! -d "tests/fuzz/corpus/$name" ] || corpora+=("tests/fuzz/corpus/$name")
    TMPDIR=$work "$1" -max_total_time="$FUZZ_SECONDS" -rss_limit_mb=4096 -timeout=10 -print_final_stats=0 -verbosity=0 \
        -artifact_prefix=build-fuzz/ "${corpora[@]}" >"$work/log" 2>&1 || code=1
    [ $code = 0 ] || echo "$name: $(grep -m 1 -E 'SUMMARY|ERROR' "$work/log")" >>build-fuzz/failed
    echo "$name"
    cat "$work/log"
    rm -rf "$work"
    return $code
}
export -f fuzz_one
targets=$(find build-fuzz/tests/fuzz -maxdepth 1 -name 'fuzz_*' -type f -executable | sort)
[ -n "$targets" ] || { echo "no fuzz target was built"; exit 1; }
code=0
xargs -P "$JOBS" -I{} bash -c 'fuzz_one {}' <<<"$targets" || code=1
cat build-fuzz/failed
exit $code
