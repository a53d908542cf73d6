"""Each example runs as a program of its own, two at a time."""

import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(path.name for path in FOLDER.glob("[0-9]*.py"))


@pytest.fixture(scope="module")
def answers():
    def run(name):
        return subprocess.run([sys.executable, "-W", "error", str(FOLDER / name)], capture_output=True, text=True, timeout=120)

    with ThreadPoolExecutor(2) as pool:
        yield {name: pool.submit(run, name) for name in SCRIPTS}


def test_there_are_as_many_as_are_promised():
    assert len(SCRIPTS) >= 16


@pytest.mark.parametrize("name", SCRIPTS)
def test_example(name, answers):
    answer = answers[name].result()
    assert answer.returncode == 0 and not answer.stderr and answer.stdout, answer.stdout + answer.stderr
