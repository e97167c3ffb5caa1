"""CompressedSensing as an estimator: scikit-learn's contract, rows of every kind, bad input, the phase transition."""

import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import pywt
import scipy.sparse
from scipy.fft import idct
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from helpers.counts import usually
from helpers.signals import sparse_codes
from ritz import AccuracyWarning, CompressedSensing
from ritz.errors import DataError, ParameterError
from ritz.sensing import SOLVERS, measurements

ESTIMATORS = [
    CompressedSensing(1),
    CompressedSensing(0.5, solver="fista", noise=0.1),
    CompressedSensing(1, measurement="subsampled-dct", basis="haar"),
    CompressedSensing(1, measurement="bernoulli", solver="basis-pursuit", sparsity=1),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_contract(estimator, check):
    check(estimator)


def signals(b=6, n=64, s=3, seed=0) -> np.ndarray:
    return idct(sparse_codes(b, n, s, np.random.default_rng(seed), spread=1.0), norm="ortho")


def tables(X):
    names = [f"t{j}" for j in range(X.shape[1])]
    return {
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(X, schema=names),
        "list": X.tolist(),
        "fortran": np.asfortranarray(X),
        "csr": scipy.sparse.csr_array(X),
        "csc": scipy.sparse.csc_matrix(X),
    }


@pytest.mark.parametrize("kind", tables(signals()))
def test_rows_of_every_kind_give_the_same(kind):
    X = signals()
    rows = tables(X)[kind]
    plain, model = CompressedSensing(30).fit(X), CompressedSensing(30).fit(rows)
    Y = plain.transform(X)
    np.testing.assert_allclose(model.transform(rows), Y, atol=1e-12)
    np.testing.assert_allclose(model.reconstruction_error(rows), 0.0, atol=1e-20)
    np.testing.assert_allclose(model.inverse_transform(tables(Y)[kind]), X, atol=1e-10)


@pytest.mark.parametrize("suffix", ["npy", "csv", "parquet"])
def test_files_as_rows(suffix, tmp_path):
    X, path = signals(), tmp_path / f"signals.{suffix}"
    if suffix == "npy":
        np.save(path, X)
    elif suffix == "csv":
        pd.DataFrame(X, columns=[f"t{j}" for j in range(64)]).to_csv(path, index=False, float_format="%.17g")
    else:
        pd.DataFrame(X, columns=[f"t{j}" for j in range(64)]).to_parquet(path)
    model = CompressedSensing(30).fit(path)
    np.testing.assert_allclose(model.transform(path), X @ model.measurement_.entries.T, atol=1e-12)
    np.testing.assert_allclose(model.reconstruction_error(str(path)), 0.0, atol=1e-20)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("measurement", ["gaussian", "bernoulli", "subsampled-dct"])
@pytest.mark.parametrize("basis", ["dct", "haar", "db4"])
@pytest.mark.parametrize("shape", [None, (8, 9)])
def test_sparse_signals_come_back(basis, measurement, solver, shape):
    C = sparse_codes(4, 72, 4, np.random.default_rng(1), spread=1.0)
    model = CompressedSensing(40, basis=basis, measurement=measurement, solver=solver, signal_shape=shape)
    X = model.fit(np.zeros((1, 72))).basis_.apply(C)
    assert model.signal_shape_ == (shape or (72,))
    Y = model.transform(X)
    assert Y.shape == (4, 40)
    np.testing.assert_allclose(model.inverse_transform(Y), X, atol=1e-6)
    assert model.certificate_.satisfied
    assert model.n_iter_ == model.certificate_.iterations.max()


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array, aslinearoperator])
def test_matrices_of_your_own(wrap):
    rng = np.random.default_rng(2)
    Psi, Phi = rng.standard_normal((50, 70)), rng.standard_normal((30, 50))
    C = sparse_codes(4, 70, 3, rng, spread=1.0)
    X = C @ Psi.T
    model = CompressedSensing(30, basis=wrap(Psi), measurement=wrap(Phi)).fit(X)
    np.testing.assert_allclose(model.transform(X), X @ Phi.T, atol=1e-10)
    found = model.recover(X @ Phi.T)
    np.testing.assert_allclose(found.coefficients, C, atol=1e-9)
    np.testing.assert_allclose(found.signals, X, atol=1e-8)


def test_float32_stays_float32_and_is_computed_in_float64():
    X = signals().astype(np.float32)
    model = CompressedSensing(30, tol=1e-5).fit(X)
    Y = model.transform(X)
    assert Y.dtype == np.float32
    np.testing.assert_array_equal(Y, (X.astype(np.float64) @ model.measurement_.entries.T).astype(np.float32))
    assert model.inverse_transform(Y).dtype == np.float32
    assert model.recover(Y).coefficients.dtype == np.float32
    np.testing.assert_allclose(model.inverse_transform(Y), X, atol=1e-4)
    assert model.transform(np.arange(64)[None]).dtype == np.float64


def test_pipelines_and_tables_as_output():
    X = signals(20)
    doubled = FunctionTransformer(lambda X: 2 * X, lambda X: X / 2)
    pipe = make_pipeline(doubled, CompressedSensing(40, solver="fista")).fit(X)
    np.testing.assert_allclose(pipe.transform(X), 2 * CompressedSensing(40).fit_transform(X))
    np.testing.assert_allclose(pipe.inverse_transform(pipe.transform(X)), X, atol=1e-9)
    model = CompressedSensing(5).fit(X)
    assert list(model.get_feature_names_out()) == [f"compressedsensing{i}" for i in range(5)]
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        table = clone(model).set_output(transform=library).fit(X).transform(X)
        assert isinstance(table, kind)
        assert list(table.columns) == [f"compressedsensing{i}" for i in range(5)]
        np.testing.assert_array_equal(table.to_numpy(), model.transform(X))


def test_the_error_is_the_squared_distance():
    rng = np.random.default_rng(3)
    X = signals(8, s=2) + 0.05 * rng.standard_normal((8, 64))
    model = CompressedSensing(30, sparsity=2).fit(X)
    back = model.inverse_transform(model.transform(X))
    errors = model.reconstruction_error(X)
    np.testing.assert_allclose(errors, ((X - back) ** 2).sum(axis=1), rtol=1e-9)
    assert (errors > 1e-3).all()


def state(model) -> bytes:
    return pickle.dumps(vars(model))


def test_recover_leaves_the_model_as_it_is():
    X = signals()
    model = CompressedSensing(30).fit(X)
    Y = model.transform(X)
    model.inverse_transform(Y[:2])
    before = dict(vars(model))
    found = model.recover(Y)
    model.reconstruction_error(X)
    assert all(vars(model)[name] is value for name, value in before.items())
    assert len(found.certificate.support_size) == 6
    assert len(model.certificate_.support_size) == 2
    np.testing.assert_allclose(found.signals, X, atol=1e-10)


@pytest.mark.parametrize("measurement", ["gaussian", "bernoulli", "subsampled-dct"])
def test_the_same_seed_gives_the_same_bits(measurement):
    X = signals()
    first, again, other, unsaid = (
        CompressedSensing(30, measurement=measurement, random_state=seed).fit(X).transform(X)
        for seed in (7, 7, 8, None)
    )
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)
    assert np.array_equal(unsaid, CompressedSensing(30, measurement=measurement).fit(X[:1]).transform(X))


@pytest.mark.parametrize("solver", ["omp", "fista"])
def test_the_number_of_threads_changes_nothing(solver, monkeypatch, blas_as_it_is):
    monkeypatch.setattr("ritz.sensing.recovery.LEAST", 8)
    X = signals(40, n=128)
    model = CompressedSensing(60, solver=solver).fit(X)
    Y, found = model.transform(X), []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(model.recover(Y))
    np.testing.assert_allclose(found[0].signals, found[1].signals, atol=1e-12)
    assert np.array_equal(found[0].certificate.support_size, found[1].certificate.support_size)
    np.testing.assert_allclose(found[0].signals, X, atol=1e-10)


def test_models_are_pickled():
    X = signals()
    for basis in ("dct", "db4"):
        model = CompressedSensing(30, basis=basis, measurement="subsampled-dct").fit(X)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.transform(X), model.transform(X))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            np.testing.assert_allclose(again.reconstruction_error(X), model.reconstruction_error(X))


@pytest.mark.parametrize("solver", SOLVERS)
def test_zero_signals_come_back_as_zeros(solver):
    model = CompressedSensing(10, solver=solver).fit(np.zeros((3, 40)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = model.inverse_transform(model.transform(np.zeros((3, 40))))
    assert (back == 0).all()
    assert model.certificate_.satisfied


PARAMETERS = [
    ({"n_measurements": 65}, r"n_measurements=65 is more than the 64 entries of a signal .*ask for 64 or fewer"),
    ({"n_measurements": 0}, r"n_measurements=0 must be an integer >= 1, or a share of the length in \(0, 1\)"),
    ({"n_measurements": -3}, "n_measurements=-3 must be"),
    ({"n_measurements": 1.5}, "n_measurements=1.5 must be"),
    ({"n_measurements": True}, "n_measurements=True must be"),
    ({"n_measurements": np.nan}, "n_measurements=nan must be"),
    ({"n_measurements": None}, "n_measurements=None must be"),
    ({"n_measurements": "8"}, "n_measurements='8' must be"),
    ({"basis": "fourier"}, "basis='fourier' is not known; the known ones are dct, "),
    (
        {"basis": "db38"},
        r"basis='db38' has 76 coefficients, more than fit .* signal_shape=\(64,\) \(n_features=64\); choose",
    ),
    ({"basis": np.eye(3)}, r"basis has shape \(3, 3\), but signals have 64 entries"),
    ({"basis": np.full((64, 64), np.nan)}, "basis holds NaN, infinity or complex numbers"),
    ({"basis": 1j * np.eye(64)}, "basis must be a matrix of real numbers"),
    ({"basis": aslinearoperator(1j * np.eye(64))}, "basis holds NaN, infinity or complex numbers"),
    ({"basis": scipy.sparse.eye_array(64) * np.inf}, "basis holds NaN, infinity"),
    ({"basis": None}, "basis must be a matrix of real numbers"),
    ({"basis": 7}, "basis must be a matrix of real numbers"),
    ({"basis": np.zeros((64, 0))}, r"basis must be a matrix .* shape \(64, 0\)"),
    ({"basis": [[1, 2], [3]]}, "basis is not a matrix"),
    ({"measurement": "uniform"}, "measurement='uniform' is not known; the known ones are gaussian, bernoulli, subsamp"),
    ({"measurement": np.eye(64)}, r"measurement has shape \(64, 64\), expected \(8, 64\)"),
    ({"measurement": np.full((8, 64), np.inf)}, "measurement holds NaN, infinity"),
    ({"signal_shape": (8, 9)}, r"signal_shape=\(8, 9\) has 72 entries, but signals have 64"),
    ({"signal_shape": 63}, "signal_shape=63 has 63 entries, but signals have 64"),
    ({"signal_shape": (4, 4, 4)}, r"signal_shape=\(4, 4, 4\) must be a length, or the height and width"),
    ({"signal_shape": (-8, -8)}, r"signal_shape=\(-8, -8\) must be"),
    ({"signal_shape": "8x8"}, "signal_shape='8x8' must be"),
    ({"signal_shape": ()}, r"signal_shape=\(\) must be"),
    ({"solver": "lars"}, "solver='lars' is not known; the known ones are omp, fista, basis-pursuit"),
    ({"solver": None}, "solver=None is not known"),
    ({"sparsity": 0}, "sparsity=0 must be an integer >= 1, or None"),
    ({"sparsity": 2.5}, "sparsity=2.5 must be"),
    ({"sparsity": True}, "sparsity=True must be"),
    ({"noise": -0.1}, "noise=-0.1 must be a standard deviation: a finite number >= 0"),
    ({"noise": np.inf}, "noise=inf must be"),
    ({"noise": np.nan}, "noise=nan must be"),
    ({"noise": "low"}, "noise='low' must be"),
    ({"tol": -1.0}, "tol=-1.0 must be"),
    ({"tol": "small"}, "tol='small' must be"),
    ({"max_iter": 0}, "max_iter=0 must be an integer >= 1"),
    ({"max_iter": 1.5}, "max_iter=1.5 must be"),
    ({"random_state": "dice"}, "dice"),
]


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS, ids=[str(i) for i in range(len(PARAMETERS))])
def test_a_parameter_out_of_range_is_named(parameters, message):
    """And the state of an earlier fit survives, bit by bit."""
    X = signals()
    model = CompressedSensing(8).fit(X)
    before = state(model.set_params())
    asked = {name: getattr(model, name) for name in parameters}
    model.set_params(**parameters)
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(2 * X)
    assert type(caught.value) in (ValueError, DataError, ParameterError)
    assert state(model.set_params(**asked)) == before


def with_value(value) -> np.ndarray:
    X = signals()
    X[4, 2] = value
    return X


DATA = [
    (with_value(np.nan), "1 NaN, first at row 4, column 2"),
    (with_value(np.inf), "row 4"),
    (scipy.sparse.csr_array(with_value(np.nan)), "NaN"),
    (signals()[:0], "0 sample"),
    (signals()[:, :0], "0 feature"),
    (signals()[0], r"1D array of shape \(64,\)"),
    (signals().reshape(6, 8, 8), r"\(6, 8, 8\)"),
    (signals() + 1j, "Complex"),
    (np.array([["a", "b"]]), "str|number|<U"),
]


@pytest.mark.parametrize(("X", "message"), DATA, ids=[str(i) for i in range(len(DATA))])
def test_bad_rows_are_named(X, message):
    model = CompressedSensing(1)
    with pytest.raises(DataError, match=message):
        model.fit(X)
    assert set(vars(model)) == set(model.get_params())
    fitted = CompressedSensing(8).fit(signals())
    before = state(fitted)
    for method in (fitted.transform, fitted.reconstruction_error, fitted.inverse_transform, fitted.recover):
        with pytest.raises(ValueError, match=r"."):
            method(X)
    assert state(fitted) == before


def test_measurements_of_another_length_or_with_gaps_are_named():
    X = signals()
    model = CompressedSensing(8).fit(X)
    with pytest.raises(ValueError, match="X has 63 features, but CompressedSensing is expecting 64"):
        model.transform(X[:, :63])
    for method in (model.inverse_transform, model.recover):
        with pytest.raises(DataError, match="got 64 columns; the model measures 8 numbers per signal"):
            method(X)
        with pytest.raises(DataError, match="2 NaN, first at row 1, column 3"):
            method(gaps())


def gaps() -> np.ndarray:
    Y = np.ones((3, 8))
    Y[1, 3] = Y[2, 0] = np.nan
    return Y


def test_names_of_columns_are_compared():
    X = signals()
    model = CompressedSensing(8).fit(pd.DataFrame(X, columns=[f"t{j}" for j in range(64)]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(pd.DataFrame(X, columns=[f"u{j}" for j in range(64)]))


@pytest.mark.parametrize("method", ["transform", "inverse_transform", "recover", "reconstruction_error"])
def test_nothing_works_before_a_fit(method):
    with pytest.raises(NotFittedError):
        getattr(CompressedSensing(8), method)(signals())


def test_every_known_basis_is_listed():
    with pytest.raises(ValueError, match="the known ones are") as caught:
        CompressedSensing(8, basis="wave").fit(signals())
    listed = str(caught.value).split("the known ones are ")[1].split(";")[0].split(", ")
    assert listed == ["dct", *pywt.wavelist(kind="discrete")]
    assert {"haar", "db4", "sym8", "coif3"} <= set(listed)


def test_without_pywavelets_cosines_work_and_wavelets_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pywt", None)
    X = signals()
    np.testing.assert_allclose(CompressedSensing(30).fit(X).reconstruction_error(X), 0.0, atol=1e-20)
    with pytest.raises(ImportError, match=r"basis='db4'.* needs PyWavelets: pip install 'ritz\[sensing\]'"):
        CompressedSensing(30, basis="db4").fit(X)


def test_a_matrix_that_would_not_fit_is_refused_before_it_is_drawn(monkeypatch):
    def drawn(*_):
        raise AssertionError("drawn")

    monkeypatch.setattr(measurements, "allowed", lambda: 8 * 2 * 30 * 64 - 1)
    monkeypatch.setattr(measurements, "DENSE", {"gaussian": drawn, "bernoulli": drawn})
    for name in ("gaussian", "bernoulli"):
        with pytest.raises(DataError, match=rf"measurement='{name}' is a matrix of 30 by 64 numbers, which would take"):
            CompressedSensing(30, measurement=name).fit(signals())
    with pytest.raises(AssertionError, match="drawn"):
        CompressedSensing(29).fit(signals())
    X = signals()
    np.testing.assert_allclose(
        CompressedSensing(30, measurement="subsampled-dct").fit(X).reconstruction_error(X), 0.0, atol=1e-20
    )


def test_a_matrix_far_beyond_memory_is_refused():
    with pytest.raises(DataError, match=r"100000 by 1000000 numbers, which would take 800.0 GB"):
        CompressedSensing(100_000).fit(scipy.sparse.csr_array((1, 1_000_000)))


def test_a_failing_recovery_leaves_the_model_as_it_is():
    X = signals()
    model = CompressedSensing(8, solver="basis-pursuit").fit(X).set_params(noise=0.1)
    before = state(model)
    with pytest.raises(DataError, match="takes measurements as exact"):
        model.inverse_transform(model.transform(X))
    assert state(model) == before


def test_another_solver_needs_no_new_fit():
    X = signals()
    model = CompressedSensing(30).fit(X)
    Y = model.transform(X)
    for solver in SOLVERS:
        np.testing.assert_allclose(model.set_params(solver=solver).inverse_transform(Y), X, atol=1e-9)
        assert model.certificate_.solver == solver


def recovered_share(delta, rho, solver, b) -> float:
    """Of b signals of length 400, a Gaussian matrix for each four: how many come back, by an error below 1e-3."""
    rng, m, hits = np.random.default_rng(4), round(400 * delta), 0
    for seed in range(b // 4):
        X = idct(sparse_codes(4, 400, round(rho * m), rng, spread=1.0), norm="ortho")
        model = CompressedSensing(m, solver=solver, random_state=seed).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            errors = np.sqrt(model.reconstruction_error(X)) / np.linalg.norm(X, axis=1)
        hits += np.count_nonzero(errors < 1e-3)
    return hits / b


@pytest.mark.parametrize(("delta", "rho"), [(0.5, 0.2), (0.25, 0.12)])
def test_below_the_phase_transition_signals_come_back(delta, rho):
    assert recovered_share(delta, rho, "fista", usually(20, thorough=40)) >= 0.95


@pytest.mark.parametrize(("delta", "rho"), [(0.5, 0.55), (0.25, 0.45)])
def test_above_the_phase_transition_they_do_not(delta, rho):
    assert recovered_share(delta, rho, "basis-pursuit", usually(8, thorough=20)) <= 0.05
