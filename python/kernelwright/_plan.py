"""Plans, and why they are what they are."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from . import _kw
from ._arrays import allocate, finish, stream_of, written
from ._native import Callback, checked, ffi, lib, text, to_dict
from ._problem import Problem

_KINDS = "wisdom measured predicted reference next failed unsaved model rejected threads noise passes".split()


@dataclass(frozen=True)
class ExplanationLine:
    """A line of an explanation: what it is about, of a refused family its name, and the text."""

    kind: str
    family: str | None
    text: str


class Explanation:
    """Why a plan runs the kernel that it runs.

    ``str`` gives the library's text, iteration its lines by kind, ``refused`` the reason by family.
    """

    def __init__(self, config: str, whole: str, lines: list[ExplanationLine], records: list[dict[str, Any]]) -> None:
        self.config, self._text, self.lines, self.records = config, whole, lines, records

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def __iter__(self) -> Iterator[ExplanationLine]:
        return iter(self.lines)

    @property
    def source(self) -> str:
        """Where the choice came from: wisdom, measured, predicted or reference."""
        return next((line.kind for line in self.lines if line.kind in _KINDS[:4]), "")

    @property
    def refused(self) -> dict[str, str]:
        """Families that have kernels for the operation, none of which serves the problem, and why."""
        return {line.family: line.text for line in self.lines if line.family}

    def _repr_html_(self) -> str:
        e = html.escape
        rows = "".join(
            f"<tr><td>{e(line.kind)}</td><td style='text-align:left'>{e(line.family or '')} {e(line.text)}</td></tr>" for line in self.lines
        )
        slowest = max((r["time_ns"] for r in self.records), default=0) or 1
        bars = "".join(
            f"<tr><td>{e(r['outcome'])}</td><td>{r['time_ns'] / 1e3:.1f} us</td><td><div style='background:#4078a0;height:.8em;"
            f"width:{200 * r['time_ns'] / slowest:.0f}px'></div></td><td style='text-align:left'>{e(r['config'])}</td></tr>"
            for r in self.records
        )
        return f"<p><code>{e(self.config)}</code></p><table>{rows}</table><table>{bars}</table>"


class Plan(_kw.Runner):
    """A problem with its kernel, made by ``Context.plan`` or ``kernelwright.plan``.

    ``plan(x, w)`` gives a new array of x's library; ``plan(x, w, out=y)`` and ``plan.run(x, w, y)`` write into one. What is read comes in the order
    x, w, y (backward data: w, y), then the tensors of the epilogue in the order of its steps, and of a grouped product the ends of its groups. An array may be shaped as frameworks count axes,
    (N, C, H, W), as channels-last memory lies, (N, H, W, C), with the groups as an axis of its own, or flat. Nothing is copied or converted: an array
    that does not lie as the problem says is an ArrayError. On a GPU the call queues in the current stream of PyTorch, or in ``stream``, and returns.
    """

    problem: Problem
    device: str

    def __repr__(self) -> str:
        return f"<Plan {self.problem} on {self.device}: {self.config}>"

    def __reduce__(self) -> Any:
        raise TypeError("a plan belongs to its process; send the problem, and plan it there")

    @property
    def _c(self) -> Any:
        return ffi.cast("kw_plan *", self.address)

    @property
    def config(self) -> str:
        """The chosen kernel's whole name."""
        return text(lib.kw_plan_config(self._c))

    @property
    def workspace(self) -> int:
        """Bytes that a run needs besides the arrays."""
        return lib.kw_plan_workspace(self._c)

    @property
    def wants_packing(self) -> bool:
        """Whether ``pack`` makes later runs faster."""
        return lib.kw_plan_wants_packing(self._c)

    def pack(self, w: Any) -> bool:
        """Keep weights that stay the same in the order that the kernel reads, once; the plan is then called without them, ``plan(x)`` or ``run(x, None, y)``.

        Packed weights do not follow w: pack again after it changed. Not while the plan runs.

        Parameters
        ----------
        w : array or None
            None: the plan reads w at each call again.

        Returns
        -------
        bool
            False where the kernel wants no packing; then nothing is kept, and w is still given to each call.

        Examples
        --------
        >>> import numpy as np, kernelwright as kw
        >>> x, w = np.ones((2, 3), "f4"), np.ones((3, 4), "f4")
        >>> plan = kw.plan("gemm fp32 rrr m2 n4 k3", mode="predict")
        >>> y = plan(x) if plan.pack(w) else plan(x, w)
        >>> float(y[0, 0])
        3.0
        """
        if w is not None:
            written(w)
        return self._pack(w)

    def time(self, *arrays: Any, calls: int = 100) -> float:
        """Nanoseconds of a run, over so many one after the other behind a first one; on a GPU by the device's clock.

        Parameters
        ----------
        *arrays
            As of ``run``: x, w, y, then those of the epilogue.
        calls : int

        Returns
        -------
        float
        """
        self.run(*arrays)
        for array in arrays:
            written(array)
        return self._time(calls, *arrays)

    @property
    def records(self) -> list[dict[str, Any]]:
        """What was measured to make this choice, best first; none where the answer came from elsewhere."""
        count = ffi.new("size_t *")
        records = lib.kw_plan_records(self._c, count)
        return [to_dict(records[i]) for i in range(count[0])]

    def explain(self) -> Explanation:
        """Why this kernel: where the choice came from, what it beat, which families were refused and why."""
        lines: list[ExplanationLine] = []

        def visit(e: Any) -> None:
            lines.append(ExplanationLine(_KINDS[e.kind], text(e.family) or None, text(e.text)))

        callback = Callback(visit)
        lib.kw_explanation_visit(self._c, lib.kwpy_explanation, callback.handle)
        callback.ended()
        return Explanation(self.config, text(lib.kw_plan_explain(self._c)), lines, self.records)

    def source(self) -> str:
        """The kernel's generated source, complete in itself."""
        from ._native import owned

        return owned(lib.kw_config_source, self.config.encode(), self._arch.encode())

    def empty(self, tensor: str, library: Any = None) -> Any:
        """A new NumPy array laid out as x, w, y or a tensor of the epilogue has to be."""
        import numpy

        for name, dtype, _, views in self.operands():
            if name == tensor:
                extent, stride = views[0]
                return allocate(numpy.empty(0), extent, stride, dtype)
        raise KeyError(f"{tensor}: the plan has {', '.join(o[0] for o in self.operands())}")

    _arch = ""


def run_together(items: Iterable[tuple[Any, ...]], *, stream: Any = None) -> None:
    """Run plans that have nothing to do with each other in one call, such as products whose m, n and k all differ.

    On a CPU small ones run on a thread each, side by side; on a GPU products that gain by it are one launch, and the others are queued one behind the
    other. The first call with a plan may compile the kernel of that launch: make it before a graph is captured. What one writes no other may read or
    write.

    Parameters
    ----------
    items : iterable of tuples
        ``(plan, x, w, y, *extras)``, as ``plan.run`` takes them; plans of one context.
    stream : optional
        As of ``Plan.run``.

    Examples
    --------
    >>> import numpy as np, kernelwright as kw
    >>> a, b = kw.plan("gemm fp32 rrr m2 n3 k4", mode="frozen"), kw.plan("gemm fp32 rrr m5 n1 k2", mode="frozen")
    >>> ya, yb = np.empty((2, 3), "f4"), np.empty((5, 1), "f4")
    >>> run_together([(a, np.ones((2, 4), "f4"), np.ones((4, 3), "f4"), ya), (b, np.ones((5, 2), "f4"), np.ones((2, 1), "f4"), yb)])
    >>> float(ya[0, 0]), float(yb[4, 0])
    (4.0, 2.0)
    """
    _kw.run_together(tuple(tuple(item) for item in items), stream)


def make_plan(handle: Any, address: Any, problem: Problem, device: str, arch: str) -> Plan:
    """The object of a plan that C made and that belongs to it from here on."""
    integer = int(ffi.cast("uintptr_t", address))
    context = int(ffi.cast("uintptr_t", handle.c))
    plan = Plan(integer, context, int(ffi.cast("uintptr_t", problem._c)), dlpack_device(device), handle, allocate, finish, stream_of)
    plan.problem, plan.device, plan._arch = problem, device, arch
    return plan


def dlpack_device(device: str) -> tuple[int, int]:
    """DLPack's type and number of the memory that a device's kernels use. A GPU that is played uses the host's."""
    backend, _, number = device.partition(":")
    kind = {"cuda": 2, "hip": 10}.get(backend, 1)
    return kind, int(number or 0) if kind != 1 else 0
