"""GEMM and grouped convolution by the fastest checked kernel for the machine at hand.

>>> import kernelwright as kw, numpy as np
>>> plan = kw.plan("gemm fp32 rrr m64 n64 k64", mode="predict")
>>> y = plan(np.ones((64, 64), "f4"), np.ones((64, 64), "f4"))
>>> float(y[0, 0])
64.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _kw
from ._errors import (
    ArrayError,
    EnvironmentFault,
    Error,
    FailedError,
    FileError,
    IllegalError,
    MalformedError,
    MissingError,
    NoKernelError,
    OutOfMemoryError,
    failure,
)

if TYPE_CHECKING:
    from ._context import Context, context, plan
    from ._conv import conv1d, conv2d, conv3d, conv_backward_data, conv_backward_weight
    from ._grouped import grouped_matmul
    from ._learn import Comparison, Evaluation, Features, compare, evaluate, features, models, prune, search, train
    from ._matmul import matmul
    from ._ops import clear_plans
    from ._plan import Explanation, Plan, run_together
    from ._problem import Problem
    from ._space import Config, Registry, configs, describe, devices, names, predict, problem_sets, problems, tune
    from ._store import Store, merge, report, sweep, verdicts
    from ._table import Table

_kw.install(ArrayError, failure)
__version__: str = _kw.version

# Where each name stands; a module is loaded when its first name is asked for, which keeps the import short.
_HOMES = {
    "Context": "_context",
    "context": "_context",
    "plan": "_context",
    "Problem": "_problem",
    "Plan": "_plan",
    "Explanation": "_plan",
    "run_together": "_plan",
    "matmul": "_matmul",
    "grouped_matmul": "_grouped",
    "conv1d": "_conv",
    "conv2d": "_conv",
    "conv3d": "_conv",
    "conv_backward_data": "_conv",
    "conv_backward_weight": "_conv",
    "clear_plans": "_ops",
    "Table": "_table",
    "Config": "_space",
    "Registry": "_space",
    "configs": "_space",
    "describe": "_space",
    "devices": "_space",
    "names": "_space",
    "predict": "_space",
    "problem_sets": "_space",
    "problems": "_space",
    "tune": "_space",
    "Store": "_store",
    "merge": "_store",
    "report": "_store",
    "sweep": "_store",
    "verdicts": "_store",
    "Comparison": "_learn",
    "Evaluation": "_learn",
    "compare": "_learn",
    "evaluate": "_learn",
    "Features": "_learn",
    "features": "_learn",
    "models": "_learn",
    "prune": "_learn",
    "search": "_learn",
    "train": "_learn",
}
__all__ = [
    "ArrayError",
    "Comparison",
    "Config",
    "Context",
    "EnvironmentFault",
    "Error",
    "Evaluation",
    "Explanation",
    "FailedError",
    "Features",
    "FileError",
    "IllegalError",
    "MalformedError",
    "MissingError",
    "NoKernelError",
    "OutOfMemoryError",
    "Plan",
    "Problem",
    "Registry",
    "Store",
    "Table",
    "clear_plans",
    "compare",
    "configs",
    "context",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_backward_data",
    "conv_backward_weight",
    "describe",
    "devices",
    "evaluate",
    "features",
    "grouped_matmul",
    "matmul",
    "merge",
    "models",
    "names",
    "plan",
    "predict",
    "problem_sets",
    "problems",
    "prune",
    "report",
    "run_together",
    "search",
    "sweep",
    "train",
    "tune",
    "verdicts",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
