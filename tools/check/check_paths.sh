#!/usr/bin/env bash
# check_paths.sh: no tracked text names a folder of somebody's machine. Names made in /tmp and the system's own folders are no such,
# but in models/, whose cards say how to train them again, and where. Nor does a file lie beside README.md that nobody put there on purpose.
cd "$(dirname "$0")/../.." || exit 3
found=$(git grep -nIE '(^|[^A-Za-z0-9_.$}/*~-])/(home|root|work|mnt|media|srv|Users)/[A-Za-z0-9]' -- . ':!tools/check/check_paths.sh')
found=$found$(git grep -nIE '/tmp/[A-Za-z0-9]' -- models)
[ -z "$found" ] || { echo "a path of one machine: $found"; exit 1; }
found=$(git ls-files | grep -vE '/|^(\..*|[A-Z]+\.md|CMakeLists\.txt|CMakePresets\.json|LICENSE|Makefile)$')
[ -z "$found" ] || { echo "a stray file at the top: $found"; exit 1; }
