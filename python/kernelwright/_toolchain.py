"""What compiles kernels of a GPU: the program that does it in processes of its own, and NVRTC where a Python package brought it."""

from __future__ import annotations

import importlib.util
import os
import pathlib

from ._program import PATH


def _nvrtc() -> str | None:
    """Of the packages that PyTorch, CuPy and JAX ask for; nvidia is a name without a module of its own."""
    spec = importlib.util.find_spec("nvidia")
    found = [f for place in (spec.submodule_search_locations or () if spec else ()) for f in pathlib.Path(place).glob("*/lib/libnvrtc.so.1[23]")]
    return str(max(found, key=lambda f: f.name)) if found else None


def announce(device: str) -> None:
    """Tell the library, by KW_WORKER and KW_NVRTC, which stay as they are where they are set."""
    if not device.startswith("cuda"):
        return
    os.environ.setdefault("KW_WORKER", PATH)
    if "KW_NVRTC" not in os.environ:
        found = _nvrtc()
        if found:
            os.environ["KW_NVRTC"] = found
