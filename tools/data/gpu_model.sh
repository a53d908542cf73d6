#!/usr/bin/env bash
# gpu_model.sh [KWRIGHT]: remakes models/sm_90 from times of H200s (data/README.md): of those in `waiting` every timing begins behind a kernel that
# waits (bench/peer/gpu_rows.py), in small times of the others (bench/peer/gpu_vs_peer.py) the host has a share; writes to data/holdouts.csv what it
# keeps on the lists that it never sees. Wants LightGBM (make lightgbm, or KW_LIGHTGBM); half a minute on one core.
set -eu
cd "$(dirname "$0")/../.."
kwright=${1:-build/kwright}
store=build/sm_90.csv
mkdir -p build
waiting=(pairs pairs-2 pairs-3 pairs-4 columns columns-2 few first thin-2 thin-3 tf32 narrow narrow-2 point deep weights)
hosted=(bf16 bf16-drawn kernels thin)
files() { printf 'data/sm_90-%s.csv.gz ' "$@"; }
# shellcheck disable=SC2046 # names without spaces
python3 bench/peer/peer_rows.py $(files "${waiting[@]}") --host-ns 1200 $(files "${hosted[@]}") >"$store"
"$kwright" train "$store" --quantity ratio --rounds 0 --seed 1 --folds 1 --trees 500 --out models/sm_90
KWRIGHT=$kwright tools/data/holdouts.sh --write
