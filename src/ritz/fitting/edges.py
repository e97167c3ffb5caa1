"""Edges of spectra: the largest eigenvalues of symmetric matrices and bounds above them, from few products each."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from ritz.linalg.dense import SUBSET, THREADED, Array, mirrored, positive_definite
from ritz.linalg.lanczos import Lanczos
from ritz.runtime.threads import pinned

LOOSE = 1e-3  # accuracy of an iteration for a copy
ROUGH = 5e-3  # the same of values of copies behind the first: nobody is compared with them
ITERATED = 256  # order beyond which the largest eigenvalues of a matrix take less by iteration than by LAPACK
STEPS, EVERY, MOST = 24, 8, 400  # of that iteration: before it first looks at what it found, between looks, and at all


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
                    return bounded(np.maximum(values, 0.0), residuals)


def _times(K: Array, q: Array) -> Array:
    """K q, in the precision of K, as float64."""
    return (K @ q.astype(K.dtype, copy=False)).astype(np.float64, copy=False)


def bounded(values: Array, residuals: Array) -> Array:
    """Values of an iteration, which come from below: what the first lacks of the null must not make a component."""
    return np.concatenate([values[:1] + residuals[:1], values[1:]])
