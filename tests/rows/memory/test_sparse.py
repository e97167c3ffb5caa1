"""Sparse matrices give what their dense twins give, and damaged ones an error instead of a crash."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers.counts import usually
from helpers.matrices import promised, random_array, sine
from helpers.memory import traced
from ritz import PCA, AccuracyWarning, ColumnWarning, DataError, read
from ritz.fitting import costs
from ritz.linalg import sparse
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import moments
from ritz.rows import as_rows

FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]
SOLVERS = ["auto", "covariance", "gram", "svd", "krylov", "orthogonal"]
PREPARATIONS = {
    "centre": {},
    "none": {"center": False},
    "scale": {"scale": True},
    "scale only": {"center": False, "scale": True},
}
SHAPES = {"tall": (400, 30), "wide": (30, 400), "square": (120, 120)}


def matrix(shape, density=0.2, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = random_array(shape, density=density, format="csr", rng=rng, data_sampler=rng.standard_normal)
    X.data += 2.0
    return X.astype(dtype)


def close(found, expected, X):
    """Values within what both certificates allow, the same subspace, and the same results on the rows."""
    tr = expected.total_variance_
    tol = promised(X.shape) * tr + 2e-6 * expected.explained_variance_[0] * (
        found.plan_.solver in ("krylov", "orthogonal")
    )
    np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, atol=tol, rtol=0)
    np.testing.assert_allclose(found.total_variance_, tr, rtol=1e-12)
    np.testing.assert_allclose(found.mean_, expected.mean_, atol=1e-13)
    bound = float(found.certificate_.angle_bounds.max() + expected.certificate_.angle_bounds.max())
    assert sine(found.components_.T, expected.components_.T) <= bound + 1e-12


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_format_equals_its_dense_twin(layout, shape):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
        X = matrix(SHAPES[shape]).asformat(layout)
    close(PCA(3).fit(X), PCA(3).fit(X.toarray()), X)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("prep", PREPARATIONS)
@pytest.mark.parametrize("density", [0.03, 0.3])
def test_every_solver_and_preprocessing(solver, shape, prep, density):
    X = matrix(SHAPES[shape], density, seed=3)
    X = sp.csr_array(sp.vstack([X, sp.csr_array(np.full((1, X.shape[1]), 3.0))]))  # no column is without entries
    D = X.toarray()
    options = {"svd_solver": solver, **PREPARATIONS[prep]}
    found, expected = PCA(3, **options).fit(X), PCA(3, **options).fit(D)
    assert found.certificate_.satisfied
    close(found, expected, X)
    np.testing.assert_allclose(found.transform(X), found.transform(D), atol=1e-10)
    np.testing.assert_allclose(found.reconstruction_error(X), found.reconstruction_error(D), atol=1e-9)
    np.testing.assert_allclose(found.score_samples(X), found.score_samples(D), rtol=1e-8)
    low, high = found.certificate_.value_bounds.T
    truth = np.linalg.svd(_prepared(D, found), compute_uv=False)[:3]
    variances = truth**2 / (len(D) - 1)
    assert (low <= variances * (1 + 1e-13)).all()
    assert (variances * (1 - 1e-13) <= high).all()


def _prepared(D, pca):
    Z = D - pca.mean_ if pca.center else D
    return Z / pca.scale_ if pca.scale_ is not None else Z


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, bool])
def test_every_dtype(dtype):
    X = matrix((200, 25), dtype=np.float64)
    X.data = (X.data > 1) if dtype is bool else np.round(np.abs(3 * X.data)).astype(dtype)
    X = sp.csr_array(X).astype(dtype)
    found, expected = PCA(3).fit(X), PCA(3).fit(X.toarray())
    np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, rtol=2e-6)
    assert found.components_.dtype == expected.components_.dtype
    assert found.transform(X).dtype == expected.transform(X.toarray()).dtype


@pytest.mark.parametrize("dtype", [np.float16, ">f8", ">i4"])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
def test_values_that_scipy_cannot_compute_with(layout, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
        X = matrix((200, 25)).asformat(layout)
    X.data = np.round(3 * X.data)
    D = X.toarray()
    X.data = X.data.astype(dtype)
    before = X.data.tobytes()
    found, expected = PCA(3).fit(X), PCA(3).fit(D.astype(dtype))
    np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, rtol=1e-6)
    assert found.components_.dtype == expected.components_.dtype
    np.testing.assert_allclose(
        found.transform(X), D @ found.components_.T - found.mean_ @ found.components_.T, atol=1e-4
    )
    assert X.data.tobytes() == before
    assert X.data.dtype == dtype


def test_wide_indices_explicit_zeros_and_full_or_empty_matrices():
    X = matrix((300, 20))
    X.data[::7] = 0.0
    long = sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    for twin in (X, long):
        close(PCA(3).fit(twin), PCA(3).fit(X.toarray()), X)
    full = np.random.default_rng(1).standard_normal((300, 20))
    close(PCA(3).fit(sp.csr_array(full)), PCA(3).fit(full), full)
    with pytest.warns(AccuracyWarning, match="rank 0"):
        empty = PCA(2).fit(sp.csr_array((50, 10)))
    assert (empty.explained_variance_ == 0).all()
    np.testing.assert_allclose(empty.components_ @ empty.components_.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_duplicates_and_unsorted_indices_are_summed_on_a_copy(layout):
    rng = np.random.default_rng(2)
    rows, columns = rng.integers(200, size=3000), rng.integers(15, size=3000)
    data = rng.integers(1, 100, size=3000).astype(np.int8)  # sums overflow int8
    D = np.zeros((200, 15))
    np.add.at(D, (rows, columns), data)
    if layout == "coo":
        X = sp.coo_array((data, (rows, columns)), shape=D.shape)
        parts = [X.data, *X.coords]
    else:
        major, minor = (rows, columns) if layout == "csr" else (columns, rows)
        order = np.argsort(major, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=D.shape[layout == "csc"]))])
        X = getattr(sp, f"{layout}_array")((data[order], minor[order], ends), shape=D.shape)
        parts = [X.data, X.indices, X.indptr]
    before = [part.tobytes() for part in parts]
    close(PCA(3).fit(X), PCA(3).fit(D), D)
    assert [part.tobytes() for part in parts] == before


def damaged(layout, **changes):
    X = matrix((20, 10)).asformat(layout)
    for name, change in changes.items():
        getattr(X, name)[...] = change(getattr(X, name).copy())
    return X


def put(position, value):
    def change(part):
        part[position] = value
        return part

    return change


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (damaged("csr", indices=put(3, 10)), "entry 3 has column index 10, outside of 0 to 9"),
        (damaged("csr", indices=put(3, -1)), "entry 3 has column index -1, outside of 0 to 9"),
        (damaged("csc", indices=put(0, 20)), "entry 0 has row index 20, outside of 0 to 19"),
        (damaged("csr", indptr=put(-1, 10**6)), "index pointers"),
        (damaged("csr", indptr=put(4, 10**6)), "index pointers"),
        (damaged("csc", indptr=put(0, 2)), "index pointers"),
        (damaged("bsr", indices=put(0, 10**6)), "has column index"),
        (damaged("coo", row=put(1, 99)), "has row index 99, outside of 0 to 19"),
        (damaged("coo", col=put(1, 99)), "has column index 99, outside of 0 to 9"),
    ],
)
def test_damaged_matrices_are_errors(X, message):
    with pytest.raises(DataError, match=message):
        PCA(2).fit(X)


def test_damaged_lists_and_diagonals_are_errors():
    for column in (77, -3):
        L = sp.lil_array((5, 4))
        L[0, 0], L[2, 3] = 1.0, 2.0
        L.rows[1], L.data[1] = [column], [1.0]
        with pytest.raises(DataError, match=f"column index {column}, outside of 0 to 3"):
            PCA(1).fit(L)
    L.data[1] = [1.0, 2.0]
    with pytest.raises(DataError, match="more indices than values, or fewer"):
        PCA(1).fit(L)


def test_values_that_are_no_real_numbers():
    X = matrix((50, 10))
    for value, what in ((np.nan, "1 NaN"), (np.inf, "infinity")):
        bad = X.tolil()
        bad[12, 3] = value
        for solver in SOLVERS:
            with pytest.raises(DataError, match=f"{what}.* row 12, column 3"):
                PCA(2, svd_solver=solver).fit(bad)
    with pytest.raises(DataError, match="Complex"):
        PCA(2).fit(X.astype(complex))
    with pytest.raises(DataError, match="2D"):
        PCA(2).fit(sp.coo_array(np.ones(5)))


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_tiny_and_huge_values(size):
    X = matrix((200, 20))
    found, expected = PCA(3).fit(X * size), PCA(3).fit(X)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-10)
    np.testing.assert_allclose(found.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=1e-10)


def test_what_implicit_centring_costs_is_in_the_certificate():
    """Far from the origin a sparse matrix without zeros loses digits, and says so."""
    rng = np.random.default_rng(5)
    D = rng.standard_normal((2000, 6)) * [3, 2, 1, 0.5, 0.3, 0.1] + 1e6
    truth = np.linalg.eigvalsh(np.cov((D - 1e6).T))[::-1]
    for solver in ("krylov", "covariance", "gram", "svd"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            found = PCA(3, svd_solver=solver).fit(sp.csr_array(D))
        low, high = found.certificate_.value_bounds.T
        assert (low <= truth[:3] * (1 + 1e-9)).all()
        assert (truth[:3] * (1 - 1e-9) <= high).all()


@pytest.mark.parametrize("kernel", ["scipy", "numba"])
def test_products_are_the_same_for_any_number_of_threads(kernel, monkeypatch, blas_as_it_is):
    if kernel == "numba":
        pytest.importorskip("numba")
        monkeypatch.setattr(sparse, "COMPILE", 0)
    A = matrix((900, 500), 0.1).tolil()
    A[17] = 0.0  # a row without entries
    A = sp.csr_array(A)
    V = np.random.default_rng(0).standard_normal((500, 5))
    found = []
    for workers in (1, 2, 5):
        monkeypatch.setattr("ritz.runtime.threads.Pin._allowed", lambda pin, workers=workers: workers)
        found.append(sparse.product(A, V))
    np.testing.assert_allclose(found[0], A.toarray() @ V, atol=1e-11)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    np.testing.assert_allclose(sparse.product(A.astype(np.float32), V), A.astype(np.float32) @ V, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint16, bool])
def test_products_by_numba_with_any_number_of_columns(dtype, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(sparse, "COMPILE", 0)
    A = matrix((90, 50), 0.3)
    A.data = np.abs(np.round(3 * A.data)).astype(dtype)
    wide = sp.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    dense, V = A.toarray().astype(float), np.random.default_rng(0).standard_normal((50, 100))
    for b in (0, 1, 2, 7, 8, 9, 16, 17, 24, 32, 33, 67, 100):
        found = sparse.product(A, V[:, :b])
        assert found.shape == (90, b)
        np.testing.assert_allclose(found, dense @ V[:, :b], rtol=1e-13, atol=1e-12)
        np.testing.assert_array_equal(sparse.product(wide, np.asfortranarray(V[:, :b])), found)
        np.testing.assert_array_equal(found, sparse.product(A, V)[:, :b])  # whatever stands beside a column


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint16, bool])
def test_products_by_scipy_with_and_without_its_own_loop(dtype, monkeypatch):
    A = matrix((90, 50), 0.3)
    A.data = np.abs(np.round(3 * A.data)).astype(dtype)
    V = np.random.default_rng(0).standard_normal((50, 20))
    found = sparse.product(A, V[:, ::2])
    np.testing.assert_allclose(found, A.toarray().astype(float) @ V[:, ::2], rtol=1e-13, atol=1e-12)
    monkeypatch.setattr(sparse, "_scipy_loop", lambda: None)
    np.testing.assert_array_equal(sparse.product(A, V[:, ::2]), found)


def test_columns_without_entries_beside_columns_of_any_size():
    """Their squares are 0 as those of numbers that underflow are; both are told apart, whichever rows hold what."""
    X = np.zeros((5000, 40))
    X[:, :10] = np.random.default_rng(0).standard_normal((5000, 10))
    X[4000:, 10] = 1e-200
    X[:, 11] = -1e-170
    found = moments(as_rows(sp.csr_array(X)), center=False, scatter=Scatter.DIAGONAL)
    expected = moments(as_rows(X), center=False, scatter=Scatter.DIAGONAL)
    np.testing.assert_array_equal(found.unit, expected.unit)
    assert (found.unit[:12] != found.unit[11]).any()
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-12)


def test_products_without_what_compiles(monkeypatch):
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    monkeypatch.setattr(sparse, "COMPILE", 0)
    sparse._compiled.cache_clear()
    A = matrix((60, 30), 0.2)
    np.testing.assert_allclose(sparse.product(A, np.ones((30, 2))), A @ np.ones((30, 2)), rtol=1e-13)
    sparse._compiled.cache_clear()


def test_the_rows_are_never_dense_as_a_whole():
    """A matrix that would take 10 or 40 GB: memory stays within what its entries need."""
    n, d = usually((25_000, 50_000), thorough=(50_000, 100_000))
    X = random_array((n, d), density=1e-4, format="csr", rng=np.random.default_rng(0))
    with traced() as taken, warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        pca = PCA(2, iterated_power=4, svd_solver="krylov").fit(X)
        pca.transform(X)
        pca.reconstruction_error(X[:1000])
    assert taken.peak < 4000 * d


def test_blocks_share_memory_and_take_gives_rows():
    X = matrix((300, 20))
    rows = as_rows(X)
    assert np.shares_memory(rows.block(10, 200).data, X.data)
    np.testing.assert_array_equal(rows.block(10, 200).toarray(), X.toarray()[10:200])
    np.testing.assert_array_equal(rows.take(np.array([5, 1])).toarray(), X.toarray()[[5, 1]])


def frame(X, **options):
    return pd.DataFrame.sparse.from_spmatrix(X, columns=[f"c{j}" for j in range(X.shape[1])], **options)


@pytest.mark.filterwarnings("ignore:Allowing arbitrary scalar fill_value")  # pandas fills booleans with 0
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, bool])
def test_sparse_tables_equal_their_matrix(dtype):
    X = matrix((300, 20))
    X.data = np.abs(np.round(3 * X.data)).astype(dtype)
    table = frame(X.tocoo())
    rows = as_rows(table)
    assert rows.sparse
    assert rows.dtype == dtype
    assert rows.names == tuple(table.columns)
    np.testing.assert_array_equal(rows.block(0, 300).toarray(), X.toarray())
    found, expected = PCA(3).fit(table), PCA(3).fit(X.toarray())
    np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, rtol=2e-6)
    assert list(found.feature_names_in_) == list(table.columns)
    np.testing.assert_array_equal(found.transform(table), PCA(3).fit(X).transform(X))


def test_sparse_tables_with_other_columns_between():
    X = matrix((300, 20), 0.05)
    table = frame(X.tocoo())
    other = np.random.default_rng(0).standard_normal(300)
    other[3] = 0.0
    table.insert(4, "dense", other)
    table.insert(7, "ones", pd.arrays.SparseArray(np.r_[0.0, np.ones(299)], fill_value=1.0))
    table.insert(9, "flag", pd.arrays.SparseArray(other > 1))
    table.insert(0, "full", pd.arrays.SparseArray(other))  # stored whole, though the fill value is nan
    rows = as_rows(table)
    assert rows.sparse
    expected = np.column_stack([table[name].to_numpy() for name in table]).astype(float)
    np.testing.assert_array_equal(rows.block(0, 300).toarray(), expected)
    assert rows.names == tuple(table.columns)
    few = table[["dense", "full", "ones", "c0"]]  # less memory when dense
    assert not as_rows(few).sparse
    np.testing.assert_array_equal(as_rows(few).block(0, 300), few.to_numpy(float))
    twice = table[["c0", "c1", "c0"]].set_axis(["a", "b", "a"], axis=1)
    with pytest.warns(ColumnWarning, match="more than once"):
        np.testing.assert_array_equal(as_rows(twice).block(0, 300).toarray(), X.toarray()[:, [0, 1, 0]])


def test_sparse_tables_that_are_no_numbers_or_have_gaps():
    table = frame(matrix((300, 20)).tocoo())
    for column, message in (
        (pd.arrays.SparseArray(["a", "b"] * 150), r"'bad' holds .*'a'|'bad' holds Sparse"),
        (pd.arrays.SparseArray([0.0, 1.0, np.nan] * 100, fill_value=0.0), "100 NaN, first at row 2, column 'bad'"),
        (pd.arrays.SparseArray([0.0, 1.0, np.nan] * 100), "100 NaN in column 'bad', first at row 2, .* nan"),
        (np.array(["x"] * 300), "'bad' holds"),
    ):
        bad = table.assign(bad=column)
        with pytest.raises(DataError, match=message):
            PCA(2).fit(bad)


def test_sparse_tables_are_never_dense_as_a_whole():
    X = random_array((200_000, 500), density=1e-3, format="csc", rng=np.random.default_rng(0))
    table = frame(X.tocoo())
    with traced() as taken:
        as_rows(table)
    assert taken.peak < 20e6  # 800 MB would be dense, 1.2 MB are entries


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_missing_values_of_sparse_files(tmp_path, dtype):
    X = matrix((200, 15), dtype=dtype)
    X.data[[0, 5, 6, 400]] = np.nan
    D = X.toarray()
    sp.save_npz(tmp_path / "m.npz", X)
    with pytest.raises(DataError, match="4 NaN"):
        PCA(2).fit(tmp_path / "m.npz")
    gaps = np.isnan(D)
    dropped = read(tmp_path / "m.npz", missing="drop")
    assert dropped.sparse
    assert dropped.dtype == dtype
    np.testing.assert_array_equal(dropped.block(0, dropped.shape[0]).toarray(), D[~gaps.any(axis=1)])
    filled = read(tmp_path / "m.npz", missing="mean")
    means = np.nanmean(D, axis=0, dtype=float)  # zeros that are not stored are values too
    assert filled.sparse
    assert filled.dtype == dtype
    np.testing.assert_allclose(filled.block(0, 200).toarray(), np.where(gaps, means, D), rtol=1e-6)
    assert filled.block(0, 200).nnz == X.nnz
    column = int(np.argwhere(gaps)[0, 1])
    others = [j for j in range(15) if j != column]
    kept = read(tmp_path / "m.npz", columns=others, missing="drop")
    np.testing.assert_array_equal(kept.block(0, kept.shape[0]).toarray(), D[:, others][~gaps[:, others].any(axis=1)])
    sp.save_npz(tmp_path / "m.npz", sp.csr_array(np.where(np.arange(15) == 4, np.nan, np.eye(15))))
    with pytest.raises(DataError, match="drop all 15 rows"):
        read(tmp_path / "m.npz", missing="drop")
    with pytest.raises(DataError, match="column 4 has no value"):
        read(tmp_path / "m.npz", missing="mean")
    whole = matrix((50, 10))
    sp.save_npz(tmp_path / "w.npz", whole)
    for missing in ("drop", "mean"):
        np.testing.assert_array_equal(read(tmp_path / "w.npz", missing=missing).block(0, 50).toarray(), whole.toarray())


def test_plans_know_which_loop_multiplies(monkeypatch):
    pytest.importorskip("numba")
    rows = as_rows(matrix((900, 500), 0.1))
    monkeypatch.setattr(sparse, "COMPILE", rows.stored // 2)
    compiled = costs.krylov(rows, 10, "covariance", dense=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    without = costs.krylov(rows, 10, "covariance", dense=False)
    assert compiled.seconds < without.seconds
    assert (compiled.operations, compiled.memory) == (without.operations, without.memory)


def test_numba_that_cannot_be_imported_is_done_without(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(sparse, "COMPILE", 0)
    sparse._compiled.cache_clear()
    X = random_array((60, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    V = np.ones((30, 2))
    np.testing.assert_allclose(sparse.product(X, V), X.toarray() @ V, rtol=1e-14)
    sparse._compiled.cache_clear()
