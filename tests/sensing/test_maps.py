"""Every map of compressed sensing: its products against a matrix built another way, its adjoint, its norm."""

import pickle
import warnings

import numpy as np
import pytest
import pywt
import scipy.fft
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator

from helpers.matrices import SPECTRA, random_orthonormal
from ritz.errors import DataError
from ritz.sensing import dictionary, maps
from ritz.sensing.bases import chosen_basis
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import as_map
from ritz.sensing.measurements import chosen_measurement

SHAPES = [(1,), (2,), (3,), (16,), (37,), (64,), (1, 9), (8, 8), (7, 12), (16, 5), (13, 21)]
NAMES = pywt.wavelist(kind="discrete")


def cosine_matrix(n: int) -> np.ndarray:
    """The orthonormal DCT-II from its formula, a basis vector a column."""
    k, i = np.arange(n), np.arange(n)[:, None]
    Psi = np.sqrt(2 / n) * np.cos(np.pi * (2 * i + 1) * k / (2 * n))
    Psi[:, 0] = np.sqrt(1 / n)
    return Psi


def cosines_of(shape) -> np.ndarray:
    matrices = [cosine_matrix(n) for n in shape]
    return matrices[0] if len(shape) == 1 else np.kron(*matrices)


def level_matrix(name: str, n: int) -> np.ndarray:
    """One level of synthesis from the filters themselves: shifts by two, wrapped around; an odd entry stays."""
    wavelet, half = pywt.Wavelet(name), n // 2
    W = np.zeros((n, n))
    for column, filter_ in ((0, wavelet.rec_lo), (n - half, wavelet.rec_hi)):
        for k in range(half):
            for i, weight in enumerate(filter_):
                W[(2 * k + i - len(filter_) // 2 + 1) % (2 * half), column + k] += weight
    if n % 2:
        W[n - 1, half] = 1.0
    return W


def wavelet_matrix(name: str, n: int) -> np.ndarray:
    """Level after level, as long as the filter fits."""
    Psi, part = np.eye(n), n
    while part >= pywt.Wavelet(name).rec_len:
        level = np.eye(n)
        level[:part, :part] = level_matrix(name, part)
        Psi, part = Psi @ level, -(-part // 2)
    return Psi


def dense(M) -> np.ndarray:
    return M.apply(np.eye(M.shape[1])).T


def check_products(M, truth, rng):
    """M and its adjoint as the matrix has them, on rows of every layout, which stay as they are."""
    m, n = truth.shape
    assert M.shape == (m, n)
    X, Y = rng.standard_normal((3, n)), rng.standard_normal((3, m))
    X.flags.writeable = Y.flags.writeable = False
    size = np.linalg.norm(truth)
    np.testing.assert_allclose(M.apply(X), X @ truth.T, atol=1e-13 * size)
    np.testing.assert_allclose(M.adjoint(Y), Y @ truth, atol=1e-13 * size)
    np.testing.assert_allclose(M.apply(np.asfortranarray(X)), X @ truth.T, atol=1e-13 * size)
    np.testing.assert_allclose(M.adjoint(np.asfortranarray(Y)), Y @ truth, atol=1e-13 * size)
    np.testing.assert_allclose(np.vstack(list(M.row_blocks())), truth, atol=1e-13 * size)
    some = rng.permutation(n)[: n // 2 + 1]
    np.testing.assert_allclose(M.some_columns(some), truth.T[some], atol=1e-13 * size)
    some = rng.permutation(m)[: m // 2 + 1]
    np.testing.assert_allclose(M.some_rows(some), truth[some], atol=1e-13 * size)
    assert M.apply(X[:0]).shape == (0, m)
    assert M.adjoint(Y[:0]).shape == (0, n)


def check_norm(M, truth):
    largest = np.linalg.norm(truth, 2)
    assert largest * (1 - 1e-9) <= M.norm <= 1.4 * largest


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_cosines_are_those_of_the_formula(shape):
    M, truth = chosen_basis("dct", shape), cosines_of(shape)
    check_products(M, truth, np.random.default_rng(0))
    assert M.isometry
    check_norm(M, truth)


def test_cosines_are_those_of_scipy():
    X = np.random.default_rng(1).standard_normal((4, 99))
    np.testing.assert_allclose(chosen_basis("dct", (99,)).apply(X), scipy.fft.idct(X, norm="ortho"), atol=1e-14)
    np.testing.assert_allclose(
        chosen_basis("dct", (9, 11)).adjoint(X[:1])[0].reshape(9, 11),
        scipy.fft.dctn(X[0].reshape(9, 11), norm="ortho"),
        atol=1e-14,
    )


@pytest.mark.parametrize("n", [2, 3, 5, 8, 11, 16, 31, 64, 75])
@pytest.mark.parametrize("name", ["haar", "db2", "db4", "sym4", "coif1", "bior2.2", "rbio3.1"])
def test_wavelets_are_those_of_the_filters(name, n):
    if n < pywt.Wavelet(name).rec_len:
        with pytest.raises(DataError, match=rf"basis='{name}' has .* coefficients, .* signal_shape=\({n},\) \(n_f"):
            chosen_basis(name, (n,))
        return
    M, truth = chosen_basis(name, (n,)), wavelet_matrix(name, n)
    check_products(M, truth, np.random.default_rng(n))
    assert M.isometry == pywt.Wavelet(name).orthogonal
    check_norm(M, truth)


def undone(x, name, levels):
    """Coefficients by PyWavelets itself, which finds so many levels too many, since they reach around the ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if x.ndim == 1:
            return np.concatenate(pywt.wavedec(x, name, "periodization", level=levels))
        return pywt.coeffs_to_array(pywt.wavedec2(x, name, "periodization", level=levels))[0]


POWERS_OF_TWO = [
    ("haar", 6, (64,)),
    ("db4", 4, (64,)),
    ("bior2.2", 3, (32,)),
    ("db2", 5, (64,)),
    ("haar", 4, (16, 16)),
    ("db4", 3, (32, 32)),
    ("coif1", 2, (16, 16)),
    ("rbio1.3", 1, (8, 8)),
]


@pytest.mark.parametrize(("name", "levels", "shape"), POWERS_OF_TWO)
def test_wavelets_of_powers_of_two_are_those_of_pywavelets(name, levels, shape):
    c = np.random.default_rng(2).standard_normal(shape)
    x = chosen_basis(name, shape).apply(c.reshape(1, -1)).reshape(shape)
    np.testing.assert_allclose(undone(x, name, levels), c, atol=1e-10)


@pytest.mark.parametrize("shape", [(2, 2), (8, 8), (7, 12), (16, 5), (13, 21)], ids=str)
def test_haar_of_images_takes_sums_and_differences(shape):
    """A level at a time, over rows and over columns; what has no neighbour is passed on."""
    x = np.random.default_rng(4).standard_normal(shape)
    found, sizes = x.copy(), shape
    while min(sizes) >= 2:
        part = found[: sizes[0], : sizes[1]]
        for axis in (0, 1):
            lines = np.moveaxis(part, axis, 0)
            half = len(lines) // 2
            even, odd, last = lines[: 2 * half : 2].copy(), lines[1 : 2 * half : 2].copy(), lines[2 * half :].copy()
            lines[:] = np.concatenate([(even + odd) / np.sqrt(2), last, (even - odd) / np.sqrt(2)])
        sizes = tuple(-(-size // 2) for size in sizes)
    np.testing.assert_allclose(chosen_basis("haar", shape).adjoint(x.reshape(1, -1))[0], found.ravel(), atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_every_wavelet_has_its_adjoint_and_keeps_lengths_where_it_says_so(name):
    for shape in ((104,), (105,)):  # the longest filter has 102 coefficients
        M = chosen_basis(name, shape)
        Psi, n = dense(M), shape[0]
        np.testing.assert_allclose(M.adjoint(np.eye(n)), Psi, atol=1e-12)
        assert not M.isometry or np.abs(Psi.T @ Psi - np.eye(n)).max() < 1e-7
        assert np.linalg.matrix_rank(Psi) == n
        check_norm(M, Psi)
    rng = np.random.default_rng(5)
    image = chosen_basis(name, (103, 104))
    X, Y = rng.standard_normal((2, 1, 103 * 104))
    assert np.vdot(image.apply(X), Y) == pytest.approx(np.vdot(X, image.adjoint(Y)), rel=1e-9, abs=1e-9)


def test_wavelets_by_several_threads_are_the_same_to_the_last_bit():
    X = np.random.default_rng(6).standard_normal((2, 150 * 170))
    M = chosen_basis("db4", (150, 170))
    with scipy.fft.set_workers(1):
        alone = M.apply(X), M.adjoint(X)
    with scipy.fft.set_workers(3):
        together = M.apply(X), M.adjoint(X)
    assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))


@pytest.mark.parametrize("shape", [(20,), (33,), (6, 7)], ids=str)
@pytest.mark.parametrize("name", ["gaussian", "bernoulli"])
def test_random_matrices_keep_lengths_on_average(name, shape):
    n = int(np.prod(shape))
    entries = np.vstack([dense(chosen_measurement(name, 5, shape, np.random.default_rng(i))) for i in range(200)])
    assert entries.std() * np.sqrt(5) == pytest.approx(1.0, abs=0.03)
    assert abs(entries.mean()) * np.sqrt(5) < 4 / np.sqrt(entries.size)
    if name == "bernoulli":
        assert set(np.unique(entries * np.sqrt(5)).round(12)) == {-1.0, 1.0}
    else:
        assert (np.mean((entries * np.sqrt(5)) ** 4)) == pytest.approx(3.0, abs=0.3)
    M = chosen_measurement(name, n, shape, np.random.default_rng(7))
    check_products(M, dense(M), np.random.default_rng(8))
    check_norm(M, dense(M))


@pytest.mark.parametrize("share", [0.05, 0.4, 1.0])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_subsampled_cosines_are_rows_of_the_formula(shape, share):
    n = int(np.prod(shape))
    m = max(1, round(share * n))
    M = chosen_measurement("subsampled-dct", m, shape, np.random.default_rng(n))
    assert len(set(M.kept)) == m
    assert set(M.signs) <= {-1.0, 1.0}
    truth = np.sqrt(n / m) * cosines_of(shape).T[M.kept] * M.signs
    check_products(M, truth, np.random.default_rng(9))
    check_norm(M, truth)


def test_signs_and_frequencies_are_drawn_anew_for_every_seed():
    drawn = [chosen_measurement("subsampled-dct", 20, (64,), np.random.default_rng(i)) for i in range(40)]
    assert 0.3 < np.mean([M.signs for M in drawn]) / 2 + 0.5 < 0.7
    counts = np.bincount(np.concatenate([M.kept for M in drawn]), minlength=64)
    assert counts.min() >= 1
    assert counts.max() <= 30  # of 40, with 12.5 on average


GIVEN = {
    "array": lambda M: M,
    "fortran": np.asfortranarray,
    "list": lambda M: M.tolist(),
    "float32": lambda M: M.astype(np.float32),
    "integers": lambda M: (100 * M).astype(int),
    "sparse": scipy.sparse.csc_array,
    "coordinates": scipy.sparse.coo_matrix,
    "operator": aslinearoperator,
}


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (6, 6)])
def test_given_matrices_are_taken_as_they_are(kind, shape):
    entries = np.random.default_rng(10).standard_normal(shape)
    given = GIVEN[kind](entries)
    truth = entries if kind == "operator" else np.asarray(given.toarray() if scipy.sparse.issparse(given) else given)
    M = as_map(given, "basis")
    check_products(M, truth.astype(float), np.random.default_rng(11))
    check_norm(M, truth)


def test_a_matrix_that_is_changed_afterwards_does_not_change_the_map():
    given = np.eye(3)
    M = as_map(given, "basis")
    given[:] = 7.0
    np.testing.assert_array_equal(dense(M), np.eye(3))


@pytest.mark.parametrize("spectrum", ["gapped", "slow", "flat", "tied", "rank deficient", "mode 1", "mode 2", "mode 4"])
@pytest.mark.parametrize("small", [maps.SMALL, 10])
def test_the_norm_is_an_upper_bound_for_every_spectrum(spectrum, small, monkeypatch):
    """Also where matrices are too large for a bound and a few powers have to do."""
    monkeypatch.setattr(maps, "SMALL", small)
    rng = np.random.default_rng(12)
    sigma = SPECTRA[spectrum](40)
    truth = (random_orthonormal(50, 40, rng) * sigma) @ random_orthonormal(40, 40, rng).T
    for entries in (truth, truth.T, 1e-6 * truth, 1e6 * truth):
        check_norm(as_map(entries, "basis"), entries)


MAPS = {
    "cosines": lambda: chosen_basis("dct", (6, 7)),
    "wavelets": lambda: chosen_basis("db4", (42,)),
    "biorthogonal": lambda: chosen_basis("bior2.2", (6, 7)),
    "gaussian": lambda: chosen_measurement("gaussian", 9, (42,), np.random.default_rng(0)),
    "subsampled": lambda: chosen_measurement("subsampled-dct", 9, (42,), np.random.default_rng(0)),
    "sparse": lambda: as_map(scipy.sparse.eye_array(42), "basis"),
}
MAPS["product"] = lambda: Dictionary(MAPS["subsampled"](), MAPS["biorthogonal"]())


@pytest.mark.parametrize("kind", MAPS)
def test_maps_are_pickled(kind):
    M, X = MAPS[kind](), np.random.default_rng(13).standard_normal((2, 42))
    again = pickle.loads(pickle.dumps(M))
    assert np.array_equal(again.apply(X), M.apply(X))
    assert np.array_equal(again.adjoint(M.apply(X)), M.adjoint(M.apply(X)))
    assert again.norm == M.norm
    assert again.isometry == M.isometry


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("basis", ["dct", "db4", "bior2.2", "wide", "narrow"])
@pytest.mark.parametrize("measurement", ["gaussian", "bernoulli", "subsampled-dct", "operator"])
def test_the_dictionary_is_the_product(measurement, basis, held, monkeypatch):
    """Held as a matrix or not, in one block or many."""
    rng = np.random.default_rng(14)
    given = {"wide": rng.standard_normal((42, 60)), "narrow": rng.standard_normal((42, 30))}
    Psi = chosen_basis(given.get(basis, basis), (42,))
    rows = aslinearoperator(rng.standard_normal((13, 42))) if measurement == "operator" else measurement
    Phi = chosen_measurement(rows, 13, (42,), rng)
    for limit in () if held else ("HELD", "FAST"):
        monkeypatch.setattr(dictionary, limit, 0)
    monkeypatch.setattr(maps, "BLOCK", 130)
    monkeypatch.setattr(dictionary, "BLOCK", 130)
    A, truth = Dictionary(Phi, Psi), dense(Phi) @ dense(Psi)
    assert (A.held is not None) == held
    check_products(A, truth, rng)
    assert np.linalg.norm(truth, 2) * (1 - 1e-9) <= A.norm
    if held or not Psi.isometry:
        np.testing.assert_allclose(A.lengths, np.linalg.norm(truth, axis=0), rtol=1e-12)
    Y = rng.standard_normal((3, 13))
    np.testing.assert_allclose(A.correlations(Y), np.abs(Y @ truth) / A.lengths, atol=1e-5)


def test_columns_of_zeros_are_like_nothing():
    A = Dictionary(as_map(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 1.0]]), "measurement"), as_map(np.eye(3), "basis"))
    assert A.lengths[1] == np.inf
    np.testing.assert_array_equal(A.correlations(np.ones((1, 2)))[:, 1], 0.0)
