"""Routes to rows that lie elsewhere: chunks of Dask, arrays on a device, landmarks that stand for scattered rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import array_api_strict
import dask
import dask.array as da
import numpy as np
from numpy.typing import NDArray

from benchmarks.hunt.routes import TOLERANCES, Fit, asked, judged, kernel_truth, storable
from benchmarks.hunt.rows import Array, Draw, any_rows
from ritz import PCA, KernelPCA
from ritz.rows import passes
from ritz.rows.dask import groups
from ritz.rows.memory.device import DeviceRows


@contextmanager
def small_pieces(draw: Draw) -> Iterator[None]:
    """Groups and blocks so small that sums over few rows are cut and merged as those over many are."""
    sizes = {"BLOCK_BYTES": int(draw.choice([16, 500, 1 << 21])), "BLOCK_ROWS": 1}
    group = mock.patch.object(groups, "GROUP_BYTES", int(draw.choice([1, 3000, 1 << 27])))
    with group, mock.patch.multiple(passes, **sizes), dask.config.set(scheduler="threads"):
        yield


def chunked(draw: Draw, X: NDArray[np.generic]) -> da.Array:
    """Rows in uneven chunks, or each in one of its own."""
    ends = draw.integers(0, len(X), draw.integers(1, 30)) if draw.random() < 0.8 else np.arange(min(len(X), 100))
    return da.from_array(X, chunks=(tuple(np.diff(np.unique([0, *ends, len(X)])).tolist()), -1))


def chunks(draw: Draw) -> Fit | None:
    X = any_rows(draw)
    with small_pieces(draw):
        return judged("chunks", X, PCA(**asked(draw, X)).fit(chunked(draw, X)))


def columns(draw: Draw) -> Fit | None:
    """Wide rows whose columns are cut."""
    X = any_rows(draw)
    X = np.ascontiguousarray(X.T) if len(X) > X.shape[1] else X
    n, d = X.shape
    if n == d:
        return None
    ends = np.unique([0, d, *draw.integers(0, d, draw.integers(1, 12))])
    parameters = {**asked(draw, X), "svd_solver": str(draw.choice(["auto", "gram", "krylov", "orthogonal", "svd"]))}
    with small_pieces(draw):
        x = da.from_array(X, chunks=(-1 if draw.random() < 0.7 else -(-n // 2), tuple(np.diff(ends).tolist())))
        return judged("columns", X, PCA(**parameters).fit(x))


def device(draw: Draw) -> Fit | None:
    X = storable(any_rows(draw))
    there = array_api_strict.asarray(X, device=array_api_strict.Device("device1"))
    rows = DeviceRows(there).limited(8 * X.shape[1] * int(draw.integers(1, 100)))
    return judged("device", X, PCA(**asked(draw, X)).fit(rows))


def kernel_rows(draw: Draw, n: int) -> Array:
    """Rows that are plain, few different ones, nearly so, far from 0, or of columns that differ in size."""
    X = draw.standard_normal((n, int(draw.integers(1, 6))))
    kind = int(draw.integers(5))
    if kind in (1, 2):
        X = X[draw.integers(0, n // 3, n)]
    if kind == 2:
        X = X + 10.0 ** draw.uniform(-9, -2) * draw.standard_normal(X.shape)
    if kind == 3:
        X = X + 10.0 ** draw.uniform(0, 6)
    return X * 10.0 ** draw.uniform(-5, 5, X.shape[1]) if kind == 4 else X


def scattered(draw: Draw) -> Fit | None:
    """Landmarks among chunks; scores over their lengths stand for the eigenvectors, which no such model has."""
    n = int(draw.integers(20, 200))
    X, name = kernel_rows(draw, n), str(draw.choice(["rbf", "laplacian", "linear", "poly", "cosine"]))
    size = np.abs(X).max() ** 2 if name == "poly" else np.mean(np.abs(X - X.mean(axis=0))) ** (2 - (name != "rbf"))
    gamma, tol = float(10.0 ** draw.uniform(-4, 0) / size), float(draw.choice(TOLERANCES))
    some = int(draw.integers(1, n + 1))
    k = min(some, int(draw.integers(1, 9)))
    with small_pieces(draw):
        model = KernelPCA(k, kernel=name, gamma=gamma, n_landmarks=some, tol=tol, random_state=0).fit(chunked(draw, X))
    wide = X.astype(np.longdouble)  # moved where that changes nothing, for what the judge would lose of its digits
    known = kernel_truth(wide if name in ("poly", "cosine") else wide - wide.mean(axis=0), name, gamma)
    scores = model.transform(X)
    U = scores / np.maximum(np.linalg.norm(scores, axis=0), np.finfo(float).tiny)
    what = f"{name} kernel of {X.shape} in chunks, gamma={gamma:.3g}, k={k}, {some} landmarks, tol={tol}"
    return Fit(what, model.certificate_, U, tol, known, orthonormal=False)


ROUTES = (*[chunks] * 2, columns, *[device] * 2, *[scattered] * 2)
