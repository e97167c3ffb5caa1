"""Rotations of loadings towards simple structure: each column on few components, or each component of few columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.interpretation.column_tables import by_component, percent
from ritz.interpretation.criteria import Criterion, oblimin, quartimax, varimax
from ritz.interpretation.projection import Found, oblique, orthogonal
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import Array, row_squares
from ritz.linalg.exponents import times_power
from ritz.pca.fitted import column_names, rows_of, subspace_of
from ritz.rows.base import stack
from ritz.runtime.rules import FINITE, check_all, integer, is_flag, is_integer, is_number
from ritz.runtime.tables import Table, Tabled
from ritz.runtime.threads import pinned
from ritz.runtime.wording import plural
from ritz.spectrum.certify import signs
from ritz.spectrum.subspace import Subspace

SAME = 1e-7  # of a criterion: starts that end so near to each other have found the same


class Method(NamedTuple):
    """How a kind of rotation is found."""

    criterion: Callable[[float], Criterion]  # of gamma
    search: Callable[[Array, Criterion, Array], Found]
    kaiser: bool = False  # whether rows are normalised unless told otherwise


METHODS = {
    "varimax": Method(lambda gamma: varimax, orthogonal),
    "quartimax": Method(lambda gamma: quartimax, orthogonal),
    "oblimin": Method(oblimin, oblique),
    "promax": Method(lambda gamma: varimax, orthogonal, kaiser=True),
}


@dataclass(frozen=True, eq=False)
class Rotation(Tabled):
    """Rotated loadings L. Components are in descending order of variance again, RC1, RC2, …

    Attributes
    ----------
    method : "varimax", "quartimax", "oblimin" or "promax"
    loadings : (d, k), L = A M for loadings A = U√λ; for an oblique rotation the pattern: weights of components in a
        column, which are not correlations
    rotation : (k, k) M: orthogonal, or T⁻ᵀ with unit columns of T
    phi : (k, k) correlations of the rotated components, TᵀT; the identity for orthogonal rotations
    variances : (k,) diagonal of Φ LᵀL; they add up to the variance of what was rotated
    shares : of the whole variance; None for a matrix without a model
    criterion : what was made smallest, of the loadings as they were rotated; for promax that of its varimax
    converged : whether the best start did
    starts : criterion that every start has reached
    kaiser : whether rows were normalised to length 1 while they were rotated
    names : of the columns
    """

    method: str
    loadings: Array
    rotation: Array
    phi: Array
    variances: Array
    shares: Array | None
    criterion: float
    converged: bool
    starts: Array
    kaiser: bool
    names: tuple[str, ...]
    _model: Any = field(default=None, repr=False)

    @property
    def oblique(self) -> bool:
        """Whether components are correlated."""
        return METHODS[self.method].search is oblique or self.method == "promax"

    @property
    def table(self) -> Table:
        """The loadings."""
        found = by_component(self.loadings, self.names, self._head, self._notes, index_name="column")
        return Table(
            {f"R{name[1:]}": values for name, values in found.columns.items()},
            found.index,
            found.head,
            found.notes,
            index_name="column",
        )

    @property
    def components(self) -> Table:
        """Variances of the rotated components, and their correlations where the rotation is oblique."""
        names = rotated_names(len(self.variances))
        cells: dict[str, Any] = {"variance": self.variances}
        if self.shares is not None:
            cells |= {"share": self.shares, "cumulative": np.cumsum(self.shares)}
        if self.oblique:
            cells |= dict(zip(names, self.phi.T, strict=True))
        formats = {"share": percent, "cumulative": percent}
        return Table(cells, names, ("rotated components",), (), formats)

    def scores(self, X: Any) -> Array:  # (n, d) -> (n, k)
        """Scores of rows on the rotated components, with variance 1 over the rows of the fit: F = (y/√λ) T, for which
        z ≈ L f. Those of an oblique rotation have the correlations Φ.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> rotated = ritz.PCA(3, scale=True).fit(X).rotate("oblimin")
        >>> bool(np.allclose(np.cov(rotated.scores(X).T), rotated.phi))
        True
        """
        if self._model is None:
            raise DataError("this rotation is of a matrix, which has no rows", "rotate a fitted model: model.rotate()")
        subspace, rows = subspace_of(self._model, "scores"), rows_of(self._model, X)
        T = np.linalg.inv(self.rotation).T
        k = len(T)
        blocks = (block[:, :k] @ T for block in subspace.codes(rows, np.float64, whiten=True))
        return stack(blocks, rows.shape[0])

    @property
    def _head(self) -> str:
        normal = ", rows normalised (Kaiser)" if self.kaiser else ""
        return f"{self.method} rotation of {len(self.phi)} {plural(len(self.phi), 'component')}{normal}: loadings"

    @property
    def _notes(self) -> list[str]:
        names, of = rotated_names(len(self.variances)), self.shares
        told = [
            f"{name} {value:.4g}" + ("" if of is None else f" ({percent(of[i])})")
            for i, (name, value) in enumerate(zip(names, self.variances, strict=True))
        ]
        notes = [f"variances: {', '.join(told)}"]
        if self.oblique and len(self.phi) > 1:
            largest = np.abs(self.phi - np.eye(len(self.phi))).max()
            notes.append(f"components are correlated, by at most {largest:.3f}: see phi")
        if not self.converged:
            notes.append("did not converge: more starts or fewer components may help")
        same = int(np.sum(self.starts <= self.starts.min() + SAME * max(1.0, abs(self.starts.min()))))
        if same < len(self.starts):
            notes.append(f"{same} of {len(self.starts)} starts ended at this rotation, the others at worse ones")
        return notes


def rotated_names(k: int) -> list[str]:
    """What rotated components are called."""
    return [f"RC{i + 1}" for i in range(k)]


def rotate_model(model: Any, method: str, k: int | None, **options: Any) -> Rotation:
    """The loadings of a fitted PCA, rotated: those of its first k components."""
    subspace = subspace_of(model, "rotate")
    seen, kept = int((subspace.deviations > 0).sum()), len(subspace.variances)
    if k is not None and not (is_integer(k) and 1 <= k <= kept):
        raise ParameterError("k", k, f"must be an integer from 1 to the {kept} components kept, or None for all")
    if k is not None and k > seen:
        raise ParameterError("k", k, f"must be at most {seen}: components without variance have no loadings to rotate")
    k = seen if k is None else int(k)
    if not k:
        raise DataError("the model has no component with variance, so there is nothing to rotate")
    A = subspace.axes[:, :k] * subspace.deviations[:k]
    return _rotated(A, method, column_names(model), subspace, model, **options)


@pinned()
def rotate(A: Any, method: str = "varimax", names: Sequence[str] | None = None, **options: Any) -> Rotation:
    """Rotate any matrix of loadings; options are those of `PCA.rotate`.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[0.8, 0.5], [0.7, 0.6], [0.6, -0.7], [0.5, -0.6]])
    >>> print(rotate(A, names=["a", "b", "c", "d"]))
    varimax rotation of 2 components: loadings
    column      RC1       RC2
    a        0.9381   0.09993
    b        0.9211  -0.04046
    c       0.04046    0.9211
    d       0.02344    0.7807
    variances: RC1 1.731, RC2 1.469
    """
    A = np.array(on_host(A), dtype=np.float64)
    if A.ndim != 2 or not A.size or not np.isfinite(A).all():
        raise DataError(f"expected a (d, k) matrix of finite loadings, got shape {A.shape}")
    if A.shape[1] > A.shape[0]:
        raise DataError(f"{A.shape[1]} components of {A.shape[0]} columns: a rotation needs at least as many columns")
    known = tuple(f"x{j}" for j in range(len(A))) if names is None else tuple(map(str, names))
    if len(known) != len(A):
        raise DataError(f"{len(known)} names for {len(A)} columns", "give one name for each")
    return _rotated(A, method, known, None, None, **options)


@dataclass(frozen=True)
class Options:
    """How a rotation is looked for; the rules of `PCA.rotate`."""

    kaiser: Any = None
    n_starts: Any = 10
    seed: int = 0
    gamma: Any = 0.0
    power: Any = 4.0

    def checked(self, method: str) -> Method:
        """The method by its name, once the options are known to fit it."""
        if method not in METHODS:
            raise ParameterError("method", method, f"must be one of {', '.join(map(repr, METHODS))}")
        if self.kaiser is not None and not is_flag(self.kaiser):
            raise ParameterError("kaiser", self.kaiser, "must be True, False or None for what is usual")
        check_all(self, {"n_starts": integer(1), "gamma": FINITE})
        if not (is_number(self.power) and float(self.power) > 1):
            raise ParameterError("power", self.power, "must be a number above 1; 4 is usual")
        if float(self.gamma) > 1:
            raise ParameterError("gamma", self.gamma, "must be at most 1; 0 is usual, and larger ones have no minimum")
        return METHODS[method]


def _rotated(
    A: Array, method: str, names: Sequence[str], subspace: Subspace | None, model: Any, **options: Any
) -> Rotation:
    asked = Options(**options)
    how = asked.checked(method)
    kaiser = how.kaiser if asked.kaiser is None else bool(asked.kaiser)
    unit = float(np.abs(A).max())  # criteria have fourth powers
    if not unit > 0:
        raise DataError("all loadings are 0, so there is nothing to rotate")
    B = A / unit
    lengths = np.sqrt(row_squares(B))
    N = np.divide(B, lengths[:, None], out=np.zeros_like(B), where=lengths[:, None] > 0) if kaiser else B
    best, values = _best(N, how.criterion(float(asked.gamma)), how.search, int(asked.n_starts), asked.seed)
    M = np.linalg.inv(best.T).T if how.search is oblique else best.T
    if method == "promax":
        M = M @ _powered(B @ M, float(asked.power))
    T = np.linalg.inv(M).T
    L, phi = B @ M, T.T @ T if how.search is oblique or method == "promax" else np.eye(len(M))
    variances = np.sum(phi * (L.T @ L), axis=1)
    order = np.argsort(-variances, kind="stable")
    sign = signs(L[:, order])
    L, M = L[:, order] * sign, M[:, order] * sign
    phi, variances = phi[np.ix_(order, order)] * np.outer(sign, sign), variances[order]
    shares, power = None, 0
    if subspace is not None:
        roots, power = subspace.deviations, subspace.power
        whole = float(np.sum((roots / unit) ** 2) + (subspace.outside / unit) ** 2)
        shares = variances / whole
    with np.errstate(over="ignore", under="ignore"):
        found = times_power(L * unit, power), times_power(variances * unit**2, 2 * power)
    return Rotation(
        method,
        found[0],
        M,
        phi,
        found[1],
        shares,
        best.value if kaiser else best.value * unit**4,
        best.converged,
        values if kaiser else values * unit**4,
        kaiser,
        tuple(names),
        model,
    )


def _best(A: Array, criterion: Criterion, search: Any, n_starts: int, seed: int) -> tuple[Found, Array]:
    """The best of several starts, the first of which is no rotation; of equal ones the first."""
    k, generator = A.shape[1], np.random.default_rng(seed)
    starts = [np.eye(k)]
    if k > 1:
        starts += [np.linalg.qr(generator.standard_normal((k, k)))[0] for _ in range(n_starts - 1)]
    found = [search(A, criterion, T) for T in starts]
    values = np.array([each.value for each in found])
    near = values <= values.min() + SAME * max(1.0, abs(float(values.min())))
    good = [each for each, close in zip(found, near, strict=True) if close and each.converged]
    return (good or [found[int(np.argmin(values))]])[0], values


def _powered(L: Array, power: float) -> Array:  # (d, k) -> (k, k)
    """Promax: from varimax loadings to their powers by least squares, scaled so that components have variance 1
    (Hendrickson and White 1964)."""
    target = L * np.abs(L) ** (power - 1)
    U = np.linalg.lstsq(L, target, rcond=None)[0]
    try:
        sizes = np.diagonal(np.linalg.inv(U.T @ U))
    except np.linalg.LinAlgError:
        sizes = np.full(len(U), np.nan)
    if not (sizes > 0).all() or not np.isfinite(sizes).all():
        raise DataError("promax has no answer here: powers of the loadings are not independent", "use another method")
    return np.asarray(U * np.sqrt(sizes))
