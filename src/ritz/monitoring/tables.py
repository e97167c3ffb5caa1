"""Limits, odd rows and components that one row decides, as tables; and what there is to know beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array
from ritz.monitoring.contributions import Explained, blamed, parts_of
from ritz.monitoring.limits import ADVICE, UNKNOWN, Limit
from ritz.monitoring.reading import DECIDES, Reading
from ritz.monitoring.result import SPE, T2, level_of, percent
from ritz.monitoring.textbook import Freedom
from ritz.runtime.tables import Table
from ritz.runtime.wording import component, components, plural

BLAME = "columns to blame"


def ratios(values: Array, limits: Sequence[Limit]) -> Array:
    """Statistics over their last limit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(values / limits[-1].value, nan=0.0, posinf=np.finfo(float).max)


def limits_table(
    head: str, alpha: Sequence[float], limits: Sequence[Sequence[Limit]], flags: Sequence[NDArray[np.int8]]
) -> Table:
    """A line per statistic and level: the limit, how many rows exceed it, and how many do so by chance."""
    lines = [
        (name, i, limit, flag)
        for name, some, flag in zip((T2, SPE), limits, flags, strict=True)
        for i, limit in enumerate(some)
    ]
    columns: dict[str, Any] = {
        "level": [percent(alpha[i]) for _, i, _, _ in lines],
        "limit": [limit.value for _, _, limit, _ in lines],
        "rows beyond": [int(np.count_nonzero(flag > i)) for _, i, _, flag in lines],
        "by chance": [alpha[i] * len(flag) for _, i, _, flag in lines],
        "method": [limit.method for _, _, limit, _ in lines],
        "why": [limit.why for _, _, limit, _ in lines],
    }
    return Table(columns, [name for name, *_ in lines], head=(head,), whole=("why",))


def odd_table(
    chosen: NDArray[np.intp],
    found: Reading,
    spe: Array,
    limits: Sequence[Sequence[Limit]],
    flags: Sequence[NDArray[np.int8]],
    explain: Explained | None,
) -> Table:
    """These rows beyond a limit, with the columns to blame for the statistic that is farther beyond its own."""
    count = int(np.count_nonzero(np.maximum(*flags)))
    head = f"{count:,} {plural(count, 'row')} beyond a limit" if count else "no row is beyond a limit"
    head += f", the farthest {len(chosen)} of them" if count > len(chosen) else ""
    farther = ratios(found.t2[chosen], limits[0]) >= ratios(found.spe[chosen], limits[1])
    levels = len(limits[0])
    columns: dict[str, Any] = {
        T2: found.t2[chosen],
        SPE: spe[chosen],
        "level": [level_of(int(flag), levels) for flag in np.maximum(*flags)[chosen]],
        "beyond": [
            " and ".join(name for name, flag in zip((T2, SPE), flags, strict=True) if flag[row]) for row in chosen
        ],
    }
    if explain is not None:
        rows = [int(row) for row in chosen]
        Z, t2, residuals, errors = parts_of(explain.subspace, explain.numbers(rows))
        columns[BLAME] = [
            blamed(t2[i], Z[i], explain.columns) if inside else blamed(errors[i], residuals[i], explain.columns)
            for i, inside in enumerate(farther)
        ]
    return Table(columns, [int(row) for row in chosen], head=(head,), index_name="row", whole=(BLAME,))


def deciding_table(found: Reading, of: Freedom | None) -> Table:
    """Components of which one row of the fit has more than half of the variance."""
    shares = found.top / (of.n - of.ddof) if of is not None else np.zeros(0)
    which = np.flatnonzero(shares > DECIDES + 1e-9)
    columns = {"row": found.at[which], "share of its variance": shares[which]}
    head = "components that one row decides" if len(which) else "no component is decided by one row"
    formats = {"share of its variance": percent}
    return Table(columns, [component(int(a)) for a in which], head=(head,), formats=formats)


def notes(counted: int, asked: int, limits: Sequence[Limit]) -> tuple[str, ...]:
    """What the user should know beside the limits."""
    found = []
    if counted < asked:
        one = asked - counted == 1
        what = components(counted, asked)
        found.append(
            f"{what} {'has' if one else 'have'} no variance beyond rounding, and {'is' if one else 'are'} left out"
        )
    found += [f"no limit: {limit.why}; {ADVICE}" for limit in limits if np.isnan(limit.value)]
    found += [f"limits of SPE are upper bounds: {UNKNOWN}; {ADVICE}" for limit in limits if limit.why == UNKNOWN]
    found += [limit.why for limit in limits if "h₀" in limit.why]
    return tuple(dict.fromkeys(found))
