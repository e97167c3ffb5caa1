"""Numbers from one end of float64, and float32, to the other: power-of-two scaling is exact, so it must not matter."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from helpers.matrices import preprocess
from helpers.memory import traced
from ritz import PCA, AccuracyWarning, CompressedSensing, DataError, KernelPCA, eigen, load, merge
from ritz.errors import NotYetError

POWERS = [-1072, -1062, -1030, -664, 531, 1000]  # 2⁻¹⁰⁷² is about 2e-323, a few steps from 0
SOLVERS = ["auto", "covariance", "gram", "svd", "power", "orthogonal", "krylov"]
RNG = np.random.default_rng(0)
PLAIN = RNG.standard_normal((40, 5)) * [9, 4, 2, 1, 0.5] + [3, 0, -1, 0, 0]


@pytest.fixture(autouse=True)
def _no_warnings_of_numpy():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def at(power, X=PLAIN, dtype=np.float64):
    """X·2^power as it is stored, and what that is, times 2^-power."""
    stored = np.ldexp(X, power).astype(dtype)
    return stored, np.ldexp(stored.astype(float), -power)


def spectrum_of(X, center):
    Z = preprocess(X, center)
    values, vectors = np.linalg.eigh((Z.T @ Z / (len(X) - 1)).astype(float))
    return values[::-1], vectors[:, ::-1]


def up(values, power):
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, power)


def check_certificate(pca, X, center, power):
    """Bounds against the spectrum of the same numbers in an ordinary range."""
    values, V = spectrum_of(X, center)
    certificate, k = pca.certificate_, pca.n_components_
    low, high = certificate.value_bounds.T
    assert (low <= up(values[:k] * (1 + 1e-12), 2 * power)).all()
    assert (high >= up(values[:k] * (1 - 1e-12), 2 * power)).all()
    for i, (s, e) in enumerate(certificate.groups):
        assert (s, e) == (i, i + 1)
        sine = np.linalg.norm(pca.subspace_.axes[:, i] - V[:, i] * (V[:, i] @ pca.subspace_.axes[:, i]))
        assert sine <= certificate.angle_bounds[i] + 1e-13
    assert not np.isnan(certificate.residuals).any()


@pytest.mark.parametrize(
    ("solver", "center", "power"),
    [
        *(("auto", center, power) for power in POWERS for center in (True, False)),
        *((solver, i % 2 == 0, power) for power in (-1062, -664, 1000) for i, solver in enumerate(SOLVERS[1:])),
    ],
)
def test_a_power_of_two_changes_nothing(solver, center, power):
    stored, X = at(power)
    options = {"svd_solver": solver, "center": center, "tol": 1e-10 if solver in SOLVERS[4:] else 1e-6}
    pca, plain = PCA(3, **options).fit(stored), PCA(3, **options).fit(X)
    check_certificate(pca, X, center, power)
    np.testing.assert_allclose(pca.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-9)
    step = 2.0**-1074  # between neighbours at the lower end
    np.testing.assert_allclose(pca.singular_values_, up(plain.singular_values_, power), rtol=1e-9, atol=step)
    scores = plain.transform(X)
    np.testing.assert_allclose(up(pca.transform(stored), -power), scores, rtol=1e-6, atol=1e-6 + up(step, -power))
    np.testing.assert_allclose(pca.score_samples(stored), plain.score_samples(X) - 5 * power * np.log(2), rtol=1e-6)
    np.testing.assert_allclose(pca.mean_, up(plain.mean_, power), rtol=1e-12, atol=step)
    for name, factor in (("get_covariance", 2), ("get_precision", -2)):
        there, here = getattr(pca, name)(), up(getattr(plain, name)(), factor * power)
        np.testing.assert_allclose(there, here, rtol=1e-6, atol=step + 1e-6 * np.abs(here).max())
    errors = up(plain.reconstruction_error(X), 2 * power)
    np.testing.assert_allclose(pca.reconstruction_error(stored), errors, rtol=1e-6, atol=step)


@pytest.mark.parametrize("power", POWERS)
def test_whitened_scores_and_models_in_files(power, tmp_path):
    stored, X = at(power)
    plain = PCA(3, whiten=True).fit(X)
    for rows in (stored, scipy.sparse.csr_array(stored)):
        pca = PCA(3, whiten=True).fit(rows)
        Y = pca.transform(rows)
        np.testing.assert_allclose(Y, plain.transform(X), atol=1e-9)
        back = up(plain.inverse_transform(plain.transform(X)), power)
        np.testing.assert_allclose(pca.inverse_transform(Y), back, rtol=1e-9, atol=2.0**-1073 + up(1e-9, power))
        pca.save(tmp_path / "model.safetensors")
        again = load(tmp_path / "model.safetensors")
        np.testing.assert_array_equal(again.transform(rows), Y)
        np.testing.assert_array_equal(again.score_samples(rows), pca.score_samples(rows))


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("n_components", [0.9, "mle", "auto"])
def test_numbers_of_components(power, n_components):
    X = PLAIN[:, :1] @ np.ones((1, 5)) + 0.1 * PLAIN  # one component above noise
    stored, X = at(power, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pca, plain = PCA(n_components).fit(stored), PCA(n_components).fit(X)
    assert pca.n_components_ == plain.n_components_
    if n_components == "auto":
        assert pca.rank_choice_.above == plain.rank_choice_.above == 1


@pytest.mark.parametrize("power", [-148, -133, -100, 66, 100, 122])
@pytest.mark.parametrize("options", [{}, {"scale": True}, {"whiten": True}], ids=str)
def test_float32_from_end_to_end(power, options):
    X = np.round(8 * PLAIN) if power == -148 else PLAIN
    stored, X = at(power, X, np.float32)
    pca, plain = PCA(3, **options).fit(stored), PCA(3, **options).fit(X)
    own = 0 if "scale" in options else power
    np.testing.assert_allclose(pca.explained_variance_, up(plain.explained_variance_, 2 * own), rtol=1e-6)
    np.testing.assert_allclose(pca.loadings_, up(plain.loadings_, own), rtol=1e-4, atol=1e-6 * 2.0**own)
    first, last = map(float, pca.explained_variance_[[0, -1]])
    inside = last > 2.0**-126 and first < 2.0**128
    assert pca.explained_variance_.dtype == (np.float32 if inside else np.float64)
    assert pca.components_.dtype == np.float32
    Y = pca.transform(stored)
    assert Y.dtype == np.float32
    free = 0 if options else power
    step = 0 if options else 2.0**-149
    np.testing.assert_allclose(Y, up(plain.transform(X), free), rtol=1e-4, atol=1e-5 * 2.0**free + step)
    back = up(plain.inverse_transform(plain.transform(X)), power)
    np.testing.assert_allclose(pca.inverse_transform(Y), back, rtol=1e-4, atol=1e-5 * 2.0**power + 9 * step + 2.0**-149)


def test_scores_too_large_for_float32_are_said_to_be():
    X = np.full((4, 9), 3e38, np.float32) * np.array([[1], [-1], [0.5], [0]], np.float32)
    pca = PCA(1).fit(X)
    with pytest.warns(AccuracyWarning, match="beyond the range of float32"):
        assert np.isinf(pca.transform(X)[0, 0])
    np.testing.assert_allclose(np.abs(pca.transform(X.astype(float))[0]), 3 * 3e38 * 0.875, rtol=1e-6)


@pytest.mark.parametrize("solver", ["auto", "svd"])
@pytest.mark.parametrize("powers", [[531, 0, 0, 0, 0], [-531, 0, 0, 531, 0], [-1000, 0, 200, 664, 1000]], ids=str)
def test_single_rows_with_columns_of_any_size(solver, powers):
    stored = np.ldexp(PLAIN, powers)
    pca, plain = PCA(3, scale=True, svd_solver=solver), PCA(3, scale=True, svd_solver=solver).fit(PLAIN)
    for row in stored:
        pca.partial_fit(row[None])
    np.testing.assert_allclose(pca.explained_variance_, plain.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(pca.transform(stored), plain.transform(PLAIN), atol=1e-9)
    logs = plain.score(PLAIN) - sum(powers) * np.log(2)
    np.testing.assert_allclose(pca.score(stored), logs, rtol=1e-9)
    assert not np.isnan(pca.get_covariance()).any()
    assert not np.isnan(pca.get_precision()).any()


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_batches_and_merges_at_any_size(power, solver):
    stored, X = at(power)
    streamed, parts = PCA(2, svd_solver=solver), np.split(stored, [1, 2, 10, 11])
    for part in parts:
        streamed.partial_fit(part)
    for pca in (streamed, merge([PCA(2, svd_solver=solver).partial_fit(part) for part in parts])):
        check_certificate(pca, X, True, power)
        scores = PCA(2, svd_solver="svd", whiten=True).fit(X).transform(X)
        np.testing.assert_allclose(pca.set_params(whiten=True).transform(stored), scores, atol=1e-9)


@pytest.mark.parametrize("powers", [(-1060, 0), (-531, 531), (531, -531), (-1060, 1000), (0, 1000)])
@pytest.mark.parametrize("scale", [True, False])
def test_batches_of_very_different_sizes(powers, scale):
    parts = [np.ldexp(PLAIN[:3], powers[0]), np.ldexp(PLAIN[3:9], powers[1])]
    whole = np.ldexp(np.concatenate(parts), -max(powers))
    pca = PCA(1, scale=scale).partial_fit(parts[0]).partial_fit(parts[1])
    np.testing.assert_allclose(
        pca.explained_variance_ratio_, PCA(1, scale=scale).fit(whole).explained_variance_ratio_, rtol=1e-9
    )


@pytest.mark.parametrize("power", POWERS)
def test_sketches(power):
    X = RNG.standard_normal((90, 60)) * np.linspace(3, 1, 60)
    stored, X = at(power, X)
    models = []
    for rows in (stored, X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            pca = PCA(2, memory_limit=150_000)
            for part in np.split(rows, [1, 40, 70]):
                pca.partial_fit(part)
            assert pca.certificate_.missing >= 0
        models.append(pca)
    np.testing.assert_allclose(models[0].explained_variance_ratio_, models[1].explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(models[0].score(stored), models[1].score(X) - 60 * power * np.log(2), rtol=1e-9)


@pytest.mark.parametrize("constant", [0.0, 1.0, 1e300, 5e-324])
@pytest.mark.parametrize("power", [-1060, -664, 0])
def test_constant_columns_do_not_decide_about_the_unit(constant, power):
    stored, X = at(power)
    pca = PCA(2).fit(np.column_stack([stored, np.full(len(stored), constant)]))
    np.testing.assert_allclose(pca.explained_variance_ratio_, PCA(2).fit(X).explained_variance_ratio_, rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"whiten": True}, {"center": False}], ids=str)
@pytest.mark.parametrize("power", [-1070, -1030, -600, 600, 1000, 1018])
def test_rows_of_any_size_with_an_ordinary_model(options, power):
    pca = PCA(2, **options).fit(PLAIN)
    rows = np.ldexp(RNG.standard_normal((4, 5)), power)
    scores = exact_scores(pca, rows, "whiten" in options)
    np.testing.assert_allclose(pca.transform(rows), scores, rtol=1e-11, atol=5e-324)
    errors = pca.reconstruction_error(rows)
    assert not np.isnan(errors).any()
    assert (errors == np.inf).all() if power > 511 else np.isfinite(errors).all()
    likelihood = pca.score_samples(rows)
    assert (likelihood == -np.inf).all() if power > 511 else np.isfinite(likelihood).all()
    assert not np.isnan(pca.inverse_transform(rows[:, :2])).any()


def exact_scores(pca, rows, whiten):
    """By fractions; infinite where float64 has no number."""
    model = pca.subspace_
    mean = np.zeros(5) if model.mean is None else model.mean
    scale = np.ones(5) if model.scale is None else model.scale
    out = np.empty((len(rows), 2))
    for i, row in enumerate(rows):
        z = [(Fraction(x) - Fraction(m)) / Fraction(s) for x, m, s in zip(row, mean, scale, strict=True)]
        for j, axis in enumerate(model.axes.T):
            score = sum(a * Fraction(u) for a, u in zip(z, axis, strict=True))
            score /= Fraction(model.deviations[j]) if whiten else 1
            out[i, j] = float(score) if abs(score) < 2**1024 else np.inf * (1 if score > 0 else -1)
    return out


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("options", [{}, {"n_landmarks": 6}], ids=str)
def test_kernels_that_know_no_size(power, kernel, options):
    stored, X = at(power)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found, plain = (KernelPCA(2, kernel=kernel, **options).fit(rows) for rows in (stored, X))
    own = power if kernel == "linear" else 0
    np.testing.assert_allclose(found.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-7)
    np.testing.assert_allclose(found.eigenvalues_, up(plain.eigenvalues_, 2 * own), rtol=1e-7, atol=5e-324)
    scores = up(plain.transform(X), own)
    np.testing.assert_allclose(found.transform(stored), scores, rtol=1e-6, atol=9e-324 + 1e-6 * np.abs(scores).max())


@pytest.mark.parametrize("power", [-1060, -1000, 1000])
@pytest.mark.parametrize("product", [True, False])
def test_matrices_of_any_size(power, product):
    A = np.ldexp(PLAIN.T @ PLAIN / 40, power)
    plain = np.ldexp(A, -power)
    values, V = np.linalg.eigh(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # a product that rounds to a few steps says so
        found = eigen((lambda B: A @ B) if product else A, 1, dim=5, solver="krylov" if product else "auto")
    u = found.vectors[:, 0]
    assert np.linalg.norm(u - V[:, -1] * (V[:, -1] @ u)) <= found.certificate.angle_bounds[0] + 1e-13
    low, high = found.certificate.value_bounds[0]
    assert low <= np.ldexp(values[-1] * (1 + 1e-12), power)
    assert np.ldexp(values[-1] * (1 - 1e-12), power) <= high
    model = PCA.from_covariance(A, n_components=2, n_rows=40)
    x = np.ldexp(PLAIN, power // 2)
    expected = PCA.from_covariance(plain, n_components=2, n_rows=40).score_samples(PLAIN) - 5 * (power / 2) * np.log(2)
    np.testing.assert_allclose(model.score_samples(x), expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_errors_of_signals_of_any_size(size):
    X = np.cos(np.outer([3, 5], 2 * np.arange(64) + 1) * np.pi / 128)  # one cosine each
    assert not np.isnan(CompressedSensing(32).fit(X).reconstruction_error(X * size)).any()


def test_errors_name_the_column_or_the_parameter():
    stored = PLAIN * 1e-310
    with pytest.raises(
        DataError, match=r"scale=True, but the standard deviation of column 0 is \de-310, .*; multiply the column"
    ):
        PCA(scale=True).fit(stored)
    with pytest.raises(
        DataError, match=r"scale=True, but the standard deviation of column 1 is \de[+-]\d+, .*; multiply the column"
    ):
        PCA(scale=True).fit([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0], [3.0, 0.0], [0.0, 5e-324]])
    with pytest.raises(
        DataError, match="scale=True, but the standard deviation of column 0 exceeds the range of float64"
    ):
        PCA(center=False, scale=True).fit([[1.7e308, 1.0], [1.7e308, 2.0]])
    far = PCA(1).partial_fit([[1.7e308, 1.0]])
    with pytest.raises(DataError, match="differences between entries overflow float64 in column 0"):
        far.partial_fit([[-1.7e308, 2.0]])
    with pytest.raises(DataError, match="in column 1; divide"):
        PCA(1).fit(np.array([[0.0, 1.7e308], [1.0, -1.7e308], [2.0, 1.7e308]]))
    with pytest.raises(NotYetError, match="standard deviation of column"):
        PCA(1, scale=True).partial_fit(stored[:3]).components_  # noqa: B018
    with pytest.raises(DataError, match="gamma='median' is inf for these rows"):
        KernelPCA(kernel="rbf", gamma="median").fit(PLAIN * 1e-200)
    with pytest.raises(DataError, match="gamma='scale' is 0 for these rows"):
        KernelPCA(kernel="rbf", gamma="scale").fit(PLAIN * 1e200)
    with pytest.raises(DataError, match="kernel='poly' underflows"):
        KernelPCA(kernel="poly", coef0=0).fit(PLAIN * 1e-200)


def test_independent_columns_are_noise_to_auto():
    X = np.random.default_rng(3).standard_normal((300, 4)) * [20, 5, 2, 1]
    with pytest.warns(
        AccuracyWarning, match=r"independent of each other are noise to this rule.*n_components=2.*scale=T"
    ):
        pca = PCA("auto").fit(X)
    assert "however unequal their variances" in str(pca.rank_choice_)
    with pytest.warns(AccuracyWarning) as said:
        PCA("auto", scale=True).fit(X)
    assert "scale=True" not in str(said[0].message)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e300])
@pytest.mark.parametrize("noise", [None, 0.1])
def test_measurements_of_any_size(size, noise):
    """Rounded to the numbers there are, and no further; where the noise is larger nothing comes back."""
    X = np.cos(np.outer([3, 5], 2 * np.arange(64) + 1) * np.pi / 128) * size
    sensing = CompressedSensing(32, noise=noise).fit(X)
    Y = sensing.transform(X)
    np.testing.assert_allclose(Y / size, sensing.transform(X / size), atol=1e-12 + 5e-324 / size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found = sensing.inverse_transform(Y)
    if noise and size < 1:
        assert not found.any()
    else:
        np.testing.assert_allclose(found / size, X / size, atol=1e-6 + 1e-323 / size)


@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_sparse_entries_too_far_apart(solver):
    X = scipy.sparse.csr_array(np.array([[1.7e308, 1.0], [-1.7e308, 2.0], [1.7e308, 0.0]]))
    with pytest.raises(DataError, match="differences between entries overflow float64 in column 0"):
        PCA(1, svd_solver=solver).fit(X)


def test_empty_sparse_rows_stay_sparse():
    X = scipy.sparse.csr_array(([1.0, 2.0, 1e-310, 3.0], ([0, 1, 2, 3], [5, 99_999, 7, 5])), shape=(400, 100_000))
    pca = PCA(2, center=False).fit(X)
    with traced() as taken:
        Y, errors = pca.transform(X), pca.reconstruction_error(X)
    assert taken.peak < 100e6  # dense rows would take 320 MB
    np.testing.assert_allclose(np.abs(Y[[0, 1, 3]]).max(axis=1), [1, 2, 3], rtol=1e-9)
    assert not Y[4:].any()
    assert not errors[4:].any()


@pytest.mark.parametrize("power", [480, 505, -505, -960])
def test_rows_far_outside_a_narrow_subspace_have_a_density(power):
    X = np.random.default_rng(1).standard_normal((300, 6)) * [1, 1, 1e-6, 1e-6, 1e-6, 1e-6]
    row = np.eye(6)[2:3]
    found = PCA(2).fit(up(X, power)).score_samples(up(row, power)) + 6 * power * np.log(2)
    np.testing.assert_allclose(found, PCA(2).fit(X).score_samples(row), rtol=1e-9)
