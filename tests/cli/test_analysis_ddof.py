"""`--ddof`: by how much variances are divided, as in Python, and said where they are."""

import numpy as np
import pytest

from helpers.commands import all_said, answer, run
from ritz import load

X = np.random.default_rng(0).standard_normal((9, 3)) * [3, 2, 1]


@pytest.fixture
def table(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


@pytest.mark.parametrize("ddof", [0, 1])
def test_variances_are_divided_by_it(table, tmp_path, ddof):
    found = answer("fit", table, "-k", 3, "--ddof", ddof, "-o", tmp_path / "out")["components"]
    values = np.linalg.eigvalsh(np.cov(X.T, ddof=ddof))[::-1]
    np.testing.assert_allclose([part["variance"] for part in found], values)
    assert load(tmp_path / "out" / "model.safetensors").ddof == ddof


def test_it_is_said_where_it_is_not_the_usual_one(table, tmp_path):
    assert "divided" not in all_said("fit", table, "-o", tmp_path / "1")
    assert "centred, variances divided by n; " in all_said("fit", table, "--ddof", 0, "-o", tmp_path / "0")
    said = "Variances are sums of squares divided by the number of rows."
    assert said in (tmp_path / "0" / "report.html").read_text("utf-8")
    assert said not in (tmp_path / "1" / "report.html").read_text("utf-8")
    for wrong in ("2", "x", "0.5"):
        assert "neither 0 nor 1" in run("fit", table, "--ddof", wrong, code=2).stderr


def test_demos_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ratios = [answer("demo", "wine", "--ddof", ddof, "-k", 1, "-o", f"w{ddof}")["components"][0] for ddof in (0, 1)]
    assert ratios[0]["variance"] == pytest.approx(ratios[1]["variance"])  # scaled: deviations are divided alike
