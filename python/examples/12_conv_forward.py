"""Forward convolutions of 1, 2 and 3 axes, channels first and last, with a bias and an activation."""

import numpy as np

import kernelwright as kw

rng = np.random.default_rng(0)
for ndim, conv in ((1, kw.conv1d), (2, kw.conv2d), (3, kw.conv3d)):
    x = rng.integers(-3, 4, (2, 4, *[5] * ndim)).astype("f4")
    w = rng.integers(-3, 4, (6, 2, *[3] * ndim)).astype("f4")
    y = conv(x, w, np.ones(6, "f4"), padding=1, groups=2, epilogue="relu", mode="frozen")
    to_last = [0, *range(2, ndim + 2), 1]
    last = conv(x.transpose(to_last), w.transpose(to_last), np.ones(6, "f4"), padding=1, groups=2, epilogue="relu", axes="NHWC", mode="frozen")
    assert np.array_equal(last, y.transpose(to_last))
    print(x.shape, w.shape, y.shape)
