"""Problems: what an exercise asks for, and its certified solution.

A mistake is often the right answer to another problem, so that every problem knows its neighbours: `other` is the
same problem with something changed, solved once and kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ritz.errors import AccuracyWarning, ColumnWarning, DataError
from ritz.estimators.kernel_pca import KernelPCA
from ritz.estimators.pca import PCA
from ritz.kernels import kernel_named
from ritz.kernels.distances import resolved
from ritz.kernels.products import Linear
from ritz.linalg.dense import Array
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.eigen_pairs import eigen

RANGE = 1e-250, 1e250  # of variances whose squares and ratios are judged without overflow
LARGE = 2e9  # multiplications of a singular value decomposition beyond which the fastest solver will do


@dataclass(frozen=True, eq=False)
class Solution:
    """The eigenpairs of a problem that have a variance, with their certificate.

    Attributes
    ----------
    values : (r,) eigenvalues above rounding, descending
    vectors : (dim, r) orthonormal
    total : trace of the matrix
    certificate : of these pairs
    """

    values: Array
    vectors: Array
    total: float
    certificate: Certificate

    @property
    def rank(self) -> int:
        """How many directions have a variance."""
        return len(self.values)

    @property
    def dim(self) -> int:
        """Entries of a vector."""
        return len(self.vectors)

    def first(self, count: int) -> Array:
        """The first eigenvalues, with a 0 for every one beyond the rank."""
        return np.append(self.values, np.zeros(max(0, count - self.rank)))[:count]


@dataclass(frozen=True, eq=False)
class Problem:
    """A symmetric positive semidefinite matrix whose leading eigenpairs are asked for.

    Attributes
    ----------
    n_rows, divisor : of the data; None where there is no data, only a matrix
    """

    _others: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    n_rows: int | None = field(default=None, init=False)
    divisor: float | None = field(default=None, init=False)

    def other(self, **changes: Any) -> Self:
        """The same problem with something changed; solved once, however often it is asked for."""
        key = tuple(changes.items())
        if key not in self._others:
            self._others[key] = replace(self, **changes)
        return self._others[key]

    @cached_property
    def solution(self) -> Solution:
        """Solved once."""
        with warnings.catch_warnings():  # rank and ties are part of what is judged
            warnings.simplefilter("ignore", AccuracyWarning)
            warnings.simplefilter("ignore", ColumnWarning)
            found = self.solve()
        largest = float(found.first(1)[0])
        if largest and not RANGE[0] < largest < RANGE[1]:
            raise DataError(f"the largest variance is {largest:.1e}; scale the data so that it is near 1")
        return found

    def solve(self) -> Solution:
        """The certified eigenpairs."""
        raise NotImplementedError

    @property
    def matrix(self) -> Array:
        """The matrix itself."""
        raise NotImplementedError

    @cached_property
    def kappa(self) -> Array:  # (r,)
        """Eigenvalues of the matrix K of inner products."""
        return self.solution.values * (self.divisor or 1.0)

    @property
    def duals(self) -> Array:  # (n, r)
        """Unit eigenvectors β of K."""
        return self.solution.vectors

    @property
    def weight(self) -> float:
        """What the eigenvalues are multiplied by to be a mean over the rows."""
        return 1.0 if self.n_rows is None or self.divisor is None else self.divisor / self.n_rows


@dataclass(frozen=True, eq=False)
class RowsProblem(Problem):
    """PCA of rows: C = ZᵀZ/(n − ddof), z = (x − mean)/scale."""

    X: Array
    center: bool = True
    scale: bool = False
    ddof: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_rows", len(self.X))
        object.__setattr__(self, "divisor", float(len(self.X) - self.ddof))

    def from_rows(self, change: Callable[[Array], Array], center: bool) -> RowsProblem:
        """The same problem for rows that were changed; solved once, too."""
        if (change, center) not in self._others:
            self._others[change, center] = replace(self, X=change(self.X), center=center)
        return self._others[change, center]

    @cached_property
    def fitted(self) -> PCA:
        """The model of all components."""
        n, d = self.X.shape
        solver = "svd" if n * d * min(n, d) < LARGE else "auto"
        return PCA(None, center=self.center, scale=self.scale, ddof=self.ddof, svd_solver=solver).fit(self.X)

    def solve(self) -> Solution:
        pca = self.fitted
        r = pca.certificate_.rank
        values, axes = pca.certificate_.values[:r], pca.subspace_.axes[:, :r]
        return Solution(values, axes, float(pca.total_variance_), pca.certificate_.first(r) if r else pca.certificate_)

    @cached_property
    def Z(self) -> Array:
        """The preprocessed rows."""
        self.solution  # noqa: B018  (a fit that warns is run where warnings are dealt with)
        Z = self.X - self.fitted.mean_
        return Z if self.fitted.scale_ is None else Z / self.fitted.scale_

    @cached_property
    def matrix(self) -> Array:
        return self.Z.T @ self.Z / (self.divisor or 1.0)

    @cached_property
    def duals(self) -> Array:
        """β = Z u/√κ."""
        return self.Z @ self.solution.vectors / np.sqrt(self.kappa)


@dataclass(frozen=True, eq=False)
class MatrixProblem(Problem):
    """The eigenpairs of a symmetric positive semidefinite matrix."""

    A: Array

    def solve(self) -> Solution:
        found = eigen(self.A, len(self.A), "covariance")
        r = found.certificate.rank
        certificate = found.certificate.first(r) if r else found.certificate
        return Solution(found.values[:r], found.vectors[:, :r], float(np.trace(self.A)), certificate)

    @property
    def matrix(self) -> Array:
        return self.A


@dataclass(frozen=True, eq=False)
class KernelProblem(Problem):
    """Kernel PCA: the eigenpairs of H K H, H = I − 11ᵀ/n, or of K itself."""

    X: Array
    kernel: Any = "rbf"
    gamma: Any = None
    degree: float = 3
    coef0: float = 1
    center: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_rows", len(self.X))
        object.__setattr__(self, "divisor", 1.0)

    def solve(self) -> Solution:
        if not self.center:
            return MatrixProblem(self.K).solve()
        options = {"kernel": self.kernel, "gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        model: Any = KernelPCA(None, eigen_solver="dense", **options).fit(self.X)
        r, total = len(model.eigenvalues_), float(np.trace(self.matrix))
        values, vectors = model.eigenvalues_.astype(float), model.eigenvectors_.astype(float)
        return Solution(values, vectors, total, model.certificate_.first(r))

    @cached_property
    def K(self) -> Array:  # (n, n)
        """k(x_i, x_j), not centred."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return self.X
        gamma = resolved(self.gamma, self.X, self.kernel)
        kernel = kernel_named(self.kernel, gamma=gamma, degree=float(self.degree), coef0=float(self.coef0))
        frame = kernel.frame(self.X)
        if isinstance(kernel, Linear):  # it is shifted because centring undoes that, which is not done here
            frame = replace(frame, origin=None)
        points = kernel.points(self.X, frame)
        return kernel.tile(points, points, frame) * frame.unit**2

    @cached_property
    def matrix(self) -> Array:
        if not self.center:
            return self.K
        half = self.K - self.K.mean(axis=0)
        return half - half.mean(axis=1, keepdims=True)
