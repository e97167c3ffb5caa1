"""Results as tables: they print as text, and become frames of pandas or polars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ritz.errors import MissingPackageError
from ritz.runtime.wording import plural, visible

MOST = 30  # rows that are printed
LONGEST = 40  # letters of a cell of text that are printed
Format = Callable[[Any], str]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length under their names, with a name for every row.

    Attributes
    ----------
    columns : by name; arrays or lists of numbers, text or flags
    index : names of the rows
    head : lines printed above
    notes : lines printed below
    formats : how the cells of a column are printed; `written` where nothing is said
    index_name : what the names of the rows are
    whole : columns of text whose cells are printed as they are, however long

    Examples
    --------
    >>> table = Table({"variance": [4.2, 0.2427], "kept": [True, False]}, ["PC1", "PC2"], head=("two components",))
    >>> print(table)
    two components
         variance  kept
    PC1       4.2   yes
    PC2    0.2427    no
    >>> table["variance"], len(table)
    ([4.2, 0.2427], 2)
    """

    columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]]
    index: Sequence[Any]
    head: Sequence[str] = ()
    notes: Sequence[str] = ()
    formats: Mapping[str, Format] = field(default_factory=dict)
    index_name: str = ""
    whole: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name, values in self.columns.items():
            if len(values) != len(self.index):
                raise ValueError(f"column {name!r} has {len(values)} cells for {len(self.index)} rows")

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __str__(self) -> str:
        return "\n".join([*self.head, *self.lines(), *self.notes])

    def lines(self, most: int = MOST) -> list[str]:
        """The cells as text, one line for the names of the columns and one for each of the first rows."""
        shown = min(most, len(self))
        names = [_text(name) for name in list(self.index)[:shown]]
        parts = [[self.index_name, *names]]
        for name, values in self.columns.items():
            form = self.formats.get(name, written)
            text = visible if name in self.whole else _text
            parts.append([_text(name), *(text(form(value)) for value in list(values)[:shown])])
        widths = [max(map(len, part)) for part in parts]
        left = [True, *(_is_text(values) for values in self.columns.values())]
        found = []
        for cells in zip(*parts, strict=True):
            aligned = zip(cells, widths, left, strict=True)
            line = [cell.ljust(width) if start else cell.rjust(width) for cell, width, start in aligned]
            found.append("  ".join(line).rstrip())
        rest = len(self) - shown
        return found + ([f"… and {rest:,} more {plural(rest, 'row')}"] if rest else [])

    def to_frame(self) -> Any:
        """A DataFrame of pandas, with the names of the rows as its index; where pandas is not installed, one of polars
        with a column of them.

        Examples
        --------
        >>> Table({"variance": [4.2, 0.24]}, ["PC1", "PC2"]).to_frame().loc["PC2", "variance"]
        np.float64(0.24)
        """
        try:
            import pandas as pd
        except ImportError:
            return self._in_polars()
        index = pd.Index(list(self.index), name=self.index_name or None)
        return pd.DataFrame({name: _cells(values) for name, values in self.columns.items()}, index=index)

    def _in_polars(self) -> Any:
        try:
            import polars as pl
        except ImportError:
            raise MissingPackageError("to_frame needs pandas or polars: pip install pandas") from None
        cells = {self.index_name or "name": list(map(str, self.index))}
        return pl.DataFrame(cells | {name: _cells(values) for name, values in self.columns.items()})


class Tabled(ABC):
    """A result that prints as a table and becomes a frame."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """What is printed."""

    def __str__(self) -> str:
        return str(self.table)

    def to_frame(self) -> Any:
        """The table as a DataFrame of pandas, or of polars where pandas is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> X = np.random.default_rng(0).standard_normal((200, 3)) * [3, 2, 1]
        >>> frame = ritz.PCA(2).fit(X).sampling().to_frame()
        >>> list(frame.index)
        ['PC1', 'PC2']
        """
        return self.table.to_frame()


def written(value: Any) -> str:
    """A cell: numbers with four digits, flags as words, nothing for what is not there.

    Examples
    --------
    >>> written(0.123456), written(12345.6), written(7), written(True), written(float("nan"))
    ('0.1235', '12346', '7', 'yes', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        number = float(value)
        if np.isnan(number):
            return ""
        return f"{number:.0f}" if 1e4 <= abs(number) < 1e7 else f"{number:.4g}"
    return str(value)


def _text(value: Any) -> str:
    text = visible(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _is_text(values: Sequence[Any] | np.ndarray[Any, Any]) -> bool:
    return len(values) > 0 and all(isinstance(value, str) for value in values)


def _cells(values: Sequence[Any] | np.ndarray[Any, Any]) -> Any:
    return values if isinstance(values, np.ndarray) else list(values)
