"""Convolutions and linear layers as functions. What runs at once goes past the dispatcher, what is traced goes through the operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from . import _ops

_PLAIN = (Tensor, torch.nn.Parameter)


_modes, _transforms = torch._C._len_torch_dispatch_stack, torch._C._are_functorch_transforms_active


def watched() -> bool:
    """Whether a mode or a transform looks on."""
    return _modes() > 0 or _transforms()


def traced(x: Tensor, w: Tensor) -> bool:
    """Whether something looks on: a compiler, a mode, a transform, a subclass."""
    return torch.compiler.is_compiling() or type(x) not in _PLAIN or type(w) not in _PLAIN or watched()


class _Conv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, b: Tensor | None, *where: Any) -> Tensor:
        ctx.where, ctx.bias = where, b is not None
        ctx.save_for_backward(x, w)
        return _ops.conv_now(x, w, b, *where)

    @staticmethod
    def backward(ctx: Any, gy: Tensor) -> Any:
        if torch.is_grad_enabled():  # gradients of gradients
            return _ops.conv_gradients(ctx, gy, torch.ops.kernelwright.conv_backward_data, torch.ops.kernelwright.conv_backward_weight)
        return _ops.conv_gradients(ctx, gy, _ops.conv_data_now, _ops.conv_weight_now)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, b: Tensor | None, ours: int) -> Tensor:
        ctx.where, ctx.bias = (ours,), b is not None
        ctx.save_for_backward(x, w)
        return _ops.linear_now(x, w, b, ours)

    @staticmethod
    def backward(ctx: Any, gy: Tensor) -> Any:
        if torch.is_grad_enabled():
            return _ops.linear_gradients(ctx, gy, torch.ops.kernelwright.linear_backward_data, torch.ops.kernelwright.linear_backward_weight)
        return _ops.linear_gradients(ctx, gy, _ops.linear_data_now, _ops.linear_weight_now)


def _wants_gradient(*tensors: Tensor | None) -> bool:
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def _list(value: int | Sequence[int], n: int) -> list[int]:
    return [value] * n if isinstance(value, int) else list(value)


def conv(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    ours: int = 7,
) -> Tensor:
    """A convolution of one to three spatial axes, as ``torch.nn.functional.conv2d``.

    Parameters
    ----------
    x, w, b : Tensor
        (N, C, spatial), (K, C / groups, filter), (K,) or None; float32, bfloat16 or float16. The result lies channels last where x or w does; what lies
        otherwise is copied.
    stride, padding, dilation : int or sequence of int
    groups : int
    ours : int
        Which directions are by Kernelwright, as a sum: 1 forward, 2 gradient of x, 4 gradient of w.

    Returns
    -------
    Tensor
    """
    n = x.dim() - 2
    where = (_list(stride, n), _list(padding, n), _list(dilation, n), groups, ours)
    if traced(x, w):
        return torch.ops.kernelwright.conv(x, w, b, *where)
    if _wants_gradient(x, w, b):
        return _Conv.apply(x, w, b, *where)
    return _ops.conv_now(x, w, b, *where)


def linear(x: Tensor, w: Tensor, b: Tensor | None = None, ours: int = 7) -> Tensor:
    """A linear layer, as ``torch.nn.functional.linear``.

    Parameters
    ----------
    x, w, b : Tensor
        (..., k), (n, k), (n,) or None; float32, bfloat16 or float16.
    ours : int
        As in ``conv``.

    Returns
    -------
    Tensor
    """
    if traced(x, w):
        return torch.ops.kernelwright.linear(x, w, b, ours)
    if _wants_gradient(x, w, b):
        return _Linear.apply(x, w, b, ours)
    return _ops.linear_now(x, w, b, ours)
