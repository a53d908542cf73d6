"""Kernels: configs, the sets that rules declare, and registries to choose from."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ._context import Context, context
from ._errors import Error, MissingError
from ._native import Callback, Struct, checked, dtype_number, ffi, interruptible, lib, op_number, owned, progress_of, text, to_dict
from ._plan import Plan
from ._problem import Problem
from ._table import Table


class Config:
    """A kernel's whole name: family, operation, type and the value of each axis.

    Examples
    --------
    >>> c = configs(set="tiny", arch="gfx942")[0]
    >>> c.op in c.text and isinstance(c.axes, dict)
    True
    """

    __slots__ = ("text", "family", "op", "dtype")

    def __init__(self, line: str | Config) -> None:
        self.text = str(line)
        info = ffi.new("kw_config_info *")
        checked(lib.kw_config_info_read, info, self.text.encode())
        self.family = text(info.family)
        self.op = text(lib.kw_op_name(info.op))
        self.dtype = text(lib.kw_dtype_name(info.dtype))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Config({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def axes(self) -> dict[str, int | str]:
        """The value of each axis, a whole number or a word."""
        pairs = (word.split("=", 1) for word in self.text.split()[3:])
        return {name: int(value) if value.lstrip("-").isdigit() else value for name, value in pairs}

    def replace(self, **axes: int | str) -> Config:
        """The same kernel with other values of some axes; ``refusal`` and a registry say of values that they do not know.

        Parameters
        ----------
        **axes
            Values by the axes' names.

        Returns
        -------
        Config
        """
        for name in axes:
            if name not in self.axes:
                raise ValueError(f"{self.family} has no axis {name}; it has {', '.join(self.axes)}")
        values = " ".join(f"{name}={value}" for name, value in {**self.axes, **axes}.items())
        return Config(f"{self.family} {self.op} {self.dtype} {values}")

    def to_dict(self) -> dict[str, Any]:
        """Family, op, dtype and axes as one dictionary."""
        return {"family": self.family, "op": self.op, "dtype": self.dtype, **self.axes}

    def refusal(self, arch: str) -> str | None:
        """Why the kernel cannot be made for an architecture or does not run there: the rule and its reason; None when it can."""
        err = ffi.new("kw_error *")
        status = lib.kw_config_supported(self.text.encode(), arch.encode(), err)
        if status == lib.KW_MISSING:
            raise MissingError(text(err.text))
        return text(err.text) if status else None

    def source(self, arch: str = "") -> str:
        """The generated source, complete in itself; arch is needed for a GPU's kernel: ``"gfx942"``, ``"emu:gfx942"``."""
        return owned(lib.kw_config_source, self.text.encode(), arch.encode())


def _space(kept: list[Any], **options: Any) -> Struct:
    log = options.pop("log", None)
    struct = Struct("kw_space_options", **{name: value for name, value in options.items() if value is not None})
    if log:
        callback = Callback(None)
        callback.line = log
        kept.append(callback)
        struct.c.log, struct.c.user = lib.kwpy_line, callback.handle
    kept.append(struct)
    return struct


def configs(
    *,
    set: str | None = None,  # noqa: A002 - the word of the rules
    arch: str | None = None,
    config: str | None = None,
    filter: str | Callable[[Config], bool] | None = None,  # noqa: A002
    traits: str | None = None,
    rules_dir: str | None = None,
    builder_conf: str | None = None,
    limit: int | None = None,
) -> list[Config]:
    """The kernels that the rules declare.

    Parameters
    ----------
    set : str, optional
        A rule set, ``"tiny"``, ``"default"``, ``"full"``; ``names("set")`` lists them.
    arch : str, optional
        An architecture; that of this machine's CPU if not said.
    config : str, optional
        A config in which values may be ``*``; what it does not name is open.
    filter : str or callable, optional
        A Lua expression over c, ``"c.tile_m >= 128"``, or a function of a Config.
    traits, rules_dir, builder_conf : str, optional
        A trait file; a folder of rules; a folder with lists of CK Builder.
    limit : int, optional
        At most so many.

    Returns
    -------
    list of Config
    """
    kept: list[Any] = []
    lua = filter if isinstance(filter, str) else None
    options = _space(
        kept, set=set, arch=arch, config=config, filter=lua, traits=traits, rules_dir=rules_dir, builder_conf=builder_conf
    )
    found: list[Config] = []

    def visit(line: Any) -> bool:
        one = Config(text(line))
        if lua or filter is None or filter(one):  # type: ignore[operator]
            found.append(one)
        return limit is None or len(found) < limit

    callback = Callback(visit)
    checked(lib.kw_space_visit, options.c, lib.kwpy_config, callback.handle)
    callback.ended()
    return found


def names(kind: str, rules_dir: str | None = None) -> list[str]:
    """What the rules know: kind is ``"arch"``, ``"set"`` or ``"family"``."""
    return owned(lib.kw_space_names, kind.encode(), rules_dir.encode() if rules_dir else ffi.NULL).split()


def describe(family: str | None = None) -> str:
    """What a family is: summary, operations, types, axes and their meaning; a line for each where none is named."""
    return owned(lib.kw_family_describe, family.encode() if family else ffi.NULL)


def problems(list_name: str, *, op: str | None = None, dtype: str | None = None) -> list[tuple[str, Problem]]:
    """Names and problems of a list: the name of a set (``problem_sets()``), or a file.

    Parameters
    ----------
    list_name : str
    op, dtype : str, optional
        Of rows that do not say theirs.
    """
    ops, types = lib.KW_OP_COUNT, lib.KW_DTYPE_COUNT
    out: list[tuple[str, Problem]] = []

    def visit(name: Any, problem: Any) -> None:
        out.append((text(name), Problem._of(problem)))

    callback = Callback(visit)
    checked(
        lib.kw_problems_visit,
        list_name.encode(),
        ops if op is None else op_number(op),
        types if dtype is None else dtype_number(dtype),
        lib.kwpy_problem,
        callback.handle,
    )
    callback.ended()
    return out


def problem_sets() -> list[str]:
    """Names of the problem lists that are compiled in."""
    return owned(lib.kw_problems_names).split()


def problem_list(given: str | Problem | Iterable[str | Problem], dtype: str | None = None) -> list[Problem]:
    """Problems of a list's name, a line, or several of either."""
    if isinstance(given, Problem):
        return [given]
    if isinstance(given, str):
        if " " in given.strip():
            return [Problem(given)]
        return [problem for _, problem in problems(given, dtype=dtype)]
    return [Problem(p) for p in given]


class Registry:
    """Kernels to choose from, of one device.

    Parameters
    ----------
    device : str or Context
    configs : iterable of str or Config, optional
        What it begins with.
    """

    def __init__(self, device: str | Context = "cpu", configs: Iterable[str | Config] = ()) -> None:
        self.context = device if isinstance(device, Context) else context(device)
        self._handle = self.context._handle
        self._c = self._handle.registry()
        for config in configs:
            self.add(config)

    def __del__(self) -> None:
        if getattr(self, "_c", None):
            self._handle.end_registry(self._c)

    def __len__(self) -> int:
        return lib.kw_registry_count(self._c)

    def __getitem__(self, index: int) -> Config:
        position = index + len(self) if index < 0 else index
        c = lib.kw_registry_config(self._c, position) if position >= 0 else ffi.NULL
        if not c:
            raise IndexError(f"config {index} of {len(self)}")
        return Config(text(c))

    def __iter__(self) -> Iterator[Config]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Registry of {len(self)} kernels for {self.arch}>"

    @classmethod
    def from_json(cls, given: str, device: str | Context = "cpu") -> Registry:
        """A registry of the configs that ``to_json`` gave.

        Parameters
        ----------
        given : str
        device : str or Context

        Returns
        -------
        Registry
        """
        registry = cls(device)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(given)
            return registry.load(path)

    @property
    def arch(self) -> str:
        """The architecture of its device."""
        return text(lib.kw_registry_arch(self._c))

    def add(self, config: str | Config) -> Registry:
        """Add one kernel. One that is there already is no error."""
        checked(lib.kw_registry_add, self._c, str(config).encode())
        return self

    def add_default(self) -> Registry:
        """Add set default of its architecture and the reference kernels."""
        checked(lib.kw_registry_add_default, self._c)
        return self

    def add_reference(self, problem: str | Problem) -> Registry:
        """Add the reference kernel of a problem."""
        checked(lib.kw_registry_add_reference, self._c, Problem(problem)._c)
        return self

    def add_space(self, **options: Any) -> Registry:
        """Add what the rules declare; the options of ``configs``, with the registry's own architecture."""
        kept: list[Any] = []
        options.setdefault("arch", self.arch)
        checked(lib.kw_registry_add_space, self._c, _space(kept, **options).c)
        return self

    def load(self, path: str) -> Registry:
        """Add the configs of a catalog, of a JSON file, or of a list of CK's dispatcher in JSON; of kernels that cannot be made here a warning tells."""
        lines: list[str] = []
        callback = Callback(None)
        callback.line = lines.append
        checked(lib.kw_registry_load_any, self._c, str(path).encode(), lib.kwpy_line, callback.handle)
        for line in lines:
            warnings.warn(line, stacklevel=2)
        return self

    def to_json(self) -> str:
        """All configs as JSON, which ``from_json`` and ``load`` read."""
        return owned(lib.kw_registry_print_json, self._c)

    def save(self, path: str) -> None:
        """Write them as a JSON file, whole or not at all."""
        checked(lib.kw_registry_save_json, self._c, str(path).encode())

    def keep(self, rule: str | Callable[[Config], bool]) -> Registry:
        """Keep the kernels for which a Lua expression over c holds, or a function of a Config."""
        if isinstance(rule, str):
            checked(lib.kw_registry_filter, self._c, rule.encode())
            return self
        callback = Callback(lambda line: bool(rule(Config(text(line)))))
        checked(lib.kw_registry_keep, self._c, lib.kwpy_config, callback.handle)
        callback.ended()
        return self

    def refusal(self, index: int, problem: str | Problem) -> str | None:
        """Why kernel number index does not serve the problem: the rule; None when it does."""
        err = ffi.new("kw_error *")
        return text(err.text) if lib.kw_registry_fits(self._c, index, Problem(problem)._c, err) else None

    def serving(self, problem: str | Problem) -> list[int]:
        """Numbers of the kernels that serve the problem."""
        wanted = Problem(problem)
        return [i for i in range(len(self)) if not lib.kw_registry_fits(self._c, i, wanted._c, ffi.NULL)]

    def build(self, problem: str | Problem | None = None, *, jobs: int | None = None, progress: Any = None) -> dict[str, Any]:
        """Compile in parallel what is not in the cache yet.

        Parameters
        ----------
        problem : str or Problem, optional
            Only the kernels that serve it.
        jobs : int, optional
            Compilers at a time; one a core if not said.
        progress : bool or callable, optional

        Returns
        -------
        dict
            built, cached, failed, and what they cost of processor time.
        """
        wanted = None if problem is None else Problem(problem)
        report = ffi.new("kw_build_report *")
        stop = self.context._stop
        with progress_of(progress, stop) as shown:
            options = Struct(
                "kw_build_options",
                problem=wanted._c if wanted else None,
                jobs=jobs,
                progress=lib.kwpy_progress if progress else None,
                user=shown.handle,
            )
            interruptible(checked, lib.kw_registry_build, self._c, options.c, report, stop=stop)
        return to_dict(report)

    def measure(
        self, index: int, problem: str | Problem, *, time: bool = True, pack_weights: bool = False, seed: int | None = None
    ) -> dict[str, Any]:
        """Build, verify and time one kernel: its record. What goes wrong with the kernel is the record's outcome."""
        record = ffi.new("kw_record *")
        options = Struct("kw_measure_options", time=time, pack_weights=pack_weights, seed=seed)
        interruptible(checked, lib.kw_measure, record, self._c, index, Problem(problem)._c, options.c, stop=self.context._stop)
        return to_dict(record)

    def benchmark(self, problem: str | Problem, *, progress: Any = None, **options: Any) -> Table:
        """Measure every kernel that serves the problem, the fastest first, what failed last."""
        serving = self.serving(problem)
        self.build(problem, progress=progress)
        records = [self.measure(i, problem, **options) for i in serving]
        records.sort(key=lambda r: (r["outcome"] != "good", r["time_ns"]))
        return Table.of(records, [f for f, _ in ffi.typeof("kw_record").fields])

    def validate(self, problem: str | Problem) -> Table:
        """Verify every kernel that serves the problem against the reference, without timing it."""
        records = [self.measure(i, problem, time=False) for i in self.serving(problem)]
        return Table.of(records, [f for f, _ in ffi.typeof("kw_record").fields])

    def predict(self, problem: str | Problem) -> Table:
        """What each kernel that serves the problem is expected to take, best first, without running anything."""
        return predict(problem, registry=self)

    def select(self, problem: str | Problem, *, order: Callable[[Config], float] | None = None, **options: Any) -> Plan:
        """The plan of a problem by these kernels alone.

        Parameters
        ----------
        problem : str or Problem
        order : callable, optional
            A heuristic of your own: the kernel for which it is least is taken.
        **options
            Of ``Context.plan``.
        """
        chosen = self
        if order:
            serving = self.serving(problem)
            if serving:
                best = min(serving, key=lambda i: order(self[i]))
                chosen = Registry(self.context, [self[best]])
                options.setdefault("mode", "predict")
        return self.context.plan(problem, registry=chosen, **options)

    def run(self, problem: str | Problem, *arrays: Any, out: Any = None, **options: Any) -> Any:
        """Select and run: the tensors that are read, in the order x, w, y."""
        return self.select(problem, **options)(*arrays, out=out)


def predict(problem: str | Problem, *, registry: Registry | None = None, device: str | Context = "cpu", limit: int | None = None) -> Table:
    """What kernels are expected to take on a problem, best first, without running anything.

    Parameters
    ----------
    problem : str or Problem
    registry : Registry, optional
        The kernels; the device's default ones if not said.
    device : str or Context
    limit : int, optional
        At most so many.

    Returns
    -------
    Table
        config, expected_ns (by the model that serves), estimate_ns (by the analytic estimate), workspace, model, model_distance, notes.
    """
    where = registry.context if registry else device if isinstance(device, Context) else context(device)
    rows: list[dict[str, Any]] = []

    def visit(prediction: Any) -> bool:
        rows.append(to_dict(prediction))
        return limit is None or len(rows) < limit

    callback = Callback(visit)
    chosen = registry._c if registry else ffi.NULL
    checked(lib.kw_predictions_visit, where._c, Problem(problem)._c, chosen, lib.kwpy_prediction, callback.handle)
    callback.ended()
    return Table.of(rows, [f for f, _ in ffi.typeof("kw_prediction").fields])


def devices() -> list[dict[str, Any]]:
    """What there is to run on: each device with its facts and compiler, or why a backend has none."""
    rows: list[dict[str, Any]] = []
    callback = Callback(lambda entry: rows.append(to_dict(entry)))
    lib.kw_devices_visit(lib.kwpy_device, callback.handle)
    callback.ended()
    return rows


def tune(
    given: str | Problem | Iterable[str | Problem],
    *,
    device: str | Context = "cpu",
    mode: str = "shortlist",
    dtype: str | None = None,
    remeasure: bool = False,
    progress: Any = None,
    **options: Any,
) -> Table:
    """Find and remember the fastest kernel of each problem.

    Parameters
    ----------
    given : str, Problem or iterable of them
        A line, the name of a list, or several.
    device : str or Context
    mode, remeasure
        As in ``Context.plan``.
    dtype : str, optional
        Of a list's problems that do not say theirs.
    progress : bool or callable, optional
    **options
        Of ``Context.plan``.

    Returns
    -------
    Table
        problem, config, source (of the choice), time_ns, spread, candidates, error. A problem that fails says why and does not end the others.
    """
    where = device if isinstance(device, Context) else context(device)
    rows = []
    for problem in problem_list(given, dtype):
        row: dict[str, Any] = dict(problem=str(problem), config="", source="", time_ns=0.0, spread=0.0, candidates=0, error="")
        try:
            plan = where.plan(problem, mode=mode, remeasure=remeasure, progress=progress, **options)
        except Error as error:
            row["error"] = str(error)
        else:
            records = plan.records
            row.update(config=plan.config, source=plan.explain().source, candidates=len(records))
            if records:
                row.update(time_ns=records[0]["time_ns"], spread=records[0]["spread_ns"] / (records[0]["time_ns"] or 1))
        rows.append(row)
    return Table.of(rows)
