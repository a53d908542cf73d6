#!/usr/bin/env bash
# make_samples.sh [FOLDER]: writes kernels/sample/NAME/kw_config.h for each generated kernel file kernels/cpu/*/NAME.c, or below FOLDER. A
# sample is what the generator writes for one small config, so that editors and CI compile each kernel file by itself; headers that
# the generated text repeats are included instead. Needs build/kwright.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-kernels/sample}

# NAME ARCH CONFIG: a small tile each; together fp32, bf16 pairs and fp16, both vector widths.
samples="\
direct x86-64-v4 conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=2 vecs=1 band=0 edge=skip
gemm x86-64-v3 gemm.tiled gemm fp16 isa=avx2 math=fma tile_m=2 vecs=1 band=0 ahead=0
grouped x86-64-v4 conv.depthwise conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=2 taps_h=1 taps_w=3 stride=1 block=0
grouped_weight x86-64-v3 conv.depthwise_weight conv_bwd_weight fp32 isa=avx2 math=fma tile_h=1 tile_w=1 taps_h=1 taps_w=3 stride=1
col2im x86-64-v4-bf16 conv.gemm_col2im conv_bwd_data bf16 isa=avx512 math=dp tile_w=2 vecs=1 band=0
bwd_weight x86-64-v4-bf16 conv.direct_bwd_weight conv_bwd_weight bf16 isa=avx512 math=dp lanes=c tile=2 vecs=1 copy=1 merge=0 box=0"

# The generator's part of a source on standard input: the #defines in front of the prelude, then kw_config.h, with each header of
# kernels/cpu given as an argument replaced by its #include.
extract() {
    awk '
        FNR == 1 { file++ }
        file < ARGC - 1 { header[file] = header[file] $0 "\n"; name[file] = FILENAME; next }
        /^\/\* ---- cpu\/.*[.]h / { next }
        /^\/\* ---- / { part = $3; next }
        part ~ "^prelude/kernel_" && /^#define KW_(LANES|STORAGE|DP|BACKWARD) / { front = front $0 "\n" }
        part == "kw_config.h" { body = body $0 "\n" }
        END {
            for (i in header) {
                at = index(body, header[i])
                if (at) {
                    short = name[i]
                    sub(/^kernels\//, "", short)
                    body = substr(body, 1, at - 1) "#include \"" short "\"\n" substr(body, at + length(header[i]))
                }
            }
            printf "#include \"prelude/kernel_abi.h\"\n%s#include \"prelude/cpu.h\"\n%s", front, body
        }' "$@" -
}

while read -r name arch config; do
    mkdir -p "$folder/$name"
    # The rest of the loop runs only when the generator has answered.
    source=$(build/kwright show --quiet --arch "$arch" --source "$config")
    {
        echo "/* kw_config.h: a sample, made by tools/make_samples.sh. $config */"
        echo "#ifndef KW_CONFIG_H"
        echo "#define KW_CONFIG_H"
        # shellcheck disable=SC2046
        printf '%s\n' "$source" | extract $(for header in kernels/cpu/*/*.h; do [[ $header = */reference.h || $header = */args.h ]] || echo "$header"; done)
        echo "#endif"
    } >"$folder/$name/kw_config.h"
done <<<"$samples"
