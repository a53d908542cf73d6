"""Convolution kernels from a rule set, filtered, as JSON and back; compiled side by side."""

import pathlib
import tempfile

import kernelwright as kw

problem = "conv_fwd fp32 nhwgc n1 c16 k16 i14x14 f3x3 p1x1"
registry = kw.Registry().add_space(set="default", filter="c.op == 'conv_fwd' and c.dtype == 'fp32'")
everything = len(registry)
serving = {registry[i] for i in registry.serving(problem)}
registry.keep(lambda config: config in serving)
with tempfile.TemporaryDirectory() as folder:
    path = str(pathlib.Path(folder) / "kernels.json")
    registry.save(path)
    again = kw.Registry().load(path)
few = kw.Registry(configs=list(again)[:3])
print(f"{everything} kernels, {len(again)} of them serve it; of 3: {few.build(problem, jobs=2)}")
