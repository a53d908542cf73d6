#!/usr/bin/env python3
"""cpu_vs_peer.py: the library's plans beside the best of oneDNN, OpenBLAS and BLIS, on problems drawn by class from a seed, or on lists of one's own.

bench/peer/peer.c measures, on the processors that this process may use; cpu_problems.py draws. Ratios are the peer's time over ours: above 1 we
are faster. Of the worst problems every kernel of set default is measured: where another would have been faster by more than a twentieth it
was the choice, else the kernels.

On a machine that others use --rounds 3 asks for all problems three times, a process and a choice each: tables take of a problem the round of the
median ratio, --rows has every round's row."""
import argparse
import collections
import csv
import itertools
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time

import cpu_problems

TOLERANCE = {"fp32": 1e-3, "bf16": 2e-2, "fp16": 2e-2, "fp8": 2e-2, "bf8": 2e-2, "int8": 1e-30}
CHOICE = 1.05

Result = collections.namedtuple("Result", "kind problem ours theirs peer config roofline error best best_config")


class Bench:
    """A bench_peer that answers line by line. One that died is started again."""

    def __init__(self, options, every=False):
        self.command = [options.program, "--threads", str(options.threads)] + ["--every"] * every + ["--own"] * options.own
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = self.process.stdout.readline().lstrip("# ").strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def measure(self, kind, text):
        """A Result, or a line that says why not."""
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline().rstrip("\n")
        except BrokenPipeError:
            line = ""
        if not line:
            code = self.process.wait()
            self.start()
            return f"{text}: bench_peer ended with {code}"
        if line.startswith("#"):
            return line.lstrip("# ")
        problem, ours, theirs, peer, config, roofline, error, best, best_config = line.split("\t")
        return Result(kind, problem, float(ours), float(theirs), peer.strip(), config, float(roofline), float(error), float(best), best_config)


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def median(rows):
    """Of a problem's rounds the one of the median ratio; the lesser of two."""
    return sorted(rows, key=lambda r: r.theirs / r.ours)[(len(rows) - 1) // 2]


def dtype_of(problem):
    return "uint8" if "x=uint8" in problem else problem.split()[1]


def listed(kwright, lists, dtypes, directions):
    """The problems of lists that kwright reads, in each type and direction; each list is a class."""
    for name in lists:
        for dtype, direction in itertools.product(dtypes, directions):
            dtype = ["--dtype", dtype] if dtype else []
            direction = ["--dir", direction] if direction else []
            printed = subprocess.run([kwright, "problems", "--json", "--problems", name, *dtype, *direction], stdout=subprocess.PIPE, text=True)
            if printed.returncode:
                sys.exit(printed.returncode)
            yield from ((os.path.splitext(os.path.basename(name))[0], json.loads(line)["problem"]) for line in printed.stdout.splitlines())


def table(results):
    order = {kind: i for i, kind in enumerate(cpu_problems.CLASSES + cpu_problems.MORE_CLASSES)}
    groups = collections.OrderedDict()
    for r in results:
        groups.setdefault((r.kind, dtype_of(r.problem), r.problem.split()[0].replace("conv_", "")), []).append(r)
    print("\n| class | type | direction | problems | geometric mean | least | share below 1 | % of roofline |\n|---|---|---|---:|---:|---:|---:|---:|")
    for (kind, dtype, op), rows in sorted(groups.items(), key=lambda g: (order.get(g[0][0], len(order)), g[0])):
        ratios = [r.theirs / r.ours for r in rows]
        below = 100 * sum(v < 1 for v in ratios) / len(ratios)
        print(f"| {kind} | {dtype} | {op} | {len(rows)} | {mean(ratios):.2f} | {min(ratios):.2f} | {below:.0f} % | "
              f"{100 * mean([max(r.roofline, 1e-3) for r in rows]):.0f} |")
    for dtype in sorted({dtype_of(r.problem) for r in results}):
        ratios = [r.theirs / r.ours for r in results if dtype_of(r.problem) == dtype]
        print(f"| **all** | {dtype} | | {len(ratios)} | **{mean(ratios):.2f}** | {min(ratios):.2f} | "
              f"{100 * sum(v < 1 for v in ratios) / len(ratios):.0f} % | |")


def short(config):
    words = config.split()
    return " ".join(words[:1] + words[3:])


def worst(results, options):
    rows = sorted(results, key=lambda r: r.theirs / r.ours)[:options.worst]
    if not rows:
        return
    print(f"\n| the worst {len(rows)} | theirs, us | ours, us | ratio | their kernel | our kernel | fastest of ours | which |")
    print("|---|---:|---:|---:|---|---|---|---|")
    bench = Bench(options, every=True)
    for old in rows:
        r = bench.measure(old.kind, old.problem)
        if isinstance(r, str):
            print(f"| {r} | | | | | | | |")
            continue
        choice = r.best > 0 and r.ours > CHOICE * r.best
        print(f"| {r.kind}: {r.problem} | {r.theirs / 1e3:.1f} | {r.ours / 1e3:.1f} | {r.theirs / r.ours:.2f} | {r.peer} | {short(r.config)} | "
              f"{short(r.best_config)} {r.best / 1e3:.1f} us | {'choice' if choice else 'kernel'} |", flush=True)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bench/bench_peer")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="of the draws; printed")
    parser.add_argument("--classes", default=",".join(cpu_problems.CLASSES))
    parser.add_argument("--problems", nargs="+", metavar="LIST", help="in place of draws: lists by name or file, as they stand where no --dtypes or --directions are given")
    parser.add_argument("--kwright", default="build/kwright", help="reads the lists")
    parser.add_argument("--directions", help="default: all of drawn problems")
    parser.add_argument("--dtypes", help="default: fp32,bf16 of drawn problems; int8 and uint8, which is int8 with x=uint8")
    parser.add_argument("--count", type=int, default=3, help="draws of a class; a convolution has three directions")
    parser.add_argument("--rounds", type=int, default=1, help="processes, one after the other, that measure all problems; tables have the medians")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="no further problem is begun after so many")
    parser.add_argument("--worst", type=int, default=10, help="problems on which every kernel of ours is measured")
    parser.add_argument("--epilogue", default="", help="words behind forward convolutions and products, e.g. epilogue=bias+relu")
    parser.add_argument("--own", action="store_true", help="the peer is our own plan of the same problem in fp32")
    parser.add_argument("--rows", help="a CSV of the results")
    return parser.parse_args()


def main():
    started, options = time.time(), read_options()
    if options.problems:
        types, directions = (given.split(",") if given else [""] for given in (options.dtypes, options.directions))
        problems = list(listed(options.kwright, options.problems, types, directions))
    else:
        types, directions = (options.dtypes or "fp32,bf16").split(","), (options.directions or ",".join(cpu_problems.DIRECTIONS)).split(",")
        problems = cpu_problems.draw(options.seed, options.classes.split(","), options.count, types, directions)
    if options.epilogue:
        problems = [(kind, f"{text} {options.epilogue}") for kind, text in problems if text.startswith(("conv_fwd", "gemm"))]
    measured, failed = collections.OrderedDict(), 0
    out = open(options.rows, "w", newline="", encoding="utf-8") if options.rows else None
    bench = Bench(options)
    print(f"{', '.join(options.problems) if options.problems else f'seed {options.seed}'}, {len(problems)} problems, {options.threads} threads; {bench.about}; "
          f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors", flush=True)
    for number in range(options.rounds):
        if number:
            bench.close()
            bench.start()
        for kind, text in problems:
            if time.time() - started > options.seconds:
                print(f"time is over in round {number + 1}")
                break
            r = bench.measure(kind, text)
            if isinstance(r, str):
                print("FAILED", r, flush=True)
                failed += 1
                continue
            measured.setdefault((kind, text), []).append(r)
            if not r.error < TOLERANCE[text.split()[1]]:
                print(f"DIFFERENT by {r.error}: {r.problem}; whether ours is right says\n"
                      f"    kwright check --threads 1 --config '{r.config}' '{r.problem}'", flush=True)
                failed += 1
            if out:
                csv.writer(out).writerow(r)
                out.flush()
    results = [median(rows) for rows in measured.values()]
    print(f"{len(results)} of {len(problems)} problems in {time.time() - started:.0f} s, {failed} failed or different; "
          f"load now {os.getloadavg()[0]:.1f}")
    if results:
        table(results)
        worst(results, options)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
