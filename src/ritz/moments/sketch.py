"""Sketches: the scatter of a stream by few rows, with a proved bound on what they do not hold.

Frequent Directions (Liberty, KDD 2013; Ghashami, Liberty, Phillips and Woodruff, SIAM J. Comput. 45, 2016): rows are
gathered in F until there are more than ℓ; then δ, the (ℓ+1)-th of its squared singular values, is taken off all of
them, which leaves at most ℓ. FᵀF loses a positive part of norm at most δ every time, so that with the sum of all δ

    FᵀF ⪯ S ⪯ FᵀF + lost·I,   lost ≤ (λ_{j+1} + … + λ_d)/(ℓ + 1 − j) for every j ≤ ℓ,

S the scatter of all rows, λ its eigenvalues. Blocks are centred by their own means, and the spread between the means is
one more row, so nothing is ever taken off again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import UNIT, Array, eigh_descending, gamma, times
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import FAR, Moments, moments, steps
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows, as_rows, check_finite
from ritz.rows.base import Block, dense
from ritz.rows.memory.array import squares
from ritz.rows.memory.computed import Transposed
from ritz.rows.passes import MOST_RUNS, Cut

JOINING = 80  # roundings, of the means among others, behind the row between two means
EIGEN = 8  # times the order, in units of rounding: the error of LAPACK's eigenpairs
BLOCK_BYTES = 1 << 20  # of the blocks that rows and columns are read in: memory is scarce where a sketch is needed
BLOCK_COLUMNS = 256  # but no fewer than a product needs to be bound by arithmetic
LARGEST = float(np.finfo(np.float64).max) / 4  # differences of larger entries would not be finite


@dataclass(frozen=True, eq=False)
class Sketch:
    """Few rows F that stand for many: 0 ⪯ S − FᵀF ⪯ lost·I but for rounding, S the scatter of all of them.

    Attributes
    ----------
    moments : count, mean and the diagonal of S, of which nothing is lost
    pieces : F in units of `unit`, arrays of d columns one below the other
    lost : Σ δ, in units of unit²
    rounding : bound on the norm of what rounding adds beside that of the moments, likewise
    """

    moments: Moments
    pieces: tuple[Array, ...]
    lost: float = 0.0
    rounding: float = 0.0

    @classmethod
    def of(cls, X: Array, center: bool) -> Sketch:
        """A block of rows in float64, centred, which overwrites it; nothing is lost."""
        found = moments(as_rows(X).limited(BLOCK_BYTES), center=center, scatter=Scatter.DIAGONAL)
        unit = float(np.max(found.unit))
        shift = found.shift if center else None
        Z = Preprocessing(shift, None, None if unit == 1 else np.full(X.shape[1], 1 / unit))(X, out=X)
        if center:
            Z -= found.delta * (found.unit / unit)
        return cls(found, (Z,))

    @property
    def unit(self) -> float:
        """The power of two in which squares are in range."""
        return float(np.max(self.moments.unit))

    @property
    def error(self) -> float:
        """Bound on the norm of all that rounding has added to S − FᵀF, in units of unit²."""
        sizes = self.moments.sizes * (self.moments.unit / self.unit) ** 2
        return self.rounding + self.moments.rounding * float(np.sum(sizes))

    def joined(self, other: Sketch) -> Sketch:
        """Both, one below the other, and the row that holds the spread between their means. Nothing more is lost."""
        a, b = self.moments, other.moments
        found = a.merge(b)
        unit = float(np.max(found.unit))
        ours, theirs = self._rescaled(unit), other._rescaled(unit)
        pieces = (*ours.pieces, *theirs.pieces)
        if found.centred:
            step = steps(a.rescaled(found.unit), b.rescaled(found.unit)) * (found.unit / unit)
            pieces = (*pieces, (step * np.sqrt(a.count * b.count / found.count))[None])
        sizes = float(np.sum(found.sizes * (found.unit / unit) ** 2))
        rounding = ours.rounding + theirs.rounding + gamma(JOINING) * sizes
        return Sketch(found, pieces, ours.lost + theirs.lost, rounding)

    def shrunk(self, room: int) -> Sketch:
        """At most `room` rows, those that hold the most, made shorter by what the others would have needed.

        The squared singular values are eigenvalues of FFᵀ, W turns F into the rows that are kept, and F loses
        Fᵀ(I − WWᵀ)F. That is positive because ‖W‖ ≤ 1, and its norm is that of (I − WWᵀ)^½ FFᵀ (I − WWᵀ)^½: the
        error of FFᵀ and of its eigenpairs, `noise`, adds to δ once. What lies below the noise is let go with it.
        """
        p, d = sum(map(len, self.pieces)), len(self.moments.mean)
        if p <= room:
            return self
        columns = Transposed(self.pieces).limited(max(BLOCK_BYTES, 8 * p * BLOCK_COLUMNS))
        K = squares(columns)
        values, vectors = eigh_descending(K)
        size, largest = float(np.trace(K)), max(float(values[0]), 0.0)
        noise = gamma(columns.block_rows + d // columns.thin_rows + MOST_RUNS + 8) * size + EIGEN * p * UNIT * largest
        delta = float(values[room]) if values[room] > noise else 0.0
        kept = values > max(delta, noise)
        W = vectors[:, kept] * np.sqrt(1 - delta / values[kept])
        pieces = (columns.map(lambda block: times(block, W)).T,) if kept.any() else ()
        turning = 2 * gamma(p + 8) * float(np.sqrt(np.count_nonzero(kept) * size * largest))
        lost = self.lost + delta
        return replace(self, pieces=pieces, lost=lost, rounding=self.rounding + 2 * noise + turning + UNIT * lost)

    def reordered(self, order: NDArray[np.intp]) -> Sketch:
        """The same of columns in another order."""
        pieces = tuple(piece[:, order] for piece in self.pieces)
        return replace(self, moments=self.moments.reordered(order), pieces=pieces)

    def _rescaled(self, unit: float) -> Sketch:
        """The same in another unit."""
        if unit == self.unit:
            return self
        ratio = min(self.unit / unit, FAR)  # a larger one is that of rows without spread, which are 0 in any unit
        pieces = tuple(piece * ratio for piece in self.pieces)
        return replace(self, pieces=pieces, lost=self.lost * ratio**2, rounding=self.rounding * ratio**2)


@dataclass(frozen=True, eq=False)
class Stream:
    """Rows that come in batches: a sketch of whole blocks, and the rows that wait until they are a block.

    Blocks have `room` rows, however many there are in a batch: a batch of one row costs no decomposition, and how the
    rows were split does not matter, to the last bit.

    Attributes
    ----------
    room : ℓ, the most rows of the sketch
    center : whether the scatter is about the mean
    sketch : of all blocks so far, None before the first
    waiting : rows in float64, fewer than a block
    """

    room: int
    center: bool
    sketch: Sketch | None = None
    waiting: tuple[Array, ...] = ()

    @property
    def count(self) -> int:
        """Rows so far."""
        return self.waiting_rows + (0 if self.sketch is None else self.sketch.moments.count)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows so far, and their columns; there is at least one row."""
        columns = self.waiting[0].shape[1] if self.sketch is None else len(self.sketch.moments.mean)
        return self.count, columns

    @property
    def waiting_rows(self) -> int:
        """How many rows wait."""
        return sum(map(len, self.waiting))

    def add(self, rows: Rows) -> Stream:
        """These rows too. The stream before is untouched, and shares what has not changed."""
        limited = rows.on_cpu().limited(BLOCK_BYTES)
        # There is one run, of all blocks in order, so that nothing is left to be merged; unless rows are scattered.
        first = Stream(self.room, self.center) if rows.scattered else self
        try:
            found = limited.reduce(lambda blocks: first._after(blocks, limited), Stream.merge, cut=Cut.WHOLE)
        except TooLarge:
            check_finite(rows)
            raise
        return self.merge(found) if rows.scattered and self.count else found

    def _after(self, parts: Iterable[Block], rows: Rows) -> Stream:
        """The stream after these parts of the rows, which come in order; they need not be all."""
        stream, (left, d) = self, rows.shape
        block, first = stream._begun(left, d)
        at = first  # behind the rows that waited
        for part in map(dense, parts):
            while len(part):
                fitting = part[: len(block) - at]
                block[at : at + len(fitting)] = fitting
                at, left, part = at + len(fitting), left - len(fitting), part[len(fitting) :]
                if at == len(block):
                    _check_entries(block[first:])
                    stream = stream._with(block)
                    block, first = stream._begun(left, d)
                    at = first
        if at > first:
            _check_entries(block[first:at])
            stream = replace(stream, waiting=(*stream.waiting, block[first:at].copy()))
        return stream

    def _begun(self, left: int, d: int) -> tuple[Array, int]:
        """Memory for rows to come, and where they begin: a whole block, behind those that wait, if there are enough."""
        if self.waiting_rows + left < self.room:
            return np.empty((left, d)), 0
        block = np.empty((self.room, d))
        if self.waiting:
            np.concatenate(self.waiting, out=block[: self.waiting_rows])
        return block, self.waiting_rows

    def _with(self, block: Array) -> Stream:
        """A whole block too, in which those that waited stand first, or some more rows that wait."""
        if len(block) < self.room:
            return replace(self, waiting=(*self.waiting, block))
        found = Sketch.of(block, self.center)
        sketch = found if self.sketch is None else self.sketch.joined(found).shrunk(self.room)
        return replace(self, sketch=sketch, waiting=())

    def merge(self, other: Stream) -> Stream:
        """The rows of both; their bounds add up."""
        if self.center != other.center:
            raise DataError("sketches about the mean and about 0 cannot be merged: center was changed in between")
        room = max(self.room, other.room)
        sketches = [stream.sketch for stream in (self, other) if stream.sketch is not None]
        sketch = sketches[0].joined(sketches[1]).shrunk(room) if len(sketches) == 2 else next(iter(sketches), None)
        both = replace(self, room=room, sketch=sketch)
        for piece in other.waiting:
            both = both.add(as_rows(piece))
        return both

    def reordered(self, order: NDArray[np.intp]) -> Stream:
        """The same of columns in another order."""
        sketch = None if self.sketch is None else self.sketch.reordered(order)
        return replace(self, sketch=sketch, waiting=tuple(piece[:, order] for piece in self.waiting))

    def whole(self) -> Sketch:
        """The sketch of all rows so far, those that wait as they are: it may have more than `room` rows."""
        if not self.waiting:
            assert self.sketch is not None  # where no row waits, the last one has completed a block
            return self.sketch
        waiting = Sketch.of(np.concatenate(self.waiting), self.center)
        return waiting if self.sketch is None else self.sketch.joined(waiting)


class TooLarge(DataError):
    """Rows are not finite, or their differences would not be."""


def _check_entries(block: Array) -> None:
    """Rows that were copied into a block must be finite, and so must their differences."""
    largest = max(block.max(), -block.min())
    if not largest <= LARGEST:
        raise TooLarge(f"differences of entries overflow float64, the largest is {largest:.0e}; divide the data by it")
