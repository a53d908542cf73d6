"""The package alone, without NumPy: a plan on arrays of the standard library, run by tools/python.sh in an environment that has nothing else."""

import array
import importlib.util

import kernelwright as kw

assert importlib.util.find_spec("numpy") is None, "the environment is not fresh"
plan = kw.plan("gemm fp32 rrr m2 n2 k3", mode="frozen")
x, w, y = array.array("f", range(6)), array.array("f", range(6)), array.array("f", [0] * 4)
plan.run(x, w, y)
assert list(y) == [10, 13, 28, 40], y
try:
    kw.plan("gemm fp32 m2 n2")
except kw.MalformedError as error:
    assert "\n" not in str(error) and "k" in str(error)
else:
    raise AssertionError("a problem without k was taken")
