"""Columns that follow from others: the rule is the one that was planted, and none is found among noise."""

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(0)


def rule(X, names):
    return ritz.inspect(X, names=names)["sums"]


@pytest.mark.parametrize("n", [25, 300, 5000])
@pytest.mark.parametrize("draw", [lambda n: RNG.poisson(20, (n, 6)), lambda n: RNG.normal(50, 10, (n, 6))])
def test_a_total(n, draw):
    X = np.array(draw(n), float)
    X[:, 4] = X[:, 0] + X[:, 1] + X[:, 3]
    finding = rule(X, ["a", "b", "c", "d", "total", "e"])
    assert finding.columns == ("total",)
    assert finding.evidence["of"] == [["a", "b", "d"]]
    assert finding.evidence["coefficients"] == [[1.0, 1.0, 1.0]]
    assert "'total' = 'a' + 'b' + 'd'" in finding.sentence
    assert finding.option == "--drop total"


def test_a_total_of_rounded_numbers():
    X = RNG.gamma(3, 10, (400, 5))
    X[:, 4] = X[:, :3].sum(axis=1)
    finding = rule(X.round(1), list("abcdt"))
    assert (finding.columns, finding.evidence["of"]) == (("t",), [["a", "b", "c"]])


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_other_rules(scale):
    X = RNG.normal(0, 3, (200, 6))
    X[:, 5] = 2 * X[:, 0] - 3 * X[:, 1] + 7
    finding = rule(X * scale, list("abcdef"))
    assert len(finding.columns) == 1
    assert sorted({*finding.columns, *finding.evidence["of"][0]}) == ["a", "b", "f"]
    X[:, 5] = 0.31 * X[:, 0] - 1.7 * X[:, 1]
    finding = rule(X * scale, list("abcdef"))
    assert sorted({*finding.columns, *finding.evidence["of"][0]}) == ["a", "b", "f"]


def test_two_rules_at_once():
    X = RNG.integers(0, 50, (300, 8)).astype(float)
    X[:, 6], X[:, 7] = X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]
    finding = rule(X, list("abcdefgh"))
    names = [{j, *others} for j, others in zip(finding.columns, finding.evidence["of"], strict=True)]
    assert sorted(map(sorted, names)) == [["a", "b", "g"], ["c", "d", "h"]]


@pytest.mark.parametrize("d", [3, 12])
def test_shares_of_a_whole(d):
    X = RNG.dirichlet(np.ones(d), 200) * 100
    found = ritz.inspect(X)
    assert found["closed"].evidence["sum"] == pytest.approx(100)
    assert "sums" not in found


def test_noise_follows_from_nothing():
    for n, d in ((30, 10), (60, 40), (500, 5), (13, 1), (14, 2)):
        for draw in (RNG.normal(size=(n, d)), RNG.integers(0, 4, (n, d)), RNG.lognormal(0, 1, (n, d))):
            found = ritz.inspect(draw)
            assert "sums" not in found
            assert "closed" not in found


def test_columns_that_are_only_nearly_sums():
    X = RNG.normal(size=(300, 4))
    X[:, 3] = X[:, 0] + X[:, 1] + 1e-3 * RNG.normal(size=300)
    assert "sums" not in ritz.inspect(X)


def test_gaps_do_not_hide_a_rule():
    X = RNG.poisson(20, (300, 4)).astype(float)
    X[:, 3] = X[:, 0] + X[:, 1]
    X[RNG.random(X.shape) < 0.1] = np.nan
    assert rule(X, list("abct")).columns == ("t",)


def test_more_columns_than_rows():
    assert "sums" not in ritz.inspect(RNG.normal(size=(50, 80)))


def test_indicators_of_kinds_are_told_as_one_sum():
    X = np.column_stack([np.eye(3)[RNG.integers(0, 3, 200)], RNG.normal(size=(200, 2))])
    finding = ritz.inspect(X, names=list("abcxy"))["sums"]
    assert finding.sentence == "1 column follows from others: 'a' + 'b' + 'c' = 1"
    assert len(finding.columns) == 1


def test_rounded_percentages_are_closed():
    """Sums of 99.8 to 100.2, because every part was rounded to a tenth."""
    parts = (100 * RNG.dirichlet(np.ones(6), 300)).round(1)
    assert np.ptp(parts.sum(axis=1)) > 0.1
    assert ritz.inspect(parts)["closed"].evidence["sum"] == pytest.approx(100, abs=0.2)
    assert "closed" not in ritz.inspect(RNG.integers(1, 6, (300, 6)))


def test_a_sum_that_was_rounded_more_than_a_small_part_of_it():
    """Its coefficient is known to a percent only, but the rule holds in every row."""
    X = np.column_stack([RNG.normal(100, 10, 400).round(1), RNG.normal(50, 8, 400).round(1), RNG.normal(7, 0.4, 400)])
    X[:, 2] = X[:, 2].round(2)
    found = ritz.inspect(np.column_stack([X, X.sum(axis=1).round(1)]), names=list("xyzt"))
    assert "'t' = 'x' + 'y' + 'z'" in found["sums"].sentence
    X[7, 0] += 0.3
    total = X.sum(axis=1).round(1)
    total[7] -= 0.3
    assert "sums" not in ritz.inspect(np.column_stack([X, total]))
