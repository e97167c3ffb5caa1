"""Products of a data matrix that is known by its columns are those of the matrix."""

import dask.array as da
import numpy as np
import pytest

from helpers.matrices import preprocess
from ritz.fitting.request import Request
from ritz.fitting.solve import preprocessing
from ritz.moments.by_columns import ColumnPreprocessing, moments_by_columns
from ritz.operators import ColumnMatrix, Gram
from ritz.rows import as_rows

pytestmark = pytest.mark.usefixtures("by_threads")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 150)) * np.logspace(-3, 3, 150) + 1e4


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
def test_products_are_those_of_the_matrix(center, scale):
    rows = as_rows(da.from_array(X, chunks=(20, 40)))
    found = moments_by_columns(rows, rows.turned, center=center, scale=scale, ddof=1)
    prepare, units = preprocessing(found, Request(center=center, scale=scale))
    A = ColumnMatrix(rows, rows.turned, prepare, found, ColumnPreprocessing(center, scale, 1, units.unit), 19)
    Z, V, W = preprocess(X, center, scale), RNG.standard_normal((20, 3)), RNG.standard_normal((150, 3))
    K = Z @ Z.T / 19
    near = {"rtol": 0, "atol": 1e-12 * float(np.trace(K)), "err_msg": f"{center} {scale}"}
    np.testing.assert_allclose(found.scatter * found.unit**2, np.square(preprocess(X, center)).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(A.dense(), Z, **near)
    np.testing.assert_allclose(A.gram(), K, **near)
    np.testing.assert_allclose(A.combine(V), Z.T @ V, **near)
    np.testing.assert_allclose(A.project(W), Z @ W, **near)
    np.testing.assert_allclose(A.gram_product(V), K @ V, **near)
    product, R = A.normal(W, factor=True)
    np.testing.assert_allclose(product, Z.T @ (Z @ W) / 19, **near)
    np.testing.assert_allclose(R.T @ R, (Z @ W).T @ (Z @ W), rtol=1e-9)
    assert np.linalg.norm(np.asarray(A.gram() - K, float), 2) <= Gram(A).rounding < 1e-12 * A.sizes
    assert A.passes == 9
