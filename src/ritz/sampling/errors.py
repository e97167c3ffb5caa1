"""Standard errors of variances and shares, and what the law of the rows does to axes, relative to the first variance:
for normal rows, whose scales may be known or estimated from them, and for rows of any law.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ritz.linalg.dense import Array
from ritz.linalg.exponents import times_power
from ritz.moments.moments import Moments
from ritz.runtime.threads import team
from ritz.sampling.influence import Influence
from ritz.spectrum.sample import Sample
from ritz.spectrum.subspace import Subspace

MIXED = 300  # columns up to which the scales are followed where axes turn


class Spectrum(NamedTuple):
    """All there is to know of the spectrum, relative to the first variance."""

    total: float
    rest: Array | None  # variances left out, one by one; None where only their sum is known
    C: Array | None  # the covariance, where it tells how scales move


class Errors(NamedTuple):
    """Relative to the first variance, and to the total."""

    variances: Array
    shares: Array
    together: Array
    law: tuple[Array, Array] | None
    notes: tuple[str, ...]


def spectrum_of(subspace: Subspace, found: Moments | None, drawn: Sample) -> Spectrum:
    """Variances left out, by the moments of the model where it has them."""
    k, total = len(drawn.deviations), float(drawn.values.sum()) + drawn.rest.variance
    if found is None or (found.scatter.ndim == 1 and found.triangle is None) or not drawn.deviations[0] > 0:
        return Spectrum(total, np.zeros(0) if not drawn.directions else None, None)
    whole = found.formed()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        size = times_power(np.array(1.0), subspace.power) * drawn.deviations[0]
        weight = whole.unit / (size if subspace.scale is None else subspace.scale * drawn.deviations[0])
        C = whole.scatter * weight[:, None] * weight / (whole.count - subspace.ddof)
    if not np.isfinite(C).all():
        return Spectrum(total, None, None)
    with team():
        values = np.maximum(np.linalg.eigvalsh(C)[::-1], 0.0)
    return Spectrum(total, values[k:], C)


def of_normal_rows(subspace: Subspace, drawn: Sample, spectrum: Spectrum) -> Errors:
    values, n, total = drawn.values, drawn.n, spectrum.total or 1.0
    k = len(values)
    if subspace.scale is not None and spectrum.C is not None:
        return _of_scaled_normal_rows(subspace, drawn, spectrum.C)
    # Σ λ² of the rest: measured, or at least what it is if all are equal.
    even = drawn.rest.variance**2 / max(1, drawn.directions)
    squares = float(np.sum(values**2)) + (even if spectrum.rest is None else float(np.sum(spectrum.rest**2)))
    sums, seen = np.cumsum(values), np.cumsum(values**2)
    notes = ("the scales of the columns are taken as known: errors are rather too large",) * (
        subspace.scale is not None
    )
    return Errors(
        values * np.sqrt(2.0 / n),
        np.sqrt(2.0 / n * np.maximum(values**2 * (1 - 2 * values / total) + (values / total) ** 2 * squares, 0.0))
        / total,
        np.sqrt(2.0 / n * np.maximum(seen * (1 - 2 * sums / total) + (sums / total) ** 2 * squares, 0.0)) / total,
        None if k else (np.zeros((0, 0)), np.zeros(0)),
        notes,
    )


def _of_scaled_normal_rows(subspace: Subspace, drawn: Sample, C: Array) -> Errors:
    """Scales that are estimated too take part of the error away: Var(y_i y_j − ½(λ_i + λ_j) Σ_a z_a² u_ai u_aj)."""
    n, first = drawn.n, float(drawn.deviations[0]) ** 2
    U, values, d = subspace.axes, drawn.values * first, len(subspace.axes)
    squares, R2 = U**2, (C * first) ** 2
    own = squares.T @ R2 @ squares  # wᵢᵀ(R∘R)wⱼ of w = u²
    inner = squares.T @ squares
    # The influences on two variances go together by 2(λᵢ²δᵢⱼ − λᵢλⱼ(λᵢ + λⱼ) Σ u²u² + λᵢλⱼ wᵢᵀ(R∘R)wⱼ).
    pair = np.outer(values, values)
    joint = 2.0 * (np.diag(values**2) - pair * (values[:, None] + values) * inner + pair * own)
    variances = np.maximum(np.diagonal(joint), 0.0)
    sums = np.cumsum(np.cumsum(joint, axis=0), axis=1)
    together = np.maximum(np.diagonal(sums), 0.0)
    law: tuple[Array, Array] | None = None
    notes: tuple[str, ...] = ()
    if d <= MIXED:
        law = _mixed(U, values, R2)
    else:
        notes = ("where axes turn, the scales of the columns are taken as known",)
    return Errors(np.sqrt(variances / n) / first, np.sqrt(variances / n) / d, np.sqrt(together / n) / d, law, notes)


def _mixed(U: Array, values: Array, R2: Array) -> tuple[Array, Array]:
    """What estimated scales leave of the influence on the angle between two axes, as a part of λᵢ λⱼ."""
    k = len(values)
    ratio = np.ones((k, k))
    for i in range(k):
        W = U * U[:, [i]]  # (d, k): wⱼ = uᵢ ∘ uⱼ
        mean, product = 0.5 * (values + values[i]), values * values[i]
        moved = product - 4.0 * mean * product * np.sum(W**2, axis=0) + 2.0 * mean**2 * np.sum(W * (R2 @ W), axis=0)
        ratio[i] = np.divide(np.maximum(moved, 0.0), product, out=np.ones(k), where=product > 0)
    return ratio, np.ones(k)


def of_any_rows(found: Influence, drawn: Sample, first: float, total: float) -> Errors:
    values, n, left_out = drawn.values, drawn.n, drawn.rest.variance
    product = np.outer(values, values)
    pairs = np.divide(found.pairs / first**2, product, out=np.ones(product.shape), where=product > 0)
    beyond = values * left_out
    rest = np.divide(found.rest / first**2, beyond, out=np.ones(len(values)), where=beyond > 0)
    notes = ("where axes turn, the scales of the columns are taken as known",) * found.scales_known
    return Errors(
        np.sqrt(found.second / n) / first, np.sqrt(found.share / n), np.sqrt(found.together / n), (pairs, rest), notes
    )
