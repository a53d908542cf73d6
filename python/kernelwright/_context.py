"""Contexts: a device and all state."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ._native import Callback, Stop, Struct, checked, dtype_number, ffi, interruptible, lib, progress_of, text, to_dict
from ._plan import Plan, make_plan
from ._problem import Problem
from ._toolchain import announce


class _Handle:
    """The C context; plans and registries hold it, so that it closes behind the last of them.

    What ends in a cycle ends in any order, so it is the one that owns registries: whoever goes first takes them along.
    """

    def __init__(self, device: str, options: Struct, kept: list[Any]) -> None:
        announce(device)
        out = ffi.new("kw_context **")
        checked(lib.kw_context_open, out, device.encode(), options.c)
        self.c, self._kept = out[0], kept
        self._registries: set[Any] = set()

    def registry(self) -> Any:
        """A new C registry of this context."""
        out = ffi.new("kw_registry **")
        checked(lib.kw_registry_create, out, self.c)
        self._registries.add(out[0])
        return out[0]

    def end_registry(self, c: Any) -> None:
        """Destroy one, unless that is done."""
        if c in self._registries:
            self._registries.discard(c)
            lib.kw_registry_destroy(ffi.new("kw_registry **", c))

    def __del__(self) -> None:
        for registry in list(getattr(self, "_registries", ())):
            self.end_registry(registry)
        if getattr(self, "c", None):
            out = ffi.new("kw_context **", self.c)
            lib.kw_context_close(out)


def mode_number(mode: str | None) -> int:
    """kw_mode by its word."""
    words = {None: 0, "frozen": lib.KW_FROZEN, "predict": lib.KW_PREDICT, "shortlist": lib.KW_SHORTLIST, "exhaustive": lib.KW_EXHAUSTIVE}
    if mode not in words:
        raise ValueError(f"mode {mode!r} is not known; use frozen, predict, shortlist or exhaustive")
    return words[mode]


class Context:
    """A device and what is known of it: its compiler, cache and wisdom. Many threads may use one.

    Parameters
    ----------
    device : str
        ``"cpu"``, ``"cuda:0"``, ``"hip:0"``, or a GPU that the CPU plays, ``"emu:sm_90"``.
    threads : int, optional
        That a kernel may use; all cores of the process if not said.
    cache_dir, data_dir, wisdom_file, compiler, model : str, optional
        As KW_CACHE_DIR, KW_DATA_DIR, KW_WISDOM, KW_CC and KW_MODEL, which they beat. An empty wisdom_file keeps wisdom in memory.
    log : callable, optional
        Called with each remark, a line, from any thread.
    """

    def __init__(
        self,
        device: str = "cpu",
        *,
        threads: int | None = None,
        cache_dir: str | None = None,
        data_dir: str | None = None,
        wisdom_file: str | None = None,
        compiler: str | None = None,
        model: str | None = None,
        log: Callable[[str], Any] | None = None,
    ) -> None:
        self._stop = Stop()
        self._log = Callback(None)
        self._log.line = log
        options = Struct(
            "kw_context_options",
            threads=threads,
            cache_dir=cache_dir,
            data_dir=data_dir,
            wisdom_file=wisdom_file,
            compiler=compiler,
            model=model,
            stop=self._stop.c,
        )
        if log:
            options.c.log, options.c.user = lib.kwpy_line, self._log.handle
        self.device = device
        self._handle = _Handle(device, options, [options, self._stop, self._log])

    @property
    def _c(self) -> Any:
        return self._handle.c

    def __repr__(self) -> str:
        return f"<Context {self.device}: {self.target}>"

    @property
    def target(self) -> str:
        """The device's facts in one line of text."""
        return text(lib.kw_context_target(self._c))

    @property
    def product(self) -> str:
        """The device for people: its product and driver."""
        return text(lib.kw_context_device(self._c))

    @property
    def arch(self) -> str:
        """Its architecture: ``x86-64-v4``, ``sm_90``."""
        return self.target.split(" ", 1)[0].split(":", 1)[1]

    @property
    def is_gpu(self) -> bool:
        """Whether its kernels are those of a GPU, its own or one that is played."""
        return lib.kw_context_is_gpu(self._c)

    @property
    def compiler(self) -> str:
        """What compiles kernels; "" where nothing does."""
        return text(lib.kw_context_compiler(self._c))

    @property
    def paths(self) -> dict[str, Any]:
        """The places in use and what the cache holds."""
        out = ffi.new("kw_paths *")
        checked(lib.kw_context_paths, out, self._c)
        return to_dict(out[0])

    def peak(self, dtype: str = "fp32") -> float:
        """FLOP/s that the device reaches at most in a type, with the context's threads; measured when first asked for. 0 where it is unknown."""
        return lib.kw_context_peak(self._c, dtype_number(dtype))

    @property
    def bandwidth(self) -> float:
        """Bytes a second that one thread reads from memory at most, on a GPU a copy reads and writes; measured when first asked for. 0: unknown."""
        return lib.kw_context_bandwidth(self._c)

    def plan(
        self,
        problem: str | Problem,
        *,
        mode: str | None = None,
        registry: Any = None,
        workspace_max: int | None = None,
        shortlist: int | None = None,
        frozen_is_error: bool = False,
        remeasure: bool = False,
        fresh_weights: bool = False,
        progress: Any = None,
    ) -> Plan:
        """Choose the kernel of a problem: from wisdom, else as the mode says.

        Parameters
        ----------
        problem : str or Problem
        mode : {"frozen", "predict", "shortlist", "exhaustive"}, optional
            How patient: KW_MODE, else "shortlist", which measures the best few once and remembers the winner.
        registry : Registry, optional
            The kernels to choose from; the default set if not said.
        workspace_max : int, optional
            Bytes; 0 for none at all.
        shortlist : int, optional
            Candidates that are measured.
        frozen_is_error : bool
            A miss in mode frozen raises NoKernelError; else the reference kernel answers.
        remeasure : bool
            Measure even when wisdom has an answer.
        fresh_weights : bool
            w changes from run to run, as in training.
        progress : bool or callable, optional
            True shows a bar; a callable gets a dictionary.

        Returns
        -------
        Plan
        """
        wanted = problem if isinstance(problem, Problem) else Problem(problem)
        with progress_of(progress, self._stop) as shown:
            options = Struct(
                "kw_plan_options",
                mode=mode_number(mode),
                workspace_max=None if workspace_max is None else workspace_max or lib.KW_WORKSPACE_NONE,
                shortlist=shortlist,
                frozen_is_error=frozen_is_error,
                remeasure=remeasure,
                fresh_weights=fresh_weights,
                registry=None if registry is None else registry._c,
                progress=lib.kwpy_progress if progress else None,
                user=shown.handle,
            )
            out = ffi.new("kw_plan **")
            interruptible(checked, lib.kw_plan_create, out, self._c, wanted._c, options.c, stop=self._stop)
        return make_plan(self._handle, out[0], wanted, self.device, self._source_arch())

    def _source_arch(self) -> str:
        return ("emu:" if self.device.startswith("emu") else "") + self.arch


_contexts: dict[str, Context] = {}
_lock = threading.Lock()


def context(device: str = "cpu") -> Context:
    """The context that is shared by all who name only a device."""
    with _lock:
        if device not in _contexts:
            _contexts[device] = Context(device)
        return _contexts[device]


def plan(problem: str | Problem, *, device: str | Context = "cpu", **options: Any) -> Plan:
    """Choose the kernel of a problem on a device; ``Context.plan`` has the options.

    Examples
    --------
    >>> import numpy as np
    >>> p = plan("gemm fp32 rrr m2 n2 k2", mode="frozen")
    >>> p(np.eye(2, dtype="f4"), np.ones((2, 2), "f4"))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    where = device if isinstance(device, Context) else context(device)
    return where.plan(problem, **options)
