"""matmul and the convolutions against NumPy, over operations, types, layouts, strides and epilogues that hypothesis draws."""

import gc
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kernelwright as kw
from kernelwright import _conv, _kw, _ops
from reference import conv

FEW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
WHERE = {"mode": "frozen"}  # the reference kernels, compiled in: what is tested here is how arrays come to them


@pytest.fixture(autouse=True)
def forget(no_plan_is_left):
    yield
    kw.clear_plans()
    gc.collect()


@pytest.fixture(scope="module", autouse=True)
def device(cpu):
    WHERE["device"] = cpu
    yield
    WHERE.pop("device")


def whole_numbers(rng, shape, dtype="f4"):
    return rng.integers(-3, 4, shape).astype(dtype)


@st.composite
def matrices(draw, batch, rows, cols, rng, dtype):
    """Rows by columns, or columns by rows, perhaps a part of something larger, perhaps one for the whole batch."""
    if draw(st.booleans()):
        batch = ()
    turned, room = draw(st.booleans()), draw(st.integers(0, 3))
    inner = (rows, cols + room) if not turned else (cols, rows + room)
    array = whole_numbers(rng, (*batch, *inner), dtype)
    array = array.swapaxes(-1, -2)[..., :rows, :] if turned else array[..., :cols]
    return array


@FEW
@given(st.data())
def test_matmul_is_numpys(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    m, n, k = (data.draw(st.integers(1, 9)) for _ in range(3))
    batch = tuple(data.draw(st.lists(st.integers(1, 3), max_size=2)))
    dtype = data.draw(st.sampled_from(["f4", "f2", "i1"]))
    x, w = data.draw(matrices(batch, m, k, rng, dtype)), data.draw(matrices(batch, k, n, rng, dtype))
    bias = whole_numbers(rng, n) if data.draw(st.booleans()) else None
    steps = data.draw(st.sampled_from(["", "relu", "add:fp32", "clamp:-3:5", "scale_row:fp32+relu"]))
    want = np.matmul(x.astype("f8"), w.astype("f8"))
    extras = []
    if bias is not None:
        want = want + bias
    rows = math.prod(want.shape[:-1])
    if "add" in steps:
        extras.append(whole_numbers(rng, want.shape))
        want = want + extras[0]
    if "scale_row" in steps:
        scale = whole_numbers(rng, rows // (1 if x.ndim > 2 and w.ndim == 2 else max(1, rows // m)))
        if scale.size != rows:
            return  # a row of each matrix of a batch has a scale of its own only where rows are one list
        extras.append(scale)
        want = want * scale.reshape(*want.shape[:-1], 1)
    if "relu" in steps:
        want = np.maximum(want, 0)
    if "clamp" in steps:
        want = np.clip(want, -3, 5)
    got = kw.matmul(x, w, bias=bias, epilogue=steps, extras=extras, **WHERE)
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


@FEW
@given(st.data())
def test_convolutions_are_their_definition(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    ndim = data.draw(st.integers(1, 3))
    groups = data.draw(st.sampled_from([1, 1, 2, 3]))
    c, k = (groups * data.draw(st.integers(1, 3)) for _ in range(2))
    taps = tuple(data.draw(st.integers(1, 3)) for _ in range(ndim))
    stride, dilation, pad = (tuple(data.draw(st.integers(low, 2)) for _ in range(ndim)) for low in (1, 1, 0))
    image = tuple(data.draw(st.integers(max(1, d * (t - 1) + 1 - 2 * p), 6)) for t, d, p in zip(taps, dilation, pad))
    n = data.draw(st.integers(1, 2))
    dtype = data.draw(st.sampled_from(["f4", "f2", "i1"]))
    last_axes = data.draw(st.booleans())
    op = data.draw(st.sampled_from(["conv_fwd", "conv_bwd_data", "conv_bwd_weight"]))
    words = {"f4": "fp32", "f2": "fp16", "i1": "int8"}

    def word(letter, values):
        return letter + "x".join(map(str, values))

    line = " ".join(
        [op, words[dtype], {1: "ngcw", 2: "ngchw", 3: "ngcdhw"}[ndim], f"n{n} g{groups} c{c} k{k}", word("i", image), word("f", taps)]
        + [word("s", stride), word("p", pad), word("d", dilation)]
    )
    problem = kw.Problem(line)
    tensors = {name: whole_numbers(rng, problem.shape(name), dtype) for name in "xwy"}
    want = conv(problem, *(tensors[t].astype("f8") for t in "xwy"))

    def laid(array):
        """Indexed as asked, in one of the two orders of memory, or in none."""
        how = data.draw(st.integers(0, 2))
        to_last, to_first = [0, *range(2, ndim + 2), 1], [0, ndim + 1, *range(1, ndim + 1)]
        if how == 1:
            array = np.ascontiguousarray(array.transpose(to_last)).transpose(to_first)
        elif how == 2:
            array = np.repeat(array, 2, axis=0)[::2]
        return array.transpose(to_last) if last_axes else array

    given_arrays = {t: laid(tensors[t]) for t in "xwy"}
    options = dict(stride=stride, padding=pad, dilation=dilation, groups=groups, axes="NHWC" if last_axes else "NCHW", **WHERE)
    if op == "conv_fwd":
        bias = whole_numbers(rng, k) if data.draw(st.booleans()) else None
        got = getattr(kw, f"conv{ndim}d")(given_arrays["x"], given_arrays["w"], bias, epilogue="relu" if bias is not None else None, **options)
        if bias is not None:
            want = np.maximum(want + bias.reshape(-1, *[1] * ndim), 0)
    elif op == "conv_bwd_data":
        got = kw.conv_backward_data(given_arrays["w"], given_arrays["y"], given_arrays["x"].shape, **options)
    else:
        got = kw.conv_backward_weight(given_arrays["x"], given_arrays["y"], given_arrays["w"].shape, **options)
    if last_axes:
        want = want.transpose(0, *range(2, ndim + 2), 1)
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("axes", ["NCHW", "NHWC"])
def test_the_gradient_of_the_bias_beside_that_of_the_weights(axes):
    rng = np.random.default_rng(8)
    x, y = whole_numbers(rng, (2, 6, 7, 5)), whole_numbers(rng, (2, 9, 5, 3))
    shape, order = (9, 6, 3, 3), (0, 1, 2, 3) if axes == "NCHW" else (0, 2, 3, 1)
    if axes == "NHWC":
        x, y, shape = x.transpose(order), y.transpose(order), (9, 3, 3, 6)
    alone = kw.conv_backward_weight(x, y, shape, axes=axes, **WHERE)
    w, b = kw.conv_backward_weight(x, y, shape, axes=axes, bias_gradient=True, **WHERE)
    np.testing.assert_array_equal(w, alone)
    np.testing.assert_array_equal(b, y.sum(axis=(0, 2, 3) if axes == "NCHW" else (0, 1, 2)))
    half = kw.conv_backward_weight(x.astype("f2"), y.astype("f2"), shape, axes=axes, bias_gradient=True, **WHERE)[1]
    assert half.dtype == np.float16
    np.testing.assert_array_equal(half, b)


def test_bf16_by_name_and_by_bits():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.arange(-8, 8).reshape(4, 4).astype(ml_dtypes.bfloat16)
    got = kw.matmul(a, a, **WHERE)
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(got.astype("f4"), a.astype("f4") @ a.astype("f4"))
    bits = kw.matmul(a.view("u2"), a.view("u2"), dtype="bf16", **WHERE)
    assert bits.dtype == np.uint16
    np.testing.assert_array_equal(bits, got.view("u2"))
    for name, ours in (("float8_e4m3fn", "fp8"), ("float8_e5m2", "bf8")):
        small = np.ones((4, 4)).astype(getattr(ml_dtypes, name))
        assert (kw.matmul(small, small, **WHERE) == 4).all()
        assert (kw.plan(f"gemm {ours} rrr m4 n4 k4", **WHERE)(small, small) == 4).all()


def test_uint8_activations():
    x, w = np.full((2, 3), 200, "u1"), np.full((3, 2), -2, "i1")
    np.testing.assert_array_equal(kw.matmul(x, w, **WHERE), np.full((2, 2), -1200))


def test_fpmath_is_a_permission():
    x, w = (np.random.default_rng(5).standard_normal((9, 9), "f4") for _ in range(2))
    assert np.array_equal(kw.matmul(x, w, fpmath="tf32", mode="frozen"), kw.matmul(x, w, mode="frozen"))  # CPUs do not take it
    image, filters = x[None, None], w[None, None, :3, :3]
    assert np.array_equal(kw.conv2d(image, filters, fpmath="tf32", mode="frozen"), kw.conv2d(image, filters, mode="frozen"))
    with pytest.raises(kw.MalformedError, match="fpmath"):
        kw.matmul(x, w, fpmath="fp4", mode="frozen")


def test_quantised_result():
    x, w = np.full((2, 8), 3, "i1"), np.full((8, 2), 5, "i1")
    got = kw.matmul(x, w, epilogue="scale:fp32", extras=[np.array([0.5], "f4")], out_dtype="int8", **WHERE)
    assert got.dtype == np.int8 and (got == 60).all()


def test_out_may_be_a_part_of_something_larger():
    large = np.zeros((5, 9), "f4")
    a = np.arange(6, dtype="f4").reshape(2, 3)
    out = large[1:3, 2:4]
    assert kw.matmul(a, a.T, out=out, **WHERE) is out
    np.testing.assert_array_equal(large[1:3, 2:4], a @ a.T)
    assert np.count_nonzero(large) == np.count_nonzero(a @ a.T)


def test_vectors_are_rows_and_columns():
    a, v = np.arange(6, dtype="f4").reshape(2, 3), np.arange(3, dtype="f4")
    np.testing.assert_array_equal(kw.matmul(a, v, **WHERE), a @ v)
    np.testing.assert_array_equal(kw.matmul(v, a.T, **WHERE), v @ a.T)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: kw.matmul([[1.0]], np.ones((1, 1), "f4")), "x: list is no array"),
        (lambda: kw.matmul(np.ones((2, 3), "f4"), np.ones((2, 3), "f4")), "do not go together"),
        (lambda: kw.matmul(np.ones((2, 2)), np.ones((2, 2))), "elements are float64"),
        (lambda: kw.matmul(np.ones((2, 2), object), np.ones((2, 2), object)), "elements are object"),
        (lambda: kw.matmul(np.ones((4, 4), "f4")[::2, ::2], np.ones((2, 2), "f4"), copy="never"), "copy is never"),
        (lambda: kw.matmul(np.ones((0, 4), "f4"), np.ones((4, 2), "f4")), "no elements"),
        (lambda: kw.conv2d(np.ones((1, 2, 3), "f4"), np.ones((1, 2, 3, 3), "f4")), "x: has 3 axes, and the operation 4"),
        (lambda: kw.conv2d(np.ones((1, 4, 3, 3), "f4"), np.ones((1, 2, 3, 3), "f4")), "4 channels of x are not the 2 of w times 1 groups"),
        (lambda: kw.conv2d(np.ones((1, 2, 3, 3), "f4"), np.ones((1, 2, 3, 3), "f4"), stride=(1, 2, 3)), "stride"),
        (lambda: kw.conv2d(np.ones((1, 2, 3, 3), "f4"), np.ones((1, 2, 5, 5), "f4")), "output"),
        (lambda: kw.conv2d(np.ones((1, 2, 3, 3), "f4"), np.ones((1, 2, 3, 3), "f4"), axes="HWCN"), "axes 'HWCN' is not known"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(call, says):
    with pytest.raises(ValueError) as caught:
        call()
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_plans_are_kept_and_let_go():
    a = np.ones((3, 3), "f4")
    kw.matmul(a, a, **WHERE)
    one = _kw.count()
    for _ in range(5):
        kw.matmul(a, a, **WHERE)
    assert _kw.count() == one


def test_a_second_call_is_the_first():
    """Plans that are looked up by what arrays look like give what was worked out."""
    rng = np.random.default_rng(3)
    large = whole_numbers(rng, (3, 9, 9))
    pairs = [(large[0], large[1]), (large[0].T, large[1]), (large[:, :4, :5], large[:, :5, :3]), (large, large[0]), (large[0, ::2], large[1])]
    for x, w in pairs:
        for bias in (None, whole_numbers(rng, w.shape[-1])):
            for _ in range(2):
                got = kw.matmul(x, w, bias=bias, **WHERE)
                np.testing.assert_array_equal(got, np.matmul(x, w) + (0 if bias is None else bias))
    x, w = whole_numbers(rng, (2, 4, 5, 5)), whole_numbers(rng, (6, 4, 3, 3))
    for a, b in ((x, w), (x.transpose(0, 3, 1, 2), w[:, [0, 1, 2, 3, 0]]), (x[:, ::2], w[:, :2])):
        first = kw.conv2d(a, b, padding=1, **WHERE)
        np.testing.assert_array_equal(kw.conv2d(a, b, padding=1, **WHERE), first)
        last = [0, 2, 3, 1]
        for _ in range(2):
            np.testing.assert_array_equal(kw.conv2d(a.transpose(last), b.transpose(last), padding=1, axes="NHWC", **WHERE), first.transpose(last))


def test_weights_lie_as_they_like():
    rng = np.random.default_rng(9)
    x, w = whole_numbers(rng, (2, 4, 6, 7)), whole_numbers(rng, (6, 4, 3, 3))
    gy = whole_numbers(rng, (2, 6, 6, 7))
    options = dict(padding=1, copy="never", **WHERE)
    y, gx, gw = kw.conv2d(x, w, **options), kw.conv_backward_data(w, gy, x.shape, **options), kw.conv_backward_weight(x, gy, w.shape, **options)

    def lying(array, axes):
        return np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes))

    for images in ((0, 1, 2, 3), (0, 2, 3, 1)):
        for filters in ((0, 1, 2, 3), (0, 2, 3, 1), (1, 2, 3, 0), (2, 3, 1, 0)):
            a, b, c, out = lying(x, images), lying(w, filters), lying(gy, images), lying(np.zeros_like(w), filters)
            got = kw.conv2d(a, b, **options)
            np.testing.assert_array_equal(got, y)
            assert got.strides == lying(y, images).strides
            np.testing.assert_array_equal(kw.conv_backward_data(b, c, x.shape, **options), gx)
            assert kw.conv_backward_weight(a, c, w.shape, out=out, **options) is out
            np.testing.assert_array_equal(out, gw)
    plans = [str(plan.problem) for plan in _ops._plans.values()]
    assert any("nhwgc" in p and "filter=kcrs" in p for p in plans) and any("filter=crsk" in p for p in plans)
    assert any("filter=rsck" in p for p in plans)
    with pytest.raises(kw.ArrayError, match="w: strides of"):
        kw.conv2d(x, lying(w, (2, 0, 3, 1)), **options)


def parts(x):
    """The same values as parts of larger tensors: channels among others, rows among others, channels last among others."""
    n, c, h, w = x.shape
    among = np.full((n, c + 5, h, w), 99999, x.dtype)
    among[:, 2 : 2 + c] = x
    rows = np.full((n, c, 2 * h, w), 99999, x.dtype)
    rows[:, :, ::2] = x
    last = np.full((n, h, w, c + 3), 99999, x.dtype)
    last[..., 1 : 1 + c] = x.transpose(0, 2, 3, 1)
    return among[:, 2 : 2 + c], rows[:, :, ::2], last[..., 1 : 1 + c].transpose(0, 3, 1, 2)


def test_parts_of_larger_tensors_are_read_as_they_lie():
    rng = np.random.default_rng(5)
    x, w = whole_numbers(rng, (2, 4, 6, 7)), whole_numbers(rng, (6, 4, 3, 3))
    y = kw.conv2d(x, w, padding=1, **WHERE)
    for part, like in zip(parts(x), (w, w, np.ascontiguousarray(w.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2))):
        np.testing.assert_array_equal(kw.conv2d(part, like, padding=1, copy="never", **WHERE), y)
        for out, given in zip(parts(np.zeros_like(y)), (like, like, like)):
            kw.conv2d(part, given, padding=1, out=out, **WHERE)
            np.testing.assert_array_equal(out, y)
            assert (out.base == 99999).sum() == out.base.size - out.size
    gy = whole_numbers(rng, y.shape)
    gx, gw = kw.conv_backward_data(w, gy, x.shape, padding=1, **WHERE), kw.conv_backward_weight(x, gy, w.shape, padding=1, **WHERE)
    for part, part_of_x in zip(parts(gy)[:2], parts(x)):
        np.testing.assert_array_equal(kw.conv_backward_data(w, part, x.shape, padding=1, copy="never", **WHERE), gx)
        np.testing.assert_array_equal(kw.conv_backward_weight(part_of_x, part, w.shape, padding=1, copy="never", **WHERE), gw)


def test_a_part_that_only_the_reference_reads_says_which_copy_helps(monkeypatch):
    rng = np.random.default_rng(6)
    part, w = parts(whole_numbers(rng, (2, 4, 5, 5)))[0], whole_numbers(rng, (2, 4, 3, 3))
    y = kw.conv2d(part, w, **WHERE)
    reference = _conv._is_reference
    monkeypatch.setattr(_conv, "_is_reference", lambda plan: " ld" in str(plan.problem) or reference(plan))
    predicted = {**WHERE, "mode": "predict"}
    np.testing.assert_array_equal(kw.conv2d(part, w, **predicted), y)
    with pytest.raises(kw.ArrayError, match="x: strides of .* are read by no kernel but the reference, .* copy it with channels first"):
        kw.conv2d(part, w, copy="never", **predicted)
    with pytest.raises(kw.ArrayError, match="out: strides of .* leave out away"):
        kw.conv2d(part, w, out=parts(np.zeros_like(y))[0], **predicted)


@FEW
@given(st.data())
def test_grouped_products_are_those_of_their_rows(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    m, n, k, groups = (data.draw(st.integers(1, 9)) for _ in range(4))
    ends = np.sort(rng.integers(0, m + 1, groups)).astype("i4")
    x, w = (data.draw(matrices(b, r, c, rng, "f4")) for b, r, c in (((), m, k), ((groups,), k, n)))
    w = np.array(np.broadcast_to(w, (groups, k, n))) if w.ndim == 2 else w
    bias = whole_numbers(rng, (groups, n)) if data.draw(st.booleans()) else None
    room = np.full((m, n + 2), 9, "f4")
    out = room[:, :n]
    assert kw.grouped_matmul(x, w, ends, bias=bias, epilogue="relu", out=out, **WHERE) is out
    fresh, begin = kw.grouped_matmul(x, w, ends, bias=bias, epilogue="relu", **WHERE), 0
    for g, end in enumerate(ends):
        want = np.maximum(x[begin:end] @ w[g] + (0 if bias is None else bias[g]), 0)
        np.testing.assert_array_equal(out[begin:end], want)
        np.testing.assert_array_equal(fresh[begin:end], want)
        begin = end
    assert (out[begin:] == 9).all() and (room[:, n:] == 9).all()


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ([2, 1], "ends[1]=1 is below 2"),
        ([2, 5], "ends[1]=5 is above the 4 rows"),
        ([2], "ends: shape (1,)"),
        (np.array([2, 4]), "ends: elements are 'l'"),
        ([[2, 4]], "ends: shape (1, 2)"),
    ],
)
def test_ends_that_cannot_be_get_one_line(ends, says):
    ends = ends if isinstance(ends, np.ndarray) else np.array(ends, "i4")
    with pytest.raises(ValueError) as caught:
        kw.grouped_matmul(np.ones((4, 3), "f4"), np.ones((2, 3, 5), "f4"), ends, **WHERE)
    assert says in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(TypeError, match="ends is missing"):
        kw.plan("gemm fp32 rrr g2 m4 n5 k3", **WHERE)(np.ones((4, 3), "f4"), np.ones((2, 3, 5), "f4"))


def test_what_newcomers_give():
    a, image, filters = np.ones((4, 4), "f4"), np.ones((1, 4, 8, 8), "f4"), np.ones((8, 4, 3, 3), "f4")
    y = kw.conv2d(image, filters, stride=np.int64(2), padding=(np.int32(1), 1), mode="frozen")
    assert y.shape == (1, 8, 4, 4) and y[0, 0, 1, 1] == 36
    for stride in (1.5, "same", (1, 2, 3), (1, None)):
        with pytest.raises(ValueError, match="stride: .* is not one whole number or 2 of them"):
            kw.conv2d(image, filters, stride=stride, mode="frozen")
    for call, says in (
        (lambda: kw.matmul(a, a, out=np.broadcast_to(np.float32(0), (4, 4))), "out: strides of .* lay several elements in one place"),
        (lambda: kw.matmul(a, a, bias=[1.0] * 4), "bias: list is no array"),
        (lambda: kw.matmul(a, np.ma.masked_equal(a, 1)), r"w: a masked array lends its elements without its mask; give .filled\(0\), or .data"),
        (lambda: kw.matmul(a, a, out=np.ma.array(a, mask=False)), "y: a masked array"),
        (lambda: kw.matmul(a, a, epilogue="add", extras=[None]), r"extras\[0\]: NoneType is no array"),
        (lambda: kw.conv2d(image, filters, epilogue="add", extras=[[1.0]]), r"extras\[0\]: list is no array"),
    ):
        with pytest.raises(kw.ArrayError, match=says):
            call()
    for nothing in (None, 3, b"gemm fp32 m4 n4 k4"):
        with pytest.raises(TypeError, match="problem: .* is no text; give a line, or a Problem"):
            kw.plan(nothing)
