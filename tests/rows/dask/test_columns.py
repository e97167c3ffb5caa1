"""Wide dask arrays whose columns are cut: fitted chunk by chunk of columns, with the numbers of LAPACK."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

from benchmarks.hunt.routes import judged
from helpers.matrices import preprocess, with_spectrum
from ritz import PCA, DataError, KernelPCA, plan, read
from ritz.errors import ChunkError
from ritz.rows import as_rows

pytestmark = pytest.mark.usefixtures("by_threads")
N, D = 30, 400
RNG = np.random.default_rng(0)
X = with_spectrum(N, D, 5 * 0.7 ** np.arange(N), RNG, offset=3.0)
SPARSE = np.where(RNG.random((N, D)) < 0.1, X, 0.0)


def chunked(X=X, chunks=(N, 130)):
    return da.from_array(X, chunks=chunks)


SOURCES = {
    "even": (chunked(), X),
    "uneven": (chunked(chunks=(N, (1, 0, 299, 100))), X),
    "rows cut too": (chunked(chunks=(7, 130)), X),
    "far from 0": (chunked(X + 1e8), X + 1e8),
    "float32": (chunked(X.astype("f4")), X.astype("f4")),
    "integers": (chunked((10 * X).astype("i1")), (10 * X).astype("i1")),
    "csc": (chunked(SPARSE).map_blocks(scipy.sparse.csc_array), SPARSE),
    "csr, rows cut too": (chunked(SPARSE, (15, 130)).map_blocks(scipy.sparse.csr_array), SPARSE),
}


def lapack(X, **how):
    """Variances, axes with the signs of ours, and the total variance, of rows centred in extended precision."""
    Z = np.asarray(preprocess(X, **how), float)
    _, sigma, Vt = np.linalg.svd(Z, full_matrices=False)
    variances = sigma**2 / (len(Z) - how.get("ddof", 1))
    large = np.abs(Vt) >= (1 - 1e-3) * np.abs(Vt).max(axis=1, keepdims=True)
    first = np.take_along_axis(Vt, large.argmax(axis=1)[:, None], axis=1)
    return variances, Vt * np.sign(first), variances.sum()


def check(pca, X, **how):
    """Variances to 50·d·eps of their sum, axes by the gaps around them, signs too."""
    variances, axes, total = lapack(X, **how)
    k, limit = pca.n_components_, 50 * D * np.finfo(float).eps * total
    narrow = 4 * np.finfo(np.float32).eps * variances[0] if pca.components_.dtype == np.float32 else 0.0
    assert pca.certificate_.satisfied
    assert np.abs(pca.explained_variance_ - variances[:k]).max() <= limit + narrow
    gaps = np.minimum(-np.diff(variances[: k + 1]), np.r_[np.inf, -np.diff(variances[:k])])
    assert (np.linalg.norm(pca.components_ - axes[:k], axis=1) <= 2 * (limit + narrow) / gaps + 1e-6).all()


@pytest.mark.parametrize("solver", ["auto", "gram", "krylov"])
@pytest.mark.parametrize("name", SOURCES)
def test_a_fit_is_that_of_lapack(name, solver):
    x, whole = SOURCES[name]
    pca = PCA(3, svd_solver=solver, tol=1e-9).fit(x)
    check(pca, whole)
    assert np.allclose(pca.mean_, whole.mean(axis=0, dtype=float), rtol=1e-14, atol=1e-14)
    assert pca.plan_.side == "gram" or pca.plan_.solver == "svd"
    assert judged(name, whole, pca).violations() == []


@pytest.mark.parametrize("how", [{"scale": True}, {"center": False}, {"center": False, "scale": True}, {"ddof": 0}])
def test_preprocessing_is_done_in_the_chunks(how):
    pca = PCA(3, svd_solver="gram", **how).fit(chunked(chunks=(N, 90)))
    check(pca, X, **how)
    if "scale" in how and "center" not in how:
        assert np.allclose(pca.scale_, X.std(axis=0, ddof=1), rtol=1e-13)


@pytest.mark.parametrize("asked", [0.9, None, N - 1])
def test_any_number_of_components(asked):
    ours, theirs = (PCA(asked, svd_solver="gram").fit(data) for data in (chunked(), X))
    assert ours.n_components_ == theirs.n_components_
    assert np.allclose(ours.explained_variance_, theirs.explained_variance_, atol=1e-13 * ours.total_variance_)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e200])
def test_columns_at_the_ends_of_the_range(size):
    ours, theirs = (PCA(3).fit(data) for data in (chunked(X * size), X * size))
    assert np.allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-12, atol=0)
    assert np.allclose(ours.components_, theirs.components_, atol=1e-12)


def test_a_constant_column_has_no_part_in_anything():
    still = X.copy() * 1e-200
    still[:, :150] = 0.1  # whose mean is not 0.1 in float64
    pca = PCA(2, svd_solver="gram").fit(chunked(still))
    assert not pca.components_[:, :150].any()
    assert (pca.mean_[:150] == 0.1).all()
    with pytest.raises(DataError, match=r"150 column\(s\) are constant.*: 0 \(column 0 of chunk \[:, 0\]\)"):
        PCA(2, scale=True).fit(chunked(still))


def test_what_is_chosen_is_told():
    rows = as_rows(chunked())
    assert "30 rows, 400 columns, float64" in repr(rows)
    wide = da.zeros((500, 10_000_000), chunks=(500, 100_000))
    found = plan(wide, 10)
    assert (found.solver, found.side, found.passes) == ("gram", "gram", 3)
    assert 500 * 500 * 8 < found.memory < wide.nbytes / 5


def test_less_memory_means_no_matrix():
    tall = with_spectrum(300, 400, 5 * 0.5 ** np.arange(299), RNG)
    pca = PCA(2, memory_limit="3MB", tol=1e-8).fit(da.from_array(tall, chunks=(300, 150)))  # 8·n² is 0.7 MB
    assert (pca.plan_.solver, pca.plan_.side, pca.plan_.dense) == ("krylov", "gram", False)
    variances, axes, _ = lapack(tall)
    assert np.allclose(pca.explained_variance_, variances[:2], rtol=1e-8)
    assert np.allclose(pca.components_, axes[:2], atol=1e-6)


def gap(block, block_info=None):
    block = block.copy()
    if block_info[0]["chunk-location"] == (0, 2):
        block[7, 5] = np.nan
    return block


def fails(block, block_info=None):
    if block_info[0]["chunk-location"] == (0, 1):
        raise OSError("no such disk")
    return block


def mapped(f):
    return chunked().map_blocks(f, dtype=float, meta=np.empty((0, 0)))


LARGE = np.ones((N, D), int)
LARGE[3, 200] = 2**53 + 1
WHOLE = r'needs chunks of whole rows; pass x\.rechunk\(\{0: "auto", 1: -1\}\)'
ERRORS = {
    "a gap": (lambda: PCA(1).fit(mapped(gap)), r"1 NaN, first at row 7, column 265 \(column 5 of chunk \[:, 2\]\)"),
    "a chunk that fails": (lambda: PCA(1).fit(mapped(fails)), r"chunk \[:, 1\] cannot.*x\.blocks\[:, 1\]\.compute"),
    "a size that is not true": (lambda: PCA(1).fit(mapped(lambda b: b[:, 1:])), r"\[:, 0\] is 30×129, but 30×130 was"),
    "large integers": (lambda: PCA(1).fit(chunked(LARGE)), r"chunk \[:, 1\]: column 70 holds 9007199254740993"),
    "unknown sizes": (lambda: PCA(1).fit(chunked()[:, chunked()[0] > 0]), r"sizes .* not known.*compute_chunk_sizes"),
    "more rows than columns": (
        lambda: PCA(1).fit(chunked(X.T, (130, 10))),
        f"at least as many rows as columns {WHOLE}",
    ),
    "the covariance": (lambda: PCA(1, svd_solver="covariance").fit(chunked()), f"svd_solver='covariance' {WHOLE}"),
    "a count by sign flips": (lambda: PCA("auto").fit(chunked()), f"n_components='auto' {WHOLE}"),
    "batches": (lambda: PCA(1).partial_fit(chunked()), f"partial_fit {WHOLE}"),
    "kernels": (lambda: KernelPCA(1, kernel="rbf", n_landmarks=5).fit(chunked()), f"KernelPCA {WHOLE}"),
    "rows": (lambda: read(chunked()).take([1]), f"a pass over rows {WHOLE}"),
    "some columns": (lambda: read(chunked(), columns=[1, 2]), f"a choice of columns {WHOLE}"),
    "gaps": (lambda: read(chunked(), missing="mean"), f"missing='mean' {WHOLE}"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_place_and_the_next_step(name):
    call, words = ERRORS[name]
    with pytest.raises(DataError, match=words) as found:
        call()
    assert isinstance(found.value, ChunkError) == (name == "a chunk that fails")
