"""Where NaN and infinities are, for errors that name the place."""

from __future__ import annotations

import numpy as np

from ritz.errors import DataError
from ritz.rows.base import Block, Rows, dense
from ritz.rows.large_integers import is_wide


def check_finite(rows: Rows) -> None:
    """Count NaN and infinities and name the first; nothing happens when there are none."""

    def count(block: Block) -> Block:
        block = dense(block)
        nan, finite = np.isnan(block), np.isfinite(block)
        return np.stack([nan.sum(axis=1), (~finite).sum(axis=1), np.argmax(~finite, axis=1)], axis=1)

    if is_wide(rows.dtype):
        for _ in rows.each(lambda block: block[:0]):  # which refuses integers that float64 cannot hold
            pass
    if rows.dtype.kind != "f":
        return
    table = rows.map(count)
    nan, bad = int(table[:, 0].sum()), int(table[:, 1].sum())
    if bad:
        row = int(np.argmax(table[:, 1] > 0))
        what = " and ".join(f"{c} {w}" for c, w in ((nan, "NaN"), (bad - nan, "infinity (inf)")) if c)
        row_of_source = row if rows.kept is None else int(rows.kept[row])
        place = f"first at row {row_of_source}, column {rows.name(int(table[row, 2]))}"
        code = "missing" if nan == bad else "infinite"
        found, advice = f"contains {what}, {place}", "drop or impute those rows first"
        raise DataError(f"Input X {found}", advice, code, f"the data {found}")


def nothing_left(n: int) -> DataError:
    """What to say where missing="drop" drops every row."""
    problem, plain = f"missing='drop' would drop all {n} rows: every one has", f"no row is left: each of {n} has"
    return DataError(f"{problem} a missing value", code="nothing left", plain=f"{plain} a missing value")


def no_mean(column: str) -> DataError:
    """What to say where missing="mean" finds no value to take the mean of."""
    problem = f"column {column} has no value at all"
    return DataError(f"missing='mean', but {problem}", "leave it out", "no value", problem)
