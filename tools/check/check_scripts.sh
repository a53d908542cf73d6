#!/usr/bin/env bash
# check_scripts.sh: shellcheck has no warning about the tracked shell scripts; what says its interpreter in its first line can be run, and
# so can what the Makefile calls.
cd "$(dirname "$0")/../.." || exit 3
bad=0
while read -r mode _ _ name; do
    if [ "$mode" = 100644 ] && [ "$(head -c 2 "$name" | tr -d '\0')" = '#!' ]; then
        echo "$name: git says that it cannot be run (git update-index --chmod=+x)"
        bad=1
    fi
done < <(git ls-files -s -- '*.sh' '*.py' '*.awk')
for name in $(grep -oE '(^|[^.[:alnum:]_/-])tools/[[:alnum:]_/]+\.(sh|py)' Makefile | grep -o 'tools/.*' | sort -u); do
    if [ "$(git ls-files -s -- "$name" | cut -c 1-6)" != 100755 ]; then
        echo "Makefile: $name is not tracked, or cannot be run"
        bad=1
    fi
done
git ls-files '*.sh' | xargs shellcheck --severity=warning --external-sources && [ $bad = 0 ]
