"""Several registries side by side: each chooses among its own kernels."""

import numpy as np

import kernelwright as kw

problem = "gemm fp32 rrr m48 n48 k48"
kernels = kw.configs(set="tiny", filter="c.op == 'gemm' and c.dtype == 'fp32'")
fast, plain = kw.Registry(configs=kernels), kw.Registry().add_reference(problem)
a = np.eye(48, dtype="f4")
for registry in (fast, plain):
    assert np.array_equal(registry.run(problem, a, a, mode="predict"), a)
    print(registry, registry.select(problem, mode="predict").config)
