"""Products and convolutions as functions: the problem is read off the arrays, its plan is made once and kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ._arrays import allocate, dtype_of, finish, is_captured, library_of
from ._context import Context, context
from ._errors import ArrayError, Error
from ._kw import facts
from ._plan import Plan

_plans: dict[tuple[Any, ...], Plan] = {}
# By what arrays look like: plans that take them as they are, so that nothing has to be worked out again.
_known: dict[tuple[Any, ...], Plan] = {}
_lock = threading.Lock()


def clear_plans() -> None:
    """Forget the plans that ``matmul`` and the convolutions keep."""
    with _lock:
        _plans.clear()
        _known.clear()


def _key(x: Any, w: Any, bias: Any, *options: Any) -> tuple[Any, ...] | None:
    """What a plan depends on; None where that cannot be looked up. What Python has to tell of CuPy's and JAX's arrays takes ten times as long."""
    try:
        seen: Any = facts(x, w, bias)
        if seen is None:
            parts = tuple((type(t), t.shape, getattr(t, "strides", None) or t.stride(), t.dtype, t.device) for t in (x, w))
            seen = (*parts, None if bias is None else (type(bias), bias.shape, bias.dtype))
        key = (seen, *options)
        hash(key)
        return key
    except (AttributeError, TypeError):
        return None


def _remember(key: tuple[Any, ...] | None, plan: Plan) -> None:
    if key is not None:
        with _lock:
            _known[key] = plan


def plan_of(line: str, device: Any, mode: str | None, fresh_weights: bool) -> Plan:
    key = (line, device if isinstance(device, str) else id(device), mode, fresh_weights)
    plan = _plans.get(key)
    if plan is None:
        if is_captured():
            raise Error(f"{line}: has no plan yet, and none can be made while a CUDA graph is captured; run it once before")
        where = device if isinstance(device, Context) else context(device)
        plan = where.plan(line, mode=mode, fresh_weights=fresh_weights)
        with _lock:
            _plans[key] = plan
    return plan


def device_of(array: Any) -> str:
    """The device word of an array: PyTorch's and CuPy's say where they lie."""
    device: Any = getattr(array, "device", None)
    kind = getattr(device, "type", None)
    if kind in ("cuda", "hip"):
        import sys

        hip = getattr(getattr(sys.modules.get("torch"), "version", None), "hip", None)
        return f"{'hip' if hip else 'cuda'}:{device.index or 0}"
    if library_of(array) in ("cupy", "jax"):
        kind, number = array.__dlpack_device__()
        return f"cuda:{number}" if kind in (2, 13) else f"hip:{number}" if kind == 10 else "cpu"
    return "cpu"


def strides_of(array: Any) -> tuple[int, ...]:
    """Elements from one position of each axis to the next."""
    stride = getattr(array, "stride", None)
    if callable(stride):
        return tuple(stride())
    bytes_of = getattr(array, "strides", None)
    if bytes_of is not None:
        size = array.itemsize
        if any(s % size for s in bytes_of):
            raise ArrayError(f"strides of {bytes_of} bytes are no multiples of the {size} of an element; copy the array")
        return tuple(s // size for s in bytes_of)
    dense, out = 1, []
    for extent in reversed(array.shape):
        out.append(dense)
        dense *= extent
    return tuple(reversed(out))


def shape_of(name: str, array: Any, ndim: int | None = None) -> tuple[int, ...]:
    shape = getattr(array, "shape", None)
    if shape is None:
        raise ArrayError(f"{name}: {type(array).__name__} is no array; give NumPy's, PyTorch's, CuPy's or JAX's")
    shape = tuple(shape)
    if ndim is not None and len(shape) != ndim:
        raise ArrayError(f"{name}: has {len(shape)} axes, and the operation {ndim}")
    if 0 in shape:
        raise ArrayError(f"{name}: shape {shape} has no elements; sizes are at least 1")
    return shape


def dtype_word(name: str, array: Any, said: str | None) -> str:
    found = said or dtype_of(array)
    if not found:
        raise ArrayError(
            f"{name}: elements are {getattr(array, 'dtype', 'unknown')}; use float32, float16, bfloat16, float8_e4m3fn, float8_e5m2 or int8, or say dtype="
        )
    return found


def _permuted(array: Any, axes: Sequence[int]) -> Any:
    return array.permute(*axes) if hasattr(array, "permute") else array.transpose(axes)


def _dense(array: Any, axes: Sequence[int]) -> Any:
    """A copy whose memory goes through the axes in that order, indexed as before."""
    turned = _permuted(array, axes)
    back = [list(axes).index(i) for i in range(len(axes))]
    if hasattr(turned, "contiguous"):
        return _permuted(turned.contiguous(), back)
    if hasattr(turned, "strides"):
        return _permuted(turned.copy(order="C"), back)
    return _permuted(turned, back)


def aligned(name: str, array: Any, copy: str) -> Any:
    """The array, or on a GPU a copy of one that begins where its kernels do not read."""
    library = library_of(array)
    address = array.data_ptr() if library == "torch" and array.is_cuda else array.data.ptr if library == "cupy" else 0
    if not address % 16:
        return array
    if copy == "never":
        raise ArrayError(f"{name}: its memory begins at {address:#x}, which is no multiple of 16 bytes, and copy is never; copy the array")
    return array.clone() if library == "torch" else array.copy()


def epilogue_words(epilogue: str | Sequence[str] | None, bias: Any, out_dtype: str | None) -> str:
    """The words of a problem for its epilogue and its result's type; a bias comes first."""
    steps = list(epilogue.split("+")) if isinstance(epilogue, str) and epilogue else list(epilogue or ())
    if bias is not None:
        steps.insert(0, f"bias:{dtype_word('bias', bias, None)}")
    words = f" out={out_dtype}" if out_dtype else ""
    return words + (f" epilogue={'+'.join(steps)}" if steps else "")


# --- products -----------------------------------------------------------------------------------------------------


def matrix_of(name: str, array: Any, strides: tuple[int, ...], copy: str) -> tuple[Any, tuple[int, ...], str, int]:
    """The array or a copy, its strides, whether it is by rows or columns, and its leading dimension."""
    rows, cols = array.shape[-2:]
    down, along = strides[-2:]
    if (along == 1 or cols == 1) and (rows == 1 or down >= cols):
        return array, strides, "r", cols if rows == 1 else down
    if (down == 1 or rows == 1) and (cols == 1 or along >= rows):
        return array, strides, "c", rows if cols == 1 else along
    if copy == "never":
        raise ArrayError(f"{name}: strides of {strides} elements are neither by rows nor by columns, and copy is never; copy the array")
    array = _dense(array, range(len(array.shape)))
    return array, strides_of(array), "r", cols


def _batched(name: str, array: Any, strides: tuple[int, ...], shape: tuple[int, ...], copy: str) -> tuple[Any, tuple[int, ...], int]:
    """The array with its batch axes as one (or none, one matrix for all), and how far its matrices are apart."""
    own = array.shape[:-2]
    if all(extent == 1 for extent in own):
        return array.reshape(array.shape[-2:]), strides[-2:], 0
    steps = [(e, s) for e, s in zip(own, strides[:-2]) if e > 1]
    even = all(a[1] == b[0] * b[1] for a, b in zip(steps, steps[1:]))
    whole = tuple(own) == tuple(shape[len(shape) - len(own) :]) and all(e == 1 for e in shape[: len(shape) - len(own)])
    if not (even and whole):
        if copy == "never":
            raise ArrayError(f"{name}: batch {tuple(own)} with strides {strides[:-2]} is no even batch {shape}, and copy is never")
        array = _broadcast(array, (*shape, *array.shape[-2:]))
        array = _dense(array, range(len(array.shape)))
        strides = strides_of(array)
    count = 1
    for extent in array.shape[:-2]:
        count *= extent
    step = next((s for e, s in zip(reversed(array.shape[:-2]), reversed(strides[:-2])) if e > 1), 0)
    return array.reshape((count, *array.shape[-2:])), (step, *strides[-2:]), step


def _broadcast(array: Any, shape: tuple[int, ...]) -> Any:
    if hasattr(array, "expand"):
        return array.expand(*shape)
    import numpy

    return numpy.broadcast_to(array, shape)


def _broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    out = []
    for i in range(max(len(a), len(b))):
        x, y = (v[len(v) - 1 - i] if i < len(v) else 1 for v in (a, b))
        if x != y and 1 not in (x, y):
            raise ArrayError(f"x and w: batches {a} and {b} do not go together")
        out.append(max(x, y))
    return tuple(reversed(out))


def matmul(
    x: Any,
    w: Any,
    *,
    bias: Any = None,
    epilogue: str | Sequence[str] | None = None,
    extras: Sequence[Any] = (),
    out: Any = None,
    out_dtype: str | None = None,
    dtype: str | None = None,
    copy: str = "auto",
    mode: str | None = None,
    device: str | Context | None = None,
    fresh_weights: bool = False,
) -> Any:
    """The product of matrices, ``x @ w``, with an epilogue.

    Views are used as they lie: transposed, parts of larger matrices, batches with any distance, one matrix for a whole batch.

    Parameters
    ----------
    x, w : array
        (..., M, K) and (..., K, N); one axis is a row or a column, as in NumPy.
    bias : array, optional
        N values that are added first.
    epilogue : str or sequence of str, optional
        Steps behind the bias, ``"gelu"`` or ``"add+relu"`` (docs/epilogues.md).
    extras : sequence of array
        What the steps read, in their order.
    out : array, optional
        Where to write; a new array of x's library if not said.
    out_dtype, dtype : str, optional
        Kernelwright's names of the result's type, and of what is read where the arrays' own type does not say it.
    copy : {"auto", "never"}
        What happens to an array whose strides no kernel reads: it is copied, or an ArrayError.
    mode, device, fresh_weights
        As in ``Context.plan``. The device is x's own if not said.

    Returns
    -------
    array

    Examples
    --------
    >>> import numpy as np
    >>> a = np.arange(6, dtype="f4").reshape(2, 3)
    >>> matmul(a, a.T, epilogue="relu", mode="frozen")
    array([[ 5., 14.],
           [14., 50.]], dtype=float32)
    """
    key = None if extras or out is not None else _key(x, w, bias, epilogue, out_dtype, dtype, mode, device, fresh_weights)
    known = _known.get(key) if key else None
    if known is not None:
        try:
            return known(x, w) if bias is None else known(x, w, bias)
        except ArrayError:
            pass  # of the same shape, but not lying as well: looked at below
    if copy not in ("auto", "never"):
        raise ValueError(f"copy {copy!r} is not known; use auto or never")
    first = (x, w)
    shape_of("x", x)
    shape_of("w", w)
    x, w = aligned("x", x, copy), aligned("w", w, copy)
    flat_x, flat_w = len(x.shape) == 1, len(w.shape) == 1
    x = x.reshape((1, -1)) if flat_x else x
    w = w.reshape((-1, 1)) if flat_w else w
    if len(x.shape) < 2 or len(w.shape) < 2 or x.shape[-1] != w.shape[-2]:
        raise ArrayError(f"x and w: shapes {tuple(x.shape)} and {tuple(w.shape)} do not go together; columns of x are rows of w")
    m, k, n = x.shape[-2], x.shape[-1], w.shape[-1]
    before = (strides_of(x), strides_of(w))
    x, x_strides, x_order, lda = matrix_of("x", x, before[0], copy)
    w, w_strides, w_order, ldb = matrix_of("w", w, before[1], copy)
    copied = (x_strides, w_strides) != before
    batch = _broadcast_shape(tuple(x.shape[:-2]), tuple(w.shape[:-2]))
    x, x_strides, x_step = _batched("x", x, x_strides, batch, copy)
    w, w_strides, w_step = _batched("w", w, w_strides, batch, copy)
    count = 1
    for extent in batch:
        count *= extent
    rows, folded = m, False
    if count > 1 and not w_step and x_order == "r" and x_step == m * lda and out is None:
        rows, folded = count * m, True  # one w for all: one product of all rows
        x = x.reshape((rows, k))
    size = 1 if folded else count
    shape = (size, rows, n) if size > 1 else (rows, n)
    words = epilogue_words(epilogue, bias, out_dtype)
    line = f"gemm {dtype_word('w', w, dtype)} {x_order}{w_order}r b{size} m{rows} n{n} k{k}"
    if rows > 1 and lda != (k if x_order == "r" else rows) or x_order == "c" and k > 1 and lda != rows:
        line += f" lda{lda}"
    if w_order == "r" and k > 1 and ldb != n or w_order == "c" and n > 1 and ldb != k:
        line += f" ldb{ldb}"
    if size > 1:
        line += f" stridea{x_step} strideb{w_step}"
    if dtype_of(x) == "uint8" and not dtype:
        line += " x=uint8"
    target = None
    if out is not None:
        if tuple(out.shape) != (*batch, *(() if flat_x else (m,)), *(() if flat_w else (n,))):
            raise ArrayError(f"out: shape {tuple(out.shape)} is not that of the result, {(*batch, m, n)}")
        target = out.reshape((*batch, m, n))
        steps = strides_of(target)
        target, steps, step = _batched("out", target, steps, batch, "never")
        if rows > 1 and steps[-2] != n:
            line += f" ldc{steps[-2]}"
        if size > 1:
            line += f" stridec{step}"
    given = ([bias] if bias is not None else []) + [e.reshape(shape) if _whole(e, batch, m, n) else e for e in extras]
    plan = plan_of(line + words, device or device_of(x), mode, fresh_weights)
    y = plan(x, w, *given, out=target)
    if out is not None:
        return out
    if key and all(tuple(t.shape) == tuple(g.shape) for t, g in zip((x, w), first)) and not copied:
        _remember(key, plan)
    return y.reshape((*batch, *(() if flat_x else (m,)), *(() if flat_w else (n,))))


def _whole(extra: Any, batch: tuple[int, ...], m: int, n: int) -> bool:
    return tuple(extra.shape) == (*batch, m, n)


# --- convolutions -------------------------------------------------------------------------------------------------


def _tuple(name: str, value: Any, ndim: int) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,) * ndim
    if len(values) != ndim or not all(isinstance(v, int) for v in values):
        raise ValueError(f"{name}: {value!r} is not one whole number or {ndim} of them")
    return values


def _lies(shape: tuple[int, ...], strides: tuple[int, ...], axes: Sequence[int]) -> bool:
    """Whether an array lies densely, with its axes in that order in memory."""
    step = 1
    for axis in reversed(axes):
        if shape[axis] > 1 and strides[axis] != step:
            return False
        step *= shape[axis]
    return True


def _filter(shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """The order of weights that are indexed (K, C, spatial), as a problem's text has it; "" where they lie in none."""
    spatial = range(2, len(shape))
    orders = {"kcrs": [0, 1, *spatial], "krsc": [0, *spatial, 1], "crsk": [1, *spatial, 0]}
    return next((name for name, axes in orders.items() if _lies(shape, strides, axes)), "")


def _order(shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """Of an array that is indexed (N, C, spatial): "first", "last", "any" or "" where it lies in neither order."""
    ndim = len(shape)
    first, last = _lies(shape, strides, range(ndim)), _lies(shape, strides, [0, *range(2, ndim), 1])
    return "any" if first and last else "first" if first else "last" if last else ""


def _distances(tensor: str, shape: tuple[int, ...], strides: tuple[int, ...], order: str) -> str | None:
    """The words of a problem for an x or y that is a part of a larger tensor with channels first or last (docs/pitches.md); None where it is none."""
    ndim = len(shape) - 2
    spatial = list(zip("dhw"[3 - ndim :], range(2, ndim + 2)))
    inner, others = (1, [("n", 0), *spatial]) if order == "last" else (ndim + 1, [("n", 0), ("c", 1), *spatial[:-1]])
    if shape[inner] > 1 and strides[inner] != 1 or any(shape[axis] > 1 and strides[axis] < 1 for _, axis in others):
        return None
    return "".join(f" ld{tensor}{letter}{strides[axis]}" for letter, axis in reversed(others) if shape[axis] > 1)


def _is_cpu(where: Any) -> bool:
    return (where.target if isinstance(where, Context) else str(where)).startswith("cpu")


def _is_reference(plan: Plan) -> bool:
    return ".reference" in plan.config.split(" ", 1)[0]


def _conv(
    op: str,
    ndim: int,
    a: Any,
    b: Any,
    names: tuple[str, str],
    sizes: dict[str, Any],
    *,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    axes: str,
    bias: Any,
    epilogue: Any,
    extras: Sequence[Any],
    out: Any,
    out_dtype: str | None,
    dtype: str | None,
    copy: str,
    mode: str | None,
    device: Any,
    fresh_weights: bool,
) -> Any:
    last_axes = axes.upper() in ("NHWC", "NWC", "NDHWC", "CHANNELS_LAST")
    if not last_axes and axes.upper() not in ("NCHW", "NCW", "NCDHW", "CHANNELS_FIRST"):
        raise ValueError(f"axes {axes!r} is not known; use NCHW or NHWC")
    key = None
    if out is None and not extras and len(sizes) == 0:
        words_of = (_tuple("stride", stride, ndim), _tuple("padding", padding, ndim), _tuple("dilation", dilation, ndim))
        key = _key(a, b, bias, op, *words_of, groups, axes, epilogue, out_dtype, dtype, mode, device, fresh_weights)
        known = _known.get(key) if key else None
        if known is not None:
            try:
                return known(a, b) if bias is None else known(a, b, bias)
            except ArrayError:
                pass  # of the same shape, but not lying as well: looked at below
    if copy not in ("auto", "never"):
        raise ValueError(f"copy {copy!r} is not known; use auto or never")
    count = ndim + 2
    to_first = [0, count - 1, *range(1, count - 1)]
    to_last = [0, *range(2, count), 1]

    def logical(array: Any) -> Any:
        return _permuted(array, to_first) if last_axes else array

    for name, array in zip((*names, "out"), (a, b, out)):
        if array is not None:
            shape_of(name, array, count)
    a, b = aligned(names[0], a, copy), aligned(names[1], b, copy)
    a, b, out = logical(a), logical(b), None if out is None else logical(out)
    extras = [logical(e) if len(e.shape) == count else e for e in extras]
    result = {"conv_fwd": "y", "conv_bwd_data": "x", "conv_bwd_weight": "w"}[op]
    tensors = [*([] if out is None else [(result, out)]), *zip(names, (a, b))]
    orders = [_order(tuple(t.shape), strides_of(t)) for _, t in tensors]
    # Weights may lie otherwise than x and y do, on a CPU; they decide where the others leave it open.
    where = device or device_of(a)
    filters = {n: _filter(tuple(t.shape), strides_of(t)) for n, t in tensors if n == "w"} if _is_cpu(where) else {}
    others = [o for (n, _), o in zip(tensors, orders) if not filters.get(n)]
    dense = next((o for o in (*others, *orders) if o in ("first", "last")), "last" if "any" in orders else "first")
    orders = ["any" if filters.get(n) else o for (n, _), o in zip(tensors, orders)]

    def copies(order: str) -> int:
        """How many arrays would have to be copied; a result cannot be."""
        bad = 0
        for (name, t), own in zip(tensors, orders):
            if own not in (order, "any") and (name == "w" or _distances(name, tuple(t.shape), strides_of(t), order) is None):
                bad += 8 if t is out else 1
        return bad

    order = min((dense, "last" if dense == "first" else "first"), key=copies)
    memory = range(count) if order == "first" else to_last
    distances = {}  # of what is a part of a larger tensor; None: it is not
    for (name, t), own in zip(tensors, orders):
        if own not in (order, "any"):
            distances[name] = None if name == "w" else _distances(name, tuple(t.shape), strides_of(t), order)
    x_shape, w_shape = sizes.get("x", tuple(a.shape)), sizes.get("w", tuple(b.shape if op != "conv_bwd_weight" else ()))
    layout = {1: ("nwgc", "ngcw"), 2: ("nhwgc", "ngchw"), 3: ("ndhwgc", "ngcdhw")}[ndim][order == "first"]

    def word(letter: str, values: Sequence[int]) -> str:
        return f" {letter}" + "x".join(str(v) for v in values)

    pads = _tuple("padding", padding, ndim)
    line = (
        f"{op} {dtype_word(names[1], b, dtype)} {layout} n{x_shape[0]} g{groups} c{x_shape[1]} k{w_shape[0]}"
        + word("i", x_shape[2:])
        + word("f", w_shape[2:])
        + word("s", _tuple("stride", stride, ndim))
        + word("p", pads)
        + word("d", _tuple("dilation", dilation, ndim))
    )
    if op == "conv_fwd" and (x_shape[1] != w_shape[1] * groups):
        raise ArrayError(f"x and w: {x_shape[1]} channels of x are not the {w_shape[1]} of w times {groups} groups")
    if dtype_of(a) == "uint8" and not dtype:
        line += " x=uint8"
    line += "".join(f" filter={f}" for f in filters.values() if f)
    words = epilogue_words(epilogue, bias, out_dtype)
    plan = plan_of(line + words, where, mode, fresh_weights) if not any(distances.values()) else None
    if plan is None:  # as they lie, where a kernel of its own serves that
        plan = plan_of(line + "".join(d for d in distances.values() if d) + words, where, mode, fresh_weights)
        if _is_reference(plan) and mode != "frozen":
            plan, distances = plan_of(line + words, where, mode, fresh_weights), dict.fromkeys(distances)
    if out is not None and not distances.get(result, "dense"):
        raise ArrayError(
            f"out: strides of {strides_of(out)} elements are written by no kernel but the reference; leave out away, and copy the result into yours"
        )
    ready = []
    for name, t in zip(names, (a, b)):
        if not distances.get(name, "dense"):
            if copy == "never":
                raise ArrayError(
                    f"{name}: strides of {strides_of(t)} elements are read by no kernel but the reference, and copy is never; copy it with channels {order}"
                )
            t = _dense(t, memory)
        ready.append(t)
    lies = distances.get(result) if out is not None else None
    extras = [
        _dense(e, memory) if len(e.shape) == count and not lies and _order(tuple(e.shape), strides_of(e)) not in (order, "any") else e
        for e in extras
    ]
    given = ([bias] if bias is not None else []) + list(extras)
    y = plan(*ready, *given, out=out)
    if out is not None:
        return _permuted(out, to_last) if last_axes else out
    if key and all(t is u for t, u in zip(ready, (a, b))) and (order == "last" or not last_axes):
        _remember(key, plan)
    return _permuted(y, to_last) if last_axes else y


def _forward(ndim: int) -> Any:
    def conv(
        x: Any,
        w: Any,
        bias: Any = None,
        *,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        axes: str = "NCHW",
        epilogue: str | Sequence[str] | None = None,
        extras: Sequence[Any] = (),
        out: Any = None,
        out_dtype: str | None = None,
        dtype: str | None = None,
        copy: str = "auto",
        mode: str | None = None,
        device: str | Context | None = None,
        fresh_weights: bool = False,
    ) -> Any:
        options = {k: v for k, v in locals().items() if k not in ("x", "w", "ndim")}
        return _conv("conv_fwd", ndim, x, w, ("x", "w"), {}, **options)

    conv.__name__ = conv.__qualname__ = f"conv{ndim}d"
    conv.__doc__ = f"""A convolution of {ndim} spatial ax{"is" if ndim == 1 else "es"}, forward.

    Parameters
    ----------
    x, w : array
        (N, C, spatial) and (K, C / groups, filter); with axes "NHWC" (N, spatial, C) and (K, filter, C / groups). Memory may be channels first or
        last: strides say, and the result lies as x does. On a CPU weights lie as K C Y X, K Y X C or C Y X K, whatever x does (docs/filters.md).
    bias : array, optional
        K values that are added first.
    stride, padding, dilation : int or sequence of int
    groups : int
    axes : {{"NCHW", "NHWC"}}
        How the arrays are indexed, whatever the number of axes.
    epilogue, extras, out, out_dtype, dtype, copy, mode, device, fresh_weights
        As in ``matmul``.

    Returns
    -------
    array
    """
    return conv


conv1d, conv2d, conv3d = _forward(1), _forward(2), _forward(3)


def conv_backward_data(
    w: Any,
    y: Any,
    x_shape: Sequence[int],
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    axes: str = "NCHW",
    epilogue: str | Sequence[str] | None = None,
    extras: Sequence[Any] = (),
    out: Any = None,
    out_dtype: str | None = None,
    dtype: str | None = None,
    copy: str = "auto",
    mode: str | None = None,
    device: str | Context | None = None,
) -> Any:
    """The gradient of a convolution's input, from its weights and its output's gradient.

    Parameters
    ----------
    w, y : array
        Weights and the output's gradient, of 1 to 3 spatial axes.
    x_shape : sequence of int
        The input's shape, indexed as the arrays are.
    stride, padding, dilation, groups, axes, epilogue, extras, out, out_dtype, dtype, copy, mode, device
        As in ``conv2d``.

    Returns
    -------
    array
    """
    ndim = len(x_shape) - 2
    options = {k: v for k, v in locals().items() if k not in ("w", "y", "x_shape", "ndim")}
    sizes = {"x": _first(x_shape, axes), "w": _first(shape_of("w", w, ndim + 2), axes)}
    return _conv("conv_bwd_data", ndim, w, y, ("w", "y"), sizes, bias=None, fresh_weights=False, **options)


def conv_backward_weight(
    x: Any,
    y: Any,
    w_shape: Sequence[int],
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    axes: str = "NCHW",
    bias_gradient: bool = False,
    out: Any = None,
    out_dtype: str | None = None,
    dtype: str | None = None,
    copy: str = "auto",
    mode: str | None = None,
    device: str | Context | None = None,
) -> Any:
    """The gradient of a convolution's weights, from its input and its output's gradient.

    Parameters
    ----------
    x, y : array
        The input and the output's gradient, of 1 to 3 spatial axes.
    w_shape : sequence of int
        The weights' shape, indexed as the arrays are.
    bias_gradient : bool
        Whether the sums of y over images and pixels, which are a bias' gradient, are wanted too: K values, of y's type where that is fp32, bf16
        or fp16, else of fp32.
    stride, padding, dilation, groups, axes, out, out_dtype, dtype, copy, mode, device
        As in ``conv2d``.

    Returns
    -------
    array, or with bias_gradient the pair of it and the bias' gradient
    """
    ndim = len(w_shape) - 2
    options = {k: v for k, v in locals().items() if k not in ("x", "y", "w_shape", "ndim", "bias_gradient")}
    sizes = {"x": _first(shape_of("x", x, ndim + 2), axes), "w": _first(w_shape, axes)}
    epilogue, extras = None, []
    if bias_gradient:
        import numpy

        own = dtype_word("y", y, dtype)
        kind = own if own in ("bf16", "fp16") else "fp32"
        like = numpy.empty(0) if library_of(y) == "jax" else y  # whose arrays nobody writes
        epilogue, extras = f"bias_gradient:{kind}", [allocate(like, (sizes["w"][0],), (1,), kind)]
    w = _conv("conv_bwd_weight", ndim, x, y, ("x", "y"), sizes, bias=None, epilogue=epilogue, extras=extras, fresh_weights=False, **options)
    return (w, finish(extras[0], y)) if bias_gradient else w


def _first(shape: Sequence[int], axes: str) -> tuple[int, ...]:
    """A shape in the order N, C, spatial."""
    shape = tuple(shape)
    return (shape[0], shape[-1], *shape[1:-1]) if axes.upper() in ("NHWC", "NWC", "NDHWC", "CHANNELS_LAST") else shape
