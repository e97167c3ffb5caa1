"""What a seed may be."""

import numpy as np
import pytest

from ritz.errors import ParameterError
from ritz.runtime.rules import seed_of


def test_seeds_come_from_generators_too():
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1))
    assert isinstance(seed_of(np.random.RandomState(1)), int)
    for wrong in (-1, "seed", True, 1.5):
        with pytest.raises(ParameterError, match="random_state"):
            seed_of(wrong)
