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


def title(ax):
    return ax.get_title().replace("\n", " ")


def with_values(*first):
    """The same eigenvectors, with these eigenvalues first and others from 0.5 on."""
    return (Q * [*first, *np.linspace(0.5, 0.1, 20 - len(first))]) @ Q.T


def test_of_a_tie_the_next_other_eigenvalue_decides():
    """Parts along eigenvectors of λ₁ = λ₂ are no error: what is left falls by λ₃/λ₁."""
    tied = with_values(1.0, 1.0)
    for found in (ritz.eigen(tied, 1, "power"), ritz.eigen(tied, 1, "power", tol=None)):
        ax = plot.convergence(found, tied)
        assert title(ax) == "Power iteration, λ₁ = λ₂: each step multiplies the residual by λ₃/λ₁ = 0.5"
        assert slope(ax.lines[1]) == pytest.approx(np.log(0.5))
        assert slope(ax.lines[0]) == pytest.approx(np.log(0.5), rel=0.05)
    both = stretches_of(of_spectrum(ritz.eigen(tied, 2, "power"), tied, None))
    assert [(one.ratio, one.rate) for one in both] == [("λ₃/λ₁", pytest.approx(0.5)), ("λ₃/λ₂", pytest.approx(0.5))]
    assert np.isnan(stretches_of(of_spectrum(found, None, None))[0].rate)


def test_a_start_orthogonal_to_the_first_eigenvector_finds_the_next():
    start = np.random.default_rng(2).standard_normal((20, 2))
    start -= np.outer(Q[:, 0], Q[:, 0] @ start)
    B = with_values(1.0, 0.9, 0.8)
    ax = plot.convergence(ritz.eigen(B, 1, solvers.Power(start=start[:, 0])), B)
    assert title(ax) == "Power iteration found λ₂, not λ₁: each step multiplies the residual by λ₃/λ₂ = 0.889"
    assert slope(ax.lines[0]) == pytest.approx(np.log(8 / 9), rel=0.02)
    block = solvers.Orthogonal(oversample=0, start=start)
    ax = plot.convergence(ritz.eigen(B, 2, block), B, solver=block)
    assert title(ax).startswith("Orthogonal iteration found λ₂ and λ₃, not λ₁: each step multiplies the residual by λ₄")
    assert slope(ax.lines[0]) == pytest.approx(np.log(5 / 8), rel=0.1)
    first = np.column_stack([start[:, 0], Q[:, 0] + 0.1 * start[:, 1]])
    ax = plot.convergence(ritz.eigen(B, 2, solvers.Power(start=first)), B)
    assert title(ax).startswith("Power iteration with deflation found λ₂ and λ₁ in this order: 2 components")
    assert [text.get_text() for text in ax.texts] == ["PC2\nλ₃/λ₂ = 0.89", "PC1\nλ₃/λ₁ = 0.8"]


def test_what_does_not_converge_is_on_its_way_to_the_first():
    for B, words in (
        (with_values(1.0, 0.9), "Power iteration: each step multiplies the residual by λ₂/λ₁ = 0.9"),
        (with_values(1.0, -1.0), "Power iteration: λ₂/λ₁ = −1, and the residual does not fall"),
    ):
        with pytest.warns(ritz.AccuracyWarning):
            ax = plot.convergence(ritz.eigen(B, 1, solvers.Power(max_iter=9, start=Q[:, 0] + 2 * Q[:, 1])), B)
        assert title(ax) == words


def test_rows_tell_the_rates_of_a_model():
    rows = np.random.default_rng(1).standard_normal((80, 5)) @ np.diag([4.0, 3.0, 2.0, 1.0, 0.5])
    values = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    for given, X in ((rows, None), (PCA(1, svd_solver="power").fit(rows), rows)):
        [stretch] = stretches_of(of_model(given, X, 1, None))
        assert stretch.rate == pytest.approx(values[1] / values[0])


def test_iterations_without_a_law_are_drawn_too():
    ax = plot.convergence(PCA(2, svd_solver="krylov").fit(np.random.default_rng(1).standard_normal((200, 100))))
    assert ax.get_title().startswith("Block Krylov")
    assert np.isnan(ax.lines[1].get_ydata()).all()


def test_a_direct_solver_has_no_history():
    with pytest.raises(DataError, match="'svd' does not iterate; fit with svd_solver='power'"):
        plot.convergence(PCA(1, svd_solver="svd").fit(A))
