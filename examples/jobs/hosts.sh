#!/usr/bin/env bash
# hosts.sh OUT [options of kwright sweep]: a sweep over hosts that share this folder, by ssh and nothing else, merged afterwards. HOSTS names
# them; a host may stand there twice; "-" is this machine without ssh.
#
#   HOSTS="node1 node2 node3" hosts.sh results.db --set default --problems forward_2d
#   HOSTS="node1 node2" hosts.sh results.db --pairs results.db.holes                    when it says that pairs are missing
set -eu
out=${1:?hosts.sh OUT [options of kwright sweep]}
shift
kwright=${KWRIGHT:-kwright}
read -ra hosts <<<"${HOSTS:-- -}"
count=${#hosts[@]}
for ((i = 1; i <= count; i++)); do
    host=${hosts[i - 1]}
    command=("$kwright" sweep --shard "$i/$count" --out "$out" "$@")
    # ssh joins its words for a shell on the other side, so they are quoted for it.
    if [ "$host" = - ]; then
        "${command[@]}" &
    else
        ssh -n "$host" "cd $(printf %q "$PWD") && $(printf '%q ' "${command[@]}")" &
    fi
done
wait
"$kwright" merge --out "$out" --next "$out.holes" "$out".shard-*.jsonl
