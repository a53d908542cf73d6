"""Models: training on rows, how good selections are, searching a space by prediction."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from ._errors import FailedError
from ._native import Stop, Struct, checked, dtype_number, ffi, interruptible, lib, op_number, owned, progress_of, text, to_dict
from ._problem import Problem
from ._program import PATH
from ._table import Table


def _stores(given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    return [os.fspath(given)] if isinstance(given, (str, os.PathLike)) else [os.fspath(s) for s in given]


def _which(op: str | None, dtype: str | None) -> dict[str, Any]:
    return dict(
        by_op=op is not None,
        op=None if op is None else op_number(op),
        by_dtype=dtype is not None,
        dtype=None if dtype is None else dtype_number(dtype),
    )


def _lightgbm() -> str | None:
    """LightGBM of this environment, where it is installed."""
    import importlib.util

    spec = importlib.util.find_spec("lightgbm")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = os.path.join(folder, "lib", "lib_lightgbm.so")
        if os.path.exists(path):
            return path
    return None


def train(
    stores: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str],
    op: str | None = None,
    dtype: str | None = None,
    quantity: str | None = None,
    features: str | None = None,
    holdout: Iterable[str] = (),
    folds: int | None = None,
    trees: int | None = None,
    leaves: int | None = None,
    rounds: int | None = None,
    threads: int | None = None,
    learning_rate: float | None = None,
    seed: int | None = None,
    max_bytes: int | None = None,
    warm_start: str | None = None,
    lightgbm: str | None = None,
    progress: Any = None,
    log: Any = None,
) -> dict[str, Any]:
    """Learn from measurements which kernel suits which problem, and write the model's folder.

    Parameters
    ----------
    stores : path or iterable of paths
        Stores, or exports of them.
    out : path
        The model's folder, made if missing.
    op, dtype : str, optional
        Only rows of this operation and type.
    quantity, features, folds, trees, leaves, rounds, threads, learning_rate, seed, max_bytes, warm_start
        As of ``kwright train``.
    holdout : iterable of str
        Problem lists that no row may be of.
    lightgbm : str, optional
        lib_lightgbm.so; that of this environment if not said.
    progress : bool or callable, optional
    log : callable, optional

    Returns
    -------
    dict
        What was read and how good selections of the model are on shapes and families that were left out.
    """
    paths, held = _stores(stores), list(holdout)
    stop, report = Stop(), ffi.new("kw_train_report *")
    with progress_of(progress, stop, "tree") as shown:
        shown.line = log
        options = Struct(
            "kw_train_options",
            stores=paths,
            store_count=len(paths),
            out=os.fspath(out),
            quantity=quantity,
            features=features,
            holdout=held or None,
            holdout_count=len(held),
            folds=folds,
            trees=trees,
            leaves=leaves,
            rounds=rounds,
            threads=threads,
            learning_rate=learning_rate,
            seed=seed,
            max_bytes=max_bytes,
            warm_start=warm_start,
            lightgbm=lightgbm or (None if "KW_LIGHTGBM" in os.environ else _lightgbm()),
            command="kernelwright.train",
            stop=stop.c,
            progress=lib.kwpy_train_progress if progress else None,
            log=lib.kwpy_line if log else None,
            user=shown.handle,
            **_which(op, dtype),
        )
        interruptible(checked, lib.kw_train, options.c, report, stop=stop)
    return to_dict(report)


class Evaluation:
    """How good a selector's choices are on measured problems. Made by ``evaluate``."""

    def __init__(self, c: Any, by: str) -> None:
        self._c, self.by = c, by

    def __del__(self) -> None:
        if getattr(self, "_c", None):
            lib.kw_evaluation_close(ffi.new("kw_evaluation **", self._c))

    def __str__(self) -> str:
        return owned(lib.kw_evaluation_text, self._c)

    def __repr__(self) -> str:
        f = self.figures
        return f"<Evaluation by {self.by}: mean efficiency {f['mean']['value']:.4f} of {f['problem_groups']} problem groups>"

    @property
    def figures(self) -> dict[str, Any]:
        """Each figure with its 95 % interval: value, low, high."""
        return to_dict(lib.kw_evaluation_all(self._c))

    def to_dict(self) -> dict[str, Any]:
        """Every figure of every slice."""
        return json.loads(owned(lib.kw_evaluation_json, self._c))

    def csv(self, path: str | os.PathLike[str]) -> None:
        """One line a problem group."""
        checked(lib.kw_evaluation_csv, os.fspath(path).encode(), self._c)

    def html(self, path: str | os.PathLike[str], *beside: Evaluation, title: str | None = None) -> None:
        """One page that opens offline, about this one beside others of the same stores."""
        all_of = ffi.new("kw_evaluation *[]", [e._c for e in (self, *beside)])
        checked(
            lib.kw_evaluations_html, os.fspath(path).encode(), all_of, 1 + len(beside), Struct("kw_report_options", title=title).c
        )

    def validate(
        self,
        *,
        limit: int | None = None,
        out: str | None = None,
        devices: str = "cpu",
        threads: int | None = None,
        batches: int | None = None,
        seed: int | None = None,
        progress: Any = None,
    ) -> dict[str, Any]:
        """Measure selections and fastest kernels again, and say whether what the old rows claim still holds."""
        stop, report = Stop(), ffi.new("kw_validate_report *")
        with progress_of(progress, stop, "pair") as shown:
            options = Struct(
                "kw_validate_options",
                limit=limit,
                out=out,
                seed=seed,
                batches=batches,
                command="kernelwright.validate",
                stop=stop.c,
                progress=lib.kwpy_sweep_progress if progress else None,
                user=shown.handle,
            )
            for name, value in dict(devices=devices, program=PATH, threads=threads).items():
                if value is not None:
                    setattr(options.c.workers, name, options.convert(value))
            interruptible(checked, lib.kw_validate, self._c, options.c, report, stop=stop)
        return to_dict(report)


def evaluate(
    stores: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    by: str | os.PathLike[str] = "estimate",
    folds: str | None = None,
    candidates: str | None = None,
    op: str | None = None,
    dtype: str | None = None,
    holdout: Iterable[str] = (),
    in_sample: bool = False,
    seed: int | None = None,
) -> Evaluation:
    """How good the selections of a model, or of another selector, are.

    Parameters
    ----------
    stores : path or iterable of paths
    by : path
        "estimate", "random", "single", a model's folder, or a file of held-out predictions (oof.csv.gz).
    folds : {"shape", "family"}, optional
        Of held-out predictions.
    candidates : str, optional
        A catalog whose kernels are candidates where they have no row, too.
    op, dtype, holdout, in_sample, seed
        As of ``kwright evaluate``.

    Returns
    -------
    Evaluation
    """
    paths, held = _stores(stores), list(holdout)
    out = ffi.new("kw_evaluation **")
    options = Struct(
        "kw_evaluation_options",
        stores=paths,
        store_count=len(paths),
        by=os.fspath(by),
        folds=folds,
        candidates=candidates,
        holdout=held or None,
        holdout_count=len(held),
        in_sample=in_sample,
        seed=seed,
        **_which(op, dtype),
    )
    interruptible(checked, lib.kw_evaluation_open, out, options.c, stop=Stop())
    return Evaluation(out[0], os.fspath(by))


class Comparison:
    """Two selectors on the same problem groups. Made by ``compare``."""

    def __init__(self, a: Evaluation, b: Evaluation) -> None:
        self._c, self._a, self._b = ffi.new("kw_comparison *"), a, b
        checked(lib.kw_evaluations_compare, self._c, a._c, b._c)

    def __str__(self) -> str:
        return owned(lib.kw_comparison_text, self._c, self._a._c, self._b._c)

    @property
    def figures(self) -> dict[str, Any]:
        """agreed, better, same, worse, both selectors' figures, and what the second loses at worst."""
        return to_dict(self._c)

    def accept(self, *, mean: float | None = None, median: float | None = None, p10: float | None = None, one: float | None = None) -> bool:
        """Whether the second keeps what it must of the first; ``fault`` then says which criterion it misses."""
        self.fault = ""
        try:
            checked(lib.kw_comparison_accept, self._c, Struct("kw_acceptance", mean=mean, median=median, p10=p10, one=one).c)
        except FailedError as error:
            self.fault = str(error)
        return not self.fault


def compare(a: Evaluation, b: Evaluation) -> Comparison:
    """Hold a new selector against a base on the same rows."""
    return Comparison(a, b)


_METHODS = {"evolve": "KW_SEARCH_EVOLVE", "random": "KW_SEARCH_RANDOM", "all": "KW_SEARCH_ALL"}


def search(
    problem: str | Problem,
    *,
    model: str | None = None,
    set: str | None = None,  # noqa: A002 - the word of the rules
    arch: str | None = None,
    filter: str | None = None,  # noqa: A002
    target: str | None = None,
    threads: int | None = None,
    method: str = "evolve",
    budget: int | None = None,
    top: int | None = None,
    seed: int | None = None,
) -> Table:
    """Good kernels of a whole space by prediction alone.

    Parameters
    ----------
    problem : str or Problem
    model : str, optional
        A model's folder; the analytic estimate if not said.
    set, arch, filter : str, optional
        The space; set "full" of this machine's CPU if not said.
    target, threads
        As of ``kwright search``.
    method : {"evolve", "random", "all"}
    budget, top, seed : int, optional
        Kernels to look at (500), kernels to give (10).

    Returns
    -------
    Table
        config, predicted_ns, estimate_ns, best first.
    """
    if method not in _METHODS:
        raise ValueError(f"method {method!r} is not known; use evolve, random or all")
    wanted, report = Problem(problem), ffi.new("kw_search_report *")
    space = Struct("kw_space_options", set=set, arch=arch, filter=filter)
    options = Struct(
        "kw_search_options",
        problem=wanted._c,
        model=model,
        space=space,
        target=target,
        threads=threads,
        method=getattr(lib, _METHODS[method]),
        budget=budget,
        top=top,
        seed=seed,
    )
    interruptible(checked, lib.kw_search, options.c, report, stop=Stop())
    try:
        rows = [to_dict(report.results[i]) for i in range(report.count)]
    finally:
        lib.kw_free(report.results)
    return Table.of(rows, ["config", "predicted_ns", "estimate_ns"])


class Features:
    """What a model learns from, as NumPy arrays: one row a pair of kernel and problem. Made by ``features``.

    Attributes
    ----------
    values : numpy.ndarray
        Pairs by columns; NaN where a kernel's family has no such axis.
    columns : Table
        Name, group, unit and formula of each column; unit "code" is a category.
    label, time_ns, group, shape : numpy.ndarray
        Of each pair: what is learned, the time it is made from (0: its group has no good pair, and no label), its problem group (ascending, as
        trainers that rank want it), and a number that is the same for pairs which are to be left out together.
    outcome : list of str
        Of each pair's row.
    """

    def __init__(self, table: Any) -> None:
        import numpy

        view = lib.kw_training_table_view(table)
        pairs, columns = view.pairs, view.columns

        def array(pointer: Any, count: int, dtype: str) -> Any:
            size = count * numpy.dtype(dtype).itemsize
            return numpy.frombuffer(bytes(ffi.buffer(pointer, size)), dtype)

        self.values = array(view.values, pairs * columns, "f8").reshape(pairs, columns)
        self.label = array(view.label, pairs, "f4")
        self.time_ns = array(view.time_ns, pairs, "f8")
        self.group = array(view.group, pairs, "i8")
        self.shape = array(view.shape, pairs, "u8")
        self.outcome = [text(lib.kw_outcome_name(view.outcome[i])) for i in range(pairs)]
        self.columns = Table.of([to_dict(view.column[i]) for i in range(columns)])
        self._table = table

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        return f"<Features of {len(self)} pairs by {len(self.columns)} columns>"

    def pair(self, index: int) -> tuple[str, str]:
        """Problem and kernel of a row."""
        problem, config = ffi.new("char[]", lib.KW_PROBLEM_TEXT_MAX), ffi.new("char[]", lib.KW_CONFIG_TEXT_MAX)
        checked(lib.kw_training_pair_text, problem, config, self._table, index)
        return text(problem), text(config)

    def to_pandas(self) -> Any:
        """Columns by name, then label, time_ns, group, shape and outcome."""
        import pandas

        frame = pandas.DataFrame(self.values, columns=list(self.columns["name"]))
        return frame.assign(label=self.label, time_ns=self.time_ns, group=self.group, shape=self.shape, outcome=self.outcome)


def features(
    stores: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    op: str | None = None,
    dtype: str | None = None,
    quantity: str | None = None,
) -> Features:
    """Features and labels of rows, for a model of your own: those that ``train`` learns from.

    Parameters
    ----------
    stores : path or iterable of paths
        Stores, or exports of them.
    op, dtype : str, optional
        Only rows of this operation and type.
    quantity : str, optional
        Of the labels: ratio (if not said), relative, tflops, time, rank, latency, bandwidth.

    Returns
    -------
    Features
    """
    paths, out = _stores(stores), ffi.new("kw_training_table **")
    options = Struct("kw_training_options", stores=paths, store_count=len(paths), quantity=quantity, **_which(op, dtype))
    interruptible(checked, lib.kw_training_table_open, out, options.c, stop=Stop())
    return Features(ffi.gc(out[0], lambda table: lib.kw_training_table_close(ffi.new("kw_training_table **", table))))


def prune(
    stores: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    out: str | None = None,
    keep: float | None = None,
    worst: float | None = None,
    op: str | None = None,
    dtype: str | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """The fewest kernels that keep a share of the best; out is a catalog, or a rule set when it ends in .lua."""
    paths, report = _stores(stores), ffi.new("kw_prune_report *")
    options = Struct(
        "kw_prune_options",
        stores=paths,
        store_count=len(paths),
        keep=keep,
        worst=worst,
        out=out,
        command="kernelwright.prune",
        seed=seed,
        **_which(op, dtype),
    )
    checked(lib.kw_prune, options.c, report)
    facts = to_dict(report)
    facts["group"] = facts["group"][: facts.pop("groups")]
    return facts


def models(device: Any = "cpu") -> list[dict[str, Any]]:
    """Models that dispatch knows of, in the order in which they are preferred."""
    from ._context import Context, context
    from ._native import Callback

    where = device if isinstance(device, Context) else context(device)
    found: list[dict[str, Any]] = []

    def visit(model: Any) -> None:
        found.append({name: value for name, value in to_dict(model).items() if name in ("name", "folder", "distance", "rows", "problems", "fault")})

    callback = Callback(visit)
    checked(lib.kw_models_visit, where._c, lib.kwpy_model, callback.handle)
    callback.ended()
    return found
