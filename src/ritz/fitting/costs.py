"""Costs: operations, passes, seconds and bytes of every route from rows to a subspace, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ritz.fitting.rates import rates
from ritz.linalg.dense import LARGE
from ritz.linalg.products import SKINNY
from ritz.moments.accumulate import FILLED, PROBES, scatter_dtype
from ritz.moments.tsqr import leaf_rows
from ritz.rows import Rows
from ritz.rows.memory.array import ArrayRows
from ritz.rows.partition import ENTRY_BYTES
from ritz.solvers.krylov import SPARE, block_width, capacity, expected_steps

GATHER = 1 / 8  # of the rate of products with few columns that sparse ones reach
SCATTER = 1 / 400  # the same for products of a sparse matrix with itself
LONG = 2.5  # how much slower products are where blocks hold only a few long rows
SVD_SHARE = 1 / 11  # of the rate of products that LAPACK's svd and QR reach
FEWEST = 16  # rows of a block, however little memory there is
HELD = 1 << 28  # bytes of a file that may be read into memory to be walked again
PARSED = 10  # times as long as a walk in memory that one along a file takes
FLAT = 3  # times as many products as usual that an iteration takes where the spectrum is that of noise


@dataclass(frozen=True)
class Cost:
    """What a route takes: `seconds` by the planner's table, `memory` in bytes beside the data at their peak."""

    operations: float
    passes: int
    seconds: float
    memory: int


def within(rows: Rows, cost: Callable[[Rows], Cost], limit: int) -> tuple[Cost, int, int]:
    """A cost in blocks as large as the limit allows, and with fewer threads where that is not enough: the cost, the
    bytes of a block and the threads."""
    found, size, threads = cost(rows), rows.most_bytes, rows.threads
    while found.memory > limit and (size > 8 * FEWEST * rows.shape[1] or threads > 1):
        if size > 8 * FEWEST * rows.shape[1]:
            size //= 2
        else:
            size, threads = rows.most_bytes, threads // 2
        found = cost(rows.limited(size, threads))
    return found, size, threads


def covariance(rows: Rows, k: int) -> Cost:
    """The d×d covariance in one pass, and LAPACK."""
    d = rows.shape[1]
    form, eig = _form_covariance(rows), lapack(d, k)
    return _sum(form, eig)


def gram(rows: Rows, k: int) -> Cost:
    """The n×n matrix of inner products, LAPACK, and four products that lift, orthonormalise and check the axes."""
    return _sum(_form_gram(rows), lapack(rows.shape[0], k), _lift(rows, k))


def krylov(rows: Rows, k: int, side: str, dense: bool) -> Cost:
    """Block Krylov on a dense operator or, one pass per step, on the rows."""
    n, d = rows.shape
    order = n if side == "gram" else d
    b, steps = block_width(k), expected_steps(k)
    size = min(order, b * steps)
    basis = 16 * order * (capacity(order, k, b) + k)
    own = 3.0 * order * size**2 + 10.0 * size**3
    if dense:
        product = 2.0 * order**2 * b
        seconds = steps * (5 * rates().start + product / rates().thin) + own / (2 * rates().reduction)
        inside = Cost(steps * product + own, 0, seconds, basis)
        form = _form_gram(rows) if side == "gram" else _form_covariance(rows)
        return _sum(form, inside, _lift(rows, k)) if side == "gram" else _sum(form, inside)
    product = 4.0 * n * d * b * rows.density
    slower = LONG if d > 4 * n and not rows.sparse else 1.0
    seconds = steps * (5 * rates().start + slower * (_walk(rows) + product / _thin_rate(rows))) + own / (
        2 * rates().reduction
    )
    return _sum(_diagonal(rows), Cost(steps * product + own, steps, seconds, basis + _thin_memory(rows, b)))


def refined(rows: Rows, k: int) -> Cost:
    """Block Krylov on a covariance of float32 products, and a pass in float64 that finishes what it found."""
    n, d = rows.shape
    inside = krylov(rows, k, "covariance", True)
    saved = 1.0 * n * d * d * (1 / rates().product - 1 / rates().narrow) if scatter_dtype(rows) != np.float32 else 0.0
    columns = min(d, k + SPARE + PROBES)
    operations = 4.0 * n * d * columns
    finish = Cost(operations, 1, _walk(rows) + operations / rates().thin, _thin_memory(rows, columns))
    return _sum(replace(inside, seconds=inside.seconds - saved), finish)


def iterative(rows: Rows, k: int, side: str, dense: bool) -> Cost:
    """Orthogonal or power iteration; how many steps, only the spectrum knows, so these are the costs of one."""
    n, d = rows.shape
    order = n if side == "gram" else d
    step = Cost(2.0 * order**2 * k if dense else 4.0 * n * d * k, not dense, np.inf, 24 * (n + d) * (k + 10))
    if not dense:
        return _sum(_diagonal(rows), step, Cost(0.0, 0, 0.0, _thin_memory(rows, k)))
    return _sum(_form_gram(rows) if side == "gram" else _form_covariance(rows), step)


def svd(rows: Rows) -> Cost:
    """TSQR in one pass and LAPACK's svd of the triangle; that of the rows themselves when they are few."""
    n, d = rows.shape
    m = min(n, d)
    operations = 2.0 * n * d * m + 14.0 * m**3
    memory = 80 * m * m + (triangle_memory(rows) if n > d else 24 * n * d)
    decompose = Cost(operations, 1, _walk(rows) + operations / (SVD_SHARE * rates().product), memory)
    return decompose if n > d else _sum(_diagonal(rows), decompose)


def flipped_scatters(rows: Rows, spectra: int, at_once: int, dtype: np.dtype[Any]) -> Cost:
    """Spectra of d×d scatters of rows with random signs, so many of them from one pass, and LAPACK's eigenvalues."""
    d, passes = rows.shape[1], -(-spectra // at_once)
    seconds = passes * _read(rows) + _flipping(rows, spectra, d, dtype)
    # Sums in every thread, those that wait and their total; blocks before and after a flip, and the signs.
    memory = dtype.itemsize * d * d * at_once * (rows.threads + 3) + 24 * d * d + _block_memory(rows, 4)
    return _sum(_diagonal(rows), Cost(_products(rows, spectra, d), passes, seconds, int(memory)))


def flipped_grams(rows: Rows, spectra: int, at_once: int, dtype: np.dtype[Any], strip: int) -> Cost:
    """The same from n×n inner products, by strips of so many columns of rows in memory."""
    n, d = rows.shape
    passes = -(-spectra // at_once)
    seconds = passes * _walk(rows) + _flipping(rows, spectra, n, dtype)
    memory = dtype.itemsize * n * n * at_once * (rows.threads + 3) + 24 * n * n + 40 * n * min(strip, d) * rows.threads
    if not (isinstance(rows, ArrayRows) and rows.in_memory):  # tables and files become arrays, sparse rows are turned
        memory += int(_entry(rows) * n * d)
    return _sum(_diagonal(rows), Cost(_products(rows, spectra, n), passes, seconds, memory))


def flipped_krylov(rows: Rows, spectra: int, k: int) -> Cost:
    """The largest value of all but one of them by iteration, and k of the last; every step makes the signs again."""
    one, own = krylov(rows, 1, "covariance", False), krylov(rows, k, "covariance", False)
    steps = FLAT * ((spectra - 1) * expected_steps(1) + expected_steps(k))
    seconds = FLAT * ((spectra - 1) * one.seconds + own.seconds) + steps * (_read(rows) + _walk(rows))
    operations = FLAT * ((spectra - 1) * one.operations + own.operations)
    return Cost(operations, steps, seconds, own.memory)


def holdable(rows: Rows, limit: int) -> bool:
    """Whether rows that are walked many times should be read into memory for that, where they are not."""
    size = rows.dtype.itemsize * rows.shape[0] * rows.shape[1]
    return not rows.sparse and size <= min(HELD, limit // 4)


def _edge(order: int) -> float:
    """Operations for the largest eigenvalue of a dense matrix: by iteration where it is large."""
    return 4 / 3 * order**3 if order <= LARGE else FLAT * expected_steps(1) * 2.0 * order**2 * block_width(1)


def _products(rows: Rows, spectra: int, order: int) -> float:
    own, copies = 4 / 3 * order**3, (spectra - 1) * _edge(order)
    return spectra * 1.0 * rows.shape[0] * rows.shape[1] * order + own + copies


def _flipping(rows: Rows, spectra: int, order: int, dtype: np.dtype[Any]) -> float:
    """Seconds that signs, products and eigenvalues take; to flip a block takes about as long as to centre it."""
    entries = 1.0 * rows.shape[0] * rows.shape[1]
    rate = rates().narrow if dtype == np.float32 else rates().product
    own, copies = 4 / 3 * order**3 / rates().reduction, (spectra - 1) * _edge(order)
    one = 8 * entries / rates().walk + entries * order / rate
    return spectra * one + own + copies / (rates().reduction if order <= LARGE else rates().thin)


def _read(rows: Rows) -> float:
    return (1 if rows.in_memory else PARSED) * _walk(rows)


def triangle_memory(rows: Rows) -> int:
    """Of a walk that reduces rows to their triangle: blocks, leaves and two copies of them, triangles to be merged."""
    width, threads = rows.shape[1] + 1, rows.threads
    return int(_block_memory(rows, 1)) + 8 * width * (3 * leaf_rows(rows) * threads + 8 * width * (threads + 1))


def _form_covariance(rows: Rows) -> Cost:
    n, d = rows.shape
    narrow = scatter_dtype(rows) == np.float32
    operations, rate = 1.0 * n * d * d, rates().narrow if narrow else rates().product
    if rows.density < FILLED:
        operations, rate = rows.outer_work, SCATTER * rates().thin
    seconds = _walk(rows) + operations / rate
    # A sum in every thread, or one in either precision, finished ones waiting to be added, the matrix and a copy.
    memory = 8 * d * d * (4 + (2.5 if narrow else 2) * rows.threads) + _block_memory(rows, 1.5 if narrow else 1)
    return Cost(operations, 1, seconds, int(memory))


def _form_gram(rows: Rows) -> Cost:
    n = rows.shape[0]
    operations, rate = rows.inner_work, (SCATTER * rates().thin if rows.sparse else 0.7 * rates().product)
    seconds = 2 * _walk(rows) + operations / rate
    return _sum(_diagonal(rows), Cost(operations, 1, seconds, 8 * 3 * n * n + _thin_memory(rows, 16)))


def lapack(order: int, k: int) -> Cost:
    operations = 4 / 3 * order**3 + 2.0 * order * order * k
    seconds = (4 / 3 * order**3 + 1.6 * order * order * k) / rates().reduction
    return Cost(operations, 0, seconds, 8 * order * (order + 2 * k))


def _lift(rows: Rows, k: int) -> Cost:
    n, d = rows.shape
    along, across = 4.0 * n * d * k * rows.density, 2.0 * d * k * k
    rate = _thin_rate(rows) if rows.sparse else rates().product
    memory = 8 * 2 * (n + d) * k + 8 * 6 * n * k + _thin_memory(rows, min(k, SKINNY))
    return Cost(along + across, 3, 3 * _walk(rows) + along / rate + across / rates().product, memory)


def _diagonal(rows: Rows) -> Cost:
    n, d = rows.shape
    return Cost(4.0 * n * d, 1, _walk(rows), _thin_memory(rows, 1))


def _walk(rows: Rows) -> float:
    return rates().start + _entry(rows) * rows.shape[0] * rows.shape[1] / rates().walk


def _entry(rows: Rows) -> float:
    """Bytes that an entry takes in a block, on average."""
    return ENTRY_BYTES * rows.density if rows.sparse else 8.0


def _thin_rate(rows: Rows) -> float:
    """Operations per second of products with few columns."""
    return (GATHER if rows.sparse else 1.0) * rates().thin


def _block_memory(rows: Rows, copies: float) -> float:
    return (8 * copies * rows.block_rows * rows.shape[1] + rows.reading) * rows.threads


def _thin_memory(rows: Rows, b: int) -> int:
    (n, d), threads = rows.shape, rows.threads
    if rows.transposed:  # and all rows of a product
        return int(_entry(rows) * n * d) + 8 * b * (2 * n + 3 * d)
    return threads * (int(_entry(rows) * rows.thin_rows * d) + 8 * 3 * d * b + rows.reading)


def _sum(*costs: Cost) -> Cost:
    """One after the other; memory is not given back in between."""
    return Cost(
        sum(cost.operations for cost in costs),
        sum(cost.passes for cost in costs),
        sum(cost.seconds for cost in costs),
        sum(cost.memory for cost in costs),
    )
