"""Three different instances of every mistake that `ritz.check` knows, made by plain NumPy."""

from __future__ import annotations

import numpy as np

from helpers.matrices import random_orthonormal
from helpers.students import Student, covariance, data, kernel_pairs, power, rbf

OBLIQUE = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.6], [0.0, 0.0, 0.8]])  # of unit columns, the last two in one plane


def rows(name, answer, **options):
    """A case: the name of the data, the answer, and options of the exercise."""
    return name, answer, options


def each(names, made, **options):
    """The same mistake on different data."""
    return [rows(name, made(Student(name, **options)), **options) for name in names]


def each_other(names, made, asked, solved):
    """A student who solves another problem than the one that was asked."""
    return [rows(name, made(Student(name, **solved)), **asked) for name in names]


def loose_deflation(s):
    """A second axis that was never made orthogonal to the first, nor iterated."""
    second = s.V[:, 0] + np.linspace(1, 2, s.d)
    return np.column_stack([s.V[:, 0], second / np.linalg.norm(second)])


def rotation(k, seed=3):
    return random_orthonormal(k, k, np.random.default_rng(seed))


def right_vectors(Z):
    """Two right singular vectors."""
    return np.linalg.svd(Z)[2][:2].T


def turned(V):
    """With signs so that a 2×2 matrix is a rotation, not a reflection, which is its own transpose."""
    return V * [1.0, np.sign(np.linalg.det(V))]


def slope(X):
    """Of the regression line of the second column on the first."""
    return np.polyfit(*X.T, 1)[0]


def squared_products(X):
    return (X @ X.T + 1) ** 2


def alpha_of(pairs):
    return pairs[1] / np.sqrt(pairs[0])


def over_values(pairs):
    return pairs[1] / pairs[0]


def divided(pairs, n):
    return pairs[0] / n, pairs[1]


CASES = {
    "transposed": [
        *each(["iris", "wide"], lambda s: s.V[:, :2].T),
        *each(["gapped"], lambda s: (s.values, s.V.T)),
        *each(["plane"], lambda s: turned(s.V).T),
    ],
    "ascending_order": [
        *each(["iris"], lambda s: s.V[:, :3][:, ::-1]),
        *each(["gapped"], lambda s: np.linalg.eigh(s.C)),
        *each(["plane"], lambda s: s.V[:, ::-1]),
        *each(["iris"], lambda s: {"values": s.values[::-1]}),
    ],
    "smallest_taken": [
        *each(["iris"], lambda s: np.linalg.eigh(s.C)[1][:, :2]),
        *each(["wide"], lambda s: np.linalg.eigh(s.C)[1][:, :3]),
        *each(["plane"], lambda s: np.linalg.eigh(s.C)[1][:, :1]),
        *each(["gapped"], lambda s: (np.linalg.eigh(s.C)[0][:2], np.linalg.eigh(s.C)[1][:, :2])),
        *each(["gapped"], lambda s: s.V[:, -2:]),
    ],
    "left_singular_vectors": [
        *each(["iris", "gapped"], lambda s: {"axes": s.P[:, :2]}),
        *each(["wide"], lambda s: (s.values[:3], s.P[:, :3])),
    ],
    "sorted_alone": [
        *each(["iris", "gapped"], lambda s: (s.values, np.linalg.eigh(s.C)[1])),
        *each(["wide"], lambda s: (s.values[:3], s.V[:, [1, 2, 0]])),
    ],
    "wrong_order": [
        *each(["iris", "wide"], lambda s: s.V[:, [0, 2, 1]]),
        *each(["gapped"], lambda s: (s.values[[1, 0, 2]], s.V[:, [1, 0, 2]])),
    ],
    "first_axis_repeated": [
        *each(["iris"], lambda s: s.V[:, [0, 0]]),
        *each(["wide"], lambda s: s.V[:, [0, 0, 0]] * [1, -1, 1]),
        *each(["gapped"], lambda s: (s.values[[0, 0]], s.V[:, [0, 0]])),
    ],
    "ties_not_orthogonal": [
        *each(["tied"], lambda s: s.V[:, :3] @ OBLIQUE),
        *each(["tied"], lambda s: (s.values[:3], s.V[:, :3] @ OBLIQUE)),
        *each(["tied"], lambda s: s.V[:, [2, 0, 1]] @ OBLIQUE[[1, 0, 2]]),
    ],
    "not_the_largest": [
        *each(["iris"], lambda s: s.V[:, [1, 2]]),
        *each(["wide"], lambda s: s.V[:, [0, 1, 4]]),
        *each(["tied"], lambda s: s.V[:, [0, 3]]),
    ],
    "signs_lost": [
        *each(["iris", "wide"], lambda s: np.abs(s.V[:, :2])),
        *each(["plane"], lambda s: s.V[:, :1] * [[1], [-1]]),
    ],
    "not_centred": [
        *each_other(["iris", "wide"], lambda s: s.V[:, :2], {}, {"center": False}),
        *each_other(["gapped"], lambda s: (s.values, s.V), {}, {"center": False}),
        *each_other(["tied"], lambda s: s.alpha(2), {}, {"center": False}),
        *each(["wine"], lambda s: right_vectors(s.X / s.X.std(axis=0)), scale=True),
    ],
    "centred": [
        *each_other(["iris", "plane"], lambda s: s.V[:, :1], {"center": False}, {}),
        *each_other(["wide"], lambda s: (s.values[:2], s.V[:, :2]), {"center": False}, {}),
    ],
    "scaled": [
        *each_other(["iris"], lambda s: s.V[:, :2], {}, {"scale": True}),
        *each_other(["wine"], lambda s: (s.values[:3], s.V[:, :3]), {}, {"scale": True}),
        *each_other(["plane"], lambda s: s.V[:, :1], {}, {"scale": True}),
    ],
    "not_scaled": [
        *each_other(["iris", "wine"], lambda s: s.V[:, :2], {"scale": True}, {}),
        *each_other(["gapped"], lambda s: (s.values[:2], s.V[:, :2]), {"scale": True}, {}),
    ],
    "grand_mean": [
        *each(["iris", "wide", "tied"], lambda s: right_vectors(s.X - s.X.mean())),
    ],
    "rows_centred": [
        *each(["iris", "wide", "gapped"], lambda s: right_vectors(s.X - s.X.mean(axis=1, keepdims=True))),
        *each(["iris", "wide", "gapped"], lambda s: covariance(np.cov((s.X - s.X.mean(axis=1, keepdims=True)).T), 2)),
    ],
    "points_in_columns": [
        *each(["wine", "wide", "square"], lambda s: covariance(np.cov(s.X), 2)[1]),
        *each(["gapped"], lambda s: covariance(np.cov(s.X), 2)),
    ],
    "kernel_not_centred": [
        rows("gapped", covariance(rbf(data("gapped"), 0.02), 2), kernel="rbf", gamma=0.02),
        rows("hot plane", covariance(squared_products(data("hot plane")), 2), kernel="poly", degree=2, gamma=1),
        rows("tied", alpha_of(covariance(data("tied") @ data("tied").T, 2)), kernel="linear"),
    ],
    "regression_line": [
        *each(["plane", "hot plane"], lambda s: np.array([[1.0], [slope(s.X)]])),
        *each(["plane"], lambda s: np.array([slope(s.X[:, ::-1]), 1.0])),
        *each(["hot plane"], lambda s: np.array([[1.0, -slope(s.X)], [slope(s.X), 1.0]]) / np.hypot(1, slope(s.X))),
    ],
    "columns_kept": [
        *each(["iris"], lambda s: np.eye(s.d)[:, :2]),
        *each(["wide"], lambda s: -3 * np.eye(s.d)[:, [4, 7, 1]]),
        *each(["gapped"], lambda s: (np.diag(s.C)[:2], np.eye(s.d)[:, :2])),
        *each(["wine"], lambda s: s.Z[:, [0, 2]], scale=True),
        *each(["iris"], lambda s: s.X[:, :2]),
    ],
    "matrix_itself": [
        *each(["iris", "wide"], lambda s: s.C),
        *each(["gapped"], lambda s: np.corrcoef(s.X.T)),
        *each(["wine"], lambda s: s.C, scale=True),
    ],
    "divided_by_n": [
        *each_other(["iris", "wide"], lambda s: (s.values[:2], s.V[:, :2]), {}, {"ddof": 0}),
        *each_other(["gapped"], lambda s: {"values": s.values}, {}, {"ddof": 0}),
        *each_other(["wine"], lambda s: (s.values * (s.n - 1) / s.n, s.V), {"scale": True}, {"scale": True}),
    ],
    "divided_by_n_minus_1": [
        *each_other(["iris", "wide"], lambda s: (s.values[:2], s.V[:, :2]), {"ddof": 0}, {}),
        *each_other(["gapped"], lambda s: {"values": s.values}, {"ddof": 0}, {}),
    ],
    "mixed_divisors": [
        *each(["wine", "iris"], lambda s: (s.values * s.n / (s.n - 1), s.V), scale=True),
        *each(["gapped"], lambda s: (s.values * (s.n - 1) / s.n, s.V), scale=True, ddof=0),
    ],
    "not_divided": [
        *each(["iris", "wide"], lambda s: (s.s[:2] ** 2, s.V[:, :2])),
        *each(["gapped"], lambda s: {"values": np.linalg.eigvalsh(s.Z @ s.Z.T)[::-1][: s.d]}, ddof=0),
    ],
    "singular_values": [
        *each(["iris", "wide"], lambda s: (s.s[:2], s.V[:, :2])),
        *each(["gapped"], lambda s: {"values": s.s}),
    ],
    "standard_deviations": [
        *each(["iris", "wide"], lambda s: (np.sqrt(s.values[:2]), s.V[:, :2])),
        *each(["tied"], lambda s: {"values": s.Z.dot(s.V).std(axis=0, ddof=1)}),
    ],
    "variance_ratios": [
        *each(["iris", "wide"], lambda s: (s.values[:2] / s.values.sum(), s.V[:, :2])),
        *each(["tied"], lambda s: {"values": s.values / np.trace(s.C)}),
        *each(["gapped"], lambda s: {"values": 100 * s.values / np.trace(s.C)}),
    ],
    "cumulative": [
        *each(["iris"], lambda s: (np.cumsum(s.values) / s.values.sum(), s.V)),
        *each(["wide"], lambda s: {"values": np.cumsum(s.values[:4]) / s.values.sum() * 100}),
        *each(["tied"], lambda s: {"values": np.cumsum(s.values)}),
    ],
    "kernel_divided": [
        rows("gapped", divided(kernel_pairs(rbf(data("gapped"), 0.02), 2), 20), kernel="rbf", gamma=0.02),
        rows("hot plane", divided(kernel_pairs(rbf(data("hot plane"), 0.5), 3), 25), kernel="rbf", gamma=0.5),
        rows("tied", {"values": kernel_pairs(data("tied") @ data("tied").T, 4)[0] / 30}, kernel="linear"),
    ],
    "alpha_not_normalised": [
        *each(["iris", "wide"], lambda s: s.P[:, :2]),
        rows("hot plane", kernel_pairs(rbf(data("hot plane"), 0.5), 3)[1], kernel="rbf", gamma=0.5),
    ],
    "alpha_other_divisor": [
        *each(["iris", "wide"], lambda s: s.P[:, :2] / np.sqrt(s.n * s.values[:2])),
        *each(["gapped"], lambda s: s.P[:, :2] / np.sqrt((s.n - 1) * s.values[:2]), ddof=0),
    ],
    "alpha_by_lambda": [
        *each(["iris", "wide"], lambda s: s.P[:, :2] / np.sqrt(s.values[:2])),
        *each(["gapped"], lambda s: s.P[:, :3] / np.sqrt(s.values[:3]), ddof=0),
    ],
    "alpha_by_n_kappa": [
        *each(["iris", "wide"], lambda s: s.P[:, :2] / (np.sqrt(s.n) * s.s[:2])),
        *each(["gapped"], lambda s: s.P[:, :2] / (np.sqrt(s.n - 1) * s.s[:2])),
        rows("hot plane", alpha_of(kernel_pairs(rbf(data("hot plane"), 0.5), 3)) / 5, kernel="rbf", gamma=0.5),  # √25
    ],
    "alpha_by_kappa": [
        *each(["iris", "wide"], lambda s: s.P[:, :2] / s.s[:2] ** 2),
        rows("hot plane", over_values(kernel_pairs(rbf(data("hot plane"), 0.5), 3)), kernel="rbf", gamma=0.5),
    ],
    "scores_not_centred": [
        *each(["iris", "wide"], lambda s: s.X @ s.V[:, :2]),
        *each(["plane"], lambda s: {"scores": s.X @ s.V[:, :1]}),
    ],
    "scores_whitened": [
        *each(["gapped", "tied"], lambda s: {"scores": s.Z @ s.V[:, :2] / np.sqrt(s.values[:2])}),
        *each(["wide"], lambda s: {"scores": s.P[:, :2]}),
    ],
    "loadings": [
        *each(["iris", "wide"], lambda s: s.V[:, :2] * np.sqrt(s.values[:2])),
        *each(["wine"], lambda s: s.V[:, :3] * np.sqrt(s.values[:3]), scale=True),
    ],
    "wrong_length": [
        *each(["iris", "wide"], lambda s: s.V[:, :2] * 3),
        *each(["plane"], lambda s: s.V[:, 0] / s.V[0, 0]),
    ],
    "rotated_basis": [
        *each(["wide"], lambda s: s.V[:, :3] @ rotation(3)),
        *each(["iris"], lambda s: s.V[:, :2] @ rotation(2)),
        *each(["tied"], lambda s: s.V[:, :4] @ rotation(4)),
    ],
    "not_orthogonal": [
        *each(["iris", "wide"], lambda s: s.V[:, :2] @ np.array([[1.0, 0.8], [0.0, 0.6]])),
        *each(["tied"], lambda s: s.V[:, :3] @ np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 10]])),
    ],
    "not_converged": [
        rows("iris", power("iris", 4, 2)),
        rows("wide", power("wide", 12, 2)),
        rows("gapped", power("gapped", 12, 1)),
    ],
    "first_axis_only": [
        *each(["iris", "wide", "gapped"], loose_deflation),
    ],
}
