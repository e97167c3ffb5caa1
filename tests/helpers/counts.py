"""How often something is tried: a default run tries enough to mean something, `pytest --thorough` all of it."""

from __future__ import annotations

import os
from typing import TypeVar

Count = TypeVar("Count")
SAID = "RITZ_THOROUGH"  # in the environment, so that every process of a run knows it before it imports a test


def usually(count: Count, *, thorough: Count) -> Count:
    """A number of examples, or a list of cases: the first, or in a thorough run the second."""
    return thorough if os.environ.get(SAID) else count
