"""Recognition by the nearest neighbour, against distances that are computed one by one."""

import numpy as np
import pytest
from scipy import sparse

from ritz import PCA
from ritz.pca import recognition as module
from ritz.pca.recognition import recognition
from ritz.rows import as_rows

RNG = np.random.default_rng(0)
KINDS = np.arange(60) % 6
X = (RNG.standard_normal((6, 9))[KINDS] + RNG.standard_normal((60, 9))) * np.linspace(1, 4, 9) + 50


def right(Z, kinds):
    """Rows whose nearest other one is of their kind."""
    found = 0
    for i, z in enumerate(Z):
        others = [j for j in range(len(Z)) if j != i]
        nearest = min(others, key=lambda j: float(np.sum((Z[j] - z) ** 2)))
        found += int(kinds[nearest] == kinds[i])
    return found


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array])
def test_every_number_of_components_and_all_columns(scale, made):
    """Also numbers of components beyond those kept, which the rows themselves tell."""
    found = recognition(PCA(2, scale=scale).fit(X).subspace_, as_rows(made(X)), KINDS)
    Z = (X - X.mean(axis=0)) / (X.std(axis=0, ddof=1) if scale else 1.0)
    scores = PCA(9, scale=scale).fit_transform(X)
    truth = [right(scores[:, :k], KINDS) for k in range(1, 10)]
    assert found.in_columns == right(Z, KINDS) == truth[-1]
    assert truth[1] < truth[-1]  # or nothing beyond would have been tried
    assert (found.counts, list(found.right)) == (tuple(range(1, 10)), truth)
    assert (found.kept, found.in_kept, found.asked, found.compared, found.rows) == (2, truth[1], 60, 60, 60)
    assert found.enough == min(k for k in range(3, 10) if truth[k - 1] >= truth[-1])


def test_components_that_are_enough_end_the_search():
    found = recognition(PCA(9).fit(X).subspace_, as_rows(X), KINDS)
    assert found.counts == tuple(range(1, 10))
    assert found.in_kept == found.in_columns
    truth = [right(PCA(9).fit_transform(X)[:, :k], KINDS) for k in range(1, 10)]
    assert found.enough == min(k for k in range(1, 10) if truth[k - 1] >= truth[-1])


def test_many_rows_are_sampled_and_columns_cut(monkeypatch):
    fit = PCA(3).fit(X)
    whole = recognition(fit.subspace_, as_rows(X), KINDS)
    monkeypatch.setattr(module, "SLICE", 4)
    assert recognition(fit.subspace_, as_rows(X), KINDS) == whole
    monkeypatch.setattr(module, "MOST_ROWS", 30)
    some = recognition(fit.subspace_, as_rows(X), KINDS)
    assert (some.compared, some.rows) == (30, 60)
    monkeypatch.setattr(module, "MOST_WORK", 9 * 20**2)
    assert recognition(fit.subspace_, as_rows(X), KINDS).compared == 20


def test_only_kinds_that_repeat_are_asked_for():
    kinds = KINDS.copy()
    kinds[:3], kinds[3] = -1, 77  # three without a label, and one alone
    found = recognition(PCA(2).fit(X).subspace_, as_rows(X), kinds)
    assert (found.compared, found.asked) == (57, 56)
    for none in (np.zeros(60, int), np.arange(60), np.full(60, -1)):
        assert recognition(PCA(2).fit(X).subspace_, as_rows(X), none) is None


def test_numbers_whose_squares_leave_the_range():
    found = [recognition(PCA(3).fit(f * X).subspace_, as_rows(f * X), KINDS) for f in (1.0, 1e200, 1e-200)]
    assert found[0] == found[1] == found[2]
