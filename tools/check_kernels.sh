#!/usr/bin/env bash
# check_kernels.sh: each kernel file is ordinary source; with the sample of what the generator writes it compiles by itself,
# in gcc and clang. A file NAME.c takes kernels/sample/NAME/kw_config.h.
cd "$(dirname "$0")/.." || exit 3
bad=0
for file in kernels/cpu/*.c; do
    name=$(basename "$file" .c)
    case $name in generic*) continue ;; esac # part of the library, which is compiled anyway
    sample=kernels/sample/$name
    [ -f "$sample/kw_config.h" ] || { echo "$file has no sample in $sample"; bad=1; continue; }
    for compiler in gcc clang; do
        $compiler -std=gnu11 -march=x86-64-v4 -mavx512bf16 -fsyntax-only -w -Ikernels/prelude -I"$sample" "$file" ||
            { echo "$compiler refuses $file"; bad=1; }
    done
done
exit $bad
