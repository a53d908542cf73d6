#!/usr/bin/env bash
# bench.sh: builds the benchmarks and runs each on one thread, against its peer in the same run; writes docs/bench-NAME.md.
set -eu
cd "$(dirname "$0")/.."
cmake --preset release -DKW_BUILD_BENCH=ON >/dev/null
cmake --build build -j "${JOBS:-2}"
export OMP_NUM_THREADS=1
for program in build/bench/bench_*; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    echo "== $name"
    "$program" | tee "docs/${name//_/-}.md"
done
