"""Types, stubs, docstrings: mypy finds nothing, stubs are what is there at run time, sections name parameters that exist, examples in them run."""

import doctest
import importlib
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import kernelwright as kw

CONFIG = pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml"
PACKAGE = pathlib.Path(kw.__file__).parent
MODULES = sorted(m.name for m in pkgutil.iter_modules([str(PACKAGE)]) if m.name not in ("_kw", "_ffi", "torch"))


def run(folder, *words):
    answer = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_types(tmp_path):
    pytest.importorskip("mypy")
    run(PACKAGE.parent, "-m", "mypy", "--config-file", str(CONFIG), "--cache-dir", str(tmp_path), "-p", "kernelwright")


def test_stubs_are_what_is_there(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "allowed").write_text("kernelwright\\.torch.*\n")  # cannot be imported without PyTorch
    words = ["--mypy-config-file", str(CONFIG), "--allowlist", str(tmp_path / "allowed"), "--ignore-unused-allowlist"]
    run(tmp_path, "-m", "mypy.stubtest", "kernelwright", *words)


def test_docstrings():
    pytest.importorskip("numpydoc")
    files = [str(path) for path in sorted(PACKAGE.rglob("*.py"))]
    run(PACKAGE, "-m", "numpydoc", "lint", "--config", str(CONFIG.parent), *files)


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings(name):
    module = importlib.import_module("kernelwright" + (f".{name}" if name else ""))
    assert doctest.testmod(module, globs={**vars(module)}).failed == 0
    kw.clear_plans()


def test_every_public_name_is_documented():
    for name in kw.__all__:
        value = getattr(kw, name)
        assert name == "__version__" or value.__doc__
        for member in vars(value) if isinstance(value, type) else ():
            if not member.startswith("_"):
                assert getattr(value, member).__doc__ or member in ("status",) or not callable(getattr(value, member)), f"{name}.{member}"
    assert sorted(set(kw._HOMES) | {n for n in kw.__all__ if n.endswith(("Error", "Fault"))} | {"__version__"}) == sorted(kw.__all__)
