"""Eigenpairs of a matrix that is given: what a fit that stops short says."""

import numpy as np
import pytest

from ritz import AccuracyWarning, eigen


def test_a_warning_carries_the_fact_behind_it():
    with pytest.warns(AccuracyWarning, match="did not converge to tol=1e-06") as caught:
        found = eigen(np.diag(np.linspace(1.0, 1.01, 50)), 2, solver="power", max_iter=2)
    [warning] = [one.message for one in caught]
    assert warning.code == warning.diagnostic.code == "not_converged"
    assert warning.diagnostic.code in [one.code for one in found.certificate.diagnostics()]
