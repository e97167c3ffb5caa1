"""Costs: operations, passes, seconds and bytes of every route from rows to a subspace, before anything is computed."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np

from ritz.linalg.dense import SKINNY
from ritz.linalg.sparse import compiles
from ritz.moments.accumulate import CHAIN, FILLED, PROBES, float64_rows, scatter_dtype
from ritz.moments.tsqr import leaf_rows
from ritz.rows import Rows
from ritz.rows.passes import Cut, block_memory, entry_bytes
from ritz.solvers.base import block_width, capacity, expected_steps
from ritz.solvers.krylov import SPARE

# Of the rate of products with few columns, what sparse ones reach by SciPy's loop, and by one that numba compiles.
GATHER, COMPILED = 1 / 7, 0.4
SCATTER = 1 / 400  # the same for products of a sparse matrix with itself
LONG = 2.5  # how much slower products are where blocks hold only a few long rows
COPIES = 6  # of the vectors that a certificate is made from
SVD_SHARE = 1 / 11  # of the rate of products that LAPACK's svd and QR reach
FEWEST = 16  # rows of a block, however little memory there is
OVERSAMPLED = 10  # vectors beyond those asked for that an iteration carries along
HELD = 1 << 28  # bytes of a file that may be read into memory to be read again


@dataclass(frozen=True)
class Rates:
    """Operations and bytes per second, and the seconds that starting a walk takes.

    The defaults are those of two cores of a server processor; only their ratios decide a plan.
    """

    product: float = 1.0e11  # float64 products of large matrices
    narrow: float = 2.0e11  # the same in float32
    thin: float = 0.9e11  # products with few columns
    reduction: float = 2.0e10  # LAPACK's eigenvalues
    walk: float = 1.8e10  # bytes read and centred
    start: float = 2e-4  # seconds


CORES = 2  # of the machine whose rates these are
# Estimates for a GPU that computes as fast in float64 as in float32, such as the H200; LAPACK and what is small stay on
# the CPU. Only their ratios decide a plan.
GPU = Rates(product=2.3e13, narrow=2.3e13, thin=2.3e13, walk=2e12, start=1e-3)

HERE = "here"  # the machine whose rates `known_rates` holds, once they have been read
known_rates: dict[str, Rates] = {}


def rates() -> Rates:
    """The rates measured on this machine if the user asked for that once, else the fixed table; read once."""
    if HERE not in known_rates:
        known_rates[HERE] = _stored(cache_file())
    return known_rates[HERE]


def rates_of(rows: Rows) -> Rates:
    """Those of where the blocks of rows are computed; rows that stand in a file are read by the CPU."""
    if rows.workers is not None:
        here, more = rates(), rows.workers.total_threads / CORES
        faster = {name: more * getattr(here, name) for name in ("product", "narrow", "thin", "walk")}
        return replace(here, **faster)  # what is small stays with the worker that leads
    if not rows.on_device:
        return rates()
    return GPU if rows.in_memory else replace(GPU, walk=rates().walk)


def cache_file() -> Path:
    """Where measured rates are kept."""
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        home = "~/Library/Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(home)) / "ritz" / "rates.json"  # Path.expanduser fails where there is no home


def _stored(path: Path) -> Rates:
    """What the file says; the fixed table where there is none or it does not make sense."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        found = Rates(**{field.name: float(stored[field.name]) for field in fields(Rates)})
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return Rates()
    return found if all(math.isfinite(rate) and rate > 0 for rate in asdict(found).values()) else Rates()


@dataclass(frozen=True)
class Cost:
    """What a route takes, from whatever source.

    Attributes
    ----------
    operations, passes : floating-point operations, and passes over the data
    seconds : by the planner's table; infinite where only the spectrum knows
    memory : bytes of working memory at their peak; the data is not counted
    block_bytes, threads : the largest block of rows, in float64, and how many threads read them
    """

    operations: float
    passes: int
    seconds: float
    memory: int
    block_bytes: int = 1 << 24
    threads: int | None = None


def within(rows: Rows, cost: Callable[[Rows], Cost], limit: int) -> Cost:
    """A cost in blocks as large as the limit allows, and with fewer threads where that is not enough."""
    found, size, threads = cost(rows), rows.most_bytes, rows.threads
    while found.memory > limit and (size > (least := 8 * FEWEST * rows.passes.length) or threads > 1):
        if size > least:
            size //= 2
        else:
            size, threads = rows.most_bytes, threads // 2
        found = cost(rows.limited(size, threads))
    return Cost(found.operations, found.passes, found.seconds, found.memory, size, threads)


def direct(rows: Rows, k: int, side: str) -> Cost:
    """The d×d covariance, or the n×n matrix of inner products, in one pass, and LAPACK."""
    return _on_matrix(rows, k, side, lapack(order_of(rows, side), k), _narrow(rows))


def krylov(rows: Rows, k: int, side: str, dense: bool, refines: bool = False) -> Cost:
    """Block Krylov on a dense operator or, one pass per step, on the rows. One that is refined later is formed in
    float32 whatever the rows hold."""
    (n, d), order = rows.shape, order_of(rows, side)
    free = 1 if dense else rows.free_columns
    b, steps = block_width(k, free), expected_steps(k, free)
    size = min(order, b * steps)
    room = capacity(order, k, b)
    basis = 16 * order * (room + k)
    own = 3.0 * order * size**2 + 10.0 * size**3
    if dense:
        product = 2.0 * order**2 * b
        step = product / rates().thin
    else:
        product, slower = 4.0 * n * d * b * rows.density, LONG if rows.passes.few_rows else 1.0
        step = slower * (one_pass(rows) + product / _thin_rate(rows))
    operations = steps * product + own
    seconds = steps * (5 * rates().start + step) + own / (2 * rates().reduction)
    if dense:
        return _on_matrix(rows, k, side, Cost(operations, 0, seconds, basis + 16 * room**2), refines or _narrow(rows))
    steps_of_rows = Cost(operations, steps, seconds, basis + rows.passes.thin_memory(b))
    lift = [_lift(rows, k)] if rows.passes.side == "gram" else []
    return total(diagonal(rows), steps_of_rows, *lift)


def _thin_rate(rows: Rows) -> float:
    """Operations per second of products with few columns."""
    if not rows.sparse:
        return rates_of(rows).thin
    compiled = rows.transposed and compiles(rows.density * rows.shape[0] * rows.shape[1])
    return (COMPILED if compiled else GATHER) * rates_of(rows).thin


def refined(rows: Rows, k: int) -> Cost:
    """Block Krylov on a covariance of float32 products, and a pass in float64 that finishes what it found."""
    n, d = rows.shape
    inside = krylov(rows, k, "covariance", True, refines=True)
    columns = min(d, k + SPARE + PROBES)
    operations = 2.0 * n * d * (columns + PROBES)
    memory = 8 * d * d + 8 * COPIES * d * columns + rows.passes.thin_memory(columns)
    finish = Cost(operations, 1, one_pass(rows) + operations / rates_of(rows).thin, memory)
    return replace(total(inside, finish), memory=max(inside.memory, memory))


def iterative(rows: Rows, k: int, side: str, dense: bool) -> Cost:
    """Orthogonal or power iteration; how many steps, only the spectrum knows, so these are the costs of one."""
    (n, d), memory = rows.shape, 24 * sum(rows.shape) * (k + OVERSAMPLED)
    if dense:
        return total(_form(rows, side, _narrow(rows)), Cost(2.0 * order_of(rows, side) ** 2 * k, 0, np.inf, memory))
    return total(diagonal(rows), Cost(4.0 * n * d * k, 1, np.inf, memory + rows.passes.thin_memory(k)))


def svd(rows: Rows) -> Cost:
    """TSQR in one pass and LAPACK's svd of its R factor; that of the rows themselves when they are few."""
    n, d = rows.shape
    m = min(n, d)
    operations = 2.0 * n * d * m + 14.0 * m**3
    memory = 80 * m * m + (r_factor_memory(rows) if n > d else 24 * n * d)
    # Rows that are few are decomposed by whoever leads, wherever they come from.
    speed = rates() if rows.scattered and n <= d else rates_of(rows)
    decompose = Cost(operations, 1, one_pass(rows) + operations / (SVD_SHARE * speed.product), memory)
    return decompose if n > d else total(diagonal(rows), decompose)


def holdable(rows: Rows, limit: int) -> bool:
    """Whether rows that are read many times should be kept in memory for that, where they are not."""
    size = rows.dtype.itemsize * rows.shape[0] * rows.shape[1]
    return not rows.sparse and size <= min(HELD, limit // 4)


def r_factor_memory(rows: Rows) -> int:
    """Of a pass that reduces rows to their R factor: blocks, leaves and two copies of them, factors to be merged."""
    width, threads = rows.shape[1] + 1, rows.threads
    return int(block_memory(rows, 1)) + 8 * width * (3 * leaf_rows(rows) * threads + 8 * width * (threads + 1))


def order_of(rows: Rows, side: str) -> int:
    """Of the d×d covariance, or of the n×n Gram matrix."""
    return rows.shape[0 if side == "gram" else 1]


def _on_matrix(rows: Rows, k: int, side: str, inside: Cost, narrow: bool) -> Cost:
    """A solver on a dense matrix; from the Gram matrix, four products lift, orthonormalise and check the axes."""
    form, d = _form(rows, side, narrow), rows.shape[1]
    if side == "gram":
        return total(form, inside, _lift(rows, k))
    found = total(form, inside)
    if not narrow or elsewhere(rows):
        return found
    # What a pass in float32 takes it gives back, but for the scatter. Beside that, LAPACK takes matrices of its own,
    # and so does a proof.
    beside = 8 * d * d + max(8 * d * d, 8 * COPIES * d * min(d, k + SPARE))
    return replace(found, memory=max(form.memory, 8 * d * d + max(inside.memory, beside)))


def _narrow(rows: Rows) -> bool:
    """Whether the covariance is summed in float32 because the rows hold no more digits."""
    return scatter_dtype(rows) == np.float32


def _form(rows: Rows, side: str, narrow: bool) -> Cost:
    """The covariance in one pass; the Gram matrix in one after that for the means."""
    n, d = rows.shape
    if side == "gram":
        operations, way = rows.inner_work, rows.passes
        rate = SCATTER * rates().thin if rows.sparse else way.share * rates_of(rows).product
        seconds = way.reads * one_pass(rows) + operations / rate
        return total(diagonal(rows), Cost(operations, 1, seconds, way.gram_memory))
    speed = rates_of(rows)
    operations, rate = 1.0 * n * d * d, speed.narrow if narrow else speed.product
    if rows.density < FILLED:
        operations, rate = rows.outer_work, SCATTER * rates().thin
    seconds = one_pass(rows) + operations / rate
    return Cost(operations, 1, seconds, scatter_memory(rows, narrow))


def scatter_memory(rows: Rows, narrow: bool) -> int:
    """Bytes of the pass that sums the scatter: the sum, one more in every thread, and blocks."""
    d, threads = rows.shape[1], rows.threads
    if not narrow or elsewhere(rows):  # with room for finished sums that wait, for the matrix and a copy
        return int(8 * d * d * (4 + (2.5 if narrow else 2) * threads) + block_memory(rows, 1.5 if narrow else 1))
    longest = max(stop - start for start, stop in rows.cut(Cut.SQUARE)[1])
    sums = 4 * d * d * (1 if longest <= CHAIN * rows.block_rows else 3)
    blocks = 8 * d * float64_rows(rows) + 4 * d * rows.block_rows + rows.reading
    return int(8 * d * d * (1 + (not rows.long_result)) + threads * (sums + blocks))


def elsewhere(rows: Rows) -> bool:
    """Whether products are not formed in the threads of this process, by dense blocks."""
    return rows.sparse or rows.on_device or rows.scattered


def small_matrix(order: int, by_factor: bool) -> Cost:
    """LAPACK on a covariance that was given, or the svd of its factor; nothing is chosen by its seconds."""
    share, copies = (14.0, 10) if by_factor else (4.0 / 3, 3)
    return Cost(share * order**3, 0, np.inf, 8 * copies * order**2)


def lapack(order: int, k: int) -> Cost:
    """The k leading eigenpairs of a dense matrix."""
    operations = 4 / 3 * order**3 + 2.0 * order * order * k
    seconds = (4 / 3 * order**3 + 1.6 * order * order * k) / rates().reduction
    return Cost(operations, 0, seconds, 8 * order * (order + 2 * k))


def _lift(rows: Rows, k: int) -> Cost:
    n, d = rows.shape
    along, across = 4.0 * n * d * k * rows.density, 2.0 * d * k * k
    rate = _thin_rate(rows) if rows.sparse else rates_of(rows).product
    memory = 8 * 2 * (n + d) * k + 8 * 6 * n * k + rows.passes.thin_memory(min(k, SKINNY))
    # Usually one pass is enough; where rounding asks for more, there are three.
    return Cost(along + across, 1, 3 * one_pass(rows) + along / rate + across / rates().product, memory)


def diagonal(rows: Rows) -> Cost:
    """The means and variances of the columns."""
    n, d = rows.shape
    return Cost(4.0 * n * d, 1, one_pass(rows), rows.passes.thin_memory(rows.passes.known))


def one_pass(rows: Rows) -> float:
    """Seconds to read and centre all rows."""
    speed = rates_of(rows)
    return rows.latency + speed.start + entry_bytes(rows) * rows.shape[0] * rows.shape[1] / speed.walk


def total(*costs: Cost) -> Cost:
    """One after the other; memory is not given back in between."""
    operations, passes, seconds, memory = 0.0, 0, 0.0, 0
    for cost in costs:
        operations, passes = operations + cost.operations, passes + cost.passes
        seconds, memory = seconds + cost.seconds, memory + cost.memory
    return Cost(operations, passes, seconds, memory)
