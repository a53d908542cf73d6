"""Products of groups of rows, each with a matrix of its own, in one launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._context import Context
from ._errors import ArrayError
from ._matmul import matrix_of
from ._ops import aligned, check_steps, device_of, dtype_word, epilogue_words, plan_of, shape_of, strides_of, written_once


def grouped_matmul(
    x: Any,
    w: Any,
    ends: Any,
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
) -> Any:
    """Rows of x by the matrix of their group, as in a mixture of experts.

    Rows behind the last end are not written.

    Parameters
    ----------
    x : array
        (M, K): the rows of group 0, then those of group 1, and so on.
    w : array
        (G, K, N), a matrix a group, by rows or by columns, also with distances between them.
    ends : array
        G int32 where x lies: group i has the rows ends[i - 1] to ends[i] - 1, as ``offs`` of ``torch._grouped_mm``.
    bias : array, optional
        (G, N) values that are added first.
    epilogue, extras, out, out_dtype, dtype, fpmath, copy, mode, device
        As in ``matmul``; what a step reads by channel is (G, N).

    Returns
    -------
    array

    Examples
    --------
    >>> import numpy as np
    >>> x, w = np.ones((5, 2), "f4"), np.arange(2, dtype="f4")[:, None, None] * np.ones((2, 2, 3), "f4")
    >>> grouped_matmul(x, w, np.array([2, 5], "i4"), mode="frozen")[:, 0]
    array([0., 0., 2., 2., 2.], dtype=float32)
    """
    (m, k), (groups, rows, n) = shape_of("x", x, 2), shape_of("w", w, 3)
    check_steps(bias, extras)
    if k != rows:
        raise ArrayError(f"x and w: shapes {(m, k)} and {(groups, rows, n)} do not go together; columns of x are rows of each matrix of w")
    x, w = aligned("x", x, copy), aligned("w", w, copy)
    x, x_strides, x_order, lda = matrix_of("x", x, strides_of(x), copy)
    if x_order == "c":
        if copy == "never":
            raise ArrayError(f"x: strides of {x_strides} elements are columns, and groups are of rows; copy is never; copy the array by rows")
        x = x.contiguous() if hasattr(x, "contiguous") else x.copy(order="C") if hasattr(x, "strides") else x
        lda = k
    w, w_strides, w_order, ldb = matrix_of("w", w, strides_of(w), copy)
    line = f"gemm {dtype_word('w', w, dtype)} r{w_order}r g{groups} m{m} n{n} k{k}"
    if m > 1 and lda != k:
        line += f" lda{lda}"
    if ldb != (n if w_order == "r" else k):
        line += f" ldb{ldb}"
    if groups > 1 and w_strides[0] != (k if w_order == "r" else n) * ldb:
        line += f" strideb{w_strides[0]}"
    if out is not None:
        if shape_of("out", out, 2) != (m, n):
            raise ArrayError(f"out: shape {tuple(out.shape)} is not that of the result, {(m, n)}")
        if m > 1 and written_once(out)[0] != n:
            line += f" ldc{strides_of(out)[0]}"
    plan = plan_of(line + epilogue_words(epilogue, bias, out_dtype, fpmath), device or device_of(x), mode, False)
    given = ([bias] if bias is not None else []) + list(extras)
    y = plan(x, w, *given, ends, out=out)
    return y if out is None else out
