#!/bin/sh
# documented.sh: every command that README.md, the pages of docs, the headers and the examples show names a verb there is, and options that
# this verb has. What is shown as a result of the past (docs/results) may speak of what was.
#   documented.sh KWRIGHT SOURCE
set -eu
kwright=$1
cd "$2"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# "verb --option ..." a line, from the completion script.
"$kwright" completion | awk '
    /^    [a-z]+\)$/ { verb = $1; sub(/\)/, "", verb) }
    verb != "" && /compgen -W "--/ || verb != "" && /compgen -W "" / {
        sub(/.*-W "/, ""); sub(/".*/, ""); print verb, $0; verb = ""
    }' >"$folder/verbs"
test "$(wc -l <"$folder/verbs")" -ge 30 || { echo "completion lists too few verbs"; exit 1; }
find README.md CONTRIBUTING.md include docs examples -path docs/results -prune -o -type f \( -name '*.md' -o -name '*.h' -o -name '*.sh' -o -name '*.sbatch' \) -print |
    LC_ALL=C sort | xargs grep -HnoE '(^|[`$( ])(build/)?kwright [a-z]+( [^`#|&;]*)?' >"$folder/shown"
awk -v verbs="$folder/verbs" '
    BEGIN {
        while ((getline line <verbs) > 0) {
            count = split(line, word, " ")
            known[word[1]] = 1
            for (i = 2; i <= count; i++) has[word[1], word[i]] = 1
        }
    }
    {
        place = $0
        sub(/:[^:]*kwright .*/, "", place)
        line = $0
        sub(/.*kwright /, "", line)
        gsub(/"[^"]*"/, "Q", line)
        count = split(line, word, /[ \t]+/)
        verb = word[1]
        if (!(verb in known)) {
            if ($0 ~ /[`$] ?(build\/)?kwright / && verb !~ /^(worker|roofs|nvrtc)$/) { # the hidden ones; without a mark it may be prose
                print place ": kwright has no verb " verb
                bad = 1
            }
            next
        }
        checked++
        for (i = 2; i <= count; i++) {
            option = word[i]
            sub(/=.*/, "", option)
            sub(/[^a-z0-9]+$/, "", option)
            if (option ~ /^--[a-z]/ && !((verb, option) in has)) {
                print place ": kwright " verb " has no " option
                bad = 1
            }
        }
    }
    END {
        if (checked < 100) { print "only " checked + 0 " commands were found"; bad = 1 }
        exit bad
    }' "$folder/shown"
