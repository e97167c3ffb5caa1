"""What every test needs: BLAS threads that give up early, and numbers that are the same in every run."""

import os

import pytest
from hypothesis import settings

# BLAS threads wait for work by spinning; several test processes share few cores. Read when NumPy is first imported.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# The same code gives the same result; `pytest --hypothesis-profile=search` looks for new examples.
settings.register_profile("search", deadline=None, print_blob=True)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def own_numbers(request):
    """A test that draws from its module's RNG draws the same numbers, whatever ran before it in its process."""
    if hasattr(request.module, "RNG"):
        import numpy as np

        request.module.RNG = np.random.default_rng(0)
