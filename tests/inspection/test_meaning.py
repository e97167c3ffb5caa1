"""What columns are: dates, identifiers, units, shares and kinds are told by values and names, and by nothing less."""

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz.inspection.meaning import words

RNG = np.random.default_rng(0)
N = 200


def frame(**columns):
    return pd.DataFrame({"x": RNG.normal(size=N), "y": RNG.normal(size=N)} | columns)


def days(n=N):
    return pd.Timestamp("2019-03-01") + pd.to_timedelta(RNG.integers(0, 900, n), unit="D")


DATES = {
    "day": (lambda: [int(day.strftime("%Y%m%d")) for day in days()], "yyyymmdd"),
    "timestamp": (lambda: days().as_unit("s").asi8, "seconds"),
    "created": (lambda: days().as_unit("ms").asi8, "milliseconds"),
    "anything": (lambda: np.sort(days().as_unit("s").asi8), "seconds"),
    "birth_year": (lambda: RNG.integers(1940, 2005, N), "years"),
}


@pytest.mark.parametrize("name", DATES)
def test_dates(name):
    values, kind = DATES[name]
    finding = ritz.inspect(frame(**{name: values()}))["dates"]
    assert finding.columns == (name,)
    assert kind in finding.evidence["kind"]
    assert finding.option == f"--drop {name}"
    if kind != "years":
        assert "2019-03-01" <= finding.evidence["first"] <= finding.evidence["last"] <= "2021-09-01"


@pytest.mark.parametrize(
    "values",
    [
        RNG.integers(19_000_000, 20_300_000, N),  # hardly one in thirty is a date
        RNG.integers(1_000_000_000, 2_000_000_000, N),  # phone numbers
        RNG.integers(1900, 2000, N),  # grams
        RNG.normal(2000, 30, N),
    ],
)
def test_numbers_that_are_no_dates(values):
    assert "dates" not in ritz.inspect(frame(weight=values))


@pytest.mark.parametrize(
    ("name", "values", "severity"),
    [
        ("id", RNG.permutation(10_000)[:N], "warning"),
        ("patientID", np.arange(500, 500 + N), "warning"),
        ("index", np.arange(N), "warning"),
        ("row no.", np.arange(1, N + 1), "warning"),
        ("time", np.arange(N), "note"),
    ],
)
def test_identifiers_of_tables_in_memory(name, values, severity):
    finding = ritz.inspect(frame(**{name: values}))["identifier"]
    assert (finding.columns, finding.severity) == ((name,), severity)


def test_an_array_whose_first_column_numbers_the_rows():
    X = np.column_stack([np.arange(N), RNG.normal(size=(N, 2))])
    assert ritz.inspect(X)["identifier"].columns == (0,)


@pytest.mark.parametrize(
    ("name", "values"),
    [("id", RNG.integers(0, 50, N)), ("width", RNG.permutation(N)), ("valid", RNG.normal(size=N))],
)
def test_columns_that_identify_nothing(name, values):
    assert "identifier" not in ritz.inspect(frame(**{name: values}))


def test_units_by_spread_and_by_name():
    finding = ritz.inspect(frame(z=1000 * RNG.normal(size=N)))["units"]
    assert finding.columns[0] == "z"
    assert finding.evidence["spread"] > 800
    assert finding.option == "--scale"
    named = pd.DataFrame({"height_cm": RNG.normal(170, 8, N), "weight_kg": RNG.normal(70, 9, N)})
    assert ritz.inspect(named)["units"].evidence["units"] == ["cm", "kg"]
    assert "units" not in ritz.inspect(frame())


def test_codes_and_mistakes_are_no_units():
    X = RNG.normal(50, 10, (N, 3))
    X[:3, 1], X[7, 2] = -999, 5000
    assert [one.code for one in ritz.inspect(X)] == ["code", "far_cell"]


def test_pixels_in_a_table_have_one_unit():
    """As in USPS: 256 columns from -1 to 1, of which those at the border hardly vary."""
    X = np.clip(RNG.normal(-1, 1, (N, 20)) * np.geomspace(0.02, 3, 20), -1, 1)
    X[0], X[1] = -1, 1
    assert "units" not in ritz.inspect(X)


def test_shares_beside_percentages():
    table = frame(share_a=RNG.random(N), pct_b=100 * RNG.random(N))
    finding = ritz.inspect(table)["percentages"]
    assert finding.evidence == {"shares": ["share_a"], "percentages": ["pct_b"]}
    assert "percentages" not in ritz.inspect(frame(share_a=RNG.random(N), share_b=RNG.random(N)))
    assert "percentages" not in ritz.inspect(frame(a=RNG.random(N), b=100 * RNG.random(N)))


def test_codes_of_kinds_beside_measurements():
    finding = ritz.inspect(frame(region=RNG.integers(1, 6, N)))["kinds"]
    assert (finding.columns, finding.severity) == (("region",), "note")
    assert "kinds" not in ritz.inspect(RNG.integers(1, 6, (N, 8)))
    assert "kinds" not in ritz.inspect(frame(visits=np.minimum(RNG.poisson(2, N), 9)))
    assert "kinds" not in ritz.inspect(frame(flag=RNG.integers(0, 2, N)))


def test_words_of_names():
    assert words("patientID") == ["patient", "id"]
    assert words(("a", 1)) == words(7) == []
