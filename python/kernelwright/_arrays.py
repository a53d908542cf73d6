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


def library_of(array: Any) -> str:
    """The name of the library that an array is of."""
    return type(array).__module__.split(".")[0].removesuffix("lib")


class _Fresh:
    """A new array of JAX, which may be written as long as nobody else has seen it."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def _on_gpu(array: Any) -> bool:
    return array.__dlpack_device__()[0] != 1


def _namespace(like: Any) -> Any:
    """What makes writable arrays on like's device."""
    if library_of(like) == "cupy":
        cupy, number = sys.modules["cupy"], like.device.id

        def empty(shape: Any, kind: Any) -> Any:
            with cupy.cuda.Device(number):
                return cupy.empty(shape, kind)

        return empty
    if library_of(like) == "jax" and _on_gpu(like):
        from jax import numpy as jnp

        device = like.device
        return lambda shape, kind: _Fresh(jnp.empty(shape, kind, device=device).block_until_ready())
    import numpy

    return numpy.empty


def stream_of(arrays: tuple[Any, ...]) -> int | None:
    """On a GPU, for libraries without the exchange API: the stream that work on these arrays belongs in, 0 for the default one. JAX has none to give: its
    arrays are waited for, and None makes the call itself wait."""
    kinds = {library_of(array) for array in arrays}
    if "cupy" in kinds:
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    if "jax" in kinds:
        for array in arrays:
            if hasattr(array, "block_until_ready"):
                array.block_until_ready()
        return None
    return 0


def written(array: Any) -> None:
    """Wait for what is queued that writes an array: the library reads it in a stream of its own."""
    library = library_of(array)
    if library == "torch" and array.is_cuda:
        sys.modules["torch"].cuda.synchronize(array.device)
    elif library == "cupy":
        with sys.modules["cupy"].cuda.Device(array.device.id) as device:
            device.synchronize()
    elif hasattr(array, "block_until_ready"):
        array.block_until_ready()


def _recipe(
    empty: Any, extent: tuple[int, ...], stride: tuple[int, ...], dtype: str, bits: bool
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
    return empty, tuple(extent[axis] for axis in order), numpy_dtype(dtype, bits), turned


def is_captured() -> bool:
    """Whether PyTorch or CuPy captures a CUDA graph in the stream that it works in now. Choosing a kernel may measure, which a graph forbids."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and hasattr(torch, "cuda") and torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
        return True
    return cupy is not None and hasattr(cupy, "cuda") and bool(cupy.cuda.get_current_stream().is_capturing())


_plain: dict[tuple[Any, ...], Any] = {}


def allocate(like: Any, extent: tuple[int, ...], stride: tuple[int, ...], dtype: str) -> Any:
    """An empty array of that extent and stride (in elements), of like's library or one that it can read."""
    device = getattr(like, "device", None)
    key = (type(like), getattr(like, "dtype", None), device if isinstance(device, str) else str(device), extent, stride, dtype)
    recipe = _plain.get(key)
    if recipe is None:
        recipe = _plain[key] = _recipe(_namespace(like), extent, stride, dtype, _is_bits(like))
        if len(_plain) > 4096:
            _plain.clear()
    empty, memory, kind, turned = recipe
    array = empty(memory, kind)
    if turned is not None and isinstance(array, _Fresh):
        from ._errors import ArrayError

        raise ArrayError("the result's axes do not lie in their order, which arrays of JAX cannot; use axes or a layout that do")
    return array if turned is None else array.transpose(turned)


def finish(made: Any, like: Any) -> Any:
    """The array that was made, as one of like's library."""
    if isinstance(made, _Fresh):
        return made.array
    if library_of(like) == "jax":
        import jax.numpy

        return jax.numpy.asarray(made)
    return made
