"""The state of a KernelPCA model: what a fit leaves, what a file keeps, and the attributes that follow from it.

A new fitted attribute is one line in `ATTRIBUTES`; if it does not follow from what is there, one field of `KernelState`
too.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from ritz.fitting.planning import Plan
from ritz.fitting.result import ABSENT, Table, as_result
from ritz.kernels.decompose import KernelFit
from ritz.kernels.embedding import Embedding
from ritz.kernels.preimage import PreImage
from ritz.linalg.dense import Array, squared
from ritz.rows.base import Block
from ritz.solvers import Step
from ritz.spectrum.certificate import Certificate


@dataclass(frozen=True, eq=False)
class KernelState:
    """A fit of KernelPCA: all that is learned, but for what follows from it.

    Attributes
    ----------
    dtype : of the results
    n_features : d
    columns : their names, if they have any
    textual : whether these names are text in the table they come from, and not numbers or something else
    rows : (n, d) of the fit, dense or sparse
    eigenvalues, eigenvectors : (k,) and (n, k) of the centred kernel matrix
    deviations : (k,) roots of the eigenvalues, finite even where those overflow
    ratios, ratio_bounds : (k,) shares of the variance, and (k, 2) what they lie between
    output : what `set_output` was told about `transform`
    """

    dtype: str
    n_features: int
    gamma: float
    rows: Block
    eigenvalues: Array
    eigenvectors: Array
    deviations: Array
    ratios: Array
    ratio_bounds: Array
    trace_error: float
    embedding: Embedding
    certificate: Certificate
    plan: Plan
    history: tuple[Step, ...] = ()
    columns: tuple[str, ...] | None = None
    preimage: PreImage | None = None
    output: str | None = None
    textual: bool = True

    @property
    def scores(self) -> Array:  # (n, k)
        """Of the rows of the fit."""
        return self.eigenvectors * self.deviations


def state_of(fitted: KernelFit, rows: Block, gamma: float, dtype: np.dtype[Any], drop: bool) -> KernelState:
    """What is kept of a finished fit; without the components that have no variance, if so asked."""
    found, unit, total = fitted.spectrum, fitted.embedding.frame.unit, sum(fitted.total) / 2
    bounds, shares = _ratio_bounds(fitted), found.values / total if total > 0 else np.zeros(len(found.values))
    k = int(np.count_nonzero(found.values > 0)) if drop else len(found.values)
    return KernelState(
        dtype=dtype.name,
        n_features=rows.shape[1],
        gamma=gamma,
        rows=rows,
        eigenvalues=as_result(squared(found.values[:k], unit), dtype),
        eigenvectors=np.array(found.vectors[:, :k], dtype=dtype, order="C"),
        deviations=np.sqrt(found.values[:k]) * unit,
        ratios=np.clip(shares, *bounds.T)[:k].astype(dtype),
        ratio_bounds=bounds[:k],
        trace_error=fitted.trace_error,
        embedding=fitted.embedding.first(k),
        certificate=fitted.certificate.first(k),
        plan=fitted.plan,
        history=found.history_in_units(unit),
    )


def _ratio_bounds(fitted: KernelFit) -> Array:  # (k, 2)
    """The lower bound of a value over the most that the total can be, and the other way round; 1 at most."""
    low, high = fitted.spectrum.certificate.value_bounds.T
    least, most = fitted.total
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.maximum(low, 0.0) if fitted.embedding.kernel.positive else low
        lower, upper = np.nan_to_num(low / most), np.nan_to_num(high / least, nan=1.0)
    return np.column_stack([np.minimum(lower, 1.0), np.minimum(upper, 1.0)])


# How every attribute that a fit learns follows from its state.
ATTRIBUTES: Table = {
    "_n_features_out": lambda state: len(state.eigenvalues),
    "X_fit_": attrgetter("rows"),
    "gamma_": attrgetter("gamma"),
    "eigenvalues_": attrgetter("eigenvalues"),
    "eigenvectors_": attrgetter("eigenvectors"),
    "explained_variance_ratio_": attrgetter("ratios"),
    "explained_variance_ratio_bounds_": attrgetter("ratio_bounds"),
    "trace_error_": attrgetter("trace_error"),
    "embedding_": attrgetter("embedding"),
    "certificate_": attrgetter("certificate"),
    "plan_": attrgetter("plan"),
    "history_": attrgetter("history"),
    "dual_coef_": lambda state: ABSENT if state.preimage is None else state.preimage.dual,
    "X_transformed_fit_": lambda state: ABSENT if state.preimage is None else state.scores,
    "preimage_error_": lambda state: ABSENT if state.preimage is None else state.preimage.error,
}
