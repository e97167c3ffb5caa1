"""Labels as kinds of rows, or as numbers along a scale."""

import numpy as np
import pytest

from ritz.views.classes import kinds_of


@pytest.mark.parametrize(
    ("labels", "kinds"),
    [
        (["b", "a", "", "b", None], [1, 0, -1, 1, -1]),
        (np.array([3, 1, 3]), [1, 0, 1]),
        (np.array([3.0, np.nan, 3.0]), [0, -1, 0]),  # whole numbers, one of which is missing
        (np.arange(12), None),
        (np.arange(12.0), "scale"),
        ([0.5, 1.5, 0.5], "scale"),
    ],
    ids=str,
)
def test_kinds(labels, kinds):
    found = kinds_of(labels, len(labels))
    if kinds == "scale":
        assert found is None
    else:
        assert len(set(found)) == 12 if kinds is None else found.tolist() == kinds
