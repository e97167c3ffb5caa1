"""What a rotation makes small: criteria of simple structure with their gradients.

A new one is a function here and a line in `rotation.METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ritz.linalg.dense import Array

Criterion = Callable[[Array], tuple[float, Array]]  # (d, k) -> value, gradient (d, k)


def quartimax(L: Array) -> tuple[float, Array]:
    """−¼ Σ l⁴: every column on as few components as possible (Neuhaus and Wrigley 1954).

    Examples
    --------
    >>> import numpy as np
    >>> quartimax(np.array([[1.0, 0.0], [0.0, 1.0]]))[0], round(quartimax(np.sqrt(np.full((2, 2), 0.5)))[0], 9)
    (-0.5, -0.25)
    """
    return float(-0.25 * np.sum(L**4)), -(L**3)


def varimax(L: Array) -> tuple[float, Array]:
    """−¼ Σ (l² − mean of its component's l²)²: every component of a few columns (Kaiser 1958)."""
    squares = L**2
    about = squares - squares.mean(axis=0)
    return float(-0.25 * np.sum(about**2)), -(L * about)


def oblimin(gamma: float) -> Criterion:
    """¼ Σ_{i≠j} (Σ l_i² l_j² − (γ/d) Σ l_i² Σ l_j²); quartimin with γ = 0 (Jennrich and Sampson 1966)."""

    def criterion(L: Array) -> tuple[float, Array]:
        squares = L**2
        others = squares.sum(axis=1, keepdims=True) - squares
        X = others - gamma * others.mean(axis=0)
        return float(0.25 * np.sum(squares * X)), L * X

    return criterion
