"""For a GPU that is not here: which pipelines its kernels have, and why a pipeline cannot be made there."""

from collections import Counter

import kernelwright as kw

for arch in ("gfx942", "sm_90"):
    kernels = kw.configs(set="default", arch=arch)
    print(arch, dict(Counter(k.axes.get("pipeline", "-") for k in kernels)), dict(Counter(k.axes.get("schedule", "-") for k in kernels)))
one = next(k for k in kw.configs(set="default", arch="gfx942") if "inst" in k.text)
print(one, one.refusal("sm_90"), sep="\n")
