"""Inputs that break kernel PCA elsewhere: a typed error that names the value and the rule, or the right answer."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from ritz import AccuracyWarning, KernelPCA, solvers
from ritz.errors import DataError, ParameterError


def rows(n=30, d=4) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, d))


PARAMETERS = [
    ({"n_components": 0}, r"n_components=0 must be .* between 1 and n_samples=30"),
    ({"n_components": -1}, "n_components=-1 must be"),
    ({"n_components": True}, "n_components=True must be"),
    ({"n_components": 2.5}, "n_components=2.5 must be"),
    ({"n_components": 1.0}, "n_components=1.0 must be"),
    ({"n_components": 31}, "n_components=31 must be"),
    ({"n_components": "mle"}, "n_components='mle' must be"),
    ({"n_components": np.nan}, "n_components=nan must be"),
    ({"gamma": -1.0}, "gamma=-1.0 must be a number >= 0"),
    ({"gamma": np.nan}, "gamma=nan must be"),
    ({"gamma": "wide"}, "gamma='wide' must be"),
    ({"gamma": True}, "gamma=True must be"),
    ({"degree": -1}, "degree=-1 must be a finite number >= 0"),
    ({"degree": "two"}, "degree='two' must be a finite number"),
    ({"degree": np.nan}, "degree=nan must be a finite number"),
    ({"coef0": np.inf}, "coef0=inf must be a finite number"),
    ({"coef0": None}, "coef0=None must be a finite number"),
    ({"alpha": -1.0}, "alpha=-1.0 must be a number >= 0"),
    ({"alpha": "x"}, "alpha='x' must be"),
    ({"n_landmarks": 0}, "n_landmarks=0 must be an integer from 1 to n_samples=30"),
    ({"n_landmarks": 31}, "n_landmarks=31 must be"),
    ({"n_landmarks": True}, "n_landmarks=True must be"),
    ({"n_landmarks": 1.5}, "n_landmarks=1.5 must be"),
    ({"n_landmarks": "few"}, "n_landmarks='few' must be"),
    ({"n_landmarks": 2, "n_components": 2}, "n_landmarks=2 must exceed n_components=2"),
    ({"n_landmarks": 9, "n_components": None}, "n_components=None needs the whole spectrum"),
    ({"n_landmarks": 9, "n_components": 0.5}, "n_components=0.5 needs the whole spectrum"),
    ({"n_landmarks": 9, "kernel": "sigmoid"}, "Sigmoid"),
    ({"eigen_solver": "lanczos"}, r"eigen_solver='lanczos' is not one of 'auto', 'dense'"),
    ({"eigen_solver": 3}, "3 is not one of .*, nor a solver object"),
    ({"eigen_solver": solvers.Krylov}, r"pass an object: Krylov\(\)"),
    ({"kernel": "gauss"}, "kernel='gauss' is not one of 'linear'"),
    ({"kernel": None}, "kernel=None is not one of"),
    ({"tol": -1.0}, "tol=-1.0 must be"),
    ({"tol": "small"}, "tol='small' must be"),
    ({"max_iter": 0}, "max_iter=0 must be an integer >= 1"),
    ({"iterated_power": 0}, "iterated_power=0 must be"),
    ({"iterated_power": "often"}, "iterated_power='often' must be"),
    ({"remove_zero_eig": "yes"}, "remove_zero_eig='yes' must be True or False"),
    ({"fit_inverse_transform": 1}, "fit_inverse_transform=1 must be True or False"),
    ({"copy_X": None}, "copy_X=None must be True or False"),
    ({"memory_limit": "much"}, "memory_limit"),
    ({"memory_limit": 1000}, "memory_limit of 1"),
]


def id_of(value) -> str:
    return (
        ",".join(f"{k}={v.__name__ if callable(v) else v}" for k, v in value.items()) if isinstance(value, dict) else ""
    )


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS, ids=id_of)
def test_a_parameter_out_of_range_is_named(parameters, message):
    """And the state of an earlier fit survives, bit by bit."""
    X = rows()
    model = KernelPCA(2, kernel="rbf").fit(X)
    before, names = model.transform(X), set(vars(model))
    model.set_params(**parameters)
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(rows(30, 3))
    assert type(caught.value) in (ValueError, DataError, ParameterError)
    assert set(vars(model)) == names
    assert np.array_equal(model.transform(X), before)


def with_value(value) -> np.ndarray:
    X = rows()
    X[12, 2] = value
    return X


def not_symmetric():
    K = rows() @ rows().T
    K[2, 5] += 0.5
    return K


DATA = [
    ("linear", with_value(np.nan), r"1 NaN.*row 12"),
    ("rbf", with_value(np.inf), "row 12"),
    ("rbf", with_value(-np.inf), "row 12"),
    ("rbf", scipy.sparse.csr_array(with_value(np.nan)), "NaN"),
    ("rbf", rows()[:0], "0"),
    ("rbf", rows()[:, :0], "0"),
    ("rbf", rows()[:1], "needs at least 2 rows.*n_samples=1"),
    ("rbf", rows()[0], r"\(4,\)|1D|one-dimensional|dimension"),
    ("rbf", np.float64(3.0), r"\(\)|0D|scalar|dimension"),
    ("rbf", rows().reshape(5, 6, 4), r"\(5, 6, 4\)|3"),
    ("rbf", rows() + 1j, "[Cc]omplex"),
    ("rbf", np.array([["a", "b"], ["c", "d"]]), "str|number|<U"),
    ("rbf", pd.DataFrame({"when": pd.date_range("2020", periods=5), "x": np.arange(5.0)}), "when"),
    ("rbf", pd.DataFrame({"word": list("abcde"), "x": np.arange(5.0)}), "word"),
    ("precomputed", rows(), r"square matrix.*\(30, 4\)"),
    ("precomputed", not_symmetric(), r"not symmetric: max\|K - K.T\| = 0.5"),
    ("precomputed", -rows() @ rows().T, "negative eigenvalues"),
    ("precomputed", with_value(np.nan) @ rows().T, "NaN"),
]


@pytest.mark.parametrize(("kernel", "X", "message"), DATA, ids=[f"{i}-{case[0]}" for i, case in enumerate(DATA)])
def test_bad_data_is_named(kernel, X, message):
    model = KernelPCA(1, kernel=kernel)
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(X)
    assert isinstance(caught.value, DataError)
    assert not hasattr(model, "eigenvalues_")
    with pytest.raises(NotFittedError):
        model.transform(rows())


REFUSED = [
    ({"kernel": "poly", "degree": 300, "gamma": 1.0}, rows() * 100, r"overflows.*degree=300.*gamma=1"),
    ({"kernel": "poly", "degree": 2.5, "gamma": 1.0}, rows(), r"not finite.*degree"),
    (
        {"kernel": "sigmoid", "gamma": 1.0, "coef0": -1},
        rows(),
        r"negative eigenvalues.*times the largest.*gamma and coef0",
    ),
    ({"kernel": "poly", "degree": 3, "coef0": -5}, rows(), r"negative eigenvalues.*degree, gamma and coef0"),
    ({"kernel": lambda x, y: -float(x @ y)}, rows(), "negative eigenvalues"),
    ({"kernel": lambda x, y: np.nan}, rows(), "returned nan"),
    ({"kernel": lambda x, y: "no"}, rows(), "not a number"),
    ({"kernel": lambda x, y: float(x[0])}, rows(), "symmetric"),
    ({"kernel": lambda A, B: np.tile(A[:, :1], len(B)) + 0 * B[:, 0]}, rows(), "symmetric"),
]


@pytest.mark.parametrize(("parameters", "X", "message"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_what_is_no_inner_product_is_refused(parameters, X, message, solver):
    with pytest.raises(DataError, match=message):
        KernelPCA(2, eigen_solver=solver, **parameters).fit(X)


def test_new_rows_without_a_value_are_refused_with_the_reason():
    """Far rows overflow; a power that is not a valid number has no value where its base is negative."""
    cube = KernelPCA(2, kernel="poly", degree=3).fit(rows())
    with pytest.raises(DataError, match=r"no finite value.*too far from those of the fit"):
        cube.transform(rows() * 1e200)
    positive = np.abs(rows(4))  # powers from n − 2 on keep n rows positive definite (FitzGerald and Horn)
    root = KernelPCA(2, kernel="poly", degree=2.5, coef0=1).fit(positive)
    with pytest.raises(DataError, match=r"no finite value.*gamma\*x.y \+ coef0 is negative.*degree=2.5"):
        root.transform(-100 * positive)


@pytest.mark.parametrize("memory", [None, "7MB"])
def test_an_indefinite_kernel_is_found_out_by_products_alone(memory):
    X = rows(1400, 3)
    with pytest.raises(DataError, match="negative eigenvalues"):
        KernelPCA(2, kernel="sigmoid", gamma=1.0, eigen_solver="krylov", memory_limit=memory).fit(X)


KERNELS = ["linear", "poly", "rbf", "laplacian", "cosine"]
SOLVERS = ["auto", "dense", "krylov", "power", "orthogonal", "lowrank"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("value", [0.0, 1.0, -3.5, 1e8])
def test_rows_that_are_all_alike(kernel, solver, value):
    """Nothing to be seen: zeros and a warning, or an error that says so; never a division by 0."""
    X = np.full((20, 3), value)
    model = KernelPCA(2, kernel=kernel, eigen_solver=solver)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AccuracyWarning)
        try:
            scores = model.fit_transform(X)
        except DataError as error:
            assert "alike" in str(error)
            return
        assert (scores == 0).all()
        assert (model.transform(X) == 0).all()
    assert (model.eigenvalues_ == 0).all()
    assert (model.explained_variance_ratio_ == 0).all()
    assert model.certificate_.rank == 0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("solver", ["auto", "dense", "krylov"])
def test_zero_eigenvalues_are_dropped(kernel, solver):
    X = np.repeat(rows(5, 3), 4, axis=0)  # 20 rows, of which 5 differ
    options = {"kernel": kernel, "eigen_solver": solver}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(**options).fit(X)
        scores = model.transform(X)
    # Centred, five rows differ in at most four directions; the features of two kernels have three coordinates.
    assert len(model.eigenvalues_) == (3 if kernel in ("linear", "cosine") else 4)
    assert (model.eigenvalues_ > 0).all()
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores[::4], scores[3::4], atol=1e-12)
    asked = 8
    with pytest.warns(AccuracyWarning, match=f"only {len(model.eigenvalues_)} have a variance above rounding"):
        more = KernelPCA(asked, **options).fit(X)
    assert (more.eigenvalues_[len(model.eigenvalues_) :] == 0).all()
    assert more.transform(X).shape == (20, asked)
    assert np.isfinite(more.transform(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        fewer = KernelPCA(asked, remove_zero_eig=True, **options).fit(X)
    assert fewer.transform(X).shape == (20, len(model.eigenvalues_))


def test_permuted_rows_give_permuted_scores():
    X = rows(50)
    order = np.random.default_rng(0).permutation(50)
    one, other = (KernelPCA(3, kernel="rbf", gamma=0.2).fit(data) for data in (X, X[order]))
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(other.transform(X)), np.abs(one.transform(X)), atol=1e-9)


def test_a_warning_that_is_an_error_leaves_the_old_state():
    model = KernelPCA(2, kernel="rbf", gamma=0.1).fit(rows())
    before = model.transform(rows())
    model.set_params(gamma=1e6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AccuracyWarning, match="flat"):
            model.fit(rows(40))
    assert np.array_equal(model.transform(rows()), before)
    assert model.gamma_ == 0.1


@pytest.mark.parametrize("X", [rows(5, 3), rows(5, 5)], ids=["narrow", "wide"])
def test_new_rows_must_have_the_columns_of_the_fit(X):
    with pytest.raises(ValueError, match=r"features|columns"):
        KernelPCA(2, kernel="rbf").fit(rows()).transform(X)


@pytest.mark.parametrize("kernel", [*KERNELS, "rbf far"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_new_rows_that_are_not_finite_are_named(kernel, value):
    X = rows()
    X[0] += 1e6 if kernel == "rbf far" else 0.0  # distances are then summed from differences
    model = KernelPCA(2, kernel=kernel.split()[0]).fit(X)
    with pytest.raises(DataError, match="row 12"):
        model.transform(with_value(value))


def test_there_is_no_way_back_from_a_given_matrix():
    K = rows() @ rows().T
    with pytest.raises(ValueError, match="precomputed"):
        KernelPCA(2, kernel="precomputed", fit_inverse_transform=True).fit(K)
    with pytest.raises(NotFittedError, match="fit_inverse_transform=True"):
        KernelPCA(2).fit(rows()).inverse_transform(np.zeros((2, 2)))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "poly", "cosine"])
@pytest.mark.parametrize("kinds", [(np.asarray, scipy.sparse.csr_array), (scipy.sparse.csr_array, np.asarray)])
def test_new_rows_may_be_sparse_where_those_of_the_fit_were_not(kernel, kinds):
    X, new = rows() + 3, rows(7) + 3
    fitted = KernelPCA(2, kernel=kernel).fit(kinds[0](X))
    assert np.allclose(fitted.transform(kinds[1](new)), KernelPCA(2, kernel=kernel).fit(X).transform(new), atol=1e-10)
