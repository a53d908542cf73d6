"""What a call from PyTorch costs, forward and with gradients: layers so small that the call is all there is, in turns; the least of many turns, in ns.

python python/bench/torch_calls.py        with the package and PyTorch installed
"""

import timeit

import torch
from torch import nn
from torch.nn import functional as F

import kernelwright.torch as kwt
from kernelwright.torch._optimize import _Site

torch.set_num_threads(1)


def replaced(module, x, training):
    """The module with its forward ours in all directions, as optimize leaves one that won."""
    site = _Site(module, x, training)
    site.ours = 7
    site.put()
    return module


def ways(name, module, other, x, ours, theirs):
    """Calls of a layer by each way: theirs and ours without and with gradients."""
    w, b = module.weight, module.bias
    leaf = x.detach().requires_grad_()
    gy = torch.randn_like(module(x))

    def back(call):
        return lambda: torch.autograd.grad(call(), (leaf, w, b), gy)

    def quiet(call):
        def run():
            with torch.no_grad():
                call()

        return run

    theirs_module, trained, served = (type(module)(*other) for _ in range(3))
    for m in (theirs_module, trained, served):
        m.load_state_dict(module.state_dict())
    trained, served = replaced(trained, leaf, True), replaced(served, x, False)

    def whole(m):
        return lambda: torch.autograd.grad(m(leaf), (leaf, m.weight, m.bias), gy)

    return {
        f"{name}, PyTorch's function, no gradient": quiet(lambda: theirs(x, w, b)),
        f"{name}, PyTorch's module, no gradient": quiet(lambda: theirs_module(x)),
        f"{name}, kwt's function, no gradient": quiet(lambda: ours(x, w, b)),
        f"{name}, replaced layer, no gradient": quiet(lambda: served(x)),
        f"{name}, PyTorch's function, forward": lambda: theirs(leaf, w, b),
        f"{name}, kwt's function, forward": lambda: ours(leaf, w, b),
        f"{name}, replaced layer, forward": lambda: trained(leaf),
        f"{name}, PyTorch's function, forward and backward": back(lambda: theirs(leaf, w, b)),
        f"{name}, kwt's function, forward and backward": back(lambda: ours(leaf, w, b)),
        f"{name}, PyTorch's module, forward and backward": whole(theirs_module),
        f"{name}, replaced layer, forward and backward": whole(trained),
    }


class Nothing(torch.autograd.Function):
    """What a node in Python costs by itself."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return torch.empty_like(x)

    @staticmethod
    def backward(ctx, gy):
        x, w = ctx.saved_tensors
        return x, w


def no_bias(x):
    """A convolution and a node that does nothing, forward and backward."""
    leaf, w, gy = x.detach().requires_grad_(), torch.randn(16, 16, 1, 1, requires_grad=True), torch.randn_like(x)
    return {
        "conv without bias, PyTorch's function, forward and backward": lambda: torch.autograd.grad(F.conv2d(leaf, w), (leaf, w), gy),
        "conv without bias, kwt's function, forward and backward": lambda: torch.autograd.grad(kwt.conv(leaf, w), (leaf, w), gy),
        "autograd.Function that does nothing, forward and backward": lambda: torch.autograd.grad(Nothing.apply(leaf, w), (leaf, w), gy),
    }


def main():
    conv, x = nn.Conv2d(16, 16, 1), torch.randn(1, 16, 4, 4)
    line, rows = nn.Linear(16, 16), torch.randn(4, 16)
    with kwt.plan_mode("predict"):
        calls = ways("conv", conv, (16, 16, 1), x, kwt.conv, F.conv2d) | ways("linear", line, (16, 16), rows, kwt.linear, F.linear) | no_bias(x)
        for call in calls.values():
            call()
        least = dict.fromkeys(calls, float("inf"))
        for _ in range(40):
            for name, call in calls.items():
                least[name] = min(least[name], timeit.timeit(call, number=300) / 300 * 1e9)
    for name, ns in least.items():
        print(f"{ns:8.0f}  {name}")


if __name__ == "__main__":
    main()
