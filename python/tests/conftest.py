"""What all tests share: wisdom in memory, no measuring unless a test asks for it, and no plan that outlives its test."""

import gc

import pytest

import kernelwright as kw
from kernelwright import _kw


@pytest.fixture(scope="session")
def cpu(tmp_path_factory):
    """A context of its own, on one thread, that remembers nothing."""
    return kw.Context("cpu", threads=1, wisdom_file="", data_dir=str(tmp_path_factory.mktemp("data")))


@pytest.fixture(autouse=True)
def no_plan_is_left():
    """Counts plans: a test that leaves one behind leaks."""
    gc.collect()
    before = _kw.count()
    yield
    gc.collect()
    assert _kw.count() <= before
