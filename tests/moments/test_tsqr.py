"""Triangles of centred rows, found in one pass and merged, against extended precision."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.counts import usually
from helpers.matrices import jacobi, preprocess, sine, with_spectrum
from ritz import PCA, AccuracyWarning, DataError, merge
from ritz.moments import tsqr
from ritz.moments.moments import moments
from ritz.moments.tsqr import triangular_moments
from ritz.rows import as_rows, passes
from ritz.rows.memory.array import ArrayRows

SMALLEST = [1.0, 1e-3, 1e-8, 1e-12, 1e-14]


@pytest.fixture
def small_leaves(monkeypatch):
    """Many leaves in many runs, by threads, whatever the size of the data."""
    for name, size in {"BLOCK_BYTES": 1000, "BLOCK_ROWS": 1, "RUN_ROWS": 40, "RUN_WORK": 1, "SERIAL": 0}.items():
        monkeypatch.setattr(passes, name, size)
    monkeypatch.setattr(tsqr, "LEAF_BYTES", 1000)
    monkeypatch.setattr(tsqr, "LEAF", 1)


class Counted(ArrayRows):
    """An array that knows how many of its rows were walked."""

    def __init__(self, X):
        super().__init__(X)
        self.walked = [0]  # a list, which copies of this object share

    def read(self, start, stop):
        self.walked[0] += stop - start
        return super().read(start, stop)


def exact(X, center=True):
    """Singular values and vectors of the rows about their mean, or about 0; an offset costs the judge nothing."""
    return jacobi(preprocess(X.astype(np.longdouble) - X[len(X) // 2] if center else X, center))


def assert_within(found, X):
    """R has the singular values of the centred rows to its own bound, and the mean is theirs."""
    sigma, _ = exact(X, found.centred)
    bound = found.rounding / 2 * np.sqrt(found.sizes.sum())
    ours = np.zeros(X.shape[1])
    ours[: min(found.triangle.shape)] = np.linalg.svd(found.triangle, compute_uv=False)
    assert np.abs(ours - sigma).max() <= bound
    assert bound <= 1e-10 * np.sqrt(found.sizes.sum())  # and the bound is no idle one
    np.testing.assert_allclose(found.scatter, (found.triangle**2).sum(axis=0), rtol=1e-13)
    if found.centred:
        error = (found.shift.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)) + found.delta
        assert (np.abs(error) <= bound / np.sqrt(len(X)) + 1e-18 * np.abs(X).max()).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.uint8, np.int64])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("shape", [(700, 5), (6, 5), (5, 5), (1, 5), (3, 5), (40, 1)])
def test_the_triangle_is_that_of_the_centred_rows(dtype, center, shape, small_leaves):
    X = (np.random.default_rng(0).integers(0, 40, shape) + 100).astype(dtype)
    found = triangular_moments(as_rows(X), center=center)
    assert found.count == len(X)
    assert len(found.triangle) == min(shape[0] - center, shape[1])
    assert_within(found, X)
    whole = moments(as_rows(X), center=center)
    np.testing.assert_allclose(found.formed().scatter, whole.scatter, atol=1e-12 * np.trace(whole.scatter))
    np.testing.assert_allclose(found.mean, whole.mean, rtol=1e-13)


def test_leaves_and_runs_change_nothing_but_rounding(small_leaves, monkeypatch):
    X = with_spectrum(3000, 6, 1e-14 ** (np.arange(6) / 5), np.random.default_rng(1), offset=1e8)
    parts = []
    run = tsqr.r_factor
    monkeypatch.setattr(tsqr, "r_factor", lambda *blocks: parts.append(len(blocks)) or run(*blocks))
    assert_within(triangular_moments(as_rows(X)), X)
    assert parts.count(1) > 100  # leaves
    assert parts.count(2) == parts.count(1) - 1  # merges


@pytest.mark.parametrize("make", [lambda X: X, sp.csr_array], ids=["dense", "sparse"])
def test_a_drifting_mean_and_constant_columns(make, small_leaves):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((2000, 4)) * [1, 1e-3, 1e-6, 0] + np.linspace(0, 1e3, 2000)[:, None] * [1, 0, 0, 0]
    X[:, 3] = 813.123
    found = triangular_moments(as_rows(make(X)))
    assert_within(found, X)
    np.testing.assert_array_equal(found.triangle[:, 3], 0)
    assert found.mean[3] == 813.123


@settings(max_examples=usually(120, thorough=400), deadline=None)
@given(
    d=st.integers(1, 9),
    times=st.sampled_from([0, 1, 3, 12, 50]),
    smallest=st.sampled_from(SMALLEST),
    offset=st.sampled_from([0.0, 1.0, 1e4, 1e8]),
    leaf=st.integers(1, 40),
    lane=st.integers(4, 200),
    options=st.sampled_from([{}, {}, {"scale": True}, {"center": False}, {"ddof": 0}]),
    cuts=st.none() | st.lists(st.integers(0, 450), max_size=5),
    seed=st.integers(0, 2**32),
)
def test_no_bound_is_violated_by_any_leaves_runs_and_batches(
    d, times, smallest, offset, leaf, lane, options, cuts, seed
):
    rng = np.random.default_rng(seed)
    n = d + 1 + times * d
    X = with_spectrum(n, d, smallest ** (np.arange(d) / max(1, d - 1)), rng, offset)
    pca = PCA(svd_solver="svd", **options)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        for name, size in {"BLOCK_BYTES": 8 * d * lane, "BLOCK_ROWS": 1, "RUN_ROWS": lane, "RUN_WORK": 1}.items():
            patch.setattr(passes, name, size)
        patch.setattr(tsqr, "LEAF_BYTES", 8 * (d + 1) * leaf)
        patch.setattr(tsqr, "LEAF", 1)
        try:
            for batch in [X] if cuts is None else np.split(X, sorted(min(cut, n) for cut in cuts)):
                pca = pca.fit(X) if cuts is None else pca.partial_fit(batch) if len(batch) else pca
            certificate = pca.certificate_
        except DataError as error:
            assert "scale=True" in str(error)
            return
    assert (pca.plan_.solver, certificate.passes) == ("svd", 1)
    assert certificate.satisfied
    ratio = np.sqrt(np.longdouble(n - pca.ddof))
    Z = preprocess(X.astype(np.longdouble) - X[0] if pca.center else X, pca.center, pca.scale, pca.ddof) / ratio
    sigma, vectors = jacobi(Z)
    low, high = np.sqrt(certificate.value_bounds.T)
    judge = 1e-18 * sigma[0]
    assert (low <= sigma + judge).all()
    assert (sigma <= high + judge).all()
    assert high[-1] - low[-1] <= 1e-11 * high[0]  # down to small ones
    for s, e in certificate.groups:
        bound = certificate.angle_bounds[s]
        assert bound == 1 or sine(pca.subspace_.axes[:, s:e], vectors[:, s:e]) <= bound + 1e-15


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"center": False}, {"svd_solver": "auto"}])
@pytest.mark.parametrize("size", [1.0, 1e-60, 1e100])
def test_svd_walks_the_rows_once(options, size):
    n = 400 if "svd_solver" in options else 5000
    rows = Counted(np.random.default_rng(3).standard_normal((n, 7)) * size)
    pca = PCA(**{"svd_solver": "svd"} | options).fit(rows)
    assert rows.walked[0] == n
    assert (pca.plan_.solver, pca.plan_.passes, pca.certificate_.passes) == ("svd", 1, 1)


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"center": False}])
@pytest.mark.parametrize("sizes", [[1e-305, 1e-304, 1e-303], [1e306, 1e305, 1e304], [1e-300, 1.0, 1e300]], ids=str)
def test_the_ends_of_the_range_of_float64(options, sizes):
    X = np.random.default_rng(4).standard_normal((300, 3))
    found = triangular_moments(as_rows(X * sizes), center=options.get("center", True))
    R = found.triangle * (found.unit / sizes)
    np.testing.assert_allclose(np.linalg.svd(R)[1], exact(X, found.centred)[0].astype(float), rtol=1e-13)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        pca = PCA(1, svd_solver="svd", **options).fit(X * sizes)
    if options.get("scale"):
        np.testing.assert_allclose(pca.explained_variance_, PCA(1, scale=True).fit(X).explained_variance_, rtol=1e-12)
    else:
        largest = np.linalg.svd(preprocess(X, pca.center).astype(float) * (np.array(sizes) / max(sizes)))[1][0]
        np.testing.assert_allclose(pca.singular_values_, largest * max(sizes), rtol=1e-12)


def test_differences_that_overflow_are_an_error():
    with pytest.raises(DataError, match="differences between entries overflow"):
        triangular_moments(as_rows(np.array([[1.7e308], [-1.7e308], [1.7e308], [1e308]])))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 1, 2, 499, 998, 999])
def test_entries_that_are_not_finite_are_seen_in_the_same_walk(row, value, center, small_leaves):
    """Even beside zeros, where reflections have nothing to do."""
    for X in (np.zeros((1000, 3)), np.random.default_rng(5).standard_normal((1000, 3))):
        X[row, 2] = value
        with pytest.raises(DataError, match=f"first at row {row}, column 2"):
            PCA(1, svd_solver="svd", center=center).fit(X)


SPLITS = {
    "one by one": list(range(1, 90)),
    "few": [1, 3, 50],
    "fewer rows than columns first": [4],
    "most first": [80],
    "none": [],
}


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"center": False}], ids=str)
@pytest.mark.parametrize("split", SPLITS)
def test_batches_keep_the_digits_of_small_variances(options, split):
    X = with_spectrum(90, 6, 1e-10 ** (np.arange(6) / 5), np.random.default_rng(6), offset=2.0)
    streamed = PCA(svd_solver="svd", **options)
    for batch in np.split(X, SPLITS[split]):
        streamed.partial_fit(batch)
    Z = preprocess(X, streamed.center, streamed.scale)
    sigma = jacobi(Z)[0].astype(float)
    np.testing.assert_allclose(streamed.singular_values_, sigma, atol=1e-13 * sigma[0])
    assert sigma[-1] < 1e-7 * sigma[0]  # what a covariance cannot see
    assert streamed.plan_.solver == "svd"
    assert "R factor" in streamed.plan_.why
    assert streamed.certificate_.rank == 6


def test_models_of_parts_merge_by_their_triangles():
    X = with_spectrum(300, 6, 1e-12 ** (np.arange(6) / 5), np.random.default_rng(7), offset=1e3)
    parts = [PCA(2, svd_solver="svd").fit(part) for part in np.split(X, [40, 190])]
    sigma, vectors = exact(X)
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        whole = merge(parts[i] for i in order).set_params(n_components=6)
        np.testing.assert_allclose(whole.singular_values_, sigma.astype(float), atol=2e-13 * float(sigma[0]))
        assert sine(whole.subspace_.axes[:, :3], vectors[:, :3]) < 1e-7
        assert whole.plan_.solver == "svd"
    more = parts[0].partial_fit(X[40:])  # a fitted model goes on
    np.testing.assert_allclose(more.set_params(n_components=6).singular_values_, whole.singular_values_, atol=1e-12)


@pytest.mark.parametrize("solver", ["covariance", "krylov", "power", "gram"])
def test_triangles_serve_every_solver_and_merge_with_sums(solver):
    X = np.random.default_rng(8).standard_normal((400, 5)) * [5, 4, 3, 2, 1] + 7
    expected = PCA(3, svd_solver="svd").fit(X)
    kept = PCA(3, svd_solver="svd").fit(X[:150])
    mixed = merge([kept, PCA(3, svd_solver="covariance").fit(X[150:])])
    alone = merge([kept, PCA(3, svd_solver="svd").fit(X[150:])]).set_params(svd_solver=solver)
    for pca in (mixed, alone):
        np.testing.assert_allclose(pca.explained_variance_, expected.explained_variance_, rtol=1e-6)
        assert pca.plan_.solver == ("covariance" if pca is mixed or solver == "gram" else solver)
        assert pca.certificate_.satisfied
    assert "svd needs the rows" in mixed.plan_.why


def test_all_components_of_few_batches():
    X = np.random.default_rng(9).standard_normal((10, 30))
    pca = PCA(svd_solver="svd").partial_fit(X[:4]).partial_fit(X[4:])
    assert pca.n_components_ == 10
    np.testing.assert_allclose(pca.explained_variance_, PCA().fit(X).explained_variance_, atol=1e-12)
    plain = PCA(svd_solver="svd", center=False).partial_fit(X[:1]).partial_fit(X[1:3])
    np.testing.assert_allclose(plain.singular_values_, np.linalg.svd(X[:3])[1], rtol=1e-12)


def test_a_stream_of_wide_batches_needs_memory():
    with pytest.raises(ValueError, match="moments of 900 columns take"):
        PCA(2, svd_solver="svd", memory_limit="1MB").partial_fit(np.ones((3, 900)))


def test_means_far_apart_keep_two_words():
    """Rows at 0, then ever more of them at 2³⁰ + 1/3: what one word would round away is below later differences."""
    far, third = 2.0**30, 1 / 3
    ends = [1000 * 2**k for k in range(12)]
    merged = moments(as_rows(np.zeros((1000, 1))))
    for start, end in pairwise(ends):
        merged = merged.merge(moments(as_rows(np.full((end - start, 1), far + third))))
    truth = (np.longdouble(far + third) - far) - np.longdouble(far + third) * ends[0] / ends[-1]
    error = float((np.longdouble(merged.shift[0]) - far - truth) + merged.delta[0])
    assert abs(error) < 2e-9  # one unit in the last place of the mean is 1.2e-7
