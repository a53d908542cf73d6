"""Plans with NumPy arrays: each operation, each way to shape an array, and what is refused."""

import threading

import numpy as np
import pytest

import kernelwright as kw
from reference import result

PROBLEMS = [
    "gemm fp32 rcr m5 n6 k7",
    "gemm fp32 rrr b3 m5 n6 k7",
    "gemm fp32 crr m5 n6 k7",
    "gemm fp32 ccr b2 m5 n6 k7",
    "gemm fp32 rrr b2 m5 n6 k7 lda9 ldb10 ldc8 stridea0",
    "conv_fwd fp32 nhwgc n2 c4 k6 i5x6 f3x2 s2x1 p1x0",
    "conv_fwd fp32 ngchw n2 g2 c4 k6 i5x6 f3x3 p1x1 d2x1",
    "conv_fwd fp32 nwgc n2 g2 c4 k4 i9 f3 p1:0",
    "conv_fwd fp32 ndhwgc n1 c3 k4 i4x5x3 f2x3x1 p1x1x0",
    "conv_bwd_data fp32 nhwgc n2 g2 c4 k6 i6x6 f3x3 s2x2 p1x1",
    "conv_bwd_weight fp32 nhwgc n2 g2 c4 k6 i6x6 f3x3 s2x2 p1x1",
    "conv_bwd_weight fp32 ngcdhw n2 c2 k3 i3x4x3 f2x2x2",
]


def random_arrays(plan, seed=0):
    """x, w and y of a plan, in its first way to index, small whole numbers."""
    rng = np.random.default_rng(seed)
    arrays = []
    for _, dtype, _, views in plan.operands()[:3]:
        extent, stride = views[0]
        span = 1 + sum((e - 1) * s for e, s in zip(extent, stride))
        memory = rng.integers(-4, 5, span).astype({"fp32": "f4", "fp16": "f2", "int8": "i1", "int32": "i4"}[dtype])
        arrays.append(np.lib.stride_tricks.as_strided(memory, extent, [s * memory.itemsize for s in stride]))
    return arrays


@pytest.mark.parametrize("line", PROBLEMS)
def test_run_is_what_numpy_says(cpu, line):
    plan = cpu.plan(line, mode="frozen")
    x, w, y = random_arrays(plan)
    want = result(plan.problem, x, w, y)
    plan.run(x, w, y)
    np.testing.assert_array_equal({"x": x, "w": w, "y": y}[plan.problem.result], want)


@pytest.mark.parametrize("line", [p for p in PROBLEMS if "ldc" not in p])
def test_each_way_to_index_is_the_same_memory(cpu, line):
    plan = cpu.plan(line, mode="frozen")
    arrays = dict(zip("xwy", random_arrays(plan)))
    want = result(plan.problem, **arrays)
    written = plan.problem.result
    for number in range(len(plan.operands()[0][3])):
        given = {}
        for name, _, _, views in plan.operands():
            base = arrays[name]
            extent, stride = views[min(number, len(views) - 1)]
            given[name] = np.lib.stride_tricks.as_strided(base, extent, [s * base.itemsize for s in stride])
        del given[written]
        made = plan(*given.values())
        assert made.ndim == next(iter(given.values())).ndim or plan.problem.op == "gemm"
        axes = [o for o in plan.operands() if o[0] == written][0][3][0]
        laid = np.lib.stride_tricks.as_strided(made, axes[0], [s * made.itemsize for s in axes[1]])
        np.testing.assert_array_equal(laid, want)


def test_out_is_written_and_returned(cpu):
    plan = cpu.plan("gemm fp32 rrr m2 n3 k4", mode="frozen")
    y = np.empty((2, 3), "f4")
    assert plan(np.ones((2, 4), "f4"), np.ones((4, 3), "f4"), out=y) is y
    assert (y == 4).all()


def test_a_readme_shape(cpu):
    plan = cpu.plan("conv_fwd fp32 nhwgc n1 c64 k64 i8x8 f3x3 p1x1", mode="frozen")
    y = plan(np.ones((1, 8, 8, 64), "f4"), np.ones((64, 3, 3, 64), "f4"))
    assert y.shape == (1, 8, 8, 64) and y[0, 4, 4, 0] == 9 * 64
    channels_last = np.ones((1, 8, 8, 64), "f4").transpose(0, 3, 1, 2)
    assert plan(channels_last, np.ones((64, 3, 3, 64), "f4").transpose(0, 3, 1, 2)).shape == (1, 64, 8, 8)


def test_epilogue_reads_its_tensors(cpu):
    plan = cpu.plan("gemm fp32 rrr m4 n8 k3 epilogue=bias:fp32+add+relu", mode="frozen")
    rng = np.random.default_rng(1)
    x, w, b, t = (rng.integers(-3, 4, s).astype("f4") for s in ((4, 3), (3, 8), (8,), (4, 8)))
    want = np.maximum(x @ w + b + t, 0)
    np.testing.assert_array_equal(plan(x, w, b, t), want)
    np.testing.assert_array_equal(plan(x, w, bias=b, add=t), want)
    np.testing.assert_array_equal(plan(x, w, b, t, out=t), want)  # in place


GEMM = "gemm fp32 rrr m4 n4 k4"
GOOD = np.ones((4, 4), "f4")


@pytest.mark.parametrize(
    ("x", "says"),
    [
        (GOOD.astype("f8"), "x: elements are 'd' of 8 bytes, and the problem has fp32"),
        (GOOD.astype(">f4"), "x: elements are '>f'"),
        (GOOD.astype(object), "x: elements are 'O'"),
        (GOOD.astype("c8"), "x: elements are"),
        (GOOD[:3], "x: shape (3, 4) with strides of (4, 1) elements is not how the problem lays it out: (1, 4, 4) by (16, 4, 1)"),
        (GOOD.T.copy().T, "strides of (1, 4) elements"),
        (np.ones((4, 8), "f4")[:, ::2], "strides of (8, 2) elements"),
        (GOOD[::-1], "strides of (-4, 1) elements"),
        ([[1.0] * 4] * 4, "x: list is no array"),
        (None, "x: NoneType is no array"),
        (np.frombuffer(b"\0" * 65, np.uint8)[1:].view("f4").reshape(4, 4), "no multiple of 4 bytes"),
        (np.ones((1,) * 9, "f4"), "x: has 9 axes"),
        (np.zeros((4, 4), "V4"), "x: elements are"),
    ],
)
def test_bad_arrays_get_one_line(cpu, x, says):
    plan = cpu.plan(GEMM, mode="frozen")
    y = np.zeros((4, 4), "f4")
    for call in (lambda: plan.run(x, GOOD, y), lambda: plan(x, GOOD)):
        with pytest.raises(kw.ArrayError) as caught:
            call()
        assert says in str(caught.value) and "\n" not in str(caught.value)
    assert not y.any()


def test_results_have_to_be_writable_and_their_own(cpu):
    plan = cpu.plan(GEMM, mode="frozen")
    y = np.zeros((4, 4), "f4")
    y.flags.writeable = False
    with pytest.raises(kw.ArrayError, match="y: is read-only, and the plan writes it"):
        plan.run(GOOD, GOOD, y)
    x = np.ones((4, 4), "f4")
    with pytest.raises(kw.ArrayError, match="y: shares memory with x"):
        plan.run(x, GOOD, x)
    read_only = GOOD.copy()
    read_only.flags.writeable = False
    assert (plan(read_only, read_only) == 4).all()


def test_wrong_numbers_of_arrays(cpu):
    plan = cpu.plan(GEMM, mode="frozen")
    for call in (lambda: plan.run(GOOD, GOOD), lambda: plan(), lambda: plan(GOOD, GOOD, GOOD), lambda: plan(GOOD, GOOD, bias=GOOD)):
        with pytest.raises(TypeError):
            call()
    for call in (lambda: plan.run(GOOD, None, np.zeros((4, 4), "f4")), lambda: plan(GOOD)):
        with pytest.raises(kw.IllegalError, match="tensor w is NULL"):
            call()


@pytest.mark.parametrize("line", ["gemm fp32 rcr m40 n33 k64", "conv_fwd fp32 nhwgc n1 c16 k32 i6x6 f3x3 p1x1", "conv_bwd_data fp32 nhwgc n1 c16 k32 i6x6 f3x3 p1x1"])
def test_packed_weights_are_kept_until_they_are_packed_anew(cpu, line):
    plan = cpu.plan(line, mode="predict")
    if not plan.wants_packing:
        pytest.skip(f"{plan.config} wants no packing")
    arrays = dict(zip("xwy", random_arrays(plan)))
    want = result(plan.problem, **arrays)
    first = arrays["x" if plan.problem.result == "y" else "y"]
    given = (first,) if plan.problem.result == "y" else (None, first)
    assert plan.pack(arrays["w"])
    np.testing.assert_array_equal(plan(*given), want)
    arrays["w"] *= 2
    np.testing.assert_array_equal(plan(*given), want)
    assert plan.pack(arrays["w"])
    np.testing.assert_array_equal(plan(*given), 2 * want)
    plan.pack(None)
    with pytest.raises(kw.IllegalError, match="tensor w is NULL"):
        plan(*given)


def test_what_cannot_be_packed_says_so(cpu):
    plan = cpu.plan(GEMM, mode="frozen")
    with pytest.raises(kw.ArrayError, match="w: elements are"):
        plan.pack(GOOD.astype("f8"))
    assert not plan.pack(GOOD)  # the reference kernel wants none
    assert (plan(GOOD, GOOD) == 4).all()
    weights = cpu.plan("conv_bwd_weight fp32 nhwgc n1 c4 k4 i6x6 f3x3", mode="frozen")
    with pytest.raises(kw.ArrayError, match="w: is what the plan writes"):
        weights.pack(np.zeros((4, 4, 3, 3), "f4"))


def test_a_run_is_timed(cpu):
    plan, y = cpu.plan(GEMM, mode="frozen"), np.zeros((4, 4), "f4")
    assert 1 < plan.time(GOOD, GOOD, y, calls=50) < 1e8 and (y == 4).all()
    with pytest.raises(ValueError, match="calls: is not at least 1"):
        plan.time(GOOD, GOOD, y, calls=0)
    with pytest.raises(TypeError, match="the plan takes 3 arrays, x, w, y, and got 2"):
        plan.time(GOOD, GOOD)


def test_plans_are_made_by_contexts():
    with pytest.raises(TypeError):
        kw.Plan()
    with pytest.raises(TypeError, match="made by Context.plan"):
        kw.Plan.__new__(kw.Plan).run()


def test_errors_are_exceptions_with_one_line(cpu):
    with pytest.raises(kw.MalformedError, match="k") as caught:
        kw.Problem("gemm fp32 m4 n4")
    assert caught.value.status == "malformed" and isinstance(caught.value, ValueError)
    with pytest.raises(kw.IllegalError):
        kw.Problem("conv_fwd fp32 c8 k8 i2 f5")
    with pytest.raises(kw.MissingError):
        kw.Context("emu:sm_1")
    with pytest.raises(kw.NoKernelError):
        cpu.plan("gemm fp32 rrr m31 n33 k35", mode="frozen", frozen_is_error=True)
    with pytest.raises(ValueError, match="mode 'patient' is not known"):
        cpu.plan(GEMM, mode="patient")


def test_explain_says_who_was_refused(cpu):
    plan = cpu.plan("gemm fp32 rrr m31 n33 k35", mode="frozen")
    why = plan.explain()
    assert why.source == "reference" and why.config == plan.config and plan.config in str(why)
    assert why.config in why._repr_html_()
    assert plan.config in repr(plan)


def test_a_measured_plan_tells_its_records(cpu):
    plan = cpu.plan("gemm fp32 rrr m48 n48 k48", mode="shortlist", shortlist=2)
    seen = []
    again = cpu.plan("gemm fp32 rrr m48 n48 k48", shortlist=2, remeasure=True, progress=seen.append)
    assert plan.records[0]["outcome"] == "good" and plan.records[0]["time_ns"] > 0
    assert seen and seen[-1]["what"] in ("build", "measure")
    a = np.random.default_rng(0).standard_normal((48, 48)).astype("f4")
    np.testing.assert_allclose(again(a, a), a @ a, rtol=1e-4, atol=1e-4)


def test_an_exception_of_progress_comes_through(cpu):
    def fail(facts):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cpu.plan("gemm fp32 rrr m40 n48 k48", shortlist=2, remeasure=True, progress=fail)
    assert cpu.plan("gemm fp32 rrr m40 n48 k48", shortlist=2).config  # the context goes on


def test_many_threads_run_one_plan(cpu):
    plan = cpu.plan("conv_fwd fp32 nhwgc n1 c32 k32 i28x28 f3x3 p1x1", mode="frozen")
    rng = np.random.default_rng(0)
    inputs = [rng.integers(-3, 4, (1, 28, 28, 32)).astype("f4") for _ in range(4)]
    w = rng.integers(-3, 4, (32, 3, 3, 32)).astype("f4")
    want = [plan(x, w) for x in inputs]
    wrong = []

    def work(i):
        for _ in range(5):
            if not np.array_equal(plan(inputs[i], w), want[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_gpu_that_is_played():
    played = kw.Context("emu:sm_90", wisdom_file="")
    assert played.is_gpu
    plan = played.plan("gemm fp32 rrr m16 n16 k16", mode="predict")
    memory = np.zeros(16 * 16 + 8, "f4")
    aligned = memory[(-memory.ctypes.data // 4) % 4 :][:256].reshape(16, 16)
    y = np.zeros_like(memory)
    y = y[(-y.ctypes.data // 4) % 4 :][:256].reshape(16, 16)
    aligned[:] = np.eye(16)
    plan.run(aligned, aligned, y)
    np.testing.assert_array_equal(y, np.eye(16))


def test_several_plans_in_one_call(cpu):
    rng, items, wanted = np.random.default_rng(1), [], []
    for m, n, k in [(3, 4, 5), (1, 9, 2), (17, 2, 6), (3, 4, 5)]:
        x, w = rng.integers(-4, 5, (m, k)).astype("f4"), rng.integers(-4, 5, (k, n)).astype("f4")
        items.append((cpu.plan(f"gemm fp32 rrr m{m} n{n} k{k}", mode="frozen"), x, w, np.zeros((m, n), "f4")))
        wanted.append(x @ w)
    kw.run_together(iter(items))
    for item, want in zip(items, wanted):
        np.testing.assert_array_equal(item[3], want)
    kw.run_together([])
    plan, x, w, y = items[0]
    for broken, says in [
        ([(plan, x, w)], "takes 3 arrays"),
        ([plan], "'Plan' object is not iterable"),
        ([(x, x, w, y)], "item 0 is not a plan"),
        ([(plan, x, w, x)], "y: shape"),
    ]:
        with pytest.raises((TypeError, ValueError), match=says):
            kw.run_together(broken)
