"""Every kernel of a small set on one convolution, all three directions."""

import kernelwright as kw

for op in ("conv_fwd", "conv_bwd_data", "conv_bwd_weight"):
    problem = kw.Problem(f"{op} fp32 nhwgc n1 c16 k16 i14x14 f3x3 p1x1")
    registry = kw.Registry().add_space(set="tiny", filter=f"c.op == '{op}' and c.dtype == 'fp32'").add_reference(problem)
    best = registry.benchmark(problem).to_dicts()[0]
    print(f"{problem.flops / best['time_ns']:7.1f} GFLOP/s  {best['config']}")
