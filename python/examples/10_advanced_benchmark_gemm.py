"""How a time is taken: hot or cold, weights packed or fresh, so many samples; a sweep in processes of their own, into a store."""

import pathlib
import tempfile

import kernelwright as kw

kernels = kw.configs(set="tiny", filter="c.op == 'gemm' and c.dtype == 'fp32'")[:2]
with tempfile.TemporaryDirectory() as folder:
    path = str(pathlib.Path(folder) / "r.db")
    for cold in (False, True):
        print(kw.sweep(kernels, "gemm fp32 rrr m64 n64 k64", out=path, batches=5, cold=cold, fresh_weights=cold)["outcome"]["good"])
    with kw.Store(path) as store:
        for row in store.rows(outcome="good"):
            print(f"cold={row['cold']!s:5} packed={row['packed']!s:5} {row['time_ns'] / 1e3:7.2f} us, {row['samples']} samples  {row['config']}")
