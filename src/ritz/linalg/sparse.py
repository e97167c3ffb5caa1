"""Products of sparse matrices with few columns, by all cores: numba where it is installed, SciPy's loops otherwise."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.runtime.threads import ordered, pinned

COMPILE = 2_000_000  # stored entries from which numba is worth its import
LANES = 64


def product(A: Any, V: Array) -> Array:  # (n, d) by rows, (d, b) -> (n, b)
    """A V in float64, every row summed in its own order whatever the number of threads."""
    out = np.empty((A.shape[0], V.shape[1]))
    V = np.ascontiguousarray(V, np.float64)
    gather = _compiled() if A.nnz >= COMPILE else _by_scipy

    def fill(run: tuple[int, int]) -> None:
        gather(A.data, A.indices, A.indptr, V, out, *run)

    # About the same number of entries for every thread.
    ends = np.searchsorted(A.indptr, np.linspace(0, A.nnz, LANES + 1)).clip(0, A.shape[0])
    ends[0], ends[-1] = 0, A.shape[0]
    runs = [(int(a), int(b)) for a, b in pairwise(ends) if a < b]
    for _ in ordered(fill, runs, pinned.budget()):
        pass
    return out


def _by_scipy(data: Any, indices: Any, indptr: Any, V: Array, out: Array, start: int, stop: int) -> None:
    from scipy.sparse import csr_array

    ends = indptr[start : stop + 1]
    part = slice(int(ends[0]), int(ends[-1]))
    shape = (stop - start, len(V))
    out[start:stop] = csr_array((data[part], indices[part], ends - ends[0]), shape=shape) @ V


@cache
def _compiled() -> Any:
    """The same loop by numba, compiled once per machine where a folder for that can be written."""
    try:
        import numba
    except ImportError:  # not installed, or not for this NumPy
        return _by_scipy
    options: dict[str, Any] = {"nogil": True, "fastmath": {"contract", "nsz", "reassoc"}}
    try:
        return numba.njit(cache=True, **options)(_gather)
    except RuntimeError:  # no such folder
        return numba.njit(**options)(_gather)


def _gather(data: Any, indices: Any, indptr: Any, V: Any, out: Any, start: int, stop: int) -> None:
    columns = V.shape[1]
    for i in range(start, stop):
        row = out[i]
        row[:] = 0.0
        p, end = indptr[i], indptr[i + 1]
        while p + 3 < end:  # four entries at a time keep more than one product under way
            a, b, c, d = data[p], data[p + 1], data[p + 2], data[p + 3]
            u, v, w, x = V[indices[p]], V[indices[p + 1]], V[indices[p + 2]], V[indices[p + 3]]
            for j in range(columns):
                row[j] += a * u[j] + b * v[j] + c * w[j] + d * x[j]
            p += 4
        while p < end:
            a, u = data[p], V[indices[p]]
            for j in range(columns):
                row[j] += a * u[j]
            p += 1
