#!/usr/bin/env bash
# gpu_model.sh [KWRIGHT]: remakes models/sm_90 from the times in data/sm_90-*.csv.gz, which bench/gpu_vs_peer.py --every --rows wrote on an
# H200 (data/README.md). Wants LightGBM (make lightgbm, or KW_LIGHTGBM); half a minute on one core.
set -eu
cd "$(dirname "$0")/../.."
kwright=${1:-build/kwright}
store=build/sm_90.csv
mkdir -p build
python3 bench/peer_rows.py data/sm_90-*.csv.gz >"$store"
"$kwright" train "$store" --quantity ratio --rounds 0 --seed 1 --out models/sm_90
