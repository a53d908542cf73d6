#!/usr/bin/env bash
# check_install.sh: installs the release build into an empty prefix and builds examples/six_calls.c against it three ways: pkg-config
# shared, pkg-config static, and the CMake package. Also: only kw_* symbols are exported.
set -eu
cd "$(dirname "$0")/.."
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install build --prefix "$prefix" >/dev/null
libdir=$(dirname "$(find "$prefix" -name kernelwright.pc)")/..
export PKG_CONFIG_PATH=$libdir/pkgconfig KW_CACHE_DIR=$prefix/cache KW_DATA_DIR=$prefix/data
# shellcheck disable=SC2046
gcc -std=c11 examples/six_calls.c $(pkg-config --cflags --libs kernelwright) -o "$prefix/shared"
LD_LIBRARY_PATH=$libdir "$prefix/shared"
# shellcheck disable=SC2046
gcc -std=c11 examples/six_calls.c $(pkg-config --cflags kernelwright) "$libdir/libkernelwright.a" \
    $(pkg-config --static --libs-only-l kernelwright | sed 's/-lkernelwright//') -fopenmp -o "$prefix/static"
"$prefix/static"
mkdir "$prefix/consumer"
cat >"$prefix/consumer/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(Kernelwright 0.1 REQUIRED)
add_executable(consumer $PWD/examples/six_calls.c)
target_link_libraries(consumer PRIVATE Kernelwright::kernelwright)
CMAKE
cmake -S "$prefix/consumer" -B "$prefix/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$prefix/consumer/build" >/dev/null
LD_LIBRARY_PATH=$libdir "$prefix/consumer/build/consumer"
for library in libkernelwright.so libkernelwright_tune.so; do
    foreign=$(nm -D --defined-only "$libdir/$library" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | grep -v '^kw_' || true)
    [ -z "$foreign" ] || { echo "$library exports $foreign"; exit 1; }
done
[ -s "$prefix/share/man/man1/kwright.1" ] || { echo "no manual page"; exit 1; }
bash -n "$prefix/share/bash-completion/completions/kwright"
"$prefix/bin/kwright" count --set tiny >/dev/null
