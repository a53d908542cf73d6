#!/usr/bin/env python3
"""cpu_vs_torch.py: plans on a CPU beside PyTorch's oneDNN, on problems drawn by class from a seed.

    cpu_vs_torch.py LIBKERNELWRIGHT [--threads N] [--types bf16 int8 uint8] [--classes NAME...] [--each N] [--seed N] [--explain]
        [--worst N] [--seconds S] [--reader LIBRARY]

Each side is a process of its own, which is stopped (SIGSTOP) while the other one measures: threads of a pool wait busily after their work, for
milliseconds, and would run in the other's turns. They take turns; a turn begins with calls that are not counted, by which threads wake.

Weights are packed on both sides where PyTorch can (its mkldnn and onednn operators), and the fastest of its ways counts. Ratios are its time
over ours: above 1 we are faster. Of the --worst problems every kernel of ours is measured, and the fastest one is held beside the choice in
turns of its own: where it is faster by more than a twentieth it was the choice, else the kernels.

--reader is bench/peer/read_speed.c as a library: products of few rows are then held beside reading as many bytes as their weights have."""
import argparse
import ctypes as ct
import math
import multiprocessing
import os
import random
import signal
import statistics
import time

import kw_ctypes as kw
import torch
import torch_cases

ROUNDS, ROUND_SECONDS, WARM_SECONDS = 7, 0.004, 0.002
CHOICE = 1.05


class Library:
    def __init__(self, path, threads):
        self.c = ct.CDLL(path)
        for name in ("kw_plan_config", "kw_plan_explain", "kw_context_target", "kw_context_device"):
            getattr(self.c, name).restype = ct.c_char_p
        self.c.kw_plan_workspace.restype = ct.c_int64
        self.context = ct.c_void_p()
        options = kw.sized(kw.ContextOptions, threads=threads, wisdom_file=b"")
        self.call("kw_context_open", ct.byref(self.context), b"cpu", ct.byref(options))

    def call(self, name, *args):
        error = kw.Error()
        if getattr(self.c, name)(*args, ct.byref(error)):
            raise kw.Failure(f"{name}: {error.text.decode(errors='replace')}")

    def plan(self, case, **how):
        """What to say of the plan, and a function that runs it."""
        problem, plan = kw.Problem(), ct.c_void_p()
        self.call("kw_problem_parse", ct.byref(problem), case.line.encode())
        options = kw.sized(kw.PlanOptions, **(how or {"mode": kw.SHORTLIST}))
        self.call("kw_plan_create", ct.byref(plan), self.context, ct.byref(problem), ct.byref(options))
        if case.writes != "w":
            self.call("kw_plan_pack_weights", plan, ct.c_void_p(case.w.data_ptr()))
        workspace = torch.empty(self.c.kw_plan_workspace(plan) + 128, dtype=torch.uint8)
        tensors = kw.sized(kw.Tensors, x=case.x.data_ptr(), w=case.w.data_ptr(), y=case.y.data_ptr(),
                           workspace=(workspace.data_ptr() + 63) // 64 * 64)
        error, run = kw.Error(), self.c.kw_plan_run

        def go():
            if run(plan, ct.byref(tensors), None, ct.byref(error)):
                raise kw.Failure(error.text)
            return workspace, case  # kept alive
        return (self.c.kw_plan_config(plan).decode(), self.c.kw_plan_explain(plan).decode()), go


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
                print("#", str(error).split("\n")[0][:120], flush=True)
    return good


def turn(functions, counts):
    """Seconds a call of each, in one turn; counts, found in the first turn, are calls of a measurement."""
    times = []
    for i, f in enumerate(functions):
        start, calls = time.perf_counter(), 0
        while calls < 2 or time.perf_counter() - start < WARM_SECONDS:
            f()
            calls += 1
        if len(counts) <= i:
            start = time.perf_counter()
            f()
            counts.append(max(1, int(ROUND_SECONDS / max(time.perf_counter() - start, 1e-7))))
        start = time.perf_counter()
        for _ in range(counts[i]):
            f()
        times.append((time.perf_counter() - start) / counts[i])
    return times


def wrong(case):
    exact = case.reference()
    return float((getattr(case, case.writes).double() - exact).abs().max() / exact.abs().max())


def reading(case, options):
    """A function that reads as many bytes as the weights have."""
    c, bytes_ = ct.CDLL(options.reader), case.w.numel() * case.w.element_size()
    c.read_all.restype = ct.c_uint64
    return lambda: c.read_all(ct.c_void_p(case.w.data_ptr()), ct.c_size_t(bytes_), ct.c_int(options.threads))


def serve(pipe, side, options):
    """A side; it ends with the process that asks, also when it is stopped."""
    ct.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    torch.set_num_threads(options.threads)
    ours, processors = side == "ours", os.sched_getaffinity(0)
    library = Library(options.library, options.threads) if ours else None
    if ours:
        c = library.c
        pipe.send(f"# {c.kw_context_target(library.context).decode()}; {c.kw_context_device(library.context).decode()}; PyTorch {torch.__version__}")
    with torch.no_grad():
        while (asked := pipe.recv()) is not None:
            if asked == "every":  # beside the plan that there is
                said, fastest = library.plan(case, mode=kw.EXHAUSTIVE, remeasure=True)
                functions, counts = [go, fastest], []
                pipe.send(said)
            elif asked != "turn":
                draw, kind, name = asked
                torch.manual_seed(1)
                case = torch_cases.CLASSES[name](kind, draw)
                said, counts, error = None, [], 0.0
                try:
                    if ours:
                        said, go = library.plan(case)
                        functions = [go]
                        go()
                        error = wrong(case)
                    elif side == "reads":
                        functions = [reading(case, options)]
                    else:
                        functions = working(case.ways)
                    pipe.send((case.name, case.flops, said, error))
                except kw.Failure as failure:
                    pipe.send((case.name, case.flops, None, str(failure)))
            else:
                if options.threads == 1:  # compilers of other turns run on all processors
                    os.sched_setaffinity(0, [min(processors)])
                pipe.send(turn(functions, counts))
                os.sched_setaffinity(0, processors)


class Side:
    """A process that runs only while it is asked something."""

    def __init__(self, side, options):
        context = multiprocessing.get_context("spawn")
        self.pipe, end = context.Pipe()
        self.process = context.Process(target=serve, args=(end, side, options), daemon=True)
        self.process.start()

    def ask(self, what):
        os.kill(self.process.pid, signal.SIGCONT)
        self.pipe.send(what)
        return self.answer()

    def answer(self):
        while not self.pipe.poll(1):
            if not self.process.is_alive():
                raise RuntimeError("a side's process ended")
        said = self.pipe.recv()
        os.kill(self.process.pid, signal.SIGSTOP)
        return said

    def end(self):
        os.kill(self.process.pid, signal.SIGCONT)
        self.pipe.send(None)
        self.process.join()


def lower_quartile(turns):
    return [statistics.quantiles(times, n=4)[0] for times in zip(*turns)]


def compare(sides, draw, kind, name, explain):
    """The ratio, and the words that name the problem."""
    started = draw.getstate()
    theirs = sides[1].ask((draw, kind, name))
    text, flops, said, error = sides[0].ask((draw, kind, name))
    assert theirs[0] == text
    if not said:
        print(f"{kind} {name} {text}: {error}", flush=True)
        return float("nan"), None
    readers = sides[2:] if name == "few rows" else []
    for reader in readers:
        reader.ask((draw, kind, name))
    rounds = [[side.ask("turn") for side in sides[:2] + readers] for _ in range(ROUNDS)]
    our = lower_quartile([r[0] for r in rounds])[0]
    their = min(lower_quartile([r[1] for r in rounds]), default=float("nan"))
    share = f"reading alone {min(r[2][0] for r in rounds) / our:.2f}; " if readers else ""
    print(f"{kind} {name} {text}: {their / our:.2f}; {our * 1e6:.1f} us, {flops / our / 1e9:.0f} GFLOP/s against {flops / their / 1e9:.0f}; "
          f"{share}error {error:.1e}; {said[0]}", flush=True)
    if explain:
        print("    " + "\n    ".join(line for line in said[1].splitlines() if "threads" in line), flush=True)
    return their / our, (their / our, started, kind, name, text)


def every(side, row):
    """Holds the choice of one problem beside the fastest of all kernels."""
    ratio, started, kind, name, text = row
    draw = random.Random()
    draw.setstate(started)
    chosen = side.ask((draw, kind, name))[2][0]
    fastest = side.ask("every")[0]
    ours, best = lower_quartile([side.ask("turn") for _ in range(ROUNDS)])
    which = "choice" if ours > CHOICE * best else "kernel"
    print(f"{kind} {name} {text}: {ratio:.2f}; {which}: {ours * 1e6:.1f} us by {chosen}, {best * 1e6:.1f} by {fastest}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--types", nargs="+", default=["bf16", "int8"])
    parser.add_argument("--classes", nargs="+", default=list(torch_cases.CLASSES))
    parser.add_argument("--each", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--explain", action="store_true", help="how many threads were measured")
    parser.add_argument("--worst", type=int, default=0, help="problems on which every kernel of ours is measured")
    parser.add_argument("--seconds", type=float, default=1e9, help="no further problem is begun after so many")
    parser.add_argument("--reader", help="bench/peer/read_speed.c as a library")
    options = parser.parse_args()
    sides = [Side(side, options) for side in ["ours", "theirs"] + ["reads"] * bool(options.reader)]
    print(sides[0].answer(), flush=True)
    rows, measured, end = [], [], time.time() + options.seconds
    for kind in options.types:
        for name in options.classes:
            if kind not in ("bf16", "fp32") and name.endswith(("data", "weight")):
                continue
            ratios = []
            for i in range(options.each):
                if time.time() > end:
                    print("time is over", flush=True)
                    break
                draw = random.Random(f"{options.seed} {kind} {name} {i}")
                ratio, row = compare(sides, draw, kind, name, options.explain)
                ratios.append(ratio)
                measured += [row] if row else []
            known = [r for r in ratios if r == r]
            if known:
                rows.append((kind, name, len(known), math.exp(statistics.fmean(map(math.log, known))), min(known)))
    print(f"\n| type | class | problems | ratio, {options.threads} threads | least |\n|---|---|---|---|---|")
    for kind, name, count, mean, least in rows:
        print(f"| {kind} | {name} | {count} | {mean:.2f} | {least:.2f} |", flush=True)
    for row in sorted(measured)[:options.worst]:
        every(sides[0], row)
    for side in sides:
        side.end()


if __name__ == "__main__":
    main()
