"""Fixtures of the unit tests."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """Devices that `training.device` runs on, with one thread of the processor; a GPU where there is one."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU: torch sees none")
    deterministic, threads = torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(1)
    yield torch.device(request.param)
    torch.use_deterministic_algorithms(deterministic)
    torch.set_num_threads(threads)
