#!/usr/bin/env bash
# slurm-array.sh OUT [options of kwright sweep]: a sweep as a job array. Each task measures its share of the problems and appends rows to a
# segment of its own, OUT.shard-I-of-N.jsonl, in the folder that the job was submitted from; that folder may be on NFS, and nothing else runs.
#
#   sbatch --array=1-8 slurm-array.sh results.db --set default --problems forward_2d
#   kwright merge --out results.db --next holes.manifest results.db.shard-*.jsonl      when the tasks have ended, however they ended
#   sbatch --array=1-2 slurm-array.sh results.db --pairs holes.manifest                 while merge exits with 1; then merge again
#
# The same command again goes on where tasks were stopped. Times are worth what the node is: --exclusive keeps neighbours away.
#SBATCH --job-name=kwright-sweep
#SBATCH --array=1-4
#SBATCH --output=%x-%A_%a.log
set -eu
out=${1:?slurm-array.sh OUT [options of kwright sweep]}
shift
# kwright reads I and N from SLURM_ARRAY_TASK_*. exec: what Slurm sends to this script (scancel --batch, --signal=B:TERM@60) reaches kwright,
# which then ends in good order.
exec "${KWRIGHT:-kwright}" sweep --out "$out" "$@"
