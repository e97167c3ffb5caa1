"""Codes for missing values: planted ones are found with their counts, values that only look alike are left in peace."""

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(0)
NAMES = ["a", "b", "c", "d"]


def table(n=300, draw=lambda n: RNG.normal(50, 10, n).round(1)):
    return np.column_stack([draw(n) for _ in NAMES])


def found(X, code, **given):
    return next((one for one in ritz.inspect(X, names=NAMES, **given) if one.code == code), None)


@pytest.mark.parametrize(
    "value", [-999, -9999, -99, -999.9, 9999, 99999, 1e20, 9.96921e36, -3.4e38, -32768, 2147483647]
)
@pytest.mark.parametrize("count", [1, 2, 40])
def test_values_that_are_known_for_it(value, count):
    X = table()
    rows = RNG.choice(300, count, replace=False)
    X[rows, 2] = value
    finding = found(X, "code")
    assert finding.columns == ("c",)
    assert finding.evidence == {
        "value": value, "counts": [count], "most": count, "rows_with_several": 0, "exact": True
    }  # fmt: skip
    assert set(finding.rows) <= set(rows.tolist())
    assert finding.option == f"--na {finding.sentence.split()[0]} --missing mean"
    assert float(finding.sentence.split()[0]) == value


@pytest.mark.parametrize(("value", "count"), [(-1, 2), (-1, 30), (-9, 5), (99, 5), (999, 5)])
def test_small_codes_need_more_than_one_place(value, count):
    X = table(draw=lambda n: RNG.uniform(2, 30, n).round(1))
    X[:count, 0] = value
    assert found(X, "code").columns == ("a",)
    X = table(draw=lambda n: RNG.uniform(2, 30, n).round(1))
    X[:1, 0] = value
    assert found(X, "code") is None


def test_two_codes_in_one_column_and_one_in_two():
    X = table()
    X[:9, 0], X[9:15, 0], X[5:12, 3] = -999, -99, -999
    findings = [one for one in ritz.inspect(X, names=NAMES) if one.code == "code"]
    assert {(one.evidence["value"], one.columns, tuple(one.evidence["counts"])) for one in findings} == {
        (-999.0, ("a", "d"), (9, 7)),
        (-99.0, ("a",), (6,)),
    }
    assert next(one for one in findings if one.evidence["value"] == -999).evidence["rows_with_several"] == 4


def test_a_code_that_is_a_value_elsewhere_is_one_of_some_columns():
    X = table()
    X[:9, 0] = -99
    X[:, 1] = RNG.integers(-200, 200, 300)
    X[7, 1] = -99
    assert found(X, "code").option == "--na -99:a --missing mean"


@pytest.mark.parametrize("count", [2, 15, 120])
@pytest.mark.parametrize("draw", [lambda n: RNG.normal(110, 20, n).round(), lambda n: RNG.normal(32, 5, n).round(1)])
def test_zeros_far_from_all_else(count, draw):
    X = table(draw=draw)
    X[:count, 1], X[count // 2 : count // 2 + count, 2] = 0, 0
    finding = found(X, "zero_code")
    assert finding.columns == ("b", "c")
    assert finding.evidence["counts"] == [count, count]
    assert finding.evidence["rows_with_several"] == count - count // 2
    assert finding.option == "--na 0:b,c --missing mean"


@pytest.mark.parametrize("draw", [lambda n: RNG.normal(70, 10, n).round(1), lambda n: RNG.integers(18, 80, n)])
def test_a_single_zero_far_from_all_else(draw):
    X = table(200, draw)
    X[5, 1] = 0
    finding = found(X, "zero_code")
    assert (finding.columns, finding.rows) == (("b",), (5,))


def test_a_single_zero_at_the_end_of_a_tail():
    """Whole numbers with long tails about 50: of 4000 values one is 0 by chance, but not so far from all others."""
    rng, told = np.random.default_rng(0), 0
    for _ in range(100):
        X = (50 + 8 * rng.laplace(size=(400, 10))).round()
        told += "zero_code" in {one.code for one in ritz.inspect(X)}
    assert told <= 2


def test_skewed_amounts_with_a_gap_above_zero():
    X = table(700, lambda n: np.maximum(RNG.lognormal(4.8, 0.7, n).round(), 14))
    X[RNG.random(700) < 0.45, 0] = 0
    assert found(X, "zero_code").columns == ("a",)


NATURAL = {
    "counts": lambda n: RNG.poisson(4, n),
    "rare counts": lambda n: RNG.poisson(0.2, n),
    "counts with a long tail": lambda n: RNG.negative_binomial(1, 0.1, n),
    "rain": lambda n: np.where(RNG.random(n) < 0.25, 0, RNG.gamma(0.8, 5, n)).round(1),
    "shares": lambda n: np.where(RNG.random(n) < 0.1, 0, RNG.beta(1, 3, n)),
    "flags": lambda n: RNG.integers(0, 2, n),
    "grades": lambda n: RNG.integers(-1, 6, n),
    "anomalies": lambda n: RNG.normal(0, 200, n).round(),
    "percent": lambda n: RNG.integers(0, 101, n),
    "ages": lambda n: RNG.integers(0, 100, n),
    "up to 999": lambda n: RNG.integers(0, 1000, n),
    "profits": lambda n: RNG.integers(-5000, 5000, n),
    "exponential": lambda n: RNG.exponential(3, n),
}


@pytest.mark.parametrize("name", NATURAL)
@pytest.mark.parametrize("n", [60, 1000])
def test_values_that_are_values(name, n):
    for _ in range(5):
        codes = {one.code for one in ritz.inspect(table(n, NATURAL[name]))}
        assert not codes & {"code", "zero_code", "far_too_often"}


def test_rows_without_anything_are_zero_in_several_columns():
    """As in breast cancer: where there is no concavity, nothing about it can be measured."""
    X = np.abs(RNG.normal(20, 4, (400, 4)))
    X[:, 0] = RNG.exponential(1, 400)
    X[:20, :2] = 0
    assert found(X, "zero_code") is None


@pytest.mark.parametrize("value", [50.0, 61.7])
def test_one_value_far_too_often(value):
    X = RNG.normal(50, 5, (500, 4))
    X[:60, 2] = value
    X[:, 3] = np.minimum(X[:, 3], 58.0)
    findings = {one.evidence["value"]: one for one in ritz.inspect(X, names=NAMES) if one.code == "far_too_often"}
    assert findings[value].columns == ("c",)
    assert findings[value].evidence["counts"] == [60]
    assert "filled in" in findings[value].sentence
    assert "a limit that cut values off" in findings[58.0].sentence


def test_exact_counts_where_not_all_rows_are_looked_at(monkeypatch):
    monkeypatch.setattr("ritz.inspection.sample.LOOKED_BYTES", 8 * 4 * 500)
    X = table(20_000)
    rows = RNG.choice(20_000, 41, replace=False)
    X[rows, 1] = -999
    found = ritz.inspect(X, names=NAMES)
    assert found.looked_at < 600
    assert found["code"].evidence["counts"] == [41]
    assert found["code"].evidence["exact"]
    alone = ritz.inspect(X, names=NAMES, sample=500)
    assert "code" not in alone or "in a sample of" in alone["code"].sentence


def test_pixels_and_sparse_rows_have_no_codes():
    import scipy.sparse as sp

    pixels = np.clip(RNG.normal(100, 80, (200, 8, 8)), 0, 255).astype(np.uint8)
    assert not {one.code for one in ritz.inspect(ritz.read(pixels))} & {"code", "zero_code", "far_too_often"}
    genes = sp.random(300, 40, 0.2, random_state=0, format="csr")
    assert len(ritz.inspect(genes)) == 0
