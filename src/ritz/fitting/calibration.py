"""Calibration: measuring what this machine does per second. The planner's table is fixed unless a user asks for it."""

from __future__ import annotations

import json
import timeit
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict

import numpy as np

from ritz.fitting import costs
from ritz.fitting.costs import Rates, cache_file
from ritz.linalg.dense import eigh_descending
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import moments
from ritz.rows.memory.array import ArrayRows, thin_product
from ritz.runtime.atomic import replacing
from ritz.runtime.threads import team


def calibrate(reset: bool = False) -> Rates:
    """Measure this machine for about a second, and let all further plans of this user rest on what was found.

    The rates are kept in the user's cache folder; where that cannot be written they hold for this process.
    `reset=True` goes back to the fixed table, with which plans are the same on every machine.

    Examples
    --------
    >>> calibrate().product  # operations per second of a product of matrices  # doctest: +SKIP
    43526661412.3
    >>> calibrate(reset=True).product  # that of the fixed table
    100000000000.0
    """
    path = cache_file()
    found = Rates() if reset else _measured()
    with suppress(OSError):
        if reset:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as new:
                new.write_text(json.dumps(asdict(found), indent=1), encoding="utf-8")
    costs.known_rates[costs.HERE] = found
    return found


def _measured() -> Rates:
    """Every rate from the best of a few runs of what it stands for."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 400))
    square = rng.standard_normal((600, 600))
    rows, V = ArrayRows(X), rng.standard_normal((400, 16))
    d = X.shape[1]
    narrow = X.astype(np.float32)
    with team():  # BLAS threads that spin would be measured too
        thin, walk = _best(lambda: thin_product(X, V)), _best(lambda: moments(rows, scatter=Scatter.DIAGONAL))
        start = _best(lambda: thin_product(X[:200], V))
    return Rates(
        product=X.size * d / _best(lambda: X.T @ X),
        narrow=X.size * d / _best(lambda: narrow.T @ narrow),
        thin=2 * X.size * V.shape[1] / thin,
        reduction=4 / 3 * len(square) ** 3 / _best(lambda: eigh_descending(square + square.T, 10)),
        walk=X.nbytes / walk,
        start=max(start, 1e-5),
    )


def _best(f: Callable[[], object]) -> float:
    return min(timeit.repeat(f, number=1, repeat=5))
