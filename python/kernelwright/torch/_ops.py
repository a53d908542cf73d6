"""The operators kernelwright::conv and kernelwright::linear with their gradients, for torch.compile, export and whatever else traces.

Library.define and impl, for torch.library.custom_op costs 10 us a call more. The gradients' operators are operators of their own, whose gradients are the
others again. ``ours`` says which directions are by Kernelwright: 1 forward, 2 gradient of x, 4 gradient of w; others are PyTorch's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .._kw import facts
from ._layers import BACKWARD_DATA, BACKWARD_WEIGHT, ConvSizes, check, conv_layer, format_of, is_last, linear_layer, out_shape
from ._steps import ConvStep, axes, conv_step, known, linear_check, linear_step, remembered, rows_of

library = torch.library.Library("kernelwright", "DEF")
_WHERE = "int[] stride, int[] padding, int[] dilation, int groups, int ours=7"
library.define(f"conv(Tensor x, Tensor w, Tensor? b, {_WHERE}) -> Tensor")
library.define(f"conv_backward_data(Tensor gy, Tensor w, SymInt[] x_shape, {_WHERE}) -> Tensor")
library.define(f"conv_backward_weight(Tensor x, Tensor gy, SymInt[] w_shape, {_WHERE}) -> Tensor")
library.define("linear(Tensor x, Tensor w, Tensor? b, int ours=7) -> Tensor")
library.define("linear_backward_data(Tensor gy, Tensor w, int ours=7) -> Tensor")
library.define("linear_backward_weight(Tensor x, Tensor gy, int ours=7) -> Tensor")
_ops = torch.ops.kernelwright
_Ints = Sequence[int]


# --- convolution ------------------------------------------------------------------------------------------------------


def conv_now(x: Tensor, w: Tensor, b: Tensor | None, s: _Ints, p: _Ints, d: _Ints, g: int, ours: int = 7) -> Tensor:
    """Forward, at once."""
    return conv_step(x, w, b, s, p, d, g, ours).forward(x, w, b)


def _gradient_step(key: tuple[Any, ...], name: str, given: Tensor, second: Tensor, sizes: tuple[_Ints, _Ints], where: tuple[Any, ...]) -> ConvStep:
    """The step that a gradient's operator is a direction of; it lies channels last where one of the operator's tensors does."""
    check(name, **{name: given, "w" if name == "gy" else "gy": second})
    axes(name, given, *where[:3])
    stride, padding, dilation, groups, ours = where
    layer = conv_layer(given, ConvSizes(*sizes, stride, padding, dilation, groups, is_last(given) or is_last(second), False))
    return remembered(key, ConvStep(layer, ours, where[:4]))


def conv_data_now(gy: Tensor, w: Tensor, x_shape: _Ints, s: _Ints, p: _Ints, d: _Ints, g: int, ours: int = 7) -> Tensor:
    """The gradient of x, at once."""
    where = (tuple(s), tuple(p), tuple(d), g, ours)
    key = (facts(gy, w), "data", tuple(x_shape), where, torch.get_num_threads())
    step = known.get(key) or _gradient_step(key, "gy", gy, w, (x_shape, w.shape), where)
    if ours & BACKWARD_DATA:
        return step.layer.backward_data(gy, w)
    x = _empty(gy, x_shape, step.layer.last)  # its values are not read; its order of memory decides which of cuDNN's ways is taken
    gx: Any = step.gradients(x, w, gy, (True, False, False))[0]
    return gx.contiguous(memory_format=step.layer.format)


def conv_weight_now(x: Tensor, gy: Tensor, w_shape: _Ints, s: _Ints, p: _Ints, d: _Ints, g: int, ours: int = 7) -> Tensor:
    """The gradient of w, at once."""
    where = (tuple(s), tuple(p), tuple(d), g, ours)
    key = (facts(x, gy), "weight", tuple(w_shape), where, torch.get_num_threads())
    step = known.get(key) or _gradient_step(key, "x", x, gy, (x.shape, w_shape), where)
    if ours & BACKWARD_WEIGHT:
        return step.layer.backward_weight(x, gy)
    w = _empty(gy, w_shape, step.layer.last)
    gw: Any = step.gradients(x, w, gy, (False, True, False))[1]
    return gw.contiguous(memory_format=step.layer.format)


def _empty(like: Tensor, shape: Sequence[Any], last: bool) -> Tensor:
    return torch.empty(tuple(shape), dtype=like.dtype, device=like.device, memory_format=format_of(last, len(shape)))


def _conv_fake(x: Tensor, w: Tensor, b: Tensor | None, s: _Ints, p: _Ints, d: _Ints, g: int, ours: int = 7) -> Tensor:
    check("x", x=x, w=w, b=b)
    axes("x", x, s, p, d)
    return _empty(x, out_shape(x.shape, w.shape, s, p, d), is_last(x) or is_last(w))


def _conv_data_fake(gy: Tensor, w: Tensor, x_shape: Any, s: _Ints, p: _Ints, d: _Ints, g: int, ours: int = 7) -> Tensor:
    return _empty(gy, x_shape, is_last(gy) or is_last(w))


def _conv_weight_fake(x: Tensor, gy: Tensor, w_shape: Any, s: _Ints, p: _Ints, d: _Ints, g: int, ours: int = 7) -> Tensor:
    return _empty(gy, w_shape, is_last(x) or is_last(gy))


def _conv_save(ctx: Any, inputs: Any, output: Any) -> None:
    x, w, b, *ctx.where = inputs
    ctx.bias = b is not None
    ctx.save_for_backward(x, w)


def _conv_backward(ctx: Any, gy: Tensor) -> tuple[Any, ...]:
    x, w = ctx.saved_tensors
    needs = ctx.needs_input_grad
    gx = _ops.conv_backward_data(gy, w, x.shape, *ctx.where) if needs[0] else None
    gw = _ops.conv_backward_weight(x, gy, w.shape, *ctx.where) if needs[1] else None
    gb = gy.sum([0, *range(2, gy.dim())]) if ctx.bias and needs[2] else None
    return (gx, gw, gb, *[None] * 5)


def _two_save(ctx: Any, inputs: Any, output: Any) -> None:
    first, second, *ctx.where = inputs
    ctx.save_for_backward(first, second)


def _conv_data_backward(ctx: Any, ggx: Tensor) -> tuple[Any, ...]:
    gy, w = ctx.saved_tensors
    where = ctx.where[1:]
    needs = ctx.needs_input_grad
    ggy = _ops.conv(ggx, w, None, *where) if needs[0] else None
    gw = _ops.conv_backward_weight(ggx, gy, w.shape, *where) if needs[1] else None
    return (ggy, gw, *[None] * 6)


def _conv_weight_backward(ctx: Any, ggw: Tensor) -> tuple[Any, ...]:
    x, gy = ctx.saved_tensors
    where = ctx.where[1:]
    needs = ctx.needs_input_grad
    gx = _ops.conv_backward_data(gy, ggw, x.shape, *where) if needs[0] else None
    ggy = _ops.conv(x, ggw, None, *where) if needs[1] else None
    return (gx, ggy, *[None] * 6)


# --- linear -------------------------------------------------------------------------------------------------------------


def linear_now(x: Tensor, w: Tensor, b: Tensor | None, ours: int = 7) -> Tensor:
    """Forward, at once."""
    return linear_step(x, w, b, ours).forward(x, w, b)


def linear_data_now(gy: Tensor, w: Tensor, ours: int = 7) -> Tensor:
    """The gradient of x, at once."""
    check("gy", gy=gy, w=w)
    if not ours & BACKWARD_DATA:
        return torch.matmul(gy, w).contiguous()
    return linear_layer(gy, rows_of(gy), w.shape[0], w.shape[1], False).backward_data(gy, w)


def linear_weight_now(x: Tensor, gy: Tensor, ours: int = 7) -> Tensor:
    """The gradient of w, at once."""
    check("x", x=x, gy=gy)
    if not ours & BACKWARD_WEIGHT:
        return torch.mm(gy.reshape(-1, gy.shape[-1]).t(), x.reshape(-1, x.shape[-1])).contiguous()
    return linear_layer(x, rows_of(x), gy.shape[-1], x.shape[-1], False).backward_weight(x, gy)


def _linear_fake(x: Tensor, w: Tensor, b: Tensor | None, ours: int = 7) -> Tensor:
    linear_check(x, w, b)
    return _empty(x, (*x.shape[:-1], w.shape[0]), False)


def _linear_data_fake(gy: Tensor, w: Tensor, ours: int = 7) -> Tensor:
    return _empty(gy, (*gy.shape[:-1], w.shape[1]), False)


def _linear_weight_fake(x: Tensor, gy: Tensor, ours: int = 7) -> Tensor:
    return _empty(gy, (gy.shape[-1], x.shape[-1]), False)


def _linear_backward(ctx: Any, gy: Tensor) -> tuple[Any, ...]:
    x, w = ctx.saved_tensors
    needs = ctx.needs_input_grad
    gx = _ops.linear_backward_data(gy, w, *ctx.where) if needs[0] else None
    gw = _ops.linear_backward_weight(x, gy, *ctx.where) if needs[1] else None
    gb = gy.reshape(-1, gy.shape[-1]).sum(0) if ctx.bias and needs[2] else None
    return (gx, gw, gb, None)


def _linear_data_backward(ctx: Any, ggx: Tensor) -> tuple[Any, ...]:
    gy, w = ctx.saved_tensors
    needs = ctx.needs_input_grad
    ggy = _ops.linear(ggx, w, None, *ctx.where) if needs[0] else None
    gw = _ops.linear_backward_weight(ggx, gy, *ctx.where) if needs[1] else None
    return (ggy, gw, None)


def _linear_weight_backward(ctx: Any, ggw: Tensor) -> tuple[Any, ...]:
    x, gy = ctx.saved_tensors
    needs = ctx.needs_input_grad
    gx = _ops.linear_backward_data(gy, ggw, *ctx.where) if needs[0] else None
    ggy = _ops.linear(x, ggw, None, *ctx.where) if needs[1] else None
    return (gx, ggy, None)


def _register() -> None:
    for name, now, fake, backward, save in (
        ("conv", conv_now, _conv_fake, _conv_backward, _conv_save),
        ("conv_backward_data", conv_data_now, _conv_data_fake, _conv_data_backward, _two_save),
        ("conv_backward_weight", conv_weight_now, _conv_weight_fake, _conv_weight_backward, _two_save),
        ("linear", linear_now, _linear_fake, _linear_backward, _conv_save),
        ("linear_backward_data", linear_data_now, _linear_data_fake, _linear_data_backward, _two_save),
        ("linear_backward_weight", linear_weight_now, _linear_weight_fake, _linear_weight_backward, _two_save),
    ):
        for key in ("CPU", "CUDA"):
            library.impl(name, now, key)
        torch.library.register_fake(f"kernelwright::{name}", fake, lib=library)
        torch.library.register_autograd(f"kernelwright::{name}", backward, setup_context=save, lib=library)


_register()
