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
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz.linalg.dense import SUBSET, THREADED, Array, add_squares, add_upper, float32_pays, mirrored, positive_definite
from ritz.linalg.lanczos import Lanczos
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing
from ritz.operators import Covariance, DataMatrix
from ritz.rows import Rows
from ritz.rows.base import Block, paired
from ritz.rows.memory.computed import Computed
from ritz.rows.passes import Cut
from ritz.runtime import threads
from ritz.runtime.threads import pinned, scratch
from ritz.runtime.watch import UNWATCHED
from ritz.solvers import Krylov

STRIP = 2048  # columns whose signs stand together
WORD = 64  # signs that the generator gives at once
LOOSE, FINE = 1e-3, 1e-5  # accuracy of an iteration, for copies and for the rows themselves
ROUGH = 5e-3  # the same of values of copies behind the first: nobody is compared with them
SOONER, NARROWER = 64, 4  # times fewer entries and columns that pay for float32: there are many copies, and no audit
ITERATED = 256  # order beyond which the largest eigenvalues of a matrix take less by iteration than by LAPACK
STEPS, EVERY, MOST = 24, 8, 400  # of that iteration: before it first looks at what it found, between looks, and at all


@dataclass(frozen=True, eq=False)
class Flips:
    """Rows, how they are preprocessed, and the seed of the signs of their copies."""

    rows: Rows
    prepare: Preprocessing
    diagonal: Array  # (d,) Σ z² of every column, which no flip changes
    seed: int = 0
    own: Array | None = None  # (d, d) ZᵀZ of the rows themselves, where it is known

    def matrices(self, side: str, which: Sequence[int | None], at_once: int) -> Iterator[Array]:
        """Z Zᵀ ("gram", n×n, for rows in memory) or ZᵀZ ("scatter", d×d) of several flips, so many from one pass.

        On and above the diagonal: that is all that is asked of them.
        """
        for i in range(0, len(which), at_once):
            group = which[i : i + at_once]
            totals = self.rows.watch.whole(partial(self._grams, group)) if side == "gram" else self._shared(group)
            yield from totals

    def leading(self, flip: int | None, k: int) -> Array:  # -> (k,)
        """The k largest eigenvalues of ZᵀZ by iteration; of flipped signs, a bound above the first."""
        (n, d), none = self.rows.shape, np.zeros(self.rows.shape[1])
        known = Moments(n, none, none, self.diagonal, np.ones(d), self.diagonal, 0.0)
        flipped = Flipped(self.rows, self.prepare, self.seed, flip)
        A = Covariance(DataMatrix(flipped, Preprocessing(), known, 0, min(n, d)))
        basis = Krylov().basis(A, k, tol=FINE if flip is None else LOOSE, rng=np.random.default_rng(0))
        pairs = A.ritz(basis.Q, basis.AQ)
        return n * (pairs.values[:k] if flip is None else _bounded(pairs.values[:k], pairs.residuals[:k]))

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
                if Z.dtype != dtype:
                    narrow[: len(Z)] = Z
                    Z = narrow[: len(Z)]
                for flip, total in zip(which, totals, strict=True):
                    signs = None if flip is None else sign_bits(self.seed, flip, at, d)
                    add_squares(flipped_into(buffer, Z, signs), total)
            return totals

        return rows.reduce(run, _add, beside=range(rows.shape[0]))

    def _grams(self, which: Sequence[int | None]) -> Array:  # -> (len(which), n, n)
        """Upper triangles of Z Zᵀ of several flips: strips of columns, in order, by all cores."""
        (n, d), dtype, watch = self.rows.shape, flipping_dtype(self.rows), self.rows.watch
        X = self.rows.block(0, n)
        X = X if isinstance(X, np.ndarray) else X.tocsc()

        def strip(ends: tuple[int, int]) -> Array:
            threads.check()
            columns, width = slice(*ends), ends[1] - ends[0]
            Z, buffer = (scratch(use, width, n, dtype) for use in ("strip", "flipped"))
            Z[...] = self.prepare.columns(columns)(X[:, columns], scratch("block", n, width)).T
            totals = np.zeros((len(which), n, n), dtype)
            for flip, total in zip(which, totals, strict=True):
                signs = None if flip is None else strip_bits(self.seed, flip, range(n), ends, d).T
                add_squares(flipped_into(buffer, Z, signs), total)
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

    def __init__(self, base: Rows, prepare: Preprocessing, seed: int, flip: int | None) -> None:
        super().__init__(base)
        self._prepare, self._seed, self._flip = prepare, seed, flip

    def read(self, start: int, stop: int) -> Block:
        return self._flipped(self._base.read(start, stop), range(start, stop)).copy()

    @property
    def reading(self) -> int:
        return self._base.reading + 8 * self.shape[1] * self.thin_rows

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        for block, at in paired(self._base._blocks(start, stop, step), range(self.shape[0]), start):
            yield self._flipped(block, at)

    def _made(self, block: Block, at: range | None) -> Block:
        assert at is not None  # it is numbered
        return self._flipped(block, at)

    def _flipped(self, block: Block, at: range) -> Block:
        Z, out = (scratch(use, len(at), self.shape[1]) for use in ("plain", "flipped"))
        signs = None if self._flip is None else sign_bits(self._seed, self._flip, at, self.shape[1])
        return flipped_into(out, self._prepare(block, Z), signs)


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


def spectrum(K: Array) -> Array:  # (m, m) -> (m,)
    """All eigenvalues of a symmetric matrix, of which the upper triangle counts, descending."""
    K = K.astype(np.float64, copy=False)
    if len(K) <= SUBSET:  # NumPy has the same routine, with less around it
        with pinned():
            values = np.linalg.eigvalsh(K, UPLO="U")
    else:
        known: dict[str, Any] = {"eigvals_only": True, "driver": "evd", "check_finite": False}
        with pinned.calling(large=len(K) > THREADED):
            values = scipy.linalg.eigh(K, lower=False, **known)
    return np.maximum(values[::-1], 0.0)


def none_above(K: Array, bar: float) -> bool:
    """Whether no eigenvalue of a matrix that need not be large is above the bar: a Cholesky factorisation tells."""
    if len(K) > THREADED:
        return False
    rest = -K.T.astype(np.float64)  # of which the lower triangle counts
    rest.flat[:: len(K) + 1] += bar
    return positive_definite(rest)


def edge(K: Array, count: int = 1) -> Array:  # (m, m) -> (count,)
    """The largest eigenvalues, 0 where there are fewer; of a large matrix a bound above the first. May mirror K."""
    values = spectrum(K) if len(K) <= ITERATED else _iterated(mirrored(K), count)
    found: Array = np.zeros(count)
    found[: len(values)] = values[:count]
    return found


def _iterated(K: Array, count: int) -> Array:
    """Largest eigenvalues of a matrix by Lanczos: each once, however often it occurs."""
    most = min(len(K), MOST)
    space = Lanczos(partial(_times, K), np.random.default_rng(0).standard_normal(len(K)), most)
    with pinned():
        while True:
            space.extend()
            done = space.spent or space.size == most
            if done or (space.size >= STEPS and space.size % EVERY == 0):
                values, _, residuals = space.largest(count)
                if done or (residuals[0] <= LOOSE * values[0] and residuals.max() <= ROUGH * values[0]):
                    return _bounded(np.maximum(values, 0.0), residuals)


def _times(K: Array, q: Array) -> Array:
    """K q, in the precision of K, as float64."""
    return (K @ q.astype(K.dtype, copy=False)).astype(np.float64, copy=False)


def _bounded(values: Array, residuals: Array) -> Array:
    """Values of an iteration, which come from below: what the first lacks of the null must not make a component."""
    return np.concatenate([values[:1] + residuals[:1], values[1:]])
