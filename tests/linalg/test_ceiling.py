"""What no eigenvalue exceeds, proved by one factorisation."""

import numpy as np
import pytest

from helpers.matrices import random_orthonormal
from ritz.linalg.ceiling import deflated, norm_estimate, proved_above, proved_ceiling

ORDER = 40


def matrix(spectrum):
    Q = random_orthonormal(len(spectrum), len(spectrum), np.random.default_rng(1))
    A = (Q * spectrum) @ Q.T
    return (A + A.T) / 2


SPECTRA = {
    "decaying": 0.5 ** np.arange(ORDER),
    "tied": np.r_[np.ones(7), np.full(ORDER - 7, 0.5)],
    "of both signs": np.linspace(-3, 1, ORDER),
    "below 0": np.linspace(-3, -1, ORDER),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_a_guess_below_the_largest_value_is_never_proved(name):
    A, largest = matrix(SPECTRA[name]), SPECTRA[name].max()
    for lower in (1e-10, 1e-6, 0.1):
        assert proved_above(A.copy(), largest - lower, 0.0) == np.inf
    for near in np.linspace(-1e-11, 1e-11, 21):  # within what is added for rounding it is one or the other
        assert proved_above(A.copy(), largest + near, 0.0) >= largest
    for higher in (1e-10, 1e-6, 0.1):
        assert largest <= proved_above(A.copy(), largest + higher, 0.0) <= largest + 2 * higher


def test_what_a_matrix_is_known_to_is_added():
    A = matrix(SPECTRA["decaying"])
    assert proved_above(A.copy(), 1.0, 0.01) >= 1.02


@pytest.mark.parametrize("name", SPECTRA)
def test_a_bad_guess_is_replaced(name):
    A, largest = matrix(SPECTRA[name]), SPECTRA[name].max()
    made = []

    def anew():
        made.append(A.copy())
        return made[-1]

    tau = proved_ceiling(anew, largest - 0.3, rounding=0.0, converged=True)
    assert largest <= tau <= max(1.03 * largest, 1e-9)
    assert len(made) > 1


def test_deflation_takes_off_what_the_pairs_explain():
    A = matrix(SPECTRA["decaying"])
    values, vectors = np.linalg.eigh(A)
    image = np.ascontiguousarray((vectors[:, -5:] * np.sqrt(values[-5:])).T)
    left = np.triu(deflated(A.copy(), image))
    rest = (vectors[:, :-5] * values[:-5]) @ vectors[:, :-5].T
    np.testing.assert_allclose(left, np.triu(rest), atol=1e-15)


@pytest.mark.parametrize("spectrum", [np.ones(3), np.r_[5.0, 4.9, np.ones(60)], np.r_[-7.0, np.ones(30)], np.zeros(9)])
def test_the_estimate_of_a_norm_is_one_from_below(spectrum):
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((len(spectrum),) * 2))[0]
    A, norm = (Q * spectrum) @ Q.T, np.abs(spectrum).max()
    assert 0.95 * norm <= norm_estimate((A + A.T) / 2) <= norm * (1 + 1e-12)
