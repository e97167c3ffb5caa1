"""Columns are who their names say they are: scores on the way back, and rows whose columns are called by numbers."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.commands import run
from ritz import PCA, ColumnWarning, CompressedSensing, DataError, KernelPCA, compare, load, merge, read

pytestmark = pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
X = np.random.default_rng(0).standard_normal((40, 4)) * [4, 3, 2, 1]
YEARS = [2004, 2001, 2003, 2002]
MODELS = {
    "PCA": PCA(3),
    "KernelPCA": KernelPCA(3, fit_inverse_transform=True),
    "CompressedSensing": CompressedSensing(3, measurement=np.eye(4)[:3] + 0.1, sparsity=1),
}
TABLES = {
    "pandas": lambda Y, columns: pd.DataFrame(Y, columns=columns),
    "polars": lambda Y, columns: pl.DataFrame(Y, schema=list(columns)),
    "pyarrow": lambda Y, columns: pa.table(list(Y.T), names=list(columns)),
}


def of_files(name):
    return [f"{'y' if name == 'CompressedSensing' else 'PC'}{i}" for i in (1, 2, 3)]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_scores_come_back_by_name(name, table):
    model = MODELS[name].fit(X)
    Y = model.transform(X)
    back = model.inverse_transform(Y)
    order = [2, 0, 1]
    for names in (list(model.get_feature_names_out()), of_files(name), ["0", "1", "2"]):
        np.testing.assert_allclose(model.inverse_transform(table(Y, names)), back, rtol=1e-9)
        swapped = table(Y[:, order], [names[j] for j in order])
        np.testing.assert_allclose(model.inverse_transform(swapped), back, rtol=1e-9)
        with pytest.raises(DataError, match=r"scores (lack|have)|got 2 columns"):
            model.inverse_transform(table(Y[:, :2], names[:2]))
    known = list(model.get_feature_names_out())
    with pytest.raises(DataError, match=rf"scores lack '{known[2]}' and have 'other', which the model does not know"):
        model.inverse_transform(table(Y, [*known[:2], "other"]))
    with pytest.raises(DataError, match=rf"scores have 'label', which .*; pass the columns '{known[0]}', '{known[1]}'"):
        model.inverse_transform(table(np.c_[Y, Y[:, 0]], [*known, "label"]))


def test_integers_that_call_scores():
    model = PCA(3).fit(X)
    Y = model.transform(X)
    back = model.inverse_transform(Y)
    assert np.array_equal(model.inverse_transform(pd.DataFrame(Y)), back)
    np.testing.assert_allclose(model.inverse_transform(pd.DataFrame(Y)[[2, 0, 1]]), back, rtol=1e-12)
    assert np.array_equal(model.inverse_transform(pd.DataFrame(Y, columns=[1, 2, 3])), back)
    for columns in ([2, 1, 3], [5, 4, 6]):
        with pytest.raises(DataError, match=r"are out of order, and the model does not know these names; call them"):
            model.inverse_transform(pd.DataFrame(Y, columns=columns))


def test_names_that_say_nothing_go_by_position():
    model = PCA(3).fit(X)
    Y = model.transform(X)
    for names in (["c", "b", "a"], ["x1", "y0", "z5"], ["score_8", "score_9", "score_10"], ["column_0", "b", "a"]):
        assert np.array_equal(model.inverse_transform(pd.DataFrame(Y, columns=names)), model.inverse_transform(Y))
    with pytest.raises(DataError, match=r"'score_10', 'score_9', 'score_8' of the scores are out of order"):
        model.inverse_transform(pd.DataFrame(Y, columns=["score_10", "score_9", "score_8"]))


REPEATING = {name: TABLES[name] for name in ("pandas", "pyarrow")}  # polars refuses names that repeat
TWICE = r"column {} appears more than once, and the model tells its columns apart by name; rename or drop"


@pytest.mark.filterwarnings("ignore::ritz.ColumnWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("table", REPEATING.values(), ids=REPEATING)
def test_a_name_of_scores_appears_once(tmp_path, name, table):
    model = MODELS[name].fit(X)
    Y = model.transform(X)
    model.save(tmp_path / "model.safetensors")
    for names in (list(model.get_feature_names_out()), of_files(name), ["0", "1", "2"]):
        for order in ([0, 1, 1], [0, 0, 0], [0, 1, 2, 1], [1, 0, 1, 2]):
            twice = names[order[-1] if order[-1] != 2 else 1]
            with pytest.raises(DataError, match=TWICE.format(f"'{twice}'")):
                model.inverse_transform(table(Y[:, order], [names[j] for j in order]))
    for order in ([0, 1, 1], [0, 1, 2, 1]):
        pd.DataFrame(Y[:, order], columns=np.array(of_files(name))[order]).to_csv(tmp_path / "y.csv", index=False)
        told = TWICE.format(f"'{of_files(name)[1]}'")
        with pytest.raises(DataError, match=told):
            model.inverse_transform(tmp_path / "y.csv")
        said = run("inverse", tmp_path / "model.safetensors", tmp_path / "y.csv", "-o", tmp_path / "x.csv", code=3)
        assert re.search(told, " ".join(said.stderr.split()))


def test_integers_that_call_scores_twice():
    model = PCA(3).fit(X)
    with pytest.raises(DataError, match=TWICE.format(0)), pytest.warns(ColumnWarning):
        model.inverse_transform(pd.DataFrame(model.transform(X), columns=[0, 0, 1]))


@pytest.mark.filterwarnings("ignore::ritz.ColumnWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("table", REPEATING.values(), ids=REPEATING)
@pytest.mark.parametrize("order", [[0, 1, 2, 1], [0, 1, 1, 1], [0, 1, 2, 3, 1]])
def test_a_name_of_columns_appears_once_where_the_model_knows_names(tmp_path, name, table, order):
    known = np.array(["a", "b", "c", "d"])
    model = MODELS[name].fit(table(X, known))
    model.save(tmp_path / "model.safetensors")
    repeating = pd.DataFrame(X[:, order], columns=known[order])
    path = tmp_path / "x.csv"
    repeating.to_csv(path, index=False)
    for given in (table(X[:, order], known[order]), path, read(path)):
        with pytest.raises(DataError, match=TWICE.format("'b'")):
            model.transform(given)
    said = run("transform", tmp_path / "model.safetensors", path, "-o", tmp_path / "y.csv", code=3)
    assert re.search(TWICE.format("'b'"), " ".join(said.stderr.split()))
    if name == "PCA":
        for use in (model.reconstruction_error, model.score_samples, model.partial_fit):
            with pytest.raises(DataError, match=TWICE.format("'b'")):
                use(table(X[:, order], known[order]))


@pytest.mark.filterwarnings("ignore::ritz.ColumnWarning")
def test_names_that_repeat_in_the_rows_of_the_fit(tmp_path):
    """A table's columns are told apart by position then, and those of a file by the names they were given."""
    table = pd.DataFrame(X, columns=["a", "b", "b", "c"])
    model = PCA(2).fit(table)
    np.testing.assert_array_equal(model.transform(table), model.transform(X))
    table.to_csv(tmp_path / "x.csv", index=False)
    model = PCA(2).fit(tmp_path / "x.csv")
    np.testing.assert_allclose(model.transform(tmp_path / "x.csv"), model.transform(read(tmp_path / "x.csv")))
    with pytest.raises(DataError, match=TWICE.format("2001")):
        PCA(2).fit(pd.DataFrame(X, columns=YEARS)).transform(pd.DataFrame(X, columns=[2004, 2001, 2001, 2002]))


def test_files_of_scores_come_back_by_name(tmp_path):
    model = PCA(3).fit(X)
    Y = model.transform(X)
    back = model.inverse_transform(Y)
    model.save(tmp_path / "model.safetensors")
    for names in (["pca2", "pca0", "pca1"], ["PC3", "PC1", "PC2"]):
        pd.DataFrame(Y[:, [2, 0, 1]], columns=names).to_csv(tmp_path / "scores.csv", index=False)
        np.testing.assert_allclose(model.inverse_transform(tmp_path / "scores.csv"), back, rtol=1e-12)
        model.inverse_transform(tmp_path / "scores.csv", out=tmp_path / "back.npy")
        np.testing.assert_allclose(np.load(tmp_path / "back.npy"), back, rtol=1e-12)
        made = tmp_path / "back.csv"
        run("inverse", tmp_path / "model.safetensors", tmp_path / "scores.csv", "-o", made, "--force")
        np.testing.assert_allclose(pd.read_csv(made), back, rtol=1e-12)
    swapped = tmp_path / "scores.parquet"
    pd.DataFrame(Y[:, [2, 0, 1]], columns=["2", "0", "1"]).to_parquet(swapped)
    np.testing.assert_allclose(model.inverse_transform(swapped), back, rtol=1e-12)
    run("inverse", tmp_path / "model.safetensors", swapped, "-o", made, "--force")
    np.testing.assert_allclose(pd.read_csv(made), back, rtol=1e-12)


def asked(model):
    """Everything that takes rows."""
    ways = ["transform", "reconstruction_error", "score", "score_samples", "partial_fit"]
    return [getattr(model, way) for way in ways if hasattr(model, way)]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("columns", [[0, 1, 2, 3], YEARS, [1.5, 2.5, 0.5, 7.0], [("a", 1), ("b", 1), ("a", 2), (0,)]])
def test_columns_called_by_numbers_are_not_taken_for_others(tmp_path, name, columns):
    table = pd.DataFrame(X, columns=pd.Index(columns, tupleize_cols=False))
    swapped = table.iloc[:, [1, 0, 2, 3]]
    fitted = MODELS[name].fit(table)
    fitted.save(tmp_path / "model.safetensors")
    for model in (fitted, load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(fitted))):
        assert not hasattr(model, "feature_names_in_")
        for call in asked(model):
            call(table)
            call(X)
            call(pd.DataFrame(X))
            with pytest.raises(DataError, match=r"column 0 is .* instead of .*; put them into that order first"):
                call(swapped)
            with pytest.raises(DataError, match="column 0 is 1 instead of"):
                call(pd.DataFrame(X)[[1, 0, 2, 3]])


def test_other_years_are_other_columns():
    model = PCA(2).fit(pd.DataFrame(X, columns=YEARS))
    with pytest.raises(DataError, match="column 0 is 2005 instead of 2004"):
        model.transform(pd.DataFrame(X, columns=[2005, 2001, 2003, 2002]))
    with pytest.raises(DataError, match="column 0 is 2001 instead of 2004"):
        model.partial_fit(pd.DataFrame(X[:0], columns=sorted(YEARS)))
    model.partial_fit(pd.DataFrame(X[:0], columns=YEARS))
    model.fit(X)
    model.transform(pd.DataFrame(X, columns=YEARS))  # nothing is known of its names any more
    with pytest.raises(DataError, match="column 0 is 2001 instead of 2004"):
        PCA.from_covariance(pd.DataFrame(np.cov(X.T), YEARS, YEARS)).transform(pd.DataFrame(X, columns=sorted(YEARS)))


def test_numbers_that_became_text(tmp_path):
    """A file has text where a table has years: the command line goes by it, in any order."""
    table = pd.DataFrame(X, columns=YEARS)
    model = PCA(2).fit(table)
    model.save(tmp_path / "model.safetensors")
    table[sorted(YEARS)].to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(DataError, match="column 0 is '2001' instead of '2004'"):
        model.transform(tmp_path / "x.csv")
    run("transform", tmp_path / "model.safetensors", tmp_path / "x.csv", "-o", tmp_path / "y.csv")
    np.testing.assert_allclose(pd.read_csv(tmp_path / "y.csv"), model.transform(table), rtol=1e-12)
    text = PCA(2).fit(table.rename(columns=str))
    with pytest.raises(DataError, match="column 0 is 2001 instead of 2004"), pytest.warns(UserWarning, match="names"):
        text.transform(table[sorted(YEARS)])


def test_models_of_years_merge_and_compare_by_year():
    table = pd.DataFrame(X, columns=YEARS)
    whole, first, rest = PCA(2).fit(table), PCA(2).fit(table[:25]), PCA(2).fit(table[sorted(YEARS)][25:])
    both = merge([first, rest])
    np.testing.assert_allclose(both.explained_variance_, whole.explained_variance_)
    np.testing.assert_allclose(both.transform(table), whole.transform(table), atol=1e-12)
    assert compare(whole, PCA(2).fit(table[sorted(YEARS)])).max() < 1e-12
    with pytest.raises(DataError, match="only one of model 0 and model 1 knows the names"):
        merge([first, PCA(2).fit(X)])
