"""Orthonormal bases of blocks, also of those that have lost rank."""

from __future__ import annotations

import numpy as np

from ritz.linalg.dense import Array, column_norms, norm_of, orthogonality_defect

NEARLY = 0.1  # ‖VᵀV − I‖ up to which one Cholesky factor makes V orthonormal to rounding


def orthonormalise(V: Array) -> Array:  # (d, b) -> (d, b)
    """An orthonormal basis of span(V), orthonormal even where V has lost rank.

    Tall blocks go through Cholesky factorisations of small Gram matrices, at the speed of matrix products; where that
    does not give an orthonormal basis, Householder reflections do.
    """
    d, b = V.shape
    norms = column_norms(V)
    large = norms > 1e-7 * norms.max(initial=0.0)
    if d >= 8 * b and large.any():
        Q = _cholesky_qr(V / norms if large.all() else V[:, large] / norms[large])
        if Q is not None and not large.all():
            Q = np.column_stack([Q, outside(Q, V[:, ~large])])
        if Q is not None and orthogonality_defect(Q) <= 1e-13 * b:
            return Q
    return np.linalg.qr(V)[0]


def _cholesky_qr(V: Array) -> Array | None:
    """CholeskyQR2 of a block with unit columns, None where the columns are too dependent for it.

    Where they are nearly orthonormal, the second round would find nothing but the rounding of the first.
    """
    for _ in range(2):
        inner = V.T @ V
        try:
            R = np.linalg.cholesky(inner, upper=True)
        except np.linalg.LinAlgError:
            return None
        V = V @ np.linalg.inv(R)
        inner.flat[:: len(inner) + 1] -= 1.0
        if norm_of(inner) <= NEARLY:
            break
    return V


def outside(Q: Array, V: Array) -> Array:
    """Orthonormal columns outside span(Q): the directions of V there, random ones where V has none."""
    W = V / np.maximum(column_norms(V), np.finfo(float).tiny)
    W = W - Q @ (Q.T @ W)
    lost = column_norms(W) < 1e-8
    W[:, lost] = np.random.default_rng(0).standard_normal((len(V), int(lost.sum())))
    for _ in range(2):  # twice is enough (Kahan)
        W = np.linalg.qr(W - Q @ (Q.T @ W))[0]
    return W
