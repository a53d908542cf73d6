#!/usr/bin/env bash
# threads_busy.sh: what calls take on all cores beside one busy process a core, against the same without, in turns. Prints a line a problem: median
# and mean of both in us (of the turns the middle one), and the ratio of the medians; exits with 1 when the first problem's is above LIMIT.
#   tools/long/threads_busy.sh BENCH_THREADS [TURNS [PROBLEM...]]      LIMIT=3, THREADS=all cores, REST=0 us between calls
# On a machine that others use IDLE='chrt -r 1' stands for one at rest: nobody else gets the cores in the turns without busy processes.
set -eu
program=$1 turns=${2:-3}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- 'gemm fp32 rrr m64 n64 k64' 'gemm fp32 rrr m128 n128 k128' 'gemm fp32 rrr m256 n256 k256' \
    'conv_fwd fp32 nhwgc n1 g1 c64 k64 i28x28 f3x3 s1x1 p1x1'
cores=$(nproc) threads=${THREADS:-$(nproc)} rest=${REST:-0} limit=${LIMIT:-3}
work=$(mktemp -d)
busy=()
stop_busy() {
    [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    busy=()
}
trap 'stop_busy; rm -rf "$work"' EXIT
for ((turn = 0; turn < turns; turn++)); do
    # shellcheck disable=SC2086
    ${IDLE:-} "$program" "$threads" "$rest" "$@" >>"$work/idle"
    for ((core = 0; core < cores; core++)); do
        sh -c 'while :; do :; done' &
        busy+=($!)
    done
    "$program" "$threads" "$rest" "$@" >>"$work/busy"
    stop_busy
done
awk -F '\t' -v limit="$limit" '
    function middle(list, n,    i, j, t, v) {
        n = split(list, v, " ")
        for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        return v[int((n + 1) / 2)]
    }
    { side = FILENAME ~ /busy$/ ? "busy" : "idle"; if (!($1 in seen)) { seen[$1] = 1; order[++count] = $1 } }
    { median[$1, side] = median[$1, side] " " $2; mean[$1, side] = mean[$1, side] " " $4 }
    END {
        for (i = 1; i <= count; i++) {
            p = order[i]
            ratio = middle(median[p, "busy"]) / middle(median[p, "idle"])
            printf "%-60s idle %s, mean %s; busy %s, mean %s us; ratio %.2f\n", p, middle(median[p, "idle"]), middle(mean[p, "idle"]),
                middle(median[p, "busy"]), middle(mean[p, "busy"]), ratio
            failed = failed || (i == 1 && ratio > limit)
        }
        if (!count) failed = 1
        exit failed
    }' "$work/idle" "$work/busy"
