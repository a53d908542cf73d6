"""The C library by cffi: calls that raise, structs as dictionaries, callbacks, and calls that Ctrl-C ends."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _ffi
from ._errors import Error, MissingError, failure

ffi: Any = _ffi.ffi
lib: Any = _ffi.lib


def text(c: Any) -> str:
    """A C string; "" for NULL."""
    return ffi.string(c).decode("utf-8", "replace") if c else ""


def checked(function: Callable[..., int], *args: Any) -> None:
    """Call a function whose last parameter is kw_error *, and raise what it reports."""
    err = ffi.new("kw_error *")
    status = function(*args, err)
    if status:
        raise failure(status, text(err.text))


def owned(function: Callable[..., int], *args: Any) -> str:
    """The text that a function makes in its first parameter."""
    out = ffi.new("char **")
    checked(function, out, *args)
    try:
        return text(out[0])
    finally:
        lib.kw_free(out[0])


class Struct:
    """A struct of the library with what it points to: strings and lists of strings are kept as long as it is.

    A member that is None or absent keeps its default.
    """

    def __init__(self, kind: str, **members: Any) -> None:
        self.c = ffi.new(f"{kind} *")
        self.kept: list[Any] = []
        fields = dict(ffi.typeof(kind).fields)
        if "size" in fields:
            self.c.size = ffi.sizeof(kind)
        for name, value in members.items():
            if value is not None:
                setattr(self.c, name, self.convert(value))

    def convert(self, value: Any) -> Any:
        """The C value of a Python one."""
        if isinstance(value, str):
            value = ffi.new("char[]", value.encode())
        elif isinstance(value, Struct):
            self.kept.append(value)
            return value.c
        elif isinstance(value, list) and all(isinstance(v, str) for v in value):
            strings = [ffi.new("char[]", v.encode()) for v in value]
            self.kept.append(strings)
            value = ffi.new("char *[]", strings)
        else:
            return value
        self.kept.append(value)
        return value


_NAMES = {
    "kw_outcome": lambda v: text(lib.kw_outcome_name(v)),
    "kw_op": lambda v: text(lib.kw_op_name(v)),
    "kw_dtype": lambda v: text(lib.kw_dtype_name(v)),
}
_FIELDS: dict[Any, list[tuple[str, Callable[[Any], Any]]]] = {}


def _same(value: Any) -> Any:
    return value


def _reader(kind: Any) -> Callable[[Any], Any]:
    if kind.kind == "array":
        return text if kind.item.cname == "char" else lambda v: [_reader(kind.item)(i) for i in v]
    if kind.kind == "pointer":
        return text if kind.item.cname in ("char", "char const") else _same
    if kind.kind == "enum":
        return _NAMES.get(kind.cname.removeprefix("enum "), _same)
    return to_dict if kind.kind == "struct" else _same


def to_dict(struct: Any) -> dict[str, Any]:
    """A struct by the names of its members; enumerators by the library's words."""
    kind = ffi.typeof(struct)
    kind = kind.item if kind.kind == "pointer" else kind
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = [(name, _reader(field.type)) for name, field in kind.fields if name != "size"]
    return {name: read(getattr(struct, name)) for name, read in fields}


def op_number(name: str) -> int:
    """kw_op by its word."""
    out = ffi.new("kw_op *")
    if not lib.kw_op_find(out, name.encode()):
        raise MissingError(f"operation {name!r} is not known; use one of: {text(lib.kw_op_names())}")
    return out[0]


def dtype_number(name: str) -> int:
    """kw_dtype by its word."""
    out = ffi.new("kw_dtype *")
    if not lib.kw_dtype_find(out, name.encode()):
        raise MissingError(f"type {name!r} is not known; use one of: {text(lib.kw_dtype_names())}")
    return out[0]


class Stop:
    """A request to end what is under way."""

    def __init__(self) -> None:
        self.c = ffi.new("kw_stop *")

    def request(self) -> None:
        """Ask for the end."""
        lib.kw_stop_request(self.c)

    def clear(self) -> None:
        """As if nobody had asked."""
        ffi.memmove(self.c, bytes(ffi.sizeof("kw_stop")), ffi.sizeof("kw_stop"))


class Callback:
    """A Python function that C calls with its handle. What it raises ends the visit, requests the stop and is raised by ``ended``."""

    def __init__(self, function: Callable[..., Any] | None, stop: Stop | None = None) -> None:
        self.function = function
        self.stop = stop
        self.line: Callable[[str], Any] | None = None  # gets remarks where they come with the same handle
        self.raised: BaseException | None = None
        self.handle = ffi.new_handle(self)

    def __call__(self, *args: Any) -> bool:
        if self.function is None or self.raised is not None:
            return self.raised is None
        try:
            return self.function(*args) is not False
        except BaseException as error:  # noqa: BLE001 - it is raised again on the other side of C
            self.fail(error)
            return False

    def fail(self, error: BaseException) -> None:
        """End the visit; ``ended`` raises that."""
        self.raised = error
        if self.stop:
            self.stop.request()

    def ended(self) -> None:
        """Raise what the function raised."""
        if self.raised is not None:
            raise self.raised


def _called(user: Any, *args: Any) -> bool:
    return ffi.from_handle(user)(*args)


def _told(user: Any, *args: Any) -> None:
    ffi.from_handle(user)(*args)


def _told_line(user: Any, line: Any) -> None:
    callback = ffi.from_handle(user)
    if callback.line:
        callback.line(text(line))


def _lost(kind: Any, error: BaseException, traceback: Any) -> None:
    """What is raised between C and the function, as by Ctrl-C at that moment, ends the visit too; cffi would print it and go on."""
    ffi.from_handle(traceback.tb_frame.f_locals["user"]).fail(error)


# What is given lives during the call only; whoever is called copies.
for _name in "config problem explanation prediction row run".split():
    ffi.def_extern(name=f"kwpy_{_name}", onerror=_lost)(_called)
for _name in "progress sweep_progress train_progress model wisdom device report_line missing about".split():
    ffi.def_extern(name=f"kwpy_{_name}", onerror=_lost)(_told)
ffi.def_extern(name="kwpy_line")(_told_line)


# A signal that the system hands to another thread does not end a wait of this one, in which alone Python answers it; so it looks up this often.
_SIGNAL_POLL_S = 0.1


def interruptible(function: Callable[..., Any], *args: Any, stop: Stop) -> Any:
    """Call what may take seconds so that Ctrl-C ends it: in another thread, while this one waits and then asks for the end."""
    if threading.current_thread() is not threading.main_thread():
        return function(*args)
    answer: list[Any] = []
    raised: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            answer.append(function(*args))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that asked
            raised.append(error)
        finally:
            done.set()

    worker = threading.Thread(target=work, name="kernelwright", daemon=True)
    worker.start()
    try:
        while not done.wait(_SIGNAL_POLL_S):
            pass
    except BaseException:
        stop.request()
        _wait_through(worker)
        stop.clear()
        raise
    worker.join()
    if raised:
        raise raised[0]
    return answer[0]


def _wait_through(worker: threading.Thread) -> None:
    """Until it has ended, whatever else is pressed."""
    while worker.is_alive():
        try:
            worker.join()
        except KeyboardInterrupt:
            continue


@contextmanager
def progress_of(progress: Any, stop: Stop, unit: str = "kernel") -> Iterator[Callback]:
    """A callback for the ``progress`` parameter: True for a bar or a line on the terminal, or a function of a dictionary."""
    shown = _Bar(unit) if progress is True else None
    function = None
    if progress:
        show = shown if shown else progress

        def function(struct: Any) -> None:
            show(to_dict(struct))

    callback = Callback(function, stop)
    try:
        yield callback
    except Error:
        if callback.raised is None:
            raise
    finally:
        if shown:
            shown.close()
        if callback.raised is not None:
            stop.clear()
    callback.ended()


class _Bar:
    """tqdm's bar where it is installed; else a line on a terminal, and nothing elsewhere."""

    def __init__(self, unit: str) -> None:
        self.unit, self.line = unit, False
        self.bar: Any = None
        self.tqdm: Any = None
        self.what: str | None = None
        try:
            from tqdm.auto import tqdm

            self.tqdm = tqdm
        except ImportError:
            pass

    def __call__(self, facts: dict[str, Any]) -> None:
        what = facts.get("what") or facts.get("phase")
        if self.tqdm:
            if what != self.what:
                self.close()
                self.what, self.bar = what, self.tqdm(total=facts["total"], desc=what, unit=self.unit)
            self.bar.update(facts["done"] - self.bar.n)
        elif sys.stderr.isatty():
            self.line = True
            print(f"\r{what} {facts['done']} of {facts['total']} \x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the bar or the line."""
        if self.bar:
            self.bar.close()
            self.bar = None
        if self.line:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.line = False
