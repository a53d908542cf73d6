"""Stores: what was measured, as rows; sweeps that fill them; reports about them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ._native import Callback, Stop, Struct, checked, dtype_number, ffi, interruptible, lib, op_number, owned, progress_of, text, to_dict
from ._problem import Problem
from ._program import PATH
from ._space import Config, configs as space_configs, problem_list
from ._table import Table

_OUTCOMES = [text(lib.kw_outcome_name(i)) for i in range(lib.KW_OUTCOME_COUNT)]


def _row_dtype() -> Any:
    """A row's members as NumPy sees them in its bytes: as the compiler laid them out."""
    import numpy

    kinds = {"double": "f8", "int32_t": "i4", "int64_t": "i8", "int": "i4", "long": "i8", "bool": "?", "_Bool": "?"}

    def fields(kind: Any, base: int = 0) -> list[tuple[str, Any, int]]:
        found: list[tuple[str, Any, int]] = []
        for name, field in ffi.typeof(kind).fields:
            at, of = base + field.offset, field.type
            if of.kind == "struct":
                found += fields(of.cname, at)
            elif of.kind == "array" and of.item.cname == "char":
                found.append((name, f"S{of.length}", at))
            elif of.kind == "array":
                found += [(f"{name.removesuffix('_ns')}{i}_ns", kinds[of.item.cname], at + i * ffi.sizeof(of.item)) for i in range(of.length)]
            else:
                found.append((name, "u4" if of.kind == "enum" else kinds[of.cname], at))
        return found

    names, formats, offsets = zip(*fields("kw_row"))
    return numpy.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof("kw_row")})


class Store:
    """Rows of measurements in one file. Adding is a union: the same row twice is one row. A store belongs to one thread at a time.

    Parameters
    ----------
    path : str or path
    write : bool
        Open for writing; made if missing.
    """

    def __init__(self, path: str | os.PathLike[str], *, write: bool = False) -> None:
        self.path = os.fspath(path)
        self._c: Any = None
        out = ffi.new("kw_store **")
        checked(lib.kw_store_open, out, self.path.encode(), lib.KW_STORE_WRITE if write else lib.KW_STORE_READ)
        self._c = out[0]

    def close(self) -> None:
        """Close the file. A closed store answers nothing."""
        if self._c:
            lib.kw_store_close(ffi.new("kw_store **", self._c))
            self._c = None

    __del__ = close

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _open(self) -> Any:
        if not self._c:
            raise ValueError(f"store {self.path} is closed")
        return self._c

    def __repr__(self) -> str:
        if not self._c:
            return f"<Store {self.path}, closed>"
        n = self.counts
        return f"<Store {self.path}: {n['rows']} rows of {n['problems']} problems, {n['configs']} kernels>"

    def __len__(self) -> int:
        return self.counts["rows"]

    @property
    def counts(self) -> dict[str, Any]:
        """Rows, targets, problems, configs, runs, bytes; outcome: rows by outcome."""
        counts = ffi.new("kw_store_counts *")
        checked(lib.kw_store_count, self._open, counts)
        facts = to_dict(counts)
        facts["outcome"] = dict(zip(_OUTCOMES, facts["outcome"]))
        return facts

    @property
    def id(self) -> str:
        """The file's identity."""
        return text(lib.kw_store_id(self._open))

    def rows(
        self,
        *,
        op: str | None = None,
        dtype: str | None = None,
        outcome: str | None = None,
        target: str | None = None,
        problem: str | Problem | None = None,
        config: str | Config | None = None,
        run: str | None = None,
        answers: bool = False,
    ) -> Table:
        """Rows as a table of NumPy columns, in an order that every store with these rows has.

        Parameters
        ----------
        op, dtype, outcome, target, problem, config, run : str, optional
            Only those.
        answers : bool
            One row, the best there is, for each target, problem, kernel and way of timing.

        Returns
        -------
        Table
        """
        import numpy

        filter = self._filter(op, dtype, outcome, target, problem, config, run, answers)
        size, chunks = ffi.sizeof("kw_row"), bytearray()
        callback = Callback(lambda row: chunks.extend(ffi.buffer(row, size)))
        checked(lib.kw_store_visit, self._open, filter.c, lib.kwpy_row, callback.handle)
        callback.ended()
        rows = numpy.frombuffer(bytes(chunks), _row_dtype())
        columns: dict[str, Any] = {}
        for name in rows.dtype.names:
            column = rows[name]
            if name == "outcome":
                column = numpy.array(_OUTCOMES)[column]
            elif column.dtype.kind == "S":
                column = numpy.char.decode(column, "utf-8", "replace")
            columns[name] = numpy.ascontiguousarray(column)
        return Table(columns)

    @staticmethod
    def _filter(
        op: Any = None, dtype: Any = None, outcome: Any = None, target: Any = None, problem: Any = None, config: Any = None, run: Any = None,
        answers: bool = False,
    ) -> Struct:  # fmt: skip
        if outcome is not None and outcome not in _OUTCOMES:
            raise ValueError(f"outcome {outcome!r} is not known; use one of: {' '.join(_OUTCOMES)}")
        return Struct(
            "kw_row_filter",
            by_op=op is not None,
            op=None if op is None else op_number(op),
            by_dtype=dtype is not None,
            dtype=None if dtype is None else dtype_number(dtype),
            by_outcome=outcome is not None,
            outcome=None if outcome is None else _OUTCOMES.index(outcome),
            target=target,
            problem=None if problem is None else str(Problem(problem)),
            config=None if config is None else str(config),
            run=run,
            answers=answers,
        )

    @property
    def runs(self) -> Table:
        """What each process that measured said of itself."""
        found: list[dict[str, Any]] = []
        callback = Callback(lambda run: found.append(to_dict(run)))
        checked(lib.kw_store_visit_runs, self._open, lib.kwpy_run, callback.handle)
        callback.ended()
        return Table.of(found, [f for f, _ in ffi.typeof("kw_run").fields])

    def drop(self, **which: Any) -> int:
        """Drop the rows that ``rows`` with these words would give; how many."""
        dropped = ffi.new("int64_t *")
        checked(lib.kw_store_drop, self._open, self._filter(**which).c, dropped)
        return dropped[0]

    def export(self, path: str | os.PathLike[str], format: str = "jsonl", **which: Any) -> dict[str, Any]:  # noqa: A002
        """Write rows as "jsonl", "csv" or "seed-csv"; names ending in .gz are compressed."""
        report = ffi.new("kw_export_report *")
        checked(lib.kw_store_export, self._open, self._filter(**which).c, format.encode(), os.fspath(path).encode(), report)
        return to_dict(report)

    def import_(self, path: str | os.PathLike[str], format: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Read rows; what cannot be true is refused and counted. format: as in ``export``, "ck-json" or "ck-log"; as the file says if not said."""
        report = ffi.new("kw_import_report *")
        word = format.encode() if format else ffi.NULL
        checked(lib.kw_store_import, self._open, word, os.fspath(path).encode(), ffi.NULL, report)
        return to_dict(report)

    def check(self) -> None:
        """Look at every page; a damaged file raises MalformedError."""
        checked(lib.kw_store_check, self._open)

    def summary(self, baseline: str | None = None) -> str:
        """The report in short, as text."""
        return report(self.path, baseline=baseline)


def merge(out: str, inputs: Iterable[str], *, manifest: str | None = None, next: str | None = None) -> dict[str, Any]:  # noqa: A002
    """Add stores and segments to a store, and say what is missing of a manifest."""
    facts = ffi.new("kw_merge_report *")
    strings = [ffi.new("char[]", os.fspath(i).encode()) for i in inputs]

    def word(value: str | None) -> Any:
        return value.encode() if value else ffi.NULL

    checked(lib.kw_merge, os.fspath(out).encode(), ffi.new("char *[]", strings), len(strings), word(manifest), word(next), facts)
    return to_dict(facts)


def report(store: str, html: str | None = None, *, baseline: str | None = None, title: str | None = None) -> str:
    """What a store says: in short as text, and where html names a file, as one page that opens offline.

    Parameters
    ----------
    store : str
        Its path.
    html : str, optional
        Where to write the page.
    baseline : str, optional
        A second store to compare with.
    title : str, optional

    Returns
    -------
    str
    """
    options = Struct("kw_report_options", baseline=baseline, title=title)
    if html:
        checked(lib.kw_report_html, os.fspath(store).encode(), os.fspath(html).encode(), options.c)
    return owned(lib.kw_report_text, os.fspath(store).encode(), options.c)


def verdicts(store: str, *, baseline: str | None = None, slack: float = 0.0) -> Table:
    """Each problem of a store with its best kernel, and with a baseline how it stands to that: SAME, FAST, SLOW or LOST."""
    options = Struct("kw_report_options", baseline=baseline, slack=slack)
    found: list[dict[str, Any]] = []

    def visit(line: Any) -> None:
        facts = to_dict(line)
        facts["verdict"] = text(lib.kw_verdict_name(line.verdict))
        found.append(facts)

    callback = Callback(visit)
    checked(lib.kw_report_visit, os.fspath(store).encode(), options.c, lib.kwpy_report_line, callback.handle)
    callback.ended()
    return Table.of(found, [f for f, _ in ffi.typeof("kw_report_line").fields])


def sweep(
    kernels: str | Iterable[str | Config],
    given: str | Problem | Iterable[str | Problem],
    *,
    out: str,
    devices: str = "cpu",
    dtype: str | None = None,
    threads: int | None = None,
    jobs: int | None = None,
    cache_dir: str | None = None,
    batches: int | None = None,
    cold: bool = False,
    fresh_weights: bool = False,
    exhaustive: bool = False,
    verify_only: bool = False,
    seed: int | None = None,
    budget_s: float | None = None,
    kernel_s: float | None = None,
    shard: tuple[int, int] | None = None,
    overwrite: bool = False,
    count_only: bool = False,
    progress: Any = None,
    log: Any = None,
) -> dict[str, Any]:
    """Measure every kernel on every problem into a store, in processes of their own. What has a row is skipped. Ctrl-C leaves a consistent store.

    Parameters
    ----------
    kernels : str or iterable of str or Config
        The name of a rule set for this machine's CPU, or the configs.
    given : str, Problem or iterable of them
        A problem, the name of a list, or several.
    out : str
        A store, or a segment when it ends in .jsonl.
    devices : str
        ``"cpu"``; several with commas.
    dtype : str, optional
        Of a list's problems that do not say theirs.
    threads, jobs, cache_dir, batches, cold, fresh_weights, exhaustive, verify_only, seed, budget_s, kernel_s
        As of ``kwright sweep``.
    shard : (int, int), optional
        Part (from 0) and how many parts.
    overwrite : bool
        Drop the rows of these pairs first.
    count_only : bool
        Only say what there is to do.
    progress : bool or callable, optional
    log : callable, optional
        Gets each remark.

    Returns
    -------
    dict
        pairs, skipped, outcome (rows by outcome), built, cached, workers_lost, stopped, spent, wall_s, kernel_s, build_s.
    """
    lines = [str(c) for c in (space_configs(set=kernels) if isinstance(kernels, str) else kernels)]
    wanted = problem_list(given, dtype)
    array = ffi.new("kw_problem[]", len(wanted))
    for i, problem in enumerate(wanted):
        array[i] = problem._c[0]
    stop = Stop()
    facts = ffi.new("kw_sweep_report *")
    with progress_of(progress, stop, "pair") as shown:
        shown.line = log
        options = Struct(
            "kw_sweep_options",
            configs=lines,
            config_count=len(lines),
            problems=array,
            problem_count=len(wanted),
            out=os.fspath(out),
            command="kernelwright.sweep",
            overwrite=overwrite,
            count_only=count_only,
            stop=stop.c,
            progress=lib.kwpy_sweep_progress if progress else None,
            user=shown.handle,
        )
        for part, members in (
            ("workers", dict(devices=devices, program=PATH, threads=threads)),
            ("build", dict(cache_dir=cache_dir, jobs=jobs)),
            ("timing", dict(batches=batches, cold=cold, fresh_weights=fresh_weights, exhaustive=exhaustive, verify_only=verify_only, seed=seed)),
            ("limits", dict(kernel_s=kernel_s, budget_s=budget_s)),
            ("shard", dict(index=shard[0], count=shard[1]) if shard else {}),
        ):
            for name, value in members.items():
                if value is not None:
                    setattr(getattr(options.c, part), name, options.convert(value))
        if log:
            options.c.log = lib.kwpy_line
        interruptible(checked, lib.kw_sweep, options.c, facts, stop=stop)
    said = to_dict(facts)
    said["outcome"] = dict(zip(_OUTCOMES, said["outcome"]))
    return said
