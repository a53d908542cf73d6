"""Products as a function: the problem is read off the arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrays import dtype_of
from ._context import Context
from ._errors import ArrayError
from ._ops import aligned, check_steps, dense_copy, device_of, dtype_word, epilogue_words, key_of, known_plans, plan_of, remember, shape_of, strides_of, written_once


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
    array = dense_copy(array, range(len(array.shape)))
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
        array = dense_copy(array, range(len(array.shape)))
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
    fpmath: str | None = None,
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
        Steps behind the bias, ``"gelu"`` or ``"add+relu"`` (docs/problems/epilogues.md).
    extras : sequence of array
        What the steps read, in their order.
    out : array, optional
        Where to write; a new array of x's library if not said.
    out_dtype, dtype : str, optional
        Kernelwright's names of the result's type, and of what is read where the arrays' own type does not say it.
    fpmath : {"tf32", "fast_accum"}, optional
        Elements of fp32 may be rounded to tf32 before they are multiplied, sums of fp8 be coarser, where it is faster (docs/kernels/gpu-types.md).
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
    key = None if extras or out is not None else key_of(x, w, bias, epilogue, out_dtype, dtype, fpmath, mode, device, fresh_weights)
    known = known_plans.get(key) if key else None
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
    check_steps(bias, extras)
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
    words = epilogue_words(epilogue, bias, out_dtype, fpmath)
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
        steps = written_once(target)
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
        remember(key, plan)
    return y.reshape((*batch, *(() if flat_x else (m,)), *(() if flat_w else (n,))))


def _whole(extra: Any, batch: tuple[int, ...], m: int, n: int) -> bool:
    return tuple(extra.shape) == (*batch, m, n)
