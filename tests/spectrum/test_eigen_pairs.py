"""Eigenpairs of a matrix that is given: what a fit that stops short says, sparse matrices, and what is refused."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from helpers.matrices import broken_claims, broken_signed_claims, random_array, sine, with_eigenvalues
from ritz import AccuracyWarning, DataError, eigen, solvers
from ritz.linalg.dense import gamma
from ritz.operators import SparseMatrix
from ritz.spectrum.eigen_pairs import _operator

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]
LONG = 120  # rows of a matrix that is not made dense in these tests


@pytest.fixture(autouse=True)
def soon_sparse(monkeypatch):
    monkeypatch.setattr("ritz.spectrum.eigen_pairs.LARGE", 100)


def path_laplacian(d, dtype=np.float64):
    """Of a path of d points: its eigenvalues are 2 − 2cos(πj/d), its diagonal dominates."""
    degrees = np.r_[1, np.full(d - 2, 2), 1]
    return scipy.sparse.diags_array([-np.ones(d - 1), degrees, -np.ones(d - 1)], offsets=[-1, 0, 1]).astype(dtype)


def spiked(d, values):
    """A sparse matrix with these eigenvalues in blocks of two rows, and 0.01 elsewhere."""
    diagonal, beside = np.full(d, 0.01), np.zeros(d - 1)
    for i, value in enumerate(values):  # [[a, b], [b, a]] has a ± b
        diagonal[2 * i : 2 * i + 2], beside[2 * i] = (value + 0.01) / 2, (value - 0.01) / 2
    return scipy.sparse.diags_array([beside, diagonal, beside], offsets=[-1, 0, 1])


def test_a_warning_carries_the_fact_behind_it():
    with pytest.warns(AccuracyWarning, match="did not converge to tol=1e-06") as caught:
        found = eigen(np.diag(np.linspace(1.0, 1.01, 50)), 2, solver="power", max_iter=2)
    [warning] = [one.message for one in caught]
    assert warning.code == warning.diagnostic.code == "not_converged"
    assert warning.diagnostic.code in [one.code for one in found.certificate.diagnostics()]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_sparse_format_is_the_dense_matrix(name, kind):
    A, _ = with_eigenvalues([4.0, 3.0, 2.0, 1.0, 0.5, 0.0], np.random.default_rng(0))
    sparse = getattr(scipy.sparse, f"{name}_{kind}")(A)
    found, dense = eigen(sparse, 2), eigen(A, 2)
    np.testing.assert_array_equal(found.values, dense.values)
    assert found.certificate.completeness == "proved"
    long = getattr(scipy.sparse, f"{name}_{kind}")(spiked(LONG, [9.0, 4.0, 2.0]))
    np.testing.assert_allclose(eigen(long, 3).values, [9.0, 4.0, 2.0], rtol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "power", "orthogonal", "krylov"])
def test_a_sparse_matrix_that_stays_sparse_is_certified_by_its_trace_and_norms(solver):
    A, values = spiked(1300, [9.0, 4.0, 2.0]), np.array([9.0, 4.0, 2.0])
    operator, _ = _operator(A, None, "auto")
    assert isinstance(operator, SparseMatrix)
    found = eigen(A, 3, solver)
    certificate = found.certificate
    assert (certificate.completeness, certificate.complete_to) == ("proved", 3)  # the rest of ‖A‖ is 0.36
    low, high = certificate.value_bounds.T
    assert ((low <= values) & (values <= high + 1e-15)).all()
    assert (high - low).max() < 1e-5
    assert certificate.gap_bounds[0] <= 1.99 <= certificate.gap_bounds[1]
    expected = np.kron(np.eye(3), np.full((2, 1), np.sqrt(0.5)))
    assert sine(found.vectors[:6], expected) < 1e-5
    bare = eigen(aslinearoperator(A), 3, "power").certificate
    assert bare.completeness == "not excluded"  # nothing but products is known of it


@pytest.mark.parametrize("one_thread", [0, 1 << 60])
def test_products_and_bounds_of_a_sparse_operator(one_thread, monkeypatch):
    monkeypatch.setattr("ritz.operators.sparse.ONE_THREAD", one_thread)
    A = random_array((400, 400), np.random.default_rng(1), density=0.02) * 100.0
    A = (A + A.T - scipy.sparse.diags_array(np.full(400, 30.0))).tocsr()
    dense, operator = A.toarray(), SparseMatrix(A)
    values = np.linalg.eigvalsh(dense)
    V = np.linalg.qr(np.random.default_rng(2).standard_normal((400, 5)))[0]
    assert np.linalg.norm(operator.apply(V) - dense @ V, 2) <= 2 * operator.rounding
    assert operator.trace == pytest.approx(np.trace(dense), abs=1e-10)
    assert operator.frobenius == pytest.approx(np.linalg.norm(dense))
    assert np.abs(values).max() <= operator.most
    assert -values[0] <= operator.negativity
    assert values[0] <= operator.lowest_of_two() < 0


PATTERNS = {
    "all the same": lambda i: np.ones(len(i)),
    "every second": lambda i: np.where(i % 2, 1.0, 0.3),
    "every third": lambda i: np.where(i % 3, 1.0, 0.3),
    "two halves": lambda i: np.where(i < len(i) // 2, 1.0, 0.123),
}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("solver", [solvers.Power(), solvers.Orthogonal(oversample=0)])
def test_sums_over_many_rows_of_a_sparse_matrix_are_covered(pattern, solver):
    """Products of the same size are all rounded the same way: a sum of d of them errs by a part of d, not √d."""
    d = 5000
    i = np.arange(d)
    v = PATTERNS[pattern](i)
    start = np.column_stack([v, np.where(i < d // 3, v, -v), np.where(i < d // 5, 1.3 * v, -0.7 * v)])
    found = eigen(scipy.sparse.eye_array(d), 3, replace(solver, start=start))
    low, high = found.certificate.value_bounds.T
    assert ((low <= 1.0) & (high >= 1.0)).all()
    assert (high - low).max() < 1e-11
    Q = np.linalg.qr(start)[0]
    operator = SparseMatrix(scipy.sparse.eye_array(d).tocsr())
    exact = Q.T.astype(np.longdouble) @ Q.astype(np.longdouble)
    assert (np.abs(operator.inner(Q, Q) - exact) <= gamma(45) * (np.abs(Q).T @ np.abs(Q))).all()


def test_a_dominant_diagonal_needs_no_word_that_nothing_lies_below_zero():
    A = path_laplacian(LONG)
    operator, _ = _operator(A, None, "auto")
    assert operator.negativity < 1e-12
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found = eigen(A, 2, solvers.Krylov(max_iter=30), tol=1e-3)
    truth = 2 - 2 * np.cos(np.pi * (LONG - np.arange(1, 3)) / LONG)
    low, high = found.certificate.value_bounds.T
    assert ((low <= truth) & (truth <= high)).all()


def test_integers_of_a_sparse_matrix_are_exact_or_refused():
    held, not_held = (scipy.sparse.diags_array([np.array([number, 1], dtype=np.int64)], offsets=[0], dtype=np.int64)
                      for number in (2**60, 2**60 + 1))  # fmt: skip
    assert eigen(held, 1).values[0] == 2.0**60
    with pytest.raises(DataError, match=r"holds 1152921504606846977, which float64 cannot hold"):
        eigen(not_held, 1)
    assert eigen(path_laplacian(5, np.int8), 1).values[0] == pytest.approx(2 + 2 * np.cos(np.pi / 5))


def wrong(d, places):
    A = scipy.sparse.eye_array(d).tolil()
    for place, value in places:
        A[place] = value
    return A


@pytest.mark.parametrize("d", [9, LONG])
@pytest.mark.parametrize(
    ("places", "match"),
    [
        ([((3, 5), np.nan), ((5, 3), np.nan)], "NaN or infinity, first at row 3, column 5"),
        ([((0, 1), np.inf), ((1, 0), np.inf)], "NaN or infinity, first at row 0, column 1"),
        ([((0, 8), 2.5)], r"not symmetric: max\|A - A.T\| = 2.5"),
        ([((4, 4), -3.0)], r"has an eigenvalue of at most -3; .* solver='power' takes such matrices"),
        ([((0, 1), 3.0), ((1, 0), 3.0)], r"has an eigenvalue of at most -2; .*largest magnitude"),
    ],
)
def test_sparse_matrices_that_are_refused(d, places, match):
    with pytest.raises(DataError, match=match):
        eigen(wrong(d, places), 1)


def test_a_sparse_matrix_of_either_sign_goes_to_power():
    A = wrong(LONG, [((0, 1), 7.0), ((1, 0), 7.0), ((2, 2), 3.0)])
    found = eigen(A, 3, "power")
    np.testing.assert_allclose(found.values, [8.0, -6.0, 3.0], rtol=1e-9)
    assert found.certificate.by_magnitude
    with pytest.raises(DataError, match="a symmetric matrix is square"):
        eigen(scipy.sparse.csr_array(np.ones((2, 3))), 1)


def test_rows_of_different_lengths_are_no_matrix():
    with pytest.raises(DataError, match="got rows of different lengths"):
        eigen([[2.0, 1.0], [1.0]], 1)


def test_covariance_makes_a_sparse_matrix_dense_where_that_fits(monkeypatch):
    found = eigen(spiked(LONG, [9.0, 4.0]), 2, "covariance")
    np.testing.assert_allclose(found.values, [9.0, 4.0], rtol=1e-12)
    monkeypatch.setattr("ritz.spectrum.eigen_pairs.PHYSICAL", 100_000)
    with pytest.raises(DataError, match=r"makes the sparse matrix dense, which takes 0.1 MB; use 'krylov'"):
        eigen(spiked(LONG, [9.0, 4.0]), 2, "covariance")


def test_operators():
    A, _ = with_eigenvalues([4.0, 3.0, 2.0, 1.0, 0.5, 0.0], np.random.default_rng(3))
    by_vector = LinearOperator((6, 6), matvec=lambda v: A @ v, dtype=float)
    np.testing.assert_allclose(eigen(by_vector, 2).values, [4.0, 3.0], rtol=1e-9)
    narrow = A.astype(np.float32)
    found = eigen(lambda V: narrow @ V.astype(np.float32), 2, dim=6, tol=1e-4)
    assert broken_claims(found.certificate, found.vectors, narrow.astype(np.float64), 1e-15) == []
    with pytest.raises(DataError, match=r"the operator is not symmetric: x·Ay and y·Ax .* differ by"):
        eigen(aslinearoperator(np.triu(A)), 1)
    with pytest.raises(DataError, match="not finite real numbers"):
        eigen(aslinearoperator(A + 1j * np.eye(6)), 1)


@pytest.mark.parametrize("solver", ["covariance", "krylov", "orthogonal"])
def test_other_solvers_name_the_eigenvalue_below_zero_and_who_takes_it(solver):
    A = np.diag([3.0, 1.0, 0.5, -5.0])
    said = r"has an eigenvalue of at most -(5|4\.9); it must have none below 0; solver='power' takes such matrices"
    with pytest.raises(DataError, match=said):
        eigen(A, 1, solver)
    if solver != "covariance":  # which needs the matrix
        with pytest.raises(DataError, match=said):
            eigen(lambda V: A @ V, 1, solver, dim=4)
    assert eigen(A, 1, "power").values[0] == pytest.approx(-5.0)


@pytest.mark.parametrize("solver", ["power", "covariance", "krylov"])
def test_a_matrix_that_was_accepted_is_not_refused_later(solver):
    """Least of all with the advice to use the solver that is in use."""
    B = np.eye(100)
    B[5, 5] = -5e-8  # below 0 by less than 1e-8 of ‖B‖ = 10
    found = eigen(B, 100, solver)
    assert not found.certificate.by_magnitude
    assert broken_claims(found.certificate, found.vectors, B, 1e-15) == []
    B[5, 5] = -5e-7
    if solver == "power":
        found = eigen(B, 100, solver)
        assert found.values[-1] == pytest.approx(-5e-7)
        assert broken_signed_claims(found.certificate, found.vectors, B, 1e-15) == []
    else:
        with pytest.raises(DataError, match="solver='power' takes such matrices"):
            eigen(B, 100, solver)


def test_what_was_accepted_does_not_depend_on_the_largest_value_that_was_found():
    A = np.diag([1.0, 1e-3, -5e-9])
    with pytest.warns(AccuracyWarning, match="did not converge"):  # values below 0 are called 0, but not for nothing
        found = eigen(A, 2, solvers.Power(start=np.eye(3)[:, 1:], max_iter=5), tol=1e-9)
    low, high = found.certificate.value_bounds.T
    assert ((low <= [1.0, 1e-3]) & (high >= [1.0, 1e-3])).all()


@pytest.mark.parametrize(
    ("A", "options", "match"),
    [
        (np.ma.masked_greater(np.diag([3.0, 2.0]), 2.5), {}, "1 masked entries, first at row 0, column 0"),
        (np.full((2, 2), 1e308), {}, r"largest eigenvalue is beyond 1\.8e308"),
        (np.eye(2), {"solver": solvers.Power}, r"solver is the class Power; pass an object: Power\(\)"),
        (np.eye(2), {"solver": 3}, "solver=3 is neither a name nor a solver object"),
        (lambda V: V, {"dim": 0}, "dim=0 must be an integer >= 1"),
        (lambda V: V, {"dim": 2.5}, "dim=2.5 must be an integer >= 1"),
        (np.eye(2), {"random_state": -1}, "random_state=-1 must be an integer >= 0"),
        (np.eye(2), {"random_state": "0"}, "random_state='0' must be an integer >= 0"),
    ],
)
def test_what_is_refused_is_named(A, options, match):
    with pytest.raises(ValueError, match=match):
        eigen(A, 1, **options)


def test_no_random_state_is_a_fixed_one():
    A = np.diag([3.0, 2.0, 1.0])
    first, second = (eigen(A, 1, "power", random_state=None).history for _ in range(2))
    assert first == second
