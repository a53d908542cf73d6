# shellcheck shell=bash disable=SC2034
# common.sh: what the tests of job scripts share; sourced with the words of the test: the program and the folder of the scripts. Leaves the
# shell in a fresh folder that goes when the test ends.
set -eu
KWRIGHT=$1
jobs=$2
export KWRIGHT
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export XDG_CACHE_HOME="$folder/cache"
unset SLURM_ARRAY_TASK_ID SLURM_PROCID SLURM_STEP_NUM_TASKS OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK

# Few and small, of several kinds; 8 problems, so that two shards both have some. What is tested is that no pair is lost, not how fast it is.
problems=()
for size in 5 6 7 8 9 10; do problems+=("conv_fwd fp32 n1 c16 k16 i${size}x8 f3x3"); done
problems+=("gemm fp32 m8 n8 k8" "gemm fp32 m24 n8 k8")
sweep=(--set tiny --batches 3 --quiet "${problems[@]}")

fail() {
    echo "FAILED: $*"
    exit 1
}

# merged FILE...: what kwright merge says of them as JSON, in $report; its exit code in $code.
merged() {
    code=0
    report=$("$KWRIGHT" merge --out results.db --next holes.manifest --json --quiet "$@") || code=$?
    echo "merge of $*: $report, exit code $code"
}

# value NAME: a number of $report.
value() { sed -E "s/.*\"$1\": ([0-9]+).*/\1/" <<<"$report"; }
