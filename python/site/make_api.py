"""make_api.py FOLDER: the pages of the Python API, api.md and api-torch.md, from the public names (tools/site.sh)."""

import importlib.util
import pathlib
import sys

import kernelwright as kw


def entry(name, value):
    """What autodoc is asked for."""
    if isinstance(value, type) and issubclass(value, BaseException):
        return f".. autoexception:: {name}\n"
    return f".. autoclass:: {name}\n   :members:\n" if isinstance(value, type) else f".. autofunction:: {name}\n"


def page(title, module, entries):
    return f"# {title}\n\n```{{eval-rst}}\n.. automodule:: {module}\n.. currentmodule:: {module}\n\n" + "\n".join(entries) + "```\n"


def torch_entries():
    """Names by their text, for PyTorch may not be here: those of __init__.py, classes in capitals."""
    text = pathlib.Path(importlib.util.find_spec("kernelwright").origin).parent.joinpath("torch", "__init__.py").read_text()
    namespace = {}
    exec(text[text.index("__all__") :], namespace)
    return [f".. autoclass:: {n}\n   :members:\n" if n[0].isupper() else f".. autofunction:: {n}\n" for n in namespace["__all__"]]


folder = pathlib.Path(sys.argv[1])
names = [n for n in kw.__all__ if not n.startswith("__")]
(folder / "api.md").write_text(page("Python API", "kernelwright", [entry(n, getattr(kw, n)) for n in names]))
(folder / "api-torch.md").write_text(page("API of kernelwright.torch", "kernelwright.torch", torch_entries()))
