"""Results that stream into a file or a function: the same numbers, whole files, bounded memory."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.memory import traced
from ritz import PCA, read
from ritz.errors import DataError
from ritz.runtime.atomic import replacing
from ritz.runtime.threads import pinned

ENDINGS = (".npy", ".parquet", ".arrow", ".feather", ".csv", ".tsv")


def data(n=5000, d=30):
    return 2 + np.random.default_rng(0).standard_normal((n, d)) * np.geomspace(1, 0.1, d)


@pytest.fixture
def parquet(tmp_path):
    X, path = data(), tmp_path / "x.parquet"
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), path, row_group_size=700)
    return path


def values(path):
    return read(path).map(lambda block: block.copy())


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("whiten", [False, True])
def test_scores_and_back_through_files(tmp_path, parquet, ending, whiten):
    X = data()
    model = PCA(30, whiten=whiten).fit(X)
    scores, back = tmp_path / f"scores{ending}", tmp_path / f"back{ending}"
    named = PCA(30, whiten=whiten).fit(parquet)
    assert named.transform(parquet, out=scores) is None
    assert np.allclose(values(scores), model.transform(X), rtol=1e-12, atol=1e-12)
    if ending != ".npy":
        assert read(scores).names[:2] == ("pca0", "pca1")
    assert named.inverse_transform(scores, out=back) is None
    assert np.allclose(values(back), X, rtol=1e-10)
    if ending != ".npy":
        assert read(back).names == tuple(f"c{j}" for j in range(30))


@pytest.mark.parametrize("ending", ENDINGS)
def test_errors_through_files(tmp_path, parquet, ending):
    model = PCA(3).fit(data())
    path = tmp_path / f"errors{ending}"
    model.reconstruction_error(data(), out=path)
    found = np.load(path) if ending == ".npy" else values(path)[:, 0]
    assert found.shape == (5000,)
    assert np.allclose(found, model.reconstruction_error(data()), rtol=1e-12)


def test_a_function_is_given_blocks_in_order():
    X, blocks = data(100_000), []
    model = PCA(3).fit(X)
    assert model.transform(X, out=blocks.append) is None
    assert len(blocks) > 3
    assert np.array_equal(np.concatenate(blocks), model.transform(X))


def test_float32_stays_float32(tmp_path):
    X = data().astype(np.float32)
    PCA(3).fit(X).transform(X, out=tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").dtype == np.float32


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failure_leaves_the_old_file_alone(tmp_path, ending):
    X = data(50_000)
    model, path = PCA(3).fit(X), tmp_path / f"y{ending}"
    path.write_text("old")
    X[40_000, 7] = np.nan
    with pytest.raises(DataError, match="1 NaN, first at row 40000, column 7"):
        model.transform(X, out=path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


def test_what_cannot_be_written(tmp_path):
    X = data()
    np.save(tmp_path / "x.npy", X)
    model = PCA(3).fit(X)
    with pytest.raises(DataError, match=r"cannot write 'y.xlsx': unknown extension; .* \.npy, \.parquet"):
        model.transform(X, out=tmp_path / "y.xlsx")
    (tmp_path / "link.npy").symlink_to(tmp_path / "x.npy")
    for name in ("x.npy", "link.npy"):
        with pytest.raises(DataError, match="is the file that is read"):
            model.transform(tmp_path / "x.npy", out=tmp_path / name)
    for source in (read(tmp_path / "x.npy"), np.load(tmp_path / "x.npy", mmap_mode="r")):
        with pytest.raises(DataError, match="is the file that is read"):
            model.transform(source, out=tmp_path / "." / "link.npy")
    (tmp_path / "y.npy").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        model.transform(X, out=tmp_path / "y.npy")
    with pytest.raises(FileNotFoundError, match="no folder"):
        model.transform(X, out=tmp_path / "no" / "y.npy")
    assert np.array_equal(np.load(tmp_path / "x.npy"), X)


def test_memory_stays_bounded(tmp_path):
    """100 MB of scores, 20 MB of memory."""
    X = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (400_000, 64))
    X[:] = np.random.default_rng(0).standard_normal(64, np.float32)
    X[::7] *= 2
    model = PCA(64).fit(X[:1000])
    with traced() as taken:
        model.transform(tmp_path / "x.npy", out=tmp_path / "y.npy")
    assert os.path.getsize(tmp_path / "y.npy") > 100e6
    assert taken.peak < 30e6


def test_files_have_the_rights_that_others_have(tmp_path):
    (tmp_path / "plain").write_text("")
    with replacing(tmp_path / "new") as new:
        new.write_text("x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "plain").chmod(0o600)
    with replacing(tmp_path / "plain") as new:
        new.write_text("x")
    assert (tmp_path / "plain").stat().st_mode & 0o777 == 0o600


def test_a_function_that_fails_ends_the_walk(blas_as_it_is):
    X = data(100_000)
    model = PCA(3).fit(X)

    def fails(block):
        raise RuntimeError("full")

    try:
        model.transform(X, out=fails)
    except RuntimeError as error:
        kept = error  # and with it the frames of the walk, as an interactive session keeps them
    assert str(kept) == "full"
    assert not pinned._held


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_tables_are_made_of_what_is_returned_and_of_nothing_else(tmp_path, kind):
    model = PCA(3).set_output(transform=kind).fit(data())
    assert model.transform(data(), out=tmp_path / "y.npy") is None
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.asarray(model.transform(data())))


def test_what_is_written_without_names_is_read_as_it_was(tmp_path):
    X = data(50, 4)
    model = PCA(4).fit(X)
    model.inverse_transform(model.transform(X), out=tmp_path / "x.csv")
    rows = read(tmp_path / "x.csv")
    assert (rows.shape, rows.names) == ((50, 4), ("x0", "x1", "x2", "x3"))


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(FileExistsError, match="no file"), replacing(tmp_path / "fifo"):
        pass
    assert os.listdir(tmp_path) == ["fifo"]


def test_numbers_are_written_to_parquet_as_they_are_and_labels_once(tmp_path):
    """Scores hardly ever repeat: a dictionary of them takes time, and more room than they do."""
    X, path = data(), tmp_path / "y.parquet"
    PCA(3).fit(X).transform(X, out=path)
    group = pq.ParquetFile(path).metadata.row_group(0)
    assert group.num_columns == 3
    for j in range(3):
        assert not group.column(j).has_dictionary_page
        assert not any("DICTIONARY" in encoding for encoding in group.column(j).encodings)
