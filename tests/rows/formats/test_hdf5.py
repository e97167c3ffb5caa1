"""Names of rows and columns beside a matrix: what they hold is what anndata and the file say, in any form."""

import contextlib
import gzip
import os
import pickle
import warnings
from pathlib import Path

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from ritz import PCA, ColumnWarning, DataError, read, report
from ritz.rows.formats.read import opened
from ritz.rows.select import select
from ritz.runtime import memory

N, D = 60, 5
X = np.random.default_rng(0).poisson(2.0, (N, D)).astype(np.float64)
GENES = [f"G{j}" for j in range(D)]
BARCODES = [f"AAAC-{i}" for i in range(N)]
GAPS = np.arange(N) % 3 == 1
OBS = pd.DataFrame(
    {
        "cell_type": pd.Categorical(np.where(GAPS, None, np.where(np.arange(N) % 2, "T cell", "B cell"))),
        "grade": pd.Categorical(np.arange(N) % 4 * 10),
        "text": [f"text {i}" for i in range(N)],
        "counts": np.arange(N, dtype=np.int32),
        "share": np.where(GAPS, np.nan, np.arange(N) / 8).astype(">f4"),
        "doublet": np.arange(N) % 5 == 0,
        "age": pd.array([None if gap else 2**53 + i for i, gap in enumerate(GAPS)], dtype="Int64"),
        "sure": pd.array([None if gap else i % 2 == 0 for i, gap in enumerate(GAPS)], dtype="boolean"),
    },
    index=BARCODES,
)
FORMS = {"dense": np.array, "CSR": sp.csr_matrix, "CSC": sp.csc_matrix}


def expected(key):
    """A column as pandas has it, None where it has nothing."""
    return [None if pd.isna(value) else value for value in OBS[key].tolist()]


def found(values):
    return [None if value is None or value != value else value for value in values.tolist()]


@pytest.fixture(params=FORMS)
def cells(tmp_path, request):
    path = tmp_path / "cells.h5ad"
    ad.AnnData(FORMS[request.param](X), OBS, pd.DataFrame(index=GENES)).write_h5ad(path)
    return path


def written(path, obs, **more):
    """An h5ad file whose table obs is made by hand."""
    with h5py.File(path, "w") as file:
        file["X"] = X
        if isinstance(obs, dict):
            group = file.create_group("obs")
            group.attrs["_index"] = "barcode"
            for name, part in obs.items():
                group[name] = part
        else:
            file["obs"] = obs
        for name, part in more.items():
            file[f"uns/{name}"] = part
    return path


def test_obs_is_what_anndata_wrote(cells):
    rows = opened(cells)
    assert list(rows.others) == [*OBS.columns, "cell"]
    assert rows.row_names.tolist() == BARCODES
    for key, values in rows.cells(OBS.columns).items():
        assert found(values) == expected(key)
        assert found(rows.column(key)) == found(rows.raw_cells([key])[key]) == expected(key)
    assert rows.column("doublet").dtype == bool
    assert rows.column("share").dtype == np.float32
    assert rows.column("counts").dtype == np.int32
    peeked = rows.peek(["age", "G2", "cell_type", "cell"], 7)
    assert list(peeked) == ["age", "G2", "cell_type", "cell"]
    assert [found(values) for values in peeked.values()] == [
        expected("age")[:7], X[:7, 2].tolist(), expected("cell_type")[:7], BARCODES[:7]
    ]  # fmt: skip


def test_obs_is_neither_decomposed_nor_announced(cells):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = read(cells)
        labelled = read(cells, label="cell_type", columns=["G1", "G3"])
    assert (rows.shape, rows.names, dict(rows.left_out)) == ((N, D), tuple(GENES), {})
    assert found(labelled.labels) == expected("cell_type")
    np.testing.assert_allclose(
        PCA(2).fit(labelled).explained_variance_, PCA(2).fit(X[:, [1, 3]]).explained_variance_, rtol=1e-10
    )
    with pytest.raises(DataError, match=r"'counts' is stored next to the matrix .* pass it as label="):
        read(cells, columns=["G1", "counts"])
    with pytest.raises(DataError, match="no column 'nobody'"):
        read(cells, label="nobody")


def test_names_and_columns_survive_every_choice(tmp_path):
    gaps = X.copy()
    gaps[[3, 8], 0] = np.nan
    for kind in FORMS:
        path = tmp_path / f"{kind}.h5ad"
        ad.AnnData(FORMS[kind](gaps), OBS, pd.DataFrame(index=GENES)).write_h5ad(path)
        for columns in (None, ["G0", "G4"]):
            for missing in ("drop", "mean"):
                rows = read(path, columns=columns, missing=missing, label="text")
                again = select(rows, ["G0"], None, "error")
                assert again.row_names.tolist() == BARCODES
                assert again.column("text").tolist() == expected("text")
                assert list(again.others) == list(rows.others) == list(opened(path).others)
        kept = read(path, missing="drop", label="cell")
        assert kept.row_names[kept.kept].tolist() == kept.labels.tolist() == np.delete(BARCODES, [3, 8]).tolist()


def test_columns_that_are_not_asked_for_are_not_read(cells):
    rows, seen = opened(cells), os.path.exists("/proc/self/fd")
    held = times_open(cells)
    with h5py.File(cells, "r") as file:
        dense = hasattr(file["X"], "shape")
    assert not seen or held == dense  # a dense X is read from the file, part by part
    assert rows.row_names[0] == BARCODES[0]
    assert times_open(cells) == held
    if not dense:
        assert pickle.loads(pickle.dumps(rows)).row_names.tolist() == BARCODES
        cells.rename(cells.with_name("elsewhere.h5ad"))
        assert rows.column("G1").tolist() == X[:, 1].tolist()
        with pytest.raises(DataError, match=r"cells\.h5ad is not a valid HDF5 file"):
            rows.column("text")


def times_open(path) -> int:
    """How often this process has a file open, as far as the system tells; other threads may have others."""
    links = []
    for link in Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(OSError):  # closed meanwhile
            links.append(os.readlink(link))
    return links.count(str(path))


def test_labels_of_obs_colour_a_report(cells, tmp_path):
    page = report(PCA(2).fit(X), tmp_path / "page.html", read(cells, label="cell_type")).read_text(encoding="utf-8")
    assert "T cell" in page
    assert "B cell" in page


def test_records_of_old_files(tmp_path):
    """The first versions kept obs as a list of records, and categories elsewhere."""
    kinds = np.arange(N) % 3 - 1
    fields = [("index", "S8"), ("louvain", "i4"), ("n", "f8"), ("words", h5py.string_dtype()), ("shared", "i4")]
    records = [(name.encode(), kinds[i], i / 2, f"ü {i}", i) for i, name in enumerate(BARCODES)]
    path = written(
        tmp_path / "old.h5ad", np.array(records, fields), louvain_categories=[b"zero", b"one"], shared_categories=[b"a"]
    )
    rows = opened(path)
    assert list(rows.others) == ["louvain", "n", "words", "shared", "cell"]
    assert rows.row_names.tolist() == BARCODES
    assert rows.column("louvain").tolist() == [None if kind < 0 else ("zero", "one")[kind] for kind in kinds]
    assert rows.column("n").tolist() == (np.arange(N) / 2).tolist()
    assert rows.peek(["words"], 2)["words"].tolist() == ["ü 0", "ü 1"]
    assert rows.column("shared").tolist() == list(range(N))  # the categories are too few: they are of another table
    assert rows.shape == (N, D)


def test_a_single_category_of_old_files(tmp_path):
    records = np.array([(name, 0) for name in BARCODES], [("name", "S8"), ("batch", "i1")])
    rows = opened(written(tmp_path / "old.h5ad", records, batch_categories="only one"))
    assert rows.column("batch").tolist() == ["only one"] * N
    assert (rows.named_by, rows.row_names.tolist()) == ("name", BARCODES)


def test_categories_by_reference(tmp_path):
    """Versions 0.7 kept the codes, and a reference to their categories."""
    path = written(tmp_path / "x.h5ad", {"barcode": BARCODES, "batch": np.int8(np.arange(N) % 3 - 1)})
    with h5py.File(path, "a") as file:
        file["obs/__categories/batch"] = ["b0", "b1"]
        file["obs/batch"].attrs["categories"] = file["obs/__categories/batch"].ref
    rows = opened(path)
    assert list(rows.others) == ["batch", "barcode"]
    assert rows.column("batch").tolist() == [None if i % 3 == 0 else f"b{i % 3 - 1}" for i in range(N)]


@pytest.mark.parametrize(
    ("obs", "keys"),
    [
        ({}, []),
        (np.arange(N), []),
        ({"barcode": BARCODES, "matrix": X, "odd/part": BARCODES}, ["barcode"]),
        ({"barcode": h5py.SoftLink("/nowhere"), "lost": h5py.SoftLink("/nowhere")}, []),
        ({"batch": BARCODES}, ["batch"]),
    ],
)
def test_what_is_no_column_is_not_known(tmp_path, obs, keys):
    rows = opened(written(tmp_path / "x.h5ad", obs))
    assert list(rows.others) == keys
    assert (rows.row_names is None) == ("barcode" not in keys)
    assert rows.shape == (N, D)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"bad": BARCODES[:9]}, r"'bad' of obs in .*x\.h5ad has the shape \(9,\) where 60 rows need a value each"),
        ({"bad/codes": np.full(N, 2, np.int8), "bad/categories": ["a", "b"]}, r"category 2 of /obs/bad/.*there are 2"),
        ({"bad/codes": np.zeros(N), "bad/categories": ["a"]}, "float64, but must be integers"),
        ({"bad/codes": np.zeros((N, 2), np.int8), "bad/categories": ["a"]}, r"shape \(60, 2\), but must be a list"),
        ({"bad/codes": np.zeros(N, np.int8), "bad/categories": h5py.SoftLink("/obs/bad")}, r"x\.h5ad is damaged"),
        ({"bad/values": np.arange(N), "bad/mask": np.zeros(3, bool)}, "has 60 values, but a mask of 3"),
        ({"bad/values/inner": np.arange(N), "bad/mask": np.zeros(N, bool)}, r"x\.h5ad is damaged"),
    ],
)
def test_damaged_columns_are_errors_once_they_are_asked_for(tmp_path, part, message):
    path = written(tmp_path / "x.h5ad", {"barcode": BARCODES} | part)
    rows = read(path, label="bad")
    assert PCA(2).fit(rows).n_components_ == 2
    with pytest.raises(DataError, match=message):
        _ = rows.labels
    assert rows.row_names.tolist() == BARCODES


def test_columns_that_memory_cannot_hold_are_refused(tmp_path, monkeypatch):
    path = written(tmp_path / "x.h5ad", {"barcode": BARCODES, "long": np.array(["w" * 5000] * N, "S5000")})
    rows = opened(path)
    monkeypatch.setattr(memory, "allowed", lambda: 100_000)
    assert rows.row_names[0] == BARCODES[0]
    assert len(rows.peek(["long"], 10)["long"]) == 10
    with pytest.raises(DataError, match=r"/obs/long of .* would take 0\.3 MB of memory"):
        rows.column("long")


def test_a_column_called_like_a_gene_gets_a_number(tmp_path):
    obs = pd.DataFrame({"G1": ["x"] * N, "cell": ["y"] * N}, index=BARCODES)
    ad.AnnData(X, obs, pd.DataFrame(index=GENES)).write_h5ad(tmp_path / "x.h5ad")
    rows = opened(tmp_path / "x.h5ad")
    assert list(rows.others) == ["G1_2", "cell", "cell_2"]
    assert rows.column("G1").tolist() == X[:, 1].tolist()
    assert rows.column("G1_2").tolist() == ["x"] * N
    assert rows.row_names.tolist() == rows.column("cell_2").tolist() == BARCODES
    named = obs.rename_axis("barcodes")
    ad.AnnData(X, named, pd.DataFrame(index=GENES)).write_h5ad(tmp_path / "y.h5ad")
    assert opened(tmp_path / "y.h5ad").named_by == "barcodes"


def transposed_text(path, table):
    table.to_pandas().to_csv(path, sep="\t", index=False)


TABLES = {
    "x.tsv": transposed_text,
    "x.parquet": lambda path, table: pq.write_table(table, path),
    "x.arrow": lambda path, table: pa.feather.write_feather(table, path),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_transposed_table_names_its_rows_by_its_header(tmp_path, name):
    samples = ["tumour 1", "tumour 2", "normal"]
    table = pa.table({"gene": ["TP53", "MYC", "name"]} | {s: X[:3, j] for j, s in enumerate(samples)})
    TABLES[name](tmp_path / name, table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = read(tmp_path / name, transpose=True)
        fewer = read(tmp_path / name, transpose=True, columns=["MYC"], label="TP53", missing="drop")
    assert rows.names == ("TP53", "MYC", "name")
    np.testing.assert_array_equal(rows.block(0, 3), X[:3, :3].T)
    assert rows.row_names.tolist() == fewer.row_names.tolist() == samples
    assert rows.named_by == "name_2"  # "name" is a gene
    assert opened(tmp_path / name).row_names is None


def test_positions_are_no_names(tmp_path):
    (tmp_path / "x.csv").write_text("TP53,1.5,2.5\nMYC,4,5.5\n")
    rows = opened(tmp_path / "x.csv", transpose=True)
    assert (rows.names, rows.row_names) == (("TP53", "MYC"), None)
    np.save(tmp_path / "x.npy", X)
    assert opened(tmp_path / "x.npy", transpose=True).row_names is None


def test_samples_of_one_name_are_announced(tmp_path):
    (tmp_path / "x.csv").write_text(",s,s,t\nTP53,1,2,3\nMYC,4,5.5,6\n")
    with pytest.warns(ColumnWarning) as told:
        rows = read(tmp_path / "x.csv", transpose=True)
    assert [str(warning.message) for warning in told] == ["column names repeat or are empty: 's' is now 's_2'"]
    assert rows.row_names.tolist() == ["s", "s_2", "t"]


def test_a_transposed_h5ad(cells):
    rows = opened(cells, transpose=True)
    assert (rows.shape, rows.names) == ((D, N), tuple(BARCODES))
    assert rows.row_names.tolist() == GENES
    np.testing.assert_allclose(PCA(2).fit(rows).explained_variance_, PCA(2).fit(X.T).explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("matrix", [sp.coo_array(X.T), X.T], ids=["sparse", "dense"])
def test_barcodes_of_a_10x_folder(tmp_path, matrix):
    folder = tmp_path / "filtered"
    folder.mkdir()
    scipy.io.mmwrite(folder / "matrix.mtx", matrix)
    (folder / "genes.tsv").write_text("".join(f"ENS{name}\t{name}\n" for name in GENES))
    assert opened(folder).row_names is None
    (folder / "barcodes.tsv.gz").write_bytes(gzip.compress("".join(f"{name}\n" for name in BARCODES).encode()))
    rows = read(folder, label="barcode", columns=["G1", "G2"])
    assert rows.row_names.tolist() == rows.labels.tolist() == BARCODES
    assert rows.peek(["barcode"], 3)["barcode"].tolist() == BARCODES[:3]
    turned = opened(folder, transpose=True)
    assert (turned.names, turned.row_names.tolist()) == (tuple(BARCODES), GENES)
    np.testing.assert_array_equal(turned.column("AAAC-7"), X[7])
    (folder / "barcodes.tsv.gz").write_bytes(gzip.compress(b"AAAC-0\n"))
    with pytest.raises(DataError, match=r"barcodes\.tsv\.gz names 1 cells, but the matrix has 60"):
        _ = opened(folder).row_names
    (folder / "barcodes.tsv.gz").write_bytes(gzip.compress(b"AAAC-0\n" * N)[:30])
    with pytest.raises(DataError, match="not a valid list of barcodes"):
        _ = opened(folder).row_names
    (folder / "matrix.mtx").write_text("%%MatrixMarket matrix array real general\n2 60\n1.0\n")
    with pytest.raises(DataError) as found:
        opened(folder)
    assert found.value.file == str(folder / "matrix.mtx") in str(found.value)
