"""Scores of new rows, without what shrinks them beside those of the rows of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.arrays import beside, dtype_of, in_type, is_other_array
from ritz.linalg.dense import Array
from ritz.pca.fitted import subspace_of
from ritz.rows import is_dask
from ritz.runtime.wording import component, plural
from ritz.sampling.asymptotic import sampling


def corrected(model: Any, X: Any) -> Any:
    """Scores of rows that were not among those of the fit, component by component over the factor of shrinkage."""
    scores, factors = model.transform(X), factors_of(model)
    if hasattr(scores, "columns") and hasattr(scores, "mul"):  # a frame of pandas
        return scores / factors.astype(scores.to_numpy().dtype)
    if hasattr(scores, "with_columns"):  # of polars
        pairs = zip(scores.columns, factors.tolist(), strict=True)
        return scores.with_columns([scores[name] / factor for name, factor in pairs])
    if isinstance(scores, np.ndarray) or is_dask(scores):
        return scores / factors.astype(scores.dtype)
    if is_other_array(scores):
        return in_type(scores / beside(factors, scores), dtype_of(scores))
    raise DataError(
        f"corrected_scores gives arrays and frames of pandas or polars; transform gave a {type(scores).__name__!r}",
        "divide what transform gives by sampling().shrinkage",
    )


def factors_of(model: Any) -> Array:
    """What scores are divided by; an error where a component does not stand above noise."""
    subspace = subspace_of(model, "corrected_scores")
    found = sampling(model).shrinkage
    reached = np.flatnonzero(~np.isfinite(found))
    if len(reached):
        names = ", ".join(component(int(i)) for i in reached[:5]) + (", …" if len(reached) > 5 else "")
        first = int(reached[0])
        raise DataError(
            f"noise alone reaches the variance of {names} in {subspace.n_rows} rows, so nothing tells how far scores "
            "of new rows shrink",
            f"fit {first} {plural(first, 'component')}" if first else "fit more rows",
        )
    return found
