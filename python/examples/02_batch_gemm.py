"""Products of several sizes and of a batch; what was chosen for each."""

import numpy as np

import kernelwright as kw

table = kw.tune([f"gemm fp32 m{s} n{s} k{s}" for s in (32, 48)] + ["gemm fp32 rrr b4 m16 n24 k32"], shortlist=2)
for row in table:
    print(f"{row['time_ns'] / 1e3:8.1f} us  {row['problem']}  {row['config']}")
x, w = np.ones((4, 16, 32), "f4"), np.ones((4, 32, 24), "f4")
assert (kw.matmul(x, w) == 32).all()
