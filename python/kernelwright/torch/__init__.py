"""PyTorch: convolutions and linear layers by Kernelwright's plans, and models that get those of them that are faster.

>>> import torch, kernelwright.torch as kwt
>>> model = torch.nn.Sequential(torch.nn.Conv2d(8, 8, 3), torch.nn.ReLU()).eval()
>>> report = kwt.optimize(model, torch.randn(1, 8, 16, 16))  # print(report) shows what was replaced and why
"""

from ._functions import conv, linear
from ._layers import plan_mode
from ._optimize import Report, Row, optimize, restore

__all__ = ["Report", "Row", "conv", "linear", "optimize", "plan_mode", "restore"]
