#!/usr/bin/env python3
"""peer_rows.py [--host-ns N] ROWS.csv[.gz] ... > STORE.csv: the times that gpu_vs_peer.py --rows and gpu_rows.py wrote as an export of a
store, for kwright train. N, of gpu_vs_peer.py's files behind it: what the host's starting a graph adds to the time of one of its launches
(1,200: by so much small kernels of the same families take longer in them than behind a kernel that waits, bench/peer/gpu_rows.py).

Times are of launches in a graph, weights fresh; one figure a kernel, so both halves of its samples are the same. A kernel that was dropped
as slow was timed by one launch alone, which has the host's time in it: where that may be all, up to LONE_NS above SLOW times the best, the
row says nothing and is left out. So is a problem of which no kernel's result was PyTorch's: then that was not exact."""
import csv
import gzip
import hashlib
import math
import sys

COLUMNS = ("run,sequence,time,target,problem,config,packed,cold,outcome,time_ns,spread_ns,median_ns,least_ns,half0_ns,half1_ns,samples,"
           "calls,run_started,run_device,run_command").split(",")
DATE = "2026-11-22T00:00:00Z"
SLOW, LONE_NS = 3, 3e5
OUTCOMES = {"good": "good", "slow": "slow", "wrong": "wrong", "refused": "spills"}  # a kernel that is refused unmeasured spills


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out, number, host_ns, words = csv.writer(sys.stdout, lineterminator="\n"), 0, 0.0, iter(sys.argv[1:])
    out.writerow(COLUMNS)
    for path in words:
        if path == "--host-ns":
            host_ns = float(next(words))
            continue
        run = hashlib.md5(path.encode()).hexdigest()
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines))
        best = {}
        for _, problem, _, outcome, ns, _ in rows:
            if outcome == "good":
                best[problem] = min(float(ns), best.get(problem, math.inf))
        for target, problem, config, outcome, ns, _ in rows:
            if problem not in best:
                continue
            if outcome == "slow" and float(ns) < SLOW * best.get(problem, math.inf) + LONE_NS:
                continue
            number += 1
            timed = outcome in ("good", "slow")
            ns = f"{max(float(ns) - host_ns, float(ns) / 2):.0f}"
            times = [ns, "0", ns, ns, ns, ns, "4", "1"] if timed else ["0"] * 8
            told = [run, number, DATE, target, problem, config, "false", "false", OUTCOMES.get(outcome, "uncompiled")]
            out.writerow(told + times + [DATE, target.split()[0], "bench/peer/gpu_vs_peer.py --every --rows"])


if __name__ == "__main__":
    main()
