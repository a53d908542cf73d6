#!/usr/bin/env bash
# demo.sh: tunes real network layers (problems/demo.txt) with rule set default, prints the table, then runs every layer once through the
# public C API; then learns from a small sweep and lets the model choose (demo_model.sh). DEMO_THREADS (1): threads of a kernel. The second run
# answers from wisdom and cache, and measures nothing again.
set -eu
cd "$(dirname "$0")/.."
threads=${DEMO_THREADS:-1}
start=$(date +%s)
build/kwright doctor
echo
# What is tuned: every layer forward in fp32 and bf16, every convolution backward in fp32.
for pass in "all fp32" "conv_fwd bf16"; do
    read -r dir dtype <<<"$pass"
    echo "== layers of problems/demo.txt, $dir, $dtype, $threads thread(s)"
    build/kwright tune --threads "$threads" --problems demo --dir "$dir" --dtype "$dtype"
    echo
done
echo "== all of it once through the C API (examples/network.c)"
for pass in "all fp32" "conv_fwd bf16"; do
    read -r dir dtype <<<"$pass"
    build/kwright problems --problems demo --dir "$dir" --dtype "$dtype"
done >build/demo-problems.txt
KW_THREADS=$threads build/examples/network build/demo-problems.txt frozen
echo
build/kwright wisdom --threads "$threads" --limit 0
build/kwright doctor | grep -E '^(cache|wisdom)'
echo
tools/demo_model.sh
echo
echo "demo: $(($(date +%s) - start)) s; run \`make demo\` again to see it answer from wisdom"
