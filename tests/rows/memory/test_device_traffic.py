"""What travels between the host and a device: what a pass leaves, once, however many blocks it has; never the rows."""

import numpy as np
import pytest

from helpers.arrays import strict, traffic
from ritz import PCA
from ritz.fitting import planning
from ritz.moments.preprocessing import SAMPLE
from ritz.rows.memory import device

N, D, K = 2400, 12, 3
X = np.random.default_rng(0).standard_normal((N, D)) * np.arange(D, 0, -1) + 3


def on_gpu(data=X):
    return strict(data, "device1")


@pytest.fixture(params=[1, 8], ids=["1 block", "8 blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(device, "MOST_ROWS", N // request.param)
    return request.param


def test_a_covariance_comes_once(blocks):
    rows = on_gpu()
    with traffic() as seen:
        pca = PCA(K, svd_solver="covariance").fit(rows)
    # Rows for the provisional mean, the sums of the columns, and their products.
    assert sorted(seen.down) == sorted([SAMPLE * D, D, D * D])
    assert not seen.looks
    # Which rows to sample, the provisional mean, and the attributes.
    assert sum(seen.up) <= SAMPLE + D + sum(np.size(value) for value in _arrays(pca))


def _arrays(model):
    return [np.empty(value.shape) for value in vars(model).values() if hasattr(value, "__array_namespace__")]


def test_a_pass_of_an_iteration_moves_few_columns_each_way(blocks, monkeypatch):
    plans = planning.krylov_plans
    monkeypatch.setattr(planning, "krylov_plans", lambda *given: [plan for plan in plans(*given) if not plan.dense])
    monkeypatch.setattr("ritz.pca.from_rows.CARRIED", 0)  # only the diagonal of the scatter
    rows = on_gpu()
    with traffic() as seen:
        pca = PCA(K, svd_solver="krylov").fit(rows)
    passes, width = pca.certificate_.passes, D  # no block is wider
    assert not pca.plan_.dense
    assert not seen.looks
    # Of the pass for the moments two vectors come; of every other one a block and the sums of its columns, and of one
    # an R factor.
    assert len(seen.down) <= 1 + 2 + 2 * (passes - 1) + 1
    assert sum(seen.down) <= SAMPLE * D + 2 * D + (passes - 1) * (D * width + width) + width**2
    # Twice the shift, and a block and the remainder of its mean for every pass.
    attributes = [value.size for value in _arrays(pca)]
    assert len(seen.up) <= 1 + 2 + 3 * (passes - 1) + len(attributes)
    assert sum(seen.up) <= SAMPLE + 2 * D + (passes - 1) * (D * width + width) + sum(attributes)


# The mean, the axes, and what the mean as a float64 lacks along them; deviations; scales.
@pytest.mark.parametrize(
    ("how", "sent"),
    [({}, [D, D * K, K]), ({"whiten": True}, [D, D * K, K, K]), ({"scale": True}, [D, D, D * K, K])],
    ids=str,
)
def test_scores_stay_there(blocks, how, sent):
    rows = on_gpu()
    pca = PCA(K, **how).fit(rows)
    with traffic() as seen:
        scores = pca.transform(rows)
    assert scores.shape == (N, K)
    assert not seen.down
    assert seen.looks == blocks  # one for every block
    assert sorted(seen.up) == sorted(sent)


def test_ends_of_columns_come_once(blocks):
    data = X.copy()
    data[:, 2] = 7.0  # a column without variance is looked at again
    rows = on_gpu(data)
    with traffic() as seen:
        PCA(K, svd_solver="covariance").fit(rows)
    assert sorted(seen.down) == sorted([SAMPLE * D, D, D * D, D, D])
