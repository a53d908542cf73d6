#!/usr/bin/env python3
"""check_numbers.py: random legal problems run by many kernels and held against NumPy in doubles, with bounds of its own.
tools/long/check_numbers.sh runs it (`make check-numbers`).

  check_numbers.py LIBRARY [--device cpu] [--runs 20000] [--seed 1] [--kernels N] [--only TEXT] [--jobs N] [--cache DIR] [--special]

LIBRARY is libkernelwright.so. Kernels are drawn from the default registry of the device (--kernels of them, all by default), reference
kernels among them; each is run on problems that it fits. Every other run has integers, whose result must be exact to the rounding of its
type; the others have numbers between -1 and 1, whose result may be off by the rounding of its type and of sums in fp32. Results are
poisoned before, lie between guards, off their alignment every other time, and weights are packed apart every third time. --special: NaNs
and infinities are among the values, and results are what kernelwright.h says of these.

The last lines are a summary; exit 0: all were right; 1: some were wrong (each is printed with seed, kernel and problem); 77: no NumPy."""
import argparse
import collections
import ctypes
import multiprocessing
import os
import pathlib
import random
import re
import sys

try:
    import numpy
except ImportError:
    print("skipped: no NumPy (Debian: python3-numpy)")
    sys.exit(77)

from numbers_problem import draw_problem
from numbers_reference import (NUMPY, OUTPUT, ROUNDING, draw_values, multiply, plant, read_result, rounded, special_result, summands)

RESULT = {"gemm": 2, "conv_fwd": 2, "conv_bwd_data": 0, "conv_bwd_weight": 1}
PREDICT = 2  # kw_mode
GUARD = 256  # bytes on either side of a tensor
DRAWS = 60   # problems drawn for a run before a kernel is left


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 508)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("cache_dir", ctypes.c_char_p), ("data_dir", ctypes.c_char_p),
                ("wisdom_file", ctypes.c_char_p), ("compiler", ctypes.c_char_p), ("model", ctypes.c_char_p),
                ("spill_limit", ctypes.c_int32), ("stop", ctypes.c_void_p), ("log", ctypes.c_void_p), ("user", ctypes.c_void_p),
                ("parallel_for", ctypes.c_void_p), ("pool", ctypes.c_void_p), ("allocate", ctypes.c_void_p),
                ("release", ctypes.c_void_p), ("heap", ctypes.c_void_p)]


class PlanOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("mode", ctypes.c_int), ("workspace_max", ctypes.c_int64), ("shortlist", ctypes.c_int32),
                ("frozen_is_error", ctypes.c_bool), ("remeasure", ctypes.c_bool), ("fresh_weights", ctypes.c_bool),
                ("registry", ctypes.c_void_p), ("progress", ctypes.c_void_p), ("user", ctypes.c_void_p)]


class Tensors(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("x", ctypes.c_void_p), ("w", ctypes.c_void_p), ("y", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("extra", ctypes.c_void_p * 6), ("ends", ctypes.c_void_p)]


def members_of(body):
    for declaration in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";"):
        function = re.search(r"\(\*(\w+)\)\(", declaration)
        yield from [function[1]] if function else re.findall(r"(\w+)(?:\[\w+\])?\s*(?:,|$)", declaration.strip())


def check_structs():
    """The structs above are those of the headers, by names and order of members."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "include/kernelwright"
    header = "\n".join(path.read_text() for path in sorted(folder.glob("*.h")))
    for name, ours in (("error", Error), ("context_options", ContextOptions), ("plan_options", PlanOptions), ("tensors", Tensors)):
        body = re.search(rf"typedef struct kw_{name} {{(.*?)\n}} kw_{name};", header, re.S)[1]
        theirs = list(members_of(body))
        if theirs != [field for field, _ in ours._fields_]:
            sys.exit(f"check_numbers.py: kw_{name} has the members {theirs}; bring this script's up to date")


class Library:
    """The functions that are used; call() raises with the error's text."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        for name in ("kw_registry_config", "kw_plan_config"):
            getattr(self.c, name).restype = ctypes.c_char_p
        for name in ("kw_registry_count", "kw_problem_print"):
            getattr(self.c, name).restype = ctypes.c_size_t
        self.c.kw_plan_workspace.restype = ctypes.c_int64
        self.c.kw_plan_wants_packing.restype = ctypes.c_bool
        self.c.kw_context_is_gpu.restype = ctypes.c_bool
        self.error = Error()

    def status(self, name, *arguments):
        return getattr(self.c, name)(*arguments, ctypes.byref(self.error))

    def call(self, name, *arguments):
        if self.status(name, *arguments):
            raise RuntimeError(f"{name}: {self.error.text.decode()}")


class Memory:
    """A tensor between guards, on the host off its 64-byte alignment by shift bytes."""

    def __init__(self, checker, codes, shift):
        self.library, self.context, self.gpu, self.size = checker.library, checker.context, checker.gpu, codes.nbytes
        self.host = numpy.full(self.size + 2 * GUARD + 64, 0xA5, numpy.uint8)
        self.at = GUARD if self.gpu else GUARD + (shift - self.host.ctypes.data - GUARD) % 64
        self.host[self.at:self.at + self.size] = numpy.ascontiguousarray(codes).reshape(-1).view(numpy.uint8)
        self.before = self.host.copy()
        self.device = ctypes.c_void_p()
        if self.gpu:
            self.library.call("kw_device_alloc", self.context, ctypes.c_int64(self.host.size), ctypes.byref(self.device))
            self.copy(self.device, self.host_address())

    def host_address(self):
        return ctypes.c_void_p(self.host.ctypes.data)

    def copy(self, to, source):
        self.library.call("kw_device_copy", self.context, to, source, ctypes.c_int64(self.host.size))

    def address(self):
        return self.device.value + self.at if self.gpu else self.host.ctypes.data + self.at

    def read(self):
        """What is there now, and whether the guards are as they were."""
        if self.gpu:
            self.copy(self.host_address(), self.device)
        end, same = self.at + self.size, self.host == self.before
        return self.host[self.at:end], bool(same[:self.at].all() and same[end:].all())

    def unchanged(self):
        self.read()
        return bool((self.host == self.before).all())

    def free(self):
        if self.gpu:
            self.library.c.kw_device_free(self.context, self.device)


class Checker:
    def __init__(self, options, seed):
        self.library = Library(options.library)
        self.options, self.seed = options, seed
        self.random = random.Random(seed)
        self.context = ctypes.c_void_p()
        cache = options.cache.encode() if options.cache else None
        settings = ContextOptions(size=ctypes.sizeof(ContextOptions), threads=2 if options.jobs == 1 else 1 + seed % 3, cache_dir=cache, data_dir=cache, wisdom_file=b"")
        self.library.call("kw_context_open", ctypes.byref(self.context), options.device.encode(), ctypes.byref(settings))
        self.gpu = self.library.c.kw_context_is_gpu(self.context)
        self.count = collections.Counter()
        self.worst = 0.0

    def registry(self, config=None):
        registry = ctypes.c_void_p()
        self.library.call("kw_registry_create", ctypes.byref(registry), self.context)
        if config is not None:
            self.library.call("kw_registry_add", registry, config)
        else:
            self.library.call("kw_registry_add_default", registry)
        return registry

    def configs(self):
        registry = self.registry()
        texts = [self.library.c.kw_registry_config(registry, ctypes.c_size_t(i))
                 for i in range(self.library.c.kw_registry_count(registry))]
        self.library.c.kw_registry_destroy(ctypes.byref(registry))
        return texts

    def check(self, config, runs):
        words = config.decode().split()
        axes = dict(word.split("=") for word in words[3:])
        registries, done = self.orders(config), 0
        for _ in range(runs * DRAWS):
            if done == runs:
                break
            problem = draw_problem(self.random, words[1], words[2], axes)
            if not problem.legal():
                continue
            parsed = ctypes.create_string_buffer(1024)
            self.library.call("kw_problem_parse", parsed, problem.text().encode())
            for text, registry in registries:
                if self.library.status("kw_registry_fits", registry, ctypes.c_size_t(0), parsed) == 0:
                    self.run(text, registry, problem, parsed, done)
                    done += 1
                    break
        self.count["kernels"] += 1
        if not done:
            self.count["without a problem"] += 1
            print(f"no problem drawn fits {config.decode()}", flush=True)
        for _, registry in registries:
            self.library.c.kw_registry_destroy(ctypes.byref(registry))

    def orders(self, config):
        """The config, and its text for channels-first tensors where it has one, each with a registry of its own."""
        made = [(config, self.registry(config))]
        try:
            first = config + b" layout=first"
            made.append((first, self.registry(first)))
        except RuntimeError:
            pass
        return made

    def run(self, config, registry, problem, parsed, turn):
        plan = ctypes.c_void_p()
        options = PlanOptions(size=ctypes.sizeof(PlanOptions), mode=PREDICT, registry=registry)
        self.library.call("kw_plan_create", ctypes.byref(plan), self.context, parsed, ctypes.byref(options))
        try:
            planned = self.library.c.kw_plan_config(plan)
            why = self.compare(problem, plan, turn) if planned == config else f"planned as {planned.decode()}"
        finally:
            self.library.c.kw_plan_destroy(ctypes.byref(plan))
        if why:
            self.count["wrong"] += 1
            print(f"WRONG (seed {self.seed}): {why}\n  {config.decode()}\n  {problem.text()}", flush=True)
        self.count["runs"] += 1
        self.count[f"{problem.op} {problem.dtype}"] += 1
        for kind, met in problem.kinds().items():
            self.count[kind] += met

    def fill(self, problem, exact):
        """Codes and values of the three tensors; the result's codes are poison, its values zero."""
        result, output = RESULT[problem.op], OUTPUT[problem.dtype]
        rng = numpy.random.default_rng(self.random.getrandbits(64))
        codes, values = [None] * 3, [None] * 3
        for i, shape in enumerate(problem.shapes()):
            if i == result:
                codes[i], values[i] = numpy.zeros(shape, NUMPY[output]), numpy.zeros(shape)
                codes[i].view(numpy.uint8)[...] = 0x80 if output == "int32" else 0xFF
                continue
            codes[i], values[i] = draw_values(rng, problem.dtype, shape, exact)
            if self.options.special and problem.dtype != "int8":
                plant(rng, problem.dtype, codes[i], values[i])
        return codes, values

    def compute(self, problem, plan, codes, turn):
        """The result as doubles, and what was wrong with the memory around it."""
        result = RESULT[problem.op]
        memory = [Memory(self, c, c.itemsize * (turn % 4) if turn % 2 else 0) for c in codes]
        workspace = Memory(self, numpy.full(max(1, self.library.c.kw_plan_workspace(plan)), 0xFF, numpy.uint8), 0)
        tensors = Tensors(ctypes.sizeof(Tensors), memory[0].address(), memory[1].address(), memory[2].address(), 0)
        if turn % 3 == 0 and self.library.c.kw_plan_wants_packing(plan):
            self.library.call("kw_plan_pack_weights", plan, ctypes.c_void_p(memory[1].address()))
            tensors.w = None
            self.count["packed"] += 1
        tensors.workspace = workspace.address()
        self.library.call("kw_plan_run", plan, ctypes.byref(tensors), None)
        raw, intact = memory[result].read()
        why = (None if intact else "a guard was written")
        if not all(m.unchanged() for i, m in enumerate(memory) if i != result):
            why = why or "an input was changed"
        if not workspace.read()[1]:
            why = why or "written beyond the workspace"
        for m in memory + [workspace]:
            m.free()
        return read_result(raw.view(codes[result].dtype).reshape(codes[result].shape), OUTPUT[problem.dtype]), why

    def judge_special(self, got, bad, special):
        """Which results are wrong, where NaNs and infinities are about."""
        nan, plus, minus, meets, near = special
        kept = numpy.isnan(got) & nan | numpy.isposinf(got) & plus | numpy.isneginf(got) & minus
        self.count["special"] += int(meets.sum())
        self.count["turned"] += int((meets & ~kept & numpy.isnan(got)).sum())
        self.count["spread"] += int((~meets & bad & near & numpy.isnan(got)).sum())
        return numpy.where(meets, ~kept & ~numpy.isnan(got), bad & ~(near & numpy.isnan(got)))

    def compare(self, problem, plan, turn):
        """Runs the plan once; what is wrong, or None."""
        exact = turn % 2 == 0 or problem.dtype == "int8"
        result, output = RESULT[problem.op], OUTPUT[problem.dtype]
        codes, values = self.fill(problem, exact)
        got, why = self.compute(problem, plan, codes, turn)
        special = self.options.special and special_result(problem, values, result, self.gpu)
        if special:
            values = [v if i == result else numpy.where(numpy.isfinite(v), v, 0) for i, v in enumerate(values)]
        multiply(problem, *values)
        wanted, magnitude = values[result], [None if i == result else numpy.abs(v) for i, v in enumerate(values)]
        if exact:
            difference, allowed = numpy.abs(got - rounded(wanted, output)), numpy.zeros(wanted.shape)
        else:
            magnitude[result] = numpy.zeros(wanted.shape)
            multiply(problem, *magnitude)
            relative, least = ROUNDING[output]
            sums = (summands(problem) + 4) * 2.0 ** -24 * magnitude[result]
            difference, allowed = numpy.abs(got - wanted), 1.01 * relative * (numpy.abs(wanted) + sums) + sums + least
        bad = ~(difference <= allowed)
        if special:
            bad = self.judge_special(got, bad, special)
        elif not exact and not bad.any():
            self.worst = max(self.worst, float(numpy.max(difference / allowed, initial=0)))
        if bad.any():
            at = tuple(int(i) for i in numpy.argwhere(bad)[0])
            why = why or f"{int(bad.sum())} of {bad.size} elements differ, the first at {at}: {got[at]} for {wanted[at]}"
        return why


def work(job):
    options, number, configs, runs = job
    checker = Checker(options, options.seed + number)
    for i, config in enumerate(configs):
        checker.check(config, runs * (10 if is_reference(config) else 1))
        if i % 20 == 19 and options.verbose:
            print(f"{number}: {i + 1} of {len(configs)} kernels, {checker.count['runs']} runs", flush=True)
    return checker.count, checker.worst


def is_reference(config):
    """Reference kernels have no axes, and serve all problems: they get more runs."""
    return len(config.split()) == 3


def list_configs(options):
    return [c for c in Checker(options, options.seed).configs() if options.only.encode() in c]


def show(options, count, worst):
    print(f"{options.device}: seed {options.seed}: {count['kernels']} kernels, {count['without a problem']} of them without a problem; "
          f"{count['runs']} runs, {count['packed']} with weights packed apart; {count['wrong']} wrong")
    if options.special:
        print(f"results with NaN or infinity among their terms: {count['special']}, {count['turned']} of them NaN for an infinity; "
              f"NaN by zeros of padding or between groups: {count['spread']}")
    else:
        print(f"worst real result: {worst:.2f} of its bound")
    summary = ("kernels", "without a problem", "runs", "packed", "wrong", "special", "turned", "spread")
    print(", ".join(f"{name}: {count[name]}" for name in sorted(count) if name not in summary))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("library")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernels", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cache", default="")
    parser.add_argument("--only", default="", help="kernels whose text has this")
    parser.add_argument("--special", action="store_true", help="NaNs and infinities among the values: what kernelwright.h says of them")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    check_structs()
    with multiprocessing.Pool(1) as pool:
        configs = pool.apply(list_configs, (options,))
    chosen = random.Random(options.seed).sample(configs, min(len(configs), options.kernels or len(configs)))
    references = sum(is_reference(c) for c in chosen)
    runs = -(-options.runs // max(1, len(chosen) + 9 * references))
    jobs = [(options, i, chosen[i::options.jobs], runs) for i in range(options.jobs)]
    with multiprocessing.Pool(options.jobs) as pool:
        done = pool.map(work, jobs)
    count = sum((c for c, _ in done), collections.Counter())
    show(options, count, max(w for _, w in done))
    sys.exit(1 if count["wrong"] or not count["runs"] else 0)


if __name__ == "__main__":
    main()
