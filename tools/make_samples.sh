#!/usr/bin/env bash
# make_samples.sh [FOLDER]: writes kernels/sample/NAME/kw_config.h for each generated kernel file kernels/cpu/*/NAME.c, or below FOLDER. A
# sample is what the generator writes for one small config, so that editors and CI compile each kernel file by itself. Its
# first line says of which config, so a new one begins as that line alone:
#     /* kw_config.h: a sample, made by tools/make_samples.sh for ARCH. CONFIG */
# Small tiles; together fp32, bf16 pairs and fp16, both vector widths, with and without an epilogue. Needs build/kwright.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-kernels/sample}

# The generator's part of a source on standard input: the #defines in front of the prelude, then kw_config.h.
extract() {
    awk '
        /^\/\* ---- / { part = $3; next }
        part ~ "^prelude/kernel_" && (more || /^#define KW_(LANES|MASKS|STORAGE|MATH|PAIR|BACKWARD|CHANNELS_FIRST|OUT|X_UNSIGNED|X_ZERO|W_ZERO|ROW_GROUPS|EPILOGUE[A-Z_]*)[ (]/) {
            front = front $0 "\n"
            more = /\\$/
        }
        part == "prelude/epilogue_cpu.h" { behind = "#include \"prelude/epilogue_cpu.h\"\n" }
        part == "kw_config.h" { body = body $0 "\n" }
        END { printf "#include \"prelude/kernel_abi.h\"\n%s#include \"prelude/cpu.h\"\n%s%s", front, behind, body }'
}

for sample in kernels/sample/*/kw_config.h; do
    name=$(basename "$(dirname "$sample")")
    read -r arch config < <(sed -nE '1s#.* for ([^ ]+)[.] (.*) \*/$#\1 \2#p' "$sample")
    [ -n "${config:-}" ] || { echo "$sample: its first line names no architecture and config" >&2; exit 1; }
    mkdir -p "$folder/$name"
    # The rest of the loop runs only when the generator has answered.
    source=$(build/kwright show --quiet --arch "$arch" --source "$config")
    {
        echo "/* kw_config.h: a sample, made by tools/make_samples.sh for $arch. $config */"
        echo "#ifndef KW_CONFIG_H"
        echo "#define KW_CONFIG_H"
        printf '%s\n' "$source" | extract
        echo "#endif"
    } >"$folder/$name/kw_config.h"
done
