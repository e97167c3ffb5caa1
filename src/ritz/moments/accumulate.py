"""Sums over rows shifted block by block: of z, of z zᵀ or its diagonal, and of what audits float32 products."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from ritz.linalg.dense import (
    Array,
    add_squares,
    add_upper,
    column_norms,
    column_sums,
    cross,
    float32_pays,
    mirrored,
    panels,
    terms_of_sum,
    times,
)
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.rows.base import Block
from ritz.rows.passes import FEW_RUNS, Cut
from ritz.runtime.threads import scratch, team, zeros

FILLED = 0.05  # share of entries from which a sparse block is multiplied by itself as a dense one
CHAIN = 24  # blocks whose float32 products are summed before they are added to the rest in float64
# Blocks of the data beside which one in float64 is small; of fewer, a half is in float64 at a time.
MANY = 64
# For a Gaussian g, ‖E g‖ ≥ |uᵀg| ‖E‖, so that seven of them all stay below ‖E‖/5.8 with probability (0.8/5.8)⁷ = 1e-6
# (after Halko, Martinsson and Tropp, SIAM Review 53, 2011, §4.3). With ones they are eight columns, as BLAS likes it.
PROBES, PROBE_FACTOR = 7, 5.8


class Scatter(Enum):
    """How much of Σ z zᵀ is summed, and in which arithmetic."""

    DIAGONAL = "the diagonal alone, in float64"
    FLOAT64 = "all of it, in float64"
    FLOAT32 = "all of it, in float32, to be judged by whoever uses it"
    AUDITED = "all of it, in float32 beside products of random vectors in float64, which bound its error"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the products."""
        return np.dtype(np.float32 if self in (Scatter.FLOAT32, Scatter.AUDITED) else np.float64)


@dataclass
class Sums:
    """Sums over runs of blocks of z = (x − shift)/unit."""

    count: int
    total: Array  # (d,) Σ z
    scatter: Array  # (d, d) or (d,) Σ z zᵀ; of a matrix, the upper triangle, in float32 where one chain made it
    terms: int  # behind an entry of the scatter, as `terms_of_sum` counts them
    probed: Array  # (d, t) Σ z (zᵀ G), in float64
    squares: Array | float = 0.0  # (d,) Σ z², in float64 beside float32 products

    def add(self, Z: Array, total: Array | None = None) -> None:
        """Count a block and add up its rows, whose sum may be known."""
        self.count += Z.shape[0]
        self.terms = terms_of_sum(self.terms, Z.shape[0], panels(Z.shape[0]))
        self.total += column_sums(Z) if total is None else total

    @property
    def parts(self) -> tuple[Any, ...]:
        """All fields, as plain values that a checkpoint can keep."""
        return self.count, self.total, self.scatter, self.terms, self.probed, self.squares


class Absorbing:
    """The parts of one run with those of another added to them, in place: the scatter may be large."""

    def __call__(self, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
        count, total, scatter, terms, probed, squares = self.first(ours)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            total += theirs[1]
            if scatter.ndim == 1:
                scatter += theirs[2]
            else:
                add_upper(theirs[2], scatter)
            probed += theirs[4]
            squares += theirs[5]
        return count + theirs[0], total, scatter, terms_of_sum(terms, theirs[3]), probed, squares

    def first(self, ours: tuple[Any, ...]) -> tuple[Any, ...]:
        """The sums of the first run with the scatter in float64, so that others can be added in place."""
        return *ours[:2], _in_float64(ours[2]), *ours[3:]


def scatter_dtype(rows: Rows) -> np.dtype[Any]:
    """float32 where the data holds no more digits and there is enough of it to matter, else float64; a device that has
    float64 computes in it."""
    n, d = rows.shape
    pays = rows.narrow and not rows.sparse and not rows.on_device and float32_pays(n * d, d)
    return np.dtype(np.float32 if pays else np.float64)


def sums_of(rows: Rows, prepare: Preprocessing, scatter: Scatter, probes: Array) -> Sums:
    """Sums over all rows, and over the same rows the products of the probes, of which an audit has some."""
    thin = scatter is Scatter.DIAGONAL
    add_up = _diagonals if thin else _scatters if scatter is Scatter.FLOAT64 else _narrow

    def run(blocks: Iterable[Block]) -> tuple[Any, ...]:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return add_up(blocks, prepare.beside(rows), rows, probes).parts

    sums = Sums(*rows.reduce(run, Absorbing(), cut=Cut.THIN if thin else Cut.SQUARE))
    if not thin:
        if rows.shape[0] > FEW_RUNS * rows.square_rows:  # else the next fit may use them again
            with team() as threads:  # their blocks are the largest of the fit
                threads.forget()
        sums.scatter = mirrored(_in_float64(sums.scatter))
    if add_up is _narrow:
        np.fill_diagonal(sums.scatter, sums.squares)  # the trace is only as good as the diagonal
    return sums


def _diagonals(blocks: Iterable[Block], prepare: Preprocessing, rows: Rows, probes: Array) -> Sums:
    """Sums of z and of z² over consecutive blocks."""
    step, d = rows.thin_rows, rows.shape[1]
    sums = Sums(0, rows.zeros(d), rows.zeros(d), 0, np.zeros(probes.shape))
    buffer = rows.buffer("block", 1 if rows.sparse else step, d)
    for block in blocks:
        Z: Any = prepare.uncentred(block) if rows.sparse else prepare(block, buffer)
        sums.add(Z)
        squares = Z.power(2) if rows.sparse else Z * Z if rows.on_device else np.square(Z, out=Z)
        sums.scatter += column_sums(squares)
    return sums


def _scatters(blocks: Iterable[Block], prepare: Preprocessing, rows: Rows, probes: Array) -> Sums:
    """Sums of z and z zᵀ over consecutive blocks, in float64."""
    step, d = rows.square_rows, rows.shape[1]
    sums = Sums(0, rows.zeros(d), rows.zeros(d, d), 0, np.zeros(probes.shape))
    for block in blocks:
        if rows.density < FILLED:
            Z = prepare.uncentred(block)
        else:
            Z = prepare(block, rows.buffer("block", max(step, block.shape[0]), d))
        sums.add(Z)
        sums.scatter = add_squares(Z, sums.scatter)
    return sums


def _narrow(blocks: Iterable[Block], prepare: Preprocessing, rows: Rows, probes: Array) -> Sums:
    """The same with products in float32 and, in float64, those of the probes and the diagonal."""
    step, d = rows.block_rows, rows.shape[1]
    chain, chained = zeros(d, d, dtype=np.float32), 0
    sums = Sums(0, np.zeros(d), chain, 0, np.zeros(probes.shape), np.zeros(d))
    some = float64_rows(rows)
    buffer, narrow = scratch("block", some, d), scratch("narrow", step, d, np.float32)
    probing = np.column_stack([probes, np.zeros(d)])
    for block in blocks:
        thin = narrow[: len(block)]
        for start in range(0, len(block), some):
            Z = prepare(block[start : start + some], buffer)
            thin[start : start + some] = Z
            if probes.size:
                Y = times(Z, probing)
                Y[:, -1] = 1.0
                products = cross(Z, Y)
                sums.probed += products[:, :-1]
                sums.add(Z, products[:, -1])
            else:
                sums.add(Z)
            sums.squares += np.ones(len(Z)) @ np.square(Z, out=Z)
        if chained == CHAIN:
            sums.scatter, chained = _with_chain(sums.scatter, chain), 0
        add_squares(thin, chain, keep=chained > 0)
        chained += 1
    if sums.scatter is not chain:  # most runs are one chain, which takes half the memory
        sums.scatter = _with_chain(sums.scatter, chain)
    return sums


def float64_rows(rows: Rows) -> int:
    """How many rows of a block are in float64 at a time, before all of it is multiplied in float32."""
    step = rows.block_rows
    return step if rows.shape[0] >= MANY * step else -(-step // 2)


def _with_chain(total: Array, chain: Array) -> Array:
    """The sum in float64 of all chains so far, of which the first has been the total itself."""
    if total is chain:
        return chain.astype(np.float64)
    add_upper(chain, total)
    return total


def _in_float64(scatter: Array) -> Array:
    """A sum to which those of other runs may be added."""
    return scatter.astype(np.float64) if scatter.dtype == np.float32 else scatter


def audited(sums: Sums, probes: Array, spread: Array | None) -> float:
    """Bound on the error of float32 products from what they and float64 say about the same vectors, over all rows."""
    error = sums.scatter @ probes - sums.probed
    if spread is None:
        return float(PROBE_FACTOR * np.max(column_norms(error)))
    deviation = np.sqrt(np.maximum(np.diagonal(sums.scatter), np.finfo(float).tiny))
    # The probes were scaled by the spread of a sample; its ratio to the deviation found carries them over.
    ratio = float(np.max(spread / deviation))
    return float(PROBE_FACTOR * np.max(column_norms(error / deviation[:, None]))) * ratio
