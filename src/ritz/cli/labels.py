"""`--labels`: labels of rows from another file, matched by the names of the rows or by their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.rows import Rows
from ritz.rows.columns import shown
from ritz.rows.formats.idx import is_idx, labels_in
from ritz.rows.formats.read import TEXTS, opened, suffix_of
from ritz.rows.patterns import matching
from ritz.rows.text.words import columns_of_words
from ritz.rows.write.columns import numbers_from_text
from ritz.runtime.wording import plural

HALF = 0.5  # of the names of rows that a column must hold to be one of such names
SHOWN = 3  # names in a message


class Labels(NamedTuple):
    """A label for every row of the source, what they are called, and how they were matched."""

    name: str
    values: NDArray[Any]
    told: str


def labels_from(asked: str, rows: Rows, title: str, identifier: Any) -> Labels:
    """The labels that a user asks for as FILE or FILE:COL, one for every row of the source."""
    path, column = _located(asked)
    table = _table(path, rows.shape[0], identifier)
    if identifier is None:  # a column of text by the same name may name them too
        identifier = next((key for key in (*rows.left_out, *rows.others) if key in table and key != column), None)
    names = None if identifier is None else list(map(_text, rows.raw_cells([identifier])[identifier].tolist()))
    key, by = _columns(table, column, path, identifier, names)
    name = path.name.partition(".")[0] if isinstance(key, int) else str(key)
    name = f"{name} ({path.name})" if name in set(map(str, (identifier, *(rows.names or ())))) else name
    if by is None or names is None:
        values = _in_order(table[key], rows.shape[0], path, title, key)
        how = "in the order of the rows"
    else:
        values = _by_name(table[key], list(map(_text, table[by].tolist())), names, path, title)
        how = f"matched by the names of the rows in {identifier!r}"
    gaps = sum(value is None or value != value or not str(value).strip() for value in values.tolist())
    lacking = f"; {gaps} {plural(gaps, 'row')} without a label" if gaps else ""
    return Labels(name, values, f"{name!r} of {path.name}, {how}{lacking}")


def _located(asked: str) -> tuple[Path, str | None]:
    """The file, and the column behind a colon if one is named."""
    if Path(asked).exists():
        return Path(asked), None
    file, colon, column = asked.rpartition(":")
    if colon and column and Path(file).exists():
        return Path(file), column
    raise FileNotFoundError(f"there is no file {asked!r}")


def _table(path: Path, n: int, identifier: Any) -> dict[Any, NDArray[Any]]:
    """All columns of a file, of numbers or of text."""
    suffix = suffix_of(path)
    if suffix in TEXTS:
        return {key: numbers_from_text(cells) for key, cells in columns_of_words(path, n, identifier).items()}
    if suffix in (".parquet", ".pq", ".arrow", ".feather", ".ipc"):
        return _arrow_table(path, suffix)
    if suffix == ".npy":
        from ritz.rows.formats.npy import values_in

        values = values_in(path)
        return dict(enumerate(values.reshape(len(values), -1).T))
    if path.is_file() and is_idx(path) and (labels := labels_in(path)) is not None:
        return {0: labels}
    rows = opened(path)
    return rows.cells([*(rows.keys or rows.names or range(rows.shape[1])), *rows.others])


def _arrow_table(path: Path, suffix: str) -> dict[Any, NDArray[Any]]:
    from pyarrow import feather, parquet

    from ritz.rows.formats.table import arrow_damage, as_array

    with arrow_damage(f"{path.name} cannot be read", path):
        read = parquet.read_table if suffix in (".parquet", ".pq") else feather.read_table
        table = read(path)
        return {name: as_array(table.column(name)) for name in table.column_names}


def _columns(
    table: Mapping[Any, NDArray[Any]], column: str | None, path: Path, identifier: Any, names: list[str] | None
) -> tuple[Any, Any]:
    """The column of the labels, and that of the names of rows, if there is one."""
    asked = None if column is None else matching(list(table), [column])
    if asked is not None and len(asked) != 1:
        raise DataError(f"{path.name}:{column} names {len(asked)} columns: {shown(asked, 8)}; labels are one")
    others = [key for key in table if asked is None or key != asked[0]]
    by = None
    if names is not None and len(table) > 1:
        wanted = set(names)
        shares = {key: len(wanted & set(map(_text, table[key].tolist()))) / max(1, len(wanted)) for key in others}
        by = identifier if shares.get(identifier, 0) > 0 else max(others, key=lambda key: shares[key])
        by = by if shares[by] >= HALF or by == identifier else None
    if asked is not None:
        return asked[0], by
    left = [key for key in others if key != by]
    if len(left) != 1:
        there = shown(list(table), 8)
        raise DataError(f"{path.name} has {len(table)} columns: {there}; name that of the labels: {path.name}:COL")
    return left[0], by


def _in_order(values: NDArray[Any], n: int, path: Path, title: str, key: Any) -> NDArray[Any]:
    if len(values) != n:
        under = "" if isinstance(key, int) else f" under the name {key!r}"
        found, rows = plural(len(values), "label"), plural(n, "row")
        count = f"{path.name} has {len(values)} {found}{under}, but {title} has {n} {rows}"
        raise DataError(f"{count}, and no names of rows tell which belong together")
    return values


def _by_name(values: NDArray[Any], keys: list[str], names: list[str], path: Path, title: str) -> NDArray[Any]:
    """The labels of rows by the names of these."""
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        rows = f"{len(twice)} {plural(len(twice), 'row')}"
        raise DataError(
            f"{path.name} names {rows} more than once, such as {shown(twice, SHOWN)}; leave one line of each"
        )
    places = {key: i for i, key in enumerate(keys)}
    lacking = [name for name in names if name not in places]
    if lacking:
        raise DataError(
            f"{len(lacking)} of {len(names)} rows of {title} are not in {path.name}, such as {shown(lacking, SHOWN)}; "
            "add them there, with an empty label if it is not known"
        )
    return values[np.array([places[name] for name in names], np.intp)]


def _text(value: Any) -> str:
    """A name as text; whole numbers look whole."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
