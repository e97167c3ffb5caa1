"""Single far cells: mistakes of every size are found with their place; the tails of columns are no mistakes."""

from pathlib import Path

import numpy as np
import pytest

import ritz
from helpers.counts import usually

RNG = np.random.default_rng(0)
MILK = Path(__file__).parents[1] / "data" / "milk.csv"


def people(n):
    return np.column_stack([RNG.normal(175, 7, n).round(1), RNG.normal(70, 9, n).round(1), RNG.normal(40, 8, n)])


MISTAKES = {
    "decimal point to the right": (lambda x: 10 * x, "÷ 10"),
    "decimal point to the left": (lambda x: x / 10, "× 10"),
    "two places": (lambda x: 100 * x, "÷ 100"),
    "metres": (lambda x: x / 100, "× 100"),
    "sign": (lambda x: -x, "the other sign"),
}


@pytest.mark.parametrize("n", [30, 300, 3000])
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_with_its_place(name, n):
    change, guess = MISTAKES[name]
    for _ in range(5):
        X = people(n)
        row = int(RNG.integers(n))
        X[row, 0] = change(X[row, 0])
        finding = ritz.inspect(X, names=["height", "weight", "age"])["far_cell"]
        assert finding.evidence["cells"] == [[row, "height", X[row, 0]]]
        assert finding.rows == (row,)
        assert guess in finding.sentence
        assert finding.option == f"--na {float(X[row, 0])!r}:height --missing mean".replace(".0:", ":")


def test_the_share_is_that_of_the_variance():
    X = people(400)
    X[7, 1] = 700
    finding = ritz.inspect(X)["far_cell"]
    column = X[:, 1]
    share = (700 - np.median(column)) ** 2 / np.square(column - column.mean()).sum()
    assert finding.evidence["shares"][0] == pytest.approx(share, rel=0.02)


def test_several_mistakes_and_the_usual_range():
    X = people(1000)
    places = [(3, 0, 1750.0), (500, 0, 17.1), (999, 1, 0.7)]
    for i, j, value in places:
        X[i, j] = value
    finding = ritz.inspect(X)["far_cell"]
    assert sorted(map(tuple, finding.evidence["cells"])) == sorted(places)
    low, high = np.quantile(X[:, 0], [0.05, 0.95])
    assert (
        f"usual: {low:.0f} to {high:.0f}" in finding.sentence or f"usual: {low:.3g} to {high:.3g}" in finding.sentence
    )


def test_amounts_of_many_magnitudes():
    X = RNG.lognormal(3, 0.5, (2000, 4))
    X[17, 2] *= 1000
    assert ritz.inspect(X)["far_cell"].rows == (17,)


def test_tables_in_memory_are_looked_through(monkeypatch):
    monkeypatch.setattr("ritz.inspection.sample.LOOKED_BYTES", 8 * 3 * 1000)
    X = people(50_000)
    X[43_210, 1] = 712.0
    finding = ritz.inspect(X)["far_cell"]
    assert finding.evidence["cells"] == [[43_210, 1, 712.0]]


def test_the_row_of_the_milk_data_that_is_known_as_a_mistake():
    """Daudin, Duby and Trecourt (1988): sample 70 has 33.8 and 33.7 of casein, all others about 25."""
    found = ritz.inspect(np.loadtxt(MILK, delimiter=",", skiprows=1)[:, 1:])
    assert found["far_row"].rows == (69,)
    assert found["far_row"].columns == (4, 5)


TAILS = {
    "normal": lambda n, d: RNG.normal(size=(n, d)),
    "t5": lambda n, d: RNG.standard_t(5, (n, d)),
    "lognormal": lambda n, d: RNG.lognormal(0, 1, (n, d)),
    "exponential": lambda n, d: RNG.exponential(1, (n, d)),
    "laplace": lambda n, d: RNG.laplace(size=(n, d)),
    "counts": lambda n, d: RNG.poisson(3, (n, d)),
    "uniform": lambda n, d: RNG.uniform(size=(n, d)),
    "a far group": lambda n, d: RNG.normal(size=(n, d)) + 12 * (RNG.random((n, 1)) < 0.2),
}


@pytest.mark.parametrize("name", TAILS)
def test_tails_are_no_mistakes(name):
    """At most 3 of 100 tables: about 1 % of those of t5 rows, fewer of the others."""
    count = usually(100, thorough=1000)
    sizes = RNG.integers(12, 1500, count), RNG.integers(1, 10, count)
    tables = (TAILS[name](int(n), int(d)) for n, d in zip(*sizes, strict=True))
    assert sum("far_cell" in ritz.inspect(X) for X in tables) <= 0.03 * count


@pytest.mark.parametrize("value", [-37, -60])
def test_a_sign_too_many_in_whole_numbers_from_0_on(value):
    """Ages have no tail below 0, though the numbers themselves are no further apart than some are."""
    X = np.column_stack([RNG.integers(18, 80, 200), RNG.normal(50, 9, 200).round(1)]).astype(float)
    X[5, 0] = value
    finding = ritz.inspect(X)["far_cell"]
    assert finding.evidence["cells"] == [[5, 0, value]]
    assert "with the other sign" in finding.sentence


@pytest.mark.parametrize("seed", range(4))
def test_logarithms_of_counts_in_many_columns(seed):
    """Some of thousands of columns have a cell far below all others of its own, as such columns have."""
    rng = np.random.default_rng(seed)
    found = ritz.inspect(np.log1p(rng.negative_binomial(2, 0.01, (40, 3000))))
    assert not {one.code for one in found} & {"far_cell", "zero_code"}
    X = rng.normal(50, 3, (40, 3000))
    X[3, 1234] = 500.0
    assert ritz.inspect(X)["far_cell"].evidence["cells"] == [[3, 1234, 500.0]]
