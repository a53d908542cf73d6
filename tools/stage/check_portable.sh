#!/usr/bin/env bash
# check_portable.sh: the portable kwright needs the C library alone, and works from any folder without an environment, a home or a
# compiler: then the kernels that are compiled in serve.
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
needed=$(ldd build-portable/kwright) || { echo "ldd fails: $needed"; exit 1; }
extra=$(awk '{print $1}' <<<"$needed" | grep -vE '^(linux-vdso|/lib64/ld-linux-x86-64|libc|libm|libdl|libpthread)\.so' || true)
[ -z "$extra" ] || { echo "links: $extra"; exit 1; }
cp build-portable/kwright "$folder/"
cd "$folder"
for problem in 'conv_fwd fp32 nhwgc n1 c16 k16 i14x14 f3x3 p1x1' 'conv_bwd_weight bf16 nhwgc n1 c16 k16 i14x14 f3x3 p1x1' \
    'gemm fp32 rrr m32 n32 k32'; do
    env -i PATH="$folder" ./kwright run --check --threads 1 "$problem" >out 2>&1 || { cat out; echo "refused: $problem"; exit 1; }
    grep -q reference out || { cat out; echo "no reference kernel answered: $problem"; exit 1; }
done
