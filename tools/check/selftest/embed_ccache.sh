#!/usr/bin/env bash
# embed_ccache.sh: a file that kw_embed takes in changes, and an object that ccache has of the older one is not taken for the new one's. ccache
# is asked as builds of tests ask it (tools/common.sh): there it does not preprocess and sees nothing of .incbin.
set -eu
cd "$(dirname "$0")/../../.."
. tools/common.sh
command -v ccache >/dev/null || { echo "embed_ccache.sh: there is no ccache; run tools/setup.sh test" >&2; exit 3; }
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DIR=$work/ccache
cat >"$work/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(embeds C)
include($root/cmake/embed.cmake)
kw_embed(\${CMAKE_CURRENT_BINARY_DIR}/words.c kw_words \${CMAKE_CURRENT_SOURCE_DIR} word.txt)
add_executable(say say.c \${CMAKE_CURRENT_BINARY_DIR}/words.c)
target_include_directories(say PRIVATE $root/src $root/include)
EOF
cat >"$work/say.c" <<'EOF'
#include "base/embedded.h"

#include <stdio.h>

extern const kw_embedded kw_words[];

int main(void) {
    return puts(kw_words[0].text) < 0;
}
EOF
for word in before after; do
    printf %s "$word" >"$work/word.txt"
    rm -rf "$work/build"
    cmake -S "$work" -B "$work/build" -DCMAKE_C_COMPILER_LAUNCHER=ccache >/dev/null
    cmake --build "$work/build" >/dev/null
    said=$("$work/build/say")
    [ "$said" = "$word" ] || { echo "embed_ccache.sh: the file has \"$word\", the program says \"$said\""; exit 1; }
done
