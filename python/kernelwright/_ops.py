"""What products and convolutions share: the plans that are kept, and what a problem's text says of arrays."""

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
known_plans: dict[tuple[Any, ...], Plan] = {}
_lock = threading.Lock()


def clear_plans() -> None:
    """Forget the plans that ``matmul`` and the convolutions keep."""
    with _lock:
        _plans.clear()
        known_plans.clear()


def key_of(x: Any, w: Any, bias: Any, *options: Any) -> tuple[Any, ...] | None:
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


def remember(key: tuple[Any, ...] | None, plan: Plan) -> None:
    if key is not None:
        with _lock:
            known_plans[key] = plan


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


def written_once(out: Any) -> tuple[int, ...]:
    """Strides of an array that is written: no two of its elements lie in one place."""
    strides = strides_of(out)
    if any(extent > 1 and step == 0 for extent, step in zip(out.shape, strides)):
        raise ArrayError(f"out: strides of {strides} elements lay several elements in one place; give an array of its own memory")
    return strides


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


def permuted(array: Any, axes: Sequence[int]) -> Any:
    return array.permute(*axes) if hasattr(array, "permute") else array.transpose(axes)


def dense_copy(array: Any, axes: Sequence[int]) -> Any:
    """A copy whose memory goes through the axes in that order, indexed as before."""
    turned = permuted(array, axes)
    back = [list(axes).index(i) for i in range(len(axes))]
    if hasattr(turned, "contiguous"):
        return permuted(turned.contiguous(), back)
    if hasattr(turned, "strides"):
        return permuted(turned.copy(order="C"), back)
    return permuted(turned, back)


def aligned(name: str, array: Any, copy: str) -> Any:
    """The array, or on a GPU a copy of one that begins where its kernels do not read."""
    library = library_of(array)
    address = array.data_ptr() if library == "torch" and array.is_cuda else array.data.ptr if library == "cupy" else 0
    if not address % 16:
        return array
    if copy == "never":
        raise ArrayError(f"{name}: its memory begins at {address:#x}, which is no multiple of 16 bytes, and copy is never; copy the array")
    return array.clone() if library == "torch" else array.copy()


def check_steps(bias: Any, extras: Sequence[Any]) -> None:
    """Whether what the steps read are arrays."""
    for name, array in (*([] if bias is None else [("bias", bias)]), *((f"extras[{i}]", e) for i, e in enumerate(extras))):
        shape_of(name, array)


def epilogue_words(epilogue: str | Sequence[str] | None, bias: Any, out_dtype: str | None, fpmath: str | None = None) -> str:
    """The words of a problem for its epilogue, its result's type and the rounding that is permitted; a bias comes first."""
    steps = list(epilogue.split("+")) if isinstance(epilogue, str) and epilogue else list(epilogue or ())
    if bias is not None:
        steps.insert(0, f"bias:{dtype_word('bias', bias, None)}")
    words = f" fpmath={fpmath}" if fpmath else ""
    words += f" out={out_dtype}" if out_dtype else ""
    return words + (f" epilogue={'+'.join(steps)}" if steps else "")
