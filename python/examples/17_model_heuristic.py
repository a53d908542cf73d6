"""How good selections are: the analytic estimate held against measured rows, and a table of the worst."""

import pathlib
import sys

import kernelwright as kw

data = pathlib.Path(__file__).resolve().parents[2] / "data" / "x86-64-v4-bf16-fp32-gemm.jsonl.gz"
if not data.exists():
    sys.exit("the rows of the repository are not beside this file")
evaluation = kw.evaluate(data)
print(evaluation)
