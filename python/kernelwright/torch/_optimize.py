"""Models: each convolution and linear layer against PyTorch's own on this machine; what is faster is replaced, and only that."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from .._errors import Error
from .._kw import facts
from . import _functions, _steps
from ._layers import BACKWARD_DATA, BACKWARD_WEIGHT, FORWARD, TYPES, is_captured
from ._race import Race, race

_CONVS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_is_grad_enabled, _is_autocast_enabled, _is_compiling = torch.is_grad_enabled, torch.is_autocast_enabled, torch.compiler.is_compiling
_WORDS = {FORWARD: "forward", BACKWARD_DATA: "gradient of x", BACKWARD_WEIGHT: "gradient of w"}


@dataclass
class Row:
    """A layer in one direction, or as a whole: what was raced, how it went, and what follows."""

    problem: str
    layers: list[str]
    what: str
    race: Race | None
    taken: bool
    why: str


@dataclass
class Report:
    """What ``optimize`` did. ``str`` is a table; ``kept`` says whether any layer is replaced now, ``model`` is the whole model's race."""

    rows: list[Row] = field(default_factory=list)
    model: Race | None = None
    kept: bool = False
    why: str = ""

    def __str__(self) -> str:
        lines = [
            "| problem | layers | what | ours, us | PyTorch, us | ratio | noise | replaced | why |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for row in self.rows:
            r = row.race
            times = f"{r.ours_ns / 1e3:.1f} | {r.theirs_ns / 1e3:.1f} | {r.ratio:.3f} | {r.noise:.3f}" if r else "| | |"
            lines.append(f"| {row.problem} | {len(row.layers)} | {row.what} | {times} | {'yes' if row.taken else 'no'} | {row.why} |")
        lines.append("")
        lines.append(self.why)
        return "\n".join(lines)


def _where(module: Any) -> tuple[Any, ...] | str:
    """Stride, padding, dilation and groups; or why they are not ours to do."""
    if module.padding_mode != "zeros":
        return f"padding by {module.padding_mode}"
    padding = module.padding
    if padding == "valid":
        padding = (0,) * len(module.stride)
    elif padding == "same":
        total = [d * (f - 1) for d, f in zip(module.dilation, module.kernel_size)]
        if any(t % 2 for t in total):
            return "padding that differs at the two edges"
        padding = tuple(t // 2 for t in total)
    return tuple(module.stride), tuple(padding), tuple(module.dilation), module.groups


def _kind(x: Tensor) -> tuple[Any, ...]:
    return x.dtype, x.device, tuple(x.shape), x.stride()


class _Site:
    """A module's forward in place of its class's own: ours for inputs of one kind, PyTorch's for all others."""

    def __init__(self, module: Any, x: Tensor, training: bool, graphs: bool) -> None:
        self.module, self.kind, self.training, self.graphs = module, _kind(x), training, graphs
        self.original: Callable[[Tensor], Tensor] = module.forward
        self.is_conv = isinstance(module, _CONVS)
        self.where: Any = _where(module) if self.is_conv else ()
        self.ours, self.on = 0, True
        self.state: tuple[Any, ...] | None = None
        self.quick: Callable[[Tensor], Tensor | None] | None = None
        self.trained: Callable[[Tensor], Tensor | None] | None = None

    def step(self, x: Tensor, ours: int, bias: bool = True) -> Any:
        """Its shapes' plans, with these directions ours."""
        w, b = self.module.weight, self.module.bias if bias else None
        if not self.is_conv:
            return _steps.linear_step(x, w, b, ours)
        stride, padding, dilation, groups = self.where
        return _steps.conv_step(x, w, b, stride, padding, dilation, groups, ours)

    def now(self, x: Tensor) -> tuple[Any, ...]:
        """Layer, plan and weights for inference as long as the weights are these: packed where the kernel wants it, but not for CUDA graphs, which
        would go on with what was packed."""
        w = self.module.weight
        state = self.state
        if state is None or state[0] is not w or state[1] != (w._version, w.data_ptr()):
            with torch.no_grad():
                layer = self.step(x, self.ours).layer
                direction, ready = layer.direction(FORWARD, packed=not self.graphs), layer.prepared(w.detach())
                if not self.graphs and direction.pack(ready):
                    ready = None
            state = self.state = (w, (w._version, w.data_ptr()), layer, direction, ready)
            self.quick = self.quick_call(x, *state)
        return state

    def quick_call(self, x: Tensor, weight: Tensor, mark: Any, layer: Any, direction: Any, ready: Tensor | None) -> Callable[[Tensor], Tensor | None]:
        """A call for inference with these weights and inputs of this kind, which looks at as little as it can; it gives None where all has to be looked
        at again. A layer of a GPU is often no longer than this."""
        parameters, plan, (version, address) = self.module._parameters, direction.plan, mark
        _, device, shape, _ = self.kind
        word, cuda, seen = device.type, device.type == "cuda", facts(x)
        rows = None if self.is_conv or x.dim() == 2 else ((layer.m, layer.k), (*shape[:-1], layer.n))
        if not x.is_contiguous(memory_format=layer.format):
            return lambda x: None
        second = ready.t() if ready is not None and not self.is_conv else ready
        along = (-1, *[1] * (x.dim() - 2)) if self.is_conv else (-1,)

        def call(x: Tensor) -> Tensor | None:
            w, b = parameters["weight"], parameters["bias"]
            if (
                w is not weight
                or w._version != version
                or w.data_ptr() != address
                or type(x) is not Tensor
                or facts(x) != seen
                or (_is_grad_enabled() and (x.requires_grad or w.requires_grad or (b is not None and b.requires_grad)))
                or _is_autocast_enabled(word)
                or _functions.watched()
                or (cuda and (x.data_ptr() % 16 or (ready is None and is_captured(device))))
            ):
                return None
            x = x if rows is None else x.view(rows[0])
            if direction.fused:
                y = plan(x, second, b)
            else:
                y = plan(x, second)
                if b is not None:
                    y += b.view(along)
            return y if rows is None else y.view(rows[1])

        return call

    def __call__(self, input: Tensor) -> Tensor:
        # The argument has the name that nn.Conv2d and nn.Linear give it: models call layers by it.
        if _is_compiling():
            return self.original(input)
        y = None
        if self.on:
            if self.trained is not None and _is_grad_enabled():
                y = self.trained(input)
            elif self.quick is not None and self.ours & FORWARD:
                y = self.quick(input)
        return y if y is not None else self.look(input)

    def trained_call(self, x: Tensor, step: Any) -> Callable[[Tensor], Tensor | None]:
        """The same for training, where weights always change and are taken as they are."""
        parameters, word = self.module._parameters, x.device.type
        seen = facts(x, parameters["weight"], parameters["bias"])

        def call(x: Tensor) -> Tensor | None:
            w, b = parameters["weight"], parameters["bias"]
            if facts(x, w, b) != seen or _functions.traced(x, w, b) or not _functions.wants_gradient(x, w, b) or _is_autocast_enabled(word):
                return None
            return _functions.with_gradients(x, w, b, step)

        return call

    def look(self, x: Tensor) -> Tensor:
        """A call of which nothing is known."""
        if not self.on or _kind(x) != self.kind or torch.is_autocast_enabled(x.device.type):
            return self.original(x)
        module = self.module
        w, b = module.weight, module.bias
        if _functions.traced(x, w, b):
            return self.original(x)
        if _functions.wants_gradient(x, w, b):
            if not self.training:
                return self.original(x)
            step = self.step(x, self.ours)
            self.trained = self.trained_call(x, step)
            return _functions.with_gradients(x, w, b, step)
        if not self.ours & FORWARD or w.is_inference() or (is_captured(x.device) and not self.is_captured_as_is(w)):
            return self.original(x)
        _, _, layer, direction, ready = self.now(x)
        return layer.run(direction, x, ready, b)

    def is_captured_as_is(self, w: Tensor) -> bool:
        """Whether a CUDA graph may hold ours: packed weights would stay what they were when it was captured, whatever becomes of w."""
        state = self.state
        return state is not None and state[0] is w and state[1] == (w._version, w.data_ptr()) and state[4] is not None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("state", "quick", "trained", "original")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, state=None, quick=None, trained=None)
        self.original = type(self.module).forward.__get__(self.module)

    def put(self) -> None:
        """Bind it to the module; its class, parameters and state_dict stay as they are."""
        self.module.forward = self
        self.module._kernelwright = self

    def remove(self) -> None:
        """PyTorch's own again."""
        self.module.__dict__.pop("forward", None)
        self.module.__dict__.pop("_kernelwright", None)


def restore(model: nn.Module) -> int:
    """Give every layer of a model PyTorch's own forward again.

    Parameters
    ----------
    model : torch.nn.Module

    Returns
    -------
    int
        How many were replaced.
    """
    sites = [m.__dict__["_kernelwright"] for m in model.modules() if "_kernelwright" in m.__dict__]
    for site in sites:
        site.remove()
    return len(sites)


@contextmanager
def _unsearched() -> Iterator[None]:
    """cuDNN takes its first kernel, for what is computed once: a search among those of fp64 takes longer than all the races."""
    before, torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark, False
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = before


def _off_by(y: Tensor, exact: Tensor, scale: Tensor) -> float:
    return ((y.double() - exact).abs() / scale).max().item()


def _is_as_right(ours: Tensor, theirs: Tensor, exact: Tensor, scale: Tensor, depth: int) -> bool:
    """Off the exact result by no more than twice what PyTorch's is off, or than rounding explains: of sums of so many products in fp32, about
    u sqrt(depth) of the sum of their absolute values (N. Higham, T. Mary, A new approach to probabilistic rounding error analysis), and of the result."""
    rounding = (torch.finfo(theirs.dtype).eps + torch.finfo(torch.float32).eps * depth**0.5) / 2
    return ours.shape == theirs.shape and _off_by(ours, exact, scale) <= max(2 * _off_by(theirs, exact, scale), rounding)


class _Trial:
    """One kind of layer, raced direction by direction."""

    def __init__(self, site: _Site, x: Tensor, wants_gx: bool, turns: int, min_gain: float) -> None:
        self.site, self.x, self.wants_gx, self.turns, self.min_gain = site, x, wants_gx, turns, min_gain
        self.rows: list[Row] = []

    def _race(self, ours: Callable[[], Any], theirs: Callable[[], Any]) -> Race:
        return race(ours, theirs, self.x.device, self.turns, self.site.graphs)

    def _apply(self, x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        if self.site.is_conv:
            s, p, d, g = self.site.where
            return torch.ops.aten.convolution(x, w, b, s, p, d, False, [0] * len(s), g)
        return nn.functional.linear(x, w, b)

    def _compare(self, direction: int, name: str, ours: Any, theirs: Any, right: Callable[[Tensor, Tensor], bool]) -> bool:
        problem = self.site.step(self.x, 7).layer.problem(direction)
        if not right(ours(), theirs()):
            self.rows.append(Row(problem, [], name, None, False, "the result is further off than the type's rounding"))
            return False
        r = self._race(ours, theirs)
        won = r.is_won(self.min_gain)
        why = "faster by more than noise" if won else "faster, but not by more than noise" if r.ratio < 1 else "slower"
        self.rows.append(Row(problem, [], name, r, won, why))
        return won

    def forward(self) -> int:
        """Inference: the module's call by either."""
        site, x = self.site, self.x
        w, b = site.module.weight.detach(), site.module.bias
        b = None if b is None else b.detach()
        with torch.no_grad():
            with _unsearched():
                exact = self._apply(x.double(), w.double(), None if b is None else b.double())
                scale = self._apply(x.double().abs(), w.double().abs(), None if b is None else b.double().abs()) + 1e-30
            site.ours = FORWARD
            site.now(x)
            won = self._compare(
                FORWARD, "forward", lambda: site(x), lambda: site.original(x), lambda a, c: _is_as_right(a, c, exact, scale, w[0].numel())
            )
        return FORWARD if won else 0

    def training(self) -> int:
        """All three directions, each against PyTorch's, then the layer as a whole with those that won."""
        site = self.site
        module = site.module
        w, x = module.weight.detach(), self.x
        both, ours = {7: site.step(x, 7, bias=False), 0: site.step(x, 0, bias=False)}, 0
        with torch.no_grad():
            gy = torch.randn_like(both[0].forward(x, w, None))

        def exact(a: Tensor, c: Tensor, e: Tensor) -> list[Tensor]:
            a, c = a.double().requires_grad_(), c.double().requires_grad_()
            y = self._apply(a, c, None)
            return [y.detach(), *torch.autograd.grad(y, (a, c), e.double())]

        with _unsearched():
            want, scale = exact(x, w, gy), [t + 1e-30 for t in exact(x.abs(), w.abs(), gy.abs())]
        depth = [w[0].numel(), w.numel() // w.shape[1], gy.numel() // gy.shape[1 if site.is_conv else -1]]
        directions: list[tuple[int, Callable[[int], Any]]] = [(FORWARD, lambda o: both[o].forward(x, w, None))]
        if self.wants_gx:
            directions.append((BACKWARD_DATA, lambda o: both[o].gradients(x, w, gy, (True, False, False))[0]))
        directions.append((BACKWARD_WEIGHT, lambda o: both[o].gradients(x, w, gy, (False, True, False))[1]))
        with torch.no_grad():
            for place, (direction, call) in enumerate(directions):
                at = place if self.wants_gx or place == 0 else 2
                right = partial(_is_as_right, exact=want[at], scale=scale[at], depth=depth[at])
                if self._compare(direction, _WORDS[direction], partial(call, 7), partial(call, 0), right):
                    ours |= direction
        if not ours:
            return 0
        site.ours, site.trained = ours, None
        leaf = x.detach().requires_grad_(self.wants_gx)
        wanted = [p for p in (leaf if self.wants_gx else None, module.weight, module.bias) if p is not None and p.requires_grad]
        if wanted:
            r = self._race(
                lambda: torch.autograd.grad(site(leaf), wanted, gy),
                lambda: torch.autograd.grad(site.original(leaf), wanted, gy),
            )
            won = r.is_won(self.min_gain)
            names = " and ".join(_WORDS[d] for d in _WORDS if ours & d)
            self.rows.append(Row(self.rows[0].problem, [], f"whole, with {names}", r, won, "faster by more than noise" if won else "not faster as a whole"))
            if won:
                return ours
            for row in self.rows[:-1]:
                row.taken, row.why = False, f"{row.why}; the layer as a whole is not" if row.taken else row.why
        return 0


def _record(model: nn.Module, example: tuple[Any, ...], wanted: Callable[[str, nn.Module], bool], training: bool) -> list[Any]:
    """Name, module, first input, and whether that needs a gradient, of each layer that one run calls."""
    calls: list[Any] = []
    hooks = []
    for name, module in model.named_modules():
        if isinstance(module, (*_CONVS, nn.Linear)) and wanted(name, module):

            def hook(m: nn.Module, args: Any, named: Any, name: str = name) -> None:
                x = args[0] if args else named.get("input")
                if isinstance(x, Tensor) and all(c[1] is not m for c in calls):
                    calls.append((name, m, x.detach().clone(memory_format=torch.preserve_format), x.requires_grad))

            hooks.append(module.register_forward_pre_hook(hook, with_kwargs=True))
    try:
        with torch.set_grad_enabled(training):
            model(*example)
    finally:
        for h in hooks:
            h.remove()
    return calls


def _refused(module: Any, x: Tensor) -> str:
    """Why a layer is left alone unraced; "" if it is not."""
    if type(module) not in (*_CONVS, nn.Linear):
        return f"class {type(module).__name__} may do something else"
    if "forward" in module.__dict__:
        return "its forward is replaced already"
    if nn.utils.parametrize.is_parametrized(module):
        return "its weights are parametrized"
    if module._parameters.get("weight") is None:
        return "its weights are made anew by a hook"
    if type(x) is not Tensor or x.dtype not in TYPES or module.weight.dtype != x.dtype:
        return f"elements are {x.dtype} and {module.weight.dtype}"
    if module.weight.device != x.device or x.device.type not in ("cpu", "cuda"):
        return f"lies on device {x.device}"
    if isinstance(module, _CONVS) and (x.dim() != len(module.stride) + 2 or isinstance(_where(module), str)):
        why = _where(module)
        return why if isinstance(why, str) else "has no axis of images"
    return "" if x.numel() else "has no elements"


def _loss(value: Any) -> Tensor:
    """Something to go backward from: the sum of squares of all that the model gives."""
    if isinstance(value, Tensor):
        return value.float().square().mean()
    values = value.values() if isinstance(value, dict) else value
    return sum((_loss(v) for v in values if isinstance(v, (Tensor, dict, list, tuple))), torch.zeros(()))


def optimize(
    model: nn.Module,
    *example: Any,
    mode: str = "inference",
    min_gain: float = 0.02,
    budget_s: float = 600,
    turns: int = 21,
    graphs: bool = False,
    filter_fn: Callable[[str, nn.Module], bool] | None = None,
) -> Report:
    """Replace those layers of a model that Kernelwright does faster on this machine, in place.

    Each Conv1d, Conv2d, Conv3d and Linear that one run with the example calls is raced against PyTorch's own operator, in turns, as the model would call it.
    A layer is replaced where ours is faster by more than noise and its results are off by no more than the type's rounding. Then the whole model is timed in
    turns with and without, and where it is not faster all is undone. Inputs of other shapes or types, autocast, subclasses and what is
    traced (torch.compile) get PyTorch's own, for it was not raced. Weights may change in place or by an optimizer, but not through ``.data``.

    Parameters
    ----------
    model : torch.nn.Module
    *example
        Inputs of a typical run.
    mode : {"inference", "training"}
        Forward alone, with weights packed as long as they do not change; or all three directions.
    min_gain : float
        The least share of time that has to be gained.
    budget_s : float
        Layers that come later than this are left alone.
    turns : int
        Of each race.
    graphs : bool
        Race replays of CUDA graphs, for a model that is run by them: what the host does for a call counts for nothing then. As PyTorch asks of
        whoever captures gradients, no result of an earlier run with gradients may be alive.
    filter_fn : callable, optional
        Given a layer's name and module; false leaves it alone.

    Returns
    -------
    Report
    """
    if mode not in ("inference", "training"):
        raise ValueError(f"mode {mode!r} is not known; use inference or training")
    if not isinstance(model, nn.Module):
        raise TypeError(f"model: a {type(model).__name__} is no torch.nn.Module")
    training, start = mode == "training", time.monotonic()
    buffers = {name: b.detach().clone() for name, b in model.named_buffers()}
    report, sites = Report(), []
    groups: dict[Any, list[Any]] = {}
    try:
        with torch.random.fork_rng(devices=list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []):
            calls = _record(model, example, filter_fn or (lambda name, module: True), training)
            for name, module, x, wants_gx in calls:
                why = _refused(module, x)
                if not why and graphs and x.device.type != "cuda":
                    why = f"lies on device {x.device}, which has no CUDA graphs"
                if why:
                    report.rows.append(Row(type(module).__name__, [name], "forward", None, False, why))
                    continue
                site = _Site(module, x, training, graphs)
                key = (type(module), _kind(x), tuple(module.weight.shape), module.weight.stride(), module.bias is None, site.where, wants_gx)
                groups.setdefault(key, []).append((name, site, x))
            for key, members in groups.items():
                _, site, x = members[0]
                trial = _Trial(site, x, key[-1], turns, min_gain)
                try:
                    if time.monotonic() - start > budget_s:
                        raise Error(f"the budget of {budget_s:g} s was spent")
                    ours = trial.training() if training else trial.forward()
                except Error as error:
                    trial.rows.append(Row(type(site.module).__name__, [], mode, None, False, str(error)))
                    ours = 0
                for row in trial.rows:
                    row.layers = [name for name, _, _ in members]
                report.rows += trial.rows
                for _, member, _ in members if ours else []:
                    member.ours = ours
                    sites.append(member)
            _decide(model, example, training, turns, report, sites)
    except BaseException:
        for site in sites:
            site.remove()
        raise
    finally:
        with torch.no_grad():
            for name, b in model.named_buffers():
                b.copy_(buffers[name])
    return report


def _decide(model: nn.Module, example: tuple[Any, ...], training: bool, turns: int, report: Report, sites: list[_Site]) -> None:
    """The whole model with and without; without a gain nothing stays."""
    if not sites:
        report.why = "No layer is faster by more than noise; the model is as it was."
        return
    for site in sites:
        site.put()
    parameters = [p for p in model.parameters() if p.requires_grad]

    def run(on: bool) -> Any:
        for site in sites:
            site.on = on
        if not training:
            with torch.no_grad():
                return model(*example)
        return torch.autograd.grad(_loss(model(*example)), parameters, allow_unused=True)

    device = sites[0].kind[1]
    try:
        r = report.model = race(lambda: run(True), lambda: run(False), device, 3 * turns, sites[0].graphs)
        report.kept = r.is_won(0)
        times = f"{r.theirs_ns / 1e6:.2f} ms before, {r.ours_ns / 1e6:.2f} ms after, ratio of turns {r.ratio:.3f}, noise {r.noise:.3f}"
        kept = f"{len(sites)} layers are replaced" if report.kept else "all is undone, for the whole is not faster by more than noise"
        report.why = f"The whole model: {times}; {kept}."
    except Error as error:
        report.why = f"The whole model: {error}; all is undone."
    for site in sites:
        site.on = True
        if not report.kept:
            site.remove()
    for row in report.rows if not report.kept else []:
        row.taken, row.why = False, f"{row.why}; undone with the whole" if row.taken else row.why
