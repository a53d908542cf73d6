"""Two ways to do the same, timed in turns: what one is to the other, and how sure that is.

What runs on one thread is timed by that thread's processor time, which other processes do not add to; what runs on more, or on a GPU, by the clock.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from .._errors import Error

TURN_NS = 4_000_000  # the shortest turn; shorter calls are repeated


@dataclass(frozen=True)
class Race:
    """Times of one call in ns (medians), the median of the turns' ratios, and its noise: three standard errors of that median."""

    ours_ns: float
    theirs_ns: float
    ratio: float
    noise: float

    def is_won(self, min_gain: float) -> bool:
        """Whether ours is faster, by more than noise and by the least gain that is wanted."""
        return self.ratio + self.noise < 1 - min_gain


def _turn(call: Callable[[], Any], calls: int, device: torch.device) -> float:
    clock = time.thread_time_ns if device.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter_ns
    start = clock()
    for _ in range(calls):
        call()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return (clock() - start) / calls


def _replayed(call: Callable[[], Any], device: torch.device) -> Callable[[], Any]:
    """The same as a CUDA graph's replay, captured after runs in a stream of their own, as PyTorch asks for."""
    now, side = torch.cuda.current_stream(device), torch.cuda.Stream(device)
    side.wait_stream(now)
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    now.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            results = call()
    except RuntimeError as error:  # of CUDA: several lines
        raise Error(f"no CUDA graph captures it: {str(error.__context__ or error).splitlines()[0]}; results of earlier runs with gradients may not be alive") from error

    def replay() -> Any:
        graph.replay()
        return results

    return replay


def race(ours: Callable[[], Any], theirs: Callable[[], Any], device: torch.device, turns: int, graphs: bool = False) -> Race:
    """Each turn times both, one first and then the other, so that what disturbs the machine disturbs both; with graphs as CUDA graphs."""
    if graphs:
        ours, theirs = _replayed(ours, device), _replayed(theirs, device)
    for call in (ours, theirs):
        call()
    first = min(_turn(ours, 1, device), _turn(theirs, 1, device))
    calls = max(1, int(TURN_NS / max(first, 1)))
    times = []
    for turn in range(turns):
        pair = [0.0, 0.0]
        for side in (turn % 2, 1 - turn % 2):
            pair[side] = _turn((ours, theirs)[side], calls, device)
        times.append(pair)
    ratios = [a / b for a, b in times]
    middle = statistics.median(ratios)
    spread = 1.4826 * statistics.median(abs(r - middle) for r in ratios)
    noise = 3 * 1.2533 * spread / len(ratios) ** 0.5
    return Race(statistics.median(a for a, _ in times), statistics.median(b for _, b in times), middle, noise)
