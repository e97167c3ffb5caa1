"""Columns of rows by name: where they stand, what they hold, and which of them is kept aside as labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ritz.errors import ColumnWarning, DataError
from ritz.rows.passes import CheckedFiles, checks_files

Beside = Callable[[int | None], NDArray[Any]]  # reads the first so many values of a column, or all of them


def order_of(names: list[Any], expected: list[Any], where: str) -> NDArray[np.intp] | None:
    """Where the expected columns stand among those that are there; None where they are the same in the same order.

    Examples
    --------
    >>> order_of(["b", "a"], ["a", "b"], "the file")
    array([1, 0])
    """
    if names == expected:
        return None
    places = {name: j for j, name in enumerate(names)}
    lacking = [name for name in expected if name not in places]
    if lacking:
        raise DataError(f"{where} lacks {len(lacking)} of {len(expected)} columns: {shown(lacking)}")
    return np.array([places[name] for name in expected], np.intp)


def check_once(names: Iterable[Any], known: Iterable[Any], renamed: Iterable[tuple[str, str]] = ()) -> None:
    """Refuse columns whose name appears more than once, where a model tells its columns apart by name.

    `renamed` are names that a file repeats and what those columns are called instead, which a model may know, too.

    Examples
    --------
    >>> check_once(["a", "b", "b"], ["a", "b"])
    Traceback (most recent call last):
    ritz.errors.DataError: column 'b' appears more than once, ...; rename or drop all of them but one
    """
    known = set(map(str, known))
    twice = [name for name, count in Counter(names).items() if count > 1 and str(name) in known]
    twice += [found.strip() for found, name in renamed if found.strip() in known and name not in known]
    if twice:
        what = "columns {} appear" if len(set(twice)) > 1 else "column {} appears"
        raise DataError(
            f"{what.format(shown(list(dict.fromkeys(twice))))} more than once, and the model tells its columns apart "
            "by name; rename or drop all of them but one"
        )


def shown(names: list[Any], most: int = 20) -> str:
    """Names in a message, the first of them if they are many."""
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")


def unique_names(cells: list[str]) -> tuple[str, ...]:
    """Names of all columns, with numbers behind those that repeat and in place of those that are empty."""
    names: dict[str, None] = {}
    for j, cell in enumerate(cells):
        name, again = cell or f"unnamed_{j}", 2
        while name in names:
            name, again = f"{cell or 'unnamed'}_{again}", again + 1
        names[name] = None
    return tuple(names)


def model_columns(model: Any) -> list[str] | None:
    """What an estimator calls its columns: their names, or the texts of names that are not text; None for none."""
    names = getattr(model, "feature_names_in_", None)
    names = getattr(model, "_column_keys", None) if names is None else names
    return None if names is None else list(map(str, names))


def keys_of(names: tuple[Any, ...] | None) -> tuple[str, ...] | None:
    """Names that are not text, such as years, as text; None where they are, or repeat, or count from 0 to d − 1.

    Examples
    --------
    >>> keys_of((2001, 2002)), keys_of((0, 1)), keys_of(("a", "b"))
    (('2001', '2002'), None, None)
    """
    if names is None or all(isinstance(name, str) for name in names) or counts_up(names):
        return None
    keys = tuple(map(str, names))
    return keys if len(set(keys)) == len(keys) else None


def is_missing(value: object) -> bool:
    """Whether a label says nothing: None, NaN, NA of pandas, or blanks.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing(" "), is_missing(0)
    (True, True, True, False)
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)  # NaN of any kind
    except (TypeError, ValueError):  # pandas' NA does not even compare
        return True


def counts_up(names: tuple[Any, ...]) -> bool:
    """Whether these are the numbers 0, 1, …, by which a table calls columns that have no names."""
    return list(names) == list(range(len(names)))


class Columns(CheckedFiles):
    """What rows know of their columns."""

    shape: tuple[int, int]
    about: str = ""  # what was found out about the source, for people
    column: Any  # all values of one of them
    names: tuple[Any, ...] | None = None
    keys: tuple[Any, ...] | None = None  # of all columns of the source, where some are left out
    _labels: Callable[[], NDArray[Any]] | None = None
    kept: NDArray[np.intp] | None = None  # which rows of a larger source these are
    renamed: tuple[tuple[str, str], ...] = ()  # names that the source repeats or leaves empty, and what they became
    left_out: Mapping[Any, str] = MappingProxyType({})  # columns of the source without numbers, and what they hold
    text_columns: tuple[Any, ...] = ()  # those of them that hold text
    mixed: Mapping[Any, str] = MappingProxyType({})  # text columns with at least as many numbers, and advice
    others: Mapping[Any, Beside] = MappingProxyType({})  # columns that the source keeps outside of its matrix
    aside: Mapping[Any, str] = MappingProxyType({})  # columns of numbers that were left out, and why
    remarks: tuple[ColumnWarning, ...] = ()  # what was decided about the source that may have to be undone
    named_by: Any = None  # the one of them that holds the names of the rows
    labelled_by: Any = None  # the one of them that tells what the rows are, unless another label is asked for
    stack: tuple[int, ...] | None = None  # the shape of a source with more than two axes, before it was flattened
    image_shape: tuple[int, ...] | None = None  # (h, w) or (h, w, 3), where every row is a picture
    white: float | None = None  # of pictures, the number that stands for white; None where it is not known
    resizable: bool = False  # whether pictures can be read in another size, or as grey ones: those of a folder

    def some(self, columns: NDArray[np.intp]) -> Self | None:
        """The same rows with some of the columns, where the source need not read the others."""
        return None

    def inherit(self, source: Columns, kept: NDArray[np.intp] | None = None) -> None:
        """What is known of the source that these rows were chosen from; `kept` says which of its rows they are."""
        self.keys, self.left_out, self.renamed, self.about = source.keys, source.left_out, source.renamed, source.about
        self.others, self.named_by, self.files = source.others, source.named_by, source.files
        self.labelled_by, self.resizable = source.labelled_by, source.resizable
        self.image_shape, self.white = source.image_shape, source.white
        self.remarks, self.aside = source.remarks, source.aside
        self.text_columns, self.mixed = source.text_columns, source.mixed
        self.kept = source.kept if kept is None else kept if source.kept is None else source.kept[kept]

    def knowing(self, **facts: Any) -> Self:
        """The same rows, of which so much more is known: `knowing(about="…")`."""
        found = copy(self)
        for name, value in facts.items():
            setattr(found, name, value)
        return found

    def put_beside(self, columns: Iterable[tuple[str, Beside]], names: tuple[str, Beside] | None = None) -> None:
        """Columns that stand beside the matrix, and one with the names of the rows.

        Where a column of the matrix has such a name already, theirs gets a number: the matrix is asked first.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> rows = ritz.read([[1.0, 2.0], [3.0, 5.0]])
        >>> rows.put_beside([("place", lambda count: np.array(["Rome", "Oslo"])[:count])])
        >>> rows.column("place")
        array(['Rome', 'Oslo'], dtype='<U4')
        """
        pairs = [*columns, *([] if names is None else [names])]
        told = unique_names([*dict.fromkeys(map(str, self.names or ())), *(key for key, _ in pairs)])
        keys = told[len(told) - len(pairs) :]
        self.others = dict(zip(keys, (read for _, read in pairs), strict=True))
        self.named_by = None if names is None else keys[-1]

    def cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        """Several columns as `column` gives them, in as few readings as the source allows."""
        return {key: self.column(key) for key in keys}

    def raw_cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        """Several columns as the source has them: cells of a text keep their zeros and all of their digits."""
        return self.cells(keys)

    def peek(self, keys: Iterable[Any], count: int) -> dict[Any, NDArray[Any]]:
        """About so many values of several columns, from some places, without reading all where that can be avoided."""
        keys = list(keys)
        found = {key: self.others[key](count) for key in keys if key in self.others}
        found |= self.cells(key for key in keys if key not in found)
        return {key: found[key][:count] for key in keys}

    @property
    @checks_files
    def row_names(self) -> NDArray[Any] | None:
        """Names of all rows of the source, as `kept` counts them, where it knows them; read when they are asked for."""
        return None if self.named_by is None else self.others[self.named_by](None)

    def is_aside(self, key: Any) -> bool:
        """Whether a column is known, but none of those that are decomposed."""
        return key in self.left_out or key in self.others

    def resolved(self, key: Any) -> Any:
        """The name of a column that may be known by its position in the source, which counts those left out too."""
        if not isinstance(key, Hashable):
            raise TypeError(f"a column is known by its name or its position, not by {key!r}")
        known = self.keys or ()
        if key in known or not isinstance(key, int | np.integer) or not -len(known) <= key < len(known):
            return key
        return known[key]

    def positions(self, keys: Iterable[Any]) -> list[int]:
        """Where columns stand; many of them, without looking through all names for each."""
        places = {name: j for j, name in reversed(list(enumerate(self.names or ())))}
        return [places[key] if isinstance(key, str) and key in places else self.position(key) for key in keys]

    def position(self, key: Any) -> int:
        """Where a column stands, by its name or its position."""
        names, key = list(self.names or ()), self.resolved(key)
        if key in names:
            return names.index(key)
        if key in self.left_out:
            told = self.mixed.get(key) or f"no numbers ({self.left_out[key]}), and only numbers are decomposed"
            raise DataError(f"column {key!r} holds {told}")
        if key in self.others:
            problem = f"column {key!r} is stored next to the matrix and is not decomposed"
            raise DataError(problem, "pass it as label=", "beside_the_matrix")
        if isinstance(key, int | np.integer) and not isinstance(key, bool) and -self.shape[1] <= key < self.shape[1]:
            return int(key) % self.shape[1]
        known = f": {shown(names, 8)}" if names else ""
        raise DataError(f"there is no column {key!r}; there are {self.shape[1]}{known}")

    def labelled(self, source: Columns, key: Any) -> Self:
        """The same rows, with a column of the source they come from as labels, read when it is asked for."""
        if not source.is_aside(key):
            source.position(key)
        labelled = copy(self)
        labelled._labels = lambda: source.as_labels(key)
        return labelled

    def as_labels(self, key: Any) -> NDArray[Any]:
        """All values of a column, of which nothing is computed."""
        values: NDArray[Any] = self.column(key)
        return values

    @property
    def labels(self) -> NDArray[Any] | None:
        """Values of the column that was kept aside, one for every row."""
        if self._labels is None:
            return None
        values = self._labels()
        return values if self.kept is None else values[self.kept]

    def name(self, column: int) -> str:
        """How messages call a column: its name where it has one, its position otherwise."""
        return str(column) if self.names is None else repr(self.names[column])


def nothing_left(n: int) -> DataError:
    """What to say where missing="drop" drops every row."""
    problem, plain = f"missing='drop' would drop all {n} rows: every one has", f"no row is left: each of {n} has"
    return DataError(f"{problem} a missing value", code="nothing_left", plain=f"{plain} a missing value")


def no_mean(column: str) -> DataError:
    """What to say where missing="mean" finds no value to take the mean of."""
    problem = f"column {column} has no value at all"
    return DataError(f"missing='mean', but {problem}", "leave it out", "no_value", problem)
