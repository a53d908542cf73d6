"""Types of kernelwright.torch, checked where PyTorch is."""

import pathlib
import subprocess
import sys
import tomllib

import pytest

CONFIG = pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml"


@pytest.mark.parametrize("words", [["mypy", "--config-file", "mypy.ini", "-p", "kernelwright.torch"], ["mypy.stubtest", "--mypy-config-file", "mypy.ini", "kernelwright.torch"]])
def test_types(tmp_path, words):
    options = tomllib.loads(CONFIG.read_text())["tool"]["mypy"]
    del options["overrides"]  # which leave kernelwright.torch out
    (tmp_path / "mypy.ini").write_text("[mypy]\n" + "".join(f"{name} = {value}\n" for name, value in options.items()))
    answer = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
