#!/usr/bin/env bash
# check_portable.sh: the portable kwright needs nothing but the C library and its kin.
cd "$(dirname "$0")/.." || exit 3
extra=$(ldd build-portable/kwright | awk '{print $1}' | grep -vE '^(linux-vdso|/lib64/ld-linux|libc\.so|libm\.so|libdl\.so|libpthread\.so|libgomp\.so|libgcc_s\.so)' || true)
[ -z "$extra" ] || { echo "links: $extra"; exit 1; }
build-portable/kwright version
