#!/usr/bin/env python3
"""peer_rows.py ROWS.csv[.gz] ... > STORE.csv: the times that gpu_vs_peer.py --rows wrote as an export of a store, for kwright train.

Times are of launches in a graph, weights fresh; one figure a kernel, so both halves of its samples are the same. A kernel that was dropped
as slow was timed by one launch alone, which has the host's time in it: where that may be all, up to LONE_NS above SLOW times the best, the
row says nothing and is left out."""
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
    out, number = csv.writer(sys.stdout, lineterminator="\n"), 0
    out.writerow(COLUMNS)
    for path in sys.argv[1:]:
        run = hashlib.md5(path.encode()).hexdigest()
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines))
        best = {}
        for _, problem, _, outcome, ns, _ in rows:
            if outcome == "good":
                best[problem] = min(float(ns), best.get(problem, math.inf))
        for target, problem, config, outcome, ns, _ in rows:
            if outcome == "slow" and float(ns) < SLOW * best.get(problem, math.inf) + LONE_NS:
                continue
            number += 1
            timed = outcome in ("good", "slow")
            times = [ns, "0", ns, ns, ns, ns, "4", "1"] if timed else ["0"] * 8
            told = [run, number, DATE, target, problem, config, "false", "false", OUTCOMES.get(outcome, "uncompiled")]
            out.writerow(told + times + [DATE, target.split()[0], "bench/gpu_vs_peer.py --every --rows"])


if __name__ == "__main__":
    main()
