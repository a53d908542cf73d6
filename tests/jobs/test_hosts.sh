#!/usr/bin/env bash
# test_hosts.sh KWRIGHT JOBS: a sweep over three "hosts", two of them through an ssh that only starts a shell elsewhere; one of them is down.
# shellcheck source=tests/jobs/common.sh
. "$(dirname "$0")/common.sh"
mkdir bin elsewhere
cat >bin/ssh <<'SSH'
#!/usr/bin/env bash
[ "$1" = -n ] || exit 2
[ "$2" = up ] || { echo "ssh: connect to host $2: no route" >&2; exit 255; }
cd elsewhere && shift 2 && exec bash -c "$*"
SSH
chmod +x bin/ssh
PATH="$PWD/bin:$PATH"

code=0
HOSTS="- up down" "$jobs/hosts.sh" results.db "${sweep[@]}" || code=$?
[ "$code" = 1 ] && [ -s results.db.holes ] || fail "a job with a host that is down ends with $code"
[ ! -e results.db.shard-3-of-3.jsonl ] && [ -s results.db.shard-2-of-3.jsonl ] || fail "segments: $(echo results.db.shard-*)"
HOSTS="- up" "$jobs/hosts.sh" results.db --quiet --batches 3 --pairs results.db.holes || fail "the next job ends with $?"
merged results.db.shard-*.jsonl
[ "$code" = 0 ] && [ "$(value holes)" = 0 ] && [ "$(value rows)" = "$(value pairs)" ] || fail "after the next job: $report"
