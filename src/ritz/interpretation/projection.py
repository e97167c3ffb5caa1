"""Gradient projection: the rotation that makes a criterion smallest (Bernaards and Jennrich 2005)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ritz.interpretation.criteria import Criterion
from ritz.linalg.dense import Array

MOST = 2000  # steps
CLOSE = 1e-9  # size of the projected gradient, relative to that of the criterion's terms, at which it ends
HALVINGS = 40


class Found(NamedTuple):
    """Where a start has ended."""

    T: Array  # (k, k)
    value: float
    converged: bool


def orthogonal(A: Array, criterion: Criterion, T: Array) -> Found:  # (d, k), (k, k)
    """T with TᵀT = I, from a start, that makes criterion(A T) smallest nearby.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.interpretation.criteria import quartimax
    >>> turned = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)
    >>> np.abs(turned @ orthogonal(turned, quartimax, np.array([[0.8, 0.6], [-0.6, 0.8]])).T).round(6)
    array([[0., 1.],
           [1., 0.]])
    """
    value, G = criterion(A @ T)
    step = 1.0
    for _ in range(MOST):
        inner = A.T @ G
        M = T.T @ inner
        P = inner - T @ ((M + M.T) / 2)
        size = float(np.linalg.norm(P))
        if size <= CLOSE * max(float(np.linalg.norm(inner)), np.finfo(float).tiny):
            return Found(T, value, True)
        step *= 2.0
        for _ in range(HALVINGS):
            U, _, V = np.linalg.svd(T - step * P)
            new = U @ V
            found, gradient = criterion(A @ new)
            if found < value - 0.5 * size**2 * step:
                break
            step /= 2.0
        else:  # no step is an improvement any more, to rounding
            return Found(T, value, size <= CLOSE**0.5 * float(np.linalg.norm(inner)))
        T, value, G = new, found, gradient
    return Found(T, value, False)


def oblique(A: Array, criterion: Criterion, T: Array) -> Found:  # (d, k), (k, k)
    """T with unit columns, from a start, that makes criterion(A T⁻ᵀ) smallest nearby; Φ = TᵀT."""
    inverse = np.linalg.inv(T)
    L = A @ inverse.T
    value, gradient = criterion(L)
    G = -(L.T @ gradient @ inverse).T
    step = 1.0
    for _ in range(MOST):
        P = G - T * np.sum(T * G, axis=0)
        size = float(np.linalg.norm(P))
        if size <= CLOSE * max(float(np.linalg.norm(G)), float(np.sum(A**2)) ** 2 / len(A), np.finfo(float).tiny):
            return Found(T, value, True)
        step *= 2.0
        for _ in range(HALVINGS):
            X = T - step * P
            new = X / np.sqrt(np.sum(X**2, axis=0))
            inverse, fits = _inverse(new)
            if fits:
                L = A @ inverse.T
                found, gradient = criterion(L)
                if found < value - 0.5 * size**2 * step:
                    break
            step /= 2.0
        else:
            return Found(T, value, size <= CLOSE**0.5 * max(float(np.linalg.norm(G)), 1.0))
        T, value, G = new, found, -(L.T @ gradient @ inverse).T
    return Found(T, value, False)


def _inverse(T: Array) -> tuple[Array, bool]:
    """The inverse, unless components have become nearly the same."""
    try:
        found = np.linalg.inv(T)
    except np.linalg.LinAlgError:
        return T, False
    return found, bool(np.isfinite(found).all() and np.linalg.norm(found) < 1e8)
