"""A layer at given shapes: its problem in each direction, their plans, made when first wanted and kept, and calls with tensors."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from .._context import Context
from .._errors import ArrayError, Error
from .._native import checked, ffi, lib
from .._plan import Plan

FORWARD, BACKWARD_DATA, BACKWARD_WEIGHT = 1, 2, 4
TYPES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
_CONTIGUOUS = torch.contiguous_format
_LAST = {2: torch.channels_last, 3: torch.channels_last_3d}
_LAYOUTS = {1: ("ngcw", "nwgc"), 2: ("ngchw", "nhwgc"), 3: ("ngcdhw", "ndhwgc")}

_lock = threading.Lock()
_contexts: dict[tuple[str, int], Context] = {}
_layers: dict[Any, Any] = {}
_mode: str | None = None


@contextmanager
def plan_mode(mode: str | None) -> Iterator[None]:
    """How patient plans are chosen inside the block, as in ``kernelwright.plan``.

    Parameters
    ----------
    mode : {"frozen", "predict", "shortlist", "exhaustive"} or None
    """
    global _mode
    before, _mode = _mode, mode
    try:
        yield
    finally:
        _mode = before


def context_of(device: torch.device) -> Context:
    """The context of a tensor's device; on the CPU with as many threads as PyTorch has."""
    if device.type == "cpu":
        key = ("cpu", torch.get_num_threads())
    elif device.type == "cuda":
        index = torch.cuda.current_device() if device.index is None else device.index
        key = (f"{'hip' if torch.version.hip else 'cuda'}:{index}", 0)
    else:
        raise ArrayError(f"x: lies on device {device}, which no kernel serves; move it to the CPU or a GPU")
    with _lock:
        if key not in _contexts:
            _contexts[key] = Context(key[0], threads=key[1] or None)
        return _contexts[key]


def is_captured(device: torch.device) -> bool:
    """Whether a CUDA graph is captured now."""
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def make_plan(problem: str, device: torch.device, fresh_weights: bool) -> Plan:
    """A plan in the mode that is set. Not while a CUDA graph is captured, for choosing may measure."""
    if is_captured(device):
        raise Error(f"{problem}: has no plan yet, and none can be made while a CUDA graph is captured; run it once before")
    return context_of(device).plan(problem, mode=_mode, fresh_weights=fresh_weights)


def check(first: str, **tensors: torch.Tensor | None) -> str:
    """Our name of the tensors' type, which is one; they lie on one device."""
    given = {name: t for name, t in tensors.items() if t is not None}
    head = given[first]
    if head.dtype not in TYPES:
        raise ArrayError(f"{first}: elements are {head.dtype}; use float32, bfloat16 or float16")
    for name, t in given.items():
        if t.dtype != head.dtype:
            raise ArrayError(f"{name}: elements are {t.dtype}, and those of {first} {head.dtype}; convert one of them")
        if t.device != head.device:
            raise ArrayError(f"{name}: lies on device {t.device}, and {first} on {head.device}; move one of them")
    return TYPES[head.dtype]


def is_last(t: torch.Tensor) -> bool:
    """Whether a tensor lies channels last, and not channels first as well."""
    return t.dim() in (4, 5) and not t.is_contiguous() and t.is_contiguous(memory_format=_LAST[t.dim() - 2])


def format_of(last: bool, dim: int) -> torch.memory_format:
    """PyTorch's word for the order of memory."""
    return _LAST[dim - 2] if last else _CONTIGUOUS


def lying(t: Any, form: torch.memory_format = _CONTIGUOUS) -> Any:
    """The tensor, or a copy that lies as its kernels read: in that order, and on a GPU from a multiple of 16 bytes on."""
    t = t.contiguous(memory_format=form)
    return t.clone() if t.is_cuda and t.data_ptr() % 16 else t


def by_address(t: torch.Tensor) -> Any:
    """A tensor's memory for C."""
    return ffi.cast("void *", t.data_ptr())


class _Direction:
    """A problem with its plan. Where only the reference kernel takes the bias, it is added behind."""

    def __init__(self, problem: str, bias: str, device: torch.device, fresh_weights: bool) -> None:
        self.plan = make_plan(problem + bias, device, fresh_weights)
        self.added = bool(bias) and self.plan.config.split(" ", 1)[0].endswith(".reference")
        if self.added:
            self.plan = make_plan(problem, device, fresh_weights)
        self.fused = bool(bias) and not self.added

    def pack(self, w: torch.Tensor) -> bool:
        """Keep w in the plan as the kernel wants it; false: it wants w as it is."""
        if not self.plan.wants_packing:
            return False
        if w.device.type == "cuda":  # it is read in a stream of the plan's own, and runs that are queued read what was packed before
            torch.cuda.synchronize(w.device)
        checked(lib.kw_plan_pack_weights, self.plan._c, by_address(w))
        return True


class _Layer:
    """Its plans by direction, made when first wanted."""

    def __init__(self, device: torch.device, dtype: torch.dtype, bias: bool) -> None:
        self.device, self.dtype, self.bias, self.on_gpu = device, dtype, bias, device.type == "cuda"
        self.format = _CONTIGUOUS
        self._made: dict[int, _Direction] = {}

    def problem(self, direction: int) -> str:
        """The problem's text without a bias."""
        raise NotImplementedError

    def direction(self, direction: int, packed: bool = False) -> _Direction:
        """Its plan; with packed one of the caller's own, whose weights are to be packed."""
        made = None if packed else self._made.get(direction)
        if made is None:
            bias = f" epilogue=bias:{TYPES[self.dtype]}" if self.bias and direction == FORWARD else ""
            made = _Direction(self.problem(direction), bias, self.device, direction == FORWARD and not packed)
            if not packed:
                self._made[direction] = made
        return made

    def prepared(self, w: torch.Tensor) -> torch.Tensor:
        """w as it has to lie."""
        return lying(w, self.format)

    def run(self, d: _Direction, x: torch.Tensor, w: torch.Tensor | None, b: torch.Tensor | None) -> torch.Tensor:
        """Forward by a plan; w None: packed."""
        raise NotImplementedError

    def forward(self, x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None) -> torch.Tensor:
        """Y of x and w."""
        return self.run(self.direction(FORWARD), x, self.prepared(w), b)


class ConvSizes(NamedTuple):
    """What is known of a convolution before its tensors; last: they lie channels last."""

    x_shape: Sequence[int]
    w_shape: Sequence[int]
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    groups: int
    last: bool
    bias: bool


class ConvLayer(_Layer):
    """A convolution at given shapes."""

    def __init__(self, device: torch.device, dtype: torch.dtype, sizes: ConvSizes) -> None:
        x_shape, w_shape, stride, padding, dilation, groups, last, bias = sizes
        super().__init__(device, dtype, bias)
        dim = len(x_shape)
        if x_shape[1] != w_shape[1] * groups:
            raise ArrayError(f"x and w: {x_shape[1]} channels of x are not the {w_shape[1]} of w times {groups} groups")
        self.x_shape, self.w_shape = tuple(x_shape), tuple(w_shape)
        self.y_shape = out_shape(x_shape, w_shape, stride, padding, dilation)
        self.last, self.format = last, format_of(last, dim)
        self._along = (-1, *[1] * (dim - 2))
        self._text = f" {TYPES[dtype]} {_LAYOUTS[dim - 2][last]} n{x_shape[0]} g{groups} c{x_shape[1]} k{w_shape[0]}" + "".join(
            f" {letter}{'x'.join(str(v) for v in values)}"
            for letter, values in (("i", x_shape[2:]), ("f", w_shape[2:]), ("s", stride), ("p", padding), ("d", dilation))
        )

    def problem(self, direction: int) -> str:
        """The problem's text without a bias."""
        return {FORWARD: "conv_fwd", BACKWARD_DATA: "conv_bwd_data", BACKWARD_WEIGHT: "conv_bwd_weight"}[direction] + self._text

    def run(self, d: _Direction, x: torch.Tensor, w: torch.Tensor | None, b: torch.Tensor | None) -> torch.Tensor:
        """Forward by a plan; w None: packed."""
        x = lying(x, self.format)
        if d.fused:
            return d.plan(x, w, b if not self.on_gpu else lying(b))
        y = d.plan(x, w)
        if b is not None:
            y += b.view(self._along)
        return y

    def backward_data(self, gy: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        """The gradient of x."""
        return self.direction(BACKWARD_DATA).plan(lying(w, self.format), lying(gy, self.format))

    def backward_weight(self, x: torch.Tensor, gy: torch.Tensor) -> torch.Tensor:
        """The gradient of w."""
        return self.direction(BACKWARD_WEIGHT).plan(lying(x, self.format), lying(gy, self.format))


class LinearLayer(_Layer):
    """x (m, k) by w (n, k), transposed."""

    def __init__(self, device: torch.device, dtype: torch.dtype, m: int, n: int, k: int, bias: bool) -> None:
        super().__init__(device, dtype, bias)
        self.m, self.n, self.k = m, n, k

    def problem(self, direction: int) -> str:
        """The problem's text without a bias."""
        m, n, k, t = self.m, self.n, self.k, TYPES[self.dtype]
        return {
            FORWARD: f"gemm {t} rcr m{m} n{n} k{k}",
            BACKWARD_DATA: f"gemm {t} rrr m{m} n{k} k{n}",
            BACKWARD_WEIGHT: f"gemm {t} crr m{n} n{k} k{m}",
        }[direction]

    def run(self, d: _Direction, x: torch.Tensor, w: torch.Tensor | None, b: torch.Tensor | None) -> torch.Tensor:
        """Forward by a plan; w None: packed. x may have more axes in front."""
        flat = x.dim() == 2
        rows = lying(x if flat else x.reshape(self.m, self.k))
        second = None if w is None else w.t()
        if d.fused:
            y = d.plan(rows, second, b if not self.on_gpu else lying(b))
        else:
            y = d.plan(rows, second)
            if b is not None:
                y += b
        return y if flat else y.view(*x.shape[:-1], self.n)

    def backward_data(self, gy: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        """The gradient of x."""
        flat = gy.dim() == 2
        gx = self.direction(BACKWARD_DATA).plan(lying(gy if flat else gy.reshape(self.m, self.n)), lying(w))
        return gx if flat else gx.view(*gy.shape[:-1], self.k)

    def backward_weight(self, x: torch.Tensor, gy: torch.Tensor) -> torch.Tensor:
        """The gradient of w."""
        if x.dim() != 2:
            x, gy = x.reshape(self.m, self.k), gy.reshape(self.m, self.n)
        return self.direction(BACKWARD_WEIGHT).plan(lying(gy).t(), lying(x))


def out_shape(
    x_shape: Sequence[Any], w_shape: Sequence[Any], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> tuple[Any, ...]:
    """The shape of y."""
    axes = zip(x_shape[2:], w_shape[2:], stride, padding, dilation)
    return (x_shape[0], w_shape[0], *((i + 2 * p - d * (f - 1) - 1) // s + 1 for i, f, s, p, d in axes))


def _threads(device: torch.device) -> int:
    return torch.get_num_threads() if device.type == "cpu" else 0


def conv_layer(like: torch.Tensor, sizes: ConvSizes) -> ConvLayer:
    """The layer of these sizes on like's device and in its type, made once."""
    key = (like.device, like.dtype, *(tuple(values) for values in sizes[:5]), *sizes[5:], _threads(like.device))
    layer = _layers.get(key)
    if layer is None:
        layer = _layers[key] = ConvLayer(like.device, like.dtype, sizes)
    return layer


def linear_layer(like: torch.Tensor, m: int, n: int, k: int, bias: bool) -> LinearLayer:
    """Likewise."""
    key = (like.device, like.dtype, m, n, k, bias, _threads(like.device))
    layer = _layers.get(key)
    if layer is None:
        layer = _layers[key] = LinearLayer(like.device, like.dtype, m, n, k, bias)
    return layer
