#!/usr/bin/env bash
# device_check.sh [KWRIGHT]: what a machine with a GPU shows of itself: devices and compilers, verdicts of kernels on small awkward problems
# (to be held against the emulator's, tools/device/agreement.sh), times of layers through the public API. Nothing but kwright and problems/ is
# needed; runs some seven minutes. Everything goes into the folder OUT (device_check.out where it is not set).
#
#   DEVICE      device to use (cuda:0); ARCH its architecture, for the sample of full-tests (sm_90)
#   CHECK_S     seconds for the verdicts of a sample of full-tests (90); LAYER_S for the sweep of the layers (180)
set -u
cd "$(dirname "$0")/../.." || exit 3
kwright=${1:-build-portable/kwright}
device=${DEVICE:-cuda:0}
arch=${ARCH:-sm_90}
out=${OUT:-device_check.out}
mkdir -p "$out"
export KW_CACHE_DIR=$out/.cache KW_DATA_DIR=$out/.data XDG_CACHE_HOME=$out/.cache
chmod 700 "$out"
started=$SECONDS
note() { echo "== $* (${SECONDS} s)" | tee -a "$out/log.txt"; }

# NVRTC may have come with a Python package, where the loader does not look.
if [ -z "${KW_NVRTC:-}" ] && ! "$kwright" doctor 2>&1 | grep -q 'compiled with nvrtc'; then
    found=$(find / -xdev -name 'libnvrtc.so.1[23]' -not -path '*/proc/*' 2>/dev/null | head -1)
    [ -z "$found" ] || export KW_NVRTC=$found
fi
note "doctor"
"$kwright" doctor >"$out/doctor.txt" 2>&1
"$kwright" doctor --device "$device" >>"$out/doctor.txt" 2>&1
cat "$out/doctor.txt"

# A sweep into OUT/NAME.db and NAME.jsonl; what is left undone within its time is said in the log.
sweep() {
    local name=$1
    shift
    note "$name"
    "$kwright" sweep --device "$device" --out "$out/$name.db" --quiet "$@" >>"$out/log.txt" 2>&1
    echo "exit code $?" >>"$out/log.txt"
    "$kwright" db export "$out/$name.db" --out "$out/$name.jsonl" >>"$out/log.txt" 2>&1
    "$kwright" db count "$out/$name.db" 2>&1 | tee -a "$out/log.txt"
}

sweep check_tiny --verify-only --set tiny --problems gpu_check --kernel-timeout 10 --budget "${CHECK_S:-90}s"
"$kwright" list --set full-tests --arch "$arch" | awk 'NR % 12 == 1' >"$out/full_tests_sample.txt"
sweep check_full --verify-only --kernels "$out/full_tests_sample.txt" --problems gpu_check --kernel-timeout 10 \
    --budget "${CHECK_S:-90}s"
sweep layers --set default --dir all --problems gpu_layers --kernel-timeout 20 --budget "${LAYER_S:-180}s"

note "a plan through the public API"
for problem in 'conv_fwd bf16 nhwgc n32 c64 k64 i56x56 f3x3 p1x1' 'conv_bwd_data bf16 nhwgc n32 c128 k128 i28x28 f3x3 p1x1' \
    'conv_bwd_weight bf16 nhwgc n32 c256 k256 i14x14 f3x3 p1x1' 'conv_fwd bf16 nhwgc n32 g32 c256 k256 i28x28 f3x3 p1x1' \
    'gemm bf16 rcr m4096 n4096 k4096' 'gemm int8 rcr m1024 n1024 k1024'; do
    "$kwright" run --device "$device" --check --quiet "$problem" 2>&1 | tee -a "$out/run.txt"
done
"$kwright" report "$out/layers.db" --html "$out/layers.html" >>"$out/log.txt" 2>&1
rm -rf "$out/.cache" "$out"/*.db-*
note "done in $((SECONDS - started)) s"
