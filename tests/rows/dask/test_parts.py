"""A part is what was announced."""

import dask
import dask.array as da
import numpy as np
import pytest

from ritz import PCA, DataError

pytestmark = pytest.mark.usefixtures("by_threads")
X = np.random.default_rng(0).standard_normal((100, 3))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda block: block[:-1], "has 29 rows, but 30 were announced"),
        (lambda block: block[:, :2], "has 2 columns, others have 3"),
    ],
)
def test_a_chunk_that_is_not_what_was_announced_is_named(change, words):
    blocks = [dask.delayed(change if i == 2 else np.array)(X[30 * i : 30 * i + 30]) for i in range(3)]
    x = da.concatenate([da.from_delayed(block, (30, 3), float) for block in blocks])
    with pytest.raises(DataError, match=f"chunk 2 {words}"):
        PCA(1).fit(x)
