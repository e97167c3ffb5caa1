"""Sparse matrices: any SciPy format and index width. Read as they are, never made dense as a whole."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import qr_terms, r_factor
from ritz.linalg.sparse import product
from ritz.rows.base import Block, Rows
from ritz.rows.columns import no_mean
from ritz.rows.large_integers import LIMIT, is_wide, refusal
from ritz.rows.memory.array import check_shape, real_numbers
from ritz.rows.passes import ENTRY_BYTES, THIN_BYTES
from ritz.runtime.memory import check_fits
from ritz.runtime.threads import cached_property

BITS = 26  # low bits of an integer, which are added up on their own


class Entries(Rows):
    """Rows whose blocks are sparse too, so nothing is subtracted from them: centring is left to the thin side of every
    product, and what that costs in accuracy is in the certificate.

    A place that is given more than once holds the sum of its values as numbers: booleans and integers are added up in
    float64, so that no sum wraps round or becomes "or", and float16, which SciPy cannot compute with, in float32.
    """

    sparse = True
    stored: int  # entries

    @property
    def density(self) -> float:  # type: ignore[override]
        """Share of the entries that are stored."""
        return self.stored / (self.shape[0] * self.shape[1])

    @property
    def thin_rows(self) -> int:
        """Rows of a block that is multiplied by few columns: as many as hold a megabyte of entries."""
        stored = max(1.0, ENTRY_BYTES * self.density * self.shape[1])
        return max(1, min(self.shape[0], int(min(THIN_BYTES, self.most_bytes) / stored)))


class Sparse(Entries):
    """Rows of a sparse matrix in memory, and their transpose beside them once it is needed."""

    transposed = True

    def __init__(self, X: Any, names: tuple[Any, ...] | None = None) -> None:
        check_shape(X.shape)
        # A file of a few bytes can claim any shape; rows and columns have a number each, however few entries there are.
        check_fits(8 * sum(X.shape), f"a sparse matrix of shape {X.shape}")
        self.names = names
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self._X, columns = compressed(X)
        self.dtype, self.stored = self._X.dtype, int(self._X.nnz)
        if columns is not None:
            self.__dict__["_by_columns"] = columns

    @classmethod
    def opens(cls, source: object) -> bool:
        scipy_sparse = sys.modules.get("scipy.sparse")  # nothing is sparse in a program that never imported it
        return scipy_sparse is not None and bool(scipy_sparse.issparse(source))

    @property
    def T(self) -> Any:
        return self._X.T

    def some(self, columns: NDArray[np.intp]) -> Sparse:
        """Some of the columns."""
        names = None if self.names is None else tuple(self.names[j] for j in columns)
        return self._of_these(self._X[:, columns], names)

    def _of_these(self, X: Any, names: tuple[Any, ...] | None, kept: NDArray[np.intp] | None = None) -> Sparse:
        made = Sparse(X, names)
        made.inherit(self, kept)
        return made

    def complete(self) -> NDArray[np.intp]:
        """The rows in which nothing that is stored is missing."""
        gaps = np.flatnonzero(np.isnan(self._X.data))
        return np.delete(np.arange(self.shape[0]), np.unique(np.searchsorted(self._X.indptr, gaps, side="right") - 1))

    def keeping(self, kept: NDArray[np.intp]) -> Sparse:
        """Some of the rows."""
        return self._of_these(self._X[kept], self.names, kept)

    def filled(self, fill: NDArray[np.floating] | None = None) -> Sparse:
        """The rows with `fill`, or the mean of its column, in place of what is missing.

        Entries that are not stored count as 0.
        """
        gaps, places = np.isnan(self._X.data), self._X.indices
        count, own = int(np.count_nonzero(gaps)), fill is None
        fill = self._means(gaps) if fill is None else fill
        values = np.where(gaps, fill[places], self._X.data).astype(self.dtype) if count else self._X.data
        made = self._of_these(type(self._X)((values, places, self._X.indptr), shape=self.shape), self.names)
        made.fill, made._replaced, made.n_filled = fill, [count], count if own else 0
        return made

    def _means(self, gaps: NDArray[np.bool_]) -> NDArray[np.floating]:
        """Of the columns, without what is missing."""
        places, d = self._X.indices, self.shape[1]
        total = np.bincount(places, np.where(gaps, 0.0, self._X.data), d)
        count = self.shape[0] - np.bincount(places[gaps], minlength=d)
        if not count.all():
            raise no_mean(self.name(int(np.argmin(count))))
        return total / count

    def read(self, start: int, stop: int) -> Block:
        X, ends = self._X, self._X.indptr[start : stop + 1]
        first, last = int(ends[0]), int(ends[-1])
        return type(X)((X.data[first:last], X.indices[first:last], ends - ends[0]), shape=(stop - start, X.shape[1]))

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._X[indices]

    @cached_property
    def _by_columns(self) -> Any:
        """The transpose, row by row: products with it gather, where products with the rows' own would scatter."""
        by_columns = self._X.tocsc()
        return type(self._X)((by_columns.data, by_columns.indices, by_columns.indptr), shape=self.shape[::-1])

    def combine(self, V: Any, shifted: Any) -> Any:
        self.exact(self._X)
        return self.watch.whole(lambda: product(self._by_columns, V))

    def project(self, W: Any, shifted: Any) -> Any:
        self.exact(self._X)
        return self.watch.whole(lambda: product(self._X, W))

    def normal(self, W: Any, shifted: Any, remainder: Any, factor: bool = False) -> tuple[Any, ...]:
        """Two products that gather, one with the rows and one with the transpose, which is stored once."""
        Y = self.project(W, shifted)
        Y -= remainder
        AW, total = self.combine(Y, shifted), np.ones(len(Y)) @ Y
        return (AW, total, qr_terms(*Y.shape), r_factor(Y)) if factor else (AW, total, len(Y))

    @cached_property
    def outer_work(self) -> float:
        return float(np.sum(np.square(np.diff(self._X.indptr), dtype=np.float64)))

    @cached_property
    def inner_work(self) -> float:
        return float(np.sum(np.square(np.bincount(self._X.indices), dtype=np.float64)))


def compressed(X: Any) -> tuple[Any, Any | None]:
    """X by rows, without duplicates, and its transpose by rows where X comes by columns. X itself is not touched."""
    from scipy.sparse import csr_array

    _check_places(X)
    if X.format == "csc":
        values = stored_values(X.data)
        columns = _canonical(csr_array((values, X.indices, X.indptr), shape=X.shape[::-1], copy=False))
        return columns.T.tocsr(), columns
    if X.format != "csr":
        X = _summed(X)
        _check_places(X)  # not every format has been looked at before
    return _canonical(csr_array((stored_values(X.data), X.indices, X.indptr), shape=X.shape, copy=False)), None


def _canonical(X: Any) -> Any:
    return X if X.has_canonical_format else _summed(X)


def _summed(X: Any) -> Any:
    """X by rows, in which the values of a place are added up: integers in float64, where sums do not overflow."""
    if is_wide(X.dtype):
        entries = X.tocoo()
        if np.abs(entries.data.astype(np.float64)).sum() > LIMIT / 2:  # no sum of less can be rounded
            return _summed_integers(entries)
    wide = X.astype(np.float64 if X.dtype.kind in "biu" else _computable(X.dtype), copy=X.format == "csr").tocsr()
    wide.sum_duplicates()
    return wide


def _summed_integers(X: Any) -> Any:
    """The same of large integers, high and low bits apart; those that float64 cannot hold remain integers."""
    from scipy.sparse import coo_array

    split = ((X.data >> BITS).astype(np.int64), (X.data & X.dtype.type((1 << BITS) - 1)).astype(np.int64))
    high, low = (coo_array((part, X.coords), shape=X.shape).tocsr() for part in split)
    tops, rest = high.data + (low.data >> BITS), low.data & ((1 << BITS) - 1)
    least, most = int(tops.min()), int(tops.max())
    values = tops * 2.0**BITS + rest
    if not (values - tops * 2.0**BITS == rest).all() or max(most, -least) >= LIMIT:
        i, kind = int(np.argmax(np.abs(tops))), np.dtype(np.int64 if least < 0 else np.uint64)
        if not np.iinfo(kind).min >> BITS <= least <= most <= np.iinfo(kind).max >> BITS:
            raise refusal((int(tops[i]) << BITS) + int(rest[i]), f"column {high.indices[i]}")
        values = (tops.astype(kind) << kind.type(BITS)) + rest.astype(kind)
    return type(high)((values, high.indices, high.indptr), shape=X.shape)


def stored_values(values: NDArray[Any]) -> NDArray[Any]:
    """Real numbers in a type that SciPy and numba compute with."""
    values = real_numbers(values)
    return values.astype(_computable(values.dtype), copy=False)


def _computable(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A type of this machine's byte order, and of at least float32."""
    return np.dtype(np.float32) if dtype.kind == "f" and dtype.itemsize < 4 else dtype.newbyteorder("=")


def _check_places(X: Any) -> None:
    """Every entry stands inside the matrix: SciPy reads where it is told to, and crashes."""
    n, d = X.shape
    if X.format == "coo":
        for what, places, size in zip(("row", "column"), X.coords, X.shape, strict=True):
            _check_range(places, size, what)
    if X.format == "lil" and any(len(row) != len(values) for row, values in zip(X.rows, X.data, strict=True)):
        raise DataError("the sparse matrix is damaged: a row has more indices than values, or fewer")
    if X.format == "dia" and len(X.offsets) != len(X.data):
        raise DataError(f"the sparse matrix is damaged: {len(X.offsets)} offsets for {len(X.data)} diagonals")
    if X.format not in ("csr", "csc", "bsr"):
        return
    lengths = (n, d) if X.format != "csc" else (d, n)
    if X.format == "bsr":
        lengths = (n // X.blocksize[0], d // X.blocksize[1])
    ends = np.asarray(X.indptr)
    check_pointers(ends, lengths[0], min(len(X.indices), len(X.data)))
    _check_range(np.asarray(X.indices)[: ends[-1]], lengths[1], "row" if X.format == "csc" else "column")


def check_pointers(ends: NDArray[Any], steps: int, stored: int) -> None:
    """The ends of the rows rise, one per row, to no more than the entries there are."""
    if len(ends) != steps + 1 or ends[0] != 0 or ends[-1] > stored or (np.diff(ends) < 0).any():
        raise DataError(
            f"the sparse matrix is damaged: its index pointers must rise from 0 to at most {stored} in "
            f"{steps} steps, found {len(ends) - 1} steps from {ends[:1]} to {ends[-1:]}"
        )


def _check_range(places: NDArray[Any], size: int, what: str) -> None:
    if len(places) and not 0 <= places.min() <= places.max() < size:
        wrong = int(np.argmax((places < 0) | (places >= size)))
        raise DataError(
            f"the sparse matrix is damaged: stored entry {wrong} has {what} index {places[wrong]}, "
            f"outside of 0 to {size - 1}"
        )
