"""Choosing without measuring: by the model that serves, by the analytic estimate, by a function of your own."""

import kernelwright as kw

problem = "gemm fp32 rrr m512 n256 k384"
best = kw.predict(problem, limit=3)
for row in best:
    print(f"{row['expected_ns'] / 1e3:8.1f} us by {row['model'] or 'the estimate'}, {row['estimate_ns'] / 1e3:8.1f} us by the estimate  {row['config']}")
registry = kw.Registry().add_space(set="tiny", filter="c.op == 'gemm' and c.dtype == 'fp32'")
plan = registry.select(problem, order=lambda config: -config.axes.get("tile_m", 0))
print(plan.config)
