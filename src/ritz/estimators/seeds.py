"""Seeds from whatever scikit-learn accepts as random_state."""

from __future__ import annotations

from typing import Any

import numpy as np


def seed(random_state: Any) -> int:
    """An integer seed; None is a fixed one, so that the same data gives the same answer."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 31))
    from sklearn.utils import check_random_state  # knows all that random_state may be, and takes long to import

    return int(check_random_state(random_state).randint(1 << 31))
