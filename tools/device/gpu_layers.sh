#!/usr/bin/env bash
# gpu_layers.sh LAYERS.jsonl TIMES.csv: a sweep's rows of problems/gpu_layers.txt (tools/device/device_check.sh makes them) beside another library's
# times of the same layers, as Markdown: geometric means by class and direction, then every layer with our fastest kernel. TIMES.csv has a
# header with name, dir (fwd, bwd_data, bwd_weight) and warm_ms; names are those of the list. A ratio below 1 means that we are faster.
set -eu
[ $# = 2 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
cd "$(dirname "$0")/../.."
awk -f tools/json_field.awk -f tools/device/gpu_layers.awk problems/gpu_layers.txt "$2" "$1"
