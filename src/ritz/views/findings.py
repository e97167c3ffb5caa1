"""What a fitted model knows, gathered once for everything that shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.estimators.base import Certified
from ritz.estimators.pca import PCA
from ritz.fitting.planning import Plan
from ritz.linalg.dense import Array
from ritz.moments.moments import Moments
from ritz.runtime.rules import is_share
from ritz.spectrum.certificate import Certificate
from ritz.views.format import number, shown

WITH_GAMMA = ("poly", "rbf", "sigmoid", "laplacian")  # kernels


@dataclass(frozen=True, eq=False)
class Findings:
    """A fitted model as its readers need it.

    Attributes
    ----------
    n_rows : None where only a covariance was given
    names : of the columns, as they came: `name` makes them harmless
    values, shares : (k,) variances, or eigenvalues of the kernel matrix, and their parts of the whole
    share_bounds : (k, 2) what the true shares lie between, where that is known
    axes : (d, k), None in feature space
    mean : (d,) where columns were centred
    spread : (d, 2) what the standard deviations of the columns lie between, or their root mean squares if they were
        not centred; None where they are not known or of no account
    parameters : names and values, as text
    lacking : share of the trace of the kernel matrix that landmarks lack
    choice : how the number of components was found, where the model carries it
    asked : the share of the variance that components were to keep, where that decided how many there are
    image : the shape of the pictures that the rows are, where axes can be shown as such
    ddof : the variances are divided by the number of rows less this
    """

    n_rows: int | None
    n_columns: int
    names: Sequence[object] | None
    values: Array
    shares: Array
    certificate: Certificate
    plan: Plan | None
    parameters: tuple[tuple[str, str], ...]
    asked: float | None
    kernel: str | None = None
    share_bounds: Array | None = None
    lacking: float = 0.0
    axes: Array | None = None
    mean: Array | None = None
    spread: Array | None = None
    center: bool = True
    scale: bool = False
    whiten: bool = False
    choice: Any = None
    image: tuple[int, ...] | None = None
    ddof: int = 1

    @property
    def k(self) -> int:
        """Components."""
        return len(self.values)

    @property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """Ranges of components that cannot be told apart, and have variance at all."""
        rank = self.certificate.rank
        cut = ((start, min(end, rank)) for start, end in self.certificate.groups)
        return tuple((start, end) for start, end in cut if end - start > 1)

    @property
    def out_of_range(self) -> bool:
        """Whether values left the range of float64, upwards or downwards, where their shares did not."""
        return not np.isfinite(self.values[0]) or (not self.values[0] and bool(self.shares[0] > 0))

    def name(self, j: int) -> str:
        """A column by its name, or by its position as scikit-learn writes it."""
        return f"x{j}" if self.names is None else shown(self.names[j])


def findings(model: Any) -> Findings:
    """What a PCA or a KernelPCA has found."""
    if not (isinstance(model, Certified) and hasattr(model, "n_components")):
        raise TypeError(f"a report shows a ritz.PCA or a ritz.KernelPCA, not a {type(model).__name__!r}")
    model._check_fitted()
    fitted: Any = model
    certificate: Certificate = fitted.certificate_
    if not len(certificate.values):
        raise DataError("the model has no component: all rows are alike to it, and there is nothing to show")
    return Findings(
        n_columns=int(model.n_features_in_),
        names=getattr(model, "feature_names_in_", None),
        shares=np.asarray(fitted.explained_variance_ratio_, np.float64),
        certificate=certificate,
        asked=share_asked(model),
        plan=getattr(model, "plan_", None),
        parameters=tuple((name, _written(value)) for name, value in sorted(model._parameters().items())),
        **(_straight(model) if isinstance(model, PCA) else _curved(model)),
    )


def share_asked(model: Any) -> float | None:
    """The share of the variance that decided how many components there are, if one did."""
    asked = model.n_components
    return float(asked) if is_share(asked) else None


def _straight(pca: PCA) -> dict[str, Any]:
    subspace = pca.subspace_
    return {
        "n_rows": subspace.n_rows,
        "values": subspace.variances,
        "axes": subspace.axes,
        "mean": subspace.mean,
        "spread": None if pca.scale else _spread(pca),
        "center": bool(pca.center),
        "scale": bool(pca.scale),
        "whiten": bool(pca.whiten),
        "choice": getattr(pca, "rank_choice_", None),
        "image": getattr(pca, "image_shape_", None),
        "ddof": subspace.ddof,
    }


def _curved(model: Any) -> dict[str, Any]:
    name = _written(model.kernel).strip("'")
    gamma = f" with gamma {number(float(model.gamma_), 4)}" if name in WITH_GAMMA else ""
    return {
        "kernel": name + gamma,
        "n_rows": len(model.eigenvectors_),
        "values": model.certificate_.values,
        "lacking": float(model.trace_error_),
        "share_bounds": model.explained_variance_ratio_bounds_,
    }


def _spread(pca: PCA) -> Array:  # (d, 2)
    """Standard deviations of the columns: from the moments, or between Σ u²λ and that plus all that is left out."""
    subspace, found = pca.subspace_, pca._moments
    if isinstance(found, Moments):
        deviation = np.sqrt(found.diagonal / (found.count - subspace.ddof)) * found.unit
        return np.column_stack([deviation, deviation])
    with np.errstate(over="ignore", invalid="ignore"):
        inside = subspace.axes**2 @ subspace.variances
        return np.sqrt(np.column_stack([inside, inside + subspace.left_out]))


def _written(value: Any) -> str:
    """A parameter as text that is the same in every run: functions by name, objects without their address."""
    if callable(value) and hasattr(value, "__name__"):
        return shown(value.__name__)
    return shown(re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value)))
