"""All resamples of a fit, by the way that costs least: their variances, and their axes beside those of the fit."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.runtime.memory import format_bytes
from ritz.runtime.threads import in_order, pinned
from ritz.runtime.wording import plural
from ritz.sampling import gram_side, weighted
from ritz.sampling.matching import Matched, merged
from ritz.sampling.resamples import Resamples
from ritz.sampling.rows_of_fit import RowsOfFit

EXACT = 200  # columns up to which whole covariances of all resamples are formed
FEW = 2000  # rows up to which the Gram side is quicker than an approximation is worth
LEADING, OTHERS = 72, 120  # directions, and random combinations of all others, beyond that
MOST_OTHERS, PART = 600, 0.25  # such combinations, and the part of the last variance that one of them may have
SPARE = 8  # directions beside those kept
RESCALED = 2e12  # products up to which every resample of few rows has scales of its own
HELD = 1 << 23  # entries of rows that are held for that, and of directions in the columns
AT_ONCE = 1 << 22  # entries of covariances that are decomposed at a time
ROOM = 1 << 31  # bytes of covariances of the coordinates of axes
SCORES, MOMENTS = "scores", "moments"


@dataclass(frozen=True, eq=False)
class Followed:
    """All resamples, followed to their components."""

    fit: RowsOfFit
    draws: Resamples
    method: str
    values: Array  # (B, k)
    totals: Array  # (B,)
    matched: Matched
    back: Any  # what makes directions in the columns of coordinates
    notes: tuple[str, ...]


class Way(NamedTuple):
    """One way to decompose all resamples."""

    method: str
    found: Iterator[gram_side.Draw]
    frame: Array  # (r, k) the axes of the fit in the coordinates of the resamples
    back: Any  # what makes directions in the columns of coordinates
    notes: tuple[str, ...] = ()


def followed(fit: RowsOfFit, draws: Resamples, seed: int) -> Followed:
    """Every resample by the way that costs least and is exact, if there is one."""
    n, d = fit.n, fit.d
    by_moments = draws.count * (n * d**2 + 10.0 * d**3)
    m, r = 0.63 * n, min(n, d)  # rows of a resample, on average, and coordinates
    by_scores = draws.count * (10.0 * min(m, r) ** 3 + m * r * min(m, r)) + 1.0 * n * n * (d + 10.0 * n)
    if d <= EXACT and (n > FEW or fit.scaled or by_moments <= by_scores):
        way = _in_columns(fit, draws)
    elif n <= FEW or n <= d:
        way = _by_scores(fit, draws)
    else:
        way = _by_leading(fit, draws, seed)
    if way.back is not None:
        _check_room(len(way.frame), fit.k)
    groups = merged(fit.groups, fit.sample.groups())
    matched = Matched(way.frame, np.sqrt(fit.values), groups, by_entry=way.back is None)
    values, totals = [], []
    for draw in way.found:
        values.append(draw.values)
        totals.append(draw.totals)
        matched.add(draw.axes, np.sqrt(draw.values))
    return Followed(
        fit, draws, way.method, np.concatenate(values), np.concatenate(totals), matched, way.back, way.notes
    )


def _check_room(size: int, k: int) -> None:
    """Covariances of the coordinates of every axis, and of every loading, must fit into memory."""
    most = ROOM // (16 * size**2)
    if k > most:
        needed = format_bytes(16 * k * size**2)
        raise DataError(
            f"the bootstrap of {k:,} components in {size:,} coordinates takes {needed}, and {format_bytes(ROOM)} is "
            "the most that it uses",
            f"fit {most:,} {plural(most, 'component')} or fewer" if most else "fit fewer rows",
        )


def _in_columns(fit: RowsOfFit, draws: Resamples) -> Way:
    """Whole covariances of all resamples."""
    basis = weighted.columns(fit)
    return Way(MOMENTS, _by_moments(fit, basis, draws, fit.scaled), basis.fit, None)


def _by_scores(fit: RowsOfFit, draws: Resamples) -> Way:
    """In the space of few rows."""
    rescaled = fit.scaled and fit.n * fit.d <= HELD and 0.8 * fit.n * fit.n * fit.d * draws.count <= RESCALED
    coordinates = gram_side.in_columns(fit) if rescaled else gram_side.in_row_space(fit)
    found = gram_side.decomposed(fit, coordinates, draws, rescaled)
    kept = "columns keep the scales of the fit in every resample: to scale each anew would take too long"
    return Way(SCORES, found, coordinates.fit, coordinates.dual, (kept,) * (fit.scaled and not rescaled))


def _by_leading(fit: RowsOfFit, draws: Resamples, seed: int) -> Way:
    """In leading directions and random mixtures of the others, unless these are as many as the columns."""
    d, others = fit.d, _mixtures(fit)
    size = min(max(LEADING, fit.k + SPARE), d)
    if size + others >= d:
        return _in_columns(fit, draws)
    share = _share(fit, others)
    basis = weighted.leading(fit, size, others, share, seed)
    lead = basis.size - others
    few = "; so few of them understate what noise does" if share < 1 else ""
    notes: tuple[str, ...] = (
        f"the {d - lead:,} directions beyond the {lead} leading ones are {others} random mixtures{few}",
    )
    notes += ("columns keep the scales of the fit in every resample",) * fit.scaled
    return Way(MOMENTS, _by_moments(fit, basis, draws, False), basis.fit, basis.back, notes)


def _mixtures(fit: RowsOfFit) -> int:
    """How many random mixtures stand for the directions left out: so many that none has more than a part of the
    variance of a component."""
    last = float(fit.values[-1])
    enough = int(min(np.ceil(fit.left_out / (PART * last)), MOST_OTHERS)) if last > 0 else MOST_OTHERS
    return max(OTHERS, enough)


def _share(fit: RowsOfFit, others: int) -> float:
    """The part of the variance left out that so many mixtures may have."""
    return min(1.0, others * PART * float(fit.values[-1]) / fit.left_out) if fit.left_out > 0 else 1.0


def _by_moments(
    fit: RowsOfFit, basis: weighted.Basis, draws: Resamples, rescaled: bool
) -> Generator[gram_side.Draw, None, None]:
    """The leading eigenpairs of the covariances of resamples, threads taking some of them each."""
    k, step = fit.k, max(1, AT_ONCE // basis.size**2 // 8)
    for C in weighted.covariances(fit, basis, draws):

        def some(first: int, C: Array = C) -> gram_side.Draw:
            part = weighted.scaled(C[first : first + step]) if rescaled else C[first : first + step]
            values, vectors = np.linalg.eigh(part)
            top = np.maximum(values[:, : -k - 1 : -1], 0.0)
            return gram_side.Draw(top, np.einsum("cii->c", part), vectors[:, :, : -k - 1 : -1])

        yield from in_order(some, list(range(0, len(C), step)), pinned.budget())


def entries(found: Followed, of_loadings: bool) -> Array:  # (d, k)
    """Standard errors of the entries of axes: of coordinates that are not columns, roots of quadratic forms."""
    matched, fit = found.matched, found.fit
    if found.back is None:
        return np.sqrt(np.column_stack([matched.spread(i, of_loadings) for i in range(fit.k)]))
    factors = [_root(matched.spread(i, of_loadings)) for i in range(fit.k)]
    ends = np.cumsum([0, *(part.shape[1] for part in factors)])
    whole, out = np.column_stack(factors), np.zeros((fit.d, fit.k))
    owner = np.repeat(np.arange(fit.k), np.diff(ends))
    step = max(16, HELD // fit.d)
    for first in range(0, whole.shape[1], step):
        some = whole[:, first : first + step]
        V = (
            found.back @ some
            if len(found.back) == fit.d and found.method == MOMENTS
            else fit.Z.combine(found.back @ some)
        )
        for column, i in enumerate(owner[first : first + step]):
            out[:, i] += V[:, column] ** 2
    return np.sqrt(out)


def _root(C: Array) -> Array:
    """F with F Fᵀ = C, without the directions of no account."""
    values, vectors = np.linalg.eigh(C)
    seen = values > 1e-10 * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, seen] * np.sqrt(values[seen]))
