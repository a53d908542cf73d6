"""NumPy arrays as they are: views, transposes, batches, parts of larger arrays, a bias and an activation."""

import numpy as np

import kernelwright as kw

a = np.arange(24, dtype="f4").reshape(4, 6)
assert np.array_equal(kw.matmul(a, a.T, mode="frozen"), a @ a.T)
large = np.zeros((10, 12), "f4")
kw.matmul(a, a.T, out=large[2:6, 3:7], mode="frozen")
assert np.array_equal(large[2:6, 3:7], a @ a.T) and large[0].sum() == 0
bias = np.full(4, -1000, "f4")
assert np.array_equal(kw.matmul(a, a.T, bias=bias, epilogue="relu", mode="frozen"), np.maximum(a @ a.T - 1000, 0))
try:
    kw.matmul(a.astype("f8"), a.T)
except kw.ArrayError as error:
    print(error)
