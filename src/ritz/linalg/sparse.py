"""Products of sparse matrices with few columns, by all cores: numba where it is installed, SciPy's loops otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.runtime.threads import pinned, shared

COMPILE = 2_000_000  # stored entries from which numba is worth its import
RUN = 2_000_000  # multiplications that are worth handing out to a thread
RUNS = 2  # of a thread, so that all end at about the same time
WIDTHS = (8, 16, 32)  # columns that numba's loop gathers at a time; 24 would take as long as 32
LINE = 64  # bytes of a cache line: rows that begin elsewhere lie in one line more, which takes half as long again


def product(A: Any, V: Array) -> Array:  # (n, d) by rows, (d, b) -> (n, b)
    """A V in float64, every row summed in its own order whatever the number of threads."""
    out = _aligned(A.shape[0], V.shape[1])
    gather = _compiled() if A.nnz >= COMPILE else None
    if gather is None:
        V = np.ascontiguousarray(V, np.float64)
        _share_out(A, V.shape[1], lambda start, stop: _by_scipy(A, V, out, start, stop))
        return out
    for left, panel in _panels(V):
        rows_of = partial(gather, A.data, A.indices, A.indptr, panel, out, left)
        _share_out(A, panel.shape[1], rows_of)
    return out


def compiles(stored: float) -> bool:
    """Whether a matrix of so many entries is multiplied by what numba compiles; numba is not imported to tell."""
    return stored >= COMPILE and find_spec("numba") is not None


def _share_out(A: Any, columns: int, f: Callable[[int, int], None]) -> None:
    """f(start, stop) for all rows of A by all threads, in runs of about the same number of entries."""
    count = min(max(1, A.nnz * columns // RUN), RUNS * pinned.budget())
    ends = np.searchsorted(A.indptr, np.linspace(0, A.nnz, count + 1)).clip(0, A.shape[0])
    ends[0], ends[-1] = 0, A.shape[0]
    runs = [(int(a), int(b)) for a, b in pairwise(ends) if a < b]
    if len(runs) == 1:
        f(*runs[0])
        return
    for _ in shared(lambda run: f(*run), runs, pinned.budget()):
        pass


def _panels(V: Array) -> Iterator[tuple[int, Array]]:
    """As many columns of V as are gathered at a time, side by side in memory, and the number of the first of them."""
    (d, b), most = V.shape, WIDTHS[-1]
    for left in range(0, b, most):
        part = V[:, left : left + most]
        width = next(width for width in WIDTHS if width >= part.shape[1])
        ready = part.shape[1] == width and part.dtype == np.float64 and part.flags.c_contiguous
        if not (ready and part.ctypes.data % LINE == 0):
            panel = _aligned(d, width)
            panel[:, : part.shape[1]], panel[:, part.shape[1] :] = part, 0.0
            part = panel
        yield left, part


def _aligned(rows: int, columns: int) -> Array:
    """Uninitialised memory that begins with a cache line."""
    size = 8 * rows * columns
    memory = np.empty(size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(np.float64).reshape(rows, columns)


def _by_scipy(A: Any, V: Array, out: Array, start: int, stop: int) -> None:
    """SciPy's own loop, which adds to what it is given: its product would take fresh memory, and be copied."""
    ends = A.indptr[start : stop + 1]
    part = slice(int(ends[0]), int(ends[-1]))
    data, indices, indptr = A.data[part], A.indices[part], ends - ends[0]
    loop = _scipy_loop()
    if loop is None:
        out[start:stop] = type(A)((data, indices, indptr), shape=(stop - start, len(V))) @ V
        return
    sums = out[start:stop]
    sums[:] = 0.0
    loop(stop - start, *V.shape, indptr, indices, data, V.ravel(), sums.ravel())


@cache
def _scipy_loop() -> Any:
    """What SciPy multiplies with, None in a version that keeps it elsewhere."""
    try:
        from scipy.sparse._sparsetools import csr_matvecs
    except ImportError:
        return None
    return csr_matvecs


@cache
def _compiled() -> Any:
    """The loop of numba, compiled once per machine where a folder for that can be written; None where there is none."""
    try:
        import numba

        from ritz.linalg.gather import gather
    except ImportError:  # not installed, or not for this NumPy
        return None
    if getattr(numba.config, "DISABLE_JIT", False):
        return None
    try:
        return numba.njit(cache=True, nogil=True)(gather)
    except RuntimeError:  # no such folder
        return numba.njit(nogil=True)(gather)
