"""How a time is taken: hot or cold, weights packed or fresh, so many samples; a sweep in processes of their own, into a store. And the time of a plan
on arrays of one's own, before and after its weights are packed."""

import pathlib
import tempfile

import numpy as np

import kernelwright as kw

kernels = kw.configs(set="tiny", filter="c.op == 'gemm' and c.dtype == 'fp32'")[:2]
with tempfile.TemporaryDirectory() as folder:
    path = str(pathlib.Path(folder) / "r.db")
    for cold in (False, True):
        print(kw.sweep(kernels, "gemm fp32 rrr m64 n64 k64", out=path, batches=5, cold=cold, fresh_weights=cold)["outcome"]["good"])
    with kw.Store(path) as store:
        for row in store.rows(outcome="good"):
            print(f"cold={row['cold']!s:5} packed={row['packed']!s:5} {row['time_ns'] / 1e3:7.2f} us, {row['samples']} samples  {row['config']}")

plan = kw.plan("gemm fp32 rrr m8 n256 k256", mode="predict")
x, w, y = np.ones((8, 256), "f4"), np.ones((256, 256), "f4"), np.zeros((8, 256), "f4")
print(f"{plan.time(x, w, y) / 1e3:.2f} us as the weights lie")
if plan.pack(w):
    print(f"{plan.time(x, None, y) / 1e3:.2f} us with weights packed")
assert (y == 256).all()
