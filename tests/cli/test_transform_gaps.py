"""Scores stand beside the rows they come from, also where some lack a value."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from helpers.commands import answer, run
from ritz import PCA, CompressedSensing, KernelPCA, load, read

N, GAPS = 12, (3, 7)
WHOLE = np.delete(np.arange(N), GAPS)
X = np.random.default_rng(0).standard_normal((N, 3)) * [3, 2, 1]


def write(path, gaps=GAPS):
    cells = [[f"w{i}", *map(repr, row), "even" if i % 2 == 0 else "odd"] for i, row in enumerate(X.tolist())]
    for i in gaps:
        cells[i][2] = ""
    path.write_text("\n".join(["who,x,y,z,parity", *map(",".join, cells), ""]))
    return path


def scores_in(path):
    if path.suffix == ".npy":
        return None, np.load(path)
    table = {
        ".csv": pyarrow.csv.read_csv,
        ".parquet": pq.read_table,
        ".arrow": lambda file: pyarrow.ipc.open_file(file).read_all(),
        ".tsv": lambda file: pyarrow.csv.read_csv(file, parse_options=pyarrow.csv.ParseOptions(delimiter="\t")),
    }[path.suffix](path)
    numbers = [np.array(table[f"PC{i}"].to_pylist(), float) for i in (1, 2)]
    return table["who"].to_pylist(), np.column_stack(numbers)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    run("fit", write(folder / "x.csv"), "--missing", "drop", "-k", 2, "-o", folder / "m", "-q")
    return folder / "m" / "model.safetensors"


@pytest.fixture
def model(tmp_path, fitted):
    write(tmp_path / "x.csv")
    return fitted


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow", ".npy"])
def test_rows_without_scores_keep_their_place_and_are_counted(tmp_path, model, ending):
    out = tmp_path / f"s{ending}"
    told = answer("transform", model, tmp_path / "x.csv", "-o", out)
    assert (told["rows"], told["without_scores"]) == (N, 2)
    assert "rows left out" not in told["facts"]
    assert any("2 of 12 rows have a missing value" in word and "--missing drop" in word for word in told["warnings"])
    names, scores = scores_in(out)
    assert names in (None, [f"w{i}" for i in range(N)])
    assert np.flatnonzero(np.isnan(scores).all(axis=1)).tolist() == list(GAPS)
    truth = PCA(2).fit(X[WHOLE]).transform(X[WHOLE])
    assert np.allclose(scores[WHOLE], truth, atol=1e-12)


@pytest.mark.parametrize("kind", ["csv", "arrow"])
def test_through_pipes(tmp_path, model, kind):
    sent = run("transform", model, "-", "--to", kind, input=(tmp_path / "x.csv").read_bytes())
    assert "2 of 12 rows have a missing value" in sent.stderr
    back = run("inverse", model, "-", "--to", "csv", input=sent.stdout_bytes)
    assert "2 of 12 rows have no scores" in back.stderr
    lines = back.stdout.splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == [f'"w{i}"' for i in range(N)]
    assert all(lines[1 + i].endswith(",,,") for i in GAPS)


def test_rows_are_dropped_where_that_is_asked_for(tmp_path, model):
    told = answer("transform", model, tmp_path / "x.csv", "--missing", "drop", "-o", tmp_path / "s.csv")
    assert (told["rows"], told["facts"]["rows left out"][:7]) == (10, "2 of 12")
    assert scores_in(tmp_path / "s.csv")[0] == [f"w{i}" for i in WHOLE]
    assert (
        "rows left out: 2 of 12"
        in run("transform", model, tmp_path / "x.csv", "--missing", "drop", "--to", "csv").stderr
    )
    assert run("transform", model, tmp_path / "x.csv", "--missing", "error", code=3)
    told = answer("fit", tmp_path / "x.csv", "--missing", "drop", "-k", 2, "-o", tmp_path / "n")
    assert told["facts"]["rows left out"].startswith("2 of 12")


def test_means_are_filled_in_as_the_fit_did_and_counted(tmp_path):
    path = write(tmp_path / "x.csv")
    run("fit", path, "--missing", "mean", "-k", 2, "-o", tmp_path / "m", "-q")
    told = run("transform", tmp_path / "m" / "model.safetensors", path, "-o", tmp_path / "s.csv")
    assert "cells filled: 2, with the mean of the model" in told.stderr
    assert not np.isnan(scores_in(tmp_path / "s.csv")[1]).any()


@pytest.mark.parametrize("centred", [(), ("--no-center",)], ids=["centred", "not centred"])
def test_cells_of_a_sparse_file_are_filled_and_counted_as_those_of_a_dense_one(tmp_path, centred):
    gaps = X.copy()
    gaps[GAPS, 1] = np.nan
    np.save(tmp_path / "dense.npy", gaps)
    sp.save_npz(tmp_path / "sparse.npz", sp.csr_array(gaps))
    scores = []
    for name in ("dense.npy", "sparse.npz"):
        folder, out = tmp_path / name.partition(".")[0], tmp_path / f"{name}.scores.npy"
        told = answer("fit", tmp_path / name, "--missing", "mean", "-k", 2, "-o", folder, *centred)
        assert told["facts"]["cells filled"] == "2, with the mean of their column"
        told = run("transform", folder / "model.safetensors", tmp_path / name, "-o", out)
        assert "cells filled: 2, with the mean of the model" in told.stderr
        scores.append(np.load(out))
    np.testing.assert_allclose(*scores, rtol=1e-9, atol=1e-12)


def test_a_file_in_which_every_row_lacks_a_value(tmp_path, model):
    path = write(tmp_path / "none.csv", gaps=range(N))
    told = answer("transform", model, path, "-o", tmp_path / "s.csv")
    assert (told["rows"], told["without_scores"]) == (N, N)
    names, scores = scores_in(tmp_path / "s.csv")
    assert names == [f"w{i}" for i in range(N)]
    assert np.isnan(scores).all()


@pytest.mark.filterwarnings("ignore::ritz.errors.ColumnWarning")
def test_python_does_as_it_is_asked(tmp_path):
    path = write(tmp_path / "x.csv")
    rows = read(path, missing="drop")
    pca = PCA(2).fit(rows)
    assert len(pca.transform(rows)) == len(pca.reconstruction_error(rows)) == len(WHOLE)
    with pytest.raises(ValueError, match="2 NaN, first at row 3, column 'y'"):
        pca.transform(path)


def test_every_model_keeps_rows_in_their_places_unless_told_otherwise(tmp_path):
    complete = pd.DataFrame(X, columns=["x", "y", "z"])
    file = write(tmp_path / "x.csv")
    run("fit", write(tmp_path / "whole.csv", ()), "-k", 2, "-o", tmp_path / "m", "-q")  # --missing error
    KernelPCA(2).fit(complete).save(tmp_path / "kernel.safetensors")
    CompressedSensing(2).fit(complete).save(tmp_path / "sensing.safetensors")
    holes = X.copy()
    holes[list(GAPS), 1] = np.nan
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(holes))
    gaps = {"z": [1, None, 3], "x": [1, 2, 3], "y": [4, 5, 6]}
    pq.write_table(pa.table(gaps), tmp_path / "x.parquet")
    for model in (tmp_path / "m/model.safetensors", tmp_path / "kernel.safetensors", tmp_path / "sensing.safetensors"):
        for path, n, lacking in ((file, N, GAPS), (tmp_path / "x.npz", N, GAPS), (tmp_path / "x.parquet", 3, (1,))):
            told = answer("transform", model, path, "-o", tmp_path / "s.npy", "--force")
            assert (told["rows"], told["without_scores"]) == (n, len(lacking))
            scores = np.load(tmp_path / "s.npy")
            assert np.flatnonzero(np.isnan(scores).any(axis=1)).tolist() == list(lacking)
            assert path.suffix == ".parquet" or np.allclose(scores[WHOLE], load(model).transform(complete)[WHOLE])
        assert "2 NaN, first at row 3" in run("transform", model, file, "--missing", "error", code=3).stderr
        assert answer("transform", model, file, "--missing", "drop", "-o", tmp_path / "s.npy", "--force")["rows"] == 10


def test_rows_of_a_sparse_file_that_all_lack_a_value(tmp_path, model):
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(np.full((4, 3), np.nan)))
    assert answer("transform", model, tmp_path / "x.npz", "-o", tmp_path / "s.npy")["without_scores"] == 4
    assert "every row" in run("report", model, tmp_path / "x.npz", "-o", tmp_path / "r.html", code=3).stderr


def test_a_report_leaves_out_rows_that_lack_a_value_and_says_so(tmp_path):
    run("fit", write(tmp_path / "whole.csv", ()), "-k", 2, "-o", tmp_path / "m", "-q")
    file, page = write(tmp_path / "x.csv"), tmp_path / "r.html"
    told = run("report", tmp_path / "m/model.safetensors", file, "-o", page)
    assert "rows left out: 2 of 12" in told.stderr
    assert "rows left out" in page.read_text()
    refused = run("report", tmp_path / "m/model.safetensors", file, "-o", page, "--force", "--missing", "error", code=3)
    assert "2 NaN, first at row 3" in refused.stderr


def test_scores_that_lack_some_of_a_row_get_advice_that_works(tmp_path, model):
    (tmp_path / "s.csv").write_text("PC1,PC2\n1,\n2,3\n")
    told = run("inverse", model, tmp_path / "s.csv", "--to", "csv", code=3).stderr
    assert "1 NaN, first at row 0, column 'PC2'" in told
    assert "--missing" not in told
