"""Problems: what an exercise asks for, and its certified solution.

A mistake is often the right answer to another problem, so that every problem knows its neighbours: `other` is the
same problem with something changed, solved once and kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ritz.errors import AccuracyWarning, ColumnWarning, DataError
from ritz.estimators.kernel_pca import KernelPCA
from ritz.estimators.pca import PCA
from ritz.exercises.solution import Solution
from ritz.fitting.request import Request
from ritz.fitting.solve import preprocessing
from ritz.kernels import kernel_named
from ritz.kernels.distances import resolved
from ritz.kernels.products import Linear
from ritz.linalg.dense import Array, r_factor, svd
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import moments
from ritz.operators.base import Indefinite
from ritz.rows import as_rows
from ritz.spectrum.eigen_pairs import eigen

RANGE = 1e-250, 1e250  # of variances whose squares and ratios are judged without overflow
LARGE = 2e9  # multiplications of a singular value decomposition beyond which the fastest solver will do


@dataclass(frozen=True, eq=False)
class Problem:
    """A symmetric positive semidefinite matrix whose leading eigenpairs are asked for.

    Attributes
    ----------
    name, symbol : of the matrix, in a verdict
    point : of a row that is decoded; "" where there are no rows
    columns, pairs : what columns handed in may be, the most likely first: alone, and with eigenvalues
    n_rows : 0 where there is no data, only a matrix
    divisor : the eigenvalues of the matrix times this are those of the inner products K of the rows
    certified : whether the solution needs a certificate; what a mistake is compared with does not
    """

    name: ClassVar[str] = "the matrix A"
    symbol: ClassVar[str] = "A"
    point: ClassVar[str] = ""
    columns: ClassVar[tuple[str, ...]] = ("axes",)
    pairs: ClassVar[tuple[str, ...]] = ("axes",)

    _others: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    n_rows: int = field(default=0, init=False)
    divisor: float = field(default=1.0, init=False)
    certified: bool = field(default=True, kw_only=True)

    def other(self, change: Callable[[Array], Array] | None = None, **options: Any) -> Self:
        """The same problem with other options, or with rows that were changed; solved once, however often asked for."""
        key = (change, *options.items())
        if key not in self._others:
            rows: dict[str, Any] = {} if change is None else {"X": change(getattr(self, "X"))}  # noqa: B009
            self._others[key] = replace(self, certified=False, **rows, **options)
        return self._others[key]

    @cached_property
    def solution(self) -> Solution:
        """Solved once."""
        with warnings.catch_warnings(), np.errstate(over="ignore"):  # rank and ties are part of what is judged
            warnings.simplefilter("ignore", AccuracyWarning)
            warnings.simplefilter("ignore", ColumnWarning)
            found = self.solve()
        largest = float(found.first(1)[0])
        if largest and not RANGE[0] < largest < RANGE[1]:
            raise DataError(f"the largest variance is {largest:.1e}; scale the data so that it is near 1")
        return found

    def solve(self) -> Solution:
        """The eigenpairs."""
        raise NotImplementedError

    @property
    def dim(self) -> int:
        """Entries of an axis; known before anything is solved."""
        raise NotImplementedError

    @property
    def matrix(self) -> Array:
        """The matrix itself."""
        raise NotImplementedError

    def entries(self, kind: str) -> int:
        """How many entries a column of that kind has."""
        return self.dim if kind == "axes" else self.n_rows

    @cached_property
    def kappa(self) -> Array:  # (r,)
        """Eigenvalues of the matrix K of inner products."""
        return self.solution.values * self.divisor

    @property
    def duals(self) -> Array:  # (n, r)
        """Unit eigenvectors β of K."""
        return self.solution.vectors

    @property
    def weight(self) -> float:
        """What the eigenvalues are multiplied by to be a mean over the rows."""
        return self.divisor / self.n_rows if self.n_rows else 1.0


@dataclass(frozen=True, eq=False)
class RowsProblem(Problem):
    """PCA of rows: C = ZᵀZ/(n − ddof), z = (x − mean)/scale."""

    name = "the covariance of X"
    symbol = "C"
    point = "x"
    columns = ("axes", "alpha", "scores")

    X: Array
    center: bool = True
    scale: bool = False
    ddof: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_rows", len(self.X))
        object.__setattr__(self, "divisor", float(len(self.X) - self.ddof))

    @property
    def dim(self) -> int:
        return int(self.X.shape[1])

    def solve(self) -> Solution:
        n, d = self.X.shape
        small = n * d * min(n, d) < LARGE
        if small and not self.certified:
            return self._by_lapack()
        solver = "svd" if small else "auto"
        pca = PCA(None, center=self.center, scale=self.scale, ddof=self.ddof, svd_solver=solver).fit(self.X)
        r = pca.certificate_.rank
        values, axes = pca.certificate_.values[:r], pca.subspace_.axes[:, :r]
        return Solution(values, axes, float(pca.total_variance_), pca.certificate_.first(r) if r else pca.certificate_)

    def _by_lapack(self) -> Solution:
        """From s and V of Z = P diag(s) Vᵀ alone; a mistake needs no certificate, which would take as long again."""
        n, d = self.X.shape
        _, s, V = svd(r_factor(self.Z) if n > d else self.Z)
        r = int(np.count_nonzero(s > max(n, d) * np.finfo(float).eps * s[0]))
        return Solution(s[:r] ** 2 / self.divisor, V[:, :r], float(np.sum(s**2)) / self.divisor)

    @cached_property
    def Z(self) -> Array:
        """The preprocessed rows, centred by a mean in two words: the rounding of one would show in small variances."""
        found = moments(as_rows(self.X), center=self.center, scale=self.scale, scatter=Scatter.DIAGONAL)
        prepare, units = preprocessing(found, Request(None, self.center, self.scale, self.ddof))
        return prepare(self.X) * units.unit

    @cached_property
    def matrix(self) -> Array:
        return self.Z.T @ self.Z / self.divisor

    @cached_property
    def duals(self) -> Array:
        """β = Z u/√κ."""
        return self.Z @ self.solution.vectors / np.sqrt(self.kappa)


@dataclass(frozen=True, eq=False)
class MatrixProblem(Problem):
    """The eigenpairs of a symmetric positive semidefinite matrix."""

    A: Array

    @property
    def dim(self) -> int:
        return len(self.A)

    def solve(self) -> Solution:
        try:
            found = eigen(self.A, len(self.A), "covariance")
        except Indefinite:
            raise indefinite(self.A) from None
        r = found.certificate.rank
        certificate = found.certificate.first(r) if r else found.certificate
        return Solution(found.values[:r], found.vectors[:, :r], float(np.trace(self.A)), certificate)

    @property
    def matrix(self) -> Array:
        return self.A


def indefinite(A: Array) -> DataError:
    """The error for a matrix with eigenvalues below 0, and how to judge its eigenvectors all the same."""
    lowest = float(np.linalg.eigvalsh(A)[0])
    shift = -float(f"{lowest - abs(lowest) / 2:.0e}")  # one digit, at least −lowest
    problem = f"A has the eigenvalue {lowest:.4g}; check judges matrices that have none below 0, such as covariances"
    advice = f"add {shift:g} to its diagonal, which adds it to the eigenvalues and leaves the eigenvectors as they are"
    return DataError(problem, advice)


@dataclass(frozen=True, eq=False)
class KernelProblem(Problem):
    """Kernel PCA: the eigenpairs of H K H, H = I − 11ᵀ/n, or of K itself."""

    name = "the centred kernel matrix"
    symbol = "K"
    point = "φ"
    columns = ("alpha", "scores")
    pairs = ("beta", "alpha")

    X: Array
    kernel: Any = "rbf"
    gamma: Any = None
    degree: float = 3
    coef0: float = 1
    center: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_rows", len(self.X))

    @property
    def dim(self) -> int:
        return len(self.X)

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
