"""What columns are: measurements in different units, dates, numbers of rows, shares beside percentages, kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.inspection.codes import code_cells
from ritz.inspection.far_cells import cells_beyond
from ritz.inspection.finding import NOTE, WARNING, Finding, called, in_option, roughly
from ritz.inspection.heavy import heavy_cells
from ritz.inspection.sample import Sample
from ritz.linalg.dense import Array
from ritz.rows.profile import Profile
from ritz.rows.select import IDENTIFIERS, LETTERS, NAMELESS, NUMBERING, WHOLE_NAMES, WORD

APART = 10.0  # times that deviations may differ before one column dominates
FEWEST = 10  # values that tell what a column is
COUNTS = "counts the rows, as times and numbers of rows do"
DATE, TIME, YEAR = "dates as yyyymmdd", "times in {} since 1970", "years"
# Numbers of seconds, and so on, from 1990 to 2065.
SINCE_1970 = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
EARLIEST, LATEST = 631152000.0, 3e9
TIMES = {"time", "date", "datetime", "timestamp", "ts", "epoch", "created", "updated", "modified", "unix", "zeit"}
YEARS = {"year", "years", "yr", "jahr", "annee", "año"}
OF_A_YEAR = (1000, 2200)
PERCENT = {"percent", "percentage", "pct", "share", "fraction", "rate", "proportion", "ratio", "%"}
KINDS = {
    "type", "kind", "class", "code", "category", "cat", "region", "group", "label", "cluster", "status", "species",
    "gender", "sex", "zip", "zipcode", "district", "county", "state", "country", "zone", "sector", "department",
}  # fmt: skip
LEAST_KINDS, MOST_KINDS, CONTINUOUS = 3, 12, 30  # different values of a code, and of a measurement
WORDS_OR_PERCENT = re.compile(r"%|" + WORD.pattern)


def words(name: Any) -> list[str]:
    """The words of a name in small letters; none of a position.

    Examples
    --------
    >>> words("patientID"), words("share_of %"), words(3)
    (['patient', 'id'], ['share', 'of', '%'], [])
    """
    return [word.lower() for word in WORDS_OR_PERCENT.findall(name)] if isinstance(name, str) else []


def units(sample: Sample) -> Iterator[Finding]:
    """Columns that vary so differently, or whose names tell of so different units, that they need one scale."""
    if sample.alike or sample.m < 2:
        return
    profile = _profile(sample)
    if not profile.needs_scale(APART):
        return
    known = ", ".join(sorted(profile.units - {""}))
    if profile.spread > APART:
        j, i = int(np.argmax(profile.deviations)), _narrowest(profile.deviations)
        names = sample.called([j, i])
        said = f"{called([names[0]])} varies {profile.times} as much as {called([names[1]])}{sample.where}"
    else:
        names, said = sample.names, f"names of columns tell of different units ({known})"
    yield Finding(
        "units",
        WARNING,
        f"{said}: without a common scale the columns with the largest numbers decide",
        names,
        evidence={"spread": profile.spread, "units": sorted(profile.units - {""})},
        python="PCA(scale=True) gives every column the same weight",
        option="--scale",
    )


def _profile(sample: Sample) -> Profile:
    """The profile without codes, mistakes and cells that have most of a variance: these are no matter of units."""
    cells = [*sample.once("far", cells_beyond), *sample.once("heavy", heavy_cells)]
    told = [*code_cells(sample), *((cell.j, cell.value) for cell in cells)]
    if not told:
        return sample.profile
    values = sample.values.copy()
    for j, value in told:
        values[values[:, j] == value, j] = np.nan
    return Profile.of_block(values, sample.n, sample.profile.names)


def _narrowest(deviations: Array) -> int:
    return int(np.argmin(np.where(deviations > 0, deviations, np.inf)))


def dates(sample: Sample) -> Iterator[Finding]:
    """Columns of whole numbers that are dates, times or years."""
    if sample.alike:
        return
    worth = np.flatnonzero(sample.integral & sample.varies & (sample.counts >= FEWEST))
    found: dict[str, list[int]] = {}
    for j in worth:
        there = sample.values[sample.finite[:, j], j]
        if what := _what_time(there, sample.names[int(j)]):
            found.setdefault(what, []).append(int(j))
    for what, columns in found.items():
        names = sample.called(columns)
        there = sample.values[sample.finite[:, columns[0]], columns[0]]
        first, last = _as_date(float(there.min()), what), _as_date(float(there.max()), what)
        yield Finding(
            "dates",
            NOTE if what == YEAR else WARNING,
            f"{called(names)} look{'s' * (len(names) == 1)} like {what}, {first} to {last}: "
            "a position in time is hardly a measurement",
            names,
            evidence={"kind": what, "first": first, "last": last},
            python=f"leave {called(names)} out, or use it as label=",
            option=in_option("--drop", names),
        )


def _what_time(values: Array, name: Any) -> str:
    """What kind of time whole numbers are; nothing where they are none."""
    low, high, said = float(values.min()), float(values.max()), set(words(name))
    if low > 1.8e7 and high < 2.101e7 and _are_dates(values):
        return DATE
    rising = bool((np.diff(values) >= 0).all() or (np.diff(values) <= 0).all())
    for unit, per_second in SINCE_1970.items():
        if low >= EARLIEST * per_second and high <= LATEST * per_second and (said & TIMES or rising):
            return TIME.format(unit)
    return YEAR if OF_A_YEAR[0] <= low and high <= OF_A_YEAR[1] and said & YEARS else ""


def _are_dates(values: Array) -> bool:
    month, day = values // 100 % 100, values % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _as_date(value: float, what: str) -> str:
    if what == DATE:
        text = f"{value:.0f}"
        return f"{text[:4]}-{text[4:6]}-{text[6:]}"
    per_second = next((per for unit, per in SINCE_1970.items() if what == TIME.format(unit)), None)
    if per_second is None:
        return f"{value:.0f}"
    return datetime.fromtimestamp(value / per_second, UTC).date().isoformat()


def identifiers(sample: Sample) -> Iterator[Finding]:
    """Columns that number the rows or identify them: what `ritz.read` leaves out of files, of tables in memory too."""
    if sample.alike or sample.m < FEWEST:
        return
    for j in np.flatnonzero(sample.integral & (sample.counts == sample.m)):
        values, name = sample.values[:, j], sample.names[int(j)]
        counts = bool((values - sample.at == values[0] - sample.at[0]).all())
        different = int(sample.distinct[j]) == sample.m
        why = _why(set(words(name)), name, counts, different)
        if why:
            yield Finding(
                "identifier",
                NOTE if why is COUNTS else WARNING,
                f"{called([name])} {why}{sample.where}" + ("" if why is COUNTS else ": it measures nothing"),
                (name,),
                evidence={"counts": counts, "different": int(sample.distinct[j])},
                python=f"leave {called([name])} out",
                option=in_option("--drop", [name]),
            )


def _why(said: set[str], name: Any, counts: bool, different: bool) -> str:
    """Why a column of whole numbers is no measurement, if it is none."""
    if counts:
        nameless = not isinstance(name, str) or NAMELESS.fullmatch(name) is not None
        named = said & IDENTIFIERS or (said <= NUMBERING and said - LETTERS)
        return "numbers the rows" if nameless or named else COUNTS
    identifies = said & IDENTIFIERS or " ".join(sorted(said)) in WHOLE_NAMES
    return "has the name of an identifier, and all its values differ" if identifies and different else ""


def percentages(sample: Sample) -> Iterator[Finding]:
    """Shares up to 1 beside percentages up to 100, by names that tell of both."""
    named = [j for j in range(sample.d) if sample.counts[j] >= FEWEST and PERCENT & set(words(sample.names[j]))]
    if len(named) < 2:
        return
    low, high = (sample.rank(place) * sample.unit for place in (np.zeros(sample.d), sample.counts))
    shares = [j for j in named if low[j] >= 0 and 0 < high[j] <= 1 and not sample.integral[j]]
    percents = [j for j in named if low[j] >= 0 and 1.5 < high[j] <= 100]
    if not shares or not percents:
        return
    a, b = sample.called(shares), sample.called(percents)
    yield Finding(
        "percentages",
        WARNING,
        f"{called(a)} go{'es' * (len(a) == 1)} up to {roughly(float(high[shares].max()))} and {called(b)} up to "
        f"{roughly(float(high[percents].max()))}{sample.where}: shares beside percentages",
        (*a, *b),
        evidence={"shares": list(a), "percentages": list(b)},
        python="bring them to one unit, or PCA(scale=True)",
        option="--scale",
    )


def kinds(sample: Sample) -> Iterator[Finding]:
    """A few whole numbers beside measurements, which may be codes of kinds."""
    if sample.alike or sample.d < 3 or sample.m < 5 * FEWEST:
        return
    continuous = sample.distinct > CONTINUOUS
    few = sample.integral & (sample.distinct >= LEAST_KINDS) & (sample.distinct <= MOST_KINDS)
    told = np.array([bool(KINDS & set(words(name))) for name in sample.names])
    low, high = (sample.rank(place) * sample.unit for place in (np.zeros(sample.d), sample.counts))
    counts = (low == 0) & (high == sample.distinct - 1)  # 0, 1, 2, … may well be counted
    columns = np.flatnonzero(few & (told | ~counts)) if continuous.mean() >= 0.5 else np.flatnonzero(few & told)
    if not len(columns):
        return
    names = sample.called(columns)
    yield Finding(
        "kinds",
        NOTE,
        f"{called(names)} hold{'s' * (len(names) == 1)} only {_numbers(sample.distinct[columns])} different whole "
        f"numbers{sample.where}: if these are codes of kinds, their order means nothing",
        names,
        evidence={"different": sample.distinct[columns].tolist()},
        python="leave codes out, or make a column of 0 and 1 of every kind",
        option=in_option("--drop", names),
    )


def _numbers(different: NDArray[np.intp]) -> str:
    low, high = int(different.min()), int(different.max())
    return str(low) if low == high else f"{low} to {high}"
