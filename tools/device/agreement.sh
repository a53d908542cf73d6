#!/usr/bin/env bash
# agreement.sh A.jsonl B.jsonl: two exports of verdicts (kwright db export), of a device and of the emulator that plays it, pair by pair:
# how many pairs have a verdict on both, on how many of them both say the same, and each on which they do not. good and mistrusted are one
# verdict (right), slow too; wrong, crashed and timed-out are another (not right). Exit code 1 when any pair differs.
set -eu
[ $# = 2 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
folder=$(dirname "$0")
awk -v first="$1" -v second="$2" -f "$folder/../json_field.awk" -f "$folder/agreement.awk" "$1" "$2"
