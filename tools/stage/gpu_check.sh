#!/usr/bin/env bash
# gpu_check.sh: every kernel of a set for GPUs that are not here. Each is compiled by the architecture's own compiler, must not spill unless
# its line in the catalog says so, and is played by the emulator on problems of its own (gpu_pairs), where it must be right, free of races
# and within its bounds. A second build must find everything in the cache. Cases are kernels, and a few checks for each architecture; the
# last line is "N passed, N failed". What is done stays in OUT, and the same command goes on from there; what changed is done anew. ms:
# processor time that a kernel took to compile, of those that were not in the cache.
#
#   ARCHS        architectures ("gfx90a gfx942 sm_90"); SET their rule set (tiny)
#   EACH         of a kernel's problems but the one with ragged tiles, each so many (4 for tiny, else 1)
#   BUDGET       seconds for compiling, and again for playing, of each architecture; what is then left is told and no failure (no limit)
#   OUT          folder of compiled kernels and verdicts (build/gpu_check); JOBS processes at a time (all cores)
#   KWRIGHT, PAIRS   the programs (build/kwright, build/tests/check/gpu/gpu_pairs)
set -u
cd "$(dirname "$0")/../.." || exit 3
set_name=${SET:-tiny}
out=${OUT:-build/gpu_check}
jobs=${JOBS:-$(nproc)}
budget=${BUDGET:-}
each=${EACH:-$([ "$set_name" = tiny ] && echo 4 || echo 1)}
kwright=${KWRIGHT:-build/kwright}
pairs=${PAIRS:-build/tests/check/gpu/gpu_pairs}
passed=0
failed=0
table=""

count() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $2"
    fi
}
number() { sed -nE "s/.*\"$2\": *([0-9.]+).*/\1/p" "$1" | head -n 1; }

# compile ARCH FOLDER FILTER: code objects, twice. compiler=none where there is none for the architecture.
compile() {
    local arch=$1 folder=$2 filter=$3 code
    compiler=found
    cost="| | |"
    timeout -s INT "${budget:-0}" "$kwright" build --set "$set_name" --arch "$arch" --out "$folder/objects" --cache-dir "$out/cache" \
        ${filter:+--filter "$filter"} --jobs "$jobs" --json --quiet >"$folder/build.json" 2>"$folder/build.err"
    code=$?
    if [ $code = 3 ]; then
        compiler=none
        echo "skipped: $arch is not compiled: $(head -n 1 "$folder/build.err")"
        return
    fi
    if [ $code -gt 100 ]; then
        compiler=late
        echo "$arch: not all kernels are compiled after $budget s; the same command goes on"
        return
    fi
    [ "$(number "$folder/build.json" built)" = 0 ] ||
        cost="| $(number "$folder/build.json" cpu_ms_median) | $(number "$folder/build.json" cpu_ms_most) |"
    count $code "$arch: kernels do not compile; $folder/objects/catalog.txt says which"
    [ -n "$budget" ] && return
    "$kwright" build --set "$set_name" --arch "$arch" --out "$folder/objects" --cache-dir "$out/cache" ${filter:+--filter "$filter"} \
        --json --quiet >"$folder/again.json" 2>&1
    [ "$(number "$folder/again.json" built)" = 0 ]
    count $? "$arch: a second build compiles $(number "$folder/again.json" built) kernels anew"
}

# play ARCH FOLDER BESIDE FILTER: a worker a core; kernels whose text BESIDE plays are left to it. A store whose kernels came from another text is begun anew.
play() {
    local arch=$1 folder=$2 beside=$3 filter=$4 devices="emu:$1" i text
    for ((i = 1; i < jobs; i++)); do devices="$devices,emu:$arch"; done
    KW_PAIRS_EACH=$each ${beside:+env KW_PAIRS_BESIDE="$beside"} "$pairs" "$arch" "$set_name" ${filter:+"$filter"} >"$folder/pairs.manifest" 2>"$folder/pairs.txt"
    count $? "$arch: kernels without enough problems: $(tail -n 5 "$folder/pairs.txt")"
    sed -n 's/^[0-9]* kernels are played on/'"$arch"': &/p' "$folder/pairs.txt"
    text=$(find kernels/gpu kernels/prelude src/families src/backend/emu -type f | LC_ALL=C sort | xargs cat | cksum)
    [ "$text" = "$(cat "$folder/text" 2>/dev/null)" ] || rm -f "$folder"/verdicts.db*
    echo "$text" >"$folder/text"
    "$kwright" sweep --verify-only --device "$devices" --pairs "$folder/pairs.manifest" --out "$folder/verdicts.db" \
        --cache-dir "$out/cache" --jobs "$jobs" ${budget:+--budget "${budget}s"} --kernel-timeout 120 --quiet >"$folder/sweep.txt" 2>&1 ||
        echo "$arch: $(tail -n 1 "$folder/sweep.txt")"
    "$kwright" db export "$folder/verdicts.db" --out "$folder/verdicts.jsonl" >/dev/null
}

mkdir -p "$out"
archs=${ARCHS:-gfx90a gfx942 sm_90}
for arch in $archs; do
    beside="" filter=""
    if [ "$set_name" = tiny ] && [ -z "$budget" ]; then
        # The texts of fp16 and bf8 are those of bf16 and fp8 but for the names of instructions and conversions: some of each family.
        filter="(c.dtype ~= 'fp16' and c.dtype ~= 'bf8') or c.layout == 'rcr' or c.family == 'conv.igemm' and (c.ndim == 2 or c.vec_a == 1 or c.dtype == 'bf8')"
        filter="$filter or c.family ~= 'conv.igemm' and c.op == 'conv_fwd'"
    fi
    if [ "$arch" = gfx90a ] && [[ " $archs " = *" gfx942 "* ]] && [ -z "$budget" ]; then
        beside=gfx942
        # What is not implicit GEMM has gfx942's texts: one type of each family, and products of one layout. fp16 has forward.
        filter="${filter:+($filter) and }(c.family == 'conv.igemm' and (c.dtype ~= 'fp16' or c.op == 'conv_fwd') or c.dtype == 'bf16' or c.layout == 'rcr')"
    fi
    folder=$out/$set_name-$arch
    mkdir -p "$folder"
    start=$(date +%s)
    compile "$arch" "$folder" "$filter"
    middle=$(date +%s)
    play "$arch" "$folder" "$beside" "$filter"
    end=$(date +%s)
    catalog=$folder/objects/catalog.txt
    [ $compiler = found ] || catalog=/dev/null
    awk -v arch="$arch" -v compiled="$compiler" -v bounded="$budget" -v beside="$beside" -f tools/stage/gpu_check.awk "$folder/pairs.manifest" \
        "$catalog" "$folder/verdicts.jsonl" >"$folder/result.txt"
    sed '$d' "$folder/result.txt" | head -n 30
    read -r kernels good bad compiles spills verified all left <<<"$(tail -n 1 "$folder/result.txt")"
    passed=$((passed + good))
    failed=$((failed + bad))
    [ $compiler = found ] || compiles="($compiler)"
    took="$((middle - start)) $cost $((end - middle))"
    table="$table| $arch | $kernels | $compiles | $spills | $verified | $all | $left | $good | $bad | $took |
"
done
echo "set $set_name"
echo "| architecture | kernels | compiled | spill, and say so | pairs right | pairs | not run | kernels right | kernels not |" \
    "s compiling | ms median | ms most | s playing |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
printf '%s' "$table"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
