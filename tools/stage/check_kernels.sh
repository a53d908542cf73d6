#!/usr/bin/env bash
# check_kernels.sh: each generated kernel file NAME.c is ordinary source: with kernels/sample/NAME/kw_config.h, the sample of what the
# generator writes, it compiles by itself without a warning, in gcc and clang. Files of the library (src/families/CMakeLists.txt) are
# compiled with it and need no sample. And the samples are what the generator of build/kwright writes today.
set -u
cd "$(dirname "$0")/../.." || exit 3
bad=0
complain() {
    echo "$1" >&2
    bad=1
}
for file in kernels/cpu/*/*.c; do
    name=$(basename "$file" .c)
    grep -q "$file" src/families/CMakeLists.txt && continue
    [ -f "kernels/sample/$name/kw_config.h" ] || { complain "$file has no sample; tools/make_samples.sh says how to begin one"; continue; }
    for compiler in gcc clang; do
        # A sample does not use every part of the headers.
        $compiler -std=gnu11 -O2 -march=x86-64-v4 -mavx512bf16 -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-variable \
            -c -o /dev/null -Ikernels -I"kernels/sample/$name" "$file" || complain "$compiler refuses $file"
    done
done
for sample in kernels/sample/*/; do
    compgen -G "kernels/cpu/*/$(basename "$sample").c" >/dev/null || complain "$sample is a sample of no kernel file"
done
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
tools/make_samples.sh "$fresh" || complain "tools/make_samples.sh fails"
diff -ru -x .clang-format kernels/sample "$fresh" || complain "kernels/sample is not what the generator writes; run tools/make_samples.sh"
exit $bad
