"""How many components `ritz fit` keeps where nobody says: as many as the data tells, where that takes little."""

import numpy as np
import pytest

from helpers.commands import all_said, answer, run
from ritz import choose_rank
from ritz.cli import inputs


@pytest.fixture
def planted(tmp_path):
    """Three components in noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) * [20, 9, 6] @ np.linalg.qr(rng.standard_normal((12, 3)))[0].T
    np.save(tmp_path / "x.npy", X + rng.standard_normal((200, 12)))
    return tmp_path / "x.npy"


def test_the_data_decides(planted, tmp_path):
    said = all_said("fit", planted, "-o", tmp_path / "out")
    assert "3 of 12 components explain" in said
    assert "(the data decided; -k changes that)" in said
    assert "3 components: so many stand above what random signs leave of the rows" in said
    panel = choose_rank(np.load(planted))
    assert panel.k == 3
    assert panel.shares in said


def test_machines_get_the_panel(planted, tmp_path):
    told = answer("fit", planted, "-o", tmp_path / "out")
    panel = choose_rank(np.load(planted))
    assert told["panel"]["k"] == len(told["components"]) == 3
    assert told["panel"]["marks"] == {"0.8": panel.marks[0.8], "0.9": panel.marks[0.9], "0.95": panel.marks[0.95]}
    assert [rule["name"] for rule in told["panel"]["rules"]] == list(panel.rules)
    assert told["panel"]["recommendation"] == panel.recommendation
    assert answer("fit", planted, "-k", 2, "-o", tmp_path / "other")["panel"] is None


def test_a_map_needs_two(tmp_path):
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).standard_normal((100, 6)))
    said = all_said("fit", tmp_path / "noise.npy", "-o", tmp_path / "out")
    assert "2 of 6 components explain" in said
    assert "(a map needs 2; -k changes that)" in said
    assert "No component stands above noise" in said


def test_a_map_of_what_varies_in_one_direction_only(tmp_path):
    X = np.ones((10, 3))
    X[9, 1] = 2
    np.save(tmp_path / "x.npy", X)
    said = all_said("fit", tmp_path / "x.npy", "-o", tmp_path / "out")
    assert "1 of 3 components explains 100% of the variance" in said
    assert "were asked for" not in said


def test_rows_that_are_all_alike(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((10, 3)))
    assert "80 % of the variance" not in all_said("fit", tmp_path / "x.npy", "-o", tmp_path / "out")


def test_where_it_takes_long_ten_are_kept(planted, tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "QUICK", 1000)
    told = answer("fit", planted, "-o", tmp_path / "out")
    assert len(told["components"]) == 10
    assert told["panel"] is None
    said = all_said("fit", planted, "-o", tmp_path / "other")
    assert "(default; -k changes that)" in said
    assert choose_rank(np.load(planted)).shares in said


@pytest.mark.parametrize("shape", [(2, 5), (9, 1), (2, 1)])
def test_too_few_rows_or_columns_to_decide(tmp_path, shape):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal(shape))
    told = answer("fit", tmp_path / "x.npy", "-o", tmp_path / "out")
    assert len(told["components"]) == 1
    assert told["panel"] is None


def test_constant_columns_are_said_by_the_fit(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((9, 3)))
    assert "panel" in answer("fit", tmp_path / "x.npy", "-o", tmp_path / "out")
    assert "cannot scale" in run("fit", tmp_path / "x.npy", "--scale", "-o", tmp_path / "scaled", code=3).stderr


def test_a_plan_says_that_the_data_will_decide(planted):
    assert "plan for -k 10 or so (without -k the data decides)" in all_said("info", planted)
    assert "plan for -k 4:" in all_said("info", planted, "-k", 4)
