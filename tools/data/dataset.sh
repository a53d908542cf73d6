#!/usr/bin/env bash
# dataset.sh [TYPE] [STORE]: measures a data set for learning and packs it: set default on 300 problems each of forward_2d, bwd_data_2d and
# bwd_weight_2d, drawn by kind (seed 1) among those of at most 1 GFLOP and 64 MB, on one thread. TYPE is fp32 unless said. The rows go
# into STORE (build/dataset-TYPE.db), which is resumed when it is there, and from there into data/ARCH-TYPE.jsonl.gz. Fp32 takes about
# half an hour on a quiet machine of the class that the committed files are from.
set -eu
cd "$(dirname "$0")/../.."
type=${1:-fp32}
store=${2:-build/dataset-$type.db}
mkdir -p data
start=$(date +%s)
for list in forward_2d bwd_data_2d bwd_weight_2d; do
    build/kwright sweep --set default --problems $list --sample 300 --max-gflop 1 --max-mb 64 --seed 1 --dtype "$type" --threads 1 \
        --out "$store"
done
arch=$(build/kwright db list "$store" --limit 1 --json | sed -nE 's/.*"target": *"cpu:([^ "]*).*/\1/p')
build/kwright db export "$store" --out "data/$arch-$type.jsonl.gz"
echo "data/$arch-$type.jsonl.gz: $(stat -c %s "data/$arch-$type.jsonl.gz") bytes, measured in $(($(date +%s) - start)) s"
