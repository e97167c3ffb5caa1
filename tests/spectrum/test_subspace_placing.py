"""Scores and distances of blocks are those of the rows, whatever they are stored as and however large they are."""

import numpy as np
import pytest
from scipy import sparse

from ritz import PCA
from ritz.rows import as_rows
from ritz.spectrum.subspace import Subspace

X = np.random.default_rng(0).standard_normal((50, 6)) * np.arange(6, 0, -1)


def placed(subspace: Subspace, rows) -> np.ndarray:
    rows, place = subspace.placing(as_rows(rows))
    return rows.map(place)


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"center": False}])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_of_rows(options, kind):
    pca = PCA(3, **options).fit(X + 2)
    found = placed(pca.subspace_, kind(X + 2))
    Z = (X + 2 - pca.mean_) / (1 if pca.scale_ is None else pca.scale_)
    assert np.allclose(found[:, :3], Z @ pca.components_.T, atol=1e-5)
    assert np.allclose(found[:, 3], np.linalg.norm(Z, axis=1), atol=1e-5)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_in_units_of_the_subspace(factor, kind):
    subspace = PCA(3).fit(X * factor).subspace_
    found = placed(subspace, kind(X * factor))
    plain = placed(PCA(3).fit(X).subspace_, X) * (factor / subspace.unit)
    assert np.allclose(np.abs(found), np.abs(plain))


def test_of_rows_much_smaller_or_larger_than_the_others():
    subspace = PCA(3, center=False).fit(X).subspace_
    sizes = np.logspace(-250, 250, 50)
    found = placed(subspace, X * sizes[:, None])
    assert np.allclose(found / sizes[:, None], placed(subspace, X))
