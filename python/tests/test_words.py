"""Plans of problem lines that hypothesis draws over every word of docs/problems/problem-text.md and docs/problems/epilogues.md, against NumPy in doubles: types of each
tensor, layouts, far padding, distances between lines, and epilogues of any length. Arrays lie in larger memory; what is not theirs is not written."""

import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kernelwright as kw
from reference import conv

ml_dtypes = pytest.importorskip("ml_dtypes")
TYPES = {
    "fp32": np.dtype("f4"), "fp16": np.dtype("f2"), "int8": np.dtype("i1"), "uint8": np.dtype("u1"), "int32": np.dtype("i4"),
    "bf16": np.dtype(ml_dtypes.bfloat16), "fp8": np.dtype(ml_dtypes.float8_e4m3fn), "bf8": np.dtype(ml_dtypes.float8_e5m2),
}  # fmt: skip
READ = ["fp32", "bf16", "fp16", "fp8", "bf8", "int8"]
EXTRA = ["fp32", "bf16", "fp16", "int8", "uint8", "int32"]
WHOLE, CHANNEL, ROW, ONE, NONE = "whole channel row one none".split()
# What each step's tensor is, what becomes of v with it (t) and the numbers behind the word (a, b), and whether fp32 has that without rounding.
STEPS = {
    "add": (WHOLE, lambda v, t, a=1.0: v + a * t, True),
    "bias": (CHANNEL, lambda v, t: v + t, True),
    "multiply": (WHOLE, lambda v, t: v * t, True),
    "scale": (ONE, lambda v, t: v * t, True),
    "scale_channel": (CHANNEL, lambda v, t: v * t, True),
    "scale_row": (ROW, lambda v, t: v * t, True),
    "relu": (NONE, lambda v: np.maximum(v, 0), True),
    "clamp": (NONE, lambda v, a, b: np.clip(v, a, b), True),
    "leaky_relu": (NONE, lambda v, a=0.01: np.where(v > 0, v, a * v), False),
    "sigmoid": (NONE, lambda v: 1 / (1 + np.exp(np.minimum(-v, 700))), False),
    "tanh": (NONE, np.tanh, False),
    "silu": (NONE, lambda v: v / (1 + np.exp(np.minimum(-v, 700))), False),
    "hardswish": (NONE, lambda v: v * np.clip(v + 3, 0, 6) / 6, False),
    "gelu": (NONE, lambda v: v * (1 + np.vectorize(math.erf)(v / math.sqrt(2))) / 2, False),
    "gelu_tanh": (NONE, lambda v: v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) / 2, False),
}
NUMBERS = {"add": ["", ":0.5", ":-2"], "clamp": [":-3:5", ":0:127"], "leaky_relu": ["", ":0.25"]}


def lists(letter, values):
    return letter + "x".join(map(str, values))


@st.composite
def products(draw, dtype):
    m, n, k, b = (draw(st.integers(1, top)) for top in (9, 9, 9, 3))
    order = draw(st.sampled_from(["rcr", "rrr", "crr", "ccr"]))
    line = f"gemm {dtype} {order} b{b} m{m} n{n} k{k}"
    sides = {"a": (m, k, order[0]), "b": (k, n, order[1]), "c": (m, n, "r")}
    for letter, (rows, cols, by) in sides.items():
        count, length = (rows, cols) if by == "r" else (cols, rows)
        step = length + draw(st.sampled_from([0, 0, 3]))
        line += f" ld{letter}{step}" if step != length else ""
        if draw(st.booleans()):
            line += f" stride{letter}{0 if letter != 'c' and draw(st.booleans()) else step * count + draw(st.integers(0, 4))}"
    return line


@st.composite
def convolutions(draw, dtype):
    op = draw(st.sampled_from(["conv_fwd", "conv_bwd_data", "conv_bwd_weight"]))
    ndim = draw(st.integers(1, 3))
    layout = draw(st.sampled_from(["first", "last"]))
    letters = {1: "w", 2: "hw", 3: "dhw"}[ndim]
    layout = f"ngc{letters}" if layout != "last" else f"n{letters}gc"
    g = draw(st.sampled_from([1, 1, 2, 3]))
    n, c, k = draw(st.integers(1, 2)), g * draw(st.integers(1, 3)), g * draw(st.integers(1, 3))
    taps, stride, dilation = ([draw(st.integers(1, top)) for _ in letters] for top in (3, 3, 2))
    front = [draw(st.integers(0, 2)) for _ in letters]
    back = [draw(st.sampled_from([p, p, p + 1, p - 1])) for p in front]
    image = [draw(st.integers(max(1, d * (t - 1) + 1 - p - q), 7)) for t, d, p, q in zip(taps, dilation, front, back)]
    pads = lists("p", front) + (":" + "x".join(map(str, back)) if back != front else "")
    line = f"{op} {dtype} {layout} n{n} g{g} c{c} k{k} {lists('i', image)} {lists('f', taps)} {lists('s', stride)} {pads} {lists('d', dilation)}"
    for tensor, channels in (("x", c), ("y", k)):
        if draw(st.integers(0, 3)) == 0:  # a slice of channels, channels last; of rows, channels first
            dense = channels if layout.endswith("gc") else 7 * 3 + 7
            line += f" ld{tensor}{'w' if layout.endswith('gc') else 'c' if ndim == 1 else 'h'}{dense + draw(st.integers(1, 3))}"
    return line


@st.composite
def lines(draw):
    """A line, and the steps of its epilogue."""
    dtype = draw(st.sampled_from(READ))
    line = draw(st.one_of(products(dtype), convolutions(dtype)))
    op = line.split()[0]
    if dtype == "int8" and op in ("gemm", "conv_fwd") and draw(st.booleans()):
        line += " x=uint8"
    if dtype == "fp32" and draw(st.booleans()):
        line += " fpmath=tf32"
    wanted = draw(st.sampled_from(["", "int32", "int8", *TYPES] if dtype == "int8" else ["", *(t for t in TYPES if t != "int32")]))
    line += f" out={wanted}" if wanted else ""
    steps = []
    if dtype == "int8" and op in ("gemm", "conv_fwd"):
        zeros = [draw(st.sampled_from(["", "zero_x"])), draw(st.sampled_from(["", "zero_w", "zero_w_channel"]))]
        steps = [f"{zero}:{draw(st.sampled_from(['int32', 'int8', 'uint8']))}" for zero in zeros if zero]
    names = [s for s in STEPS if op != "conv_bwd_weight" or STEPS[s][0] not in (CHANNEL, ROW)]
    tensors = len(steps) + ("zero_w" in "".join(steps))  # the sums of x that kernels multiply it by take a place
    for name in draw(st.lists(st.sampled_from(names), max_size=7 - len(steps))):
        if STEPS[name][0] != NONE and tensors == 5:
            continue
        tensors += STEPS[name][0] != NONE
        must = STEPS[name][0] == WHOLE and wanted in ("fp8", "bf8")  # its own type if not said is the result's, which no tensor of a step has
        kind = ":" + draw(st.sampled_from(EXTRA)) if STEPS[name][0] != NONE and (must or draw(st.booleans())) else ""
        number = draw(st.sampled_from(NUMBERS.get(name, [""])))
        steps.append(name + (kind or (":fp32" if number and STEPS[name][0] != NONE else "")) + number)
    if wanted in ("int8", "uint8") and draw(st.integers(0, 2)) == 0:
        steps.append(f"zero_y:{draw(st.sampled_from(['int32', 'int8', 'uint8']))}")
    return line + (f" epilogue={'+'.join(steps)}" if steps else ""), steps


def placed(flat, extent, stride):
    return np.ndarray(extent, flat.dtype, flat, strides=[s * flat.itemsize for s in stride])


def memory(rng, dtype, view):
    """Memory of whole numbers, and in it an array as a plan wants it."""
    extent, stride = view
    room = sum((e - 1) * s for e, s in zip(extent, stride)) + 1 + 5
    low, high = (0, 6) if TYPES[dtype].kind == "u" else (-3, 4)
    flat = rng.integers(low, high, room).astype(TYPES[dtype])
    return flat, placed(flat, extent, stride)


def expected(problem, tensors, steps, extras):
    """The result in doubles before it is rounded, how large it was on its way, and whether all of that is exact in fp32."""
    x, w, y = (tensors[t].astype("f8") for t in "xwy")
    extras, exact = list(extras), True
    if steps and steps[0].startswith("zero_x"):
        x = x - float(extras.pop(0).reshape(-1)[0])
        steps = steps[1:]
    if steps and steps[0].startswith("zero_w"):
        zero = extras.pop(0).astype("f8").reshape(-1)
        w = w - zero.reshape((*[1] * (w.ndim - 1), -1) if problem.op == "gemm" or zero.size == 1 else (-1, *[1] * (w.ndim - 1)))
        steps = steps[1:]
    v = np.matmul(x, w) if problem.op == "gemm" else conv(problem, x, w, y)
    channel = (-1,) if problem.op == "gemm" else (1, -1, *[1] * problem.ndim)
    peak = np.abs(v).max()
    for step in steps:
        name, *words = step.split(":")
        numbers = [float(word) for word in words if word not in TYPES]
        if name == "zero_y":
            v = v + float(extras.pop(0).reshape(-1)[0])
            continue
        shape, change, is_exact = STEPS[name]
        exact = exact and is_exact
        if shape == NONE:
            v = change(v, *numbers)
        else:
            t = extras.pop(0).astype("f8")
            if shape == CHANNEL:
                t = t.reshape(channel)
            elif shape == ROW:
                t = t.reshape(-1, v.shape[-2], 1) if problem.op == "gemm" else t.reshape(v.shape[0], 1, *v.shape[2:])
            v = change(v, t if shape != ONE else float(t.reshape(-1)[0]), *numbers)
        peak = max(peak, np.abs(v).max())
    return v, peak, exact


ULP = {"fp32": 2.0**-21, "fp16": 2.0**-10, "bf16": 2.0**-7, "fp8": 2.0**-3, "bf8": 2.0**-2}
LARGEST = {"fp32": 3e38, "fp16": 65504, "bf16": 3e38, "fp8": 448, "bf8": 57344}


def hold(got, want, dtype, peak, exact):
    """The result against doubles: equal where fp32 has all of it, else within the rounding of fp32 and of the type."""
    exact = exact and peak * 2**10 < 2**24
    if dtype in ("int8", "uint8", "int32"):
        info = np.iinfo(TYPES[dtype])
        rounded = np.clip(np.rint(want), info.min, info.max)
        slack = 0 if exact else 1 + 1e-5 * peak
        assert (np.abs(got.astype("f8") - rounded) <= slack).all()
        return
    inside = np.abs(want) <= LARGEST[dtype]
    got, want = got.astype("f8")[inside], want[inside]
    if exact:
        np.testing.assert_array_equal(got, want.astype(TYPES[dtype]).astype("f8"))
    else:
        np.testing.assert_allclose(got, want, rtol=ULP[dtype], atol=1e-5 * peak + (2e-2 if dtype in ("fp8", "bf8") else 1e-6))


def run_one(cpu, data):
    """Runs a line that is drawn; gives its words."""
    line, steps = data.draw(lines())
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    plan = cpu.plan(line, mode="frozen")
    problem = plan.problem
    arrays, kept, result = [], {}, "xwy".index(problem.result)
    for i, (name, dtype, written, views) in enumerate(plan.operands()):
        flat, array = memory(rng, dtype, views[0])
        arrays.append(array)
        if written:
            kept = {"flat": flat.copy(), "now": flat, "array": array, "dtype": dtype}
    tensors = dict(zip("xwy", (a.copy() for a in arrays)))
    want, peak, exact = expected(problem, tensors, steps, [a.copy() for a in arrays[3:]])
    plan(*[a for i, a in enumerate(arrays) if i != result], out=kept["array"])
    hold(kept["array"], want, kept["dtype"], peak, exact)
    mine = np.zeros(kept["now"].size, bool)
    placed(mine, kept["array"].shape, [s // kept["now"].itemsize for s in kept["array"].strides])[...] = True
    np.testing.assert_array_equal(kept["now"].view("u1").reshape(mine.size, -1)[~mine], kept["flat"].view("u1").reshape(mine.size, -1)[~mine])
    found = {step.split(":")[0] for step in steps}
    for word in line.split(" epilogue")[0].split():
        distance = re.fullmatch(r"(ld[a-z]+|stride[abc])\d+", word)
        found.add(distance[1] if distance else "far padding" if word[0] == "p" and ":" in word else word)
    return found


def test_every_word(cpu):
    seen = set()

    @settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def draw(data):
        seen.update(run_one(cpu, data))

    draw()
    wanted = {*READ, *STEPS, *(f"out={t}" for t in TYPES), "zero_x", "zero_y", "zero_w", "zero_w_channel", "fpmath=tf32", "x=uint8", "far padding"}
    wanted |= set("gemm conv_fwd conv_bwd_data conv_bwd_weight rcr rrr crr ccr nwgc nhwgc ndhwgc ngcw ngchw ngcdhw".split())
    wanted |= set("lda ldb ldc stridea strideb stridec ldxw ldyw ldxh ldyh ldxc ldyc".split())
    assert not sorted(wanted - seen)  # else this shows less than it says
