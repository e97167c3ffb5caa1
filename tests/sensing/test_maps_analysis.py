"""A basis takes signals apart: perfect reconstruction, the adjoint where vectors are orthonormal, thresholds."""

import numpy as np
import pytest
import pywt
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator

from ritz import CompressedSensing
from ritz.errors import DataError, ParameterError
from ritz.sensing.bases import chosen_basis
from ritz.sensing.maps import as_map

ROUNDING = 1e-14
TABLES = 1e-9  # of orthonormal filters, as they are printed
BIORTHOGONAL = [name for name in pywt.wavelist(kind="discrete") if not chosen_basis(name, (104,)).isometry]


def signals(length, seed=0):
    """Of sizes that differ, one of zeros among them."""
    return np.random.default_rng(seed).standard_normal((4, length)) * np.array([[1.0], [1e-7], [1e9], [0.0]])


def relative(found, truth):
    size = np.abs(truth).max(axis=1)
    return (np.abs(found - truth).max(axis=1) / np.where(size > 0, size, 1.0)).max()


def test_those_that_are_not_orthonormal_are_known():
    assert {"bior4.4", "bior2.2", "rbio6.8", "dmey"} <= set(BIORTHOGONAL)
    assert {name.rstrip("0123456789.") for name in BIORTHOGONAL} == {"bior", "rbio", "dmey"}


@pytest.mark.parametrize("name", BIORTHOGONAL)
def test_analysis_is_the_inverse_of_synthesis(name):
    for shape in ((104,), (105,)):
        basis = chosen_basis(name, shape)
        X = signals(shape[0])
        C = basis.analysis(X)
        assert relative(basis.synthesis(C), X) < ROUNDING
        assert relative(basis.analysis(basis.synthesis(X)), X) < 1e-12  # rbio3.1 has condition 300
        Psi = basis.synthesis(np.eye(shape[0])).T
        assert np.abs(C[:1] - np.linalg.solve(Psi, X[0])).max() < 1e-10  # LAPACK
        x, y = np.random.default_rng(1).standard_normal((2, 1, shape[0]))
        assert np.vdot(basis.synthesis(x), y) == pytest.approx(np.vdot(x, basis.adjoint(y)), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ["bior4.4", "rbio2.6"])
@pytest.mark.parametrize("shape", [(40, 64), (31, 45)])
def test_analysis_of_images(name, shape):
    basis, X = chosen_basis(name, shape), signals(shape[0] * shape[1])
    assert relative(basis.synthesis(basis.analysis(X)), X) < ROUNDING
    assert relative(basis.synthesis(basis.adjoint(X)), X) > 0.1  # which is why


@pytest.mark.filterwarnings("ignore:Level value:UserWarning")  # so many reach around the ends
@pytest.mark.parametrize(("name", "levels"), [("bior4.4", 3), ("rbio1.3", 4)])
def test_analysis_is_that_of_pywavelets(name, levels):
    X = signals(64)
    truth = np.hstack(pywt.wavedec(X, name, "periodization", level=levels))
    assert relative(chosen_basis(name, (64,)).analysis(X), truth) < 1e-10


@pytest.mark.parametrize("name", ["dct", "haar", "db4", "sym8", "coif2"])
def test_analysis_of_an_orthonormal_basis_is_its_adjoint(name):
    basis, X = chosen_basis(name, (63,)), signals(63)
    assert basis.isometry
    assert np.array_equal(basis.analysis(X), basis.adjoint(X))
    assert relative(basis.synthesis(basis.analysis(X)), X) < TABLES


@pytest.mark.parametrize("shape", [(12, 12), (12, 20), (12, 5)])
def test_analysis_by_a_matrix_is_the_pseudo_inverse(shape):
    Psi = np.random.default_rng(2).standard_normal(shape)
    basis, X = as_map(Psi, "basis"), signals(12)
    assert relative(basis.analysis(X), X @ np.linalg.pinv(Psi).T) < 1e-11
    Q = np.linalg.qr(Psi)[0]
    assert relative(basis.synthesis(basis.analysis(X)), X @ Q @ Q.T if shape[1] < 12 else X) < 1e-11


def test_a_basis_known_by_its_products_says_that_it_has_no_analysis():
    for given in (aslinearoperator(np.eye(4)), scipy.sparse.eye_array(4)):
        with pytest.raises(DataError, match=r"known by its products alone.* pass it as an array"):
            as_map(given, "basis").analysis(np.eye(4))


@pytest.mark.parametrize("name", ["sym4", "dct"])
def test_no_other_coefficients_of_an_orthonormal_basis_do_better(name):
    basis, X = chosen_basis(name, (9, 8)), np.random.default_rng(3).standard_normal((3, 72))
    codes = np.sort(basis.adjoint(X) ** 2, axis=1)
    for s in (1, 10, 71):
        found = basis.approximate(X, s)
        assert np.count_nonzero(np.abs(basis.adjoint(found)) > 1e-9, axis=1).tolist() == [s] * 3
        assert np.allclose(((X - found) ** 2).sum(axis=1), codes[:, : 72 - s].sum(axis=1))
    assert np.allclose(basis.approximate(X, 100), X)


def test_a_threshold_of_biorthogonal_coefficients_is_bounded_by_the_norm():
    """And the public way to it: the basis of a model."""
    rows, columns = np.mgrid[:20, :20] / 20
    image = (np.hypot(rows - 0.5, columns - 0.4) < 0.3) + rows
    basis = CompressedSensing(1, basis="bior4.4", signal_shape=(20, 20)).fit(image.reshape(1, -1)).basis_
    x = image.reshape(1, -1)
    codes, largest = basis.analysis(x), np.linalg.norm(basis.synthesis(np.eye(400)), 2)
    assert largest <= basis.norm <= 1.1 * largest
    for s in (20, 80, 200):
        error = np.linalg.norm(x - basis.approximate(x, s))
        left_out = np.sort(codes[0] ** 2)[: 400 - s].sum() ** 0.5
        assert error <= basis.norm * left_out
        crude = np.where(np.abs(basis.adjoint(x)) >= np.sort(np.abs(basis.adjoint(x)))[0, -s], basis.adjoint(x), 0)
        assert error < np.linalg.norm(x - basis.synthesis(crude))


@pytest.mark.parametrize(
    "given", [np.zeros(8), np.zeros((2, 7)), np.full((1, 8), np.nan), np.zeros((1, 8), complex), [["a"] * 8]]
)
def test_what_is_no_signal_is_refused(given):
    basis = chosen_basis("haar", (8,))
    for call in (basis.analysis, basis.synthesis):
        with pytest.raises(DataError, match=r"must be rows of 8 numbers|finite and real"):
            call(given)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, None])
def test_counts_of_coefficients_are_checked(count):
    with pytest.raises(ParameterError, match=r"n_coefficients=.* must be an integer >= 1"):
        chosen_basis("haar", (8,)).approximate(np.zeros((1, 8)), count)
