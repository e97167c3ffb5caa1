"""One answer for the arrays of every library: that of NumPy, to rounding, with its signs and a certificate that holds.

Blocks that lie on a device, or in chunks, are summed in another order, so that the last digits may differ, and no more.
"""

from functools import cache

import dask
import numpy as np
import pytest

from helpers.arrays import ARRAYS, KINDS, computed, strict
from helpers.matrices import broken_claims, preprocess, promised, with_spectrum
from ritz import PCA
from ritz.fitting import planning
from ritz.linalg.arrays import Home, is_device_array, on_host
from ritz.rows.dask import groups
from ritz.rows.memory import device

N, D, K = 240, 12, 3
DATA = {
    "tall": with_spectrum(N, D, 40 * 0.7 ** np.arange(D), np.random.default_rng(0), offset=4.0),
    "wide": with_spectrum(30, 70, 40 * 0.8 ** np.arange(30), np.random.default_rng(1), offset=4.0),
    "far": 1e8 + np.round(with_spectrum(N, D, 40 * 0.7 ** np.arange(D), np.random.default_rng(2)) * 64) / 64,
    "int": np.random.default_rng(3).integers(-50, 50, (N, D)) * np.arange(D, 0, -1),
}
DATA["float32"] = DATA["tall"].astype(np.float32)
CASES = {
    "auto": ("tall", {}),
    "covariance": ("tall", {"svd_solver": "covariance"}),
    "covariance, scaled": ("tall", {"svd_solver": "covariance", "scale": True}),
    "covariance, not centred": ("tall", {"svd_solver": "covariance", "center": False}),
    "svd": ("tall", {"svd_solver": "svd", "scale": True}),
    "svd, wide": ("wide", {"svd_solver": "svd"}),
    "gram": ("wide", {"svd_solver": "gram"}),
    "gram, tall": ("tall", {"svd_solver": "gram", "whiten": True}),
    "krylov": ("tall", {"svd_solver": "krylov"}),
    "krylov, wide": ("wide", {"svd_solver": "krylov"}),
    "orthogonal": ("tall", {"svd_solver": "orthogonal", "tol": 1e-10}),
    "power": ("tall", {"svd_solver": "power", "tol": 1e-8}),
    "share": ("tall", {"n_components": 0.9}),
    "share, krylov": ("tall", {"n_components": 0.9, "svd_solver": "krylov"}),
    "mle": ("tall", {"n_components": "mle"}),
    "far": ("far", {"svd_solver": "covariance"}),
    "far, svd": ("far", {"svd_solver": "svd"}),
    "integers": ("int", {"whiten": True}),
    "float32": ("float32", {"svd_solver": "covariance", "whiten": True}),
    "float32, svd": ("float32", {"svd_solver": "svd"}),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def given(kind, request):
    """How a matrix is given to an estimator; Dask computes by threads, or on a cluster, as the kind says."""
    if kind != "dask on a cluster":
        with dask.config.set(scheduler="threads"):
            yield KINDS[kind]
    else:
        with request.getfixturevalue("dask_client").as_current(), dask.config.set(scheduler=None):
            yield KINDS[kind]


def close(found, expected, eps):
    expected = np.asarray(expected, np.float64)
    np.testing.assert_allclose(computed(found).astype(np.float64), expected, rtol=0, atol=eps * np.abs(expected).max())


@cache
def of_numpy(case):
    name, how = CASES[case]
    return PCA(**{"n_components": K} | how).fit(DATA[name])


@pytest.fixture
def small_blocks(monkeypatch):
    """Several blocks, and several leaves of a block, on a device; several groups of chunks."""
    monkeypatch.setattr(device, "MOST_ROWS", 100)
    monkeypatch.setattr(device, "TILE", 64)
    monkeypatch.setattr("ritz.moments.tsqr.DEVICE_LEAF", 60)
    monkeypatch.setattr(groups, "GROUP_BYTES", 8 * D * 100)


@every_kind
@pytest.mark.parametrize("case", CASES)
def test_the_answer_of_numpy(kind, given, case, small_blocks):
    name, how = CASES[case]
    data, how, expected = DATA[name], {"n_components": K} | how, of_numpy(case)
    X, pca = given(data), PCA(**how)
    scores = pca.fit_transform(X)
    # To rounding; where an iteration stops, to what it was asked for.
    tol = how.get("tol", 1e-6) if expected.plan_.solver in ("krylov", "orthogonal", "power") else 0.0
    narrow = np.finfo(expected.components_.dtype).eps
    exact = max(min(1e-12, promised(data.shape)), 4 * narrow)
    assert pca.n_components_ == expected.n_components_
    assert pca.plan_.workers == (2 if "cluster" in kind else 0)
    close(pca.explained_variance_, expected.explained_variance_, exact + tol**2)
    close(pca.singular_values_, expected.singular_values_, exact + tol**2)
    close(pca.mean_, expected.mean_, 1e-15)
    for found, known in ((pca.components_, expected.components_), (scores, expected.transform(data))):
        close(found, known, max(1e-11, 16 * narrow, exact) + 10 * tol)
    close(pca.reconstruction_error(X), expected.reconstruction_error(data), max(1e-10, exact) + 100 * tol)
    close(pca.inverse_transform(scores), expected.inverse_transform(computed(scores)), max(1e-11, 8 * narrow) + tol)
    close(pca.score_samples(X), expected.score_samples(data), 1e-8 + 100 * tol)
    assert pca.certificate_.satisfied == expected.certificate_.satisfied
    Z = preprocess(data, how.get("center", True), how.get("scale", False))
    C = np.asarray(Z.T @ Z / (len(Z) - 1), np.float64)
    assert broken_claims(pca.certificate_, pca.subspace_.axes, C, slack=1e-13 * np.trace(C)) == []


@every_kind
@pytest.mark.parametrize("name", ["tall", "wide", "far"])
@pytest.mark.parametrize("svd_solver", ["krylov", "orthogonal"])
def test_an_iteration_on_the_rows(given, name, svd_solver, small_blocks, monkeypatch):
    plans = planning.krylov_plans
    monkeypatch.setattr(planning, "krylov_plans", lambda *given: [plan for plan in plans(*given) if not plan.dense])
    monkeypatch.setattr(planning, "DENSE", 0)
    how, data = {"svd_solver": svd_solver, "tol": 1e-9}, DATA[name]
    found, expected = PCA(K, **how).fit(given(data)), PCA(K, svd_solver="svd").fit(data)
    assert not found.plan_.dense
    close(found.explained_variance_, expected.explained_variance_, 1e-12)
    close(found.components_, expected.components_, 1e-7)
    C = np.asarray(preprocess(data).T @ preprocess(data) / (len(data) - 1), np.float64)
    assert broken_claims(found.certificate_, found.subspace_.axes, C, slack=1e-13 * np.trace(C)) == []


@every_kind
@pytest.mark.parametrize("svd_solver", ["covariance", "svd"])
def test_a_deviation_of_a_tenth_on_an_offset_of_ten_million(given, svd_solver):
    y = np.r_[10000000.2, np.tile([10000000.1, 10000000.3], 500)].reshape(-1, 1)  # NIST's NumAcc4
    found = PCA(svd_solver=svd_solver).fit(given(y)).explained_variance_
    assert abs(float(np.sqrt(on_host(found)[0])) - 0.1) < 1e-8


@pytest.mark.parametrize("kind", ARRAYS)
def test_results_are_where_the_data_is(kind):
    X = ARRAYS[kind](DATA["float32"])
    home = X.home if hasattr(X, "home") else Home.of(X)
    pca = PCA(K, scale=True, svd_solver="gram").fit(X)
    scores, model = pca.transform(X), PCA(K).fit(DATA["float32"])
    of_fit = (pca.components_, pca.mean_, pca.scale_, pca.loadings_, pca.dual_components_, pca.get_covariance())
    of_rows = (scores, pca.inverse_transform(scores), pca.reconstruction_error(X), pca.score_samples(X))
    later = (model.transform(X), pca.left_singular_vectors(X), PCA(K).fit_transform(X), pca.get_precision())
    for found in (*of_fit, *of_rows, *later):
        assert is_device_array(found), type(found)
        assert Home.of(found) == home
    assert isinstance(pca.transform(DATA["float32"]), np.ndarray)  # scores follow the rows, attributes the fit
    assert isinstance(model.components_, np.ndarray)
    assert str(pca.components_.dtype).endswith("float32")
    assert str(pca.mean_.dtype).endswith("float64")


def test_a_model_of_one_device_serves_another():
    data = DATA["tall"]
    here, there = (strict(data, name) for name in ("device1", "device2"))
    pca = PCA(K).fit(here)
    assert pca.transform(there).device == there.device
    close(pca.inverse_transform(pca.transform(there)), pca.inverse_transform(PCA(K).fit(data).transform(data)), 1e-12)
    assert pca.partial_fit(there).components_.device == here.device


@pytest.mark.parametrize("kind", ["torch", "array-api-strict"])
def test_arrays_of_the_cpu_give_the_bits_of_numpy(kind):
    X, data = ARRAYS[kind](DATA["tall"]), DATA["tall"]
    found, expected = PCA(K, whiten=True).fit(X), PCA(K, whiten=True).fit(data)
    assert np.array_equal(on_host(found.components_), expected.components_)
    assert np.array_equal(on_host(found.transform(X)), expected.transform(data))


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e200])
@pytest.mark.parametrize("kind", ["torch, as on a GPU", "array-api-strict on a device", "dask"])
def test_numbers_whose_squares_leave_float64(given, size):
    data = DATA["tall"] * size
    X, expected = given(data), PCA(K, svd_solver="svd").fit(data)
    for svd_solver in ("covariance", "svd"):
        pca = PCA(K, svd_solver=svd_solver).fit(X)
        close(pca.components_, expected.components_, 1e-12)
        close(pca.singular_values_, expected.singular_values_, 1e-12)
        close(pca.transform(X), expected.transform(data), 1e-11)
        close(pca.inverse_transform(pca.transform(X)), expected.inverse_transform(expected.transform(data)), 1e-11)
        close(pca.score_samples(X), expected.score_samples(data), 1e-9)
