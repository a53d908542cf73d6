"""The operators against PyTorch's own: values, layouts, gradients, fakes, compiled, and what is refused."""

import pytest
import torch
import torch.nn.functional as F

import kernelwright as kw
from kernelwright.torch import conv, linear

OPS = torch.ops.kernelwright
# x's shape, K, filter, stride, padding, dilation, groups
LAYERS = {
    "dense": ((2, 8, 9, 10), 12, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "stride, groups": ((2, 16, 9, 9), 8, (3, 2), (2, 1), (1, 0), (1, 2), 4),
    "depthwise": ((2, 16, 8, 8), 16, (3, 3), (1, 1), (1, 1), (1, 1), 16),
    "pointwise": ((1, 8, 5, 5), 24, (1, 1), (1, 1), (0, 0), (1, 1), 1),
    "1D": ((2, 8, 17), 8, (3,), (2,), (1,), (1,), 2),
    "3D": ((1, 4, 5, 6, 7), 8, (3, 3, 3), (1, 2, 1), (1, 1, 1), (1, 1, 1), 1),
}
BOUNDS = {torch.float32: 2e-6, torch.bfloat16: 1e-2, torch.float16: 2e-3}


def aten(x, w, b, stride, padding, dilation, groups):
    return torch.ops.aten.convolution(x, w, b, stride, padding, dilation, False, [0] * len(stride), groups)


def near(ours, theirs, dtype):
    scale = theirs.double().abs().max().clamp_min(1e-3)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    assert ((ours.double() - theirs.double()).abs().max() / scale) <= BOUNDS[dtype] * 4


def tensors(layer, dtype=torch.float32, last=False, bias=True, grad=False):
    shape, k, f, *where = LAYERS[layer]
    x, w = torch.randn(shape, dtype=dtype), torch.randn((k, shape[1] // where[-1], *f), dtype=dtype)
    if last:
        form = {4: torch.channels_last, 5: torch.channels_last_3d}[len(shape)]
        x, w = x.to(memory_format=form), w.to(memory_format=form)
    b = torch.randn(k, dtype=dtype) if bias else None
    for t in (x, w, b):
        if t is not None:
            t.requires_grad_(grad)
    return x, w, b, where


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("layer", LAYERS)
def test_conv_and_its_gradients_are_pytorchs(layer, last, dtype):
    if last and layer == "1D":
        last = False
    x, w, b, where = tensors(layer, dtype, last, grad=True)
    y = conv(x, w, b, *where)
    want = aten(x.double(), w.double(), b.double(), *where)
    near(y, want.to(dtype), dtype)
    if last:
        assert y.is_contiguous(memory_format=torch.channels_last if y.dim() == 4 else torch.channels_last_3d)
    gy = torch.randn_like(y)
    got = torch.autograd.grad(y, (x, w, b), gy)
    for ours, theirs in zip(got, torch.autograd.grad(want, (x, w, b), gy.double())):
        near(ours, theirs.to(dtype), dtype)


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("shape", [(4, 24), (24,), (2, 3, 24)])
def test_linear_and_its_gradients_are_pytorchs(shape, dtype):
    x, w, b = (torch.randn(s, dtype=dtype, requires_grad=True) for s in (shape, (16, 24), (16,)))
    y = linear(x, w, b)
    want = F.linear(x.double(), w.double(), b.double())
    near(y, want.to(dtype), dtype)
    gy = torch.randn_like(y)
    for ours, theirs in zip(torch.autograd.grad(y, (x, w, b), gy), torch.autograd.grad(want, (x, w, b), gy.double())):
        near(ours, theirs.to(dtype), dtype)


@pytest.mark.parametrize("ours", range(8))
def test_each_direction_may_be_either(ours):
    x, w, b, where = tensors("stride, groups", last=True, grad=True)
    y, want = conv(x, w, b, *where, ours=ours), aten(x, w, b, *where)
    near(y, want, torch.float32)
    for a, c in zip(torch.autograd.grad(y.square().sum(), (x, w, b)), torch.autograd.grad(want.square().sum(), (x, w, b))):
        near(a, c, torch.float32)
    x, w, b = (torch.randn(s, requires_grad=True) for s in ((4, 8), (16, 8), (16,)))
    for a, c in zip(
        torch.autograd.grad(linear(x, w, b, ours).square().sum(), (x, w, b)), torch.autograd.grad(F.linear(x, w, b).square().sum(), (x, w, b))
    ):
        near(a, c, torch.float32)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("layer", ["stride, groups", "depthwise"])
def test_opcheck(layer, last):
    x, w, b, where = tensors(layer, last=last, grad=True)
    torch.library.opcheck(OPS.conv, (x, w, b, *where))
    torch.library.opcheck(OPS.conv, (x, w, None, *where))
    gy = torch.randn_like(OPS.conv(x, w, b, *where).detach()).requires_grad_()
    torch.library.opcheck(OPS.conv_backward_data, (gy, w, x.shape, *where))
    torch.library.opcheck(OPS.conv_backward_weight, (x, gy, w.shape, *where))


def test_opcheck_linear():
    x, w, b = (torch.randn(s, requires_grad=True) for s in ((2, 3, 8), (16, 8), (16,)))
    gy = torch.randn(2, 3, 16, requires_grad=True)
    torch.library.opcheck(OPS.linear, (x, w, b))
    torch.library.opcheck(OPS.linear_backward_data, (gy, w))
    torch.library.opcheck(OPS.linear_backward_weight, (x, gy))


# There are no kernels for fp64. The operators are linear in each tensor, so differences over a step of 1/2 are exact but for rounding.
@pytest.mark.filterwarnings("ignore:.*double precision:UserWarning")
def test_gradcheck():
    shape = (1, 4, 4, 4)
    x, w, b = (torch.randn(s, requires_grad=True) for s in (shape, (4, 2, 2, 2), (4,)))

    def conv_by_hand(x, w, b):
        return conv(x, w, b, (2, 1), (1, 0), 1, 2)

    def conv_by_operator(x, w, b):
        return OPS.conv(x, w, b, [2, 1], [1, 0], [1, 1], 2)

    how = {"eps": 0.5, "atol": 1e-4, "rtol": 1e-4, "nondet_tol": 0.0}
    for function in (conv_by_hand, conv_by_operator):
        assert torch.autograd.gradcheck(function, (x, w, b), **how)
        assert torch.autograd.gradgradcheck(function, (x, w, b), **how)
    x, w, b = (torch.randn(s, requires_grad=True) for s in ((3, 4), (5, 4), (5,)))
    assert torch.autograd.gradcheck(linear, (x, w, b), **how)
    assert torch.autograd.gradgradcheck(linear, (x, w, b), **how)


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(8, 4, 3, 3))
        self.b = torch.nn.Parameter(torch.randn(8))
        self.v = torch.nn.Parameter(torch.randn(5, 8))

    def forward(self, x):
        return linear(torch.relu(conv(x, self.w, self.b, 1, 1)).mean((2, 3)), self.v)


def test_compiled_is_eager():
    model = Small()
    compiled = torch.compile(model, fullgraph=True)
    for last in (False, True):
        x = torch.randn(2, 4, 8, 8)
        x = x.to(memory_format=torch.channels_last) if last else x
        eager = model(x)
        want = torch.autograd.grad(eager.square().sum(), tuple(model.parameters()))
        y = compiled(x)
        near(y, eager, torch.float32)
        for a, c in zip(torch.autograd.grad(y.square().sum(), tuple(model.parameters())), want):
            near(a, c, torch.float32)


def test_what_is_traced_goes_through_the_operators():
    x, w = torch.randn(1, 4, 6, 6), torch.randn(4, 4, 3, 3)
    with torch._subclasses.FakeTensorMode() as mode:
        y = conv(mode.from_tensor(x), mode.from_tensor(w))
    assert tuple(y.shape) == (1, 4, 4, 4)
    graph = torch.fx.experimental.proxy_tensor.make_fx(lambda x, w: conv(x, w))(x, w)
    assert "kernelwright.conv" in graph.code


def test_any_strides_and_both_formats_are_taken():
    where = ((1, 1), (1, 1), (1, 1), 1)
    x, w = torch.randn(2, 8, 12, 8)[:, :, ::2], torch.randn(3, 3, 8, 8).permute(2, 3, 0, 1)
    near(conv(x, w, None, *where), aten(x, w, None, *where), torch.float32)
    near(conv(x[:, :, ::2], w.contiguous(memory_format=torch.channels_last), None, *where), aten(x[:, :, ::2], w, None, *where), torch.float32)
    a, b = torch.randn(8, 6).t(), torch.randn(8, 5).t()
    near(linear(a, b), F.linear(a, b), torch.float32)
    y = conv(x.requires_grad_(), w, None, *where)
    near(torch.autograd.grad(y.sum(), x)[0], torch.autograd.grad(aten(x, w, None, *where).sum(), x)[0], torch.float32)


X, W = torch.randn(1, 4, 6, 6), torch.randn(4, 4, 3, 3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: conv(X.double(), W), "x: elements are torch.float64; use float32, bfloat16 or float16"),
        (lambda: conv(X.int(), W.int()), "x: elements are torch.int32"),
        (lambda: conv(X, W.bfloat16()), "w: elements are torch.bfloat16, and those of x torch.float32"),
        (lambda: conv(X, W, torch.ones(4).half()), "b: elements are torch.float16"),
        (lambda: conv(X.to("meta"), W), "w: lies on device cpu, and x on meta"),
        (lambda: conv(X[:, :3], W), "3 channels of x are not the 4 of w times 1 groups"),
        (lambda: conv(X, W, None, (1, 1, 1)), "stride: has 3 values, and the convolution 2 spatial axes"),
        (lambda: conv(X[0, 0], W), "x: has 2 axes"),
        (lambda: linear(torch.ones(3, 4), torch.ones(5, 3)), "shapes (3, 4) and (5, 3) do not meet"),
        (lambda: linear(torch.ones(3, 4).double(), torch.ones(5, 4)), "x: elements are torch.float64"),
    ],
)
def test_bad_tensors_get_one_line(call, says):
    with pytest.raises(kw.ArrayError) as caught:
        call()
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_gradients_that_lie_otherwise_and_tensors_of_transforms():
    x, w, b, where = tensors("dense", grad=True)
    y, want = conv(x, w, b, *where), aten(x, w, b, *where)
    gy = torch.randn_like(y)
    for how in (gy.contiguous(memory_format=torch.channels_last), torch.ones(1).expand_as(y), gy.transpose(2, 3).contiguous().transpose(2, 3)):
        for a, c in zip(torch.autograd.grad(y, (x, w, b), how, retain_graph=True), torch.autograd.grad(want, (x, w, b), how, retain_graph=True)):
            near(a, c, torch.float32)
    many = torch.stack([gy, 2 * gy])
    for a, c in zip(torch.autograd.grad(y, (x, w), many, is_grads_batched=True), torch.autograd.grad(want, (x, w), many, is_grads_batched=True)):
        near(a, c, torch.float32)
    left = []
    torch.func.vmap(lambda t: left.append(t) or t.sum())(x.detach())  # what leaves a transform is a tensor again
    assert conv(x, w, None, *where).shape == y.shape and len(left) == 1


def test_one_shape_that_lies_two_ways_is_two_steps():
    where = (1, 1, 1, 1)
    x, w = torch.randn(2, 8, 6, 6), torch.randn(8, 8, 3, 3)
    for _ in range(2):
        first, last = conv(x, w, None, *where), conv(x.to(memory_format=torch.channels_last), w, None, *where)
        near(first, last, torch.float32)
        assert first.is_contiguous() and last.is_contiguous(memory_format=torch.channels_last)
    with pytest.raises(kw.ArrayError, match="x: elements are torch.float64"):
        conv(x.double(), w, None, *where)
