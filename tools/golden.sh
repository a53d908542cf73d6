#!/usr/bin/env bash
# golden.sh: remakes the golden files of tests/golden and the samples of kernels/sample after a wanted change of rules or of the
# generator; read the diff before you commit it.
set -eu
cd "$(dirname "$0")/.."
cmake --build build -j "$(nproc)" --target test_golden_spaces test_golden_traits test_golden_launches test_golden_report >/dev/null # no older program writes
KW_GOLDEN_WRITE=1 ctest --test-dir build -R golden --output-on-failure
tools/make_samples.sh
page=docs/kernels/gpu-spaces.md table=$(awk -f tools/check/gpu_spaces.awk tests/golden/gpu_spaces.txt)
awk -v table="$table" '/^[|] architecture / { print table; inside = 1 } !/^[|]/ { inside = 0 } !inside' "$page" >"$page.new"
mv "$page.new" "$page"
git diff --stat -- tests/golden kernels/sample docs
