"""Columns of anything that stand beside numbers in a file: as Arrow holds them, and harmless in a spreadsheet."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

TIMES = ("D", "s", "ms", "us", "ns")  # units of time that Arrow knows
# A spreadsheet runs a cell that begins like this, whatever blanks or invisible characters stand before it,
FORMULA = r"^[\s\p{Z}\p{Cc}\p{Cf}]*[=+\-@\t\r＝＋－＠]"
# unless all of it is a number.
NUMBER = r"^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$"


def as_column(values: NDArray[Any]) -> Any:
    """Text, numbers, dates or a mixture, which becomes text, as a pyarrow column; None, NaN and NaT are missing.

    Examples
    --------
    >>> as_column(np.array(["a", None, 3], object)).to_pylist()
    ['a', None, '3']
    """
    import pyarrow as pa

    values = np.asarray(values)
    if values.dtype.kind == "M" and np.datetime_data(values.dtype)[0] not in TIMES:
        values = values.astype("datetime64[s]")
    if values.dtype.kind == "m":
        return _as_text(values.astype("timedelta64[us]"))
    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _as_text(values)
    kinds = (pa.types.is_primitive, pa.types.is_string, pa.types.is_null)
    return column if any(is_kind(column.type) for is_kind in kinds) else _as_text(values)


def numbers_from_text(values: NDArray[Any]) -> NDArray[Any]:
    """Words that are numbers, as numbers, if all of them would be written as they are; else as words: 007 is not 7.

    Examples
    --------
    >>> numbers_from_text(np.array(["1", "20"], object)), numbers_from_text(np.array(["01", "2"], object))
    (array([ 1, 20]), array(['01', '2'], dtype=object))
    >>> numbers_from_text(np.array(["1.5", "0.1"], object))
    array([1.5, 0.1])
    """
    import pyarrow as pa

    if values.dtype.kind != "O":
        return values
    try:
        words = pa.array(values, pa.string())
    except pa.ArrowException:
        return values
    for kind in (pa.int64(), pa.float64()):
        with suppress(pa.ArrowException):
            numbers = words.cast(kind)
            if not words.null_count and numbers.cast(pa.string()).equals(words):
                return numbers.to_numpy()
    return values


def escape_formulas(column: Any) -> Any:
    """Cells of text that a spreadsheet would take for a formula, with an apostrophe in front."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column
    risky = pc.and_not(pc.match_substring_regex(column, FORMULA), pc.match_substring_regex(column, NUMBER))
    return pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)


def _as_text(values: NDArray[Any]) -> Any:
    """Values of several kinds as text."""
    import pyarrow as pa

    return pa.array([_word(value) for value in values.tolist()], pa.string())


def _word(value: Any) -> str | None:
    if value is None or (isinstance(value, float | np.datetime64 | np.timedelta64) and value != value):
        return None
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.encode("utf-8", "replace").decode("utf-8")  # halves of characters cannot be written
