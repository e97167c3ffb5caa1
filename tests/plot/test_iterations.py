"""Iterations beside their theory, with prescribed spectra."""

import numpy as np
import pytest
import scipy.sparse

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
    known = of_spectrum(found, A)
    stretches = stretches_of(known)
    np.testing.assert_allclose([stretch.rate for stretch in stretches], SPECTRUM[1:4] / SPECTRUM[:3])
    assert sum(len(stretch.steps) for stretch in stretches) == len(found.history)
    ax = plot.convergence(found, A)
    for i in range(3):
        assert slope(ax.lines[4 * i]) == pytest.approx(np.log(SPECTRUM[i + 1] / SPECTRUM[i]), rel=0.05)
    unknown = stretches_of(of_spectrum(found, None))
    assert [bool(np.isfinite(stretch.rate)) for stretch in unknown] == [True, True, False]


def test_orthogonal_iteration_falls_by_the_first_value_beyond_its_columns():
    how = solvers.Orthogonal(oversample=2)
    found = ritz.eigen(A, 2, how, tol=1e-10)
    [stretch] = stretches_of(of_spectrum(found, A))
    assert (stretch.rate, stretch.ratio) == (pytest.approx(SPECTRUM[4] / SPECTRUM[1]), "λ₅/λ₂")
    ax = plot.convergence(found, A)
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
    both = stretches_of(of_spectrum(ritz.eigen(tied, 2, "power"), tied))
    assert [(one.ratio, one.rate) for one in both] == [("λ₃/λ₁", pytest.approx(0.5)), ("λ₃/λ₂", pytest.approx(0.5))]
    assert np.isnan(stretches_of(of_spectrum(found, None))[0].rate)


def test_a_start_orthogonal_to_the_first_eigenvector_finds_the_next():
    start = np.random.default_rng(2).standard_normal((20, 2))
    start -= np.outer(Q[:, 0], Q[:, 0] @ start)
    B = with_values(1.0, 0.9, 0.8)
    ax = plot.convergence(ritz.eigen(B, 1, solvers.Power(start=start[:, 0])), B)
    assert title(ax) == "Power iteration found λ₂, not λ₁: each step multiplies the residual by λ₃/λ₂ = 0.889"
    assert slope(ax.lines[0]) == pytest.approx(np.log(8 / 9), rel=0.02)
    block = solvers.Orthogonal(oversample=0, start=start)
    ax = plot.convergence(ritz.eigen(B, 2, block), B)
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


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_what_eigen_returned_knows_its_solver():
    """With y the ratio is no Rayleigh quotient, and falls like the vector; opposite signs have an absolute value."""
    B = with_values(1.0, -0.75, 0.5)
    ax = plot.convergence(ritz.eigen(B, 1, solvers.Power(y=Q.sum(axis=1))), B)
    assert title(ax) == "Power iteration: each step multiplies the residual by |λ₂/λ₁| = 0.75"
    assert {"theory: |λ₂/λ₁|ᵐ", "residual ‖Av − λv‖, relative to |λ₁|"} < set(legend(ax))
    assert slope(ax.lines[3]) == pytest.approx(np.log(0.75), rel=1e-6)
    by_block = plot.convergence(ritz.eigen(A, 1, solvers.Orthogonal(oversample=0)), A)
    assert title(by_block) == "Orthogonal iteration: each step multiplies the residual by λ₂/λ₁ = 0.8"
    assert title(plot.convergence(ritz.eigen(np.eye(2), 1, "power"))) == "Power iteration: 1 iteration"


def test_what_is_rounding_is_not_drawn_as_an_error():
    ax = plot.convergence(ritz.eigen(np.diag([5.0, 3.0, 1.0]), 1, "power", tol=1e-14), np.diag([5.0, 3.0, 1.0]))
    heights = np.concatenate([np.asarray(line.get_ydata(), float) for line in ax.lines])
    assert np.nanmin(heights) == 1e-14
    assert (heights == 1e-14).sum() > 3
    assert legend(ax)[-1] == "rounding: below 10⁻¹⁴"
    one = plot.convergence(np.outer(np.arange(5.0), [1.0, 2.0, 3.0]))
    assert title(one) == "Power iteration: λ₂ is 0, and one step is enough"
    assert title(plot.convergence(np.ones((5, 3)))) == "Power iteration: all eigenvalues are 0"


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        (ritz.eigen(A, 1), {}, r"'covariance' does not iterate; call ritz.eigen\(A, k, 'power'\)"),
        (A, {"solver": "svd"}, "'svd' does not iterate; pass solver='power'"),
        (A, {"n_components": 21}, "n_components=21 must be a number of components between 1 and 20, as many as"),
        (A, {"n_components": 0}, "n_components=0 must be a number of components between 1 and 20"),
    ],
)
def test_what_cannot_be_iterated_is_said_in_the_words_of_the_call(given, more, words):
    with pytest.raises(ValueError, match=words):
        plot.convergence(given, **more)


def test_the_matrix_is_whatever_eigen_takes():
    small = np.diag([4.0, 3.0, 1.0])
    for given in (small.tolist(), lambda V: small @ V, scipy.sparse.csr_array(small)):
        ax = plot.convergence(ritz.eigen(small, 1, "power"), given)
        assert title(ax).endswith("λ₂/λ₁ = 0.75")
    with pytest.raises(
        DataError, match=r"X has the shape \(3, 2\), but the eigenvectors have 3 entries; pass the matrix"
    ):
        plot.convergence(ritz.eigen(small, 1, "power"), small[:, :2])
