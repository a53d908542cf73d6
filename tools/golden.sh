#!/usr/bin/env bash
# golden.sh: remakes the golden files of tests/golden after a wanted change of rules; read the diff before you commit it.
set -eu
cd "$(dirname "$0")/.."
KW_GOLDEN_WRITE=1 ctest --test-dir build -R golden --output-on-failure
git diff --stat -- tests/golden
