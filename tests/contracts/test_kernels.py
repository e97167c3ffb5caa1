"""Every kernel: its tiles are the formula, in extended precision, within the error that its frame admits."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import pairwise

from helpers.kernels import FORMS, WIDE, feature_squares, kernel_value, wide
from ritz import KernelPCA
from ritz.errors import DataError
from ritz.kernels import kernel_named

POLY = [{"degree": p, "coef0": c} for p in (0.0, 1.0, 2.0, 3.0, 4.0) for c in (0.0, 1.0, -1.0)]
FORMULAS = [
    ("linear", {}),
    ("cosine", {}),
    ("rbf", {"gamma": 0.3}),
    ("laplacian", {"gamma": 0.3}),
    ("sigmoid", {"gamma": 0.05, "coef0": 1.0}),
    ("sigmoid", {"gamma": 0.4, "coef0": -1.0}),
    *(("poly", {"gamma": 0.2, **options}) for options in POLY),
    ("poly", {"gamma": 0.01, "degree": 2.5, "coef0": 1.0}),
    ("poly", {"gamma": 0.01, "degree": 0.5, "coef0": 1.0}),
]
SHIFTING = ("linear", "rbf", "laplacian")


def name_of(case) -> str:
    return (
        "-".join([case[0], *(f"{key}{value:g}" for key, value in case[1].items())]) if isinstance(case, tuple) else ""
    )


def rows(n=24, d=7) -> np.ndarray:
    X = np.random.default_rng(d).standard_normal((n, d))
    X[3], X[5], X[8:11] = 0.0, X[4], X[7]  # a row of zeros, and duplicates
    return X


def check_tile(name, X, options, Y=None):
    """|tile·unit² − k| ≤ ε ‖φ_i‖ ‖φ_j‖, on the diagonal too; returns the frame."""
    kernel = kernel_named(name, **options)
    frame = kernel.frame(X)
    origin = {"origin": frame.origin} if name == "linear" and frame.origin is not None else {}
    Y = X if Y is None else Y
    a, b = kernel.points(X, frame), kernel.points(Y, frame)
    unit = WIDE(frame.unit) ** 2
    truth = kernel_value(name, X, Y, **options, **origin)
    sizes, others = (feature_squares(name, part, **options, **origin) for part in (X, Y))
    allowed = WIDE(frame.rounding) * np.sqrt(np.outer(sizes, others))
    tile = kernel.tile(a, b, frame)
    assert tile.shape == truth.shape
    assert tile.dtype == np.float64
    error = np.abs(tile.astype(WIDE) * unit - truth)
    assert (error <= allowed).all(), f"{float(error.max())} where {float(allowed.max())} is allowed"
    lengths = kernel.lengths(a, frame).astype(WIDE) * unit
    assert (np.abs(lengths - sizes) <= WIDE(frame.rounding) * sizes).all()
    own = np.diag(kernel_value(name, X, X, **options, **origin))
    assert (np.abs(kernel.diagonal(a, frame).astype(WIDE) * unit - own) <= WIDE(frame.rounding) * sizes).all()
    return frame


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", FORMULAS, ids=name_of)
def test_a_tile_is_the_formula(case, form):
    name, options = case
    X = FORMS[form](np.abs(rows()) if options.get("degree") in (2.5, 0.5) else rows())
    before = X.copy()
    check_tile(name, X, options)
    assert (before != X).sum() == 0


@pytest.mark.parametrize("name", SHIFTING)
@pytest.mark.parametrize("offset", [1e3, 1e8, -1e8])
@pytest.mark.parametrize("form", ["dense", "fortran", "sparse full"])
def test_an_offset_costs_no_more_than_is_said(name, offset, form):
    options = {} if name == "linear" else {"gamma": 0.3}
    frame = check_tile(name, FORMS[form](rows() + offset), options)
    if form != "sparse full":  # moved to the middle, an offset costs nothing
        assert frame.rounding < 1e-13


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("name", ["linear", "cosine", "rbf", "laplacian", "poly"])
def test_scales(name, scale, form):
    X = FORMS[form](rows()) * scale
    options = {
        "rbf": {"gamma": 0.3 / scale / scale},
        "laplacian": {"gamma": 0.3 / scale},
        "poly": {"gamma": 0.3, "degree": 1.0, "coef0": 0.0},
    }
    check_tile(name, X, options.get(name, {}))


@pytest.mark.parametrize("degree", [2.0, 3.0, 4.0])
@pytest.mark.parametrize("scale", [1e-30, 1e-60, 1e-110, 1e-150])
def test_powers_of_small_numbers_are_smaller(degree, scale):
    """What lies below the range of float64 is 0, never a number of ordinary size."""
    X, options = rows() * scale, {"gamma": 0.3, "degree": degree, "coef0": 0.0}
    kernel = kernel_named("poly", **options)
    frame = kernel.frame(X)
    tile = kernel.tile(kernel.points(X, frame), kernel.points(X, frame), frame)
    truth = kernel_value("poly", X, X, **options)
    found = tile.astype(WIDE) * WIDE(frame.unit) ** 2
    largest = np.abs(truth).max()
    assert np.abs(found - truth).max() <= frame.rounding * largest + np.finfo(float).tiny


@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("distance", [1e4, 1e7, 1e12, 1e150, 1e200])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_tight_clusters_very_far_apart(name, distance, spread):
    """Inside a cluster, values come from small differences of large numbers."""
    X = rows() * spread
    X[12:] += distance
    check_tile(name, X, {"gamma": 1 / spread**2 if name == "rbf" else 1 / spread})


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e-12, 1e6, 1e150, 1e300])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("scale", [1.0, 1e12])
def test_any_gamma(name, gamma, form, scale):
    """No value is NaN: rows that are equal have 1, others fall to 0."""
    check_tile(name, FORMS[form](rows()) * scale, {"gamma": gamma})


@pytest.mark.parametrize("name", ["poly", "sigmoid"])
@pytest.mark.parametrize("coef0", [0.0, 1.0, -1.0])
def test_gamma_zero_leaves_a_constant(name, coef0):
    check_tile(name, rows(), {"gamma": 0.0, "coef0": coef0})


@pytest.mark.parametrize("length", [1.0, 30.0, 1e3, 1e6])
@pytest.mark.parametrize("coef0", [0.0, 1.0, -100.0])
def test_tanh_of_nearly_orthogonal_long_rows(length, coef0):
    """x·y may be small while the rows are long: its error is that of long rows, where tanh is steepest."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((24, 9)) * length
    X[12:] -= np.outer(X[12:] @ X[0], X[0]) / (X[0] @ X[0])
    check_tile("sigmoid", X, {"gamma": 1.0, "coef0": coef0})


@pytest.mark.parametrize("degree", [0.25, 0.5, 0.9])
def test_roots_of_inner_products_near_zero(degree):
    """The root is steepest at 0, where inner products cancel."""
    X = np.abs(rows(30, 5))
    X[:, 4] = 0.0
    Y = X.copy()
    Y[:, 0] = -(Y[:, 1:] * X[0, 1:]).sum(axis=1) / X[0, 0] * (1 - 1e-12)
    check_tile("poly", X[:1], {"gamma": 1.0, "degree": degree, "coef0": 0.0}, Y)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_cosines_of_rows_of_all_sizes(form):
    X = FORMS[form](rows())
    sizes = 10.0 ** np.linspace(-150, 150, X.shape[0])
    check_tile(
        "cosine", sizes[:, None] * X if form == "dense" else scipy.sparse.csr_array(X.multiply(sizes[:, None])), {}
    )


@pytest.mark.parametrize("case", FORMULAS, ids=name_of)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_new_rows_meet_those_of_the_fit(case, form):
    name, options = case
    X, Y = rows(), np.random.default_rng(3).standard_normal((9, 7))
    if options.get("degree") in (2.5, 0.5):
        X, Y = np.abs(X), np.abs(Y)
    check_tile(name, FORMS[form](X), options, FORMS[form](Y))


SECOND = {
    "linear": pairwise.linear_kernel,
    "poly": pairwise.polynomial_kernel,
    "rbf": pairwise.rbf_kernel,
    "sigmoid": pairwise.sigmoid_kernel,
    "laplacian": pairwise.laplacian_kernel,
    "cosine": pairwise.cosine_similarity,
}


@pytest.mark.parametrize("case", [case for case in FORMULAS if case[1].get("degree", 1.0) >= 1], ids=name_of)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_scikit_learn_says_the_same(case, form):
    name, options = case
    X = FORMS[form](np.abs(rows()) if options.get("degree") == 2.5 else rows())
    kernel = kernel_named(name, **options)
    frame = kernel.frame(X)
    ours = kernel.tile(kernel.points(X, frame), kernel.points(X, frame), frame) * frame.unit**2
    moved = X - frame.origin if name == "linear" and frame.origin is not None else X
    theirs = SECOND[name](moved, **options) if name != "cosine" else SECOND[name](X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def of_rows(x, y, shift=0.0):
    return float(np.minimum(x, y).sum() + shift)


def of_blocks(X, Y, shift=0.0):
    return np.minimum(X[:, None], Y).sum(axis=2) + shift


def of_either(x, y, shift=0.0):
    return x @ y.T + shift


@pytest.mark.parametrize("function", [of_rows, of_blocks, of_either])
@pytest.mark.parametrize("form", ["dense", "float32", "int", "uint8", "fortran", "sparse"])
@pytest.mark.parametrize("n", [2, 24])
def test_a_function_of_rows_or_of_blocks(function, form, n):
    X = FORMS[form](rows())[:n]
    kernel = kernel_named(function, {"shift": 2.0})
    frame = kernel.frame(X)
    points = kernel.points(X, frame)
    D = wide(X).astype(np.float64)
    truth = D @ D.T + 2.0 if function is of_either else of_blocks(D, D, 2.0)
    np.testing.assert_allclose(kernel.tile(points, points[:7], frame) * frame.unit**2, truth[:, :7], atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(points, frame), np.diag(truth), atol=1e-12)


def test_a_function_that_returns_no_number_is_refused():
    for bad in (lambda x, y: "no", lambda x, y: np.nan, lambda x, y: np.inf, lambda x, y: 1j, lambda x, y: x):
        with pytest.raises(DataError, match="returned"):
            kernel_named(bad).frame(rows())


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_a_given_matrix_is_what_it_is(scale, dtype):
    K = rows(12, 12)
    K = (K @ K.T * 10).astype(dtype)
    K = K * scale if dtype == np.float64 else K
    kernel = kernel_named("precomputed")
    frame = kernel.frame(K)
    points = kernel.points(K, frame)
    assert np.array_equal(kernel.tile(points[2:5], points[1:9], frame) * frame.unit * frame.unit, K[2:5, 1:9])
    assert np.array_equal(kernel.diagonal(points, frame) * frame.unit * frame.unit, np.diag(K))


def test_powers_that_overflow_name_the_parameter():
    with pytest.raises(DataError, match=r"overflows.*degree=300.*gamma=1"):
        kernel_named("poly", gamma=1.0, degree=300.0).frame(rows() * 100)
    with pytest.raises(DataError, match=r"overflows.*gamma=1"):
        kernel_named("sigmoid", gamma=1.0).frame(rows() * 1e200)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"kernel='gauss'.*'rbf'"):
        kernel_named("gauss")


def looked_up(x, y):
    """A function of rows that are numbers of something, which has no value for others."""
    return float(TABLE[int(x[0]), int(y[0])]) if x[0] >= 2 else fail()


def looked_up_blocks(X, Y):
    return TABLE[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))] if X[0, 0] >= 2 else fail()


def fail():
    raise KeyError("no such thing")


TABLE = np.diag(np.arange(1.0, 40.0))
OWN = {  # the function, whether it is called with blocks, and the kernel it is
    "dot": (np.dot, False, lambda X: X @ X.T),
    "matmul": (np.matmul, False, lambda X: X @ X.T),
    "vdot": (np.vdot, False, lambda X: X @ X.T),
    "inner": (np.inner, True, lambda X: X @ X.T),
    "product": (lambda a, b: a @ b.T, True, lambda X: X @ X.T),
    "number of columns": (lambda a, b: (a @ b.T) / len(a), False, lambda X: X @ X.T / X.shape[1]),
    "constant": (lambda a, b: 1.0, False, lambda X: np.ones((len(X), len(X)))),
    "blocks alone": (lambda A, B: (A[:, None] * B).sum(axis=2), True, lambda X: X @ X.T),
    "rows alone": (lambda x, y: float(np.minimum(x, y).sum()), False, lambda X: np.minimum(X[:, None], X).sum(axis=2)),
    "numbers of something": (looked_up, False, lambda X: TABLE[np.ix_(X[:, 0].astype(int), X[:, 0].astype(int))]),
    "blocks of numbers": (looked_up_blocks, True, lambda X: TABLE[np.ix_(X[:, 0].astype(int), X[:, 0].astype(int))]),
}
ROWS = {
    "symmetric": lambda d: np.add.outer(np.arange(6) + 1, np.arange(d) + 1.0),
    "zero": lambda d: np.zeros((5, d)),
    "equal": lambda d: np.full((5, d), 3.0),
    "few": lambda d: np.full((1, d), 2.0),
    "many": lambda d: np.random.default_rng(1).integers(2, 9, (7, d)).astype(float),
}


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", OWN)
def test_whether_a_function_takes_blocks_does_not_depend_on_the_data(name, rows, d):
    function, blocks, truth = OWN[name]
    X = ROWS[rows](d) + 2.0 * (name.endswith(("something", "numbers")))
    kernel = kernel_named(function)
    frame = kernel.frame(X)
    points = kernel.points(X, frame)
    if d > 1 or name not in ("number of columns", "vdot", "constant"):
        assert frame.exact is not blocks
    np.testing.assert_allclose(kernel.tile(points, points, frame), truth(X))
    np.testing.assert_allclose(kernel.diagonal(points, frame), np.diagonal(truth(X)))


def test_a_function_of_rows_on_rows_that_are_a_symmetric_matrix():
    X = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0], [1.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    own, linear = KernelPCA(2, kernel=np.dot).fit(X), KernelPCA(2).fit(X)
    np.testing.assert_allclose(own.eigenvalues_, linear.eigenvalues_)
