#!/usr/bin/env python3
"""gpu_vs_peer.py: the library's plans beside cuDNN and cuBLAS: one process, PyTorch's tensors and stream, CUDA graphs of both, in turns.

Theirs: cuDNN with every plan tried (torch.backends.cudnn.benchmark), cuBLAS's default through torch.matmul. Ours: the default mode.
Problems are drawn by class from a seed (peer_problems.py); both results are compared. Wants a GPU, PyTorch and libkernelwright.so. Ratios are their time over ours: above 1 we are faster. Times are of a launch among many of a graph, so caches are warm."""
import argparse
import collections
import csv
import math
import random
import statistics
import sys
import time

import torch

import peer_problems
from kw_ctypes import Failure, Library, W, X, Y

GRAPH_NS, LAUNCHES_MAX, TURNS = 4e5, 20, 9
HOPELESS = 3  # times the best, and this much besides: a kernel that is not timed further
OWN_NS = 2e5  # what starting one launch alone may take: a busy host needs 70 us for a kernel of 5
TOLERANCE = {"bf16": 1e-2, "fp16": 2e-3, "fp8": 1e-2, "fp32": 2e-3}  # fp32 may be multiplied as tf32


class Peer:
    """A problem as PyTorch has it: tensors, and theirs(), which computes the same."""

    def __init__(self, text):
        words = text.split()
        self.op, self.dtype = words[0], words[1]
        self.type = {"bf16": torch.bfloat16, "fp32": torch.float32}.get(self.dtype, torch.float16)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = "fpmath=tf32" in words
        value = {w[0]: w[1:] for w in words[3:] if "=" not in w}
        self.fast = "fpmath=fast_accum" in words
        (self.gemm if self.op == "gemm" else self.convolution)(words[2], value)

    def gemm(self, layout, value):
        m, n, k = (int(value[x]) for x in "mnk")
        self.x = torch.randn((m, k) if layout[0] == "r" else (k, m), device="cuda").to(self.type)
        self.w = torch.randn((k, n) if layout[1] == "r" else (n, k), device="cuda").to(self.type)
        if self.dtype == "fp8":
            self.x, self.w = self.x.to(torch.float8_e4m3fn), self.w.to(torch.float8_e4m3fn)
        self.ours = torch.empty((m, n), device="cuda", dtype=self.type)
        a, b, result = self.x if layout[0] == "r" else self.x.t(), self.w if layout[1] == "r" else self.w.t(), torch.empty_like(self.ours)
        if self.dtype == "fp8":
            one = torch.ones((), device="cuda")
            self.theirs = lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.float16, use_fast_accum=self.fast)
        else:
            self.theirs = lambda: torch.matmul(a, b, out=result)
        self.addresses = {X: self.x, W: self.w, Y: self.ours}

    def convolution(self, layout, value):
        n, g, c, k = (int(value.get(x, 1)) for x in "ngck")
        image, taps = ([int(v) for v in value[x].split("x")] for x in "if")
        stride, pad, dilation = ([int(v) for v in value[x].split("x")] for x in "spd")
        last = torch.channels_last if len(image) == 2 else torch.channels_last_3d
        if layout.startswith("ng"):
            last = torch.contiguous_format
        out = [(i + 2 * p - d * (f - 1) - 1) // s + 1 for i, f, s, p, d in zip(image, taps, stride, pad, dilation)]
        self.x, self.w, self.y = (torch.randn(shape, device="cuda").to(self.type).to(memory_format=last)
                                  for shape in ((n, c, *image), (k, c // g, *taps), (n, k, *out)))
        common = (stride, pad, dilation, False, [0] * len(image), g)
        mask = [self.op == "conv_bwd_data", self.op == "conv_bwd_weight", False]
        if self.op == "conv_fwd":
            self.theirs = lambda: torch.ops.aten.convolution(self.x, self.w, None, *common)
        else:
            which = mask.index(True)
            self.theirs = lambda: torch.ops.aten.convolution_backward(self.y, self.x, self.w, None, *common, mask)[which]
        result = {"conv_fwd": Y, "conv_bwd_data": X, "conv_bwd_weight": W}[self.op]
        self.addresses = {X: self.x, W: self.w, Y: self.y}
        self.ours = torch.empty_like(self.addresses[result], memory_format=last)
        self.addresses[result] = self.ours

    def runner(self, plan):
        workspace = torch.empty(max(256, plan.workspace), dtype=torch.uint8, device="cuda")
        at = [self.addresses[t].data_ptr() for t in (X, W, Y)] + [workspace.data_ptr()]

        def run(keep=workspace):
            plan.run(*at, torch.cuda.current_stream().cuda_stream)
        return run

    def error(self, reference):
        """Of our result against theirs, as a share of its length; NaN where something was not written."""
        a, b = self.ours.float(), reference.float()
        return (torch.linalg.vector_norm(a - b) / torch.linalg.vector_norm(b).clamp_min(1e-30)).item()


def once_ns(run):
    run()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e6


class Graph:
    def __init__(self, run, ns):
        self.count = max(1, min(LAUNCHES_MAX, int(GRAPH_NS / max(ns, 1))))
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for _ in range(self.count):
                run()
        self.times, self.events = [], [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def replay(self):
        self.events[0].record()
        self.graph.replay()
        self.events[1].record()
        self.events[1].synchronize()
        self.times.append(self.events[0].elapsed_time(self.events[1]) * 1e6 / self.count)

    def ns(self):
        return statistics.median(self.times[1:] or self.times)


def in_turns(graphs, turns=TURNS):
    for _ in range(turns):
        for graph in graphs:
            graph.replay()
    return [graph.ns() for graph in graphs]


def try_kernel(library, problem, peer, reference, config, best):
    """(outcome, ns, error) of one kernel that is not the plan's."""
    try:
        plan = library.plan(problem, config)
    except Failure as failure:
        return str(failure)[:40].replace(",", ";"), 0, 0
    try:
        if not plan.config.startswith(config):  # a plan adds what the problem wants of the text
            return "refused", 0, 0
        run = peer.runner(plan)
        peer.ours.fill_(math.nan)
        ns = once_ns(run)
        error = peer.error(reference)
        if not error < TOLERANCE[peer.dtype]:
            return "wrong", ns, error
        if ns > HOPELESS * best + OWN_NS:
            ns = min(ns, once_ns(run))
        if ns > HOPELESS * best + OWN_NS:
            return "slow", ns, error
        return "good", in_turns([Graph(run, ns)], 4)[0], error
    finally:
        torch.cuda.synchronize()
        plan.close()


def every_kernel(library, problem, text, peer, reference, rows):
    """The fastest of all kernels that serve the problem: (config, ns), and those that were wrong."""
    best, name, wrong = math.inf, None, []
    for config in library.fitting(problem):
        outcome, ns, error = try_kernel(library, problem, peer, reference, config, best)
        if rows:
            rows.writerow([library.target, text, config, outcome, f"{ns:.0f}", f"{error:.2g}"])
        if outcome == "good" and ns < best:
            best, name = ns, config
        if outcome == "wrong":
            wrong.append(config)
    return name, best, wrong


Result = collections.namedtuple("Result", "kind problem theirs ours error config best best_config plan_s gflop")


def measure(library, kind, text, options, rows):
    problem = library.problem(text)
    text = library.canonical(problem)
    peer = Peer(text)
    reference = peer.theirs()
    theirs = Graph(peer.theirs, once_ns(peer.theirs))
    ours, error, config, plan_s, best, best_config = math.nan, math.nan, "", 0.0, math.nan, ""
    if not options.no_plan:
        started = time.time()
        plan = library.plan(problem)
        plan_s = time.time() - started
        run = peer.runner(plan)
        peer.ours.fill_(math.nan)
        graph = Graph(run, once_ns(run))
        error, config = peer.error(reference), plan.config
        in_turns([graph, theirs])
        ours = graph.ns()
    else:
        in_turns([theirs], 5)
    if options.every:
        best_config, best, wrong = every_kernel(library, problem, text, peer, reference, rows)
        for name in wrong:
            print("WRONG", text, "|", name, flush=True)
    gflop = library.flops(problem) / 1e9
    torch.cuda.synchronize()
    return Result(kind, text, theirs.ns(), ours, error, config, best, best_config, plan_s, gflop)


def report(results, which):
    """A table by class and direction; which: "ours" (the plan) or "best" (of all our kernels)."""
    groups = collections.OrderedDict()
    for r in results:
        if getattr(r, which) > 0:
            name = r.kind if r.problem.startswith("gemm") else f"{r.kind} {r.problem.split()[0][5:]}"
            groups.setdefault(name, []).append(r.theirs / getattr(r, which))
    print(f"\n| class | problems | their time over ours ({which}): geometric mean | least | share below 1 |")
    print("|---|---:|---:|---:|---:|")
    for name, ratios in sorted(groups.items()):
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        below = sum(v < 1 for v in ratios) / len(ratios)
        print(f"| {name} | {len(ratios)} | {mean:.2f} | {min(ratios):.2f} | {100 * below:.0f} % |")


def short(config):
    words = config.split()
    values = dict(w.split("=") for w in words[3:])
    if "vec_a" not in values:
        return " ".join(words[:1] + words[3:])
    rest = [f"{k}={values[k]}" for k in ("split_k", "streamk", "merge", "spec") if values.get(k, "1") not in ("1", "off", "default")]
    vectors = "/".join(values[f"vec_{x}"] for x in "abc")
    return f"{words[0]} {values['tile_m']}x{values['tile_n']}x{values['tile_k']} {values['pipe']} vec {vectors} {' '.join(rest)}".strip()


def worst(results, library, options, count=10):
    """Whether another of our kernels would have been faster where we lose most."""
    print(f"\n| worst {count} | theirs, us | ours, us | ratio | our kernel | fastest of ours, us | which |")
    print("|---|---:|---:|---:|---|---:|---|")
    for r in sorted((r for r in results if r.ours > 0), key=lambda r: r.theirs / r.ours)[:count]:
        best, name = r.best, r.best_config
        if not options.every:
            problem, peer = library.problem(r.problem), Peer(r.problem)
            name, best, _ = every_kernel(library, problem, r.problem, peer, peer.theirs(), None)
        print(f"| {r.problem} | {r.theirs / 1e3:.1f} | {r.ours / 1e3:.1f} | {r.theirs / r.ours:.2f} | {short(r.config)} | "
              f"{best / 1e3:.1f} | {short(name) if name else '-'} |", flush=True)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build/src/libkernelwright.so")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="of the draws; printed")
    parser.add_argument("--classes", default=",".join(peer_problems.CLASSES))
    parser.add_argument("--count", type=int, default=8, help="draws of a class; a convolution has three directions")
    parser.add_argument("--dtype", default="bf16", help="in place of bf16: fp16")
    parser.add_argument("--layers", help="a problem list to measure besides, such as problems/gpu_layers.txt")
    parser.add_argument("--seconds", type=float, default=1e9, help="no further problem is begun after so many")
    parser.add_argument("--every", action="store_true", help="time every kernel of ours on every problem, not only on the ten worst")
    parser.add_argument("--build", action="store_true", help="compile every kernel first, on all cores; --every does")
    parser.add_argument("--no-plan", action="store_true", help="with --every: leave the default mode out")
    parser.add_argument("--rows", help="with --every: a CSV of every kernel's time (bench/peer/peer_rows.py)")
    parser.add_argument("--out", help="a CSV of the results")
    parser.add_argument("--device", type=int, default=0)
    return parser.parse_args()


def main():
    started, options = time.time(), read_options()
    torch.cuda.set_device(options.device)
    torch.backends.cudnn.benchmark, torch.backends.cudnn.benchmark_limit = True, 0
    torch.manual_seed(options.seed)
    library = Library(options.library, f"cuda:{options.device}")
    counts = {kind: options.count for kind in options.classes.split(",") if kind}
    problems = peer_problems.draw(options.seed, counts, options.layers)
    problems = [(kind, text.replace(" bf16 ", f" {options.dtype} ")) for kind, text in problems]
    print(f"seed {options.seed}, {len(problems)} problems; {library.device}; PyTorch {torch.__version__}, "
          f"cuDNN {torch.backends.cudnn.version()}")
    if options.every or options.build:
        library.build({" ".join(text.split()[:2]) for _, text in problems})
        print(f"kernels built at {time.time() - started:.0f} s", flush=True)
    results, failed = [], 0
    rows_file = open(options.rows, "w", newline="", encoding="utf-8") if options.rows else None
    rows = csv.writer(rows_file) if rows_file else None
    out = open(options.out, "w", newline="", encoding="utf-8") if options.out else None
    if out:
        csv.writer(out).writerow(Result._fields)
    for kind, text in problems:
        if time.time() - started > options.seconds:
            print("time is over")
            break
        try:
            results.append(measure(library, kind, text, options, rows))
        except (Failure, RuntimeError) as failure:
            failed += 1
            print("FAILED", text, "|", str(failure)[:200], flush=True)
            if "CUDA error" in str(failure):
                break
            continue
        if not options.no_plan and not results[-1].error < TOLERANCE[text.split()[1]]:
            failed += 1
            print("WRONG", text, "|", results[-1].config, results[-1].error, flush=True)
        for file, row in ((out, results[-1]), (rows_file, None)):
            if file and row:
                csv.writer(file).writerow([f"{v:.6g}" if isinstance(v, float) else v for v in row])
            if file:
                file.flush()
    print(f"{len(results)} of {len(problems)} problems in {time.time() - started:.0f} s, {failed} failed or wrong; "
          f"making a plan took {statistics.median([r.plan_s for r in results] or [0]):.2f} s in the median")
    for which in ["ours"] * (not options.no_plan) + ["best"] * options.every:
        report(results, which)
    if not options.no_plan:
        worst(results, library, options)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
