"""Every kernel that serves a product held against the reference, without timing."""

import kernelwright as kw

registry = kw.Registry().add_space(set="tiny", filter="c.op == 'gemm'")
for problem in ("gemm fp32 rrr m17 n33 k9", "gemm fp32 rcr m1 n7 k130"):
    records = registry.validate(problem)
    assert all(outcome in ("good", "unfit") for outcome in records["outcome"]), list(zip(records["outcome"], records["detail"]))
    print(f"{problem}: {len(records)} kernels, all right; largest error {max(records['error'], default=0):.2f} of the bound")
