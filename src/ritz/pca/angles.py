"""How far apart two subspaces are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.arrays import on_host
from ritz.linalg.bases import orthonormalise
from ritz.linalg.dense import Array, svd
from ritz.rows.columns import model_columns, order_of
from ritz.spectrum.certify import Spectrum
from ritz.spectrum.subspace import Subspace


def principal_angles(A: Array, B: Array) -> Array:  # (d, k), (d, m) -> (min(k, m),)
    """Angles between the spans of orthonormal columns, in radians, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> principal_angles(np.eye(3)[:, :2], np.eye(3)[:, 1:]).round(3)
    array([0.   , 1.571])
    """
    if A.shape[1] < B.shape[1]:
        A, B = B, A
    cosines = np.clip(svd(A.T @ B)[1], 0.0, 1.0)
    # Björck and Golub 1973: arccos is blind to angles below 1e-8, arcsin of the residual is not.
    sines = np.clip(svd(B - A @ (A.T @ B))[1][::-1], 0.0, 1.0)
    return np.where(cosines**2 > 0.5, np.arcsin(sines), np.arccos(cosines))


def axes_of(model: Any) -> Array:  # (d, k)
    """The columns that a model or an array stands for: orthonormal axes, or whatever columns the array has."""
    if isinstance(model, Subspace):
        return model.axes
    if isinstance(model, Spectrum):
        return model.vectors
    if hasattr(model, "subspace_"):
        return axes_of(model.subspace_)
    if hasattr(model, "fit") and not hasattr(model, "components_"):
        if hasattr(model, "n_features_in_"):
            raise DataError(f"{type(model).__name__} has no subspace of its columns to compare; compare PCA models")
        raise DataError(f"{type(model).__name__} is not fitted yet; fit it before comparing")
    V = np.asarray(on_host(model.components_.T if hasattr(model, "components_") else model), dtype=np.float64)
    if V.ndim != 2 or V.shape[1] > V.shape[0]:
        raise DataError(
            f"expected a (d, k) array of columns with k <= d, got shape {V.shape}",
            "axes are columns here: pass components_.T" if V.ndim == 2 else "pass a fitted model, or its axes",
        )
    if not np.isfinite(V).all():
        raise DataError(f"the (d, k) array of columns, of shape {V.shape}, has entries that are not finite")
    return V


def basis_of(model: Any) -> Array:  # (d, k)
    """An orthonormal basis of the subspace that a model or an array stands for."""
    V = axes_of(model)
    if isinstance(model, Subspace | Spectrum) or hasattr(model, "subspace_"):
        return V
    sizes = np.abs(V).max(axis=0, initial=0.0)
    units = V / np.where(sizes > 0, sizes, 1.0)
    rank = int(np.linalg.matrix_rank(units)) if V.size else 0
    if rank < V.shape[1]:
        raise DataError(
            f"the {V.shape[1]} columns of the array span {rank} dimensions",
            "pass columns that are linearly independent",
        )
    return orthonormalise(units)


def place_of(b: Any, a: Any) -> Any:  # (d,) or None
    """Where the columns of a stand among those of b, where both know theirs by name; None where they are in order."""
    ours, theirs = (model_columns(model) for model in (a, b))
    if ours is None or theirs is None:
        return None
    return order_of(theirs, ours, "the second model")
