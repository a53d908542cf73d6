#!/usr/bin/env bash
# device_layouts.sh [KWRIGHT [LIBRARY]]: in some two minutes on a machine with a GPU: verdicts of kernels behind turned tensors, what channels
# first costs over channels last, what an epilogue costs over none, products of few rows beside cuBLAS where PyTorch is. One table a
# question, the most important first; each step has a limit of time, and what it had done by then is in the table. Everything goes into the
# folder OUT (device_layouts.out where it is not set).
#
#   DEVICE     device to use (cuda:0)
#   STEPS      verify layouts epilogues products
#   LIMITS     seconds of each of these (30 45 25 35)
#   SHORTLIST  kernels that are measured for a problem (4)
set -u
cd "$(dirname "$0")/../.." || exit 3
kwright=${1:-build-device/kwright}
library=${2:-$(find "$(dirname "$kwright")" -name 'libkernelwright.so*' 2>/dev/null | head -1)}
device=${DEVICE:-cuda:0}
out=${OUT:-device_layouts.out}
read -r verify_s layouts_s epilogues_s products_s <<<"${LIMITS:-30 45 25 35}"
mkdir -p "$out"
chmod 700 "$out"
cache=$(mktemp -d)
export KW_CACHE_DIR=$cache KW_DATA_DIR=$out/.data
trap 'rm -rf "$cache"' EXIT

# NVRTC may have come with a Python package, where the loader does not look.
if [ -z "${KW_NVRTC:-}" ] && [ "${device%%:*}" = cuda ] && ! "$kwright" doctor 2>&1 | grep -q 'compiled with nvrtc'; then
    found=$(find / -xdev -name 'libnvrtc.so.1[23]' -not -path '*/proc/*' 2>/dev/null | head -1)
    [ -z "$found" ] || export KW_NVRTC=$found
fi

verify_problems=${VERIFY_PROBLEMS:-'conv_fwd bf16 ngchw n2 c72 k40 i14x14 f3x3 p1x1
conv_fwd bf16 ngchw n2 c128 k136 i28x28 f1x1
conv_fwd bf16 ngchw n3 c3 k64 i33x32 f7x7 s2x2 p3x3
conv_fwd bf16 ngchw n2 c64 k72 i7x7 f3x3 p1x1 epilogue=add:bf16:0.5+bias+relu
conv_bwd_data bf16 ngchw n2 c64 k64 i14x14 f3x3 p1x1 s2x2
conv_bwd_weight bf16 ngchw n3 c64 k64 i14x14 f3x3 p1x1
conv_fwd fp16 ngchw n2 g8 c64 k64 i14x14 f3x3 p1x1
conv_fwd bf16 nhwgc n2 c64 k72 i14x14 f3x3 p1x1 epilogue=bias:bf16+add:bf16+gelu
gemm bf16 rcr m300 n200 k136 epilogue=bias:bf16+add:bf16+relu
conv_fwd bf16 ngcdhw n2 c24 k40 i3x9x8 f3x3x3 p1x1x1'}
# Layers of ResNet-50, MobileNetV2 and ConvNeXt; sizes behind the layout.
layers=${LAYERS:-'n32 c64 k64 i56x56 f3x3 p1x1
n32 c256 k64 i56x56 f1x1
n32 c128 k128 i28x28 f3x3 p1x1
n32 c128 k512 i28x28 f1x1
n32 c256 k256 i14x14 f3x3 p1x1
n32 c256 k1024 i14x14 f1x1
n32 c512 k512 i7x7 f3x3 p1x1
n32 c3 k64 i224x224 f7x7 s2x2 p3x3
n32 g192 c192 k192 i28x28 f3x3 p1x1
n32 c96 k384 i56x56 f1x1
n32 c128 k128 i56x56 f3x3 s2x2 p1x1'}
shapes=${SHAPES:-'gemm bf16 rcr m4096 n4096 k1024
conv_fwd bf16 nhwgc n32 c256 k256 i14x14 f3x3 p1x1
conv_fwd bf16 nhwgc n32 c256 k1024 i14x14 f1x1
conv_fwd bf16 nhwgc n32 c64 k64 i56x56 f3x3 p1x1'}

# times FILE SECONDS: each problem of FILE with its best kernel, a line of JSON each, into FILE.json.
times() {
    timeout "$2" "$kwright" run --device "$device" --shortlist "${SHORTLIST:-4}" --wisdom '' --json --quiet --problems "$1" \
        >"$1.json" 2>"$1.err"
    local code=$?
    [ $code = 0 ] || echo "$1: exit code $code after at most $2 s: $(tail -n 1 "$1.err")"
}

# table FILE: a row for each problem of FILE that is followed by others of its sizes, in microseconds, and how many times as long those take;
# then the geometric means. One that was not measured is missing in its row.
table() {
    sed -nE 's/.*"problem": "([^"]*)".*"time_ns": ([0-9.e+]+).*/\2 \1/p' "$1.json" | awk '
        { key = $0; sub(/^[^ ]* /, "", key); sub(/ (out|epilogue)=.*/, "", key); sub(/ ngchw /, " nhwgc ", key); place++
          if (key != last) { if (last != "") print ""; last = key; first = $1; place = 0; printf "%9.1f us %s", first / 1000, key }
          else { ratio = $1 / first; sum[place] += log(ratio); count[place]++; printf "  x%5.2f", ratio; most = place > most ? place : most } }
        END { printf "\ngeometric mean"
              for (i = 1; i <= most; i++) printf "  x%5.2f", exp(sum[i] / count[i])
              print "" }'
}

step() { echo "== $* (${SECONDS} s)"; }

verify() {
    step "verdicts: kernels of set tiny behind turned tensors and with epilogues"
    echo "$verify_problems" >"$out/verify.txt"
    timeout "$verify_s" "$kwright" check --device "$device" --set tiny --quiet --problems "$out/verify.txt" >"$out/verify.log" 2>&1
    grep -E 'wrong|failed|FAIL' "$out/verify.log" | tail -n 12
}

layouts() {
    step "channels first over channels last: time of the second layout in times of the first"
    echo "$layers" | while read -r sizes; do
        printf 'conv_fwd bf16 nhwgc %s\nconv_fwd bf16 ngchw %s\n' "$sizes" "$sizes"
    done >"$out/layouts.txt"
    times "$out/layouts.txt" "$layouts_s"
    table "$out/layouts.txt"
}

epilogues() {
    step "epilogues: bias:bf16+gelu, bias:bf16+add:bf16+relu, out=int8 scale+bias in times of the bare kernel"
    echo "$shapes" | while read -r problem; do
        echo "$problem"
        for words in 'epilogue=bias:bf16+gelu' 'epilogue=bias:bf16+add:bf16+relu' 'out=int8 epilogue=scale+bias'; do
            echo "$problem $words"
        done
    done >"$out/epilogues.txt"
    times "$out/epilogues.txt" "$epilogues_s"
    table "$out/epilogues.txt"
}

products() {
    step "products of few rows beside cuBLAS (their time over ours)"
    if [ -n "$library" ] && python3 -c 'import torch' 2>/dev/null; then
        timeout "$products_s" python3 bench/peer/gpu_vs_peer.py --library "$library" --classes decode,skinny --count 3 --seed 240 \
            --seconds $((products_s - 8)) --out "$out/products.csv" >"$out/products.log" 2>&1
        tail -n 20 "$out/products.log"
        return
    fi
    echo "no PyTorch or no library: our times alone"
    printf 'gemm bf16 %s\n' 'rcr m14 n6144 k1024' 'rcr m16 n30000 k512' 'rcr m40000 n16 k1000' 'rcr m5000 n72 k3000' 'rcr m32 n4096 k16384' \
        'rrr m24 n8192 k2048' >"$out/products.txt"
    times "$out/products.txt" "$products_s"
    sed -nE 's/.*"problem": "([^"]*)".*"time_ns": ([0-9.e+]+).*/\2 ns \1/p' "$out/products.txt.json"
}

for name in ${STEPS:-verify layouts epilogues products}; do
    case $name in
    verify | layouts | epilogues | products) "$name" 2>&1 | tee -a "$out/log.txt" ;;
    *) echo "STEPS: $name is none of: verify layouts epilogues products" && exit 2 ;;
    esac
done
step "done"
