"""`ritz compare` says what `ritz.compare` knows."""

import numpy as np
import pandas as pd
import pytest

from helpers.commands import answer, run
from ritz import PCA, compare


@pytest.fixture
def models(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((80, 4)) * [4, 3, 2, 1], columns=list("abcd"))
    a, b = PCA(2).fit(X[:50]), PCA(3).fit(X[30:][list("dcab")] * [1, 1, -1, 1])
    a.save(tmp_path / "a.safetensors")
    b.save(tmp_path / "b.safetensors")
    return tmp_path / "a.safetensors", tmp_path / "b.safetensors", compare(a, b)


def test_for_programs(models):
    a, b, found = models
    told = answer("compare", a, b)
    assert told["relation"] == found.relation == "different"
    assert told["tolerance"] == pytest.approx(np.degrees(found.tolerance))
    assert [(pair["a"], pair["b"]) for pair in told["matches"]] == list(
        zip(found.matches.index, found.matches["of b"], strict=True)
    )
    assert np.allclose([pair["angle"] for pair in told["matches"]], found.matches["angle"])
    assert {pair["sign"] for pair in told["matches"]} <= {1, -1}
    assert [part["of"] for part in told["explained"]] == ["a", "b"]
    assert np.allclose([part["own"] for part in told["explained"]], found.explained["in its own"])
    assert np.allclose([part["at_least"] for part in told["explained"]], found.explained["at least"])
    assert all(part["exact"] for part in told["explained"])
    assert told["same"] is told["contained"] is False


def test_for_people(models):
    a, b, found = models
    said = run("compare", a, b).output
    share, own = found.explained["at least"][0], found.explained["in its own"][0]
    assert f"variance of A: its own components explain {own:.2%}, those of B {share:.2%}" in said
    for one, other in zip(found.matches.index, found.matches["of b"], strict=True):
        assert any(line.split()[:2] == [one, other] for line in said.splitlines())


def test_ties_and_opposite_signs_are_named(tmp_path):
    C = np.diag([3.0, 2.0, 2.0, 1.0])
    PCA.from_covariance(C, n_components=3).save(tmp_path / "tie.safetensors")
    said = run("compare", tmp_path / "tie.safetensors", tmp_path / "tie.safetensors").output
    assert said.count("cannot be told apart: A PC2–PC3, B PC2–PC3") == 2
    # Two axes in opposite directions whose largest entries differ, as the house's rule of signs has them.
    u, v = np.array([0.6, -0.59, 0.54]), np.array([-0.59, 0.6, -0.54])
    for name, axis in (("u", u), ("v", v)):
        axis = axis / np.linalg.norm(axis)
        PCA.from_covariance(np.outer(axis, axis) * 9 + np.eye(3), n_components=1).save(tmp_path / name)
    assert "opposite sign" in run("compare", tmp_path / "u", tmp_path / "v").output
    assert answer("compare", tmp_path / "u", tmp_path / "v")["matches"][0]["sign"] == -1
