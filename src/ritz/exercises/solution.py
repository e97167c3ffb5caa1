"""Solutions: the eigenpairs of a problem, and how exact they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg.dense import Array
from ritz.spectrum.certificate import Certificate


@dataclass(frozen=True, eq=False)
class Solution:
    """The eigenpairs of a problem that have a variance.

    Attributes
    ----------
    values : (r,) eigenvalues above rounding, descending
    vectors : (dim, r) orthonormal
    total : trace of the matrix
    certificate : of these pairs; None for those of LAPACK, which are as exact as its rounding
    """

    values: Array
    vectors: Array
    total: float
    certificate: Certificate | None = None

    @property
    def rank(self) -> int:
        """How many directions have a variance."""
        return len(self.values)

    @property
    def left(self) -> float:
        """At least every eigenvalue that was taken for rounding, as none is below 0."""
        return max(0.0, self.total - float(self.values.sum()))

    @property
    def errors(self) -> Array:  # (r,)
        """How far each eigenvalue may be off, as far as the certificate says."""
        return np.zeros(self.rank) if self.certificate is None else self.certificate.errors[: self.rank]

    def residual(self, start: int, end: int) -> float:
        """At least ‖A U − U Λ‖ of a group, with rounding; without squares that could overflow."""
        if self.certificate is None:
            return 0.0
        residuals = self.certificate.residuals[start : min(end, self.rank)]
        return float(residuals.max(initial=0.0)) * float(np.sqrt(len(residuals))) + self.certificate.rounding

    def first(self, count: int) -> Array:
        """The first eigenvalues, with a 0 for every one beyond the rank."""
        return np.append(self.values, np.zeros(max(0, count - self.rank)))[:count]
