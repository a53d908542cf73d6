#!/usr/bin/env bash
# holdouts.sh [--write] [TABLE]: what the committed models keep of the best kernel's speed on the lists that no model is trained on, beside the means that
# the table (data/holdouts.csv) has of the day they were trained. A model says how far a kernel's time is from the analytic estimate: whoever changes a
# family's launch or estimate makes it wrong by that much, and no other test notices. A list whose mean fell by more than half a per cent fails: then
# train anew (tools/data/cpu_model.sh, gpu_model.sh), or mend the estimate. --write sets the means in the table, behind a training. host_ns: the share
# of the host in a GPU's times (gpu_model.sh). KWRIGHT is the program, build/kwright.
set -eu
cd "$(dirname "$0")/../.."
write=
[ "${1:-}" != --write ] || { write=1; shift; }
table=${1:-data/holdouts.csv}
kwright=${KWRIGHT:-build/kwright}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
head -n 1 "$table" >"$work/table.csv"
echo "% of the best kernel's speed: mean (when trained), P10, regret by time; the best of a list of 8"
while IFS=, read -r model list host_ns trained; do
    rows=data/$list
    if [ -n "$host_ns" ]; then
        rows=$work/rows.csv
        python3 bench/peer/peer_rows.py --host-ns "$host_ns" "data/$list" >"$rows"
    fi
    "$kwright" evaluate "$rows" --model "$model" --json >"$work/figures.json"
    figures=$(python3 -c '
import json, sys
every = json.load(open(sys.argv[1]))["all"]
print(*("%.2f" % (100 * every[name][0]) for name in ("mean", "p10", "regret", "shortlist_8")))' "$work/figures.json")
    read -r mean p10 regret listed <<<"$figures"
    echo "$model,$list,$host_ns,$mean" >>"$work/table.csv"
    printf '%-12s %-42s %6.2f (%s) %6.2f %6.2f %6.2f\n' "$model" "$list" "$mean" "${trained:-none}" "$p10" "$regret" "$listed"
    awk -v now="$mean" -v trained="${trained:-0}" 'BEGIN { exit now < trained - 0.5 }' || bad=1
done < <(tail -n +2 "$table")
if [ -n "$write" ]; then
    cp "$work/table.csv" "$table"
elif [ $bad -ne 0 ]; then
    echo "the mean of a list fell by more than 0.5: train the model anew, or mend the estimate that changed"
    exit 1
fi
