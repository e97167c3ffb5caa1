"""The estimator beyond its solvers: encoding, density, whitening, pickling, covariance input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA as Peer
from sklearn.pipeline import make_pipeline

import ritz
from helpers.matrices import SPECTRA, with_spectrum
from ritz import PCA, AccuracyWarning, CompressedSensing, KernelPCA, compare, eigen, solvers
from ritz.errors import DataError, ParameterError
from ritz.estimators import compressed_sensing, pca
from ritz.spectrum.subspace import Subspace

IRIS = load_iris().data
DIGITS = load_digits().data


@pytest.mark.parametrize("X", [IRIS, DIGITS, DIGITS[:40]], ids=["iris", "digits", "wide digits"])
@pytest.mark.parametrize("k", [1, 3, 0.9, None])
@pytest.mark.parametrize("whiten", [False, True])
def test_agrees_with_scikit_learn_where_scikit_learn_is_right(X, k, whiten):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        ours = PCA(k, whiten=whiten).fit(X)
    theirs = Peer(k, whiten=whiten, svd_solver="full").fit(X)
    assert ours.n_components_ == theirs.n_components_
    seen = ours.explained_variance_ > 0
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "noise_variance_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-9, err_msg=name)
    flip = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))[seen]
    np.testing.assert_allclose(ours.transform(X)[:, seen], theirs.transform(X)[:, seen] * flip, atol=1e-7)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-9
    )


def test_mle_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    few = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 10)) + 0.3 * rng.standard_normal((200, 10))
    for X in (IRIS, DIGITS, few):
        assert PCA("mle").fit(X).n_components_ == Peer("mle", svd_solver="full").fit(X).n_components_
    assert PCA("mle").fit(few).n_components_ == 3


def test_mle_with_equal_variances():
    X = with_spectrum(200, 10, [9, 8, 7, *np.full(7, 1.0)], np.random.default_rng(0))
    assert PCA("mle").fit(X).n_components_ == 3


@pytest.mark.parametrize("prep", [{}, {"scale": True}, {"center": False}, {"center": False, "scale": True}])
@pytest.mark.parametrize("ddof", [0, 1])
def test_total_error_measured_by_decoding_is_the_variance_left_out(prep, ddof):
    pca = PCA(2, ddof=ddof, **prep).fit(IRIS)
    Z = (IRIS - pca.mean_) / (1 if pca.scale_ is None else pca.scale_)
    decoded = (pca.inverse_transform(pca.transform(IRIS)) - pca.mean_) / (1 if pca.scale_ is None else pca.scale_)
    per_row = ((Z - decoded) ** 2).sum(axis=1)
    np.testing.assert_allclose(pca.reconstruction_error(IRIS), per_row, atol=1e-12)
    assert pca.subspace_.total_error == pytest.approx(per_row.sum(), rel=1e-10)
    everything = PCA(ddof=ddof, **prep).fit(IRIS)
    assert pca.subspace_.total_error == pytest.approx(
        (150 - ddof) * everything.explained_variance_[2:].sum(), rel=1e-10
    )
    if prep.get("scale") and prep.get("center", True):
        np.testing.assert_allclose(pca.scale_, IRIS.std(axis=0, ddof=ddof), rtol=1e-12)
        assert pca.total_variance_ == pytest.approx(4)


def test_the_error_of_a_point_on_the_subspace_keeps_its_digits():
    rng = np.random.default_rng(1)
    pca = PCA(2).fit(with_spectrum(50, 6, [100, 50, 1, 1, 1, 1], rng))
    on = pca.inverse_transform(np.array([[1e6, 2e5]]))
    step = 1e-3 * np.linalg.qr(np.c_[pca.components_.T, rng.standard_normal(6)])[0][:, 2]
    np.testing.assert_allclose(pca.reconstruction_error(on + step), [1e-6], rtol=1e-4)


def test_scores_are_uncorrelated_with_the_variances_as_eigenvalues():
    pca = PCA(scale=True).fit(IRIS)
    np.testing.assert_allclose(np.cov(pca.transform(IRIS).T), np.diag(pca.explained_variance_), atol=1e-12)


def test_the_best_subspaces_are_nested():
    small, large = PCA(2).fit(DIGITS), PCA(5).fit(DIGITS)
    np.testing.assert_allclose(small.components_, large.components_[:2], atol=1e-10)
    assert compare(small, large).max() < 1e-9


def test_loadings_are_correlations_when_scaled():
    pca = PCA(scale=True).fit(IRIS)
    scores = pca.transform(IRIS)
    correlations = np.corrcoef(IRIS.T, scores.T)[:4, 4:]
    np.testing.assert_allclose(pca.loadings_, correlations, atol=1e-12)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("k", [1, 3, 4])
def test_density_covariance_and_precision(k, scale, whiten):
    pca = PCA(k, scale=scale, whiten=whiten).fit(IRIS)
    covariance, precision = pca.get_covariance(), pca.get_precision()
    np.testing.assert_allclose(covariance @ precision, np.eye(4), atol=1e-9)
    truth = multivariate_normal(pca.mean_, covariance).logpdf(IRIS)
    np.testing.assert_allclose(pca.score_samples(IRIS), truth, rtol=1e-9)
    assert pca.score(IRIS) == pytest.approx(truth.mean())
    if k == 4:
        np.testing.assert_allclose(covariance, np.cov(IRIS.T), atol=1e-12)
    elif not scale:
        np.testing.assert_allclose(covariance, Peer(k).fit(IRIS).get_covariance(), atol=1e-12)
        np.testing.assert_allclose(pca.score(IRIS), Peer(k).fit(IRIS).score(IRIS), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
def test_density_of_rank_deficient_data():
    X = with_spectrum(40, 5, [3, 2, 0, 0, 0], np.random.default_rng(2), offset=4.0)
    for k in (2, 3):
        pca = PCA(k).fit(X)
        covariance, precision = pca.get_covariance(), pca.get_precision()
        np.testing.assert_allclose(covariance, np.cov(X.T), atol=1e-12)
        np.testing.assert_allclose(precision, np.linalg.pinv(covariance, rcond=1e-10), atol=1e-8)
        on, off = pca.score_samples(X), pca.score_samples(X + 1)
        plane = multivariate_normal(np.zeros(2), np.diag(pca.explained_variance_[:2])).logpdf(pca.transform(X)[:, :2])
        np.testing.assert_allclose(on, plane, rtol=1e-6)
        assert np.isneginf(off).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_centres_before_it_projects(dtype):
    X = (with_spectrum(100, 6, SPECTRA["gapped"](6), np.random.default_rng(3)) + 1e4).astype(dtype)
    pca = PCA(2).fit(X)
    truth = (X.astype(np.longdouble) - pca.mean_) @ pca.components_.T.astype(np.longdouble)
    np.testing.assert_allclose(
        pca.transform(X), truth.astype(float), atol=50 * np.finfo(dtype).eps * np.abs(truth).max()
    )


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), scale=st.booleans(), whiten=st.booleans(), center=st.booleans())
def test_encode_and_decode_are_inverse_on_the_subspace(seed, scale, whiten, center):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 5)) + 3
    pca = PCA(3, scale=scale, whiten=whiten, center=center).fit(X)
    Y = rng.standard_normal((7, 3))
    np.testing.assert_allclose(pca.transform(pca.inverse_transform(Y)), Y, atol=1e-8)
    full = PCA(scale=scale, whiten=whiten, center=center).fit(X)
    np.testing.assert_allclose(full.inverse_transform(full.transform(X)), X, atol=1e-9)


def test_the_minimum_is_a_minimum():
    """No other orthonormal U reconstructs better, and U·V with V orthogonal reconstructs equally well."""
    rng = np.random.default_rng(4)
    Z = IRIS - IRIS.mean(axis=0)
    best = PCA(2).fit(IRIS).reconstruction_error(IRIS).sum()
    for _ in range(200):
        U = np.linalg.qr(rng.standard_normal((4, 2)))[0]
        assert ((Z - Z @ U @ U.T) ** 2).sum() >= best


@pytest.mark.parametrize("n_rows", [None, 150])
@pytest.mark.parametrize(
    "parameters", [{}, {"scale": True}, {"n_components": 2}, {"n_components": 0.9}, {"svd_solver": "power"}]
)
def test_from_covariance_equals_the_fit(n_rows, parameters):
    model = PCA.from_covariance(np.cov(IRIS.T), mean=IRIS.mean(axis=0), n_rows=n_rows, **parameters)
    fit = PCA(**parameters).fit(IRIS)
    np.testing.assert_allclose(model.explained_variance_, fit.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(model.transform(IRIS), fit.transform(IRIS), atol=1e-4)
    if n_rows:
        np.testing.assert_allclose(model.singular_values_, fit.singular_values_, rtol=1e-9)
    else:
        with pytest.raises(AttributeError, match="n_rows"):
            _ = model.singular_values_


@pytest.mark.parametrize(
    ("C", "match"),
    [
        ([[1.0, 2.0], [0.0, 1.0]], r"max\|A - A.T\| = 2"),
        ([[1.0, 0.0], [0.0, -1.0]], "eigenvalue of at most -1"),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "square"),
        ([[1.0, np.nan], [np.nan, 1.0]], "NaN"),
    ],
)
def test_covariances_that_are_none(C, match):
    with pytest.raises(DataError, match=match):
        PCA.from_covariance(C)
    with pytest.raises(DataError, match=match):
        eigen(np.array(C), 1)


def test_eigen_of_matrix_operator_and_function_agree():
    from scipy.sparse.linalg import aslinearoperator

    A = np.cov(DIGITS.T)
    dense = eigen(A, 3)
    truth = np.linalg.eigvalsh(A)[::-1][:3]
    np.testing.assert_allclose(dense.values, truth, rtol=1e-12)
    for other in (
        eigen(aslinearoperator(A), 3),
        eigen(lambda V: A @ V, 3, dim=64),
        eigen(A, 3, solver="power", tol=1e-8),
        eigen(A, 3, solver=solvers.Orthogonal(oversample=4)),
        eigen(A, 3, solver="krylov"),
        eigen(lambda V: A @ V, 3, dim=64, solver=solvers.Krylov(oversample=4)),
    ):
        np.testing.assert_allclose(other.values, truth, rtol=1e-9)
        assert compare(dense, other).max() < 1e-4
        assert other.certificate.satisfied
        assert other.history


def test_eigen_obeys_max_iter_and_start():
    A = np.diag([3.0, 2.99, 1.0])
    with pytest.warns(AccuracyWarning, match="eigengap"):
        assert len(eigen(A, 1, solver="power", max_iter=7).history) == 7
    assert len(eigen(A, 1, solver="power", start=[1.0, 0, 0]).history) <= 2
    with pytest.raises(DataError, match="start has 2 rows"):
        eigen(A, 1, solver="power", start=[1.0, 0])
    with pytest.raises(ValueError, match="between 1 and 3"):
        eigen(A, 4)
    with pytest.raises(ValueError, match="pass dim"):
        eigen(lambda V: V, 1)
    with pytest.raises(ValueError, match="needs rows"):
        eigen(A, 1, solver="svd")
    with pytest.raises(ValueError, match="Covariance has no option max_iter"):
        eigen(A, 1, solver="covariance", max_iter=3)


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-90, 1e156, 1e200, 1e300])
@pytest.mark.parametrize("solver", ["auto", "power", "orthogonal", "krylov"])
def test_eigen_of_matrices_of_any_size(size, solver):
    A = np.diag([5.0, 3.0, 1.0, 0.5])
    for matrix in (A * size, lambda V: (A @ V) * size):
        found = eigen(matrix, 2, solver=solver, dim=4)
        np.testing.assert_allclose(found.values / size, [5, 3], rtol=1e-9)
        assert found.certificate.satisfied
        assert (found.certificate.value_bounds[:, 0] / size <= [5 + 1e-9, 3 + 1e-9]).all()
    model = PCA.from_covariance(A * size, n_components=2)
    np.testing.assert_allclose(model.explained_variance_ / size, [5, 3])


@pytest.mark.parametrize("A", [-np.eye(3), np.diag([1.0, -5.0, 0.5])])
def test_products_that_are_not_positive_are_errors(A):
    with pytest.raises(DataError, match="none below 0"):
        eigen(lambda V: A @ V, 1, dim=3)


def test_a_product_that_works_in_place_does_no_harm():
    A = np.diag([5.0, 3, 1, 0.5, 0.2, 0.1])

    def product(V):
        V[...] = A @ V
        return V

    np.testing.assert_allclose(eigen(product, 2, dim=6).values, [5, 3])


def test_slightly_indefinite_matrices_get_bounds_that_hold():
    found = eigen(np.diag([1.0, 1.0, -2e-10]), 3)
    assert found.certificate.value_bounds[2, 0] <= -2e-10
    hidden = np.diag([1.0, 9e-9, 1e-9] + [-9e-11] * 97)
    missed = eigen(hidden, 2, solver="power", start=np.eye(100)[:, [0, 2]])
    assert missed.certificate.value_bounds[1, 1] >= 9e-9


def test_from_covariance_refuses_what_does_not_fit_together():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="pass n_rows"):
        PCA.from_covariance(np.eye(2), n_components="mle")
    with pytest.raises(ValueError, match="center=False"):
        PCA.from_covariance(np.eye(2), mean=[1, 2], center=False)
    with pytest.raises(DataError, match="different orders"):
        PCA.from_covariance(pd.DataFrame(np.eye(2), index=["a", "b"], columns=["b", "a"]))
    with pytest.raises(ValueError, match="needs the rows"):
        PCA.from_covariance(np.eye(2), svd_solver="gram")


@pytest.mark.parametrize("n_rows", [0, 1, -3, 2.5])
def test_from_covariance_checks_the_number_of_rows(n_rows):
    with pytest.raises(ValueError, match="n_rows"):
        PCA.from_covariance(np.eye(2), n_rows=n_rows)


def test_compare_sees_small_angles():
    for angle in (1e-12, 1e-3, 1.0, np.pi / 2):
        a, b = np.array([[1.0], [0.0], [0.0]]), np.array([[np.cos(angle)], [np.sin(angle)], [0.0]])
        assert compare(a, b)[0] == pytest.approx(angle, rel=1e-9)
    with pytest.raises(DataError, match="dimensions"):
        compare(np.eye(3), np.eye(2))


def test_subspace_checks_its_invariants():
    axes = np.eye(3)[:, :2]
    Subspace(axes.copy(), np.array([2.0, 1.0]))
    for wrong in (
        {"axes": 2 * axes, "variances": np.array([2.0, 1.0])},
        {"axes": axes.copy(), "variances": np.array([1.0, 2.0])},
        {"axes": axes.copy(), "variances": np.array([1.0])},
        {"axes": axes.copy(), "variances": np.array([2.0, -1.0])},
        {"axes": axes.copy(), "variances": np.array([2.0, 1.0]), "mean": np.zeros(2)},
        {"axes": axes.copy(), "variances": np.array([2.0, 1.0]), "scale": np.zeros(3)},
    ):
        with pytest.raises(DataError):
            Subspace(**wrong)
    with pytest.raises(ValueError, match="read-only"):
        PCA(2).fit(IRIS).subspace_.axes[0, 0] = 1.0


def test_pipelines_clones_pickles_and_feature_names():
    pca = PCA(2, svd_solver=solvers.Power(max_iter=77)).fit(IRIS)
    copy = pickle.loads(pickle.dumps(pca))
    np.testing.assert_array_equal(copy.transform(IRIS), pca.transform(IRIS))
    assert str(copy.certificate_) == str(pca.certificate_)
    assert clone(pca).svd_solver.max_iter == 77
    assert list(pca.get_feature_names_out()) == ["pca0", "pca1"]
    scores = make_pipeline(PCA(3), PCA(2)).fit_transform(IRIS)
    np.testing.assert_allclose(np.abs(scores), np.abs(PCA(2).fit_transform(IRIS)), atol=1e-9)


def test_refitting_forgets_the_old_fit():
    wide = np.random.default_rng(0).standard_normal((10, 30))
    pca = PCA(2, svd_solver="gram").fit(wide)
    assert pca.dual_components_.shape == (10, 2)
    pca.set_params(svd_solver="svd").fit(wide)
    assert not hasattr(pca, "dual_components_")


def test_plan_says_what_fit_does():
    X = np.random.default_rng(0).standard_normal((3000, 20))
    plan = ritz.plan(X, 5)
    assert plan == PCA(5).fit(X).plan_
    assert (plan.solver, plan.side) == ("covariance", "covariance")
    assert ritz.plan(X.T, 5).solver == "gram"
    tight = ritz.plan(np.zeros((3000, 2000)), 5, memory_limit="60MB")
    assert tight.solver == "krylov"
    assert "more than the 60.0 MB allowed" in str(tight)
    assert "covariance" in str(plan)


def test_a_tight_memory_limit_walks_the_rows_again_and_again():
    X = with_spectrum(600, 510, 2.0 ** -np.arange(510), np.random.default_rng(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # without the matrix, completeness rests on the trace
        pca = PCA(3, memory_limit="10MB").fit(X)
    assert pca.plan_.solver == "krylov"
    assert not pca.plan_.dense
    assert pca.certificate_.passes > 3
    assert compare(pca, PCA(3).fit(X)).max() < 1e-5


def test_verbose_speaks_on_stderr(capsys):
    PCA(2, verbose=True).fit(IRIS)
    out, err = capsys.readouterr()
    assert out == ""
    assert "svd: 1 pass" in err
    assert "accurate as asked" in err


def test_an_unfitted_model_says_so():
    from sklearn.exceptions import NotFittedError

    for call in ("transform", "inverse_transform", "reconstruction_error", "score", "score_samples"):
        with pytest.raises(NotFittedError):
            getattr(PCA(), call)(IRIS)
    for name in ("loadings_", "singular_values_", "components_"):
        with pytest.raises(AttributeError, match="has no attribute"):
            getattr(PCA(), name)
    with pytest.raises(DataError, match="not fitted"):
        compare(PCA(), PCA())


def test_numpy_scalars_are_numbers_of_components():
    assert PCA(np.float32(0.5)).fit(DIGITS).n_components_ == PCA(0.5).fit(DIGITS).n_components_
    assert PCA(np.int64(3)).fit(DIGITS).n_components_ == 3
    assert ritz.plan(DIGITS, np.int64(3)) == ritz.plan(DIGITS, 3)
    with pytest.raises(ValueError, match="must be between 1"):
        ritz.plan(DIGITS, 1000)


@pytest.mark.parametrize("state", [3, np.random.RandomState(3), np.random.default_rng(3)])
def test_random_states(state):
    pca = PCA(2, svd_solver="orthogonal", random_state=state).fit(IRIS)
    np.testing.assert_allclose(pca.explained_variance_, PCA(2).fit(IRIS).explained_variance_, rtol=1e-9)


def test_verbose_does_not_change_the_answer():
    def fit(verbose):
        pca = PCA(3, svd_solver="power", iterated_power=5, random_state=np.random.RandomState(0), verbose=verbose)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            return pca.fit(DIGITS).components_

    np.testing.assert_array_equal(fit(False), fit(True))


def test_memory_that_cannot_be_kept_is_an_error():
    for solver in ("auto", "covariance", "svd"):
        with pytest.raises(ValueError, match=r"memory_limit of 1.0 kB is too small: \w+ needs"):
            PCA(2, svd_solver=solver, memory_limit="1kB").fit(DIGITS)


def test_a_solver_gets_the_side_it_asks_for():
    seen = []

    class Curious(solvers.Gram):
        def basis(self, A, k, *, tol, rng):
            seen.append(A.dim)
            return super().basis(A, k, tol=tol, rng=rng)

    PCA(2, svd_solver=Curious()).fit(IRIS)
    assert seen == [150]


@pytest.mark.parametrize("options", [{"max_iter": 0}, {"max_iter": 2.5}, {"change": -1}, {"change": 1}])
@pytest.mark.parametrize("kind", [solvers.Power, solvers.Orthogonal])
def test_solver_options_are_checked(kind, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        kind(**options)


@pytest.mark.parametrize("options", [{"max_iter": 0}, {"max_iter": 2.5}, {"oversample": -1}, {"oversample": True}])
def test_options_of_krylov_are_checked(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        solvers.Krylov(**options)


def test_the_certificate_counts_all_passes():
    X = with_spectrum(2000, 8, 1e-9 ** (np.arange(8) / 7), np.random.default_rng(7))
    pca = PCA(7, tol=1e-6).fit(X)
    assert pca.plan_.solver == "svd"
    assert pca.certificate_.passes == 2  # the moments are not walked again


def test_the_variance_left_out_is_never_lost_in_rounding():
    X = np.random.default_rng(0).standard_normal((2000, 5)) * [3e6, 2e6, 1e6, 0.5, 0.4]
    pca, peer = PCA(3).fit(X), Peer(3, svd_solver="full").fit(X)
    assert pca.noise_variance_ == pytest.approx(peer.noise_variance_, rel=1e-6)
    assert pca.subspace_.total_error == pytest.approx(pca.reconstruction_error(X).sum(), rel=1e-3)
    assert pca.score(X) == pytest.approx(peer.score(X), rel=1e-6)


def test_constant_columns_do_not_send_auto_to_svd():
    X = np.column_stack([np.random.default_rng(0).standard_normal((3000, 20)), np.full(3000, 7.0)])
    with pytest.warns(AccuracyWarning, match="rank 20"):
        pca = PCA().fit(X)
    assert pca.plan_.solver == "covariance"


def test_warnings_as_errors_leave_the_old_state():
    pca = PCA(2).fit(IRIS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)
        with pytest.raises(AccuracyWarning):
            pca.set_params(n_components=3).fit(np.diag([1.0, 1.0, 1.0, 1.0, 1.0]))
    assert pca.n_components_ == 2
    assert pca.n_features_in_ == 4


def test_inverse_transform_refuses_nan_and_other_widths():
    pca = PCA(2).fit(IRIS)
    with pytest.raises(DataError, match="1 NaN, first at row 0, column 1"):
        pca.inverse_transform([[1.0, np.nan]])
    with pytest.raises(DataError, match="2 components"):
        pca.inverse_transform([[1.0, 2.0, 3.0]])


def test_a_collinear_column_is_reported_when_all_components_are_asked_for():
    X = np.random.default_rng(0).standard_normal((3000, 4))
    with pytest.warns(AccuracyWarning, match="rank 4"):
        PCA().fit(np.column_stack([X, X.sum(axis=1)]))


@pytest.mark.parametrize("model", [PCA(2), KernelPCA(2), CompressedSensing(2)], ids=lambda model: type(model).__name__)
def test_names_of_scores_compare_the_columns_that_are_given(model):
    table = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 3)), columns=["a", "b", "c"])
    named, nameless = clone(model).fit(table), clone(model).fit(table.to_numpy())
    assert list(named.get_feature_names_out(["a", "b", "c"])) == list(nameless.get_feature_names_out())
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        named.get_feature_names_out(["a", "c", "b"])
    with pytest.raises(ValueError, match=r"number of features \(3\), got 1"):
        nameless.get_feature_names_out(["a"])


@pytest.mark.parametrize("model", [PCA(1, tol=None), KernelPCA(1, tol=None)], ids=["PCA", "KernelPCA"])
def test_without_a_tol_the_way_leads_to_eigen(model):
    """Whose call, as the message has it, does what was wanted."""
    with pytest.raises(
        ParameterError, match=r"tol=None must be a number .* call ritz\.eigen\(matrix, k, 'power', tol=None\)"
    ):
        model.fit(IRIS)
    found = eigen(np.cov(IRIS.T), 1, "power", tol=None)
    np.testing.assert_allclose(found.values, PCA(1).fit(IRIS).explained_variance_, rtol=1e-6)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e6])
def test_scores_do_not_depend_on_how_rows_lie_in_memory(offset, whiten):
    """Rows with gaps between them are multiplied as they are, others are copied: to the same bits."""
    X = np.random.default_rng(0).standard_normal((500, 12)) * np.arange(12, 0, -1) + offset
    model = PCA(4, whiten=whiten).fit(X)
    wide, backwards = np.zeros((500, 30)), X[::-1].copy()[::-1]
    wide[:, 3:15] = X
    packed = np.zeros(500, [("tag", "u1"), ("row", float, 12)])  # rows an odd number of bytes apart
    packed["row"] = X
    scores = model.transform(X)
    for name, rows in {
        "gaps": wide[:, 3:15],
        "every other row": np.repeat(X, 2, axis=0)[::2],
        "columns": np.asfortranarray(X),
        "every other column": np.repeat(X, 2, axis=1)[:, ::2],
        "backwards": backwards,
        "odd": packed["row"],
    }.items():
        np.testing.assert_array_equal(model.transform(rows), scores, err_msg=name)
        np.testing.assert_array_equal(PCA(4, whiten=whiten).fit(rows).components_, model.components_, err_msg=name)


@pytest.mark.parametrize(("kind", "module"), [(PCA, pca), (CompressedSensing, compressed_sensing)])
def test_defaults_obey_the_rules_that_they_are_not_held_against(kind, module):
    defaults = {name: getattr(kind, name) for name in module.RULES if hasattr(kind, name)}
    assert len(defaults) >= len(module.RULES) - 1  # the number of measurements has none
    for name, default in defaults.items():
        module.RULES[name].check(name, default)


@pytest.mark.parametrize("parameters", [{}, {"scale": True}, {"whiten": True}])
def test_a_model_is_the_same_before_and_after_it_is_used(parameters):
    """Caches of models, such as joblib's, tell models apart by their state."""
    X = np.random.default_rng(0).standard_normal((60, 5)) * [5, 4, 3, 2, 1] + 1
    model = PCA(2, **parameters).fit(X)
    before = pickle.dumps(model)
    model.inverse_transform(model.transform(X))
    _ = model.score(X), model.reconstruction_error(X), str(model.certificate_)
    assert pickle.dumps(model) == before


def test_a_fit_may_be_made_of_the_results_of_a_pass():
    X = np.random.default_rng(0).standard_normal((30_000, 40))
    model, found = PCA(5, memory_limit="1MB").fit(X), []
    model.transform(X, out=lambda scores: found.append(PCA(2).fit(scores).explained_variance_))
    assert len(found) > 1
    assert all(values.shape == (2,) for values in found)
