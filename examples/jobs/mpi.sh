#!/usr/bin/env bash
# mpi.sh OUT [options of kwright sweep]: a sweep as NP ranks under Open MPI, merged afterwards. No MPI library is needed in kwright: a rank
# learns its number from the environment that mpirun (or srun) sets, and ranks do not talk to each other.
#
#   NP=16 MPIRUN="mpirun --hostfile hosts --map-by ppr:1:node" mpi.sh results.db --set default --problems forward_2d
#   NP=2 mpi.sh results.db --pairs results.db.holes                                     when it says that pairs are missing
#
# One rank a node, or one for each set of cores that no other rank uses (--map-by, --bind-to): ranks that share cores disturb each other's times.
set -eu
out=${1:?mpi.sh OUT [options of kwright sweep]}
shift
kwright=${KWRIGHT:-kwright}
# A rank that fails does not keep the others' rows from being merged.
# shellcheck disable=SC2086
${MPIRUN:-mpirun} -np "${NP:-2}" "$kwright" sweep --out "$out" "$@" || echo "mpi.sh: a rank failed; merging what there is" >&2
"$kwright" merge --out "$out" --next "$out.holes" "$out".shard-*.jsonl
