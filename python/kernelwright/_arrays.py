"""Result arrays for libraries that do not lend their allocator (DLPack's C exchange API)."""

from __future__ import annotations

import sys
from typing import Any

# NumPy's names of our types; what NumPy itself lacks comes from ml_dtypes where that is, else as unsigned integers with the same bits.
NUMPY_NAMES = {"fp32": "float32", "fp16": "float16", "int8": "int8", "int32": "int32", "uint8": "uint8"}
ML_DTYPES = {"bf16": ("bfloat16", "uint16"), "fp8": ("float8_e4m3fn", "uint8"), "bf8": ("float8_e5m2", "uint8")}
_FROM_NAMES = {
    **{name: ours for ours, name in NUMPY_NAMES.items()},
    **{names[0]: ours for ours, names in ML_DTYPES.items()},
}


def numpy_dtype(dtype: str, bits: bool = False) -> Any:
    """NumPy's dtype of one of ours; bits: unsigned integers for those that NumPy lacks."""
    import numpy

    if dtype in NUMPY_NAMES:
        return numpy.dtype(NUMPY_NAMES[dtype])
    name, unsigned = ML_DTYPES[dtype]
    if not bits:
        try:
            import ml_dtypes

            return numpy.dtype(getattr(ml_dtypes, name))
        except ImportError:
            pass
    return numpy.dtype(unsigned)


def dtype_of(array: Any) -> str | None:
    """Our name of an array's type, None where there is none."""
    text = str(getattr(array, "dtype", ""))
    return _FROM_NAMES.get(text.removeprefix("torch."))


def _is_bits(like: Any) -> bool:
    return str(getattr(like, "dtype", "")) in ("uint16", "uint8")


def _namespace(like: Any) -> Any:
    """The array library that makes writable arrays on like's device."""
    if type(like).__module__.split(".")[0] == "cupy":
        return sys.modules["cupy"]
    import numpy

    return numpy


def _recipe(
    namespace: Any, extent: tuple[int, ...], stride: tuple[int, ...], dtype: str, bits: bool
) -> tuple[Any, tuple[int, ...], Any, list[int] | None]:
    """What makes the array, its shape in the order of memory, its type, and how its axes are turned then, if they are."""
    order = sorted(range(len(extent)), key=lambda axis: (-stride[axis], axis))
    dense = 1
    for axis in reversed(order):
        if extent[axis] > 1 and stride[axis] != dense:
            from ._errors import ArrayError

            raise ArrayError("the result lies in a larger matrix, which only you have; give it as out")
        dense *= extent[axis]
    turned = None if order == list(range(len(extent))) else [order.index(axis) for axis in range(len(order))]
    return namespace.empty, tuple(extent[axis] for axis in order), numpy_dtype(dtype, bits), turned


_plain: dict[tuple[Any, ...], Any] = {}


def allocate(like: Any, extent: tuple[int, ...], stride: tuple[int, ...], dtype: str) -> Any:
    """An empty array of that extent and stride (in elements), of like's library or one that it can read."""
    key = (type(like), getattr(like, "dtype", None), extent, stride, dtype)
    recipe = _plain.get(key)
    if recipe is None:
        recipe = _plain[key] = _recipe(_namespace(like), extent, stride, dtype, _is_bits(like))
        if len(_plain) > 4096:
            _plain.clear()
    empty, memory, kind, turned = recipe
    array = empty(memory, kind)
    return array if turned is None else array.transpose(turned)


def finish(made: Any, like: Any) -> Any:
    """The array that was made, as one of like's library."""
    if type(like).__module__.startswith("jax"):
        import jax.numpy

        return jax.numpy.asarray(made)
    return made
