"""A product by the fastest checked kernel: name it, plan it, run it."""

import numpy as np

import kernelwright as kw

plan = kw.plan("gemm fp32 rrr m96 n64 k128", shortlist=2)
x = np.random.default_rng(0).standard_normal((96, 128), dtype="f4")
w = np.random.default_rng(1).standard_normal((128, 64), dtype="f4")
y = plan(x, w)
assert np.allclose(y, x @ w, atol=1e-3)
print(plan)
print(plan.explain())
