"""Files that workers read by themselves: the same rows, and errors that say which file, row and worker."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import ritz
from helpers.files import X, table
from ritz.errors import ClusterError, DataError, ParameterError
from ritz.rows.dask import files
from ritz.rows.dask.connecting import _cluster
from ritz.rows.formats import members

WRITERS = {
    ".npy": lambda data, path: np.save(path, data),
    ".csv": lambda data, path: pa.csv.write_csv(table(data), path),
    ".parquet": lambda data, path: pa.parquet.write_table(table(data), path, row_group_size=20),
}


@pytest.fixture
def folder(tmp_path):
    def written(ending=".npy", data=X):
        for i, part in enumerate((data[:40], data[40:41], data[41:])):
            WRITERS[ending](part, tmp_path / f"{i}{ending}")
        return tmp_path

    return written


@pytest.mark.parametrize("ending", WRITERS)
def test_workers_read_the_rows(folder, dask_client, ending):
    rows = ritz.read(folder(ending), dask=dask_client)
    assert rows.shape == X.shape
    np.testing.assert_array_equal(rows.take(np.array([299, 3, 40, 3])), X[[299, 3, 40, 3]])
    truth, found = ritz.PCA(3).fit(X), ritz.PCA(3).fit(rows)
    np.testing.assert_allclose(found.components_, truth.components_, atol=1e-12)
    np.testing.assert_allclose(np.concatenate(list(found._codes(rows))), truth.transform(X), atol=1e-12)


def test_one_file_may_be_read_by_many(folder, dask_client):
    path = folder() / "2.npy"
    rows = ritz.read(path, columns=[5, 1], dask=dask_client)
    np.testing.assert_array_equal(rows.map(lambda block: block), X[41:, [5, 1]])


@pytest.mark.parametrize(("ending", "cuts"), [(".npy", 1), (".parquet", 20)])
def test_a_large_file_is_cut_where_it_can_be_read_from(folder, monkeypatch, ending, cuts):
    monkeypatch.setattr(files, "GROUP_BYTES", 20 * 7 * 8)
    monkeypatch.setattr(members, "SLICE_BYTES", 7 * 8)
    parts = list(files.slices(ritz.read(sorted(folder(ending).iterdir()))))
    assert len(parts) == 2 + 1 + 12
    assert all(part.start % cuts == 0 and part.rows <= 40 for part in parts)
    blocks = [part.opened({}).read(0, part.rows) for part in parts]
    np.testing.assert_array_equal(np.concatenate(blocks), X)


def test_a_text_is_one_part_and_parsed_once(folder, dask_client, monkeypatch):
    monkeypatch.setattr(files, "GROUP_BYTES", 1)
    parts = list(files.slices(ritz.read(folder(".csv"))))
    assert [part.rows for part in parts] == [40, 1, 259]
    rows = ritz.read(folder(".csv"), dask=dask_client)
    assert all(part.needs for part in rows.known.parts)  # the numbers lie in the memory of the workers
    assert [part.place for part in rows.known.parts] == ["0.csv", "1.csv", "2.csv"]


def test_labels_come_along(tmp_path, dask_client):
    for i in range(2):
        (tmp_path / f"{i}.csv").write_text("a,b,kind\n" + "".join(f"{i + j},{j * j},k{i}\n" for j in range(5)))
    rows = ritz.read(tmp_path, label="kind", dask=dask_client)
    assert rows.names == ("a", "b")
    assert rows.labels.tolist() == ["k0"] * 5 + ["k1"] * 5


def test_a_missing_value_is_named_by_file_row_and_column(folder, dask_client, monkeypatch):
    monkeypatch.setattr(files, "GROUP_BYTES", 1000)
    data = X.copy()
    data[60, 3] = np.nan
    with pytest.raises(DataError, match=r"row 60 \(row 19 of 2\.parquet\), column 'd'"):
        ritz.PCA(2).fit(ritz.read(folder(".parquet", data), dask=dask_client))


def test_a_file_that_changes_is_an_error_of_the_worker(folder, dask_client):
    rows = ritz.read(folder(), dask=dask_client)
    path = rows.base.members[2].path
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 10**9))
    with pytest.raises(DataError, match=r"2\.npy changed while it was in use: it was written to"):
        ritz.PCA(2).fit(rows)


def test_a_file_that_a_worker_cannot_see_is_named_with_the_worker(folder, dask_client):
    rows = ritz.read(folder(), dask=dask_client)
    path = rows.base.members[2].path
    path.rename(path.with_suffix(".gone"))
    with pytest.raises(ClusterError, match=r"the worker inproc://.* cannot read '.*2\.npy'.*where all workers"):
        ritz.PCA(2).fit(rows)


def test_columns_must_be_the_same_wherever_they_are_looked_at(folder, dask_client):
    path = folder() / "3.npy"
    np.save(path, X[:, :3])
    with pytest.raises(DataError, match=r"3\.npy has 3 columns, 0\.npy has 7"):
        ritz.read(path.parent, dask=dask_client)


@pytest.mark.parametrize("given", [{"missing": "drop"}, {"missing": "mean"}, {"transpose": True}], ids=str)
def test_what_a_cluster_does_not_do(folder, dask_client, given):
    with pytest.raises(ParameterError, match=next(iter(given))):
        ritz.read(folder(), dask=dask_client, **given)
    with pytest.raises(ParameterError, match="is for files"):
        ritz.read(X, dask=dask_client)


def test_results_are_not_all_asked_for_at_once(folder, dask_client, monkeypatch):
    """Whoever takes scores slowly must not find all of them in the memory of the workers."""
    cluster = _cluster(dask_client)
    given = []
    monkeypatch.setattr(cluster, "submit", lambda *args, name, home="": given.append(name) or name)
    monkeypatch.setattr(cluster, "result", lambda future: future)
    items = [files.Unopened(folder() / f"{i}.npy") for i in range(40)]
    found = cluster.in_order(len, items)
    next(found)
    assert len(given) == 8
    assert len(list(found)) == 39
