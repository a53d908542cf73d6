#!/usr/bin/env python3
"""gpu_rows.py: times of given kernels on given problems, for training (bench/peer/peer_rows.py, tools/data/gpu_model.sh).

A line of --pairs is PROBLEM|KERNEL; tools/data/gpu_pairs.py draws them. Every result is held against PyTorch's. Other than gpu_vs_peer.py,
which times what a user sees, every timing begins behind a kernel that waits, so that all launches lie in the queue before the first
event passes: a busy host adds nothing, and one launch alone is a time of the device too. Kernels are compiled on the other cores by a
second process, an operation and type at a time, in the order of the pairs; the time that is left is shared among what is not begun."""
import argparse
import collections
import csv
import math
import os
import subprocess
import sys
import time

import torch

import gpu_vs_peer
from kw_ctypes import Failure, Library

WAIT_CYCLES = 300_000  # 0.15 ms: longer than the host needs to queue a graph or a launch of three stages
SLOW, SLOW_NS, TURNS = 4, 5e4, 5


def behind_a_wait(run):
    """Nanoseconds from event to event, the device having everything before it starts."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    torch.cuda._sleep(WAIT_CYCLES)
    events[0].record()
    run()
    events[1].record()
    events[1].synchronize()
    return events[0].elapsed_time(events[1]) * 1e6


class Graph(gpu_vs_peer.Graph):
    def replay(self):
        self.times.append(behind_a_wait(self.graph.replay) / self.count)


def time_kernel(library, problem, peer, reference, config, best):
    """(outcome, ns, error); outcome good whether it was timed by a graph or, far behind the best, by the lesser of two launches alone."""
    try:
        plan = library.plan(problem, config)
    except Failure as failure:
        return str(failure)[:40].replace(",", ";"), 0, 0
    try:
        if plan.config != config:
            return "refused", 0, 0
        run = peer.runner(plan)
        peer.ours.fill_(math.nan)
        run()
        error = peer.error(reference)
        if not error < gpu_vs_peer.TOLERANCE[peer.dtype]:
            return "wrong", 0, error
        ns = min(behind_a_wait(run), behind_a_wait(run))
        if ns < SLOW * best + SLOW_NS:
            graph = Graph(run, ns)
            for _ in range(TURNS):
                graph.replay()
            ns = graph.ns()
        return "good", ns, error
    finally:
        torch.cuda.synchronize()
        plan.close()


def read_pairs(path):
    """By operation and type, in the order of the file, the kernels of each problem."""
    parts = collections.OrderedDict()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            problem, config = line.rstrip("\n").split("|")
            part = parts.setdefault(" ".join(problem.split()[:2]), collections.OrderedDict())
            part.setdefault(problem, []).append(config)
    return parts


def build(library, parts):
    """Compiles the kernels of each part, and says on a line that they are there."""
    for name, part in parts.items():
        registry = library.registry(list(dict.fromkeys(c for configs in part.values() for c in configs)))
        library.call("kw_registry_build", registry, None, None)
        print(name, flush=True)


def plan_line(library, text, problem, times):
    """What the default mode takes, and how fast that is beside all that were timed."""
    plan = library.plan(problem)
    best = min(times, key=times.get)
    print(f"PLAN {text} | {times.get(plan.config, math.nan) / times[best]:.4f} | {plan.config} | {best}", flush=True)
    plan.close()


def measure_part(library, part, until, rows, plans):
    done = 0
    for text, configs in part.items():
        if time.time() > until:
            break
        problem, times, config = library.problem(text), {}, ""
        try:
            peer = gpu_vs_peer.Peer(text)
            reference = peer.theirs()
            for config in configs:
                outcome, ns, error = time_kernel(library, problem, peer, reference, config, min(times.values(), default=math.inf))
                if outcome == "good":
                    times[config] = ns
                rows.writerow([library.target, text, config, outcome, f"{ns:.0f}", f"{error:.2g}"])
                if outcome != "good":
                    print(outcome.upper(), text, "|", config, error, flush=True)
            if plans and times:
                plan_line(library, text, problem, times)
        except (Failure, RuntimeError) as failure:
            print("FAILED", text, "|", config, "|", str(failure)[:200], flush=True)
            if "CUDA error" in str(failure):
                sys.exit(1)
        done += 1
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build/src/libkernelwright.so")
    parser.add_argument("--pairs", required=True)
    parser.add_argument("--rows", help="the CSV that is written")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--plans", action="store_true", help="say for each problem what the default mode takes of its kernels")
    parser.add_argument("--build", action="store_true", help="compile only: what the second process does")
    options, started = parser.parse_args(), time.time()
    parts, library = read_pairs(options.pairs), Library(options.library, "cuda:0")
    if options.build:
        return build(library, parts)
    cores = sorted(os.sched_getaffinity(0))
    builder = subprocess.Popen([sys.executable, __file__, "--library", options.library, "--pairs", options.pairs, "--build"],
                               stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores[1:] or cores))
    torch.manual_seed(1)
    left = sum(len(c) for part in parts.values() for c in part.values())
    with open(options.rows, "w", 1, newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        for name, part in parts.items():
            builder.stdout.readline()
            now, here = time.time(), sum(len(c) for c in part.values())
            done = measure_part(library, part, now + (started + options.seconds - now) * here / left, rows, options.plans)
            left -= here
            print(f"{name}: {done} of {len(part)} problems, begun at {now - started:.0f} s, over at {time.time() - started:.0f} s", flush=True)
    builder.wait()


if __name__ == "__main__":
    main()
