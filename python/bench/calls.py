"""What a call costs: a product of one element on one thread, by each way to it, in turns; the least of many turns, in ns.

python python/bench/calls.py        with the package installed, NumPy beside it; with PyTorch's tensors too where that is
"""

import ctypes
import importlib.util
import timeit

import numpy as np

import kernelwright as kw
from kernelwright._native import checked, ffi, lib
from kernelwright._program import PATH

context = kw.Context(threads=1, wisdom_file="")
plan = context.plan("gemm fp32 rrr m1 n1 k1", mode="frozen")
x, w, y = (np.ones((1, 1), "f4") for _ in range(3))
at = [a.ctypes.data for a in (x, w, y)]


class Tensors(ctypes.Structure):
    """kw_tensors, by hand."""

    _fields_ = [(n, ctypes.c_size_t if n == "size" else ctypes.c_void_p) for n in ("size", "x", "w", "y", "workspace")] + [
        ("extra", ctypes.c_void_p * lib.KW_EXTRA_MAX)
    ]


library = ctypes.CDLL(PATH.replace("/kwright", "/libkernelwright.so.0"))
library.kw_plan_run.argtypes = [ctypes.c_void_p] * 4
prebuilt = Tensors(ctypes.sizeof(Tensors), *at)


def c_alone():
    """ns of a run in the library's own loop."""
    tensors, ns = ffi.new("kw_tensors *"), ffi.new("double *")
    tensors.size = ffi.sizeof("kw_tensors")
    tensors.x, tensors.w, tensors.y = (ffi.cast("void *", a) for a in at)
    checked(lib.kw_plan_time, ns, plan._c, tensors, 20000)
    return ns[0]


WAYS = {
    "plan.run_at(x, w, y), addresses": lambda: plan.run_at(*at),
    "plan.run(x, w, y), NumPy": lambda: plan.run(x, w, y),
    "plan(x, w, out=y), NumPy": lambda: plan(x, w, out=y),
    "plan(x, w), new array": lambda: plan(x, w),
    "kw.matmul(x, w)": lambda: kw.matmul(x, w, mode="frozen"),
    "ctypes, struct prebuilt": lambda: library.kw_plan_run(plan.address, ctypes.byref(prebuilt), None, None),
    "ctypes, arr.ctypes.data each call": lambda: library.kw_plan_run(
        plan.address, ctypes.byref(Tensors(ctypes.sizeof(Tensors), x.ctypes.data, w.ctypes.data, y.ctypes.data)), None, None
    ),
    "np.add(x, w, out=y)": lambda: np.add(x, w, out=y),
    "np.matmul(x, w, out=y)": lambda: np.matmul(x, w, out=y),
    "a function that does nothing": lambda: None,
}

if importlib.util.find_spec("torch"):
    import torch

    torch.set_num_threads(1)
    a, b, c = (torch.ones(1, 1) for _ in range(3))
    WAYS |= {
        "plan.run(x, w, y), PyTorch": lambda: plan.run(a, b, c),
        "plan(x, w), PyTorch": lambda: plan(a, b),
        "kw.matmul(x, w), PyTorch": lambda: kw.matmul(a, b, mode="frozen"),
        "torch.mm(x, w)": lambda: torch.mm(a, b),
        "torch.mm(x, w, out=y)": lambda: torch.mm(a, b, out=c),
    }

if __name__ == "__main__":
    least = {name: float("inf") for name in WAYS}
    alone = float("inf")
    for _ in range(40):
        alone = min(alone, c_alone())
        for name, call in WAYS.items():
            least[name] = min(least[name], min(timeit.repeat(call, number=2000, repeat=3)) / 2000 * 1e9)
    print(f"{alone:8.0f}  C alone, kw_plan_time")
    for name, ns in least.items():
        print(f"{ns:8.0f}  {name}")
