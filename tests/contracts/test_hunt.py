"""The hunt for violated certificates: it finds those that are, and none in fits as they are."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.hunt import routes, run
from ritz import PCA


@pytest.fixture
def fit():
    X = np.random.default_rng(0).standard_normal((40, 6)) * np.array([8.0, 5.0, 3.0, 2.0, 1.0, 0.5]) + 1e3
    return routes.judged("dense", X, PCA(3, tol=1e-9, svd_solver="covariance").fit(X))


def violations(fit, U=None, **claims):
    return replace(fit, certificate=replace(fit.certificate, **claims), U=fit.U if U is None else U).violations()


def turned(U, by):
    """The first two axes turned."""
    return np.column_stack([U[:, :2] @ [[np.cos(by), -np.sin(by)], [np.sin(by), np.cos(by)]], U[:, 2]])


def test_a_right_certificate_holds(fit):
    assert violations(fit) == []


@pytest.mark.parametrize("part", [1 - 1e-9, 1 + 1e-9])
def test_bounds_beside_a_value_are_found(fit, part):
    [claim, *_] = violations(fit, value_bounds=fit.certificate.value_bounds * part)
    assert claim.startswith("value 0 is")


@pytest.mark.parametrize("part", [1 - 1e-6, 1 + 1e-6])
def test_bounds_beside_the_eigengap_are_found(fit, part):
    [claim] = violations(fit, gap_bounds=fit.certificate.gap_bounds * part)
    assert claim.startswith("the eigengap is")


def test_a_value_called_zero_is_found(fit):
    values = fit.certificate.values * [1, 1, 0]
    low_to_high = fit.certificate.value_bounds * [0, 1]
    assert any("called 0" in claim for claim in violations(fit, values=values, value_bounds=low_to_high))


def test_axes_that_are_off_are_found(fit):
    found = "\n".join(violations(fit, U=turned(fit.U, 1e-6)))
    assert "components [0, 1) are off by" in found
    assert "residual 0" in found
    assert "reached" in found
    assert "satisfied" in found


def test_axes_that_are_not_orthonormal_are_found(fit):
    assert any("orthonormal only" in claim for claim in violations(fit, U=fit.U * (1 + 1e-9)))


def test_a_missed_component_is_found(fit):
    # The second to the fourth true axis, claimed to be the top three.
    V = fit.truth.vectors[:, [1, 2, 3]]
    values = fit.truth.values[[1, 2, 3]] * fit.truth.unit**2
    found = "\n".join(violations(fit, U=V, values=values))
    assert "completeness proved" in found
    assert "complete to 3" in found


def test_a_wrong_total_and_a_wrong_rest_are_found(fit):
    assert any("total variance" in claim for claim in replace(fit, total=fit.total * (1 + 1e-9)).violations())
    assert any("left out" in claim for claim in replace(fit, left_out=fit.left_out * (1 - 1e-8)).violations())


def test_every_route_is_taken_and_holds():
    """Few, so that the hunt itself is known to work; `python -m benchmarks hunt` does many."""
    counts, violated = run.judge_all(list(range(100)))
    assert sum(counts.values()) == 100
    assert violated == []
    assert {route for route, verdict in counts if verdict == "held"} == {route.__name__ for route in run.ROUTES}
