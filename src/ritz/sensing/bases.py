"""The bases that signals may be sparse in: by name, as a matrix, or as its products."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np
import scipy.sparse

from ritz.errors import DataError
from ritz.rows import check_exact
from ritz.sensing.cosines import Cosines
from ritz.sensing.maps import Map, Matrix, Operator
from ritz.sensing.wavelets import Wavelets, pywavelets

ADJOINT = 1e-6  # relative departure from a transpose that operators in float32 may have
SHAPE = "columns are the basis vectors: signal = basis @ coefficients"


def chosen_basis(asked: Any, signal_shape: tuple[int, ...]) -> Map:
    """The map Ψ from coefficients to signals of this shape."""
    if not isinstance(asked, str):
        basis = as_map(asked, "basis")
        length = int(np.prod(signal_shape))
        if basis.shape[0] != length:
            raise DataError(f"basis has shape {basis.shape}, but signals have {length} entries (n_features); {SHAPE}")
        return basis
    if asked == "dct":
        return Cosines(signal_shape)
    pywt = pywavelets(f"basis={asked!r} is not 'dct', and any other name")
    known = pywt.wavelist(kind="discrete")
    if asked not in known:
        near = get_close_matches(asked.lower(), ["dct", *known], 1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(
            f"basis={asked!r} is not known{meant}; the known ones are dct, {', '.join(known)}; or pass a matrix or a "
            "LinearOperator"
        )
    return Wavelets(asked, signal_shape)


def as_map(given: Any, name: str) -> Map:
    """A matrix, sparse or dense, or a LinearOperator, with finite real entries as far as they can be checked."""
    if scipy.sparse.issparse(given):
        _check_numbers(given.data, name)
        check_exact(given)
        return Operator(given.tocsr(copy=True))
    if hasattr(given, "matmat") and hasattr(given, "shape"):
        return _checked(Operator(given), name)
    try:
        entries = np.asarray(given)
    except ValueError as error:
        raise DataError(f"{name} is not a matrix: {error}") from None
    if entries.ndim != 2 or not entries.size or entries.dtype.kind not in "biuf":
        raise DataError(
            f"{name} must be a matrix of real numbers or a LinearOperator, found an array of {entries.dtype} with "
            f"shape {entries.shape}"
        )
    check_exact(given)
    entries = entries.astype(np.float64)
    _check_numbers(entries, name)
    return Matrix(entries)


def _checked(operator: Operator, name: str) -> Operator:
    """A LinearOperator whose rmatvec is its transpose: ⟨M x, y⟩ = ⟨x, Mᵀ y⟩ for random x and y."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((1, size)) for size in operator.shape[::-1])
    try:
        forth, back = operator.apply(x), operator.adjoint(y)
    except (NotImplementedError, TypeError, AttributeError) as error:
        raise DataError(
            f"{name} must have products with vectors (matvec) and with its transpose (rmatvec); one fails: {error}"
        ) from None
    _check_numbers(forth, name)
    _check_numbers(back, name)
    apart = abs(float(np.vdot(forth, y) - np.vdot(x, back)))
    if apart > ADJOINT * float(np.linalg.norm(forth) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(back)):
        raise DataError(f"{name} has an rmatvec that is not the transpose of its matvec: ⟨Mx, y⟩ ≠ ⟨x, Mᵀy⟩")
    return operator


def _check_numbers(entries: Any, name: str) -> None:
    if np.dtype(entries.dtype).kind not in "biuf" or not np.isfinite(entries).all():
        raise DataError(f"{name} holds NaN, infinity or complex numbers; it must be finite and real")
