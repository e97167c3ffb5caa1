"""Equal from contained, axes in pairs, and variance explained: against subspaces that are known."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles

from helpers.counts import usually
from helpers.matrices import random_orthonormal
from ritz import PCA, DataError, compare, eigen


@settings(max_examples=usually(40, thorough=600), deadline=None)
@given(seed=st.integers(0, 2**31), d=st.integers(1, 9))
def test_relations_of_subspaces_that_share_so_many_directions(seed, d):
    rng = np.random.default_rng(seed)
    Q = random_orthonormal(d, d, rng)
    shared, ours, theirs = (int(part) for part in rng.multinomial(d, [0.25] * 4)[:3])
    a = Q[:, : shared + ours]
    b = Q[:, [*range(shared), *range(shared + ours, shared + ours + theirs)]]
    if not a.shape[1] or not b.shape[1]:
        return
    turn = [random_orthonormal(m.shape[1], m.shape[1], rng) for m in (a, b)]
    found = compare(a @ turn[0], b @ turn[1])
    assert found.shared == shared
    assert found.sizes == (a.shape[1], b.shape[1])
    if not ours and not theirs:
        expected = "equal"
    elif not ours:
        expected = "a contained in b"
    elif not theirs:
        expected = "b contained in a"
    else:
        forced = max(0, sum(found.sizes) - d)  # as planes in space share a line
        expected = "overlapping" if shared > forced else "different" if shared else "orthogonal"
    assert found.relation == expected


def test_it_is_an_array_of_angles():
    rng = np.random.default_rng(0)
    a, b = random_orthonormal(8, 3, rng), random_orthonormal(8, 4, rng)
    found = compare(a, b)
    assert np.allclose(found, np.sort(subspace_angles(a, b)))
    assert isinstance(found, np.ndarray)
    assert found.shape == (3,)
    for part in (found[0], found.max(), found.round(3), np.degrees(found), found[:2], found < 1, -found):
        assert type(part) in (np.ndarray, np.float64)
    assert repr(found) == repr(np.asarray(found))
    assert float(found[-1]) == found.tolist()[-1]
    copied = pickle.loads(pickle.dumps(found))
    assert copied.relation == found.relation
    assert np.array_equal(copied, found)
    with pytest.raises(AttributeError, match=r"ask what ritz\.compare returned"):
        found.copy().relation  # noqa: B018


def test_planes_in_space_always_share_a_line():
    rng = np.random.default_rng(1)
    found = compare(random_orthonormal(3, 2, rng), random_orthonormal(3, 2, rng))
    assert found.shared == 1
    assert found.relation == "different"
    assert "beyond the 1 that any such subspaces share" in str(found)


def test_axes_find_their_partners():
    rng = np.random.default_rng(2)
    Q = random_orthonormal(7, 5, rng)
    order, sign = np.array([3, 0, 4, 1, 2]), np.array([1, -1, 1, 1, -1])
    c, s = np.cos(0.01), np.sin(0.01)
    B = Q.copy()
    B[:, [1, 2]] = Q[:, [1, 2]] @ [[c, -s], [s, c]]
    found = compare(Q, (B * sign)[:, order]).matches
    assert list(found.index) == [f"PC{i + 1}" for i in range(5)]
    assert [int(name[2:]) - 1 for name in found["of b"]] == list(np.argsort(order))
    assert [1 if mark == "+" else -1 for mark in found["sign"]] == list(sign)
    assert np.allclose(found["angle"], np.degrees([0, 0.01, 0.01, 0, 0]), atol=1e-7)
    fewer = compare(Q, Q[:, [4, 2]])
    assert list(fewer.matches.index) == ["PC3", "PC5"]
    assert "without a partner in a: PC1, PC2, PC4" in str(fewer)


def covariance(rng, d):
    M = rng.standard_normal((d, d)) * np.arange(d, 0, -1)
    return M.T @ M


@settings(max_examples=usually(25, thorough=400), deadline=None)
@given(
    seed=st.integers(0, 2**31), d=st.integers(2, 8), scale=st.booleans(), solver=st.sampled_from(["covariance", "svd"])
)
def test_variance_explained_is_that_of_the_rows(seed, d, scale, solver):
    rng = np.random.default_rng(seed)
    X, W = (rng.standard_normal((30, d)) @ covariance(rng, d) for _ in range(2))
    k, m = rng.integers(1, d + 1, 2)
    a, b = PCA(int(k), scale=scale, svd_solver=solver).fit(X), PCA(int(m), scale=scale, svd_solver=solver).fit(W)
    table = compare(a, b).explained
    assert list(table.index) == ["variance of a", "variance of b"]
    for i, (one, rows, other) in enumerate(((a, X, b), (b, W, a))):
        Z = (rows - one.mean_) / (1 if one.scale_ is None else one.scale_)
        shares = [((Z @ V.T) ** 2).sum() / (Z**2).sum() for V in (one.components_, other.components_)]
        assert table["in its own"][i] == pytest.approx(shares[0], abs=1e-9)
        assert table["at least"][i] == pytest.approx(shares[1], abs=1e-9)
        assert table["exact"][i]
        assert table["at most"][i] == table["at least"][i]


def test_variance_that_is_not_known_is_bounded():
    """Subspaces carry no moments: the share lies between the bounds, which are not far apart."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        X, W = (rng.standard_normal((40, 6)) @ covariance(rng, 6) for _ in range(2))
        a, b = PCA(3).fit(X), PCA(2).fit(W)
        Z = X - a.mean_
        share = ((Z @ b.components_.T) ** 2).sum() / (Z**2).sum()
        table = compare(a.subspace_, b.subspace_).explained
        low, high = table["at least"][0], table["at most"][0]
        assert low <= share * (1 + 1e-9)
        assert share <= high * (1 + 1e-9)
        assert not table["exact"][0]
        assert "bounded" in str(table)
    assert not len(compare(np.eye(3)[:, :1], np.eye(3)[:, :2]).explained)


def test_columns_in_another_order():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.standard_normal((60, 4)) @ covariance(rng, 4), columns=list("abcd"))
    order = list("cadb")
    straight = compare(PCA(2).fit(X), PCA(3).fit(X + rng.standard_normal((60, 4))))
    noise = np.random.default_rng(4)
    noise.standard_normal((60, 4)), covariance(noise, 4)
    turned = compare(PCA(2).fit(X), PCA(3).fit((X + noise.standard_normal((60, 4)))[order]))
    assert np.allclose(straight, turned)
    for name in ("in its own", "at least", "at most"):
        assert np.allclose(straight.explained[name], turned.explained[name])
    assert np.allclose(straight.matches["angle"], turned.matches["angle"])


def test_fits_that_are_less_accurate_are_equal_as_far_as_their_certificates_say():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 60)) * np.r_[30, 20, 10, np.linspace(2, 1, 57)]
    exact, rough = PCA(3, svd_solver="svd").fit(X), PCA(3, svd_solver="orthogonal", tol=1e-4, random_state=1).fit(X)
    found = compare(exact, rough)
    assert found.max() > 1e-9  # beyond rounding
    assert found.relation == "equal"
    assert found.tolerance < np.radians(1)
    assert "what the certificates allow" in str(found)
    assert compare(exact.subspace_, rough.subspace_).relation != "equal"  # a subspace alone has no certificate
    assert compare(exact, PCA(3).fit(X[::2])).relation == "different"


def test_a_tie_leaves_axes_undetermined():
    C = np.diag([3.0, 3.0, 1.0])
    a, b = PCA.from_covariance(C, n_components=2), PCA.from_covariance(C, n_components=2)
    found = compare(a, b)
    assert found.relation == "equal"
    assert found.matches["group"] == ["a: PC1–PC2, b: PC1–PC2"] * 2


def test_pairs_of_eigen_and_models_of_different_scaling():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((50, 4)) * [4, 3, 2, 1]
    pairs = eigen(np.cov(X.T), 2)
    found = compare(pairs, PCA(3).fit(X))
    assert found.relation == "a contained in b"
    assert list(found.explained.index) == ["variance of b"]
    assert "different units" in str(compare(PCA(2).fit(X), PCA(2, scale=True).fit(X)))


@pytest.mark.parametrize("factor", [1e-250, 1e200])
def test_variances_of_any_size(factor):
    rng = np.random.default_rng(7)
    X, W = (rng.standard_normal((50, 4)) @ covariance(rng, 4) for _ in range(2))
    plain, far = (compare(PCA(2).fit(X * f), PCA(3).fit(W * f)).explained for f in (1.0, factor))
    for name in ("in its own", "at least", "at most"):
        assert np.allclose(plain[name], far[name])


def test_what_cannot_be_compared():
    with pytest.raises(DataError, match="3 and 2 dimensions"):
        compare(np.eye(3)[:, :1], np.eye(2)[:, :1])
    with pytest.raises(DataError, match=r"shape \(2, 3\); axes are columns here: pass components_.T"):
        compare(np.eye(3)[:2], np.eye(3))
    with pytest.raises(DataError, match="not finite"):
        compare(np.full((3, 1), np.nan), np.eye(3)[:, :1])


@pytest.mark.parametrize(
    ("columns", "rank"), [(np.zeros((3, 1)), 0), (np.ones((3, 2)), 1), ([[1, 2e200], [1, 2e200], [0, 0]], 1)]
)
def test_columns_that_span_less_than_they_are(columns, rank):
    """What fills them up would be compared, and a column of zeros be equal to any."""
    with pytest.raises(DataError, match=f"columns of the array span {rank} dimensions"):
        compare(np.array(columns), np.eye(3)[:, :1])


def test_models_need_the_same_columns():
    X = pd.DataFrame(np.random.default_rng(8).standard_normal((9, 2)), columns=["a", "b"])
    with pytest.raises(DataError, match="second model lacks"):
        compare(PCA(1).fit(X), PCA(1).fit(X.rename(columns={"a": "c"})))
