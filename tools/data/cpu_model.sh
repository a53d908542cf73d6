#!/usr/bin/env bash
# cpu_model.sh [KWRIGHT]: remakes models/cpu from the measured rows of CPUs (data/README.md) but those that no model is trained on, and writes what it keeps
# of the best kernel's speed on these to data/holdouts.csv. Wants LightGBM (make lightgbm, or KW_LIGHTGBM); a minute on two cores.
set -eu
cd "$(dirname "$0")/../.."
kwright=${1:-build/kwright}
rows=()
for name in v4-bf16-fp32 v4-bf16-fp32-gemm v4-bf16-fp32-wide v4-bf16-bf16 v4-bf16-bf16-wide v3-fp32 v4-bf16-drawn v4-bf16-drawn-2 v4-bf16-drawn-3 v4-bf16-drawn-4 \
    v4-bf16-drawn-5 v4-bf16-drawn-6 v4-bf16-lines v4-bf16-pixels v4-bf16-first v4-bf16-narrow-pairs v4-bf16-xeon-fp32 v4-bf16-xeon-fp32-wide v3-zen3-drawn v4-bf16-stand v4-bf16-weak; do
    rows+=("data/x86-64-$name.jsonl.gz")
done
"$kwright" train "${rows[@]}" --holdout holdout_networks,holdout_gemm --seed 1 --rounds 0 --folds 1 --trees 900 --learning-rate 0.09 --threads 2 --quiet --out models/cpu
KWRIGHT=$kwright tools/data/holdouts.sh --write
