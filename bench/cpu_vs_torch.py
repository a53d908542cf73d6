#!/usr/bin/env python3
"""cpu_vs_torch.py: plans on a CPU beside PyTorch's oneDNN, in turns in one process, on problems drawn by class from a seed.

    cpu_vs_torch.py LIBKERNELWRIGHT [--threads N] [--types bf16 int8] [--each N] [--seed N]

Weights are packed on both sides where PyTorch can (its mkldnn and onednn operators), and the fastest of its ways counts. Ratios are its time
over ours: above 1 we are faster."""
import argparse
import ctypes as ct
import math
import random
import statistics
import time

import torch

SHORTLIST = 3  # kw_mode
ROUNDS, ROUND_SECONDS = 9, 0.004


class Error(ct.Structure):
    _fields_ = [("status", ct.c_int), ("text", ct.c_char * 508)]


class Problem(ct.Structure):
    _fields_ = [("words", ct.c_int64 * 64)]


class ContextOptions(ct.Structure):
    _fields_ = [("size", ct.c_size_t), ("threads", ct.c_int32)] + [
        (n, ct.c_char_p) for n in ("cache_dir", "data_dir", "wisdom_file", "compiler", "model")] + [
        ("spill_limit", ct.c_int32), ("stop", ct.c_void_p), ("log", ct.c_void_p), ("user", ct.c_void_p)]


class PlanOptions(ct.Structure):
    _fields_ = [("size", ct.c_size_t), ("mode", ct.c_int), ("workspace_max", ct.c_int64), ("shortlist", ct.c_int32),
                ("frozen_is_error", ct.c_bool), ("remeasure", ct.c_bool), ("fresh_weights", ct.c_bool), ("registry", ct.c_void_p),
                ("progress", ct.c_void_p), ("user", ct.c_void_p)]


class Tensors(ct.Structure):
    _fields_ = [("size", ct.c_size_t)] + [(n, ct.c_void_p) for n in ("x", "w", "y", "workspace")]


class Library:
    def __init__(self, path, threads):
        self.c = ct.CDLL(path)
        for name in ("kw_plan_config", "kw_context_target", "kw_context_device"):
            getattr(self.c, name).restype = ct.c_char_p
        self.c.kw_plan_workspace.restype = ct.c_int64
        self.context = ct.c_void_p()
        options = ContextOptions(size=ct.sizeof(ContextOptions), threads=threads, wisdom_file=b"")
        self.call("kw_context_open", ct.byref(self.context), b"cpu", ct.byref(options))

    def call(self, name, *args):
        error = Error()
        if getattr(self.c, name)(*args, ct.byref(error)):
            raise RuntimeError(f"{name}: {error.text.decode(errors='replace')}")

    def plan(self, text, w):
        """The kernel's name, and a function that runs it on x, y."""
        problem, plan = Problem(), ct.c_void_p()
        self.call("kw_problem_parse", ct.byref(problem), text.encode())
        options = PlanOptions(size=ct.sizeof(PlanOptions), mode=SHORTLIST)
        self.call("kw_plan_create", ct.byref(plan), self.context, ct.byref(problem), ct.byref(options))
        self.call("kw_plan_pack_weights", plan, ct.c_void_p(w.data_ptr()))
        workspace = torch.empty(self.c.kw_plan_workspace(plan) + 128, dtype=torch.uint8)

        def runner(x, y):
            tensors = Tensors(ct.sizeof(Tensors), x.data_ptr(), w.data_ptr(), y.data_ptr(), (workspace.data_ptr() + 63) // 64 * 64)
            error, run = Error(), self.c.kw_plan_run

            def go():
                if run(plan, ct.byref(tensors), None, ct.byref(error)):
                    raise RuntimeError(error.text)
                return workspace  # kept alive
            return go
        return self.c.kw_plan_config(plan).decode(), runner


def values(shape, kind):
    if kind == "int8":
        return torch.randint(-128, 128, shape, dtype=torch.int8)
    return torch.randn(shape).to({"bf16": torch.bfloat16, "fp32": torch.float32}[kind])


def in_turns(functions):
    """Lower quartile of seconds a call, for each."""
    times = [[] for _ in functions]
    counts = []
    for f in functions:
        for _ in range(3):
            f()
        start = time.perf_counter()
        f()
        counts.append(max(1, int(ROUND_SECONDS / max(time.perf_counter() - start, 1e-7))))
    for _ in range(ROUNDS):
        for i, f in enumerate(functions):
            start = time.perf_counter()
            for _ in range(counts[i]):
                f()
            times[i].append((time.perf_counter() - start) / counts[i])
    return [statistics.quantiles(t, n=4)[0] for t in times]


def working(ways):
    """Those of PyTorch's ways that run here."""
    good = []
    for make in ways:
        try:
            f = make()
            f()
            good.append(f)
        except Exception as error:  # an operator that this build lacks
            if len(good) == 0:
                print("#", str(error).split("\n")[0][:120])
    return good


def product(library, kind, draw):
    m = draw.choice([1, 4, 8, 16, 50, 77, 128, 197, 384, 512, 1024, 2048, 4096])
    n, k = draw.choice([256, 384, 768, 1000, 1024, 2304, 3072, 4096]), draw.choice([192, 256, 333, 768, 1024, 2048, 3072, 4096])
    while m * n * k > 1 << 33:
        m //= 2
    a, w = values((m, k), kind), values((n, k), kind)
    y = torch.empty((m, n), dtype=torch.int32 if kind == "int8" else a.dtype)
    config, runner = library.plan(f"gemm {kind} rcr m{m} n{n} k{k}", w)

    def packed():
        ops = torch.ops.mkldnn
        weight = ops._reorder_linear_weight(w, m) if hasattr(ops, "_reorder_linear_weight") else w.to_mkldnn()
        return lambda: ops._linear_pointwise(a, weight, None, "none", [], "")

    def quantized():
        weight = torch.ops.onednn.qlinear_prepack(w, [m, k])
        scales, zeros = torch.ones(n), torch.zeros(n, dtype=torch.int64)
        return lambda: torch.ops.onednn.qlinear_pointwise(a, 1.0, 0, weight, scales, zeros, None, 1.0, 0, torch.float32, "none", [], "")

    ways = [lambda: lambda: torch._int_mm(a, w.t()), quantized] if kind == "int8" else [
        lambda: lambda: torch.nn.functional.linear(a, w), packed]
    return f"m{m} n{n} k{k}", 2.0 * m * n * k, config, runner(a, y), working(ways), y, lambda: a.double() @ w.double().t()


def convolution(library, kind, draw, taps, direction="conv_fwd"):
    n, image = draw.choice([1, 1, 4, 8]), draw.choice([7, 14, 20, 28, 40, 56])
    c, k = draw.choice([64, 96, 128, 152, 256, 512]), draw.choice([64, 96, 128, 200, 256, 512])
    while n * image * image * c * k * taps * taps > 1 << 32:
        n = max(n // 2, 1)
        c = c // 2 if n == 1 else c
    stride = draw.choice([1, 1, 1, 2]) if taps == 3 and direction == "conv_fwd" else 1
    pad = taps // 2
    out = (image + 2 * pad - taps) // stride + 1
    last = torch.channels_last
    x, w = values((n, c, image, image), kind).to(memory_format=last), values((k, c, taps, taps), kind).to(memory_format=last)
    y = torch.empty((n, k, out, out), dtype=torch.int32 if kind == "int8" else x.dtype).to(memory_format=last)
    text = f"n{n} c{c} k{k} i{image}x{image} f{taps}x{taps} s{stride}x{stride} p{pad}x{pad}"
    config, runner = library.plan(f"{direction} {kind} nhwgc {text}", w)
    dims = ([stride] * 2, [pad] * 2, [1] * 2)

    def packed():
        weight = torch.ops.mkldnn._reorder_convolution_weight(w, dims[1], dims[0], dims[2], 1, list(x.shape))
        return lambda: torch.ops.mkldnn._convolution_pointwise(x, weight, None, dims[1], dims[0], dims[2], 1, "none", [], "")

    def quantized(unsigned=False):
        source = (x.int() + 128).to(torch.uint8).to(memory_format=last) if unsigned else x
        weight = torch.ops.onednn.qconv_prepack(w, torch.ones(k), 1.0, 0, *dims, 1, list(x.shape))
        scales, zeros = torch.ones(k), torch.zeros(k, dtype=torch.int64)
        return lambda: torch.ops.onednn.qconv_pointwise(source, 1.0, 0, weight, scales, zeros, None, *dims, 1, 1.0, 0, torch.float32,
                                                        "none", [], "")

    if direction == "conv_bwd_data":
        run = runner(x, y.copy_(values(y.shape, kind)))
        back = lambda: lambda: torch.ops.aten.convolution_backward(y, x, w, None, *dims, False, [0, 0], 1, [True, False, False])
        return text, 2.0 * n * k * out * out * c * taps * taps, config, run, working([back]), None, None
    ways = [quantized, lambda: quantized(True)] if kind == "int8" else [
        lambda: lambda: torch.nn.functional.conv2d(x, w, None, *dims), packed]
    reference = lambda: torch.nn.functional.conv2d(x.double(), w.double(), None, *dims)
    return text, 2.0 * n * k * out * out * c * taps * taps, config, runner(x, y), working(ways), y, reference


CLASSES = {
    "product": product,
    "pointwise": lambda l, t, d: convolution(l, t, d, 1),
    "dense": lambda l, t, d: convolution(l, t, d, 3),
    "pointwise data": lambda l, t, d: convolution(l, t, d, 1, "conv_bwd_data"),
    "dense data": lambda l, t, d: convolution(l, t, d, 3, "conv_bwd_data"),
}


def wrong(y, reference, kind):
    if y is None:
        return 0.0
    exact = reference()
    return float((y.double() - exact).abs().max() / exact.abs().max())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--types", nargs="+", default=["bf16", "int8"])
    parser.add_argument("--classes", nargs="+", default=list(CLASSES))
    parser.add_argument("--each", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    library = Library(options.library, options.threads)
    print(f"# {library.c.kw_context_target(library.context).decode()}; {library.c.kw_context_device(library.context).decode()}; PyTorch {torch.__version__}")
    rows = []
    for kind in options.types:
        for name in options.classes:
            if kind == "int8" and name.endswith("data"):
                continue
            draw, ratios = random.Random(f"{options.seed} {kind} {name}"), []
            for _ in range(options.each):
                text, flops, config, ours, theirs, y, reference = CLASSES[name](library, kind, draw)
                ours()
                error = wrong(y, reference, kind)
                times = in_turns([ours] + theirs)
                best = min(times[1:]) if theirs else float("nan")
                ratios.append(best / times[0])
                print(f"{kind} {name} {text}: {ratios[-1]:.2f}; {flops / times[0] / 1e9:.0f} GFLOP/s against {flops / best / 1e9:.0f}; "
                      f"error {error:.1e}; {config}", flush=True)
            known = [r for r in ratios if r == r]
            if known:
                rows.append((kind, name, len(known), math.exp(statistics.fmean(map(math.log, known))), min(known)))
    print(f"\n| type | class | problems | ratio, {options.threads} threads | least |\n|---|---|---|---|---|")
    for kind, name, count, mean, least in rows:
        print(f"| {kind} | {name} | {count} | {mean:.2f} | {least:.2f} |")


if __name__ == "__main__":
    with torch.no_grad():
        main()
