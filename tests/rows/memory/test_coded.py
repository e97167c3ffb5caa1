"""Codes for missing values become NaN in blocks, whatever holds the rows: as NumPy does it with the whole array."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import ritz
from ritz import PCA, DataError, ParameterError
from ritz.rows import as_rows
from ritz.rows.base import dense
from ritz.rows.memory.coded import Code, coded, codes_of
from ritz.rows.text import lines

RNG = np.random.default_rng(0)
X = RNG.integers(-3, 9, (700, 3)).astype(float)
TRUTH = X.copy()
TRUTH[X == -3] = np.nan
TRUTH[np.isin(X[:, 1], [0, 8]), 1] = np.nan
CODES = [Code(-3), Code(0, ("b",)), Code(8, ("b",))]


def files(folder):
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.to_csv(folder / "x.csv", index=False)
    frame.to_csv(folder / "x.csv.gz", index=False)
    frame.to_parquet(folder / "x.parquet")
    frame.astype(int).to_parquet(folder / "ints.parquet", row_group_size=90)
    frame.to_feather(folder / "x.feather")
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return {path.name: path for path in files(tmp_path_factory.mktemp("coded"))}


SOURCES = ["x.csv", "x.csv.gz", "x.parquet", "ints.parquet", "x.feather"]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("size", [8 * 3, 8 * 3 * 17, 1 << 24])
def test_files_in_blocks(sources, monkeypatch, name, size):
    monkeypatch.setattr(lines, "PART_BYTES", 400)
    rows = coded(ritz.read(sources[name]), CODES).limited(size)
    assert np.array_equal(rows.map(np.copy), TRUTH, equal_nan=True)
    assert np.array_equal(np.vstack(rows.reduce(list, list.__add__)), TRUTH, equal_nan=True)
    assert np.array_equal(rows.block(5, 300), TRUTH[5:300], equal_nan=True)
    assert np.array_equal(rows.take(np.array([3, 699, 7])), TRUTH[[3, 699, 7]], equal_nan=True)
    at, block = rows.glimpse(90, np.random.default_rng(0))
    assert np.array_equal(block, TRUTH[at], equal_nan=True)
    some = rows.some(np.array([1]))
    if some is not None:
        assert np.array_equal(some.map(np.copy), TRUTH[:, [1]], equal_nan=True)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_read_and_fit(sources, name, missing):
    rows = ritz.read(sources[name], na={"a": -3, "b": [-3, 0, 8], "c": -3}, missing=missing)
    gone = np.isnan(TRUTH)
    whole = np.where(gone, np.nanmean(TRUTH, axis=0), TRUTH) if missing == "mean" else TRUTH[~gone.any(axis=1)]
    assert rows.n_filled == (gone.sum() if missing == "mean" else 0)
    assert np.allclose(PCA(2).fit(rows).explained_variance_, PCA(2).fit(whole).explained_variance_, rtol=1e-12)


@settings(max_examples=60)
@given(
    arrays(
        st.sampled_from([np.float64, np.float32, np.int32, np.uint8, np.bool_]),
        st.tuples(st.integers(1, 12), st.integers(1, 4)),
        elements=st.integers(0, 1),
    ),
    st.lists(st.sampled_from([0, 1, -1, 300, 0.5, float("inf"), 1e300]), min_size=1, max_size=3),
    st.integers(1, 5),
)
def test_any_array_as_numpy_does_it(A, values, rows_of_block):
    truth = A.astype(A.dtype if A.dtype.kind == "f" else float)
    for value in values:
        if A.dtype == np.float32 and np.finfo(np.float32).max < value < np.inf:
            continue
        truth[value == A] = np.nan
    rows = coded(as_rows(A), values).limited(8 * A.shape[1] * rows_of_block)
    assert rows.map(np.copy).dtype == truth.dtype
    assert np.array_equal(rows.map(np.copy), truth, equal_nan=True)


def test_codes_of_single_precision():
    A = np.array([[-999.9, 1], [2, 3]], np.float32)
    assert np.isnan(coded(as_rows(A), -999.9).block(0, 1)[0, 0])


def test_without_codes_blocks_are_not_copied():
    rows = coded(as_rows(X), -77)
    assert np.shares_memory(rows.block(0, 9), X)


def test_sparse_entries():
    A = sp.random(80, 6, 0.4, random_state=0, format="csr")
    A.data[::3] = -9
    truth = A.toarray()
    truth[truth == -9] = np.nan
    rows = ritz.read(A, na=-9, missing="drop")
    assert np.array_equal(rows.map(lambda block: block.toarray()), truth[~np.isnan(truth).any(axis=1)])
    part = coded(as_rows(A), {2: -9}).block(0, 80).toarray()
    assert np.isnan(part).sum() == (A.toarray()[:, 2] == -9).sum()
    with pytest.raises(DataError, match="not stored"):
        ritz.read(A, na=0)


def test_labels_and_names_of_rows_stay_beside_their_rows():
    frame = pd.DataFrame({"k": list("uvwxyz"), "a": [1.0, -9, 3, 4, 5, 7], "b": [2.0, 2, 5, 1, -9, 0]})
    rows = ritz.read(frame, label="k", na=-9, missing="drop")
    assert rows.labels.tolist() == ["u", "w", "x", "z"]
    assert rows.map(np.copy).tolist() == [[1, 2], [3, 5], [4, 1], [7, 0]]


def test_missing_values_of_both_kinds(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\nNA,5\n-9,1\n4,0\n7,7\n")
    assert ritz.read(tmp_path / "x.csv", na=-9, missing="drop").map(np.copy).tolist() == [[1, 2], [4, 0], [7, 7]]


def test_missing_is_an_error_unless_something_is_done_about_it():
    with pytest.raises(DataError, match="first at row 1, column 0"):
        PCA(1).fit(ritz.read([[1.0, 2], [-9, 3], [4, 4]], na=-9))


@pytest.mark.parametrize("na", ["x", float("nan"), True, [1, "y"], {"a": None}, object()])
def test_what_is_no_code_is_refused(na):
    with pytest.raises(ParameterError, match="na="):
        codes_of(na)


def test_columns_that_are_not_there_are_refused():
    frame = pd.DataFrame({"glucose": [1.0, 2.0], "bmi": [3.0, 5.0]})
    with pytest.raises(DataError, match="did you mean 'glucose'"):
        ritz.read(frame, na={"glucos": 0})


def test_large_integers_are_refused_as_ever():
    with pytest.raises(DataError, match=r"\d{16}"):
        PCA(1).fit(ritz.read(np.array([[2**53 + 1, 1], [5, -9], [4, 4]]), na=-9, missing="drop"))


def test_a_checkpoint_of_other_codes_is_another_one(tmp_path):
    """Rows are told apart by what is computed of them."""
    from ritz.estimators.checkpointing import owner
    from ritz.fitting.request import Request

    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{i % 7},{i * i % 11}\n" for i in range(50)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {
            owner(ritz.read(tmp_path / "x.csv", na=na, missing="mean"), Request(n_components=1)) for na in (None, 0, 5)
        }
    assert len(found) == 3


def test_a_cluster_is_told_apart():
    with pytest.raises(ParameterError, match="does not go with dask"):
        ritz.read("x.csv", na=0, dask="local")


def test_sparse_files_one_below_the_other(tmp_path):
    from helpers.files import write_h5ad
    from ritz.rows.memory.differenced import differenced

    A = sp.random(60, 7, 0.4, random_state=0, format="csr")
    A.data[:] = np.round(5 * A.data) + 1
    A.data[::5] = 9
    paths = [write_h5ad(tmp_path / "a.h5ad", A[:25]), write_h5ad(tmp_path / "b.h5ad", A[25:])]
    truth = A.toarray()
    rows = ritz.read(paths)
    assert rows.sparse
    steps = differenced(rows)
    assert np.allclose(np.vstack([dense(block) for block in steps.each(lambda block: block)]), np.diff(truth, axis=0))
    truth[truth == 9] = np.nan
    found = coded(rows, 9)
    blocks = np.vstack([dense(block) for block in found.each(lambda block: block)])
    assert np.array_equal(blocks, truth, equal_nan=True)
    with pytest.raises(DataError, match="NaN"):
        PCA(1).fit(found)
