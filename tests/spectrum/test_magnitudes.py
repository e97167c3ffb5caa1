"""Certificates of matrices with eigenvalues of either sign, against LAPACK."""

import warnings

import numpy as np
import pytest
import scipy.sparse

from helpers.counts import usually
from helpers.matrices import broken_signed_claims, with_eigenvalues
from ritz import AccuracyWarning, eigen, solvers
from ritz.operators import Function, SparseMatrix
from ritz.solvers import Basis
from ritz.spectrum.certify import certify
from ritz.spectrum.eigen_pairs import _operator

SPECTRA = {
    "any": lambda d, rng: rng.standard_normal(d),
    "integers": lambda d, rng: rng.integers(-3, 4, d).astype(float),
    "signs": lambda d, rng: np.sign(rng.standard_normal(d)),
    "nearly signs": lambda d, rng: np.sign(rng.standard_normal(d)) * (1 + 1e-10 * rng.standard_normal(d)),
    "below 0": lambda d, rng: -np.abs(rng.standard_normal(d)),
    "rank deficient": lambda d, rng: np.where(np.arange(d) < -(-d // 2), rng.standard_normal(d), 0.0),
    "graded": lambda d, rng: rng.standard_normal(d) * 10.0 ** rng.uniform(-14, 0, d),
    "geometric": lambda d, rng: np.sign(rng.standard_normal(d)) * 0.8 ** np.arange(d),
}


@pytest.fixture(autouse=True)
def always_sparse(monkeypatch):
    """Sparse matrices of any order are certified as such, not made dense."""
    monkeypatch.setattr("ritz.spectrum.eigen_pairs.LARGE", 0)
    assert isinstance(_operator(scipy.sparse.eye_array(2), None, solvers.Power())[0], SparseMatrix)


@pytest.mark.parametrize("name", SPECTRA)
def test_no_claim_is_violated(name):
    for seed in range(usually(8, thorough=400)):
        rng = np.random.default_rng([seed, len(name)])
        d = int(rng.choice([1, 2, 3, 5, 8, 20]))
        A = with_eigenvalues(SPECTRA[name](d, rng), rng)[0]
        k, tol = int(rng.integers(1, d + 1)), [1e-6, None, 1e-3, 0.0][seed % 4]
        solver = solvers.Power(max_iter=int(rng.choice([1, 3, 20, 300])), change=float(rng.choice([1e-9, 1e-3])))
        given, dim = [(A, None), (scipy.sparse.csr_array(A), None), (lambda V, A=A: A @ V, d)][seed % 3]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            found = eigen(given, k, solver, tol=tol, dim=dim, random_state=seed)
        if found.certificate.by_magnitude:
            slack = 8 * d * np.finfo(float).eps * np.linalg.norm(A, 2)
            assert broken_signed_claims(found.certificate, found.vectors, A, slack) == [], seed


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_a_certificate_of_an_easy_problem_is_sharp(form):
    values = np.array([-8.0, 4.0, -2.0, 1.0, 0.5, -0.25, 0.1])
    A, _ = with_eigenvalues(values, np.random.default_rng(1))
    certificate = eigen(form(A), 3, "power").certificate
    assert (certificate.completeness, certificate.complete_to) == ("proved", 3)
    assert certificate.groups == ((0, 1), (1, 2), (2, 3))
    assert not certificate.tie_at_k
    low, high = certificate.value_bounds.T
    assert (high - low <= 1e-6 * np.abs(values[:3])).all()
    assert certificate.angle_bounds.max() < 1e-4
    assert certificate.missed == "no component of larger magnitude was missed (proved)"


def test_a_tie_of_magnitudes_is_one_at_k_and_no_group_inside():
    """Vectors of 2 and −2 are told apart by their signs, but the first one of them alone is no choice of the matrix."""
    A, _ = with_eigenvalues([3.0, -2.0, 2.0, 1.0], np.random.default_rng(2))
    three = eigen(A, 3, "power").certificate
    assert three.groups == ((0, 1), (1, 2), (2, 3))
    assert three.angle_bounds.max() < 1e-4
    with pytest.warns(AccuracyWarning, match="PC2 alternates"):
        assert eigen(A, 2, "power").certificate.complete_to <= 1


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, lambda A: lambda V: A @ V])
@pytest.mark.parametrize("values", [[2.0, -1.0, 0.0], [1.0, -1.0, 1.0], [-3.0, -2.0, -1.0]])
def test_nothing_follows_the_last_eigenvalue(form, values):
    found = eigen(form(np.diag(values)), 3, "power", dim=3, start=np.eye(3)).certificate
    assert (found.completeness, found.complete_to, found.tie_at_k, found.gap_bounds) == ("proved", 3, False, None)
    assert "3 of 3 surely among the top 3" in str(found)
    assert "the next one" not in str(found)


@pytest.mark.parametrize("length", [1 - 1e-12, 1 + 1e-12])
def test_vectors_that_are_not_quite_orthonormal_are_covered_where_all_values_are_0(length):
    A = np.array([[0.0, 1.0], [1.0, 0.0]])
    u = np.array([[length], [0.0]])
    for operator in (Function(lambda V: A @ V, 2, signed=True), SparseMatrix(scipy.sparse.csr_array(A), signed=True)):
        certificate = certify(operator, operator.ritz(u), Basis(u), 1, tol=1e-6).certificate
        assert certificate.residuals[0] + certificate.rounding >= 1.0  # ‖A e₁‖
        assert certificate.reached >= 1.0


def test_a_missed_magnitude_is_not_called_complete():
    A = np.diag([1.0, 2.0, -5.0])
    found = eigen(A, 1, "power", start=[1.0, 1.0, 0.0]).certificate
    assert found.completeness == "not excluded"
    assert found.complete_to == 0
    assert found.verdict.startswith("accurate as asked, but a component of larger magnitude may have been missed")
    assert found.value_bounds[0, 0] <= 2.0 <= found.value_bounds[0, 1]


def test_negative_values_between_close_positive_ones_join_their_group():
    A = np.diag([1.0, 1.0 - 1e-9, -(1.0 - 5e-10), 0.1])
    start = np.eye(4)[:, [0, 2, 1]] + 1e-7 * np.random.default_rng(0).standard_normal((4, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found = eigen(A, 3, solvers.Power(max_iter=5, start=start), tol=1e-5)
    assert found.certificate.groups == ((0, 3),)
    assert broken_signed_claims(found.certificate, found.vectors, A, 1e-15) == []
