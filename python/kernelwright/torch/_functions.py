"""Convolutions and linear layers as functions. What runs at once goes past the dispatcher, what is traced goes through the operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .._kw import facts
from . import _ops as _ops  # which are there once this is
from . import _steps

_PLAIN = (Tensor, torch.nn.Parameter, type(None))
_modes, _transforms = torch._C._len_torch_dispatch_stack, torch._C._are_functorch_transforms_active
_is_grad_enabled, _is_compiling = torch.is_grad_enabled, torch.compiler.is_compiling


def watched() -> bool:
    """Whether a mode or a transform looks on."""
    return _modes() > 0 or _transforms()


def traced(x: Tensor, w: Tensor, b: Tensor | None) -> bool:
    """Whether something looks on: a compiler, a mode, a transform, a subclass."""
    return _is_compiling() or type(x) not in _PLAIN or type(w) not in _PLAIN or type(b) not in _PLAIN or _modes() > 0 or _transforms()


def wants_gradient(x: Tensor, w: Tensor, b: Tensor | None) -> bool:
    """Whether autograd has to hear of a call."""
    return _is_grad_enabled() and (x.requires_grad or w.requires_grad or (b is not None and b.requires_grad))


class _Layer(torch.autograd.Function):
    """A step of _steps with gradients."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, b: Tensor | None, step: Any) -> Tensor:
        ctx.step = step
        ctx.save_for_backward(x, w)
        return step.forward(x, w, b)

    @staticmethod
    def backward(ctx: Any, gy: Tensor) -> Any:
        x, w = ctx.saved_tensors
        step = ctx.step
        if _is_grad_enabled() or type(gy) is not Tensor or watched() or facts(gy) is None:  # gradients of gradients, or many at once
            return step.differentiable(x, w, gy, ctx.needs_input_grad)
        return step.gradients(x, w, gy, ctx.needs_input_grad)


# Function.apply without its layer of Python, which serves transforms and arguments by name: neither comes here, and it costs 2 us a call.
with_gradients: Any = torch._C._FunctionBase.__dict__["apply"].__get__(None, _Layer)


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
    if traced(x, w, b):
        n = x.dim() - 2
        return torch.ops.kernelwright.conv(x, w, b, _list(stride, n), _list(padding, n), _list(dilation, n), groups, ours)
    step = _steps.conv_step(x, w, b, stride, padding, dilation, groups, ours)
    return with_gradients(x, w, b, step) if wants_gradient(x, w, b) else step.forward(x, w, b)


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
    if traced(x, w, b):
        return torch.ops.kernelwright.linear(x, w, b, ours)
    step = _steps.linear_step(x, w, b, ours)
    return with_gradients(x, w, b, step) if wants_gradient(x, w, b) else step.forward(x, w, b)
