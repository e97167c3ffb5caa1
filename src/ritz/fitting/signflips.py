"""Rows with random signs: what is left of their spectrum when every entry is multiplied by +1 or −1.

Flips keep the size of every entry, and so the noise of every row and column, but destroy what entries have in common:
the spectrum of flipped rows is one of noise alone (Hong, Sheng and Dobriban, "Selecting the number of components in PCA
via random signflips", arXiv:2012.02985).

Sign (i, j) of a flip is a bit of a counter-based generator, known by the seed, the flip, the row and the column alone:
it is the same for every source, chunking and number of threads. A flip is a number, or None for the rows themselves,
which are treated in the same way, so that rounding cannot tell them from their copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.fitting.deflation import Deflation
from ritz.fitting.edges import LOOSE, bounded
from ritz.linalg.dense import (
    Array,
    add_squares,
    add_upper,
    column_squares,
    float32_pays,
)
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing
from ritz.operators import Covariance, DataMatrix
from ritz.rows import Rows
from ritz.rows.base import Block, paired
from ritz.rows.memory.computed import Computed
from ritz.rows.passes import Cut
from ritz.runtime import threads
from ritz.runtime.threads import scratch
from ritz.runtime.watch import UNWATCHED
from ritz.solvers import Krylov

STRIP = 2048  # columns whose signs stand together
WORD = 64  # signs that the generator gives at once
FINE = 1e-5  # accuracy of an iteration for the rows themselves
SOONER, NARROWER = 64, 4  # times fewer entries and columns that pay for float32: there are many copies, and no audit


@dataclass(frozen=True, eq=False)
class Flips:
    """Rows, how they are preprocessed, and the seed of the signs of their copies.

    Where components were found, they are subtracted from the preprocessed rows: by their axes, or for inner products by
    their scores, whose lines are the columns.
    """

    rows: Rows
    prepare: Preprocessing
    diagonal: Array  # (d,) Σ z² of every column, which no flip changes
    seed: int = 0
    own: Array | None = None  # ZᵀZ of the rows themselves, or Z Zᵀ, where it is known, without what was subtracted
    without: Deflation | None = None

    def matrices(self, side: str, which: Sequence[int | None], at_once: int) -> Iterator[Array]:
        """Z Zᵀ ("gram", n×n, for rows in memory) or ZᵀZ ("scatter", d×d) of several flips, so many from one pass.

        On and above the diagonal: that is all that is asked of them.
        """
        for i in range(0, len(which), at_once):
            group = which[i : i + at_once]
            totals = self.rows.watch.whole(partial(self._grams, group)) if side == "gram" else self._shared(group)
            yield from totals

    def leading(self, flip: int | None, k: int) -> tuple[Array, Array]:  # -> (k,), (d, k)
        """The k largest eigenvalues of ZᵀZ by iteration, and vectors; of flipped signs, a bound above the first."""
        (n, d), none = self.rows.shape, np.zeros(self.rows.shape[1])
        squares = self.diagonal if self.without is None else self._left[0 if flip is None else 1]
        known = Moments(n, none, none, squares, np.ones(d), squares, 0.0)
        flipped = Flipped(self.rows, self.prepare, self.seed, flip, self.without)
        A = Covariance(DataMatrix(flipped, Preprocessing(), known, 0, min(n, d)))
        basis = Krylov().basis(A, k, tol=FINE if flip is None else LOOSE, rng=np.random.default_rng(0))
        pairs = A.ritz(basis.Q, basis.AQ)
        values = pairs.values[:k] if flip is None else bounded(pairs.values[:k], pairs.residuals[:k])
        return n * values, pairs.vectors[:, :k]

    @cached_property
    def _left(self) -> Array:  # (2, d)
        """Sums of the squares of every column without the components, and those of its copies."""
        return np.stack([_squares_of(Flipped(self.rows, self.prepare, 0, flip, self.without)) for flip in (None, 0)])

    def _shared(self, which: Sequence[int | None]) -> Iterable[Array]:
        """`_scatters`, with the flips divided among threads where there are too few rows to divide."""
        rows = self.rows
        if len(which) < 2 or len(rows.cut(Cut.SQUARE)[1]) > 1 or not rows.in_memory or rows.watch is not UNWATCHED:
            return self._scatters(which)
        share = -(-len(which) // rows.threads)
        shares = [which[i : i + share] for i in range(0, len(which), share)]
        return [
            total for totals in rows.in_parallel(self._scatters, shares, len(which) * rows.shape[1]) for total in totals
        ]

    def _scatters(self, which: Sequence[int | None]) -> Array:  # -> (len(which), d, d)
        """Upper triangles of ZᵀZ of several flips, by one pass."""
        rows, d, dtype = self.rows, self.rows.shape[1], flipping_dtype(self.rows)

        def run(pairs: Iterable[tuple[Block, range]]) -> Array:
            totals = np.zeros((len(which), d, d), dtype)
            prepared, narrow = scratch("block", rows.block_rows, d), scratch("narrow", rows.block_rows, d, dtype)
            buffer = scratch("flipped", rows.block_rows, d, dtype)
            for block, at in pairs:
                Z = self.prepare(block, prepared)
                for flip, total, lines in zip(which, totals, self._lines(Z, which, narrow), strict=True):
                    signs = None if flip is None else sign_bits(self.seed, flip, at, d)
                    add_squares(flipped_into(buffer, lines, signs), total)
            return totals

        return rows.reduce(run, _add, beside=range(rows.shape[0]))

    def _lines(self, Z: Array, which: Sequence[int | None], narrow: Array) -> Iterator[Array]:
        """Preprocessed lines for each of several flips, in the precision of `narrow`: without the components, and as
        noisy as before where signs are flipped. The rows themselves come first, if they are asked for at all.

        Components that are far larger than what is left are subtracted in float64.
        """
        if self.without is None or self.without.alike:
            Z = _as(narrow, Z)
        if self.without is None:
            yield from (Z for _ in which)
            return
        parts = self.without.rest(Z)
        flipped = [flip for flip in which if flip is not None]
        if len(flipped) < len(which):
            yield _as(narrow, Z)
        if flipped:
            self.without.compensate(Z, parts)
            Z = _as(narrow, Z)
            yield from (Z for _ in flipped)

    def _grams(self, which: Sequence[int | None]) -> Array:  # -> (len(which), n, n)
        """Upper triangles of Z Zᵀ of several flips: strips of columns, in order, by all cores."""
        (n, d), dtype, watch = self.rows.shape, flipping_dtype(self.rows), self.rows.watch
        X = self.rows.block(0, n)
        X = X if isinstance(X, np.ndarray) else X.tocsc()

        def strip(ends: tuple[int, int]) -> Array:
            threads.check()
            columns, width = slice(*ends), ends[1] - ends[0]
            narrow, buffer = (scratch(use, width, n, dtype) for use in ("strip", "flipped"))
            prepared = self.prepare.columns(columns)(X[:, columns], scratch("block", n, width))
            alike = self.without is None or self.without.alike
            Z = narrow if alike else scratch("lines", width, n)
            Z[...] = prepared.T
            totals = np.zeros((len(which), n, n), dtype)
            for flip, total, lines in zip(which, totals, self._lines(Z, which, narrow), strict=True):
                signs = None if flip is None else strip_bits(self.seed, flip, range(n), ends, d).T
                add_squares(flipped_into(buffer, lines, signs), total)
            watch.advance(width)
            return totals

        runs = list(pairwise([*range(0, d, STRIP), d]))
        watch.begin(runs, what="columns")
        with closing(self.rows.in_parallel(strip, runs)) as parts:
            return reduce(_add, parts)


class Flipped(Computed):
    """Preprocessed rows with random signs, or with their own; blocks are dense and made when they are asked for.

    A block of a pass stands in memory that the next one will use again.
    """

    numbered = True

    def __init__(
        self, base: Rows, prepare: Preprocessing, seed: int, flip: int | None, without: Deflation | None = None
    ) -> None:
        super().__init__(base)
        self._prepare, self._seed, self._flip, self._without = prepare, seed, flip, without

    def read(self, start: int, stop: int) -> Block:
        return self._flipped(self._base.read(start, stop), range(start, stop)).copy()

    @property
    def reading(self) -> int:
        return self._base.reading + 8 * (1 if self._without is None else 2) * self.shape[1] * self.thin_rows

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        for block, at in paired(self._base._blocks(start, stop, step), range(self.shape[0]), start):
            yield self._flipped(block, at)

    def _made(self, block: Block, at: range | None) -> Block:
        assert at is not None  # it is numbered
        return self._flipped(block, at)

    def _flipped(self, block: Block, at: range) -> Block:
        Z, out = (scratch(use, len(at), self.shape[1]) for use in ("plain", "flipped"))
        Z = self._prepare(block, Z)
        if self._without is not None:
            parts = self._without.rest(Z)
            if self._flip is not None:
                self._without.compensate(Z, parts)
        signs = None if self._flip is None else sign_bits(self._seed, self._flip, at, self.shape[1])
        return flipped_into(out, Z, signs)


def _as(narrow: Array, Z: Array) -> Array:
    """Z in the precision of `narrow`, and perhaps in its memory."""
    if Z.dtype == narrow.dtype:
        return Z
    narrow[: len(Z)] = Z
    return narrow[: len(Z)]


def _squares_of(rows: Rows) -> Array:
    """Σ z² of every column."""
    return np.asarray(rows.reduce(lambda blocks: sum(map(column_squares, blocks)), np.add))


def flipping_dtype(rows: Rows) -> np.dtype[Any]:
    """float32 where there is enough to multiply: a quantile of chance needs no more digits."""
    n, d = rows.shape
    return np.dtype(np.float32 if float32_pays(SOONER * n * d, NARROWER * min(n, d)) else np.float64)


def sign_bits(seed: int, flip: int, at: range, d: int) -> NDArray[np.uint8]:  # -> (len(at), d)
    """1 where consecutive rows of d columns are multiplied by −1, else 0."""
    ends = pairwise([*range(0, d, STRIP), d])
    strips = [strip_bits(seed, flip, at, strip, d) for strip in ends]
    return strips[0] if len(strips) == 1 else np.concatenate(strips, axis=1)


def strip_bits(seed: int, flip: int, at: range, strip: tuple[int, int], d: int) -> NDArray[np.uint8]:
    """The same for one strip of columns. Its rows follow each other in the generator, whole words each."""
    left, right = strip
    words = -(-min(STRIP, d - left) // WORD)
    first, skip = divmod(at.start * words, 4)  # the generator counts in fours
    generator = np.random.Philox(key=[seed, flip], counter=[first, 0, left // STRIP, 0])
    raw = generator.random_raw(skip + len(at) * words)[skip:].astype("<u8", copy=False)
    return np.unpackbits(raw.view(np.uint8).reshape(len(at), -1), axis=1, count=right - left, bitorder="little")


def flipped_into(out: Array, Z: Array, signs: NDArray[np.uint8] | None) -> Array:
    """Z with its signs flipped where the bits are 1, in `out`, which is not Z; Z itself where there are none."""
    if signs is None:
        return Z
    out = out[: len(Z)]
    flipped = out.view(f"u{out.itemsize}")
    flipped[...] = signs
    flipped <<= 8 * out.itemsize - 1
    flipped ^= Z.view(flipped.dtype)
    return out


def _add(totals: Array, parts: Array) -> Array:
    for total, part in zip(totals, parts, strict=True):
        add_upper(part, total)
    return totals
