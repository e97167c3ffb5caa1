"""AnnData objects: X is decomposed wherever it is, and the results stand where scanpy keeps them."""

import subprocess
import sys
import warnings
from dataclasses import fields, replace

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from anndata import ImplicitModificationWarning
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ritz
from helpers.matrices import random_array, sine
from helpers.memory import traced
from ritz import PCA, AccuracyWarning, ColumnWarning, DataError, merge
from ritz.estimators.anndata import plain
from ritz.rows import as_rows, passes

CELLS, GENES, K = 700, 120, 6
GENE_NAMES = [f"Gene {j}" for j in range(GENES)]


def expression() -> np.ndarray:
    """Counts like those of blood cells, of four types and unequal depth, normalised and on a log scale."""
    rng = np.random.default_rng(0)
    programs = 0.3 * rng.gamma(0.3, 1.0, (4, GENES)) * np.exp(0.7 * rng.standard_normal((4, GENES)))
    depth = np.exp(0.3 * rng.standard_normal(CELLS))
    counts = rng.poisson(5 * depth[:, None] * programs[rng.choice(4, CELLS, p=[0.5, 0.3, 0.15, 0.05])])
    return np.log1p(1e3 * counts / np.maximum(1, counts.sum(axis=1, keepdims=True)))


X = expression()
FORMATS = {
    "dense": np.array,
    "Fortran order": np.asfortranarray,
    "CSR": sp.csr_matrix,
    "CSC": sp.csc_matrix,
    "CSR array": sp.csr_array,
    "CSC array": sp.csc_array,
}


def cells(matrix=X) -> ad.AnnData:
    names = [f"cell {i}" for i in range(matrix.shape[0])]
    return ad.AnnData(matrix, pd.DataFrame(index=names), pd.DataFrame(index=GENE_NAMES[: matrix.shape[1]]))


def truth(data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Variances, axes and the centred data, by LAPACK in float64."""
    Z = np.asarray(data, dtype=np.float64)
    Z = Z - Z.mean(axis=0)
    values, vectors = np.linalg.eigh(Z.T @ Z / (len(Z) - 1))
    return values[::-1], vectors[:, ::-1], Z


def is_untouched(adata) -> bool:
    return not (len(adata.obsm) or len(adata.varm) or len(adata.uns))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", FORMATS)
def test_results_are_those_of_lapack_where_scanpy_keeps_them(kind, dtype):
    narrow = X.astype(dtype)
    adata = cells(FORMATS[kind](narrow))
    before = adata.X.copy()
    pca = PCA(K)
    scores = pca.fit_transform(adata)
    values, vectors, Z = truth(narrow)
    eps = 1e-5 if dtype == np.float32 else 1e-10
    axes = adata.varm["PCs"]
    assert (axes.shape, axes.dtype, scores.dtype) == ((GENES, K), dtype, dtype)
    assert sine(axes, vectors[:, :K]) <= eps
    np.testing.assert_allclose(adata.uns["pca"]["variance"], values[:K], rtol=eps)
    np.testing.assert_allclose(adata.uns["pca"]["variance_ratio"], values[:K] / values.sum(), rtol=eps)
    np.testing.assert_allclose(adata.obsm["X_pca"], Z @ axes, atol=eps * np.abs(Z).max())
    np.testing.assert_array_equal(adata.obsm["X_pca"], scores)
    np.testing.assert_array_equal(axes, pca.components_.T)
    assert list(pca.feature_names_in_) == GENE_NAMES
    difference = before != adata.X
    assert not (difference.nnz if sp.issparse(difference) else difference.any())


def test_fit_leaves_the_model_and_transform_the_scores_too():
    adata = cells()
    pca = PCA(K).fit(adata)
    assert set(adata.varm) == {"PCs"}
    assert set(adata.uns) == {"pca"}
    assert not len(adata.obsm)
    PCA(2).fit(X).transform(adata)
    assert adata.obsm["X_pca"].shape == (CELLS, 2)
    assert adata.varm["PCs"].shape == (GENES, 2)
    scores = pca.transform(adata)
    np.testing.assert_array_equal(adata.varm["PCs"], pca.components_.T)
    np.testing.assert_array_equal(adata.obsm["X_pca"], scores)
    scores[:] = 0.0
    assert adata.obsm["X_pca"].any()
    adata.varm["PCs"][:] = 0.0
    assert pca.components_.any()


def test_another_object_gets_the_model_that_made_its_scores():
    reference, query = cells(X[:500]), cells(sp.csr_matrix(X[500:]))
    PCA(2).fit(query)
    pca = PCA(K).fit(reference)
    pca.transform(query)
    np.testing.assert_array_equal(query.varm["PCs"], pca.components_.T)
    assert query.uns["pca"]["certificate"]["n_rows"] == 500
    np.testing.assert_allclose(query.obsm["X_pca"], (X[500:] - X[:500].mean(axis=0)) @ query.varm["PCs"], atol=1e-10)


@pytest.mark.parametrize("form", ["h5ad", "zarr"])
@pytest.mark.parametrize("options", [{}, {"svd_solver": "krylov"}, {"scale": True, "whiten": True}, {"center": False}])
def test_what_is_left_survives_a_file(tmp_path, form, options):
    adata = cells(sp.csr_matrix(X))
    pca = PCA(K, **options)
    pca.fit_transform(adata)
    getattr(adata, f"write_{form}")(tmp_path / f"cells.{form}")
    read = getattr(ad, f"read_{form}")(tmp_path / f"cells.{form}")
    np.testing.assert_array_equal(read.obsm["X_pca"], adata.obsm["X_pca"])
    np.testing.assert_array_equal(read.varm["PCs"], pca.components_.T)
    np.testing.assert_array_equal(read.uns["pca"]["variance"], pca.explained_variance_)
    assert read.uns["pca"]["params"] == {
        "zero_center": pca.center,
        "use_highly_variable": False,
        "scale": pca.scale,
        "whiten": pca.whiten,
        "ddof": 1,
        "solver": pca.plan_.solver,
    }
    kept, certificate = read.uns["pca"]["certificate"], pca.certificate_
    known = {field.name for field in fields(certificate)} - {"sample"}  # of which these are the words
    assert kept.keys() == {"verdict", "sampling_angles", "sampling_groups", *known}
    assert kept["verdict"] == certificate.verdict
    for name in kept.keys() - {"verdict"}:
        np.testing.assert_array_equal(kept[name], getattr(certificate, name))


def test_what_a_certificate_does_not_know_is_left_out():
    certificate = replace(PCA(2).fit(X).certificate_, failure_probability=None, n_rows=None)
    kept = plain(certificate)
    assert {field.name for field in fields(certificate)} - kept.keys() == {"failure_probability", "n_rows", "sample"}
    assert all(isinstance(value, np.ndarray | float | int | bool | str) for value in kept.values())


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    "which",
    [
        (slice(None, None, 2), slice(None)),
        (slice(None), np.arange(GENES) % 3 == 0),
        (np.array([400, 3, 77, 500, 12, 8, 90]), slice(20, 60)),
    ],
    ids=["cells", "genes", "both"],
)
def test_a_view_becomes_an_object_of_its_own(kind, which):
    parent = cells(FORMATS[kind](X))
    view = parent[which]
    expected = PCA(3).fit(np.ascontiguousarray(X[which]))
    assert view.is_view
    with pytest.warns(ImplicitModificationWarning):
        scores = PCA(3).fit_transform(view)
    assert not view.is_view
    np.testing.assert_allclose(np.abs(scores), np.abs(expected.transform(X[which])), atol=1e-9)
    np.testing.assert_allclose(view.varm["PCs"], expected.components_.T, atol=1e-9)
    assert is_untouched(parent)


def test_a_view_is_left_as_it_is_where_the_warning_is_an_error():
    parent = cells()
    view = parent[:50]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ImplicitModificationWarning)
        with pytest.raises(ImplicitModificationWarning):
            PCA(2).fit_transform(view)
    assert view.is_view
    assert is_untouched(view)


def test_layers_are_arrays_like_any_other():
    adata = cells()
    adata.layers["doubled"] = 2 * X
    np.testing.assert_allclose(PCA(3).fit(adata.layers["doubled"]).explained_variance_, 4 * truth(X)[0][:3])
    assert is_untouched(adata)


@pytest.fixture
def backed(tmp_path):
    """Opens X in a format from a file."""
    files = []

    def opened(kind, mode="r", data=X):
        path = tmp_path / f"{kind} {mode}.h5ad"
        cells(FORMATS[kind](data)).write_h5ad(path)
        files.append(ad.read_h5ad(path, backed=mode))
        return files[-1]

    yield opened
    for adata in files:
        adata.file.close()


@pytest.mark.parametrize(
    ("mode", "solver"),
    [("r+", "auto"), *(("r", name) for name in ("covariance", "gram", "svd", "krylov", "power", "orthogonal"))],
)
@pytest.mark.parametrize("kind", ["dense", "CSR", "CSR array"])
def test_backed_objects_give_what_those_in_memory_give(backed, kind, mode, solver):
    adata, inside = backed(kind, mode), cells(FORMATS[kind](X))
    pca, expected = PCA(K, svd_solver=solver), PCA(K, svd_solver=solver)
    scores = pca.fit_transform(adata)
    np.testing.assert_allclose(scores, expected.fit_transform(inside), atol=1e-4 if solver == "krylov" else 1e-9)
    np.testing.assert_array_equal(adata.obsm["X_pca"], scores)
    np.testing.assert_allclose(pca.reconstruction_error(adata), pca.reconstruction_error(inside), atol=1e-9)
    assert adata.isbacked
    assert pca.certificate_.satisfied


def as_it_is(block):
    """Sparse rows are not shifted."""
    return block


def test_rows_of_a_backed_sparse_matrix(backed, monkeypatch):
    monkeypatch.setattr(passes, "SERIAL", 0)
    rows = as_rows(backed("CSR")).limited(8 * GENES * 40)
    assert rows.sparse
    assert rows.block_rows == 40
    assert rows.density == pytest.approx(np.count_nonzero(X) / X.size)
    assert rows.outer_work == np.square(np.count_nonzero(X, axis=1)).sum()
    np.testing.assert_array_equal(rows.block(13, 600).toarray(), X[13:600])
    np.testing.assert_array_equal(rows.take(np.array([699, 0, 17])).toarray(), X[[699, 0, 17]])
    np.testing.assert_array_equal(rows.map(lambda block: block.toarray() * 2), X * 2)
    V = np.random.default_rng(1).standard_normal((CELLS, 3))
    sums = rows.reduce(lambda pairs: sum(block.T @ part for block, part in pairs), np.add, beside=V)
    np.testing.assert_allclose(sums, X.T @ V, atol=1e-10)
    np.testing.assert_allclose(rows.pairs(lambda a, b: (a @ b.T).toarray()), X @ X.T, atol=1e-10)
    W, level = V[:GENES], np.arange(3.0)
    Y = X @ W - level
    for found, expected in zip(rows.normal(W, as_it_is, level)[:2], (X.T @ Y, Y.sum(axis=0)), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)
    T = rows.normal(W, as_it_is, level, factor=True)[3]
    np.testing.assert_allclose(T.T @ T, Y.T @ Y, atol=1e-8)
    np.testing.assert_allclose(rows.combine(V, as_it_is), X.T @ V, atol=1e-10)
    np.testing.assert_allclose(rows.project(W, as_it_is), X @ W, atol=1e-10)


def test_a_backed_sparse_matrix_stays_on_disk(tmp_path):
    path, n, d = tmp_path / "large.h5ad", 20_000, 200
    large = random_array((n, d), density=0.4, format="csr", rng=np.random.default_rng(0), dtype=np.float64)
    ad.AnnData(large).write_h5ad(path)
    expected = PCA(3, svd_solver="covariance").fit(large).explained_variance_
    size = large.data.nbytes + large.indices.nbytes
    del large
    adata = ad.read_h5ad(path, backed="r")
    with traced() as taken:
        pca = PCA(3, svd_solver="covariance", memory_limit="5MB").fit(adata)
    adata.file.close()
    assert taken.peak < 5e6 < size / 3
    np.testing.assert_allclose(pca.explained_variance_, expected, rtol=1e-10)


def test_what_cannot_be_read_by_rows_or_written_to_says_so(backed):
    with pytest.raises(DataError, match=r"by columns, where rows cannot be read; use adata.to_memory\(\)"):
        PCA(2).fit(backed("CSC"))
    adata = backed("CSR")
    pca = PCA(2).fit(adata)
    for use in (PCA(2).fit, PCA(2).fit_transform, pca.transform):
        with pytest.raises(DataError, match="backed by a file, cannot be written to"):
            use(adata[:50])
    by_batches = PCA(2)
    for i in range(0, CELLS, 100):
        by_batches.partial_fit(adata[i : i + 100])
    np.testing.assert_allclose(by_batches.components_, pca.components_, atol=1e-9)


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("indptr", lambda ends: ends[::-1], "index pointers must rise"),
        ("indices", lambda places: places + GENES, "has column index"),
        ("data", lambda values: values * np.nan, "NaN, first at row 0, column 'Gene"),
    ],
)
def test_damaged_files_are_errors(backed, tmp_path, part, change, message):
    backed("CSR").file.close()
    with h5py.File(tmp_path / "CSR r.h5ad", "r+") as file:
        file["X"][part][...] = change(file["X"][part][...])
    adata = ad.read_h5ad(tmp_path / "CSR r.h5ad", backed="r")
    with pytest.raises(DataError, match=message):
        PCA(2).fit(adata)
    assert is_untouched(adata)
    adata.file.close()


@pytest.mark.parametrize("old", [False, True])
def test_nothing_is_written_when_a_fit_fails(old):
    broken = X.copy()
    broken[12, 3] = np.nan
    for matrix in (broken, sp.csr_matrix(broken)):
        adata = cells(matrix)
        if old:
            adata.uns["pca"], adata.obsm["X_pca"] = {"variance": np.ones(2)}, np.ones((CELLS, 2))
        before = adata.copy()
        fitted = PCA(2).fit(X)
        for use in (PCA(2).fit, PCA(2).fit_transform, PCA(2).partial_fit, fitted.transform, fitted.fit):
            with pytest.raises(DataError, match="1 NaN, first at row 12, column 'Gene 3'"):
                use(adata)
        with pytest.raises(ValueError, match="n_components"):
            PCA(GENES + 1).fit(adata)
        with pytest.raises(NotFittedError):
            PCA(2).transform(adata)
        assert set(adata.obsm) == set(before.obsm)
        assert not len(adata.varm)
        assert set(adata.uns) == set(before.uns)
        if old:
            np.testing.assert_array_equal(adata.obsm["X_pca"], np.ones((CELLS, 2)))
            assert list(adata.uns["pca"]) == ["variance"]


def test_nothing_is_written_where_accuracy_warnings_are_errors():
    adata = cells(np.outer(np.arange(60.0), np.ones(5)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        with pytest.raises(AccuracyWarning, match="rank 1"):
            PCA(2).fit_transform(adata)
    assert is_untouched(adata)


def test_variables_are_told_by_their_names():
    pca = PCA(3).fit(cells())
    swapped = cells()[:, [*range(70), 71, 70, *range(72, GENES)]].copy()
    with pytest.raises(DataError, match="column 70 is 'Gene 71' instead of 'Gene 70'"):
        pca.transform(swapped)
    assert is_untouched(swapped)
    with pytest.raises(ValueError, match="X has 20 features, but PCA is expecting 120"):
        pca.transform(cells(X[:, :20]))
    by_table = PCA(3).fit(pd.DataFrame(X, columns=GENE_NAMES))
    np.testing.assert_allclose(by_table.transform(cells()), pca.transform(cells()), atol=1e-10)
    with pytest.raises(DataError, match="column 70"):
        by_table.transform(swapped)


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_names_that_repeat_are_told_apart_by_position():
    adata = cells()
    adata.var_names = ["twice", "twice", *GENE_NAMES[2:]]
    with pytest.warns(ColumnWarning, match="'twice'"):
        pca = PCA(3).fit(adata)
    assert not hasattr(pca, "feature_names_in_")
    np.testing.assert_allclose(adata.varm["PCs"], PCA(3).fit(X).components_.T, atol=1e-10)


def test_tables_of_scores_carry_the_names_of_the_cells():
    adata = cells(sp.csr_matrix(X))
    pca = PCA(3).set_output(transform="pandas")
    for table in (pca.fit_transform(adata), pca.transform(adata)):
        assert list(table.index) == list(adata.obs_names)
        assert list(table.columns) == ["pca0", "pca1", "pca2"] == list(pca.get_feature_names_out())
        np.testing.assert_array_equal(table, adata.obsm["X_pca"])
    assert isinstance(adata.obsm["X_pca"], np.ndarray)
    assert isinstance(pca.set_output(transform="polars").transform(adata), pl.DataFrame)
    assert isinstance(pca.set_output(transform="default").transform(adata), np.ndarray)


def test_pipelines():
    counts = sp.csr_matrix(np.expm1(X))
    adata = cells(counts)
    logarithm = FunctionTransformer(np.log1p, accept_sparse=True)
    scores = make_pipeline(logarithm, PCA(3)).fit_transform(adata.X)
    np.testing.assert_allclose(scores, PCA(3).fit_transform(X), atol=1e-9)
    assert is_untouched(adata)
    alone = make_pipeline(PCA(3))
    np.testing.assert_array_equal(alone.fit_transform(adata), adata.obsm["X_pca"])


@pytest.mark.parametrize("kind", FORMATS)
def test_plans_are_those_of_the_matrix(kind):
    adata = cells(FORMATS[kind](X))
    assert ritz.plan(adata, 20) == ritz.plan(adata.X, 20)
    assert is_untouched(adata)


@pytest.mark.parametrize("kind", FORMATS)
def test_batches_and_merged_models(kind):
    matrix = FORMATS[kind](X)
    expected = PCA(K).fit(X)
    parts = [cells(matrix[rows]) for rows in (slice(0, 1), slice(1, 300), slice(300, None))]
    pca = PCA(K)
    for part in parts:
        pca.partial_fit(part)
        assert is_untouched(part)
    assert list(pca.feature_names_in_) == GENE_NAMES
    whole = cells(matrix)
    pca.transform(whole)
    np.testing.assert_allclose(whole.varm["PCs"], expected.components_.T, atol=1e-9)
    np.testing.assert_allclose(whole.obsm["X_pca"], expected.transform(X), atol=1e-9)
    merged = merge([PCA(K).fit(cells(matrix[:400])), PCA(K).fit(cells(matrix[400:]))])
    np.testing.assert_allclose(merged.components_, expected.components_, atol=1e-9)
    assert list(merged.feature_names_in_) == GENE_NAMES


def test_batches_without_cells_or_with_other_genes():
    pca = PCA(2).partial_fit(cells())
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert pca.partial_fit(cells()[:0]) is pca
    assert pca.n_samples_seen_ == CELLS
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing:\n- Gene 10"):
        pca.partial_fit(cells(X[:0, :9]))
    other = cells()
    other.var_names = [f"other {j}" for j in range(GENES)]
    for batch in (other, other[:0]):
        with pytest.raises(ValueError, match=r"column 0 is 'other 0'|feature names"):
            pca.partial_fit(batch)


def test_objects_without_a_matrix():
    with pytest.raises(DataError, match="has no X"):
        PCA(2).fit(ad.AnnData(obs=pd.DataFrame(index=["a", "b", "c"])))
    with pytest.raises(DataError, match=r"0 sample\(s\)"):
        PCA(2).fit(cells()[:0])


class Annotated(ad.AnnData):
    """A class of the user's own."""


def test_classes_are_recognised_by_descent():
    adata = Annotated(X)
    PCA(2).fit(adata)
    assert adata.varm["PCs"].shape == (GENES, 2)
    namesake = type("AnnData", (), {"X": X, "var_names": GENE_NAMES})
    with pytest.raises(TypeError, match="cannot read rows"):
        PCA(2).fit(namesake())


def test_the_package_is_not_needed():
    code = "import sys, ritz; ritz.PCA(1).fit([[1.0, 2], [3, 4], [5, 7]]); print('anndata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
