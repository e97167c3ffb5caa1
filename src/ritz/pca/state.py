"""The state of a PCA model: what a fit leaves, what a file keeps, and the attributes that follow from it.

A new fitted attribute is one line in `LEARNED`; if it does not follow from what is there, one field of `PCAState` too.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from ritz.fitting.planning import Plan
from ritz.fitting.rank import Choice
from ritz.fitting.result import ABSENT, Decomposition, Table, as_result, optional
from ritz.linalg.dense import Array, squared
from ritz.linalg.exponents import times_power
from ritz.moments.moments import Moments
from ritz.moments.sketch import Stream
from ritz.solvers import Step
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.subspace import Subspace


@dataclass(frozen=True, eq=False)
class PCAState:
    """A fit of PCA: all that is learned, but for what follows from it. Without a subspace it is moments alone.

    Attributes
    ----------
    dtype : of the results
    n_features : d
    columns : their names, if they have any
    textual : whether these names are text in the table they come from, and not numbers or something else
    deviations : (k,) roots of the variances, finite even where those overflow
    ratios : (k,) shares of the total variance
    dual : (n, k) α of the Gram route
    choice : how the number of components was chosen, where a rule did
    output : what `set_output` was told about `transform`
    image_shape : (h, w) or (h, w, 3), where the rows are pictures
    white : the number that stands for white in them, where that is known
    """

    dtype: str
    n_features: int
    columns: tuple[str, ...] | None = None
    subspace: Subspace | None = None
    deviations: Array | None = None
    ratios: Array | None = None
    total_variance: float | None = None
    certificate: Certificate | None = None
    plan: Plan | None = None
    history: tuple[Step, ...] = ()
    dual: Array | None = None
    moments: Moments | Stream | None = None
    choice: Choice | None = None
    output: str | None = None
    textual: bool = True
    image_shape: tuple[int, ...] | None = None
    white: float | None = None


def state_of(fitted: Decomposition, dtype: np.dtype[Any], **about_rows: Any) -> PCAState:
    """What is kept of a finished fit, and of the rows beside it."""
    found, unit = fitted.spectrum, fitted.unit
    ratios = found.values / fitted.total if fitted.total > 0 else np.zeros(len(found.values))
    with np.errstate(over="ignore", under="ignore"):
        return PCAState(
            dtype=dtype.name,
            n_features=len(fitted.subspace.axes),
            subspace=fitted.subspace,
            deviations=np.sqrt(found.values) * unit,
            ratios=ratios.astype(dtype),
            total_variance=float(squared(fitted.total, unit)),
            certificate=fitted.certificate,
            plan=fitted.plan,
            history=found.history_in_units(unit),
            dual=None if found.dual is None else found.dual / unit,
            moments=fitted.moments,
            choice=fitted.choice,
            **about_rows,
        )


def in_data(subspace: Subspace, factor: Any) -> Array:
    """Deviations times a factor in the units of the data, rounded once."""
    found = subspace.deviations * factor
    return np.asarray(times_power(found, subspace.power) if subspace.power else found)


def with_subspace(part: Callable[[PCAState], Any]) -> Callable[[PCAState], Any]:
    """An attribute that is not there as long as moments are all there is."""
    return lambda state: ABSENT if state.subspace is None else part(state)


def _singular_values(state: PCAState) -> Any:
    subspace: Any = state.subspace
    if subspace.n_rows is None:
        return ABSENT
    return as_result(in_data(subspace, np.sqrt(subspace.n_rows - subspace.ddof)), state.dtype)


# How every attribute follows from the state: what is learned, and what is known of moments alone.
LEARNED: Table = {
    "subspace_": attrgetter("subspace"),
    "certificate_": attrgetter("certificate"),
    "plan_": attrgetter("plan"),
    "history_": attrgetter("history"),
    "n_components_": lambda state: state.subspace.axes.shape[1],
    "_n_features_out": lambda state: state.subspace.axes.shape[1],
    "components_": lambda state: np.array(state.subspace.axes.T, dtype=state.dtype, order="C"),
    "explained_variance_": lambda state: as_result(state.subspace.variances, state.dtype),
    "explained_variance_ratio_": attrgetter("ratios"),
    "total_variance_": attrgetter("total_variance"),
    "noise_variance_": lambda state: (
        state.subspace.left_out / state.subspace.spare if state.subspace.spare > 0 else 0.0
    ),
    "mean_": lambda state: np.zeros(state.n_features) if state.subspace.mean is None else state.subspace.mean.copy(),
    "scale_": lambda state: copy(state.subspace.scale),
    "singular_values_": _singular_values,
    "n_samples_": optional("subspace.n_rows"),
    "dual_components_": optional("dual"),
    "rank_choice_": optional("choice"),
}
ATTRIBUTES: Table = {
    **{name: with_subspace(part) for name, part in LEARNED.items()},
    "image_shape_": attrgetter("image_shape"),
    "white_": attrgetter("white"),
    "n_samples_seen_": lambda state: ABSENT if state.moments is None else state.moments.count,
}
