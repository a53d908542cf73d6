#!/usr/bin/env bash
# fuzz.sh: builds the libFuzzer targets and runs each for FUZZ_SECONDS on its corpus. A crash leaves its input in build-fuzz/ and fails.
set -eu
cd "$(dirname "$0")/.."
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "${JOBS:-2}"
found=0
for target in build-fuzz/tests/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    found=1
    name=$(basename "$target")
    work=$(mktemp -d)
    corpus=$work/corpus
    mkdir "$corpus"
    seeds=tests/fuzz/corpus/$name
    [ -d "$seeds" ] || seeds=""
    echo "$name"
    TMPDIR=$work "$target" -max_total_time="${FUZZ_SECONDS:-60}" -rss_limit_mb=4096 -timeout=10 -print_final_stats=0 -verbosity=0 -artifact_prefix=build-fuzz/ "$corpus" $seeds
    rm -rf "$work"
done
[ $found = 1 ] || { echo "no fuzz target was built"; exit 1; }
