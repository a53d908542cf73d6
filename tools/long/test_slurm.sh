#!/usr/bin/env bash
# test_slurm.sh [KWRIGHT]: a sweep as a job array under a real Slurm of one node, on this machine. One task is killed on its way; a merge
# tells what is missing, a second job measures just that, and then nothing is missing. `make test-slurm` runs it; it takes a minute or two.
#
# Everything lies in a folder that goes at the end: configuration, munge's key and socket, state, logs. No service of the system is touched,
# no privilege is needed once the packages are there. What a container or a plain user needs, in place of a cluster's settings:
#   proctrack/linuxproc, task/none, jobacct_gather/none   no cgroups, which may not be writable
#   cred and auth over a munged of our own (AuthInfo)     no system's munge, no key in /etc
#   SlurmUser and SlurmdUser the user who runs this       no slurm account
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
KWRIGHT=$(realpath "${1:-$root/build/kwright}")
export KWRIGHT
folder=$(mktemp -d)
export SLURM_CONF="$folder/slurm.conf" XDG_CACHE_HOME="$folder/cache"
daemons=()

stop() {
    local code=$? pid
    trap - EXIT
    [ $code = 0 ] || tail -n 15 "$folder"/*.log >&2 || true
    [ ${#daemons[@]} -lt 3 ] || scancel --full --signal=KILL --user="$(id -un)" >/dev/null 2>&1 || true
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
    rm -rf "$folder"
    exit $code
}
trap stop EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# wait_for SECONDS WHAT COMMAND...: until the command succeeds.
wait_for() {
    local left=$((5 * $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ $((left -= 1)) -gt 0 ] || fail "waited too long for $what"
        sleep 0.2
    done
}

need_packages() {
    local missing="" package
    for package in slurmctld slurmd munge; do
        command -v "${package/%munge/munged}" >/dev/null || [ -x "/usr/sbin/${package/%munge/munged}" ] || missing="$missing $package"
    done
    command -v sbatch >/dev/null || missing="$missing slurm-client"
    [ -z "$missing" ] && return
    [ "$(id -u)" = 0 ] || { echo "missing packages; run:  sudo apt-get install -y$missing" >&2; exit 3; }
    echo "installing$missing" >&2
    # The packages' own services stay off.
    # shellcheck disable=SC2086
    { apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >"$folder/apt.log" 2>&1 ||
        fail "could not install$missing"
}

start_slurm() {
    local host port=$((20000 + RANDOM % 20000))
    host=$(hostname -s)
    mkdir -m 700 "$folder/munge" "$folder/state" "$folder/spool"
    chmod 755 "$folder"
    head -c 1024 /dev/urandom >"$folder/munge/key"
    chmod 400 "$folder/munge/key"
    cat >"$SLURM_CONF" <<CONF
ClusterName=scratch
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    PATH="$PATH:/usr/sbin:/sbin"
    munged --force --foreground --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munge/seed" >"$folder/munged.out.log" 2>&1 &
    daemons+=($!)
    wait_for 10 "munged" test -S "$folder/munge/socket"
    slurmctld -D >"$folder/slurmctld.out.log" 2>&1 &
    daemons+=($!)
    slurmd -D >"$folder/slurmd.out.log" 2>&1 &
    daemons+=($!)
    wait_for 30 "a node that is ready" sh -c 'sinfo -h -o %T | grep -qx idle'
}

# merged: what kwright merge says of all segments, in $report; its exit code in $code.
merged() {
    code=0
    report=$("$KWRIGHT" merge --out results.db --next holes.manifest --json --quiet results.db.shard-*.jsonl) || code=$?
    echo "merge: $report, exit code $code"
}
value() { sed -E "s/.*\"$1\": ([0-9]+).*/\1/" <<<"$report"; }
rows_of() { grep -c '"line":"row"' "$1" 2>/dev/null || true; }
has_rows() { [ "$(rows_of "$1")" -ge "$2" ]; }
ended() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }

[ -x "$KWRIGHT" ] || fail "$KWRIGHT is not there; run make"
need_packages
start_slurm
cd "$folder"
problems=()
for size in $(seq 20 51); do problems+=("conv_fwd fp32 n1 c32 k32 i${size}x28 f3x3 p1"); done

job=$(sbatch --parsable --array=1-4 "$root/examples/jobs/slurm-array.sh" results.db --set tiny --exhaustive --batches 251 "${problems[@]}")
echo "job $job: 4 tasks, ${#problems[@]} problems"
killed=results.db.shard-2-of-4.jsonl
wait_for 60 "rows of task 2" has_rows "$killed" 3
scancel --full --signal=KILL "${job}_2"
wait_for 120 "the end of job $job" ended "$job"
rows=$(rows_of "$killed")
echo "task 2 was killed after $rows rows"
merged
pairs=$(value pairs) holes=$(value holes) before=$(value rows)
if [ "$code" != 1 ] || [ "$holes" = 0 ] || [ $((before + holes)) != "$pairs" ] || [ ! -s holes.manifest ]; then
    fail "after a killed task: $report"
fi

job=$(sbatch --parsable --array=1-2 "$root/examples/jobs/slurm-array.sh" results.db --pairs holes.manifest --batches 5)
echo "job $job: 2 tasks for $holes pairs"
wait_for 120 "the end of job $job" ended "$job"
merged
if [ "$code" != 0 ] || [ "$(value holes)" != 0 ] || [ "$(value rows)" != "$pairs" ] || [ "$(value added)" != "$holes" ]; then
    fail "after the next job: $report"
fi
echo "passed: $pairs pairs, of them $holes by the next job, none lost"
