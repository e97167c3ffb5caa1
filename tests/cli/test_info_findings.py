"""`ritz info` and `ritz fit` say what looks wrong, once, with options that then take it away."""

import shlex

import numpy as np
import pandas as pd
import pytest

from helpers.commands import all_said, answer, run

N = 300
RNG = np.random.default_rng(0)


def clean():
    columns = {"glucose": 110.0, "bmi": 32.0, "a": 40.0, "b": 30.0}
    return pd.DataFrame({name: RNG.normal(mean, 6, N).round(1) for name, mean in columns.items()})


def zeros(frame):
    frame.loc[:9, ["glucose", "bmi"]] = 0.0


def codes(frame):
    frame.loc[5:20, "a"] = -999.0


def typo(frame):
    frame.loc[17, "bmi"] *= 10


def total(frame):
    frame["total"] = frame["a"] + frame["b"]


def again(frame):
    frame["a in other units"] = frame["a"] * 2.5


def walk(frame):
    frame[:] = np.cumsum(RNG.normal(size=frame.shape), axis=0) + 50


PLANTED = {
    "zero_code": (zeros, "--na 0:glucose,bmi --missing mean"),
    "code": (codes, "--na -999 --missing mean"),
    "far_cell": (typo, None),
    "sums": (total, "--drop total"),
    "duplicate_columns": (again, "--drop 'a in other units'"),
    "ordered_rows": (walk, "--diff"),
}


@pytest.mark.parametrize("code", PLANTED)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_said_and_done_about_it(tmp_path, monkeypatch, code, ending):
    monkeypatch.chdir(tmp_path)
    plant, option = PLANTED[code]
    frame = clean()
    plant(frame)
    getattr(frame, f"to_{ending}")(f"x.{ending}", index=False)
    told = answer("info", f"x.{ending}")
    found = {one["code"]: one for one in told["findings"]}
    assert code in found
    option = option or found[code]["option"]
    assert found[code]["option"] == option
    said = run("info", f"x.{ending}").stdout
    assert f"  warning: {found[code]['sentence']}\n    {option}\n" in said
    fitted = answer("fit", f"x.{ending}", "-k", 2)
    assert any(option in warning for warning in fitted["warnings"])
    assert code in {one["code"] for one in fitted["findings"]}
    treated = answer("fit", f"x.{ending}", "-k", 2, *shlex.split(option), "--force")
    assert code not in {one["code"] for one in treated["findings"]}
    page = (tmp_path / "x-ritz" / "report.html").read_text("utf-8")
    assert "Check the data" not in page or treated["findings"]


def test_clean_tables_are_left_in_peace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clean().to_csv("x.csv", index=False)
    assert answer("info", "x.csv")["findings"] == []
    assert answer("fit", "x.csv", "-k", 2)["findings"] == []
    assert "warning:" not in all_said("fit", "x.csv", "-k", 2, "--force")


def test_nothing_is_said_twice(tmp_path, monkeypatch):
    """Gaps, scales, columns that do not vary and identifiers have words of their own."""
    monkeypatch.chdir(tmp_path)
    frame = clean()
    frame["big"], frame["same"], frame["id"] = frame["a"] * 1000 + RNG.normal(size=N), 7.0, np.arange(N)
    frame.loc[3, "b"] = np.nan
    frame.to_csv("x.csv", index=False)
    said = run("info", "x.csv").stdout
    for word in ("missing", "'same'", "--scale", "id ("):
        assert said.count(word) <= (2 if word == "--scale" else 1) + said.count("--missing") * (word == "missing")
    codes = {one["code"] for one in answer("info", "x.csv")["findings"]}
    assert not codes & {"missing", "units", "constant", "identifier"}


def test_the_page_has_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = clean()
    codes(frame)
    frame.to_csv("x.csv", index=False)
    run("fit", "x.csv", "-k", 2, "-q")
    page = (tmp_path / "x-ritz" / "report.html").read_text("utf-8")
    assert "-999 looks like a code for a missing value" in page
    assert page.index("Check the data") < page.index('id="components')  # before anyone believes a chart


@pytest.mark.parametrize("plant", [codes, typo])
def test_what_a_mistake_does_to_a_scale_is_no_unit(tmp_path, monkeypatch, plant):
    """Columns of one unit, of which one varies much more because of cells that are told of."""
    monkeypatch.chdir(tmp_path)
    frame = clean()
    plant(frame)
    frame.loc[17, "bmi"] *= 10
    frame.to_csv("x.csv", index=False)
    said = run("info", "x.csv").stdout
    assert "--scale" not in said
    assert "column scales, without the cells below: alike, within a factor of 1" in said
    assert "--scale" not in all_said("fit", "x.csv", "-k", 2)
    assert "different scales" not in (tmp_path / "x-ritz" / "report.html").read_text("utf-8")
    frame["b"] *= 1000
    frame.to_csv("x.csv", index=False)
    assert "'b' varies" in run("info", "x.csv").stdout
    assert "--scale gives every column the same weight" in all_said("fit", "x.csv", "-k", 2, "--force")
    assert "different scales" in (tmp_path / "x-ritz" / "report.html").read_text("utf-8")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_treats_a_mistake_is_the_same_with_differences(tmp_path, monkeypatch, ending):
    """Codes are taken for missing before differences are: no mistake is a value of these."""
    monkeypatch.chdir(tmp_path)
    frame = clean()
    typo(frame)
    getattr(frame, f"to_{ending}")(f"x.{ending}", index=False)
    for command in ("info", "fit"):
        found = answer(command, f"x.{ending}", "--diff")["findings"]
        assert [one["code"] for one in found] == ["far_cell"]
        assert found[0]["rows"] == [17]
    treated = answer("fit", f"x.{ending}", "--diff", *shlex.split(found[0]["option"]), "--force")
    assert treated["findings"] == treated["warnings"] == []


def test_names_of_columns_that_a_terminal_would_obey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = clean().rename(columns={"a": "\x1b[31mred"})
    frame.loc[5:20, "\x1b[31mred"] = -999.0
    frame.to_csv("x.csv", index=False)
    for command in ("info", "fit"):
        assert "\x1b" not in all_said(command, "x.csv").replace("\x1b[0m", "")
