#!/usr/bin/env bash
# dataset_drawn.sh STORE TYPE SEED...: measures set default on problems drawn by class (bench/peer/cpu_problems.py, one of each class and direction a
# seed), on one thread of one processor, KW_CPU (the last), at a raised priority where that is allowed. STORE is resumed when it is there. With
# KW_CPU_ARCH=x86-64-v3 the machine is another one. KW_CLASSES: the classes, by commas; KW_OP: one direction alone; KW_COUNT: of each class a seed;
# KW_BUDGET: seconds for all seeds (problems come by chance, so that what there was no time for is of any class). data/x86-64-v4-bf16-drawn.jsonl.gz was made by (data/README.md):
#     tools/data/dataset_drawn.sh build/drawn.db fp32 7001 7002 7003 7004 7005 7006 7007 7008 7009 7010
#     tools/data/dataset_drawn.sh build/drawn.db bf16 7101 7102 7103 7104
#     KW_CPU_ARCH=x86-64-v3 tools/data/dataset_drawn.sh build/drawn.db fp32 7201 7202
#     build/kwright db drop build/drawn.db --outcome unfit --yes
#     build/kwright db export build/drawn.db --out data/x86-64-v4-bf16-drawn.jsonl.gz
# and -drawn-2 likewise of fp32 7301 to 7305, bf16 7501 and 7502, fp32 as x86-64-v3 7401 to 7403.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 3 ] || { echo "usage: tools/data/dataset_drawn.sh STORE TYPE SEED..." >&2; exit 2; }
store=$1 type=$2
shift 2
first=(taskset -c "${KW_CPU:-$(($(nproc) - 1))}")
if nice -n -5 true 2>/dev/null; then
    first+=(nice -n -5)
fi
build/kwright build --set default --filter "c.dtype == '$type'${KW_OP:+ and c.op == '$KW_OP'}" --quiet >/dev/null # no compiler runs beside a measurement
mkdir -p build/drawn
end=$((SECONDS + ${KW_BUDGET:-1000000}))
for seed in "$@"; do
    [ $SECONDS -lt $end ] || break
    list=build/drawn/$type-$seed.txt
    PYTHONPATH=bench/peer python3 -c '
import sys
import cpu_problems
classes = sys.argv[3].split(",") if sys.argv[3] else cpu_problems.CLASSES
directions = [sys.argv[4]] if sys.argv[4] else cpu_problems.DIRECTIONS
drawn = cpu_problems.draw(int(sys.argv[1]), classes, int(sys.argv[5]), [sys.argv[2]], directions)
print("\n".join(dict.fromkeys(text for _, text in drawn)))' "$seed" "$type" "${KW_CLASSES:-}" "${KW_OP:-}" "${KW_COUNT:-1}" >"$list"
    "${first[@]}" build/kwright sweep --quiet --set default --problems "$list" --threads 1 --batches 9 --device cpu \
        --budget $((end - SECONDS))s --out "$store"
done
