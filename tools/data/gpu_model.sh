#!/usr/bin/env bash
# gpu_model.sh [KWRIGHT]: remakes models/sm_90 from times of H200s (data/README.md): data/sm_90-pairs.csv.gz, -pairs-2, -few, -first and -thin-2, timed as bench/peer/gpu_rows.py
# does it, and -bf16, -bf16-drawn, -kernels and -thin, timed as bench/peer/gpu_vs_peer.py does it, in whose small times the host has a share; writes
# to data/holdouts.csv what it keeps on the lists that it never sees. Wants LightGBM (make lightgbm, or KW_LIGHTGBM); half a minute on one core.
set -eu
cd "$(dirname "$0")/../.."
kwright=${1:-build/kwright}
store=build/sm_90.csv
mkdir -p build
python3 bench/peer/peer_rows.py data/sm_90-pairs.csv.gz data/sm_90-pairs-2.csv.gz data/sm_90-few.csv.gz data/sm_90-first.csv.gz data/sm_90-thin-2.csv.gz --host-ns 1200 data/sm_90-bf16.csv.gz data/sm_90-bf16-drawn.csv.gz \
    data/sm_90-kernels.csv.gz data/sm_90-thin.csv.gz >"$store"
"$kwright" train "$store" --quantity ratio --rounds 0 --seed 1 --folds 1 --trees 500 --out models/sm_90
KWRIGHT=$kwright tools/data/holdouts.sh --write
