"""Problems: what to compute, as values."""

from __future__ import annotations

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
        else:
            checked(lib.kw_problem_import, self._c, str(line).encode())
        room = ffi.new("char[]", lib.KW_PROBLEM_TEXT_MAX)
        lib.kw_problem_print(room, len(room), self._c)
        self._text = text(room)

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
