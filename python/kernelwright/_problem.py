"""Problems: what to compute, as values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ._native import checked, ffi, lib, text

_TENSORS = {"x": 0, "w": 1, "y": 2}
_LAYOUTS = ("rcr", "rrr", "crr", "ccr", "channels_last", "channels_first")


class Problem:
    """What to compute: an operation, a type, a layout, sizes and an epilogue.

    Parameters
    ----------
    line : str or Problem
        Kernelwright's own text, ``"conv_fwd bf16 nhwgc n32 c64 k64 i56x56 f3x3 p1x1"``, or a line of MIOpenDriver, benchdnn, hipblaslt-bench or
        TunableOp.

    Raises
    ------
    MalformedError, IllegalError
        The line names the word and the rule.

    Examples
    --------
    >>> p = Problem("gemm fp32 m4 n8 k16")
    >>> str(p), p.flops, p.shape("y")
    ('gemm fp32 rcr b1 m4 n8 k16', 1024, (1, 4, 8))
    """

    __slots__ = ("_c", "_text")

    def __init__(self, line: str | Problem) -> None:
        self._c = ffi.new("kw_problem *")
        if isinstance(line, Problem):
            self._c[0] = line._c[0]
        elif not isinstance(line, str):
            raise TypeError(f"problem: {type(line).__name__} is no text; give a line, or a Problem")
        else:
            checked(lib.kw_problem_import, self._c, line.encode())
        room = ffi.new("char[]", lib.KW_PROBLEM_TEXT_MAX)
        lib.kw_problem_print(room, len(room), self._c)
        self._text = text(room)

    @classmethod
    def gemm(cls, m: int, n: int, k: int, *, b: int = 1, dtype: str = "fp32", layout: str = "rrr", words: str = "") -> Problem:
        """A product by its sizes.

        Parameters
        ----------
        m, n, k, b : int
            Rows of x, columns of w, what is summed over, and products in a batch.
        dtype : str
        layout : {"rrr", "rcr", "crr", "ccr"}
            Whether x, w and y lie by rows or by columns.
        words : str
            What else a problem's text may say: ``"epilogue=bias:fp32+relu out=bf16 lda512"``.

        Returns
        -------
        Problem

        Examples
        --------
        >>> Problem.gemm(4, 8, 16, dtype="bf16")
        Problem('gemm bf16 rrr b1 m4 n8 k16')
        """
        return cls(f"gemm {dtype} {layout} b{b} m{m} n{n} k{k} {words}".rstrip())

    @classmethod
    def conv(
        cls,
        direction: str,
        *,
        i: Sequence[int],
        f: Sequence[int],
        c: int,
        k: int,
        n: int = 1,
        g: int = 1,
        s: int | Sequence[int] = 1,
        p: int | Sequence[int] = 0,
        d: int | Sequence[int] = 1,
        dtype: str = "fp32",
        channels_last: bool = True,
        words: str = "",
    ) -> Problem:
        """A convolution by its sizes.

        Parameters
        ----------
        direction : {"fwd", "bwd_data", "bwd_weight"}
        i, f : sequence of int
            Extents of the image and of the filter, one to three.
        c, k, n, g : int
            Channels of x and of y, images, groups.
        s, p, d : int or sequence of int
            Stride, padding, dilation, of each axis or of all.
        dtype : str
        channels_last : bool
        words : str
            What else a problem's text may say: ``"epilogue=bias:fp32+relu"``.

        Returns
        -------
        Problem

        Examples
        --------
        >>> Problem.conv("fwd", n=2, c=16, k=32, i=(28, 28), f=(3, 3), p=1).shape("y")
        (2, 32, 28, 28)
        """
        if not 1 <= len(i) <= 3:
            raise ValueError(f"i: {tuple(i)} has {len(i)} extents; a convolution has one to three")
        axes = "dhw"[3 - len(i) :]
        layout = f"n{axes}gc" if channels_last else f"ngc{axes}"
        sizes = [("i", i), ("f", f), *((name, (v,) * len(i) if isinstance(v, int) else v) for name, v in (("s", s), ("p", p), ("d", d)))]
        each = " ".join(name + "x".join(str(v) for v in values) for name, values in sizes)
        return cls(f"conv_{direction} {dtype} {layout} n{n} g{g} c{c} k{k} {each} {words}".rstrip())

    @classmethod
    def _of(cls, c: Any) -> Problem:
        """A copy of a struct."""
        room = ffi.new("char[]", lib.KW_PROBLEM_TEXT_MAX)
        lib.kw_problem_print(room, len(room), c)
        return cls(text(room))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Problem({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Problem, (self._text,))

    @property
    def op(self) -> str:
        """The operation: gemm, conv_fwd, conv_bwd_data, conv_bwd_weight."""
        return text(lib.kw_op_name(self._c.op))

    @property
    def dtype(self) -> str:
        """The type of the tensors that are read."""
        return text(lib.kw_dtype_name(self._c.dtype))

    @property
    def layout(self) -> str:
        """The order of memory: rcr, rrr, crr, ccr, channels_last, channels_first."""
        return _LAYOUTS[self._c.layout]

    @property
    def ndim(self) -> int:
        """Spatial axes of a convolution; 0 for a product."""
        return self._c.ndim

    @property
    def flops(self) -> int:
        """Floating-point operations: 2 for each product that is really formed."""
        return lib.kw_problem_flops(self._c)

    @property
    def bytes(self) -> int:
        """Bytes that must move at least once."""
        return lib.kw_problem_bytes(self._c)

    @property
    def result(self) -> str:
        """The tensor that is written: x, w or y."""
        return "xwy"[lib.kw_problem_result(self._c)]

    @property
    def extras(self) -> list[tuple[str, str, int]]:
        """Name, type and elements of each tensor that the epilogue reads, in the order of its steps."""
        room = ffi.new("kw_extra[]", lib.KW_EXTRA_MAX)
        count = lib.kw_problem_extras(room, self._c)
        return [(text(e.name), text(lib.kw_dtype_name(e.dtype)), e.elements) for e in room[0:count]]

    def to_dict(self) -> dict[str, Any]:
        """Its text, operation, type, layout, work, and the value of each size by its letter, a whole number or, of several axes, a text like 56x56."""
        sizes = (re.fullmatch(r"([a-z]+)([0-9][0-9x:]*)", word) for word in self._text.split()[3:])
        return {
            "problem": self._text,
            "op": self.op,
            "dtype": self.dtype,
            "layout": self._text.split()[2],
            "flops": self.flops,
            "bytes": self.bytes,
            **{found[1]: int(found[2]) if found[2].isdigit() else found[2] for found in sizes if found},
        }

    def _axes(self, tensor: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        extent, stride = ffi.new("int64_t[]", lib.KW_AXES_MAX), ffi.new("int64_t[]", lib.KW_AXES_MAX)
        count = lib.kw_problem_axes(extent, stride, self._c, _TENSORS[tensor])
        return tuple(extent[0:count]), tuple(stride[0:count])

    def shape(self, tensor: str) -> tuple[int, ...]:
        """Extents as frameworks name them: (N, C, H, W), (K, C/g, Y, X); of a product (batch, rows, columns)."""
        return self._axes(tensor)[0]

    def strides(self, tensor: str) -> tuple[int, ...]:
        """Elements from one position of each axis of ``shape`` to the next."""
        return self._axes(tensor)[1]

    def dtype_of(self, tensor: str) -> str:
        """The type of x, w or y."""
        return text(lib.kw_dtype_name(lib.kw_problem_dtype(self._c, _TENSORS[tensor])))

    def elements(self, tensor: str) -> int:
        """Elements that the tensor's memory has room for, gaps included."""
        return lib.kw_problem_elements(self._c, _TENSORS[tensor])
