"""A GPU that the CPU plays: the same plan, the same arrays."""

import numpy as np

import kernelwright as kw

plan = kw.plan("gemm fp32 rrr m16 n16 k16", device="emu:sm_90", mode="predict")
two = np.eye(16, dtype="f4") * 2
assert np.array_equal(plan(two, two), np.eye(16) * 4)
print(plan)
