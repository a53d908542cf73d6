#!/usr/bin/env bash
# selftest/holdouts.sh: the check of choices must find a model that fell behind what its table says, and a list that is not there.
set -u
cd "$(dirname "$0")/../../.." || exit 3
table=$(mktemp)
trap 'rm -f "$table"' EXIT
line=$(sed -n 2p data/holdouts.csv)
said() { printf 'model,list,host_ns,mean_percent\n%s\n' "$1" >"$table"; }
refused() { tools/data/holdouts.sh "$table" >/dev/null 2>&1 && { echo "not found: $1"; exit 1; }; }
said "$line"
tools/data/holdouts.sh "$table" || { echo "refused: $line"; exit 1; }
said "${line%,*},$(awk -F, -v line="$line" 'BEGIN { split(line, part, ","); printf "%.2f", part[4] + 0.6 }')"
refused "a mean that fell by 0.6"
said "models/cpu,no_such_list.jsonl.gz,,90"
refused "a list that is not there"
exit 0
