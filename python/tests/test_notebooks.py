"""Each notebook of the site runs, cell by cell, in a process of its own. A notebook whose first cell needs what is not installed here is skipped, and so are
later cells that do (those that draw)."""

import ast
import importlib.util
import os
import pathlib
import re
import resource
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "site" / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.md"))
# Besides what its imports say.
NEEDS = {"training-a-model": lambda: os.environ.get("KW_LIGHTGBM") or importlib.util.find_spec("lightgbm")}
SECONDS = 20


def cells(name):
    """The code of each cell, and whether what it imports is here."""
    found = []
    for code in re.findall(r"^```\{code-cell\}\n(.*?)^```", (FOLDER / f"{name}.md").read_text(), re.M | re.S):
        tree = ast.walk(ast.parse(code))
        modules = {m for node in tree if isinstance(node, (ast.Import, ast.ImportFrom)) for m in ([node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])}
        found.append((code, all(importlib.util.find_spec(m.split(".")[0]) for m in modules)))
    return found


def test_there_are_as_many_as_are_promised():
    index = (FOLDER.parent / "index.md").read_text()
    assert len(NOTEBOOKS) >= 6 and all(f"notebooks/{name}\n" in index for name in NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name, tmp_path):
    parts = cells(name)
    assert parts
    if not parts[0][1] or not NEEDS.get(name, lambda: True)():
        pytest.skip("what it needs is not installed here")
    program = tmp_path / "notebook.py"
    program.write_text("\n".join(code for code, can_run in parts if can_run))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run([sys.executable, "-W", "error", str(program)], capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0 and not answer.stderr, answer.stdout + answer.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime < SECONDS
