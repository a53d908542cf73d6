"""Every kernel of a small set on one product, verified and timed."""

import kernelwright as kw

problem = kw.Problem("gemm fp32 rrr m128 n128 k128")
registry = kw.Registry().add_space(set="tiny", filter="c.op == 'gemm' and c.dtype == 'fp32'").add_reference(problem)
for row in registry.benchmark(problem):
    print(f"{row['outcome']:8} {row['time_ns'] / 1e3:9.1f} us {problem.flops / max(row['time_ns'], 1):8.1f} GFLOP/s  {row['config']}")
