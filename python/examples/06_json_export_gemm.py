"""A registry as JSON and back."""

import pathlib
import tempfile

import kernelwright as kw

registry = kw.Registry().add_space(set="default", filter="c.op == 'gemm' and c.dtype == 'fp32'")
with tempfile.TemporaryDirectory() as folder:
    path = str(pathlib.Path(folder) / "kernels.json")
    registry.save(path)
    assert list(kw.Registry().load(path)) == list(registry)
print(registry, registry.to_json()[:200], sep="\n")
