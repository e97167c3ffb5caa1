"""One of two models that are compared: its axes, and what it knows of its variance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array, norm_of, orthogonality_defect
from ritz.moments.moments import Moments
from ritz.pca.angles import axes_of, basis_of
from ritz.runtime.wording import components
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.certify import Spectrum
from ritz.spectrum.subspace import Subspace

ORTHONORMAL = 1e-6  # what columns of an array may be off by to be axes themselves


@dataclass(frozen=True, eq=False)
class Side:
    """A subspace with its axes.

    Attributes
    ----------
    basis : (d, k) orthonormal columns
    axes : the same, or the columns of an array that are orthonormal already
    subspace, certificate, moments : of a model, as far as there are any
    """

    basis: Array
    axes: Array
    subspace: Subspace | None = None
    certificate: Certificate | None = None
    moments: Moments | None = None

    @classmethod
    def of(cls, model: Any) -> Side:
        """A fitted PCA, a Subspace, a Spectrum, or columns."""
        basis, axes = basis_of(model), axes_of(model)
        if axes is not basis and orthogonality_defect(axes) > ORTHONORMAL * max(1, axes.shape[1]):
            axes = basis
        if isinstance(model, Spectrum):
            return cls(basis, axes, None, model.certificate)
        if isinstance(model, Subspace):
            return cls(basis, axes, model)
        found = getattr(model, "_moments", None)
        moments = found if isinstance(found, Moments) and _whole(found) else None
        return cls(basis, axes, getattr(model, "subspace_", None), getattr(model, "certificate_", None), moments)

    def ordered(self, order: NDArray[np.intp] | None) -> Side:
        """The same axes with their columns in another order; what is known of variances is not theirs any more."""
        if order is None:
            return self
        return replace(self, basis=self.basis[order], axes=self.axes[order], subspace=None, moments=None)

    @property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """Components that the arithmetic cannot separate."""
        return () if self.certificate is None else tuple(self.certificate.groups)

    def group(self, i: int) -> str:
        """The components that one cannot be told from; nothing where it stands alone."""
        return next((components(a, b) for a, b in self.groups if a <= i < b and b - a > 1), "")

    @property
    def off(self) -> float | None:
        """How far the span may be from the true one, in radians, as far as the certificate bounds it: sin² of a span is
        at most the sum over its groups. None where it does not."""
        if self.certificate is None or not self.basis.shape[1]:
            return None
        bounds = np.asarray(self.certificate.angle_bounds, dtype=np.float64)
        sine = float(np.sqrt(sum(float(bounds[a:b].max()) ** 2 for a, b in self.groups)))
        return float(np.arcsin(sine)) if sine < 1 else None

    def captured(self, B: Array) -> tuple[float, float] | None:  # (d, m)
        """The share of this model's variance that lies in the span of orthonormal columns, in its own order of columns:
        at least and at most, equal where all of the variance is known. None without variances."""
        model = self.subspace
        if model is None:
            return None
        if self.moments is not None:
            share = _by_moments(self.moments, model, B)
            return share, share
        roots, beyond = model.deviations, model.outside
        size = max(float(roots.max(initial=0.0)), beyond)
        if not size > 0:
            return 0.0, 0.0
        roots, rest = roots / size, (beyond / size) ** 2
        whole, inner = float(np.sum(roots**2)) + rest, model.axes.T @ B
        seen = float(np.sum((roots[:, None] * inner) ** 2))
        # No direction outside has more variance than the last component, unless a larger one was missed.
        outside = float(norm_of(B - model.axes @ inner)) ** 2
        proved = self.certificate is not None and self.certificate.completeness != "not excluded" and len(roots)
        most = min(rest, float(roots[-1]) ** 2 * outside) if proved else rest
        return min(seen / whole, 1.0), min((seen + most) / whole, 1.0)


def _whole(found: Moments) -> bool:
    """Whether covariances are known, and not variances alone."""
    return found.scatter.ndim == 2 or found.triangle is not None


def _by_moments(found: Moments, model: Subspace, B: Array) -> float:
    """tr(BᵀCB)/tr(C)."""
    with np.errstate(over="ignore", under="ignore"):
        weight = found.unit / model.unit if model.scale is None else found.unit / model.scale
        sizes = np.sqrt(found.diagonal) * weight
    largest = float(sizes.max(initial=0.0))
    if not largest > 0:
        return 0.0
    V = B * (weight / largest)[:, None]
    if found.triangle is not None:
        part = float(np.sum((found.triangle @ V) ** 2))
    else:
        part = float(np.sum(V * (found.scatter @ V)))
    return float(np.clip(part / float(np.sum((sizes / largest) ** 2)), 0.0, 1.0))


def angles_between(A: Array, B: Array) -> Array:  # (d, m), (d, m) -> (m,)
    """Angles between the lines of unit columns, one by one, in radians; small ones to all digits (Kahan)."""
    B = B * np.where(np.einsum("ij,ij->j", A, B) < 0, -1.0, 1.0)
    apart, along = (np.sqrt(np.einsum("ij,ij->j", D, D)) for D in (A - B, A + B))
    return np.asarray(2.0 * np.arctan2(apart, along))


def matched(A: Array, B: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:  # (d, k), (d, m)
    """Pairs of axes that are most alike, each of them in at most one pair: those with the largest sum of cos²."""
    from scipy.optimize import linear_sum_assignment

    ours, theirs = linear_sum_assignment((A.T @ B) ** 2, maximize=True)
    return np.asarray(ours), np.asarray(theirs)
