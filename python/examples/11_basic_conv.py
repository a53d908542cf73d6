"""A grouped convolution: problem, by text or by its sizes, plan, arrays."""

import numpy as np

import kernelwright as kw

plan = kw.plan("conv_fwd fp32 nhwgc n1 g2 c16 k16 i14x14 f3x3 p1x1", shortlist=2)
x, w = np.ones((1, 14, 14, 16), "f4"), np.ones((16, 3, 3, 8), "f4")
y = plan(x, w)
assert plan.problem == kw.Problem.conv("fwd", g=2, c=16, k=16, i=(14, 14), f=(3, 3), p=1)
assert y.shape == (1, 14, 14, 16) and y[0, 7, 7, 0] == 72
print(plan.problem, f"{plan.problem.flops / 1e6:.1f} MFLOP", plan.config, sep="\n")
