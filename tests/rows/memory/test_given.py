"""Data in memory through `ritz.read`: points in columns, labels, columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from ritz import PCA, DataError, ParameterError, read

X = np.random.default_rng(0).standard_normal((8, 3))
NAMES = [f"s{i}" for i in range(8)]
TURNED = {
    "array": X.T,
    "list": X.T.tolist(),
    "Fortran order": np.asfortranarray(X.T),
    "CSR": sp.csr_array(X.T),
    "CSC": sp.csc_matrix(X.T),
    "pandas": pd.DataFrame(X.T, columns=NAMES, index=list("abc")),
    "polars": pl.DataFrame(dict(zip(NAMES, X, strict=True))),
    "pyarrow": pa.table(dict(zip(NAMES, X, strict=True))),
    "rows": read(X.T),
}


@pytest.mark.parametrize("kind", TURNED)
def test_points_in_columns(kind):
    rows = read(TURNED[kind], transpose=True)
    assert rows.shape == (8, 3)
    pca = PCA(2).fit(rows)
    np.testing.assert_allclose(pca.explained_variance_, PCA(2).fit(X).explained_variance_, rtol=1e-12)
    if kind in ("pandas", "polars", "pyarrow"):
        assert list(rows.row_names) == NAMES
    if kind == "pandas":
        assert list(pca.feature_names_in_) == ["a", "b", "c"]


def test_nothing_is_copied_where_memory_allows_it():
    for given in (TURNED["array"], TURNED["pandas"]):
        assert np.shares_memory(read(given, transpose=True).block(0, 2), np.asarray(given))
    assert np.shares_memory(read(TURNED["CSC"], transpose=True).block(0, 8).data, TURNED["CSC"].data)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_table_with_a_label(make):
    table = make({"a": X[:, 0], "kind": list("xxyyzzzz"), "b": X[:, 1]})
    rows = read(table, label="kind")
    assert (rows.names, list(rows.labels)) == (("a", "b"), list("xxyyzzzz"))
    assert read(table, columns=["b"]).names == ("b",)
    with pytest.raises(DataError, match="'kind' holds String"):
        read(table)


def test_an_array_with_a_label_and_gaps():
    gappy = X.copy()
    gappy[2, 0] = np.nan
    rows = read(gappy, label=2, missing="drop")
    np.testing.assert_array_equal(rows.block(0, 7), np.delete(X, 2, axis=0)[:, :2])
    np.testing.assert_array_equal(rows.labels, np.delete(X[:, 2], 2))


def test_parameters_of_files_are_refused():
    for name, value in {"header": True, "size": (2, 2), "grey": True}.items():
        with pytest.raises(ParameterError, match=f"{name}=.* is for files, and this is a ndarray in memory"):
            read(X, **{name: value})


def test_the_likely_mistake_is_named():
    pca = PCA(2).fit(X)
    with pytest.raises(
        ValueError, match=r"X has 8 features, but PCA is expecting 3 .*X\.T or ritz\.read\(X, transpose=T"
    ):
        pca.transform(X.T)
    with pytest.raises(ValueError, match=r"X has 8 features, but PCA is expecting 3 features as input\.$"):
        pca.transform(X.T[:2])


def test_a_file_is_given_neither_size_nor_grey(tmp_path):
    np.save(tmp_path / "x.npy", X)
    for asked in ({"size": (2, 2)}, {"grey": False}):
        with pytest.raises(ParameterError, match=r"is for folders of pictures alone, and 'x\.npy' is not one"):
            read(tmp_path / "x.npy", **asked)


@pytest.mark.parametrize("transpose", ["no", 1, None])
def test_transpose_is_true_or_false(transpose):
    with pytest.raises(ParameterError, match=r"transpose=.* must be True or False"):
        read(X, transpose=transpose)
