"""Lanczos from one vector: an orthonormal basis, vector by vector, in which a symmetric matrix is tridiagonal.

One that starts at random finds each eigenvalue once, however often it occurs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ritz.linalg.dense import UNIT, Array, few_of_tridiagonal, norm_of


class Lanczos:
    """The basis so far, all of whose vectors are kept orthogonal, and the tridiagonal matrix.

    Attributes
    ----------
    size : vectors so far, each of which was multiplied once
    spent : whether the next one would be of rounding alone, so that the space is all that this start can see
    """

    def __init__(self, multiply: Callable[[Array], Array], start: Array, most: int) -> None:
        self._multiply = multiply
        self._Q = np.empty((most, len(start)))
        self._diagonal, self._beside = np.zeros(most), np.zeros(most)
        self._next = start / norm_of(start)
        self.size, self.spent = 0, False

    def extend(self) -> None:
        """One product, with the vector that comes next."""
        j, q = self.size, self._next
        self._Q[j] = q
        w = self._multiply(q)
        self._diagonal[j] = w @ q
        w -= self._diagonal[j] * q
        if j:
            w -= self._beside[j - 1] * self._Q[j - 1]
        known = self._Q[: j + 1]
        w -= (known @ w) @ known  # what rounding has left of all the others
        self._beside[j] = beside = norm_of(w)
        self.size += 1
        self.spent = bool(beside <= 100 * UNIT * len(w) * np.abs(self._diagonal[: j + 1]).max())
        if not self.spent:
            self._next = w / beside

    def largest(self, count: int) -> tuple[Array, Array, Array]:  # -> (count,), (size, count), (count,)
        """The largest Ritz values, descending, their vectors in this basis, and the norms of their residuals."""
        diagonal, off_diagonal = self._diagonal[: self.size], self._beside[: self.size - 1]
        count = min(count, self.size)
        found = few_of_tridiagonal(diagonal, off_diagonal, count)
        if found is None:
            values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off_diagonal, -1))
            found = values[-count:], vectors[:, -count:]
        values, S = found[0][::-1], found[1][:, ::-1]
        return values, S, self._beside[self.size - 1] * np.abs(S[-1])

    def vectors(self, S: Array) -> Array:  # (size, b) -> (dim, b)
        """Vectors that have these coefficients in the basis."""
        return self._Q[: self.size].T @ S
