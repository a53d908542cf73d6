#!/usr/bin/env bash
# check_scripts.sh: shellcheck has no warning about the tracked shell scripts.
cd "$(dirname "$0")/.." || exit 3
git ls-files '*.sh' | xargs shellcheck --severity=warning --external-sources
