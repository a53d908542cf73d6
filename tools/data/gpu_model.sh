#!/usr/bin/env bash
# gpu_model.sh [KWRIGHT]: remakes models/sm_90 from times of H200s (data/README.md): data/sm_90-pairs.csv.gz and -first, which bench/gpu_rows.py
# wrote, and -bf16 and -bf16-drawn of bench/gpu_vs_peer.py --every --rows, in whose small times the host has a share; evaluates it on
# -pairs-holdout and -bf16-holdout, which it never sees. Wants LightGBM (make lightgbm, or KW_LIGHTGBM); half a minute on one core.
set -eu
cd "$(dirname "$0")/../.."
kwright=${1:-build/kwright}
store=build/sm_90.csv
mkdir -p build
python3 bench/peer_rows.py data/sm_90-pairs.csv.gz data/sm_90-first.csv.gz --host-ns 1200 data/sm_90-bf16.csv.gz data/sm_90-bf16-drawn.csv.gz >"$store"
"$kwright" train "$store" --quantity ratio --rounds 0 --seed 1 --folds 1 --trees 500 --out models/sm_90
python3 bench/peer_rows.py data/sm_90-pairs-holdout.csv.gz --host-ns 1200 data/sm_90-bf16-holdout.csv.gz >build/sm_90-holdout.csv
"$kwright" evaluate build/sm_90-holdout.csv --model models/sm_90
