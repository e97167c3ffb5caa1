"""Values that look like codes for what is missing: a 0 where all else is far from it, −999, 9999, 1e20, one value far
too often."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ritz.inspection.finding import NOTE, WARNING, Finding, as_number, called, in_option
from ritz.inspection.sample import Sample
from ritz.linalg.dense import Array

# What people and programs write where nothing was measured. Small ones are values like any other, unless much else
# speaks for a code.
SMALL, LARGE = (-1.0, -9.0), (99.0, 999.0)
BELOW = (-99.0, -999.0, -9999.0, -99999.0, -999999.0, -99.9, -999.9, -999.25, -999.99, -9999.9, -88.0, -888.0, -777.0)
ABOVE = (888.0, 777.0, 9999.0, 99999.0, 999999.0, 9999999.0, 99999999.0, 999.9, 9999.9, 999.99, 99.99, 8888.0, 9998.0)
ENDS = (-32768.0, 32767.0, 65535.0, -2147483648.0, 2147483647.0, 4294967295.0)  # of types of integers
FILL, BEYOND = 1e19, 1e-3  # magnitudes from which on a value is one that programs fill in, where all else is below
FAMOUS = np.array([*SMALL, *LARGE, *BELOW, *ABOVE, *ENDS])
ENOUGH, DIFFERENT = 10, 5  # other values of a column, and different ones, that tell what is usual there
MOST = 4  # codes of a column
FAR, SOME_WAY = 0.5, 0.25  # of the range of the other values
OFTEN = 4  # times as often as any other value
SKIPPED, RATIO, CROWD, STRAGGLERS = 5.0, 0.05, 8, 4  # see `_is_zero_code`
ALONE, TAIL = 0.25, 5.0  # of what is typical, and times the quartile's way there, of the least value above a single 0
FINE = 0.05  # of that way, between values that hardly hit 0 by chance
SPIKE, SPIKE_SHARE, SPIKE_LEAST, SPIKE_DISTINCT = 8, 0.02, 10, 20  # see `_spike`
SHARED = 0.25  # share of the columns in which the end of a common range is no code
MANY, A_THIRD = 30, 1 / 3  # columns, of which one may have a 0 by chance; a share in which 0 is like any other value
SAME_ROWS = 0.5  # of all rows with a 0 in either of two columns, that have it in both
SHOWN = 5  # rows

Found = dict[float, list[int]]


def codes_for_missing(sample: Sample) -> Iterator[Finding]:
    """One finding for every value that looks like a code, with all columns in which it does."""
    if sample.pictures:
        return
    zeros, found = sample.once("codes", _codes)
    if zeros:
        yield _finding(sample, "zero_code", 0.0, zeros, "in columns that are far from 0 otherwise")
    for value, columns in found.items():
        yield _finding(sample, "code", value, columns, "apart from all other values")
    yield from _spikes(sample, {0.0: zeros, **found})


def _codes(sample: Sample) -> tuple[list[int], Found]:
    return _zeros(sample), _famous(sample)


def code_cells(sample: Sample) -> set[tuple[int, float]]:
    """Columns and values that are told of as codes."""
    zeros, found = ([], {}) if sample.pictures else sample.once("codes", _codes)
    return {(j, 0.0) for j in zeros} | {(j, value) for value, columns in found.items() for j in columns}


def _finding(sample: Sample, code: str, value: float, columns: list[int], how: str) -> Finding:
    counts = [_count(sample, j, value) for j in columns]
    here = sample.values[:, columns] == value
    together, known = int((here.sum(axis=1) > 1).sum()), sample.known is not None
    names, shown = sample.called(columns), as_number(value)
    most = max(counts)
    parts = ", ".join(f"{called([name])} ({count:,})" for name, count in list(zip(names, counts, strict=True))[:5])
    parts += f" and {len(names) - 5} more columns" if len(names) > 5 else ""
    where = "" if known else sample.where
    both = f"; {together:,} rows have it in several of them" if together > 1 else ""
    everywhere = code == "code" and not _elsewhere(sample, value, columns)
    option = f"--na {shown}" if everywhere else in_option("--na", names, f"{shown}:")
    return Finding(
        code,
        WARNING,
        f"{shown} looks like a code for a missing value, {how}: {parts}{where}{both}",
        names,
        tuple(map(int, sample.at[np.flatnonzero(here.any(axis=1))[:SHOWN]])),
        {"value": value, "counts": counts, "most": most, "rows_with_several": together, "exact": sample.whole or known},
        f"ritz.read(…, na={_as_python(value, None if everywhere else names)}, missing='mean') takes it for missing",
        f"{option} --missing mean",
    )


def _as_python(value: float, names: tuple[object, ...] | None) -> str:
    if names is None:
        return as_number(value)
    return "{" + ", ".join(f"{name!r}: {as_number(value)}" for name in names[:5]) + (", …}" if len(names) > 5 else "}")


def _count(sample: Sample, j: int, value: float) -> int:
    if sample.known is not None:
        return int(sample.known.count(j, value))
    return int(np.count_nonzero(sample.values[:, j] == value))


def _elsewhere(sample: Sample, value: float, columns: list[int]) -> bool:
    """Whether the value stands in a column where it is none."""
    there = np.any(sample.values == value, axis=0)
    there[columns] = False
    return bool(there.any())


# Zeros.


def _zeros(sample: Sample) -> list[int]:
    """Columns in which 0 looks like a code."""
    if sample.natural_zeros:
        return []
    zero = np.count_nonzero(sample.values == 0, axis=0)
    with np.errstate(invalid="ignore"):
        positive = ~np.any(sample.values < 0, axis=0)
    others = sample.counts - zero
    worth = (
        positive
        & (zero > (sample.d > MANY))
        & (others >= ENOUGH)
        & (others >= 0.4 * sample.counts)
        & (sample.distinct > DIFFERENT)
    )
    found = [int(j) for j in np.flatnonzero(worth) if _is_zero_code(sample, int(j), int(zero[j]))]
    others = np.setdiff1d(np.flatnonzero(positive & (zero > 0)), found)
    found = [j for j in found if not _zero_as_elsewhere(sample, j, others)]
    return [] if sample.d > MANY and len(found) > A_THIRD * sample.d else found


def _zero_as_elsewhere(sample: Sample, j: int, others: NDArray[np.intp]) -> bool:
    """Whether the same rows are 0 in a column where that is a value like any other: nothing was there to measure."""
    zero, there = sample.values[:, [j]] == 0, sample.values[:, others] == 0
    both, either = (zero & there).sum(axis=0), (zero | there).sum(axis=0)
    return bool((both >= SAME_ROWS * either).any())


def _is_zero_code(sample: Sample, j: int, zeros: int) -> bool:
    """Whether there is a gap between 0 and all other values that is no accident.

    Natural zeros go on into small values: a column of counts has 1 beside 0, one of amounts has some near 0. Here
    nothing stands below the least of the others, although many stand between it and its double.
    """
    others = sample.ordered[zeros : sample.counts[j], j]
    typical, step = float(np.median(others)), float(np.diff(np.unique(others)).min())
    few = min(STRAGGLERS, len(others) // 20)  # the least ones may be stragglers themselves
    if others[0] < SKIPPED * step or others[0] < RATIO * typical:
        return False
    if zeros == 1:  # which may be the end of a tail
        way = typical - float(others[len(others) // 4])
        if others[0] < ALONE * typical or (step > FINE * way and typical - others[0] > TAIL * way):
            return False
    crowds = np.searchsorted(others, 2 * others[: few + 1], side="right") - np.arange(few + 1) - 1
    crowd = CROWD + 2 * max(0.0, np.log2(sample.d / CROWD))  # among many columns, some have a gap by chance
    return bool((crowds >= crowd * (1 + np.arange(few + 1))).any())


# Values that are famous for it.


def _famous(sample: Sample) -> Found:
    low, high = _ends(sample)
    strange = np.isin(low, FAMOUS) | np.isin(high, FAMOUS) | (np.maximum(np.abs(low), np.abs(high)) >= FILL)
    found: Found = defaultdict(list)
    for j in np.flatnonzero(strange & (sample.distinct > DIFFERENT) & (sample.counts > ENOUGH)):
        there = sample.values[sample.finite[:, j], j]
        for value in _codes_of(np.sort(np.append(there, [low[j], high[j]])), len(there)):
            found[value].append(int(j))
    if sample.alike:  # the end of a range that all columns share is a value like any other
        found = {value: columns for value, columns in found.items() if len(columns) < SHARED * sample.d}
    return dict(found)


def _ends(sample: Sample) -> tuple[Array, Array]:
    """The least and the largest value of every column, of all rows where they are known."""
    if sample.known is not None:
        return sample.known.low, sample.known.high
    with np.errstate(over="ignore"):
        return sample.rank(np.zeros(sample.d)) * sample.unit, sample.rank(sample.counts) * sample.unit


def _codes_of(values: Array, m: int) -> list[float]:
    """Codes at the ends of the values of a column, which are in order; the least and the largest stand there twice."""
    found: list[float] = []
    while len(found) < MOST:
        new = next((float(v) for v in (values[0], values[-1]) if _is_code(float(v), values)), None)
        if new is None:
            break
        found.append(new)
        values = values[values != new]
        if len(values) < ENOUGH:
            break
    return found


def _is_code(value: float, values: Array) -> bool:
    """Whether a value at one end of a column says that there is none: it is known for that, and stands apart."""
    others = values[values != value]
    if len(others) < ENOUGH or not _are_different(others):
        return False
    count = len(values) - len(others) - 1
    low, high = float(others[0]), float(others[-1])
    if abs(value) >= FILL:
        return max(abs(low), abs(high)) <= BEYOND * abs(value)
    if value not in FAMOUS:
        return False
    width = high - low
    gap = low - value if value < low else value - high
    often = count >= max(DIFFERENT, OFTEN * _most_often(others))
    if value in SMALL:
        return (low > 0 and count > 1 and (gap >= SOME_WAY * width or often or value == -1)) or (low >= 0 and often)
    if value in LARGE:
        return count > 1 and (gap >= SOME_WAY * width or often)
    if value in BELOW:
        return gap >= SOME_WAY * width or (low >= 0 and often)
    return gap >= FAR * width or often


def _are_different(values: Array) -> bool:
    return int(np.count_nonzero(np.diff(values))) + 1 >= DIFFERENT


def _most_often(values: Array) -> int:
    """How often the most frequent of some values, in order, stands there."""
    ends = np.flatnonzero(np.append(np.diff(values) != 0, True))
    return int(np.diff(ends, prepend=-1).max())


# One value far too often.


def _spikes(sample: Sample, known: Found) -> Iterator[Finding]:
    least = int(max(SPIKE_LEAST, np.ceil(SPIKE_SHARE * sample.m)))
    if sample.sparse or sample.m < 2 * least:
        return
    ordered = sample.ordered
    tied = np.any(ordered[least - 1 :] == ordered[: len(ordered) - least + 1], axis=0)
    found: Found = defaultdict(list)
    for j in np.flatnonzero(tied & (sample.distinct > SPIKE_DISTINCT)):
        value = _spike(sample, int(j), least, [code for code, columns in known.items() if j in columns])
        if value is not None:
            found[value].append(int(j))
    low, high = _ends(sample)
    for value, columns in found.items():
        at_end = (low[columns] == value) | (high[columns] == value)
        if at_end.all() and len(columns) > max(3, SHARED * sample.d):
            continue  # the end of a range that many columns share
        yield _of_spike(sample, value, columns, bool(at_end.all()))


def _spike(sample: Sample, j: int, least: int, codes: list[float]) -> float | None:
    """The value of a continuous column that stands there far more often than any other."""
    there = sample.values[sample.finite[:, j], j]
    values, counts = np.unique(there[~np.isin(there, codes)], return_counts=True)
    if len(values) <= SPIKE_DISTINCT:
        return None
    order = np.argsort(counts)
    top, second = int(counts[order[-1]]), int(counts[order[-2]])
    value = float(values[order[-1]])
    natural = value == 0 and values[0] >= 0
    return None if top < least or top < SPIKE * second or natural else value


def _of_spike(sample: Sample, value: float, columns: list[int], at_end: bool) -> Finding:
    counts = [_count(sample, j, value) for j in columns]
    names, shown = sample.called(columns), as_number(value)
    why = "a limit that cut values off, or a code" if at_end else "a code, or what an earlier program filled in"
    exact = sample.known is not None
    return Finding(
        "far_too_often",
        NOTE,
        f"{shown} stands in {sample.of_rows(max(counts), exact)} of {called(names)}, where hardly another value "
        f"repeats: {why}",
        names,
        tuple(map(int, sample.at[np.flatnonzero(sample.values[:, columns[0]] == value)[:SHOWN]])),
        {"value": value, "counts": counts, "exact": sample.whole or exact},
        f"if it is a code: ritz.read(…, na={_as_python(value, names)}, missing='mean')",
        in_option("--na", names, f"{shown}:") + " --missing mean",
    )
