#!/usr/bin/env bash
# test_mpi.sh KWRIGHT JOBS: a sweep of two ranks under a real mpirun; then one rank's segment is lost, and the next job measures just that.
command -v mpirun >/dev/null || { echo "no mpirun (apt install openmpi-bin)"; exit 77; }
# shellcheck source=tests/jobs/common.sh
. "$(dirname "$0")/common.sh"
# A test machine may have one core, and a container one user; both are refused otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

NP=2 "$jobs/mpi.sh" results.db "${sweep[@]}" || fail "the first job ends with $?"
for rank in 1 2; do
    [ -s results.db.shard-$rank-of-2.jsonl ] || fail "rank $rank has written no segment"
done
merged results.db.shard-*.jsonl
pairs=$(value pairs)
[ "$code" = 0 ] && [ "$(value holes)" = 0 ] && [ "$(value added)" = 0 ] && [ "$pairs" -gt 8 ] || fail "after a whole job: $report"

# A rank that never wrote: its pairs are holes, and the next job measures them and nothing else.
rows=$(grep -c '"line":"row"' results.db.shard-1-of-2.jsonl)
rm results.db results.db.shard-1-of-2.jsonl
merged results.db.shard-*.jsonl
[ "$code" = 1 ] && [ "$(value holes)" = "$rows" ] && [ -s holes.manifest ] || fail "after a lost rank of $rows rows: $report"
NP=2 "$jobs/mpi.sh" next.db --quiet --batches 3 --pairs holes.manifest || fail "the next job ends with $?"
merged results.db.shard-*.jsonl next.db.shard-*.jsonl
[ "$code" = 0 ] && [ "$(value pairs)" = "$pairs" ] && [ "$(value rows)" = "$pairs" ] || fail "after the next job: $report"
