"""What a finished fit becomes on an estimator: attributes, and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.fitting.rank import INDEPENDENT
from ritz.fitting.result import Decomposition
from ritz.linalg.dense import Array
from ritz.linalg.exponents import squared, times_power
from ritz.runtime.wording import at_most
from ritz.spectrum.subspace import Subspace

# What a fit leaves on an estimator, and what is computed when asked for after partial_fit.
LEARNED = frozenset(
    {
        *("subspace_", "certificate_", "plan_", "history_", "n_components_", "components_", "mean_", "scale_"),
        *("explained_variance_", "explained_variance_ratio_", "total_variance_", "noise_variance_"),
        *("n_samples_", "singular_values_", "dual_components_", "rank_choice_", "_standard_deviations", "_whitening"),
    }
)


def attributes(fitted: Decomposition, dtype: np.dtype[Any]) -> dict[str, Any]:
    """The fitted attributes, scikit-learn's and ours."""
    subspace, found, unit = fitted.subspace, fitted.spectrum, fitted.unit
    ratios = found.values / fitted.total if fitted.total > 0 else np.zeros(len(found.values))
    with np.errstate(over="ignore", under="ignore"):
        state = {
            **of_subspace(subspace, np.sqrt(found.values) * unit, dtype),
            "certificate_": fitted.certificate,
            "plan_": fitted.plan,
            "history_": found.history_in_units(unit),
            "explained_variance_ratio_": ratios.astype(dtype),
            "total_variance_": float(squared(fitted.total, unit)),
        }
        if found.dual is not None:
            state["dual_components_"] = found.dual / unit
        if fitted.choice is not None:
            state["rank_choice_"] = fitted.choice
    return state


def of_subspace(subspace: Subspace, deviations: Array, dtype: np.dtype[Any]) -> dict[str, Any]:
    """The attributes that follow from the model itself and its standard deviations, whose squares may overflow."""
    d, k = subspace.axes.shape
    n, rest = subspace.n_rows, subspace.spare
    with np.errstate(over="ignore", under="ignore"):
        state = {
            "subspace_": subspace,
            "n_components_": k,
            "components_": np.array(subspace.axes.T, dtype=dtype, order="C"),
            "explained_variance_": fitting(subspace.variances, dtype),
            "noise_variance_": subspace.left_out / rest if rest > 0 else 0.0,
            "mean_": np.zeros(d) if subspace.mean is None else subspace.mean.copy(),
            "scale_": None if subspace.scale is None else subspace.scale.copy(),
            "_standard_deviations": deviations,
            "_whitening": np.divide(1.0, deviations, out=np.zeros(k), where=deviations > 0),
        }
        if n is not None:
            state |= {
                "n_samples_": n,
                "singular_values_": fitting(in_data(subspace, np.sqrt(n - subspace.ddof)), dtype),
            }
    return state


def in_data(subspace: Subspace, factor: Any) -> Array:
    """Deviations times a factor in the units of the data, rounded once."""
    return np.asarray(times_power(subspace.deviations * factor, subspace.power))


def fitting(values: Array, dtype: np.dtype[Any]) -> Array:
    """Values in that type, or in float64 where it has no room for them, or not for all their digits."""
    sizes, limits = np.abs(values), np.finfo(dtype)
    outside = ((sizes > limits.max) & (sizes < np.inf)) | ((sizes < limits.tiny) & (sizes > 0))
    return values.astype(np.float64 if outside.any() else dtype)


def complaints(fitted: Decomposition, asked: Any) -> list[str]:
    """What the user should know and can act on."""
    certificate, plan, subspace = fitted.certificate, fitted.plan, fitted.subspace
    d, k = subspace.axes.shape
    found = []
    if fitted.choice is not None and not fitted.choice.above:
        scale = "" if subspace.scale is not None else ", or use scale=True if large columns hide what others share"
        found.append(
            f"no component stands above noise: {INDEPENDENT}, and here the rows have no more variance in one direction "
            "than with random signs; n_components='auto' keeps 1, whose direction may mean nothing; ask for a number, "
            f"such as n_components={min(2, d)}, to keep the largest variances all the same{scale}; see rank_choice_"
        )
    if not certificate.satisfied:
        why = f"; {fitted.spectrum.note}" if fitted.spectrum.note else ""
        found.append(
            f"accuracy tol={certificate.tol:g} was not reached: {certificate.accuracy()}{why}; see certificate_"
        )
    elif certificate.may_have_missed:
        found.append(
            "a component with larger variance may have been missed; svd_solver='covariance' (or 'gram' for few rows) "
            "lets the certificate exclude it"
        )
    # All components of wide data end in one without variance, because of the mean: no news to whoever asked for all.
    expected = asked is None and subspace.n_rows is not None and subspace.n_rows <= d and certificate.rank == k - 1
    if certificate.rank < k and certificate.missing:
        found.append(
            f"the sketch resolves {certificate.rank} of {k} components: variances beyond are at most "
            f"{at_most(certificate.missing)}, and their directions arbitrary"
        )
    elif certificate.rank < k and not expected and not certificate.may_have_missed:
        found.append(
            f"{k} components were asked for, but the data has rank {certificate.rank} to the resolution of "
            f"{plan.solver}: those beyond it have variance exactly 0 and arbitrary directions"
        )
    elif certificate.tie_at_k and certificate.satisfied and certificate.rank >= k:
        found.append(
            f"{certificate.tie}, so the subspace of {k} component{'s' * (k > 1)} is not unique; "
            f"{certificate.beside_tie}"
        )
    return found
