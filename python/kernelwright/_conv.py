"""Convolutions as functions, in three directions: the problem is read off the arrays."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from ._arrays import allocate, dtype_of, finish, library_of
from ._context import Context
from ._errors import ArrayError
from ._ops import aligned, check_steps, dense_copy, device_of, dtype_word, epilogue_words, key_of, known_plans, permuted, plan_of, remember, shape_of, strides_of
from ._plan import Plan


def _tuple(name: str, value: Any, ndim: int) -> tuple[int, ...]:
    try:
        values = tuple(index(v) for v in value) if isinstance(value, (tuple, list)) else (index(value),) * ndim
    except TypeError:
        values = ()
    if len(values) != ndim:
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
    orders = {"kcrs": [0, 1, *spatial], "krsc": [0, *spatial, 1], "crsk": [1, *spatial, 0], "rsck": [*spatial, 1, 0]}
    return next((name for name, axes in orders.items() if _lies(shape, strides, axes)), "")


def _order(shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """Of an array that is indexed (N, C, spatial): "first", "last", "any" or "" where it lies in neither order."""
    ndim = len(shape)
    first, last = _lies(shape, strides, range(ndim)), _lies(shape, strides, [0, *range(2, ndim), 1])
    return "any" if first and last else "first" if first else "last" if last else ""


def _distances(tensor: str, shape: tuple[int, ...], strides: tuple[int, ...], order: str) -> str | None:
    """The words of a problem for an x or y that is a part of a larger tensor with channels first or last (docs/problems/pitches.md); None where it is none."""
    ndim = len(shape) - 2
    spatial = list(zip("dhw"[3 - ndim :], range(2, ndim + 2)))
    inner, others = (1, [("n", 0), *spatial]) if order == "last" else (ndim + 1, [("n", 0), ("c", 1), *spatial[:-1]])
    if shape[inner] > 1 and strides[inner] != 1 or any(shape[axis] > 1 and strides[axis] < 1 for _, axis in others):
        return None
    return "".join(f" ld{tensor}{letter}{strides[axis]}" for letter, axis in reversed(others) if shape[axis] > 1)


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
    fpmath: str | None,
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
        key = key_of(a, b, bias, op, *words_of, groups, axes, epilogue, out_dtype, dtype, fpmath, mode, device, fresh_weights)
        known = known_plans.get(key) if key else None
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
        return permuted(array, to_first) if last_axes else array

    for name, array in zip((*names, "out"), (a, b, out)):
        if array is not None:
            shape_of(name, array, count)
    check_steps(bias, extras)
    a, b = aligned(names[0], a, copy), aligned(names[1], b, copy)
    a, b, out = logical(a), logical(b), None if out is None else logical(out)
    extras = [logical(e) if len(e.shape) == count else e for e in extras]
    result = {"conv_fwd": "y", "conv_bwd_data": "x", "conv_bwd_weight": "w"}[op]
    tensors = [*([] if out is None else [(result, out)]), *zip(names, (a, b))]
    orders = [_order(tuple(t.shape), strides_of(t)) for _, t in tensors]
    # Weights may lie otherwise than x and y do; they decide where the others leave it open.
    where = device or device_of(a)
    filters = {n: _filter(tuple(t.shape), strides_of(t)) for n, t in tensors if n == "w"}
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
    words = epilogue_words(epilogue, bias, out_dtype, fpmath)
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
            t = dense_copy(t, memory)
        ready.append(t)
    lies = distances.get(result) if out is not None else None
    extras = [
        dense_copy(e, memory) if len(e.shape) == count and not lies and _order(tuple(e.shape), strides_of(e)) not in (order, "any") else e
        for e in extras
    ]
    given = ([bias] if bias is not None else []) + list(extras)
    y = plan(*ready, *given, out=out)
    if out is not None:
        return permuted(out, to_last) if last_axes else out
    if key and all(t is u for t, u in zip(ready, (a, b))) and (order == "last" or not last_axes):
        remember(key, plan)
    return permuted(y, to_last) if last_axes else y


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
        fpmath: str | None = None,
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
        last: strides say, and the result lies as x does. On a CPU weights lie as K C Y X, K Y X C or C Y X K, whatever x does (docs/problems/filters.md).
    bias : array, optional
        K values that are added first.
    stride, padding, dilation : int or sequence of int
    groups : int
    axes : {{"NCHW", "NHWC"}}
        How the arrays are indexed, whatever the number of axes.
    epilogue, extras, out, out_dtype, dtype, fpmath, copy, mode, device, fresh_weights
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
    fpmath: str | None = None,
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
    stride, padding, dilation, groups, axes, epilogue, extras, out, out_dtype, dtype, fpmath, copy, mode, device
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
    fpmath: str | None = None,
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
    stride, padding, dilation, groups, axes, out, out_dtype, dtype, fpmath, copy, mode, device
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
