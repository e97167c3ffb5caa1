"""Published rotations come out, and what a rotation must keep is kept."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from helpers.counts import usually
from ritz import PCA, DataError, ParameterError
from ritz.interpretation.rotation import METHODS, rotate

ARRESTS = pd.read_csv(Path(__file__).parents[1] / "data" / "usarrests.csv", index_col=0)
# Bernaards and Jennrich 2005, with the answers that they print.
A = np.array(
    [
        [0.830, -0.396], [0.818, -0.469], [0.777, -0.470], [0.798, -0.401],
        [0.786, 0.500], [0.672, 0.458], [0.594, 0.444], [0.647, 0.333],
    ]
)  # fmt: skip
QUARTIMAX = [
    [0.89876, 0.19482], [0.93394, 0.12974], [0.90213, 0.10386], [0.87651, 0.17128],
    [0.31558, 0.87647], [0.25113, 0.77349], [0.19801, 0.71468], [0.30786, 0.65933],
]  # fmt: skip
QUARTIMIN = [
    [0.891822, 0.056015], [0.953680, -0.023246], [0.929150, -0.046503], [0.876683, 0.033658],
    [0.013701, 0.925000], [-0.017265, 0.821253], [-0.052445, 0.764953], [0.085890, 0.683115],
]  # fmt: skip


def test_published_quartimax():
    found = rotate(A, "quartimax")
    assert np.abs(found.loadings - QUARTIMAX).max() < 1.01e-5
    assert found.criterion == pytest.approx(-1.02273, abs=1e-5)
    assert found.converged


def test_published_quartimin():
    found = rotate(A, "oblimin")
    assert np.abs(found.loadings - QUARTIMIN).max() < 3e-6  # theirs ends at a gradient of 1e-5
    assert found.criterion == pytest.approx(0.00557, abs=1e-5)


def test_published_varimax_with_and_without_kaiser():
    assert np.abs(rotate(A).loadings[0] - [0.886061, 0.246196]).max() < 1.01e-6
    assert np.abs(rotate(A, kaiser=True).loadings[0] - [0.878553, 0.271772]).max() < 1.01e-6


def test_published_arrests():
    pca = PCA(2, scale=True).fit(ARRESTS)
    published = [[0.938989, -0.060667], [0.919963, 0.179397], [0.071725, 0.969946], [0.726620, 0.481865]]
    found = pca.rotate(kaiser=True)
    assert np.abs(found.loadings - published).max() < 1.01e-6
    assert np.abs(found.variances - [2.261153, 1.208853]).max() < 1.01e-6
    assert np.abs(pca.rotate().variances - [2.251498, 1.218509]).max() < 1.01e-6
    assert found.names == tuple(ARRESTS.columns)
    assert np.allclose(found.shares.sum(), pca.explained_variance_ratio_.sum())


def by_planes(L):
    """Varimax by Kaiser's own planar rotations, to the end: an algorithm of another kind."""
    L = L.copy()
    d, k = L.shape
    for _ in range(200):
        for i in range(k):
            for j in range(i + 1, k):
                u, v = L[:, i] ** 2 - L[:, j] ** 2, 2 * L[:, i] * L[:, j]
                top = 2 * (u @ v - u.sum() * v.sum() / d)
                angle = np.arctan2(top, u @ u - v @ v - (u.sum() ** 2 - v.sum() ** 2) / d) / 4
                c, s = np.cos(angle), np.sin(angle)
                L[:, [i, j]] = L[:, [i, j]] @ np.array([[c, -s], [s, c]])
    return L


def promax_by_hand(L, power):
    """R's promax: Kaiser's varimax, powers as the target, least squares, components of variance 1."""
    size = np.linalg.norm(L, axis=1)[:, None]
    V = by_planes(L / size) * size
    U = np.linalg.solve(V.T @ V, V.T @ (V * np.abs(V) ** (power - 1)))
    U = U @ np.diag(np.sqrt(np.diag(np.linalg.inv(U.T @ U))))
    return V @ U, np.linalg.inv(U.T @ U)


def same_components(found, other, atol):
    """Equal up to the order and the signs of columns."""
    match = np.argmax(np.abs(found.T @ other), axis=1)
    other = other[:, match]
    return np.allclose(found, other * np.sign(np.einsum("ij,ij->j", found, other)), atol=atol)


def simple(rng, d=15, k=3, noise=0.05):
    """Loadings of simple structure, hidden by a rotation."""
    L = rng.standard_normal((d, k)) * noise
    L[np.arange(d), np.arange(d) % k] += rng.uniform(0.6, 0.9, d)
    return L @ np.linalg.qr(rng.standard_normal((k, k)))[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kaiser", [False, True])
def test_varimax_is_kaisers(seed, kaiser):
    L = simple(np.random.default_rng(seed))
    size = np.linalg.norm(L, axis=1)[:, None] if kaiser else 1.0
    assert same_components(rotate(L, kaiser=kaiser).loadings, by_planes(L / size) * size, 1e-6)


@pytest.mark.parametrize("power", [2, 3, 4])
def test_promax_is_that_of_r(power):
    L = simple(np.random.default_rng(5), noise=0.15)
    found = rotate(L, "promax", power=power)
    loadings, phi = promax_by_hand(L, power)
    assert same_components(found.loadings, loadings, 1e-6)
    assert np.allclose(np.sort(np.abs(found.phi).ravel()), np.sort(np.abs(phi).ravel()), atol=1e-6)
    assert found.kaiser


@pytest.mark.parametrize(("method", "gamma"), [("oblimin", 0.0), ("oblimin", -1.0), ("oblimin", 0.3)])
def test_oblimin_is_a_minimum(method, gamma):
    """No oblique rotation nearby, or from a general optimiser, has a smaller criterion."""
    L = simple(np.random.default_rng(6), d=12, noise=0.1)
    found = rotate(L, method, gamma=gamma)

    def criterion(entries):
        T = entries.reshape(3, 3)
        B = L @ np.linalg.inv(T / np.linalg.norm(T, axis=0)).T
        S = B**2
        total = 0.0
        for i in range(3):
            for j in range(3):
                if i != j:
                    total += S[:, i] @ S[:, j] - gamma / len(S) * S[:, i].sum() * S[:, j].sum()
        return total / 4

    start = np.linalg.inv(found.rotation).T
    assert criterion(start.ravel()) == pytest.approx(found.criterion, rel=1e-9)
    best = min(minimize(criterion, start.ravel() + step).fun for step in (0.0, 0.01, -0.05))
    assert found.criterion <= best + 1e-9


@settings(max_examples=usually(30, thorough=500), deadline=None)
@given(
    seed=st.integers(0, 2**31),
    d=st.integers(2, 12),
    method=st.sampled_from(sorted(METHODS)),
    kaiser=st.sampled_from([None, True, False]),
)
def test_what_every_rotation_keeps(seed, d, method, kaiser):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, min(d, 4) + 1))
    L = rng.standard_normal((d, k))
    try:
        found = rotate(L, method, kaiser=kaiser, n_starts=3, seed=1)
    except DataError as error:
        assert method == "promax"  # powers of few rows may be dependent
        assert "independent" in str(error)
        return
    assert np.allclose(found.loadings, L @ found.rotation)
    assert np.allclose(found.loadings @ found.phi @ found.loadings.T, L @ L.T, atol=1e-7 * np.abs(L @ L.T).max())
    assert np.allclose(np.diag(found.phi), 1)
    assert np.linalg.eigvalsh(found.phi).min() > 0
    assert found.variances.sum() == pytest.approx((L**2).sum(), rel=1e-7)
    assert (np.diff(found.variances) <= 1e-12).all()
    if not found.oblique:
        assert np.allclose(found.rotation.T @ found.rotation, np.eye(k))
        assert np.array_equal(found.phi, np.eye(k))
    if k == 1:
        assert np.allclose(np.abs(found.loadings), np.abs(L))
    for column in found.loadings.T:
        large = np.abs(column) >= (1 - 1e-3) * np.abs(column).max()
        assert column[np.argmax(large)] > 0
    assert found.criterion <= found.starts.min() + 1e-6


def test_more_starts_are_never_worse_and_the_same_seed_says_the_same():
    L = np.random.default_rng(0).standard_normal((20, 5))
    few, many = (rotate(L, "quartimax", n_starts=count) for count in (1, 10))
    assert many.criterion <= few.criterion + 1e-9
    assert len(many.starts) == 10
    again = rotate(L, "quartimax", n_starts=10)
    assert np.array_equal(again.loadings, many.loadings)
    assert np.ptp(many.starts) > 1e-3
    assert "of 10 starts ended at this rotation, the others at worse ones" in str(many)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_scores_rebuild_what_components_keep(method):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 8)) + 0.3 * rng.standard_normal((200, 8)) + 4
    for options in ({}, {"scale": True}, {"whiten": True}):
        pca = PCA(3, **options).fit(X)
        found = pca.rotate(method)
        F = found.scores(X)
        Z = (X - pca.mean_) / (1 if pca.scale_ is None else pca.scale_)
        assert np.allclose(np.cov(F.T), found.phi, atol=1e-7)
        assert np.allclose(F @ found.loadings.T, Z @ pca.components_.T @ pca.components_, atol=1e-7)
        r = np.corrcoef(Z.T, F.T)[:8, 8:]  # the structure: correlations of columns with rotated components
        structure = found.loadings @ found.phi / Z.std(axis=0, ddof=1)[:, None]
        assert np.allclose(r, structure, atol=1e-7)


def test_some_of_the_components():
    pca = PCA(4, scale=True).fit(ARRESTS)
    assert np.allclose(pca.rotate(k=2).loadings, PCA(2, scale=True).fit(ARRESTS).rotate().loadings)
    assert pca.rotate(k=2).scores(ARRESTS).shape == (50, 2)
    assert np.allclose(np.cov(pca.rotate(k=2).scores(ARRESTS).T), np.eye(2))


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_data_of_any_size(factor):
    X = ARRESTS.to_numpy(dtype=float)
    plain, far = PCA(2).fit(X).rotate(), PCA(2).fit(X * factor).rotate()
    assert np.allclose(far.loadings / factor, plain.loadings, atol=1e-5)  # of 83: a minimum is flat
    assert np.allclose(far.rotation, plain.rotation, atol=1e-7)
    assert np.allclose(far.shares, plain.shares)
    assert np.allclose(rotate(A * factor).loadings / factor, rotate(A).loadings, atol=1e-6)


def test_components_without_variance_are_not_rotated():
    X = np.random.default_rng(9).standard_normal((20, 3))
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(UserWarning, match="rank"):
        pca = PCA(4).fit(X)
    assert pca.rotate().loadings.shape == (4, 3)
    with pytest.raises(ParameterError, match=r"k=4 must be at most 3: components without variance"):
        pca.rotate(k=4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "equamax"}, "method='equamax' must be one of 'varimax'"),
        ({"method": ["varimax"]}, "must be one of"),
        ({"kaiser": "yes"}, "kaiser='yes' must be True, False or None"),
        ({"k": 0}, "k=0 must be an integer from 1 to the 2 components"),
        ({"k": 3}, "k=3 must be"),
        ({"n_starts": 0}, "n_starts=0 must be an integer >= 1"),
        ({"power": 1}, "power=1 must be a number above 1"),
        ({"gamma": 2.0}, "gamma=2.0 must be at most 1"),
        ({"gamma": np.inf}, "gamma=inf must be a finite number"),
    ],
)
def test_wrong_parameters(options, said):
    pca = PCA(2).fit(ARRESTS)
    with pytest.raises(ParameterError, match=said):
        pca.rotate(**options)


def test_what_cannot_be_rotated():
    with pytest.raises(DataError, match="all loadings are 0"):
        rotate(np.zeros((3, 2)))
    with pytest.raises(DataError, match="3 components of 2 columns"):
        rotate(np.ones((2, 3)))
    with pytest.raises(DataError, match="finite loadings"):
        rotate([[np.nan, 1.0], [1.0, 2.0]])
    with pytest.raises(DataError, match="1 names for 8 columns"):
        rotate(A, names=["a"])
    with pytest.raises(DataError, match=r"oblimin with gamma=1 has no minimum here: .*; use gamma=0"):
        PCA(3).fit(np.random.default_rng(0).standard_normal((30, 4)) * [4, 3, 2, 1]).rotate("oblimin", gamma=1)
    with pytest.raises(DataError, match="of a matrix, which has no rows"):
        rotate(A).scores(A)


def test_it_prints_and_becomes_a_frame():
    found = PCA(2, scale=True).fit(ARRESTS).rotate("oblimin")
    frame = found.to_frame()
    assert list(frame.columns) == ["RC1", "RC2"]
    assert np.array_equal(frame.to_numpy(), found.loadings)
    assert np.allclose(found.components.to_frame()[["RC1", "RC2"]], found.phi)
    assert "components are correlated" in str(found)
