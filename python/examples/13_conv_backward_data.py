"""The gradient of a convolution's input: reads w and y, in this order."""

import numpy as np

import kernelwright as kw

rng = np.random.default_rng(0)
x, w = rng.integers(-3, 4, (1, 4, 8, 8)).astype("f4"), rng.integers(-3, 4, (6, 4, 3, 3)).astype("f4")
y = kw.conv2d(x, w, stride=2, padding=1, mode="frozen")
g = rng.integers(-3, 4, y.shape).astype("f4")
dx = kw.conv_backward_data(w, g, x.shape, stride=2, padding=1, mode="frozen")
assert (dx * x).sum() == (g * y).sum()  # what makes it the adjoint
print(dx.shape)
