#!/usr/bin/env bash
# check_docs.sh: every relative link of the documentation leads to a file, every file and test case that a page names is there, the table of
# docs/kernels/gpu-spaces.md is that of the golden counts, and a reference page has at most 10,000 bytes. Pages of docs/results may be as
# long as their tables, and name what was there on their day.
cd "${1:-$(dirname "$0")/../..}" || exit 3
bad=0
tracked=$(git ls-files)
complain() {
    echo "$1" >&2
    bad=1
}
while read -r page; do
    folder=$(dirname "$page")
    while read -r link; do
        [ -e "$folder/${link%%#*}" ] || complain "$page: link to $link, which is not there"
    done < <(grep -oE '\]\([^)# ][^) ]*\)' "$page" | sed -E 's/^\]\(//; s/\)$//' | grep -vE '^(https?|mailto):')
    case $page in
    docs/results/*) continue ;; # what was true on its day
    esac
    while read -r name; do
        [ -e "$name" ] || complain "$page: names $name, which is not there"
    done < <(grep -oE '`(src|kernels|rules|tools|tests|cli|include|bench|examples|problems|data|models)/[A-Za-z0-9_./-]+\.(c|h|lua|sh|cmake|txt|md)`' "$page" | tr -d '`' | grep -vE '[A-Z]{4,}')
    while read -r name; do
        grep -qE "(^|/)${name//./[.]}\$" <<<"$tracked" || complain "$page: names $name, which is in no folder"
    done < <(grep -oE '`[a-z0-9_/]+\.[ch]`' "$page" | tr -d '`' | sort -u)
    while IFS=': ' read -r program cases; do
        file=$(git ls-files "tests/*/$program.c" | head -n 1)
        for case in ${cases//,/ }; do
            grep -qE "\b$case\b" "${file:-/dev/null}" || complain "$page: $program has no case $case"
        done
    done < <(grep -oE '\btest_\w+: [a-z]+_\w+(, [a-z]+_\w+)*' "$page")
done < <(git ls-files '*.md' | grep -v '^models/')
while read -r row; do
    grep -qF "$row" docs/kernels/gpu-spaces.md || complain "docs/kernels/gpu-spaces.md: its table is not tests/golden/gpu_spaces.txt's: make golden ($row)"
done < <(awk -f tools/check/gpu_spaces.awk tests/golden/gpu_spaces.txt)
for page in $(git ls-files "docs/*.md" | grep -v "^docs/results/"); do
    size=$(wc -c <"$page")
    [ "$size" -le 10000 ] || complain "$page: $size bytes; a reference page has at most 10,000: split it by subject"
done
exit $bad
