"""--na, --columns, --drop and --diff from the file to the scores of new rows."""

import shlex
import warnings

import numpy as np
import pandas as pd
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from helpers.commands import all_said, answer, run
from ritz import PCA, load

N = 120
RNG = np.random.default_rng(0)
COLUMNS = ["height", "weight", "glucose", "bmi", "x1", "x2"]


def table():
    X = RNG.normal(50, 9, (N, 6)).round(2)
    X[:7, 2], X[5:9, 3], X[30:33, 1] = 0, 0, -999
    return pd.DataFrame(X, columns=COLUMNS)


def gaps(frame):
    X = frame.to_numpy().copy()
    X[:, 2:4] = np.where(X[:, 2:4] == 0, np.nan, X[:, 2:4])
    X[X == -999] = np.nan
    return X


@pytest.fixture(params=["csv", "parquet", "npy"])
def data(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = table()
    new = table()
    for name, part in (("x", frame), ("new", new)):
        if request.param == "csv":
            part.to_csv(f"{name}.csv", index=False)
        elif request.param == "parquet":
            part.to_parquet(f"{name}.parquet")
        else:
            np.save(f"{name}.npy", part.to_numpy())
    return request.param, gaps(frame), gaps(new)


def scores(path):
    found = pq.read_table(path) if str(path).endswith("parquet") else pyarrow.csv.read_csv(path)
    return np.column_stack([np.array(found[name].to_pylist(), float) for name in ("PC1", "PC2")])


def codes(kind):
    return ["--na", "0:2,3" if kind == "npy" else "0:glucose,bmi", "--na", "-999"]


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_codes_from_the_fit_to_new_rows(data, missing):
    kind, X, new = data
    whole = X[~np.isnan(X).any(axis=1)] if missing == "drop" else np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    truth = PCA(2).fit(whole)
    run("fit", f"x.{kind}", "-k", 2, *codes(kind), "--missing", missing, "-q")
    model = load("x-ritz/model.safetensors")
    assert np.allclose(model.explained_variance_, truth.explained_variance_, rtol=1e-10)
    told = answer("transform", "x-ritz/model.safetensors", f"new.{kind}", "-o", "s.parquet")
    found = scores("s.parquet")
    assert len(found) == N
    if missing == "drop":
        there = ~np.isnan(new).any(axis=1)
        assert told["without_scores"] == N - there.sum()
        assert np.isnan(found[~there]).all()
        assert np.allclose(found[there], truth.transform(new[there]), atol=1e-9)
    else:
        assert np.allclose(found, truth.transform(np.where(np.isnan(new), truth.mean_, new)), atol=1e-9)


def test_info_plans_the_fit_that_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().to_csv("x.csv", index=False)
    options = ["--columns", "*eight,glucose", "--na", "-999.9", "--na", "0:glucose", "--diff"]
    line = next(line for line in run("info", "x.csv", *options).stdout.splitlines() if line.startswith("next: "))
    for words in ("--columns '*eight,glucose'", "--na -999.9", "--na 0:glucose", "--diff", "--missing"):
        assert words in line
    assert answer(*shlex.split(line)[2:])["columns"] == 3


def test_codes_are_gaps_about_which_something_must_be_done(data):
    kind, _, _ = data
    said = all_said("fit", f"x.{kind}", *codes(kind), code=3)
    assert "14 NaN" in said or "NaN, first at" in said
    assert "--missing drop leaves such rows out" in said
    assert answer("info", f"x.{kind}", *codes(kind))["missing"] == 14


@pytest.mark.parametrize("missing", ["drop", "error"])
def test_differences_from_the_fit_to_new_rows(data, missing):
    kind, X, new = data
    options = ["--diff", *(codes(kind) if missing == "drop" else []), "--missing", missing]
    read = (lambda A: A) if missing == "drop" else (lambda A: np.nan_to_num(A, nan=0.0))
    if missing == "error":
        raw = {"csv": pd.read_csv, "parquet": pd.read_parquet, "npy": lambda path: pd.DataFrame(np.load(path))}[kind]
        X, new = raw(f"x.{kind}").to_numpy(), raw(f"new.{kind}").to_numpy()
    steps, new_steps = np.diff(read(X), axis=0), np.diff(read(new), axis=0)
    truth = PCA(2).fit(steps[~np.isnan(steps).any(axis=1)])
    told = answer("fit", f"x.{kind}", "-k", 2, *options)
    assert told["rows"] == (~np.isnan(steps).any(axis=1)).sum()
    assert told["facts"]["differences"] == "of every row and the one before it"
    model = load("x-ritz/model.safetensors")
    assert np.allclose(model.explained_variance_, truth.explained_variance_, rtol=1e-10)
    done = run("transform", "x-ritz/model.safetensors", f"new.{kind}", "-o", "s.csv")
    assert "the scores of the first row are empty" in done.stderr
    found = scores("s.csv")
    assert len(found) == N
    assert np.isnan(found[0]).all()
    there = ~np.isnan(new_steps).any(axis=1)
    assert np.isnan(found[1:][~there]).all()
    assert np.allclose(found[1:][there], truth.transform(new_steps[there]), atol=1e-9)
    lacking = int((~there).sum())
    assert (f"{lacking} of {N} rows have a missing value" in done.stderr) == bool(lacking)
    run("report", "x-ritz/model.safetensors", f"new.{kind}", "-o", "page.html")


def test_names_of_rows_are_those_of_later_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame.insert(0, "day", [f"d{i:03}" for i in range(N)])
    frame.to_csv("x.csv", index=False)
    run("fit", "x.csv", "-k", 2, "--diff", "-q")
    assert pyarrow.csv.read_csv("x-ritz/scores.csv")["day"].to_pylist() == [f"d{i:03}" for i in range(1, N)]


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (["--columns", "height,weight"], ["height", "weight"]),
        (["--columns", "x*"], ["x1", "x2"]),
        (["--columns", "x*", "--columns", "bmi"], ["bmi", "x1", "x2"]),
        (["--columns", "0-2"], ["height", "weight", "glucose"]),
        (["--columns", "?eight", "--drop", "w*"], ["height"]),
        (["--drop", "x?,*eight"], ["glucose", "bmi"]),
        (["--drop", "x1", "--drop", "x2"], ["height", "weight", "glucose", "bmi"]),
    ],
)
def test_columns(tmp_path, monkeypatch, options, columns):
    monkeypatch.chdir(tmp_path)
    table().to_csv("x.csv", index=False)
    told = answer("fit", "x.csv", "-k", 1, *options)
    assert told["columns"] == len(columns)
    model = load("x-ritz/model.safetensors")
    assert list(model.feature_names_in_) == columns
    again = table()[[*reversed(columns), *(name for name in COLUMNS if name not in columns)]]
    again.to_csv("new.csv", index=False)
    run("transform", "x-ritz/model.safetensors", "new.csv", "-o", "s.csv")
    assert answer("info", "x.csv", *options)["columns"] == len(columns)


def test_what_is_left_out_by_columns_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().to_csv("x.csv", index=False)
    said = all_said("fit", "x.csv", "-k", 1, "--columns", "x*")
    assert "columns: 2 of 6, as asked" in said
    assert "not decomposed" not in said


def test_columns_without_names_are_remembered_by_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = table().to_numpy()
    np.save("x.npy", X)
    run("fit", "x.npy", "-k", 2, "--columns", "0,4-5", "--na", "-999", "-q")
    run("transform", "x-ritz/model.safetensors", "x.npy", "-o", "s.csv")
    assert np.allclose(scores("s.csv"), PCA(2).fit_transform(X[:, [0, 4, 5]]), atol=1e-9)


def test_an_identifier_that_is_asked_for_is_decomposed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame.insert(0, "id", range(1, N + 1))
    frame.to_csv("x.csv", index=False)
    assert answer("fit", "x.csv", "-k", 1, "--columns", "id,x1")["columns"] == 2
    assert answer("fit", "x.csv", "-k", 1, "--columns", "x*", "--force")["columns"] == 2


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--columns", "hieght"], 3, "there is no column 'hieght' (did you mean 'height'"),
        (["--columns", "q*"], 3, "no column fits 'q*'"),
        (["--drop", "*"], 3, "no column is left to decompose"),
        (["--columns", "kind"], 3, "holds no numbers"),
        (["--na", "x"], 2, "not a number, or a number and columns"),
        (["--na", "nan"], 2, "not a number"),
        (["--na", "0:"], 2, "not a number, or a number and columns"),
        (["--na", "0:glucos"], 3, "did you mean 'glucose'"),
        (["--dask", "local", "--na", "0"], 2, "--na does not go with --dask"),
        (["--dask", "local", "--diff"], 2, "--diff does not go with --dask"),
    ],
    ids=str,
)
def test_errors_say_what_is_near(tmp_path, monkeypatch, options, code, words):
    monkeypatch.chdir(tmp_path)
    table().assign(kind=["u", "v"] * (N // 2)).to_csv("x.csv", index=False)
    assert words in all_said("fit", "x.csv", *options, code=code)


def test_infinite_cells_can_be_taken_for_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = RNG.normal(size=(40, 3))
    X[3, 1], X[7, 1] = np.inf, -np.inf
    np.save("x.npy", X)
    told = answer("fit", "x.npy", "-k", 1, "--na", "inf", "--na", "-inf", "--missing", "drop")
    assert told["rows"] == 38
    assert answer("transform", "x-ritz/model.safetensors", "x.npy", "-o", "s.csv")["without_scores"] == 2


def test_models_of_parts_keep_what_all_of_them_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame[:60].to_csv("a.csv", index=False)
    frame[60:].to_csv("b.csv", index=False)
    for name in "ab":
        run("fit", f"{name}.csv", "-k", 2, "--na", "0:glucose,bmi", "--na", "-999", "--missing", "drop", "-q")
    run("merge", "a-ritz/model.safetensors", "b-ritz/model.safetensors", "-o", "both.safetensors")
    assert load("both.safetensors").notes_["na"] == [["0.0", ["glucose", "bmi"]], ["-999.0", None]]


@pytest.mark.parametrize("notes", [{"na": 5}, {"na": [["x", None]]}, {"na": [["0", [1]]]}, {"diff": "yes"}])
def test_notes_that_no_fit_wrote_are_bad_data(tmp_path, monkeypatch, notes):
    monkeypatch.chdir(tmp_path)
    table().to_csv("x.csv", index=False)
    PCA(2).fit(table()).save("m.safetensors", notes=notes)
    assert "notes" in run("transform", "m.safetensors", "x.csv", "-o", "out.csv", code=3).stderr


def test_sparse_and_stacked_files(tmp_path, monkeypatch):
    import scipy.sparse as sp

    monkeypatch.chdir(tmp_path)
    A = sp.random(60, 5, 0.5, random_state=0, format="csr")
    A.data[::9] = -9
    sp.save_npz("x.npz", A)
    dense = A.toarray()
    told = answer("fit", "x.npz", "-k", 1, "--na", "-9", "--missing", "drop")
    assert told["rows"] == (~(dense == -9).any(axis=1)).sum()
    frame = table()
    frame[:50].to_csv("p1.csv", index=False)
    frame[50:].to_csv("p2.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = answer("fit", "p1.csv", "p2.csv", "-k", 2, "--na", "-999", "--diff", "--missing", "drop", "-o", "m")
    X = frame.to_numpy()
    X[X == -999] = np.nan
    steps = np.diff(X, axis=0)
    truth = PCA(2).fit(steps[~np.isnan(steps).any(axis=1)])
    assert np.allclose([part["variance"] for part in told["components"]], truth.explained_variance_)
