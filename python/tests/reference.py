"""Products and convolutions in NumPy, by their definitions, in doubles."""

import itertools

import numpy as np


def conv(problem, x, w, y):
    """The result of a problem, indexed as frameworks do; the tensor that is written is not looked at."""
    dims = problem._c.conv
    ndim, groups = problem.ndim, dims.g
    take = slice(3 - ndim, 3)
    stride, pad, dilation = (list(getattr(dims, n))[take] for n in ("stride", "pad", "dilation"))
    taps = list(dims.filter)[take]
    result = np.zeros(problem.shape(problem.result))
    tensors = {"x": x, "w": w, "y": y, problem.result: result}
    cg, kg = dims.c // groups, dims.k // groups
    out = problem.shape("y")[2:]
    image = problem.shape("x")[2:]
    for place in itertools.product(*(range(o) for o in out)):
        for tap in itertools.product(*(range(t) for t in taps)):
            at = tuple(p * s - b + t * d for p, s, b, t, d in zip(place, stride, pad, tap, dilation))
            if any(a < 0 or a >= i for a, i in zip(at, image)):
                continue
            for g in range(groups):
                c, k = slice(g * cg, (g + 1) * cg), slice(g * kg, (g + 1) * kg)
                xs, ws, ys = (slice(None), c) + at, (k, slice(None)) + tap, (slice(None), k) + place
                a, b, r = tensors["x"], tensors["w"], tensors["y"]
                if problem.result == "y":
                    result[ys] += a[xs] @ b[ws].T
                elif problem.result == "x":
                    result[xs] += r[ys] @ b[ws]
                else:
                    result[ws] += r[ys].T @ a[xs]
    return result


def result(problem, x, w, y):
    """The same for any operation."""
    return x.astype(float) @ w.astype(float) if problem.op == "gemm" else conv(problem, x, w, y)
