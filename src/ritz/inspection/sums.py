"""Columns that are sums of others, or follow from them by another linear rule: they add nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ritz.inspection.duplicates import copies, standardized
from ritz.inspection.finding import NOTE, WARNING, Finding, called, in_option, roughly
from ritz.inspection.sample import Sample
from ritz.linalg.dense import Array
from ritz.runtime.threads import pinned

MOST, WIDEST = 12, 400  # columns that are named in a rule, and columns of a table that are looked through
ROWS = 1600  # enough for as many columns; a rule that holds for these is tried on all
BEYOND = 12  # rows more than columns: else every column follows from the others
EXACT, CANDIDATE = (
    1e-8,
    3e-3,
)  # parts of a column, by length, that others leave over: of a sum, and of one of rounded numbers
WHOLE = 12  # coefficients up to here are taken for whole numbers
NEAR, ROUGHLY = 1e-3, 0.02  # parts of the largest coefficient that are none; what one may be away from a whole number
ROUNDED = 0.1  # of the deviation of a sum, that rounding of its parts may change
LISTED = 5


@dataclass(frozen=True)
class Rule:
    """Column j = offset + Σ coefficients · columns."""

    j: int
    columns: tuple[int, ...]
    coefficients: tuple[float, ...]
    offset: float
    whole: bool  # whether the coefficients are whole numbers


def sums(sample: Sample) -> Iterator[Finding]:
    """Columns that follow from others, with the rule where it is short."""
    if sample.pictures or sample.sparse:
        return
    rules = _rules(sample)
    closed = _closed(sample)
    if closed is not None:
        yield closed
        rules = [rule for rule in rules if len(rule.columns) + 1 < sample.varies.sum()]
    if not rules:
        return
    extra = sample.called(rule.j for rule in rules)
    told = "; ".join(_told(sample, rule) for rule in rules[:LISTED])
    rest = f"; and {len(rules) - LISTED} more" if len(rules) > LISTED else ""
    yield Finding(
        "sums",
        WARNING,
        f"{len(rules)} {'column follows' if len(rules) == 1 else 'columns follow'} from others: {told}{rest}"
        f"{sample.where}",
        extra,
        evidence={
            "of": [list(sample.called(rule.columns)) for rule in rules],
            "coefficients": [list(rule.coefficients) for rule in rules],
            "offsets": [rule.offset for rule in rules],
        },
        python=f"leave {called(extra)} out: the last variances are then no longer 0",
        option=in_option("--drop", extra),
    )


def _closed(sample: Sample) -> Finding | None:
    """Whether every row has the same sum, as shares of a whole have."""
    values = sample.values
    if sample.d < 3 or sample.m < BEYOND or not sample.finite.all() or not sample.varies.any():
        return None
    unit = float(sample.unit.max())
    parts = values / unit
    total, size = parts.sum(axis=1), np.abs(parts).sum(axis=1)
    typical = float(np.median(total))
    spread = float(np.ptp(total))
    exact = spread <= max(64 * sample.precision * np.sqrt(sample.d) * float(size.max()), _rounding(sample, unit))
    same_kind = sample.varies.mean() > 0.5 and not (values < 0).any()
    if not (exact and same_kind and abs(typical) > 0.01 * float(size.max())):
        return None
    return Finding(
        "closed",
        NOTE,
        f"all columns add up to {roughly(typical * unit)} in every row{sample.where}: each follows from the others, as "
        "shares of a whole do",
        sample.called(range(sample.d)),
        evidence={"sum": typical * unit, "spread": spread * unit},
        python="nothing is wrong with that, but the last variance is 0; for shares, logarithms of ratios tell more",
    )


def _rounding(sample: Sample, unit: float) -> float:
    """How far sums may lie apart because parts were rounded, where that is little beside how much the parts vary."""
    ratio = sample.unit / unit
    steps, varies = float((sample.step * ratio).sum()), float(np.sqrt(np.square(sample.deviation * ratio).sum()))
    return steps if steps <= ROUNDED * varies else 0.0


def _rules(sample: Sample) -> list[Rule]:
    again = sample.once("copies", copies)
    places = np.array([j for j in np.flatnonzero(sample.varies) if int(j) not in again], np.intp)
    rows = np.flatnonzero(sample.finite[:, places].all(axis=1)) if len(places) else np.empty(0, np.intp)
    if not 3 <= len(places) <= WIDEST or len(rows) < len(places) + BEYOND:
        return []
    some = rows if len(rows) <= ROWS else rows[np.linspace(0, len(rows) - 1, ROWS).astype(np.intp)]
    Z = standardized(sample, places)[some]
    Z = Z - Z.mean(axis=0)
    lengths = np.sqrt(np.square(Z).sum(axis=0))
    if not (lengths > 0).all():  # a column that does not vary among rows without gaps
        return []
    Z = Z / lengths
    from scipy.linalg import qr, solve_triangular

    with pinned.calling():
        R, order = qr(Z, mode="r", pivoting=True, check_finite=False)
    diagonal, found = np.abs(np.diag(R)), dict[int, Rule]()
    for tolerance in (EXACT, CANDIDATE):
        rank = int(np.count_nonzero(diagonal > tolerance))
        if rank < len(places):
            with pinned.calling():
                C = solve_triangular(R[:rank, :rank], R[:rank, rank:], check_finite=False)
            for i, k in enumerate(order[rank:]):
                rule = _rule(sample, places, order[:rank], int(k), C[:, i], rows, some)
                if rule is not None and rule.j not in found:
                    found[rule.j] = rule
    return [found[j] for j in sorted(found)]


def _rule(
    sample: Sample,
    places: NDArray[np.intp],
    independent: NDArray[np.intp],
    k: int,
    c: Array,
    rows: NDArray[np.intp],
    some: NDArray[np.intp],
) -> Rule | None:
    """The rule for a column, if it holds: exactly, or to the digits of the data where coefficients are whole."""
    used = np.flatnonzero(np.abs(c) > NEAR * np.abs(c).max())
    used = used[np.argsort(places[independent[used]])]
    columns, j = places[independent[used]], int(places[k])
    raw = c[used] * _scale(sample, some, j) / _scale(sample, some, columns)
    with np.errstate(over="ignore"):
        ratio = sample.unit[j] / sample.unit[columns]
    coefficients = raw * ratio
    rounded = np.rint(coefficients)
    near = (np.abs(coefficients - rounded) <= ROUGHLY * np.maximum(1.0, np.abs(rounded))) & (np.abs(rounded) <= WHOLE)
    if near.all() and (rounded != 0).all() and np.isfinite(ratio).all():
        whole = _held(sample, rows, j, columns, rounded, ratio, rounds=True)
        if whole is not None:
            return _turned(Rule(j, tuple(map(int, columns)), tuple(rounded.tolist()), whole, True))
    offset = _held(sample, rows, j, columns, coefficients, ratio, rounds=False)
    if offset is None or len(rows) < 2 * len(columns) + BEYOND:
        return None
    return Rule(j, tuple(map(int, columns)), tuple(coefficients.tolist()), offset, False)


def _scale(sample: Sample, rows: NDArray[np.intp], columns: int | NDArray[np.intp]) -> Array:
    """The lengths of centred columns, among rows without gaps, in their units."""
    found: Array = sample.scaled[rows][:, columns].std(axis=0)
    return found


def _held(
    sample: Sample,
    rows: NDArray[np.intp],
    j: int,
    columns: NDArray[np.intp],
    coefficients: Array,
    ratio: Array,
    rounds: bool,
) -> float | None:
    """The offset of a rule that holds in all rows without gaps; None for one that does not."""
    parts = sample.scaled[rows][:, columns] * (coefficients / ratio)
    left = sample.scaled[rows, j] - parts.sum(axis=1)
    offset = float(np.median(left))
    size = float((np.abs(parts).sum(axis=1) + np.abs(sample.scaled[rows, j])).max())
    allowed = 256 * sample.precision * size
    if rounds:  # every number may have been rounded to the digits that the table has
        steps = sample.step[j] + float((np.abs(coefficients / ratio) * sample.step[columns]).sum())
        small = steps <= 0.1 * sample.deviation[j]
        allowed = max(allowed, 0.51 * steps) if small else allowed
    else:
        allowed = max(allowed, 1e-9 * float(sample.deviation[j]))
    if float(np.abs(left - offset).max()) > allowed:
        return None
    return 0.0 if abs(offset) <= allowed else offset * float(sample.unit[j])


def _turned(rule: Rule) -> Rule:
    """The same rule, told of the column that is the sum of the others: total = a + b, not b = total − a."""
    ones = all(abs(c) == 1 for c in rule.coefficients)
    if not ones or all(c == 1 for c in rule.coefficients):
        return rule
    positive = [i for i, c in zip(rule.columns, rule.coefficients, strict=True) if c == 1]
    if len(positive) != 1 or rule.offset:
        return rule
    others = tuple(sorted([rule.j, *(i for i in rule.columns if i != positive[0])]))
    return Rule(positive[0], others, (1.0,) * len(others), 0.0, True)


def _told(sample: Sample, rule: Rule) -> str:
    name = called(sample.called([rule.j]))
    if len(rule.columns) > MOST:
        return f"{name}, from {len(rule.columns)} others"
    if rule.offset and set(rule.coefficients) == {-1.0}:  # as of indicators of kinds
        columns = sorted((rule.j, *rule.columns))
        return f"{' + '.join(called([one]) for one in sample.called(columns))} = {roughly(rule.offset)}"
    text = ""
    for i, c in sorted(zip(rule.columns, rule.coefficients, strict=True)):
        sign = " - " if c < 0 else " + "
        size = "" if abs(c) == 1 else f"{roughly(abs(c))} × "
        text += (sign if text else "-" * (c < 0)) + size + called(sample.called([i]))
    if rule.offset:
        text += f" {'+' if rule.offset > 0 else '-'} {roughly(abs(rule.offset))}"
    return f"{name} = {text}"
