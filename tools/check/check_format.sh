#!/usr/bin/env bash
# check_format.sh: every tracked C file is as clang-format would write it.
cd "$(dirname "$0")/../.." || exit 3
git ls-files '*.c' '*.h' | xargs -n 40 -P "${JOBS:-$(nproc)}" clang-format --dry-run -Werror
