#!/usr/bin/env bash
# bench_cpu.sh [option of bench/peer/cpu_vs_peer.py]...: builds bench_peer and holds the library beside oneDNN, OpenBLAS and BLIS on a fresh draw
# of problems. KW_DNNL, KW_DNNL_INCLUDE: another oneDNN than Debian's, its library and the folder of its dnnl.h. One thread runs on one
# processor, KW_CPU (the last), at a raised priority where that is allowed.
set -eu
cd "$(dirname "$0")/.."
. tools/common.sh
configure release ${KW_DNNL:+"-DKW_DNNL=$KW_DNNL"} ${KW_DNNL_INCLUDE:+"-DKW_DNNL_INCLUDE=$KW_DNNL_INCLUDE"} >/dev/null
build release bench_peer >/dev/null
first=()
case " $* " in
*" --threads "*) ;;
*) first=(taskset -c "${KW_CPU:-$(($(nproc) - 1))}") ;;
esac
if nice -n -5 true 2>/dev/null; then
    first+=(nice -n -5)
fi
exec "${first[@]}" bench/peer/cpu_vs_peer.py "$@"
