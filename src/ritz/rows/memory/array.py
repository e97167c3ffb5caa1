"""NumPy arrays, in any dtype, layout, byte order and stride, and what NumPy makes arrays of. Blocks are views.

Products of tall arrays with few columns are here too: block by block, with all cores.
"""

from __future__ import annotations

import datetime
import mmap
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.arrays import device_of, in_cpu_memory, is_other_array, library_of
from ritz.linalg.dense import SKINNY, add_squares, cross, mirrored, times
from ritz.rows.base import Block, Rows, stack
from ritz.rows.large_integers import check_numbers
from ritz.rows.passes import SERIAL, Cut
from ritz.runtime.threads import combined, pinned
from ritz.runtime.wording import plural

NOT_NUMBERS = (str, bytes, datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
GAPS = ("NAType", "NaTType")  # classes of what pandas, which need not be there, puts where nothing is
ROW_OF_EACH = "X.reshape(len(X), -1) makes a row of every X[i]"
OF_PICTURES = "ritz.read(X) does so for pictures, (n, h, w) or (n, h, w, 3), and remembers their shape"


class ArrayRows(Rows):
    """A two-dimensional array of numbers."""

    def __init__(self, X: NDArray[Any], names: tuple[Any, ...] | None = None) -> None:
        if X.ndim == 1 and X.dtype == object and any(isinstance(part, np.ndarray | list | tuple) for part in X):
            raise DataError(f"X holds {len(X)} arrays or lists; make one of them: np.stack(X).reshape(len(X), -1)")
        check_shape(X.shape)
        if isinstance(X, np.ma.MaskedArray) and (count := np.ma.count_masked(X)):
            row, column = np.argwhere(np.ma.getmaskarray(X))[0]
            raise DataError(f"{count} masked entries, first at row {row}, column {column}; fill or drop them first")
        X = np.asarray(X)
        self.names = names
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self._X = self._from_objects(X) if X.dtype.kind == "O" else self._numeric(X)
        self.dtype = self._X.dtype

    @classmethod
    def opens(cls, source: object) -> bool:
        return isinstance(source, np.ndarray) and not is_mapped(source)

    def read(self, start: int, stop: int) -> Block:
        return self._X[start:stop]

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._X[indices]

    def sample(self, size: int) -> Block:
        return self._X if size >= self.shape[0] else super().sample(size)

    @property
    def T(self) -> NDArray[Any]:
        return self._X.T

    def _numeric(self, X: NDArray[Any]) -> NDArray[Any]:
        """X itself, unless its dtype holds something else than real numbers of at most 64 bits."""
        if X.dtype.kind in "biufc":
            return real_numbers(X)
        column = self.name(self._first_text(X) if X.dtype.kind in "US" else 0)
        raise DataError(f"expected numbers, found {X.dtype} in column {column}; convert or drop such columns")

    def _first_text(self, X: NDArray[Any]) -> int:
        """The first column with text that is not a number, in an array that became text because of it."""
        for j in range(X.shape[1]):
            try:
                X[:, j].astype(np.float64)
            except ValueError:
                return j
        return 0

    def _from_objects(self, X: NDArray[Any]) -> NDArray[np.float64]:
        out = np.empty(X.shape)
        for j in range(X.shape[1]):
            # NumPy would read numbers from text and from dates; here neither is a number.
            cells = [None if type(value).__name__ in GAPS else value for value in X[:, j]]
            row = next((i for i, value in enumerate(cells) if isinstance(value, NOT_NUMBERS)), None)
            if row is not None:
                place = f"column {self.name(j)} holds {X[row, j]!r} in row {row}"
                raise DataError(f"{place}, which is not a number; convert or drop it")
            try:
                out[:, j] = [np.nan if value is None else value for value in cells]
            except (TypeError, ValueError, OverflowError) as error:
                kind = TypeError if isinstance(error, TypeError) else DataError
                raise kind(f"column {self.name(j)} holds values that are not numbers: {error}") from error
            check_numbers(out[:, j], X[:, j].__getitem__, f"column {self.name(j)}")
        return out


def is_mapped(X: NDArray[Any]) -> bool:
    """Whether an array, or what it is a view of, stands in a map of memory, and so perhaps in a file."""
    base: Any = X
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


def real_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """The values themselves, unless they hold something else than real numbers of at most 64 bits."""
    kind = values.dtype.kind
    if kind in "biu" or (kind == "f" and values.dtype.itemsize <= 8):
        return values
    if kind == "f":
        warnings.warn(f"{values.dtype} data is computed in float64", UserWarning, stacklevel=6)
        return values.astype(np.float64)
    if kind == "c":
        raise DataError("Complex data not supported: numbers here are real; pass X.real and X.imag as columns")
    raise DataError(f"expected numbers, found {values.dtype}")


def check_shape(shape: tuple[int, ...], pictures: bool = True) -> None:
    """Two dimensions, neither of them empty; `pictures` says whether `ritz.read` takes stacks of them."""
    if len(shape) != 2:
        advice = "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        if len(shape) > 2:
            advice = f"Reshape your data: {ROW_OF_EACH}" + f"; {OF_PICTURES}" * pictures
        raise DataError(f"Expected 2D array of rows and columns, got {len(shape)}D array of shape {shape}. {advice}")
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise DataError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")


class Convertible(ArrayRows):
    """An object that NumPy turns into an array, once, when it is opened."""

    def __init__(self, source: Any) -> None:
        if isinstance(source, list | tuple) and source and is_other_array(source[0]):
            check_one_device(source)
        try:
            X = np.asarray(source)
        except (ValueError, TypeError, RuntimeError) as error:  # of other libraries, whose arrays may lie elsewhere
            if not isinstance(source, list | tuple):
                raise
            check_one_device(list(_within(source)))
            if not isinstance(error, ValueError):
                raise
            raise DataError(f"rows must have equal lengths, and pictures equal sizes: {error}") from error
        if X.dtype == object and not X.ndim:
            raise TypeError(f"cannot read rows from a {type(source).__name__}; pass a 2-D array or a table")
        if X.dtype.kind == "f" and X.ndim == 2 and not hasattr(source, "__array__"):
            _check_given(source, X)
        super().__init__(X)

    @classmethod
    def opens(cls, source: object) -> bool:
        return True


def check_one_device(parts: list[Any] | tuple[Any, ...]) -> None:
    """Arrays of another library in a list, which NumPy can make one of only if all are in the memory of the CPU."""
    others = [part for part in parts if is_other_array(part)]
    devices = list(dict.fromkeys(str(device_of(part)) for part in others))
    if len(devices) > 1:
        where = " and ".join(devices)
        raise DataError(
            f"the arrays of this list lie on different devices: {where}", "copy all of them to one of these"
        )
    batches = any(part.ndim > 1 for part in others)
    if batches or (others and not in_cpu_memory(others[0])):
        count, library = f"{len(others)} {plural(len(others), 'array')}", library_of(others[0])
        join = "stack" if not batches else "cat" if library == "torch" else "concat"
        raise DataError(f"X holds {count} on {devices[0]}", f"make one of them, such as {library}.{join}(X)")


def _within(parts: list[Any] | tuple[Any, ...]) -> Iterator[Any]:
    """What lists, and lists in lists, hold."""
    for part in parts:
        yield from _within(part) if isinstance(part, list | tuple) else (part,)


def _check_given(source: Any, X: NDArray[np.floating]) -> None:
    """Beside floats, NumPy makes floats of the integers in lists."""
    d = X.shape[1]
    check_numbers(X.ravel(), lambda i: _item(_item(source, i // d), i % d), lambda i: f"column {i % d}")


def _item(items: Any, i: int) -> Any:
    return items[i] if isinstance(items, list | tuple) else np.asarray(items)[i]


def thin_product(Q: NDArray[Any], S: NDArray[Any]) -> Block:  # (n, m), (m, b) -> (n, b)
    """Q S for a tall Q and few columns."""
    if Q.size < SERIAL:  # one block, and no thread is worth its start
        with pinned():
            return times(Q, S)
    return stack(ArrayRows(Q).each(lambda block: times(block, S), columns=S.shape[1]), len(Q))


def thin_inner(Q: NDArray[Any], W: NDArray[Any]) -> Block:  # (n, m), (n, b) -> (m, b)
    """Qᵀ W for a tall Q and few columns."""
    rows = ArrayRows(Q)
    pieces = rows.portions(len(Q), W.shape[1])  # what is read once needs no blocks, and results are small
    parts = rows.in_parallel(lambda ends: cross(Q[slice(*ends)], W[slice(*ends)]), pieces, W.shape[1])
    return combined(parts, np.add)


def symmetric_product(U: NDArray[Any]) -> Block:  # (n, m) -> (m, m)
    """Uᵀ U."""
    return squares(ArrayRows(U))


def squares(rows: Rows) -> Block:  # (n, m) -> (m, m)
    """XᵀX of rows in floating point, in their own precision."""
    m = rows.shape[1]

    def run(blocks: Iterable[Block]) -> Block:
        total = np.zeros((m, m), rows.dtype)
        for block in blocks:
            add_squares(block, total)
        return total

    return mirrored(rows.reduce(run, np.add, cut=Cut.THIN if m <= SKINNY else Cut.SQUARE))
