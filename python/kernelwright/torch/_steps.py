"""Layers whose tensors are known: what a call does forward and backward, with nothing left to work out, and the table where calls find them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .._errors import ArrayError
from .._kw import facts
from ._layers import BACKWARD_DATA, BACKWARD_WEIGHT, FORWARD, ConvLayer, ConvSizes, LinearLayer, check, conv_layer, is_last, linear_layer

_Ints = Sequence[int]
_Needs = Sequence[bool]
_MOST = 4096  # entries of a table
_aten_backward = torch.ops.aten.convolution_backward.default
_threads = torch.get_num_threads


def axes(name: str, t: Tensor, stride: _Ints, padding: _Ints, dilation: _Ints) -> None:
    """Whether a tensor has a convolution's axes, and each of them its values."""
    n = t.dim() - 2
    if n not in (1, 2, 3):
        raise ArrayError(f"{name}: has {t.dim()} axes; a convolution's have 3, 4 or 5")
    for word, values in (("stride", stride), ("padding", padding), ("dilation", dilation)):
        if len(values) != n:
            raise ArrayError(f"{word}: has {len(values)} values, and the convolution {n} spatial axes")


def rows_of(t: Tensor) -> int:
    """All extents but the last, multiplied."""
    rows = 1
    for extent in t.shape[:-1]:
        rows *= extent
    return rows


_Gradients = tuple[Tensor | None, Tensor | None, Tensor | None, None]  # of x, w, b, and of the step itself


class _Step:
    """A layer at given shapes. ours: which directions are by Kernelwright; the others are PyTorch's.

    A plan is called with tensors as they come and refuses those that do not lie as it wants; only then are they looked at by Python.
    """

    def __init__(self, layer: Any, ours: int) -> None:
        self.layer, self.ours = layer, ours
        self.data, self.weight = ours & BACKWARD_DATA, ours & BACKWARD_WEIGHT
        self.forward: Callable[[Tensor, Tensor, Tensor | None], Tensor] = self._first if ours & FORWARD else self.theirs

    def theirs(self, x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        """The result by PyTorch."""
        raise NotImplementedError

    def _first(self, x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        """The first call makes the plan, and says how later ones go."""
        d = self.layer.direction(FORWARD)
        self.forward = self._quick(d.plan, b is not None, d.fused)
        return self.layer.forward(x, w, b)

    def _quick(self, plan: Any, bias: bool, fused: bool) -> Callable[[Tensor, Tensor, Tensor | None], Tensor]:
        """The plan as a function."""
        raise NotImplementedError


class ConvStep(_Step):
    """A convolution."""

    def __init__(self, layer: ConvLayer, ours: int, where: tuple[Any, ...]) -> None:
        super().__init__(layer, ours)
        self.where = where
        stride, padding, dilation, groups = where
        self._other = (stride, padding, dilation, False, [0] * len(stride), groups)
        self._sums = [0, *range(2, len(stride) + 2)]
        self._k = [layer.w_shape[0]]
        self._along = [-1, *[1] * len(stride)]
        self._by_data: Callable[[Tensor, Tensor], Tensor] = self._first_data
        self._by_weight: Callable[[Tensor, Tensor], Tensor] = self._first_weight

    def theirs(self, x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        """The result by PyTorch."""
        return torch.convolution(x, w, b, *self._other)

    def _quick(self, plan: Any, bias: bool, fused: bool) -> Callable[[Tensor, Tensor, Tensor | None], Tensor]:
        slow, along = self.layer.forward, self._along

        def forward(x: Tensor, w: Tensor, b: Any) -> Tensor:
            try:
                if fused:
                    return plan(x, w, b)
                y = plan(x, w)
                return y.add_(b.view(along)) if bias else y
            except ArrayError:
                return slow(x, w, b)

        return forward

    def _first_data(self, w: Tensor, gy: Tensor) -> Tensor:
        self._by_data = self.layer.direction(BACKWARD_DATA).plan
        return self.layer.backward_data(gy, w)

    def _first_weight(self, x: Tensor, gy: Tensor) -> Tensor:
        self._by_weight = self.layer.direction(BACKWARD_WEIGHT).plan
        return self.layer.backward_weight(x, gy)

    def gradient_of_x(self, w: Tensor, gy: Tensor) -> Tensor:
        """By ours."""
        try:
            return self._by_data(w, gy)
        except ArrayError:
            return self.layer.backward_data(gy, w)

    def gradient_of_w(self, x: Tensor, gy: Tensor) -> Tensor:
        """By ours."""
        try:
            return self._by_weight(x, gy)
        except ArrayError:
            return self.layer.backward_weight(x, gy)

    def gradients(self, x: Tensor, w: Tensor, gy: Tensor, needs: _Needs) -> _Gradients:
        """Those that are needed."""
        gx = self.gradient_of_x(w, gy) if needs[0] and self.data else None
        gw = self.gradient_of_w(x, gy) if needs[1] and self.weight else None
        gb = None
        data, weight = needs[0] and gx is None, needs[1] and gw is None
        if data or weight:  # PyTorch's way to the sums goes by the weights' gradient
            theirs = _aten_backward(gy, x, w, self._k, *self._other, [data, weight, weight and needs[2]])
            gx, gw, gb = theirs[0] if data else gx, theirs[1] if weight else gw, theirs[2]
        if needs[2] and gb is None:
            gb = gy.sum(self._sums)
        return gx, gw, gb, None

    def differentiable(self, x: Tensor, w: Tensor, gy: Tensor, needs: _Needs) -> _Gradients:
        """The same by the operators, which have gradients."""
        ops, where = torch.ops.kernelwright, (*self.where, self.ours)
        gx = ops.conv_backward_data(gy, w, x.shape, *where) if needs[0] else None
        gw = ops.conv_backward_weight(x, gy, w.shape, *where) if needs[1] else None
        return gx, gw, gy.sum(self._sums) if needs[2] else None, None


class LinearStep(_Step):
    """A linear layer."""

    layer: LinearLayer

    def theirs(self, x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        """The result by PyTorch."""
        return torch.nn.functional.linear(x, w, b)

    def _quick(self, plan: Any, bias: bool, fused: bool) -> Callable[[Tensor, Tensor, Tensor | None], Tensor]:
        slow = self.layer.forward

        def forward(x: Tensor, w: Tensor, b: Any) -> Tensor:
            if x.dim() != 2:
                return slow(x, w, b)
            try:
                if fused:
                    return plan(x, w.t(), b)
                y = plan(x, w.t())
                return y.add_(b) if bias else y
            except ArrayError:
                return slow(x, w, b)

        return forward

    def gradients(self, x: Tensor, w: Tensor, gy: Tensor, needs: _Needs) -> _Gradients:
        """Those that are needed."""
        layer, gx, gw = self.layer, None, None
        if needs[0]:
            gx = layer.backward_data(gy, w) if self.data else torch.matmul(gy, w)
        rows = gy if gy.dim() == 2 else gy.reshape(layer.m, layer.n)
        if needs[1]:
            gw = layer.backward_weight(x, gy) if self.weight else torch.mm(rows.t(), x.reshape(layer.m, layer.k))
        return gx, gw, rows.sum(0) if needs[2] else None, None

    def differentiable(self, x: Tensor, w: Tensor, gy: Tensor, needs: _Needs) -> _Gradients:
        """The same by the operators, which have gradients."""
        ops = torch.ops.kernelwright
        gx = ops.linear_backward_data(gy, w, self.ours) if needs[0] else None
        gw = ops.linear_backward_weight(x, gy, self.ours) if needs[1] else None
        return gx, gw, gy.reshape(-1, gy.shape[-1]).sum(0) if needs[2] else None, None


# --- where they are found -----------------------------------------------------------------------------------------------

known: dict[Any, Any] = {}


def remembered(key: tuple[Any, ...], value: Any) -> Any:
    """value, which calls with this key get from here on. A key begins with the tensors' facts; without those it is none."""
    if key[0] is None:
        return value
    if len(known) >= _MOST:
        known.clear()
    known[key] = value
    return value


def _tuple(value: int | _Ints, n: int) -> tuple[int, ...]:
    return (value,) * n if isinstance(value, int) else tuple(value)


def conv_step(x: Tensor, w: Tensor, b: Tensor | None, s: Any, p: Any, d: Any, g: int, ours: int) -> ConvStep:
    """That of these tensors, whose values do not matter."""
    if type(s) is list or type(p) is list or type(d) is list:
        s, p, d = (tuple(v) if type(v) is list else v for v in (s, p, d))
    key = (facts(x, w, b), s, p, d, g, ours, _threads())
    step = known.get(key)
    if step is None:
        n = x.dim() - 2
        check("x", x=x, w=w, b=b)
        stride, padding, dilation = (_tuple(v, n) for v in (s, p, d))
        axes("x", x, stride, padding, dilation)
        sizes = ConvSizes(x.shape, w.shape, stride, padding, dilation, g, is_last(x) or is_last(w), b is not None)
        step = remembered(key, ConvStep(conv_layer(x, sizes), ours, (stride, padding, dilation, g)))
    return step


def linear_check(x: Tensor, w: Tensor, b: Tensor | None) -> None:
    """Whether they go together."""
    check("x", x=x, w=w, b=b)
    if w.dim() != 2 or not x.dim() or x.shape[-1] != w.shape[1]:
        raise ArrayError(f"x and w: shapes {tuple(x.shape)} and {tuple(w.shape)} do not meet; x is (..., k) and w (n, k)")


def linear_step(x: Tensor, w: Tensor, b: Tensor | None, ours: int) -> LinearStep:
    """Likewise."""
    key = (facts(x, w, b), ours, _threads())
    step = known.get(key)
    if step is None:
        linear_check(x, w, b)
        step = remembered(key, LinearStep(linear_layer(x, rows_of(x), w.shape[0], w.shape[1], b is not None), ours))
    return step
