"""Many files as one source: what they stack to, what they need in common, and what is refused."""

import sys

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

import ritz
from helpers.files import NAMES, SPARSE, X, table
from ritz.errors import ColumnWarning, DataError, ParameterError
from ritz.rows.base import dense
from ritz.rows.formats import stacked


def write_h5(data, path):
    with h5py.File(path, "w") as file:
        file["x"] = data


WRITERS = {
    ".npy": lambda data, path: np.save(path, data),
    ".csv": lambda data, path: pa.csv.write_csv(table(data), path),
    ".txt": lambda data, path: np.savetxt(path, data, fmt="%.17g"),
    ".csv.gz": lambda data, path: np.savetxt(
        path, data, fmt="%.17g", delimiter=",", header=",".join(NAMES), comments=""
    ),
    ".parquet": lambda data, path: pa.parquet.write_table(table(data), path, row_group_size=20),
    ".arrow": lambda data, path: pa.feather.write_feather(table(data), str(path)),
    ".h5": write_h5,
    ".npz": lambda data, path: np.savez(path, data),
}


def written(folder, ending, data=X, counts=(40, 1, 159, 100)):
    """The data in as many files."""
    ends = np.cumsum((0, *counts))
    paths = [folder / f"{i}{ending}" for i in range(len(counts))]
    for path, start, stop in zip(paths, ends, ends[1:], strict=False):
        WRITERS[ending](data[start:stop], path)
    return paths


@pytest.mark.parametrize("ending", WRITERS)
def test_files_stack_to_the_matrix(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(stacked, "OPEN", 1)  # so that files are opened again
    paths = written(tmp_path, ending)
    rows = ritz.read(paths)
    assert rows.shape == X.shape
    np.testing.assert_array_equal(rows.read(35, 220), X[35:220])
    np.testing.assert_array_equal(rows.take(np.array([299, 3, 40, 3])), X[[299, 3, 40, 3]])
    np.testing.assert_array_equal(rows.map(lambda block: block), X)
    np.testing.assert_array_equal(rows.column(2), X[:, 2])
    some = ritz.read(paths, columns=[4, 1])
    np.testing.assert_array_equal(some.map(lambda block: block), X[:, [4, 1]])
    assert len(rows.sample(30)) >= 20
    truth, found = ritz.PCA(3).fit(X), ritz.PCA(3).fit(rows)
    np.testing.assert_allclose(found.components_, truth.components_, atol=1e-12)
    np.testing.assert_allclose(found.transform(rows), truth.transform(X), atol=1e-12)


def test_sparse_files_stay_sparse(tmp_path):
    for i, part in enumerate((SPARSE[:11], SPARSE[11:])):
        sp.save_npz(tmp_path / f"{i}.npz", part)
    rows = ritz.read(tmp_path)
    assert rows.sparse
    np.testing.assert_array_equal(dense(rows.read(5, 20)), SPARSE.toarray()[5:20])
    np.testing.assert_array_equal(dense(rows.take(np.array([20, 1]))), SPARSE.toarray()[[20, 1]])
    truth = ritz.PCA(2).fit(SPARSE.toarray())
    np.testing.assert_allclose(ritz.PCA(2).fit(rows).explained_variance_, truth.explained_variance_, rtol=1e-10)


def test_types_are_those_that_hold_all(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1, 2], [3, 4]], np.int16))
    np.save(tmp_path / "b.npy", np.array([[0.5, 2]], np.float32))
    rows = ritz.read([tmp_path / "a.npy", tmp_path / "b.npy"])
    assert rows.dtype == np.float32
    assert rows.read(0, 3).tolist() == [[1, 2], [3, 4], [0.5, 2]]
    np.save(tmp_path / "a.npy", np.array([[2**53 + 1, 2], [3, 4]]))
    with pytest.raises(DataError, match="9007199254740993"):
        ritz.PCA(1).fit(ritz.read([tmp_path / "a.npy", tmp_path / "b.npy"]))


def tables(folder, *texts):
    for i, text in enumerate(texts):
        (folder / f"{i}.csv").write_text(text)
    return folder


def test_labels_and_columns_that_number_the_rows_of_every_file(tmp_path):
    lines = [f"{i % 9},{x!r},{y!r},{'uv'[i % 2]}\n" for i, (x, y) in enumerate(X[:27, :2].tolist())]
    head = ",a,b,kind\n"
    folder = tables(tmp_path, *(head + "".join(lines[start : start + 9]) for start in (0, 9, 18)))
    with pytest.warns(ColumnWarning, match=r"'unnamed_0' \(row numbers\)"):
        rows = ritz.read(folder, label="kind")
    assert rows.names == ("a", "b")
    assert rows.labels.tolist() == ["uv"[i % 2] for i in range(27)]
    np.testing.assert_array_equal(rows.map(lambda block: block), X[:27, :2])


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_missing_values_are_dealt_with_as_in_one_file(tmp_path, missing):
    texts = "a,b\n1,2\n,3\n", "a,b\n5,\n7,9\n"
    one = tmp_path / "one.csv"
    one.write_text(texts[0] + texts[1].partition("\n")[2])
    (tmp_path / "two").mkdir()
    many = ritz.read(tables(tmp_path / "two", *texts), missing=missing)
    whole = ritz.read(one, missing=missing)
    np.testing.assert_array_equal(many.map(lambda block: block), whole.map(lambda block: block))


def test_an_error_names_the_file_and_the_row_in_it(tmp_path):
    paths = written(tmp_path, ".npy", np.where(np.arange(300)[:, None] == 205, np.nan, X))
    with pytest.raises(DataError, match=r"row 205 \(row 5 of 3.npy\)"):
        ritz.PCA(2).fit(ritz.read(paths))


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (("a,b\n1,2\n3,4\n", "a,c\n1,2\n3,4\n"), "column 1 of 1.csv is 'c', that of 0.csv is 'b'"),
        (("a,b\n1,2\n3,4\n", "a,b,c\n1,2,3\n4,5,6\n"), "1.csv has 3 columns, 0.csv has 2"),
        (("a,b\n1,2\n3,4\n", "1,2\n3,4\n"), "column 0 of 1.csv is '1', that of 0.csv is 'a'"),
        (("1,2\n3,4\n", "1,2,3\n3,4,5\n"), "1.csv has 3 columns, 0.csv has 2"),
        (("a,b\n1,2\n3,4\n", "a,b\n1,x\n3,y\n"), "column 'b' of 1.csv holds no numbers"),
    ],
)
def test_files_need_the_same_columns(tmp_path, texts, words):
    with pytest.raises(DataError, match=words):
        ritz.read(tables(tmp_path, *texts))


def test_what_is_text_in_the_first_file_is_text_in_all(tmp_path):
    with pytest.warns(ColumnWarning, match="'code'"):
        rows = ritz.read(tables(tmp_path, "a,code,b\n1,x7,2\n3,x8,4\n", "a,code,b\n5,7,6\n7,8,8\n"))
    assert rows.names == ("a", "b")
    assert rows.read(0, 4).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_dense_and_sparse_files_do_not_stack(tmp_path):
    np.save(tmp_path / "a.npy", SPARSE.toarray())
    sp.save_npz(tmp_path / "b.npz", SPARSE)
    with pytest.raises(DataError, match=r"b\.npz is sparse, a.npy is dense"):
        ritz.read([tmp_path / "a.npy", tmp_path / "b.npz"])


@pytest.mark.parametrize("given", [{"transpose": True}, {"size": (8, 8)}, {"grey": True}], ids=str)
def test_what_is_for_one_file_is_refused(tmp_path, given):
    with pytest.raises(ParameterError, match="is for one file or folder"):
        ritz.read(written(tmp_path, ".npy"), **given)


def test_a_file_that_changes_is_an_error(tmp_path):
    paths = written(tmp_path, ".npy")
    rows = ritz.read(paths)
    np.save(paths[2], X[:100])
    with pytest.raises(DataError, match=r"2\.npy changed while it was in use"):
        ritz.PCA(2).fit(rows)


def test_dask_is_not_needed(tmp_path, monkeypatch):
    paths = written(tmp_path, ".npy")
    for name in ("dask", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    assert ritz.PCA(2).fit(ritz.read(paths)).n_samples_seen_ == 300


def test_pictures_in_many_files_are_pictures(tmp_path):
    for i, count in enumerate((3, 5)):
        np.save(tmp_path / f"{i}.npy", np.full((count, 5, 8), i, np.uint8))
    assert ritz.read(tmp_path).image_shape == (5, 8)
    np.save(tmp_path / "2.npy", np.zeros((2, 8, 5), np.uint8))
    with pytest.raises(DataError, match=r"2.npy have the shape \(8, 5\), those of 0.npy \(5, 8\)"):
        ritz.read(tmp_path)


def test_short_files_are_sampled_all_over(tmp_path):
    rows = ritz.read(written(tmp_path, ".npy", counts=(1,) * 30))
    np.testing.assert_array_equal(rows.sample(15), X[:30])
