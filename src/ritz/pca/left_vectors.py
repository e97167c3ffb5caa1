"""Left singular vectors of the rows of a fit: Z = U Σ Vᵀ, from V and σ, made orthonormal."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import Array, r_factor
from ritz.linalg.exponents import delivered
from ritz.rows import Rows
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.subspace import Subspace

ALIKE = 1e-3  # departure from orthonormality that rows of the fit may show, beyond what its accuracy explains
FLOOR = 1e-12  # of the largest variance: what is called rounding where the certificate's own has no number


def left_vectors(model: Subspace, certificate: Certificate, rows: Rows) -> Generator[Array, None, None]:
    """U = Z V Σ⁻¹ R⁻¹ of the rows of the fit, block by block, where R is the R factor of Z V Σ⁻¹.

    R is the identity but for what the fit and its arithmetic lack: beside a large σ₁, a small σ leaves columns of
    Z V Σ⁻¹ that are orthonormal to eps·σ₁/σ alone. Columns without variance are 0. The first of two passes is made at
    once.
    """
    return turned(rows, model, *rows.near(turning, model, certificate))


def turning(rows: Rows, model: Subspace, certificate: Certificate) -> tuple[NDArray[np.bool_], Array]:
    """Which columns have variance, and what turns the whitened scores of those into U, from one pass."""
    n = model.n_rows
    if n is None:
        raise DataError("left singular vectors need the number of rows of the fit", "pass n_rows to from_covariance")
    if rows.shape[0] != n:
        raise DataError(
            f"X has {rows.shape[0]} rows, but left singular vectors belong to the {n} rows of the fit",
            "pass those, or use transform for the scores of others",
        )
    root, seen = np.sqrt(n - model.ddof), model.deviations > 0
    R: Array = np.empty((0, int(seen.sum())))
    with closing(model.codes(rows, np.float64, whiten=True)) as blocks:
        for block in blocks:
            R = r_factor(R, on_host(block)[:, seen] / root)
    _check_rows(R, model, certificate, seen)
    turn = np.linalg.inv(R * np.where(np.diagonal(R) < 0, -1.0, 1.0)[:, None])
    return seen, turn / root


def turned(rows: Rows, model: Subspace, seen: NDArray[np.bool_], turn: Array) -> Generator[Array, None, None]:
    """U, block by block."""
    for block in map(on_host, model.codes(rows, np.float64, whiten=True)):
        U = np.zeros(block.shape)
        U[:, seen] = block[:, seen] @ turn
        yield delivered(U, rows.result_dtype)


def _check_rows(R: Array, model: Subspace, certificate: Certificate, seen: NDArray[np.bool_]) -> None:
    """Rows of the fit have whitened scores that are uncorrelated, as far as the fit is accurate: others have not."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        lack = (certificate.rounding + certificate.missing) / certificate.values[0] if len(R) else 0.0
    lack = float(lack) if np.isfinite(lack) else FLOOR
    shares = model.deviations[seen] / model.deviations[0]
    allowed = ALIKE + 8 * lack / (shares[:, None] * shares)
    off = np.abs(R.T @ R - np.eye(len(R)))
    if len(R) < len(shares) or not (off <= allowed).all() or not (np.abs(np.diagonal(R)) > ALIKE).all():
        raise DataError(
            "the rows of X are not those of the fit: their scores are correlated, or have other variances",
            "pass the rows that the model was fitted to, or use transform for the scores of others",
        )
