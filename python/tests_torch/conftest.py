"""What all tests share: one thread, and plans chosen without measuring."""

import pytest
import torch

from kernelwright.torch import plan_mode


@pytest.fixture(autouse=True)
def quick():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with plan_mode("predict"):
        yield
