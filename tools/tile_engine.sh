#!/usr/bin/env bash
# tile_engine.sh [KWRIGHT [DEVICE]]: the quick start of Composable Kernel's grouped-convolution tile engine, line by line: what it prints is each
# published command and ours, and the same files come out, in the working folder. On an emulated GPU (emu:gfx950) sweeps take two kernels
# and little problems; on a GPU (hip:0) all of them, which takes hours. Kernels are compiled for the GPU itself where clang is new enough.
#
#   published program                        here
#   grouped_conv_instance_builder.py FILE    kwright list --traits FILE
#   grouped_conv_full_benchmark.py           kwright sweep --traits FILE, a store; kwright db export makes it the published CSV
#   test_batch_benchmark.py                  kwright check
#   create_miopen_training_set.py            kwright problems extract
#   convert_csv_to_parquet.py                none: training reads stores
#   train.py, validate_*.py                  kwright train, kwright evaluate (docs/selection/training.md, docs/selection/evaluation.md)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
kwright=${1:-$root/build/kwright}
device=${2:-emu:gfx950}
configs=$root/examples/traits

little=() few=() pair=()
if [[ $device == emu:* ]]; then
    little=(--limit 1)
    few=(--max-gflop 0.06 --config "conv.igemm conv_fwd bf16 pipeline=compv3 warp_m=-1")
    pair=(--filter "c.tile_m == 16 and c.tile_k == 64 and c.pipeline ~= 'compv4'" --batches 1)
fi

published() {
    printf '\n# %s\n' "$*"
}

# ours ARGUMENT...: says the command and runs it.
ours() {
    printf '$ kwright'
    printf ' %q' "$@"
    printf '\n'
    "$kwright" "$@"
}

# kernels COUNT FILE: the published count, or the one that docs/selection/traits.md explains.
kernels() {
    local count
    count=$("$kwright" list --traits "$configs/$2.json" --arch gfx950 --count-only)
    [ "$count" = "$1" ] || { echo "tile_engine.sh: $2 lists $count kernels, not $1" >&2; exit 1; }
}

# rows LEAST CSV: what came out is the published table and has rows with times.
rows() {
    local head=kernel,problem_idx,N,C,K,G,Di,Hi,Wi,Z,Y,X,stride_d,stride_h,stride_w,pad_d,pad_h,pad_w,dilation_d,dilation_h,dilation_w
    [ "$(head -n 1 "$2")" = "$head,latency_ms,tflops,non_zero" ] || { echo "tile_engine.sh: $2 has other columns" >&2; exit 1; }
    local timed
    timed=$(awk -F, 'NR > 1 && $(NF - 2) > 0 && $NF > 0' "$2" | wc -l)
    [ "$timed" -ge "$1" ] || { echo "tile_engine.sh: $2 has $timed rows with times, not $1" >&2; cat "$2" >&2; exit 1; }
}

# sweep VARIANT TRAITS PROBLEMS FILE [OPTION...]: one published benchmark; FILE.csv comes out.
sweep() {
    local traits=$2 problems=$3 file=$4
    published "python grouped_conv_full_benchmark.py --variant $1 --problems $problems --workers 256 --output $file.csv"
    shift 4
    ours sweep --traits "$configs/$traits.json" --problems "$problems" --device "$device" --jobs 256 --overwrite --yes --quiet \
        "${pair[@]}" "$@" --out "$file.db"
    ours db export "$file.db" --format seed-csv --out "$file.csv"
    rows 1 "$file.csv"
}

published "python grouped_conv_instance_builder.py configs/forward_bf16.json --arch gfx950 --count-only"
ours list --traits "$configs/forward_bf16.json" --arch gfx950 --count-only
kernels 28 forward_bf16
kernels 20 bwd_data
kernels 20 bwd_weight
published "python grouped_conv_instance_builder.py configs/forward_bf16.json --arch gfx950 --list"
ours list --traits "$configs/forward_bf16.json" --arch gfx950
published "python grouped_conv_instance_builder.py configs/forward_bf16.json --arch gfx950 --filter \"c.tile_n >= 128 and c.pipeline == 'compv5'\" --list"
ours list --traits "$configs/forward_bf16.json" --arch gfx950 --filter "c.tile_n >= 128 and c.pipeline == 'compv5'" | tee large.txt
grep -q 'tile_n=128 .*pipe=compv5' large.txt
if grep -Ev '^\$|tile_n=128 .*pipe=compv5' large.txt; then exit 1; fi
published "python grouped_conv_instance_builder.py configs/forward_bf16.json --arch gfx950 --export-json kernels.json"
ours list --traits "$configs/forward_bf16.json" --arch gfx950 --export-json kernels.json
[ "$("$kwright" list --kernels kernels.json --arch gfx950 --count-only)" = 28 ]

# Compiled for the GPU, which needs no GPU: the first phase of the benchmark.
clang=$(compgen -c clang- | grep -E '^clang-(2[2-9]|[3-9][0-9])$' | sort -u | tail -n 1 || true)
published "the first phase of the benchmark: compile"
if [ -n "$clang" ]; then
    ours build --kernels kernels.json --arch gfx950 --filter "c.tile_m == 16 and c.tile_k == 64" --out objects --quiet
    [ -n "$(ls objects)" ]
else
    echo "no clang 22, which kernels for gfx950 need (make gfx950): they are enumerated alone"
fi

published "python test_batch_benchmark.py"
ours check --traits "$configs/forward_bf16.json" --filter "c.tile_m == 16 and c.tile_k == 64 and c.pipeline ~= 'compv4'" --device "$device" --quiet \
    "conv_fwd bf16 n1 g2 c64 k64 i8x8 f3x3 p1x1"
export KW_EMU_CHECKS=0 # what follows is timed; check looked at each access
sweep forward forward_bf16 forward_2d_test_validation sweep_forward_smoke "${few[@]}"
sweep forward forward_bf16 forward_2d sweep_forward_2d "${little[@]}"
sweep bwd_data bwd_data bwd_data_2d sweep_bwd_data "${little[@]}"
sweep bwd_weight bwd_weight bwd_weight_2d sweep_bwd_weight "${little[@]}"

published "python create_miopen_training_set.py --input ALL_CONFIGS_FULL.txt --output forward_training_new.py --count 500"
[ -f ALL_CONFIGS_FULL.txt ] || cat >ALL_CONFIGS_FULL.txt <<'LOG'
./bin/MIOpenDriver convbfp16 -n 1 -c 64 -H 8 -W 8 -k 64 -y 1 -x 1 -p 0 -q 0 -u 1 -v 1 -l 1 -j 1 -m conv -I NHWC -f NHWC -O NHWC -g 1 -F 1 -t 1
./bin/MIOpenDriver convbfp16 -n 1 -c 64 -H 8 -W 8 -k 64 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m conv -I NHWC -f NHWC -O NHWC -g 2 -F 1 -t 1
LOG
printf '$ kwright problems extract ALL_CONFIGS_FULL.txt --sample 500 >forward_training_new.txt\n'
"$kwright" problems extract ALL_CONFIGS_FULL.txt --sample 500 >forward_training_new.txt
sweep forward forward_bf16 ./forward_training_new.txt new_training_data "${little[@]}"
published "python compare_ml_vs_oracle.py"
ours evaluate sweep_forward_2d.db sweep_bwd_data.db sweep_bwd_weight.db new_training_data.db --selector estimate
