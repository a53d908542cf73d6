#!/usr/bin/env bash
# device_faults.sh [KWRIGHT]: kernels that misbehave on a real GPU. A copy of kernels/ has a fault in three families: depthwise writes to an
# address that is not mapped, direct never ends, igemm traps. A sweep must record each as what it is, measure the family that is well in the
# same run, and leave the device as good as it was: the sweep with the unchanged texts afterwards is good throughout.
#
#   DEVICE      device to use (cuda:0)
set -u
cd "$(dirname "$0")/../.." || exit 3
kwright=$(realpath "${1:-build-portable/kwright}")
device=${DEVICE:-cuda:0}
arch=$("$kwright" doctor --device "$device" 2>/dev/null | grep -oE '\b(sm_[0-9]+|gfx[0-9a-f]+)\b' | head -n 1)
[ -n "$arch" ] || { echo "device_faults.sh: $device names no architecture" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
lost=crashed
case $device in emu:*) lost=wrong ;; esac # what is played goes on after a stray write, and is found out by its comparison

# plant FILE FUNCTION STATEMENT: the statement becomes the first of the function.
plant() {
    sed -i -E "/^KW_(DEVICE|KERNEL).*\b$2\(.*\{\$/a $3" "$work/kernels/$1"
    ! cmp -s "kernels/$1" "$work/kernels/$1" || { echo "device_faults.sh: $1 has no function $2" >&2; exit 2; }
}
cp -r kernels "$work/kernels"
plant gpu/depthwise/depthwise.c kw_position_of '*(volatile kw_u32 *)64 = 1;'
plant gpu/direct/direct.c kw_position_of 'for (volatile int forever = 1; forever;) forever = 1;'
plant gpu/lib/epilogue.h kw_sums_store '#if KW_PTX\nasm volatile("trap;");\n#else\n__builtin_trap();\n#endif'

# A few kernels of each family and the reference kernel.
"$kwright" list --set tiny --arch "$arch" --filter "c.op == 'conv_fwd' and c.dtype == 'bf16'" |
    awk '$1 ~ /reference/ || seen[$1]++ < 6' >"$work/kernels.txt"
printf '%s\n' 'conv_fwd bf16 nhwgc n2 g16 c16 k16 i9x9 f3x3 p1x1' 'conv_fwd bf16 nhwgc n2 g4 c32 k32 i9x9 f3x3 p1x1' >"$work/problems.txt"
sweep() {
    "$kwright" sweep --device "$device" --kernels "$work/kernels.txt" --problems "$work/problems.txt" --verify-only --kernel-timeout 5 \
        --out "$work/$1.db" --quiet
    "$kwright" db export "$work/$1.db" --out "$work/$1.jsonl" --quiet
}

# rows FILE FAMILY OUTCOME: every kernel of the family that fits has this outcome, and there is one.
rows() {
    local all right
    all=$(grep "\"config\":\"$2 " "$work/$1.jsonl" | grep -vcF '"outcome":"unfit"')
    right=$(grep "\"config\":\"$2 " "$work/$1.jsonl" | grep -cF "\"outcome\":\"$3\"")
    echo "$1: $2: $right of $all rows: $3"
    [ "$all" -gt 0 ] && [ "$right" -eq "$all" ] || failed=1
}
KW_KERNELS=$work/kernels sweep planted
rows planted conv.depthwise_block "$lost"
rows planted conv.direct_block timed_out
rows planted conv.igemm crashed
rows planted conv.reference_gpu good
sweep sound
for family in conv.depthwise_block conv.direct_block conv.igemm conv.reference_gpu; do
    rows sound "$family" good
done
exit $failed
