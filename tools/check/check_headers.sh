#!/usr/bin/env bash
# check_headers.sh: each public header compiles alone, as C11 and as C++11, with gcc and clang, without a warning.
cd "$(dirname "$0")/../.." || exit 3
set -e
for header in include/*.h include/*/*.h; do
    for compiler in gcc clang; do
        $compiler -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -x c "$header"
    done
    for compiler in g++ clang++; do
        $compiler -std=c++11 -Wall -Wextra -Werror -fsyntax-only -Iinclude -x c++ "$header"
    done
done
