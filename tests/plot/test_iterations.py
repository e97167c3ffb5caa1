"""Iterations beside their theory, with prescribed spectra."""

import numpy as np
import pytest

import ritz
from ritz import PCA, DataError, plot, solvers
from ritz.plot.histories import of_model, of_spectrum, stretches_of

SPECTRUM = np.array([10.0, 8.0, 5.0, 2.0, *np.linspace(1, 0.1, 16)])
Q = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 20)))[0]
A = (Q * SPECTRUM) @ Q.T


def slope(line):
    """Of the logarithm, per iteration, over the second half of what is drawn."""
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    good = np.flatnonzero(np.isfinite(y) & (y > 1e-13))
    late = good[len(good) // 2 :]
    return np.polyfit(x[late], np.log(y[late]), 1)[0]


def test_residuals_fall_by_the_ratio_and_values_by_its_square():
    ax = plot.convergence(ritz.eigen(A, 1, "power", tol=1e-8), A)
    residual, law, change, law_of_value = ax.lines[:4]
    assert slope(law) == pytest.approx(np.log(0.8))
    assert slope(law_of_value) == pytest.approx(2 * np.log(0.8))
    assert slope(residual) == pytest.approx(np.log(0.8), rel=1e-2)
    assert slope(change) == pytest.approx(2 * np.log(0.8), rel=1e-2)
    assert ax.get_title().replace("\n", " ").endswith("λ₂/λ₁ = 0.8")
    np.testing.assert_allclose(law.get_ydata()[-20:], residual.get_ydata()[-20:], rtol=0.05)


def test_deflated_components_each_have_their_rate():
    found = ritz.eigen(A, 3, "power", tol=1e-8)
    known = of_spectrum(found, A, None)
    stretches = stretches_of(known)
    np.testing.assert_allclose([stretch.rate for stretch in stretches], SPECTRUM[1:4] / SPECTRUM[:3])
    assert sum(len(stretch.steps) for stretch in stretches) == len(found.history)
    ax = plot.convergence(found, A)
    for i in range(3):
        assert slope(ax.lines[4 * i]) == pytest.approx(np.log(SPECTRUM[i + 1] / SPECTRUM[i]), rel=0.05)
    unknown = stretches_of(of_spectrum(found, None, None))
    assert [bool(np.isfinite(stretch.rate)) for stretch in unknown] == [True, True, False]


def test_orthogonal_iteration_falls_by_the_first_value_beyond_its_columns():
    how = solvers.Orthogonal(oversample=2)
    found = ritz.eigen(A, 2, how, tol=1e-10)
    [stretch] = stretches_of(of_spectrum(found, A, how))
    assert (stretch.rate, stretch.ratio) == (pytest.approx(SPECTRUM[4] / SPECTRUM[1]), "λ₅/λ₂")
    ax = plot.convergence(found, A, solver=how)
    assert slope(ax.lines[0]) == pytest.approx(np.log(stretch.rate), rel=0.05)


def test_rows_tell_the_rates_of_a_model():
    rows = np.random.default_rng(1).standard_normal((80, 5)) @ np.diag([4.0, 3.0, 2.0, 1.0, 0.5])
    values = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    for given, X in ((rows, None), (PCA(1, svd_solver="power").fit(rows), rows)):
        [stretch] = stretches_of(of_model(given, X, 1, None))
        assert stretch.rate == pytest.approx(values[1] / values[0])


def test_iterations_without_a_law_are_drawn_too():
    ax = plot.convergence(PCA(2, svd_solver="krylov").fit(np.random.default_rng(1).standard_normal((400, 300))))
    assert ax.get_title().startswith("Block Krylov")
    assert np.isnan(ax.lines[1].get_ydata()).all()


def test_a_direct_solver_has_no_history():
    with pytest.raises(DataError, match="'svd' does not iterate; fit with svd_solver='power'"):
        plot.convergence(PCA(1, svd_solver="svd").fit(A))
