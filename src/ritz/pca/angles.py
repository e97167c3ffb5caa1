"""How far apart two subspaces are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.arrays import on_host
from ritz.linalg.bases import orthonormalise
from ritz.linalg.dense import Array, svd
from ritz.rows.columns import model_columns, order_of
from ritz.runtime.threads import pinned
from ritz.spectrum.certify import Spectrum
from ritz.spectrum.subspace import Subspace


@pinned()
def compare(a: Any, b: Any) -> Array:
    """Principal angles between two subspaces of the same space, in radians, ascending.

    Parameters
    ----------
    a, b : fitted PCA, Subspace, Spectrum, or (d, k) arrays whose columns span the subspace; columns that both models
        know by name may stand in different orders

    Examples
    --------
    >>> import numpy as np
    >>> compare(np.eye(3)[:, :2], np.eye(3)[:, 1:]).round(3)
    array([0.   , 1.571])
    """
    A, B = _columns(a), _columns(b)
    if len(A) != len(B):
        raise DataError(f"the subspaces lie in {len(A)} and {len(B)} dimensions; compare two of the same space")
    ours, theirs = (model_columns(model) for model in (a, b))
    if ours is not None and theirs is not None:
        order = order_of(theirs, ours, "the second model")
        B = B if order is None else B[order]
    if A.shape[1] < B.shape[1]:
        A, B = B, A
    cosines = np.clip(svd(A.T @ B)[1], 0.0, 1.0)
    # Björck and Golub 1973: arccos is blind to angles below 1e-8, arcsin of the residual is not.
    sines = np.clip(svd(B - A @ (A.T @ B))[1][::-1], 0.0, 1.0)
    return np.where(cosines**2 > 0.5, np.arcsin(sines), np.arccos(cosines))


def _columns(model: Any) -> Array:
    """An orthonormal basis of the subspace a model or an array stands for."""
    if isinstance(model, Subspace):
        return model.axes
    if isinstance(model, Spectrum):
        return model.vectors
    if hasattr(model, "subspace_"):
        return _columns(model.subspace_)
    if hasattr(model, "fit") and not hasattr(model, "components_"):
        if hasattr(model, "n_features_in_"):
            raise DataError(f"{type(model).__name__} has no subspace of its columns to compare; compare PCA models")
        raise DataError(f"{type(model).__name__} is not fitted yet; fit it before comparing")
    V = np.asarray(on_host(model.components_.T if hasattr(model, "components_") else model), dtype=np.float64)
    if V.ndim != 2 or V.shape[1] > V.shape[0] or not np.isfinite(V).all():
        raise DataError(f"expected a (d, k) array of finite columns with k <= d, got shape {V.shape}")
    return orthonormalise(V)
