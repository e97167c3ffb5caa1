"""Spectrum: what every solver's basis turns into, once: values, order, signs, residuals, certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import UNIT, Array, norm_of, squared
from ritz.operators import Operator
from ritz.operators.base import Pairs
from ritz.runtime.threads import cached_property
from ritz.solvers import Basis, Outside, Solver, Step
from ritz.spectrum.bounds import Bounds, Evidence, Question, bounds, completeness, may_tie, next_upper, widened
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.magnitudes import magnitudes

NEARLY = 1e-10  # share of the largest value by which the Ritz values of an iteration's own basis may be off
MARGIN = 10.0  # times the floor of rounding that a proof may add to the norm outside


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues in descending order, orthonormal vectors with decided signs, and how good they are.

    Where the certificate is `by_magnitude`, it is magnitudes that descend.

    Attributes
    ----------
    values, vectors : (k,) and (dim, k)
    certificate : Certificate
    history : one Step per iteration of an iterative solver
    note : why an iterative solver stopped short, if it did
    spare : further Ritz values beside the k, converged or not
    dual : (n, k) α with vectors = Zᵀ α, from the Gram route
    solver : the solver object of `ritz.eigen`, with its options

    Examples
    --------
    >>> from ritz import eigen
    >>> found = eigen(np.diag([3.0, 2.0, 1.0]), 2)
    >>> found.values, found.vectors.shape, found.certificate.satisfied
    (array([3., 2.]), (3, 2), True)
    """

    values: Array
    vectors: Array
    certificate: Certificate
    history: tuple[Step, ...] = ()
    note: str = ""
    spare: Array | None = None
    dual: Array | None = None
    solver: Solver | None = None

    def in_units(self, unit: float) -> Spectrum:
        """The spectrum of unit²·A."""
        return replace(
            self,
            values=squared(self.values, unit),
            certificate=self.certificate.in_units(unit),
            spare=None if self.spare is None else squared(self.spare, unit),
            history=self.history_in_units(unit),
        )

    def history_in_units(self, unit: float) -> tuple[Step, ...]:
        """The way there, for unit²·A."""
        return tuple(
            step._replace(value=float(squared(step.value, unit)), residual=float(squared(step.residual, unit)))
            for step in self.history
        )

    def __str__(self) -> str:
        return str(self.certificate)


def certify(
    A: Operator, everything: Pairs, basis: Basis, k: int, *, tol: float | None, n_rows: int | None = None
) -> Spectrum:
    """The first k of the Ritz pairs, with decided signs and a certificate; without a tol, the solver's word counts."""
    some = k < len(everything.values) < len(everything.vectors)  # beside all of them nothing can have been missed
    pairs = everything.trusted(k, A.rounding) if some else everything
    verdict = _verdict(A, everything, pairs, basis, k, tol or 0.0)
    sizes = np.abs(everything.values) if everything.levels is None else everything.levels
    resolved = _resolved(sizes, verdict.floor, verdict.ceiling)
    # The values that are meant lie between these and `missing` more.
    seen = (everything.values if resolved is None else np.where(resolved, everything.values, 0.0)) + A.offset
    residuals = pairs.residuals if pairs.slack is None else pairs.residuals + pairs.slack
    certificate = Certificate.of(
        partial(verdict.details, _next_value(A, verdict, everything, basis, k)),
        values=seen[:k],
        residuals=_delivered(residuals, pairs.values, resolved)[:k],
        **verdict.claims(),
        rank=k if resolved is None else int(np.count_nonzero(resolved[:k])),
        missing=A.missing,
        audited=A.audited,
        passes=A.passes,
        tol=tol,
        satisfied=not basis.note if tol is None else verdict.satisfied(tol, max(pairs.vectors.shape)),
        n_rows=n_rows,
        by_singular_values=pairs.levels is not None,
        by_magnitude=A.signed,
    )
    U, sign = pairs.vectors[:, :k], signs(pairs.vectors[:, :k])
    U *= sign
    U.setflags(write=False)  # the model will share it
    dual = None if pairs.dual is None else pairs.dual[:, :k] * sign
    return Spectrum(certificate.values, U, certificate, basis.history, basis.note, seen[k:], dual)


def _verdict(A: Operator, everything: Pairs, pairs: Pairs, basis: Basis, k: int, tol: float) -> Verdict:
    """What the pairs that are trusted say, by what is known of them and of A."""
    if A.signed:
        return _by_magnitudes(A, pairs, k, tol, basis.mixed)
    if pairs.levels is not None:
        return _by_singular_values(A, pairs, k)
    return _by_eigenvalues(A, pairs, k, tol, basis.mixed, _outside(A, basis, everything, len(pairs.values)))


def _resolved(values: Array, floor: float, ceiling: float) -> NDArray[np.bool_] | None:
    """Which of descending values are not called 0, None where no one is. Rounding has to be the reason: where variance
    is left outside all vectors, one may be small because its vector has not converged."""
    left = ceiling > (len(values) + MARGIN) * floor  # a trace less the values that were found errs by all of theirs
    return None if left or float(values[-1]) > floor else values > floor


def _delivered(residuals: Array, values: Array, resolved: NDArray[np.bool_] | None) -> Array:
    """Residuals of what is delivered: 0 for values not resolved. A copy, which may be changed: bounds come later."""
    return residuals.copy() if resolved is None else np.hypot(residuals, np.where(resolved[: len(values)], 0.0, values))


def signs(U: Array) -> Array:  # (d, k) -> (k,)
    """±1 per column, so that the first entry within 1e-3 of the largest magnitude becomes positive.

    The tolerance makes the choice the same for every solver, chunking and thread count, where picking the very
    largest entry would turn on the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> signs(np.array([[-0.7071], [0.7072]]))
    array([-1.])
    """
    high, low = U.max(axis=0), -U.min(axis=0)
    large = (1 - 1e-3) * np.maximum(high, low)
    sign = np.where(low >= large, -1.0, 1.0)
    for j in (np.minimum(high, low) >= large).nonzero()[0]:  # rare: both signs come close to the largest
        sign[j] = 1.0 if np.argmax(U[:, j] >= large[j]) <= np.argmax(-U[:, j] >= large[j]) else -1.0
    return sign


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a fit must say at once, and bounds, which are computed when somebody asks for them."""

    bounds: Callable[[], Bounds]
    k: int
    ceiling: float  # τ of the bounds
    tie_at_k: bool
    floor: float  # what rounding alone can make of 0: a variance, or for svd a standard deviation
    rounding: float  # in the units of the eigenvalues
    worst: float  # residual and rounding of the components asked for
    least: float  # a lower bound of the largest value, or singular value
    complete: bool
    failure: float = 0.0  # the probability that the bounds do not hold
    kth: tuple[float, float] | None = None  # what the k-th magnitude lies between, where values have signs

    @cached_property
    def found(self) -> Bounds:
        """The bounds."""
        return self.bounds()

    @property
    def reached(self) -> float:
        """The worst residual, relative to the largest value."""
        if not self.worst:
            return 0.0
        return self.worst / self.least if self.least else np.inf

    def satisfied(self, tol: float, order: int) -> bool:
        """Whether the worst residual is within tol; tol=0 asks for what the arithmetic allows."""
        arithmetic = 2 * (self.floor + 16 * order * UNIT * self.least)
        return bool(self.worst <= (tol * self.least if tol else arithmetic))

    @property
    def completeness(self) -> str:
        """In the words of the certificate."""
        if not self.complete:
            return "not excluded"
        return "probability" if self.failure else "proved"

    def claims(self) -> dict[str, Any]:
        """What the certificate repeats."""
        return {
            "tie_at_k": self.tie_at_k,
            "completeness": self.completeness,
            "failure_probability": self.failure if self.complete else None,
            "rounding": self.rounding,
            "reached": self.reached,
        }

    def details(self, following: float | None) -> dict[str, Any]:
        """What it repeats of the bounds; `following` is a lower bound of the next value, None where there is none."""
        found = self.found
        return {
            "value_bounds": np.column_stack([found.lower, found.upper]),
            "angle_bounds": found.angles,
            "groups": found.groups,
            "complete_to": found.complete_to,
            "gap_bounds": None if following is None else self._gap(following),
        }

    def _gap(self, following: float) -> Array:
        """What λ_k − λ_{k+1}, or the difference of their magnitudes, lies between."""
        found = self.found
        low, high = self.kth or (float(found.lower[self.k - 1]), float(found.upper[self.k - 1]))
        least = max(found.next_lower, following)
        return np.maximum(np.nextafter([low - found.following, high - least], [-np.inf, np.inf]), 0.0)


def _outside(A: Operator, basis: Basis, everything: Pairs, kept: int) -> Outside:
    """What the solver knows about A outside the pairs kept; a rough matrix may have misled it in every direction."""
    if basis.outside is None:
        return Outside(np.inf)
    level = widened(basis.outside.level, everything.values[kept:], everything.residuals[kept:])
    return basis.outside._replace(level=level + everything.defect + (basis.mixed + 2) * (A.dense_rounding - A.rounding))


def _by_eigenvalues(A: Operator, pairs: Pairs, k: int, tol: float, mixed: int, outside: Outside) -> Verdict:
    """Bounds from A U = U Θ + R, where A U may be combined from so many products."""
    rounding = A.rounding * (1.0 if A.is_dense else float(np.sqrt(mixed))) + _own_rounding(A, pairs)
    seen = Evidence(
        pairs.values,
        pairs.residuals,
        rounding,
        pairs.defect,
        exhausted=len(pairs.values) >= len(pairs.vectors),
        negativity=A.negativity,
        slack=pairs.slack,
        missing=A.missing,
    )
    uncertain = max(A.offset, A.missing - A.offset)
    ceiling, failure = completeness(Question(A, pairs, seen, k, tol, outside))
    largest, last = float(pairs.values[0]) + A.offset, float(pairs.values[k - 1]) + A.offset
    complete = seen.exhausted or next_upper(seen, k, ceiling) - last <= max(tol * largest, 16 * rounding)
    later = partial(bounds, seen, k, ceiling)
    delivered = _delivered(seen.turned, seen.values, _resolved(seen.values, seen.floor, ceiling))
    worst = float(delivered[:k].max()) + rounding + uncertain
    tie = may_tie(seen, k) and later().tie_at_k
    about = seen.floor, rounding + uncertain, worst, max(seen.least, 0.0)
    return Verdict(later, k, ceiling, tie, *about, complete, failure)


def _by_magnitudes(A: Operator, pairs: Pairs, k: int, tol: float, mixed: int) -> Verdict:
    """The same for eigenvalues of either sign, ordered by their magnitude."""
    rounding = A.rounding * (1.0 if A.is_dense else float(np.sqrt(mixed))) + _own_rounding(A, pairs)
    sizes = np.abs(pairs.values)
    whole = len(sizes) >= len(pairs.vectors)
    seen = Evidence(sizes, pairs.residuals, rounding, pairs.defect, exhausted=whole)
    found, signed = magnitudes(A, pairs, seen, k)
    delivered = _delivered(pairs.residuals, sizes, _resolved(sizes, seen.floor, found.ceiling))
    # ‖A u‖ is a lower bound of the largest magnitude too, and a better one where an iteration alternates.
    least = max(float(found.lower[0]), float(np.hypot(sizes[0], pairs.residuals[0])) - 2 * seen.floor, 0.0)
    worst = float(delivered[:k].max()) + rounding
    complete = found.following - float(sizes[k - 1]) <= max(tol * float(sizes[0]), 16 * rounding)
    kth = float(found.lower[k - 1]), float(found.upper[k - 1])
    about = seen.floor, rounding, worst, least
    return Verdict(lambda: signed, k, signed.ceiling, signed.tie_at_k, *about, bool(complete), kth=kth)


def _next_value(A: Operator, verdict: Verdict, everything: Pairs, basis: Basis, k: int) -> float | None:
    """A lower bound of the value after the k-th from the pairs found, None where nothing follows.

    By Cauchy's interlacing it is no smaller than the next Ritz value, converged or not.
    """
    if k >= len(everything.vectors):
        return None
    if everything.levels is not None:
        return -np.inf
    own = everything.defect + verdict.rounding + _own_rounding(A, everything)
    rough = (basis.mixed + 2) * A.dense_rounding + NEARLY * abs(float(everything.values[0]))
    measured = abs(float(everything.values[k])) - own if k < len(everything.values) else -np.inf
    return max(measured, basis.following - own - rough)


def _own_rounding(A: Operator, pairs: Pairs) -> float:
    """What the vectors' departure from orthonormality and the arithmetic of R itself add: shares of ‖A U‖."""
    size = abs(float(pairs.values[0]))
    if A.signed:  # where all values may be 0, and A U = R
        size += norm_of(pairs.residuals)
    return (2 * pairs.departure + 4 * len(pairs.values) ** 1.5 * UNIT) * size + pairs.arithmetic


def _by_singular_values(A: Operator, pairs: Pairs, k: int) -> Verdict:
    """Bounds from the factor, where small variances keep their digits; squared at the end.

    The eigenvalues of [[0, F], [Fᵀ, 0]] are ±σ; its eigenvectors stack both sides, which costs the angle a √2. Where
    the basis holds all singular vectors, nothing of F lies outside them and nothing can have been missed.
    """
    levels, coupling, rounding = np.asarray(pairs.levels), np.asarray(pairs.coupling), A.factor_rounding
    m, dim = len(levels), len(pairs.vectors)
    whole = m >= min(dim, A.rows_of_factor)
    seen = Evidence(levels, coupling, rounding, defect=norm_of(coupling), exhausted=m >= dim)
    ceiling = 0.0 if whole else np.inf
    delivered = _delivered(coupling, levels, _resolved(levels, seen.floor, ceiling))
    worst, least = float(delivered[:k].max()) + rounding, max(seen.least, 0.0)
    later = partial(_of_variances, seen, k, ceiling)
    tie = may_tie(seen, k) and later().tie_at_k
    return Verdict(later, k, ceiling, tie, seen.floor, A.rounding + _own_rounding(A, pairs), worst, least, whole)


def _of_variances(seen: Evidence, k: int, ceiling: float) -> Bounds:
    """Bounds of squared singular values, and of angles between their vectors."""
    found = bounds(seen, k, ceiling)
    return found._replace(
        lower=found.lower**2,
        upper=found.upper**2,
        following=found.following**2,
        next_lower=max(found.next_lower, 0.0) ** 2,
        angles=np.minimum(1.0, np.sqrt(2.0) * found.angles),
    )
