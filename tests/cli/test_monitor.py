"""`ritz monitor`: odd rows by name, limits, and a line for every row."""

import csv

import numpy as np
import pandas as pd
import pytest

from helpers.commands import all_said, answer, run
from helpers.monitoring import PEOPLE
from ritz import KernelPCA, load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """People with a typing error, and a model of them."""
    path = tmp_path_factory.mktemp("monitor")
    table = pd.read_csv(PEOPLE)
    table.loc[4, "Shoesize"] = 14.0
    table.to_csv(path / "people.csv", index=False)
    run("fit", path / "people.csv", "--scale", "-k", "4", "-o", path / "m", "-q")
    return path


def test_odd_rows_are_named_with_the_columns_to_blame(folder):
    table = pd.read_csv(folder / "people.csv")
    said = all_said("monitor", folder / "m" / "model.safetensors", folder / "people.csv")
    assert "32 rows of the fit, 4 components" in said
    assert f"{table['person'][4]}" in said
    assert "Shoesize low" in said
    assert "Beta" in said
    model = load(folder / "m" / "model.safetensors")
    found = answer("monitor", folder / "m" / "model.safetensors", folder / "people.csv")
    expected = model.monitor(table.drop(columns="person"))
    assert found["of_fit"] is True
    assert found["odd"][0]["row"] == table["person"][4]
    assert [line["limit"] for line in found["limits"]] == pytest.approx(expected.limits["limit"])
    assert found["beyond"]["SPE"] == [int((expected.spe_flags > i).sum()) for i in range(2)]
    assert found["exit_code"] == 0


def test_every_row_gets_a_line_beside_its_name(folder, tmp_path):
    table = pd.read_csv(folder / "people.csv")
    shuffled = table[table.columns[::-1]].iloc[:10]
    shuffled.to_csv(tmp_path / "new.csv", index=False)
    said = answer("monitor", folder / "m" / "model.safetensors", tmp_path / "new.csv", "-o", tmp_path / "odd.csv")
    lines = pd.read_csv(tmp_path / "odd.csv")
    found = load(folder / "m" / "model.safetensors").monitor(table.drop(columns="person").iloc[:10])
    assert list(lines.columns) == ["person", "T2", "SPE", "leverage", "T2_flag", "SPE_flag"]
    assert list(lines["person"]) == list(shuffled["person"])
    assert np.allclose(lines["SPE"], found.spe)
    assert np.array_equal(lines["SPE_flag"], found.spe_flags)
    assert said["of_fit"] is False
    assert said["file"].endswith("odd.csv")


def test_a_row_with_a_gap_has_an_empty_line(folder, tmp_path):
    table = pd.read_csv(folder / "people.csv").iloc[:6]
    table.loc[2, "Wine"] = np.nan
    table.to_csv(tmp_path / "gap.csv", index=False)
    result = run("monitor", folder / "m" / "model.safetensors", tmp_path / "gap.csv", "-o", tmp_path / "odd.csv")
    lines = pd.read_csv(tmp_path / "odd.csv")
    assert lines["T2"].isna().tolist() == [False, False, True, False, False, False]
    assert "1 of 6 rows have a missing value, and their statistics are empty" in result.stderr


def test_levels_methods_and_components(folder):
    model, file = folder / "m" / "model.safetensors", folder / "people.csv"
    found = answer("monitor", model, file, "-k", 1, "--alpha", 0.1, "--limits", "pls_toolbox", "--rows", "new")
    assert found["components"] == 1
    assert found["of_fit"] is False
    assert [line["alpha"] for line in found["limits"]] == [0.1, 0.1]
    assert found["limits"][0]["method"] == "k(n−1)/(n−k) F"


def test_limits_that_need_the_rows_of_the_fit(folder):
    model, file = folder / "m" / "model.safetensors", folder / "people.csv"
    lacking = answer("monitor", model, file, "--rows", "new", "--limits", "empirical")
    assert lacking["limits"][0]["limit"] is None
    assert "give the rows of the fit with --reference" in lacking["notes"][0]
    found = answer("monitor", model, file, "--rows", "new", "--limits", "empirical", "--reference", file)
    assert found["limits"][0]["limit"] > 0
    assert found["notes"] == []


def test_names_that_a_terminal_would_obey_are_harmless(folder, tmp_path):
    table = pd.read_csv(folder / "people.csv")
    table["person"] = [f"p{i}" for i in range(31)] + ["\x1b[31mred"]
    table.loc[31, "Wine"] = 5000.0
    table.to_csv(tmp_path / "evil.csv", index=False)
    said = all_said("monitor", folder / "m" / "model.safetensors", tmp_path / "evil.csv")
    assert "⟨U+001B⟩[31mred" in said
    assert "\x1b[31mred" not in said


def test_kernel_models(folder, tmp_path):
    table = pd.read_csv(folder / "people.csv").drop(columns="person")
    scaled = (table - table.mean()) / table.std()
    scaled.to_csv(tmp_path / "scaled.csv", index=False)
    KernelPCA(3, kernel="rbf", gamma=0.05).fit(scaled).save(tmp_path / "k.safetensors")
    said = all_said("monitor", tmp_path / "k.safetensors", tmp_path / "scaled.csv")
    assert "32 rows of the fit, 3 components" in said
    assert "taken as normal" in said


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["-k", "9"], 2, "4 of the model"),
        (["--alpha", "0.7"], 2, "alpha"),
        (["-o", "x.doc"], 2, ".csv"),
        (["--json"], 0, ""),
    ],
)
def test_wrong_usage(folder, options, code, words):
    result = run("monitor", folder / "m" / "model.safetensors", folder / "people.csv", *options, code=code)
    assert words in result.stderr


def test_a_file_that_is_there_is_not_replaced(folder, tmp_path):
    (tmp_path / "odd.csv").write_text("mine")
    run("monitor", folder / "m" / "model.safetensors", folder / "people.csv", "-o", tmp_path / "odd.csv", code=1)
    with (tmp_path / "odd.csv").open() as file:
        assert next(csv.reader(file)) == ["mine"]


def test_infinity_gets_no_advice_that_this_command_does_not_take(folder, tmp_path):
    table = pd.read_csv(folder / "people.csv")
    table.loc[3, "Height"] = np.inf
    table.to_csv(tmp_path / "x.csv", index=False)
    said = all_said("monitor", folder / "m" / "model.safetensors", tmp_path / "x.csv", code=3)
    assert "replace or remove" in said
    assert "--na" not in said
