from collections.abc import Callable
from typing import Any

from typing_extensions import disjoint_base

version: str

def install(error: type[Exception], failure: Callable[[int, str], Exception], /) -> None: ...
def count() -> int: ...
def facts(*arrays: Any) -> bytes | None: ...

@disjoint_base
class Runner:
    def __init__(
        self,
        plan: int,
        context: int,
        problem: int,
        device: tuple[int, int],
        owner: Any,
        allocate: Callable[..., Any],
        finish: Callable[..., Any],
        stream_of: Callable[[tuple[Any, ...]], int | None],
    ) -> None: ...
    @property
    def address(self) -> int: ...
    def run(self, /, *arrays: Any, stream: Any = None) -> None: ...
    def run_at(self, /, *addresses: int) -> None: ...
    def operands(self, /) -> list[tuple[str, str, bool, list[tuple[tuple[int, ...], tuple[int, ...]]]]]: ...
    def __call__(self, *read: Any, out: Any = None, stream: Any = None, **named: Any) -> Any: ...
