"""What a finished kernel fit becomes on an estimator: attributes, and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.estimators.fitted import fitting
from ritz.kernels import Kernel
from ritz.kernels.decompose import KernelFit
from ritz.kernels.preimage import PreImage
from ritz.linalg.dense import Array
from ritz.linalg.exponents import squared
from ritz.runtime.wording import at_most

FLAT = 2.0  # times the mean eigenvalue that the largest one must exceed to stand for anything


def attributes(fitted: KernelFit, dtype: np.dtype[Any], drop: bool) -> dict[str, Any]:
    """The fitted attributes, scikit-learn's and ours; without the components that have no variance, if so asked."""
    found, unit = fitted.spectrum, fitted.unit
    bounds, shares = _ratio_bounds(fitted), ratios(found.values, sum(fitted.total) / 2)
    k = int(np.count_nonzero(found.values > 0)) if drop else len(found.values)
    return {
        "eigenvalues_": fitting(squared(found.values[:k], unit), dtype),
        "eigenvectors_": np.array(found.vectors[:, :k], dtype=dtype, order="C"),
        "explained_variance_ratio_": np.clip(shares, *bounds.T)[:k].astype(dtype),
        "explained_variance_ratio_bounds_": bounds[:k],
        "trace_error_": fitted.trace_error,
        "embedding_": fitted.embedding.first(k),
        "_deviations": np.sqrt(found.values[:k]) * unit,
        "certificate_": fitted.certificate.first(k),
        "plan_": fitted.plan,
        "history_": found.history_in_units(unit),
    }


def way_back(found: PreImage, scores: Array) -> dict[str, Any]:
    """The attributes of a model that has learned pre-images from the scores of its rows."""
    return {
        "_preimage": found,
        "dual_coef_": found.dual,
        "X_transformed_fit_": scores,
        "preimage_error_": found.error,
    }


def ratios(values: Array, total: float) -> Array:
    """Shares of the total, 0 where there is nothing to share."""
    return values / total if total > 0 else np.zeros(len(values))


def _ratio_bounds(fitted: KernelFit) -> Array:  # (k, 2)
    """The lower bound of a value over the most that the total can be, and the other way round; 1 at most."""
    low, high = fitted.spectrum.certificate.value_bounds.T
    least, most = fitted.total
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.maximum(low, 0.0) if fitted.embedding.kernel.positive else low
        lower, upper = np.nan_to_num(low / most), np.nan_to_num(high / least, nan=1.0)
    return np.column_stack([np.minimum(lower, 1.0), np.minimum(upper, 1.0)])


def complaints(fitted: KernelFit, asked: Any, kernel: Kernel, gamma: Any, landmarks: Any) -> list[str]:
    """What the user should know and can act on."""
    certificate, k = fitted.certificate, len(fitted.spectrum.values)
    found = []
    if not certificate.rank and not certificate.may_have_missed:
        if asked is not None:
            found.append("the rows are all alike to the kernel: no component has a variance above rounding")
        return found
    if not certificate.satisfied:
        found.append(_short(fitted))
    elif certificate.may_have_missed:
        found.append("a component with larger variance may have been missed; eigen_solver='dense' would exclude it")
    if isinstance(landmarks, float) and fitted.trace_error > landmarks:
        found.append(
            f"n_landmarks={landmarks:g} was not reached: as many landmarks as memory_limit allows lack "
            f"{at_most(fitted.trace_error)} of the trace"
        )
    if fitted.indefinite:
        found.append(
            f"the kernel matrix has eigenvalues below 0, the lowest {fitted.indefinite:.2g} times the largest in size: "
            "it is no inner product, and the components kept are those of its positive part"
        )
    if _flat(fitted):
        start = "" if isinstance(gamma, str) else ", gamma='median' is a good start"
        found.append(
            f"the spectrum is flat: to kernel={kernel!r} nearly all rows are equally far from each other, and no few "
            f"components stand for them ({k} hold {_share(fitted):.2g} of the variance); a smaller gamma makes "
            f"neighbours of them{start}"
        )
    if certificate.rank < k and asked is not None and not certificate.may_have_missed:
        found.append(
            f"{k} components were asked for, but only {certificate.rank} have a variance above rounding: those beyond "
            "have eigenvalue exactly 0 and arbitrary directions"
        )
    elif certificate.tie_at_k and certificate.satisfied and certificate.rank >= k and asked is not None:
        found.append(
            f"{certificate.tie}, so the span of {k} component{'s' * (k > 1)} is not unique; {certificate.beside_tie}"
        )
    return found


def _short(fitted: KernelFit) -> str:
    certificate = fitted.certificate
    why = f"; {fitted.spectrum.note}" if fitted.spectrum.note else ""
    if fitted.trace_error:
        why = (
            f"; landmarks lack {at_most(fitted.trace_error)} of the trace: more of them come nearer, "
            "eigen_solver='krylov' reaches tol, and a larger tol says what is enough"
        )
    return f"accuracy tol={certificate.tol:g} was not reached: {certificate.accuracy()}{why}; see certificate_"


def _share(fitted: KernelFit) -> float:
    return float(np.sum(ratios(fitted.spectrum.values, sum(fitted.total) / 2)))


def _flat(fitted: KernelFit) -> bool:
    """Whether the largest eigenvalue hardly exceeds the mean of all, for kernels with a bandwidth."""
    n, values = len(fitted.spectrum.vectors), fitted.spectrum.values
    return fitted.embedding.kernel.local and n > 10 and 0 < float(values[0]) < FLAT * sum(fitted.total) / 2 / (n - 1)
