"""The gradient of a convolution's weights: reads x and y, in this order."""

import numpy as np

import kernelwright as kw

rng = np.random.default_rng(0)
x, w = rng.integers(-3, 4, (2, 4, 8, 8)).astype("f4"), rng.integers(-3, 4, (6, 4, 3, 3)).astype("f4")
y = kw.conv2d(x, w, padding=1, mode="frozen")
g = rng.integers(-3, 4, y.shape).astype("f4")
dw = kw.conv_backward_weight(x, g, w.shape, padding=1, mode="frozen")
assert (dw * w).sum() == (g * y).sum()
print(dw.shape)
