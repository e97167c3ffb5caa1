"""Odd rows of kernel PCA: T² along components in feature space, and the squared distance to them there.

Features of a kernel are not normal, however normal the rows are: the limit of T² takes scores for normal, and that of
SPE matches the mean and the variance of the rows of the fit. Both say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.monitoring.limits import Known, Reference
from ritz.monitoring.monitor import Asked, checked_reference, judged
from ritz.monitoring.reading import Reading, are_of_fit
from ritz.monitoring.residual import NOTHING, ROUNDING, Residual
from ritz.monitoring.result import Monitoring
from ritz.monitoring.textbook import Freedom

NORMAL = "scores in feature space taken as normal"
NARROW = "limits of SPE are those of the rows of the fit: new rows are farther out, and more of them exceed these"


@dataclass(frozen=True, eq=False)
class Spread:
    """Standard deviations of the scores of the rows of the fit, and how many these were, as a subspace has them."""

    deviations: Array
    n_rows: int
    ddof: int = 1
    power: int = 0
    outside: float = 0.0


@dataclass(frozen=True, eq=False)
class InFeatures:
    """What limits in feature space follow from."""

    subspace: Spread
    asked: int
    of: Freedom
    reference: Reference | None = None
    draws: dict[int, Any] = field(default_factory=dict)

    @property
    def k(self) -> int:
        return len(self.subspace.deviations)

    def known(self, of_fit: bool) -> Known:
        """The same for limits."""
        kept, residual, mean = self.subspace.deviations**2, None, 0.0
        if self.reference is not None:
            mean = float(np.mean(self.reference.spe))
        size = float(np.sum(kept)) + mean
        if self.reference is None or mean > ROUNDING * size:
            residual = Residual(np.array([mean]), np.ones(1), "")
        return Known(kept, residual, NOTHING * ROUNDING * size, self.of, self.k, of_fit, self.reference)


def rows_of_fit(kept: int, reference: Any, given: int) -> int:
    """How many rows the fit had: that the model keeps, or that a reference is of, or that are said to be them."""
    n = kept or (len(reference.t2) if isinstance(reference, Monitoring) else 0) or given
    if not n:
        problem = "the model does not know how many rows it was fitted to, nor what their errors were"
        raise DataError(problem, "pass reference=model.monitor(rows of the fit, rows='fit')")
    return n


def in_features(deviations: Array, n: int, asked: Asked) -> InFeatures:
    """For a kernel model with these deviations of scores over its n rows, of which the first `asked.k` count."""
    kept = deviations[: asked.k]
    kept = kept[kept > ROUNDING * (kept[0] if len(kept) else 0.0)]
    return InFeatures(Spread(kept, n), asked.k, Freedom(n, len(kept)))


def statistics(about: InFeatures, Y: Array, errors: Array) -> Reading:
    """T² and SPE from all scores and what all components leave: what components beyond k have is SPE."""
    k = about.k
    S = Y[:, :k] / about.subspace.deviations
    squares = S * S
    at = squares.argmax(axis=0) if k else np.zeros(0, np.intp)
    spe = np.maximum(errors, 0.0) + np.square(Y[:, k:]).sum(axis=1)
    top, every = squares[at, np.arange(k)], np.arange(len(Y))
    t2 = squares.sum(axis=1)
    return Reading(t2, spe, S.sum(axis=0), squares.sum(axis=0), top, at, every, np.empty((len(Y), 0)))


def recognised(about: InFeatures, found: Reading) -> bool:
    """Whether these are the rows of the fit; what is outside is not known beforehand, so only scores tell."""
    return about.k > 0 and are_of_fit(about.subspace, found, centred=True)


def referred(about: InFeatures, reference: Any) -> InFeatures:
    """With what the rows of the fit came to when they were monitored."""
    return replace(about, reference=checked_reference(about, reference).reference)


def judged_in_features(about: InFeatures, found: Reading, asked: Asked, of_fit: bool) -> Monitoring:
    """Statistics against limits, which say what they assume."""
    method = "moments" if asked.limits == "auto" else asked.limits
    result = judged(about, found, replace(asked, limits=method), of_fit, None)
    if not of_fit and result.limits["method"][-1] != "rounding":
        result = replace(result, notes=(*result.notes, NARROW))
    if method == "empirical":
        return result
    why = [
        f"{NORMAL}: {reason}" if name == "T²" else reason
        for name, reason in zip(result.limits.index, result.limits["why"], strict=True)
    ]
    limits = replace(result.limits, columns={**result.limits.columns, "why": why})
    return replace(result, limits=limits, notes=(*result.notes, NORMAL), n_passes=2)
