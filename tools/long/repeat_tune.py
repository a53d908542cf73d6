#!/usr/bin/env python3
"""repeat_tune.py: do tunings on a busy machine agree? Each problem is tuned three times, each time without wisdom, beside as many busy
processes as asked for; the distinct winners are then timed against each other five times, and the least time of each says how far the
worst choice is behind the best. Prints a table and, as its last line, how many are within 3 %.

    tools/long/repeat_tune.py build/kwright [--busy 2] [--threads 1 2] [PROBLEM ...]"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

USUAL = [
    "conv_fwd fp32 nhwgc n1 c64 k64 i56x56 f3x3 p1x1",
    "conv_fwd fp32 nhwgc n1 c256 k64 i56x56 f1x1",
    "conv_fwd fp32 nhwgc n1 g32 c32 k32 i28x28 f3x3 p1x1",
    "conv_bwd_data fp32 nhwgc n1 c64 k64 i28x28 f3x3 p1x1",
    "conv_bwd_weight fp32 nhwgc n1 c64 k64 i28x28 f3x3 p1x1",
    "gemm fp32 rcr m256 n256 k256",
    "gemm fp32 rcr m32 n1000 k512",
    "gemm bf16 rcr m512 n512 k512",
]
TUNINGS, TIMINGS = 3, 5


def tune(args, folder, problem, threads, *more):
    wisdom = os.path.join(folder, "wisdom.txt")
    if os.path.exists(wisdom):
        os.remove(wisdom)
    env = dict(os.environ, KW_CACHE_DIR=os.path.join(folder, "cache"), KW_DATA_DIR=folder, KW_WISDOM=wisdom, KW_THREADS=str(threads))
    done = subprocess.run([args.kwright, "tune", "--json", "--quiet", *more, problem], env=env, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"repeat_tune.py: {problem}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[0])


def gap_between(args, folder, problem, threads, winners):
    """How far, in per cent, the slowest of the winners is behind the fastest."""
    if len(winners) < 2:
        return 0.0
    catalog = os.path.join(folder, "winners.txt")
    with open(catalog, "w", encoding="utf-8") as file:
        file.write("\n".join(winners) + "\n")
    least = {}
    for _ in range(TIMINGS):
        for kernel in tune(args, folder, problem, threads, "--kernels", catalog)["kernels"]:
            if "time_ns" in kernel:
                least[kernel["config"]] = min(kernel["time_ns"], least.get(kernel["config"], kernel["time_ns"]))
    return 100 * (max(least.values()) / min(least.values()) - 1)


def repeat(args, folder):
    gaps = []
    print("| problem | threads | winners | spreads, % | provisional | worst winner beside the best, % |\n|---|---|---|---|---|---|")
    for problem in args.problems or USUAL:
        for threads in args.threads:
            tune(args, folder, problem, threads)  # compiles
            answers = [tune(args, folder, problem, threads) for _ in range(TUNINGS)]
            winners = sorted({answer["config"] for answer in answers})
            spreads = " ".join(f"{100 * answer['spread_ns'] / answer['time_ns']:.1f}" for answer in answers)
            provisional = sum("provisional" in answer["noise"] for answer in answers)
            gaps.append(gap_between(args, folder, problem, threads, winners))
            print(f"| `{problem}` | {threads} | {len(winners)} | {spreads} | {provisional} | {gaps[-1]:.1f} |", flush=True)
    within = sum(gap <= 3 for gap in gaps)
    print(f"\n{within} of {len(gaps)} within 3 %, worst {max(gaps):.1f} %; load {os.getloadavg()[0]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("kwright")
    parser.add_argument("--busy", type=int, default=2)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("problems", nargs="*")
    args = parser.parse_intermixed_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.busy)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            repeat(args, folder)
    finally:
        for process in busy:
            process.kill()


if __name__ == "__main__":
    main()
