"""Many products of odd sizes, each against NumPy."""

import numpy as np

import kernelwright as kw

rng = np.random.default_rng(7)
for _ in range(40):
    m, n, k = (int(v) for v in rng.integers(1, 70, 3))
    x, w = rng.integers(-4, 5, (m, k)).astype("f4"), rng.integers(-4, 5, (k, n)).astype("f4")
    assert np.array_equal(kw.matmul(x, w, mode="frozen"), x @ w)
kw.clear_plans()
print("40 products, all equal")
