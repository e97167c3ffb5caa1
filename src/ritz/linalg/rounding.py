"""How far float64 arithmetic may be off: the unit roundoff, and the errors of sums and of QR factorisations."""

from __future__ import annotations

import numpy as np

UNIT = float(np.finfo(np.float64).eps) / 2  # the unit roundoff u of float64


def gamma(terms: float) -> float:
    """γ_m = m u / (1 − m u): the relative error of a sum of m products (Higham 2002, §3.1)."""
    return terms * UNIT / (1 - terms * UNIT)


def qr_terms(m: int, d: int) -> int:
    """t, so that R of an m×d matrix is that of rows which differ from it, column by column, by t·u of its norm.

    Householder's reflections leave about √(m d) u when rounding errors are random (Connolly and Higham, SIAM J. Matrix
    Anal. Appl. 44, 2023), and 2√(m d) ≤ m + d; sums along m rows never err by more than m u, random or not.
    """
    return m + d + 16
