"""Rows that are there twice, and columns that say the same, perhaps in another unit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.inspection.finding import NOTE, WARNING, Finding, called, in_option, roughly
from ritz.inspection.sample import Sample
from ritz.linalg.dense import Array

PAIRS = 4096  # of rows, at random, that tell how often rows are alike by chance
CHANCE = 3.0  # times as many duplicates as chance alone would give
SHARE = 0.05  # of the rows, from which on duplicates weigh
FEWEST = 8  # rows that a column needs to be like another by more than chance
BITS = 40.0  # that two columns must agree in, beyond what the number of pairs of columns explains
TRIED = 20  # columns of a group that another one is compared with: more are hardly alike by chance
SHOWN = 5
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def hashes(block: Array, seed: int = 0) -> NDArray[np.uint64]:  # (m, d) -> (m,)
    """A number for every row, the same for equal rows, of which 0 and −0 are two, and all that is missing.

    Examples
    --------
    >>> found = hashes(np.array([[0.0, np.nan], [1.0, 2.0], [-0.0, np.nan]]))
    >>> bool(found[0] == found[2]), bool(found[0] == found[1])
    (True, False)
    """
    d = block.shape[1]
    odd = 2 * np.random.default_rng(seed).integers(1 << 62, size=d, dtype=np.uint64) + 1  # which lose nothing
    weights: Any = np.asarray(odd)
    total = np.zeros(len(block), np.uint64)
    for j in range(d):
        values = block[:, j].astype(np.float64) + 0.0
        values[np.isnan(values)] = np.nan
        bits = values.view(np.uint64) * MULTIPLIER
        bits ^= bits >> np.uint64(32)
        total += bits * weights[j]
    return total


def duplicate_rows(sample: Sample) -> Iterator[Finding]:
    """How many rows repeat an earlier one, and the first pair."""
    if sample.m < 2:
        return
    exact = sample.known is not None
    count, pair = sample.known.duplicates if exact else repeats(hashes(sample.values), sample.at, sample.d)
    n = sample.n if exact else sample.m
    if pair is None or count <= CHANCE * _by_chance(sample, n):
        return
    yield Finding(
        "duplicate_rows",
        WARNING if count > SHARE * n else NOTE,
        f"{sample.of_rows(count, exact)} repeat{'s' * (count == 1)} another one: row {pair[1]} is equal to row "
        f"{pair[0]}" + (", and so on" if count > 1 else ""),
        rows=pair,
        evidence={"count": count, "rows": n, "exact": exact or sample.whole},
        python="np.unique(X, axis=0), or drop_duplicates() of a table, if they are one measurement",
    )


def repeats(found: NDArray[np.uint64], at: NDArray[np.intp], d: int) -> tuple[int, tuple[int, int] | None]:
    """How many of these rows repeat an earlier one, and the first that does, with the one that it repeats.

    Rows of d columns without any value are not the same measurement: there was none.
    """
    some = found != hashes(np.full((1, d), np.nan))
    found, at = found[some], at[some]
    order = np.argsort(found, kind="stable")
    again = np.flatnonzero(found[order[1:]] == found[order[:-1]])
    if not len(again):
        return 0, None
    later = order[again + 1]
    k = int(np.argmin(later))
    first = int(order[np.searchsorted(found[order], found[later[k]])])
    return len(again), (int(at[first]), int(at[later[k]]))


def _by_chance(sample: Sample, n: int) -> float:
    """Pairs of equal rows among n if columns were independent of each other."""
    rng, m = np.random.default_rng(0), sample.m
    first = rng.integers(m, size=PAIRS)
    second = (first + rng.integers(1, m, size=PAIRS)) % m
    alike = sample.scaled[first] == sample.scaled[second]
    alike |= np.isnan(sample.scaled[first]) & np.isnan(sample.scaled[second])
    logs = np.log(np.maximum(alike.mean(axis=0), 0.5 / PAIRS)).sum()
    return float(np.exp(min(logs + math.log(max(n * (n - 1) / 2, 1.0)), 700.0)))


def standardized(sample: Sample, columns: NDArray[np.intp]) -> Array:
    """Columns with mean 0 and length 1, and 0 where a value is missing."""
    Z = np.where(sample.finite[:, columns], sample.scaled[:, columns] - sample.mean[columns], 0.0)
    length = np.sqrt(np.square(Z).sum(axis=0))
    return np.divide(Z, length, out=np.zeros_like(Z), where=length > 0)


def copies(sample: Sample) -> dict[int, tuple[int, float]]:
    """Columns that are another one of before in another unit, and by which factor.

    Of columns that are equal but for unit and offset, the first is kept.
    """
    varying = np.flatnonzero(sample.varies & (sample.counts >= FEWEST))
    if len(varying) < 2:
        return {}
    Z = standardized(sample, varying)
    weights = np.random.default_rng(0).standard_normal((sample.m, 2))
    sums = weights.T @ Z
    sign = np.where(sums[0] < 0, -1.0, 1.0)
    order = np.argsort(np.abs(sums[0]), kind="stable")
    found: dict[int, tuple[int, float]] = {}
    for group in _close(np.abs(sums[0]), order):
        if not _surprising(sample, int(varying[group[0]])):
            continue
        for place, k in enumerate(group):
            j = int(varying[k])
            for before in group[: min(place, TRIED)]:
                i = int(varying[before])
                if i not in found and _same(sample, Z[:, before] * sign[before], Z[:, k] * sign[k], i, j):
                    found[j] = (i, float(sign[before] * sign[k]))
                    break
    return found


def _close(keys: Array, order: NDArray[np.intp]) -> Iterator[list[int]]:
    """Groups of columns whose keys are equal but for rounding, each in the order of the columns."""
    cuts = np.flatnonzero(np.diff(keys[order]) > 1e-5) + 1
    for start, stop in pairwise([0, *cuts.tolist(), len(order)]):
        if stop - start > 1:
            yield sorted(order[start:stop].tolist())


def _same(sample: Sample, a: Array, b: Array, i: int, j: int) -> bool:
    """Whether two standardized columns are equal, but for the rounding of the data and of what it came through."""
    if (sample.finite[:, i] != sample.finite[:, j]).any():
        return False
    spread = sample.deviation[[i, j]] * math.sqrt(sample.m)
    allowed = 64 * max(sample.precision, 2.0**-53) * float((1 / spread).sum()) + 2.0**-46
    return bool(np.abs(a - b).max() <= allowed)


def _surprising(sample: Sample, j: int) -> bool:
    """Whether a column has enough different values that another one is hardly equal to it by chance."""
    values = sample.ordered[: sample.counts[j], j]
    ends = np.flatnonzero(np.append(np.diff(values) != 0, True))
    shares = np.diff(ends, prepend=-1) / len(values)
    return len(values) * -math.log2(float(np.square(shares).sum())) >= BITS + 2 * math.log2(sample.d)


def duplicate_columns(sample: Sample) -> Iterator[Finding]:
    """Columns that another one makes superfluous."""
    if sample.pictures or sample.sparse:
        return
    found = sample.once("copies", copies)
    if not found:
        return
    extra, kept = list(found), [i for i, _ in found.values()]
    pairs = ", ".join(_told(sample, j, *found[j]) for j in extra[:SHOWN])
    rest = f" and {len(extra) - SHOWN} more" if len(extra) > SHOWN else ""
    yield Finding(
        "duplicate_columns",
        WARNING,
        f"{len(extra)} {'column says' if len(extra) == 1 else 'columns say'} the same as another: {pairs}{rest}"
        f"{sample.where}; what is there twice weighs twice",
        sample.called(extra),
        evidence={"of": list(sample.called(kept)), "signs": [sign for _, sign in found.values()]},
        python=f"leave {called(sample.called(extra))} out",
        option=in_option("--drop", sample.called(extra)),
    )


def _told(sample: Sample, j: int, i: int, sign: float) -> str:
    if np.array_equal(sample.values[:, i], sample.values[:, j], equal_nan=True):
        return f"{called(sample.called([j]))} = {called(sample.called([i]))}"
    factor = sign * sample.deviation[j] * sample.unit[j] / (sample.deviation[i] * sample.unit[i])
    offset = sample.mean[j] * sample.unit[j] - factor * sample.mean[i] * sample.unit[i]
    size = abs(sample.mean[j] * sample.unit[j]) + sample.deviation[j] * sample.unit[j]
    more = "" if abs(offset) < 1e-6 * size else f" {'+' if offset > 0 else '-'} {roughly(abs(offset))}"
    return f"{called(sample.called([j]))} = {roughly(factor)} × {called(sample.called([i]))}{more}"
