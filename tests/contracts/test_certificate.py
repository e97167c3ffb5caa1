"""The certificate's bounds against the truth in extended precision: a bound that the truth violates is a bug."""

import warnings
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.counts import usually
from helpers.matrices import jacobi, preprocess, random_orthonormal, sine, with_spectrum
from ritz import PCA, AccuracyWarning, eigen, solvers
from ritz.errors import DataError
from ritz.spectrum.bounds import Evidence, bounds

SOLVERS = ["auto", "covariance", "gram", "svd", "power", "orthogonal", "krylov"]

# Entries that collide, cancel and differ in scale: small integers times powers of ten, with ties and duplicates.
ENTRIES = st.builds(lambda m, e: float(m) * 10.0**e, st.integers(-9, 9), st.sampled_from([0, 0, 0, -3, -8, 4]))


@st.composite
def data(draw):
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 6))
    kind = draw(st.sampled_from(["entries", "graded", "clustered", "low rank", "offset"]))
    if kind == "entries":
        return draw(arrays(np.float64, (n, d), elements=ENTRIES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.standard_normal((n, d))
    if kind == "graded":
        return X * 10.0 ** -(np.arange(d) ** draw(st.sampled_from([1, 1.5, 2])))
    if kind == "clustered":
        Q = np.linalg.qr(np.column_stack([np.ones(n), X]))[0][:, 1:]
        return Q * (1 + 10.0 ** -draw(st.integers(2, 14)) * np.arange(Q.shape[1]))
    if kind == "low rank":
        r = draw(st.integers(1, d))
        return X[:, :r] @ rng.standard_normal((r, d))
    return X + 10.0 ** draw(st.integers(1, 9))


def truth_violations(pca, X):
    """What the certificate claims that is not so, with eigenpairs of the exact covariance as the judge."""
    Z = preprocess(X, pca.center, pca.scale, pca.ddof)
    sigma, vectors = jacobi(Z / np.sqrt(np.longdouble(len(X) - pca.ddof)))
    values = sigma**2
    total = float(np.sum(values))
    judge = 1e-17 * total  # the judge's own error
    k, certificate, U = pca.n_components_, pca.certificate_, np.asarray(pca.subspace_.axes)
    low, high = certificate.value_bounds.T
    problems = []
    if (low > values[:k] + judge).any() or (high < values[:k] - judge).any():
        problems.append(f"values {values[:k]} outside {certificate.value_bounds.tolist()}")
    for s, e in certificate.groups:
        bound = certificate.angle_bounds[s]
        if bound < 1 and sine(U[:, s:e], vectors[:, s:e]) > bound + 1e-15:
            problems.append(f"angle of group {s}-{e}: {sine(U[:, s:e], vectors[:, s:e])} > {bound}")
    m = certificate.complete_to
    if m and k < len(values) and np.linalg.norm(U[:, :m].T @ vectors[:, k:].astype(float), 2) > 0.9:
        problems.append(f"complete_to={m}, but one of them is not among the top {k}")
    if certificate.completeness == "proved" and k < len(values):
        projected = Z.astype(float) - Z.astype(float) @ U @ U.T
        hidden = np.linalg.norm(projected, 2) ** 2 / (len(X) - pca.ddof)
        if hidden > float(values[k - 1]) + 1e-6 * float(values[0]) + 16 * certificate.rounding + judge:
            problems.append(f"proved complete, but {hidden} was missed beside {values[k - 1]}")
    C = (Z.T @ Z / (len(X) - pca.ddof)).astype(np.longdouble)
    residual = np.linalg.norm((C @ U - U * certificate.values).astype(float), axis=0)
    zeroed = np.where(certificate.values > 0, 0.0, high)  # a variance below the floor is reported as 0
    if (residual > certificate.residuals + certificate.rounding + zeroed + judge).any():
        problems.append(f"residuals {residual} > {certificate.residuals} + {certificate.rounding}")
    if certificate.satisfied and pca.plan_.solver != "svd" and residual.max() > 1e-6 * float(values[0]) + judge:
        problems.append(f"satisfied with residual {residual.max()}")
    return problems


@settings(max_examples=usually(500, thorough=3000), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    X=data(),
    solver=st.sampled_from(SOLVERS),
    prep=st.sampled_from(["none", "centre", "scale"]),
    draw=st.data(),
)
def test_no_bound_is_ever_violated(X, solver, prep, draw):
    k = draw.draw(st.integers(1, min(X.shape)))
    ddof = draw.draw(st.sampled_from([0, 1]))
    pca = PCA(k, center=prep != "none", scale=prep == "scale", svd_solver=solver, ddof=ddof)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        try:
            pca.fit(X)
        except DataError as error:
            assert "scale=True" in str(error)
            return
    assert not truth_violations(pca, X)


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@settings(max_examples=usually(100, thorough=300), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    d=st.integers(2, 8),
    gap=st.integers(0, 15),
    solver=st.sampled_from(["auto", "power", "orthogonal", "krylov"]),
)
def test_bounds_hold_for_matrices_given_directly(seed, d, gap, solver):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, d + 1))
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A = (Q * (1 + 10.0**-gap * rng.standard_normal(d).clip(-3, 3) / 4)) @ Q.T
    A = (A + A.T) / 2
    values, vectors = jacobi(A)  # the singular pairs of a positive A are its eigenpairs
    found = eigen(A, k, solver=solver)
    low, high = found.certificate.value_bounds.T
    assert (low <= values[:k] + 1e-17).all()
    assert (high >= values[:k] - 1e-17).all()
    for s, e in found.certificate.groups:
        if found.certificate.angle_bounds[s] < 1:
            assert sine(found.vectors[:, s:e], vectors[:, s:e]) <= found.certificate.angle_bounds[s] + 1e-15


@pytest.mark.parametrize("n", [12_000, 64_000])
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e4])
@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("repeated", [False, True])  # repeated rows make every block's rounding errors alike
def test_audited_bounds_of_float32_products_hold(n, offset, repeated):
    rng = np.random.default_rng(int(offset) + n)
    d = 4_300_000 // n + 1
    X = (rng.standard_normal((n, d)) / np.sqrt(np.arange(1, d + 1)) + offset).astype(np.float32)
    if repeated:
        X = np.ascontiguousarray(np.tile(X[:4], (n // 4, 1)))
    pca = PCA(5, svd_solver="covariance", tol=1e-2).fit(X)  # at the default tol it would be multiplied again, wide
    assert pca.certificate_.audited
    if offset < 100 and not repeated:  # errors that repeat, or data of few digits, do not average out
        assert pca.certificate_.rounding < 3e-7 * pca.total_variance_
    Z = X.astype(np.float64)
    Z -= Z.mean(axis=0)
    truth = np.linalg.eigvalsh(Z.T @ Z / (n - 1))[::-1]
    low, high = pca.certificate_.value_bounds.T
    assert (low <= truth[:5]).all()
    assert (truth[:5] <= high).all()


LONG = (64_000, 66)  # enough entries and columns for float32 products


def stuck_sensor(rng):
    X = rng.standard_normal(LONG)
    X[35_000:40_000, :2] = 777.7
    return X, {}


def rare_bursts(rng):
    X = rng.standard_normal(LONG)
    X[35_000:35_500] = 1e3 * rng.standard_normal(66)
    return X, {}


def one_outlier(rng):
    X = rng.standard_normal(LONG)
    X[30_001] *= 1e4
    return X, {}


def mostly_zero(rng):
    X = np.zeros(LONG)
    X[35_000:40_000] = rng.standard_normal((5000, 66))
    return X, {"center": False}


def columns_of_all_sizes(rng):
    return rng.standard_normal(LONG) * 10.0 ** np.linspace(-3, 3, 66), {"scale": True}


@lru_cache(1)  # both solvers come after each other
def judged(make, scale):
    """Rows in float32, how they are fitted, and the covariance, eigenvalues and vectors of their deviations."""
    X, parameters = make(np.random.default_rng(0))
    parameters = {"scale": scale} | parameters
    X = X.astype(np.float32)
    Z = X.astype(np.float64)
    if parameters.get("center", True):
        Z -= Z.mean(axis=0)
    if parameters["scale"]:
        Z /= np.sqrt((Z**2).sum(axis=0) / (len(Z) - 1))
    C = Z.T @ Z / (len(Z) - 1)
    truth, vectors = np.linalg.eigh(C)
    return X, parameters, C, truth[::-1], vectors[:, ::-1]


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("make", [stuck_sensor, rare_bursts, one_outlier, mostly_zero, columns_of_all_sizes])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("solver", ["auto", "covariance"])
def test_the_audit_sees_all_rows_not_a_sample(make, scale, solver):
    X, parameters, C, truth, vectors = judged(make, scale)
    pca = PCA(3, svd_solver=solver, **parameters).fit(X)
    certificate, U, judge = pca.certificate_, pca.subspace_.axes, 1e-13 * truth.sum()
    low, high = certificate.value_bounds.T
    assert (low <= truth[:3] + judge).all()
    assert (truth[:3] <= high + judge).all()
    residual = np.linalg.norm(C @ U - U * certificate.values, axis=0)
    assert (residual <= certificate.residuals + certificate.rounding + judge).all()
    if certificate.satisfied:
        assert residual.max() <= 1e-6 * truth[0]
    for s, e in certificate.groups:
        gap = min(truth[s - 1] - truth[s] if s else np.inf, truth[e - 1] - truth[e])
        assert (
            certificate.angle_bounds[s] == 1
            or sine(U[:, s:e], vectors[:, s:e]) <= certificate.angle_bounds[s] + judge / gap
        )


@pytest.mark.parametrize("size", [1e-119, 1e-100, 1e-90, 1e-78, 1e78, 1e100, 1e119])
@pytest.mark.parametrize("solver", SOLVERS)
def test_sizes_whose_squares_of_squares_leave_the_range(size, solver):
    X = np.random.default_rng(0).standard_normal((300, 8)) * [3, 2.9, 2.5, 2, 1.5, 1, 0.5, 0.1]
    plain = PCA(3, svd_solver=solver, n_oversamples=1).fit(X)
    pca = PCA(3, svd_solver=solver, n_oversamples=1).fit(X * size)
    np.testing.assert_allclose(pca.singular_values_ / size, plain.singular_values_, rtol=1e-6)
    assert pca.certificate_.satisfied
    assert sine(pca.subspace_.axes, plain.subspace_.axes) < 1e-4


def test_a_start_orthogonal_to_the_target_finds_the_next_one_and_says_so():
    A = np.diag([5.0, 3.0, 1.0, 0.5])
    found = eigen(A, 1, solver="power", start=[0.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(found.values, [3.0])
    certificate = found.certificate
    assert certificate.satisfied  # it is an eigenpair …
    assert certificate.completeness == "not excluded"  # … but not the largest
    assert certificate.complete_to == 0
    assert certificate.value_bounds[0, 1] >= 5.0
    assert certificate.angle_bounds[0] == 1.0
    assert "may have been missed" in str(certificate)


def test_pca_warns_when_a_component_was_missed():
    X = np.r_[np.diag([5.0, 3.0, 1.0]), -np.diag([5.0, 3.0, 1.0])]
    with pytest.warns(AccuracyWarning, match="may have been missed"):
        PCA(1, svd_solver=solvers.Power(start=np.array([0.0, 1.0, 0.0]))).fit(X)


def test_a_tie_at_k_is_named():
    X = with_spectrum(50, 6, [4, 2, 2, 2, 1, 0.5], np.random.default_rng(1))
    for solver in SOLVERS:
        with pytest.warns(AccuracyWarning, match="not unique"):
            pca = PCA(2, svd_solver=solver).fit(X)
        certificate = pca.certificate_
        assert certificate.tie_at_k
        assert certificate.groups == ((0, 1), (1, 2))
        assert certificate.angle_bounds[0] < 1e-4
        assert certificate.angle_bounds[1] == 1
        assert certificate.complete_to == 1
        assert certificate.completeness == "proved"
        assert "not unique" in str(certificate)


@pytest.mark.parametrize(
    ("values", "k", "solver", "tie"),
    [
        (
            [2.0, 1.0, 1.0],
            2,
            "auto",
            "tie: PC2 and the next one cannot be told apart at this accuracy; their span is not unique",
        ),
        ([3.0, 2.0, 1.99999, 1.0], 2, solvers.Orthogonal(oversample=1, max_iter=20), None),  # the gap is proved
        (
            [3.0, 2.999, 1.0],
            1,
            solvers.Power(max_iter=20),
            "tie: PC1 and the next one cannot be told apart at this accuracy",
        ),
    ],
)
def test_a_span_is_called_not_unique_only_where_nothing_tells_the_values_apart(values, k, solver, tie):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found = eigen(np.diag(values), k, solver)
    said = [line for line in str(found.certificate).splitlines() if line.startswith("tie")]
    assert said == ([] if tie is None else [tie])
    assert [one.code for one in found.certificate.diagnostics()].count("tie") == (tie is not None)


def test_equal_eigenvalues_form_one_group_whose_span_is_certain():
    X = with_spectrum(50, 6, [4, 2, 2, 2, 1, 0.5], np.random.default_rng(1))
    axes = np.linalg.svd(X - X.mean(axis=0))[2]
    for solver in SOLVERS:
        pca = PCA(4, svd_solver=solver).fit(X)
        assert pca.certificate_.groups == ((0, 1), (1, 4))
        assert pca.certificate_.complete_to == 4
        assert sine(pca.subspace_.axes[:, 1:4], axes[1:4].T) <= pca.certificate_.angle_bounds[1] < 1e-4


def test_a_gap_of_1e_12_shows_in_the_angle_bound():
    X = with_spectrum(40, 5, np.sqrt([1 + 1e-12, 1, 0.3, 0.2, 0.1]), np.random.default_rng(2))
    pca = PCA(3, tol=0).fit(X)
    assert pca.certificate_.angle_bounds[0] > 1e-3 or pca.certificate_.groups[0] == (0, 2)
    assert pca.certificate_.angle_bounds[2] < 1e-10


def test_missing_knowledge_is_said():
    found = eigen(lambda V: np.diag([3.0, 2.0, 1.0]) @ V, 2, dim=3, solver="orthogonal")  # a block of all 3 columns
    assert found.certificate.completeness == "proved"
    narrow = eigen(lambda V: np.diag([3.0, 2.0, 1.0]) @ V, 1, dim=3, solver=solvers.Power())
    assert np.isinf(narrow.certificate.value_bounds[0, 1])
    assert narrow.certificate.angle_bounds[0] == 1
    assert narrow.certificate.completeness == "not excluded"


def test_the_text_is_readable():
    from sklearn.datasets import load_iris

    text = str(PCA(2).fit(load_iris().data).certificate_)
    assert text.splitlines()[0].startswith("accurate as asked: residual of every component at most")
    assert "± sampling" in text
    assert "no larger component was missed (proved)" in text


@pytest.mark.parametrize("tol", [1e-12, 1e-15])
def test_the_verdict_and_its_figure_agree(tol):
    """svd is judged by singular values, and so is the figure beside the verdict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        certificate = PCA(5, tol=tol).fit(np.random.default_rng(5).standard_normal((301, 160))).certificate_
    assert certificate.satisfied == (certificate.reached <= tol)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32), d=st.integers(2, 9), missing=st.sampled_from([0.0, 0.01, 0.2, 1.0]), data=st.data())
def test_bounds_of_a_matrix_that_lacks_a_positive_part(seed, d, missing, data):
    """A is diagonal, and the first m of its eigenpairs are known exactly."""
    rng = np.random.default_rng(seed)
    m = data.draw(st.integers(1, d))
    k = data.draw(st.integers(1, m))
    values = np.sort(rng.integers(0, 5, d) + rng.choice([0.0, 0.1], d))[::-1]
    Q = random_orthonormal(d, d, rng)
    lack = missing * rng.choice([0.0, 0.5, 1.0], d)
    truth, vectors = (part[..., ::-1] for part in np.linalg.eigh(np.diag(values) + (Q * lack) @ Q.T))
    seen = Evidence(values[:m], np.zeros(m), rounding=0.0, defect=0.0, exhausted=m == d, missing=missing)
    found, judge = bounds(seen, k, ceiling=values[m] if m < d else 0.0), 1e-13
    assert (found.lower <= truth[:k] + judge).all()
    assert (truth[:k] <= found.upper + judge).all()
    assert k == d or truth[k] <= found.following + judge
    for s, e in found.groups:
        assert sine(np.eye(d)[:, s:e], vectors[:, s:e]) <= found.angles[s] + judge
    assert np.linalg.norm(vectors[: found.complete_to, k:]) < 0.9 or not found.complete_to
