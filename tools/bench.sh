#!/usr/bin/env bash
# bench.sh: builds the benchmarks and runs each on one thread, against its peer in the same run; writes docs/results/DATE/bench-NAME.md.
set -eu
cd "$(dirname "$0")/.."
. tools/common.sh
build release benches >/dev/null
export OMP_NUM_THREADS=1

# bench_forest has its models trained, once, by LightGBM, which comes from PyPI; false where that cannot be had.
prepare_forest() {
    local found python
    found=$(tools/lightgbm.sh) || return 1
    read -r KW_LIGHTGBM python <<<"$found"
    export KW_LIGHTGBM KW_FOREST_BENCH=$PWD/build/forest-bench
    [ -f "$KW_FOREST_BENCH/model_2000x255.lgbm" ] || "$python" tools/long/make_forest_data.py bench "$KW_FOREST_BENCH"
}

results=docs/results/$(date +%F)
mkdir -p "$results"
for program in build/bench/bench_*; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    [ "$name" = bench_peer ] && continue # make bench-cpu
    echo "== $name"
    if [ "$name" = bench_forest ] && ! prepare_forest; then
        echo "left out: no LightGBM"
        continue
    fi
    arguments=()
    if [ "$name" = bench_ranking ]; then
        arguments=(models/*/)
        if [ ! -d "${arguments[0]}" ]; then
            echo "left out: no model in models/"
            continue
        fi
    fi
    "$program" "${arguments[@]:0:1}" | tee "$results/${name//_/-}.md"
done
