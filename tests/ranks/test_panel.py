"""The panel as it prints, and its recommendation."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine

from ritz import choose_rank
from ritz.ranks.panel import RULES, in_words, marks_of


@pytest.fixture(scope="module")
def wine():
    return choose_rank(load_wine().data), choose_rank(load_wine().data, scale=True)


def test_one_row_for_every_rule(wine):
    lines = str(wine[1]).splitlines()
    assert lines[0] == wine[1].recommendation
    assert lines[2].split("  ")[0] == "rule"
    assert [line.split("  ")[0] for line in lines[3 : 3 + len(RULES)]] == list(RULES)
    assert wine[1].shares in lines
    assert all(len(cell) <= 40 for one in wine[1].rules.values() for cell in (one.assumes, one.holds, one.shown))


def test_it_becomes_a_frame(wine):
    frame = wine[1].to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["k", "threshold", "assumes", "holds here?"]
    assert frame.loc["sign flips", "k"] == 3


def test_a_recommendation_has_its_reason(wine):
    unscaled, scaled = wine
    assert scaled.k == 3
    assert scaled.recommendation.startswith("3 components: so many stand above what random signs leave of the rows")
    assert unscaled.k == 1
    assert unscaled.recommendation.startswith("No component stands above noise (sign flips); 1 is the least")


def test_units_that_decide_what_noise_is_are_said(wine):
    unscaled, scaled = wine
    assert not any("not scaled" in note for note in scaled.notes)
    [note] = [note for note in unscaled.notes if "not scaled" in note]
    # proline deviates by 314.9, nonflavanoid phenols by 0.1245.
    assert "deviate by up to 2,530-fold as much as each other" in note
    assert "with scale=True about 2 components would stand above it" in note
    assert choose_rank(load_wine().data, scale=True).rules["deflated parallel analysis"].k == 2


def test_rules_that_agree_are_named():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 40)) + 4 * rng.standard_normal((500, 2)) @ rng.standard_normal((2, 40))
    panel = choose_rank(X)
    assert panel.k == 2
    agreeing = "deflated parallel analysis, parallel analysis, held-out cells and ScreeNOT agree."
    assert panel.recommendation.endswith(agreeing)
    assert {panel.rules[name].holds for name in ("sign flips", "parallel analysis", "Gavish–Donoho")} == {"yes"}


def test_what_does_not_hold_is_said():
    rng = np.random.default_rng(0)
    E = rng.standard_normal((500, 40))
    assert choose_rank(E * np.geomspace(1, 10, 40)).rules["Gavish–Donoho"].holds.startswith("no: noise differs")
    by_row = choose_rank(E * np.geomspace(1, 10, 500)[:, None]).rules
    assert by_row["parallel analysis"].holds.startswith("no: noise differs")
    assert by_row["sign flips"].holds == "yes"
    walk = choose_rank(np.cumsum(E, axis=0)).rules["sign flips"].holds
    assert walk.startswith("doubtful: next rows are alike")


def test_marks():
    values = np.array([6.0, 2.0, 1.0, 0.5, 0.5])
    assert marks_of(values, 10.0) == {0.8: 3, 0.9: 4, 0.95: 5}
    assert marks_of(values[:2], 10.0) == {0.8: None, 0.9: None, 0.95: None}
    assert in_words(marks_of(values[:2], 10.0)) == "80 % of the variance takes more components than are known"
    assert in_words({0.8: 3, 0.9: 5, 0.95: 7}) == "80 % of the variance with 3, 90 % with 5, 95 % with 7 components"


def test_numbers_of_a_panel_can_be_written():
    panel = choose_rank(load_digits().data)
    json.dumps({name: [one.k, one.threshold] for name, one in panel.rules.items()})
    assert all(isinstance(one.k, int) for one in panel.rules.values())
