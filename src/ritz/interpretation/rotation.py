"""Rotations of loadings towards simple structure: each column on few components, or each component of few columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.interpretation.criteria import Criterion, oblimin, quartimax, varimax
from ritz.interpretation.projection import Found, oblique, orthogonal
from ritz.interpretation.rotated import OBLIQUE, SAME, Rotation
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import Array, row_squares
from ritz.linalg.exponents import times_power
from ritz.pca.fitted import column_names, subspace_of
from ritz.runtime.rules import FINITE, check_all, integer, is_flag, is_integer, is_number
from ritz.runtime.threads import pinned
from ritz.spectrum.certify import signs
from ritz.spectrum.subspace import Subspace

FALLEN = 1e5  # condition of correlated components that have become the same


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
        if not isinstance(method, str) or method not in METHODS:
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
    lengths = np.sqrt(row_squares(B))[:, None]
    N = np.divide(B, lengths, out=np.zeros_like(B), where=lengths > 0) if kaiser else B
    found = _from_starts(N, how.criterion(float(asked.gamma)), how.search, int(asked.n_starts), asked.seed)
    best = _best(found)
    if not best.converged and np.linalg.cond(best.T) > FALLEN:
        raise DataError(
            f"{method} with gamma={float(asked.gamma):g} has no minimum here: components become the same",
            "use gamma=0, which is usual, or fewer components",
        )
    M = np.linalg.inv(best.T).T if how.search is oblique else best.T
    if method == "promax":
        M = M @ _powered(B @ M, float(asked.power))
    M, phi, variances = _in_order(B, M, method in OBLIQUE)
    power = 0 if subspace is None else subspace.power
    with np.errstate(over="ignore", under="ignore"):
        fourth = 1.0 if kaiser else np.float64(unit) ** 4
        return Rotation(
            method=method,
            loadings=times_power(B @ M * unit, power),
            rotation=M,
            phi=phi,
            variances=times_power(variances * unit * unit, 2 * power),
            shares=None if subspace is None else variances / _whole(subspace, unit),
            criterion=float(best.value * fourth),
            converged=best.converged,
            starts=np.array([each.value for each in found]) * fourth,
            kaiser=kaiser,
            names=tuple(names),
            _model=model,
        )


def _in_order(A: Array, M: Array, correlated: bool) -> tuple[Array, Array, Array]:
    """M with components in descending order of variance and decided signs, their correlations, and the variances."""
    L, T = A @ M, np.linalg.inv(M).T
    phi = T.T @ T if correlated else np.eye(len(M))
    variances = np.sum(phi * (L.T @ L), axis=1)
    order = np.argsort(-variances, kind="stable")
    sign = signs(L[:, order])
    return M[:, order] * sign, phi[np.ix_(order, order)] * np.outer(sign, sign), variances[order]


def _whole(subspace: Subspace, unit: float) -> float:
    """All of the variance, kept or not, in squares of a unit."""
    return float(np.sum((subspace.deviations / unit) ** 2) + (subspace.outside / unit) ** 2)


def _from_starts(A: Array, criterion: Criterion, search: Any, n_starts: int, seed: int) -> list[Found]:
    """Where the starts end, the first of which is no rotation."""
    k, generator = A.shape[1], np.random.default_rng(seed)
    starts = [np.eye(k)]
    if k > 1:
        starts += [np.linalg.qr(generator.standard_normal((k, k)))[0] for _ in range(n_starts - 1)]
    return [search(A, criterion, T) for T in starts]


def _best(found: list[Found]) -> Found:
    """The smallest value; of equal ones the first that converged."""
    least = min(each.value for each in found)
    near = [each for each in found if each.value <= least + SAME * max(1.0, abs(least))]
    return next((each for each in near if each.converged), min(near, key=lambda each: each.value))


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
