#!/usr/bin/env bash
# dataset_wide.sh [fp32|bf16|v3] [STORE]: measures the wide data sets for learning (data/README.md): first layers, pointwise and late layers, grouped
# ones, odd products, what the other lists of our own hold, and some problems of 1 to 8 GFLOP. No layer of the lists demo, holdout_networks and
# holdout_gemm is measured. The rows go into STORE (build/wide-TYPE.db), which is resumed when it is there, and without those of kernels that
# do not serve a problem into data/. Half an hour for fp32 on two quiet cores.
set -eu
cd "$(dirname "$0")/../.."
type=${1:-fp32}
store=${2:-build/wide-$type.db}
lists=build/wide-lists
mkdir -p "$lists"

# problems LIST ...: the problems as bare text.
problems() {
    build/kwright problems --problems "$@" | sed -E '/^#/d; s/^[^ ]*: //; s/ +#.*//'
}

# unseen: what is in no list that judges, in no direction.
unseen() {
    awk 'NR == FNR { judged[$0]; next } { shape = $0; sub(/^[a-z_]+ [a-z0-9]+ /, "", shape); if (!(shape in judged)) print }' "$lists/judged" -
}
for list in demo holdout_networks holdout_gemm; do
    problems $list
done | sed -E 's/^[a-z_]+ [a-z0-9]+ //' | sort -u >"$lists/judged"

# take LIST SAMPLE SEED [OPTION ...]: a draw of problems that a CPU can run in minutes, behind those drawn before.
take() {
    local list=$1 sample=$2 seed=$3
    shift 3
    problems "$list" --sample "$sample" --seed "$seed" --max-gflop 1 --max-mb 64 "$@" | unseen >>"$lists/$type"
}

{
    for list in odd asymmetric conv_1d dilated spatial_7_14 depthwise; do
        problems $list --dir all --max-gflop 1 --max-mb 64
    done
    for list in forward_3d bwd_data_3d bwd_weight_3d gemm_edge; do
        problems $list --max-gflop 1 --max-mb 64
    done
} >"$lists/others.txt"
{
    for list in forward_2d bwd_data_2d bwd_weight_2d gemm_wide gemm_odd; do
        build/kwright problems --problems $list --max-gflop 8 --max-mb 200
    done
    for list in first_layers pointwise grouped; do
        build/kwright problems --problems $list --dir all --max-gflop 8 --max-mb 200
    done
} | awk 'match($0, /# [0-9.]+ GFLOP/) && substr($0, RSTART + 2) + 0 > 1' | sed -E 's/^[^ ]*: //; s/ +#.*//' >"$lists/large.txt"

: >"$lists/$type"
case $type in
fp32)
    take first_layers 420 7 --dir all
    take pointwise 600 7 --dir all
    take gemm_odd 400 7
    take grouped 300 7 --dir all
    take "$lists/others.txt" 300 7
    problems "$lists/large.txt" --sample 64 --seed 7 | unseen >>"$lists/$type"
    for list in bwd_weight_2d forward_2d bwd_data_2d; do # dataset.sh has the first 300 of the same draw
        sample=$([ $list = bwd_weight_2d ] && echo 500 || echo 400)
        problems $list --sample "$sample" --seed 1 --max-gflop 1 --max-mb 64 | tail -n +301 | unseen >>"$lists/$type"
    done
    options=(--dtype fp32)
    ;;
bf16)
    take first_layers 200 11 --dir all
    take pointwise 200 11 --dir all
    take gemm_odd 150 11
    take gemm_wide 60 11
    take grouped 200 11 --dir all
    take "$lists/others.txt" 160 11
    problems "$lists/large.txt" --sample 30 --seed 11 | unseen >>"$lists/$type"
    options=(--dtype bf16)
    ;;
v3)
    for list in forward_2d bwd_data_2d bwd_weight_2d gemm_odd gemm_wide; do
        take $list 40 22
    done
    for list in first_layers grouped pointwise; do
        take $list 40 22 --dir all
    done
    options=(--arch x86-64-v3)
    ;;
*)
    echo "dataset_wide.sh: $type is none of fp32, bf16 and v3" >&2
    exit 2
    ;;
esac
mv "$lists/$type" "$lists/$type.txt"
build/kwright sweep "${options[@]}" --set default --problems "$lists/$type.txt" --threads 1 --device cpu,cpu --out "$store"
arch=$(build/kwright db list "$store" --limit 1 --json | sed -nE 's/.*"target": *"cpu:([^ "]*).*/\1/p')
cp "$store" "$store.fit"
build/kwright db drop "$store.fit" --outcome unfit --yes
name=$arch-$type-wide
build/kwright db export "$store.fit" --out "data/${name/-v3-v3-wide/-v3-fp32}.jsonl.gz"
rm "$store.fit"
