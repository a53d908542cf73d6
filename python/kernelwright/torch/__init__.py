"""PyTorch: convolutions and linear layers by Kernelwright's plans.

>>> import torch, kernelwright.torch as kwt
>>> kwt.linear(torch.ones(2, 4), torch.ones(3, 4)).shape
torch.Size([2, 3])
"""

from ._functions import conv, linear
from ._layers import plan_mode

__all__ = ["conv", "linear", "plan_mode"]
