"""Axes take the signs, places and rotations that PCA leaves free, and no others."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes

from helpers.counts import usually
from helpers.matrices import random_orthonormal
from ritz import PCA, DataError, ParameterError


def model(rng, d=6, k=4):
    return PCA(k).fit(rng.standard_normal((80, d)) * np.arange(d, 0, -1) ** 2)


@settings(max_examples=usually(25, thorough=300), deadline=None)
@given(seed=st.integers(0, 2**31), k=st.integers(1, 6))
def test_signs_are_those_of_the_reference(seed, k):
    rng = np.random.default_rng(seed)
    pca = model(rng, k=k)
    sign = rng.choice([-1.0, 1.0], k)
    found = pca.align_to(pca.subspace_.axes * sign)
    assert np.array_equal(found.signs, sign)
    assert np.array_equal(found.axes, pca.subspace_.axes * sign)
    assert np.allclose(found.variances, pca.explained_variance_)
    assert np.allclose(found.angles, 0)


def test_a_reference_in_another_order_moves_no_axis_that_has_its_place():
    pca = model(np.random.default_rng(0))
    reference = pca.subspace_.axes[:, [1, 0, 3, 2]]
    found = pca.align_to(reference)
    assert np.array_equal(found.axes, pca.subspace_.axes)
    assert list(found.partners) == [1, 0, 3, 2]
    free = pca.align_to(reference, groups=[(0, 4)])
    assert np.array_equal(free.axes, reference)
    assert np.allclose(free.variances, pca.explained_variance_[[1, 0, 3, 2]])
    some = pca.align_to(reference, groups=[(2, 4)])
    assert np.array_equal(some.axes, pca.subspace_.axes[:, [0, 1, 3, 2]])


def test_rotation_within_a_group_is_that_of_procrustes():
    rng = np.random.default_rng(1)
    pca = model(rng)
    turned = pca.subspace_.axes.copy()
    turned[:, 1:4] = turned[:, 1:4] @ random_orthonormal(3, 3, rng)
    found = pca.align_to(turned, mode="procrustes", groups=[(1, 4)])
    assert np.allclose(found.axes, turned)
    assert found.variances.sum() == pytest.approx(pca.explained_variance_.sum())
    assert "free to be reordered and rotated: PC2–PC4" in str(found)
    other = model(rng).subspace_.axes
    whole = pca.align_to(other, mode="procrustes", groups=[(0, 4)])
    nearest, _ = orthogonal_procrustes(pca.subspace_.axes, other)
    assert np.allclose(whole.axes, pca.subspace_.axes @ nearest)


def test_ties_are_free_and_nothing_else_is():
    rng = np.random.default_rng(2)
    Q = random_orthonormal(5, 5, rng)
    C = Q @ np.diag([9.0, 4.0, 4.0, 2.0, 1.0]) @ Q.T
    pca = PCA.from_covariance(C, n_components=4)
    found = pca.align_to(Q[:, :4], mode="procrustes")
    assert found.groups == ((0, 1), (1, 3), (3, 4))
    assert np.allclose(found.axes, Q[:, :4], atol=1e-7)
    assert np.allclose(found.variances, [9, 4, 4, 2])
    away = pca.align_to(Q[:, [1, 0, 3, 4]], mode="procrustes")
    assert np.allclose(np.abs(away.rotation[0]), [1, 0, 0, 0])  # PC1 stands alone


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"whiten": True}])
@pytest.mark.parametrize("mode", ["signs", "procrustes"])
def test_scores_are_those_of_the_axes(options, mode):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 5)) * [5, 4, 3, 2, 1] + 7
    pca = PCA(3, **options).fit(X)
    found = pca.align_to(random_orthonormal(5, 3, rng), mode=mode, groups=[(0, 3)])
    assert np.allclose(found.scores(X), pca.transform(X) @ found.rotation)
    assert np.allclose(found.axes, pca.components_.T @ found.rotation)
    assert np.allclose(found.rotation.T @ found.rotation, np.eye(3))
    if not options:
        assert np.allclose(found.scores(X).var(axis=0, ddof=1), found.variances)


@pytest.mark.parametrize("mode", ["signs", "procrustes"])
def test_a_smaller_and_a_larger_reference(mode):
    rng = np.random.default_rng(4)
    pca = model(rng)
    small = pca.align_to(-pca.subspace_.axes[:, :2], mode=mode, groups=[(0, 4)])
    assert np.allclose(small.axes[:, :2], -pca.subspace_.axes[:, :2])
    assert list(small.partners) == [0, 1, -1, -1]
    assert np.isnan(small.angles[2:]).all()
    assert np.allclose(small.rotation.T @ small.rotation, np.eye(4))
    large = pca.align_to(PCA(6).fit(rng.standard_normal((80, 6))), mode=mode)
    assert (large.partners >= 0).all()


def test_columns_by_name():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.standard_normal((50, 4)) * [4, 3, 2, 1], columns=list("abcd"))
    pca, other = PCA(2).fit(X), PCA(2).fit(X[list("dbca")])
    assert np.allclose(pca.align_to(other).angles, 0, atol=1e-7)


def test_data_of_any_size():
    X = np.random.default_rng(6).standard_normal((50, 4)) * [4, 3, 2, 1]
    plain = PCA(2).fit(X)
    for factor in (1e-100, 1e140):
        assert np.allclose(PCA(2).fit(X * factor).align_to(plain).variances / factor**2, plain.explained_variance_)


@pytest.mark.parametrize(
    "groups", [[(0, 5)], [(1, 1)], [(0, 2), (1, 3)], [(0,)], [(0.0, 2)], [(-1, 2)], [3], 5, ["ab"]]
)
def test_groups_that_are_none(groups):
    with pytest.raises(ParameterError, match="half-open ranges of the 4 components"):
        model(np.random.default_rng(7)).align_to(np.eye(6)[:, :4], groups=groups)


def test_what_cannot_be_aligned():
    pca = model(np.random.default_rng(8))
    with pytest.raises(ParameterError, match="mode='nearest' must be 'signs' or 'procrustes'"):
        pca.align_to(np.eye(6)[:, :4], mode="nearest")
    with pytest.raises(DataError, match="lies in 5 dimensions, the model in 6"):
        pca.align_to(np.eye(5)[:, :4])


def test_groups_may_be_an_array():
    pca = model(np.random.default_rng(9))
    reference = pca.subspace_.axes[:, [1, 0, 2, 3]]
    assert np.array_equal(pca.align_to(reference, groups=np.array([[0, 2]])).axes, reference)


def test_scores_of_tensors():
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(10).standard_normal((40, 3)) * [3, 2, 1]
    pca = PCA(2).fit(torch.tensor(X))
    plain = PCA(2).fit(X)
    assert np.allclose(pca.align_to(-plain.subspace_.axes).scores(torch.tensor(X)), -plain.transform(X))
    assert np.allclose(pca.rotate().scores(torch.tensor(X)), plain.rotate().scores(X))
