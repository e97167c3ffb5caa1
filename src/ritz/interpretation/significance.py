"""How likely chance alone is to make a correlation, a correlation ratio or a deviation of a mean so large."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.linalg.dense import Array


def of_correlations(r: Array, df: Any) -> Array:
    """Two-sided p-values of correlations by Student's t, t = r√(df/(1 − r²)); 1 where no degree of freedom is left.

    Examples
    --------
    >>> import numpy as np
    >>> of_correlations(np.array([0.0, 0.5, 1.0]), 20).round(4)
    array([1.    , 0.0178, 0.    ])
    """
    from scipy.special import betainc

    df = np.broadcast_to(np.asarray(df, np.float64), r.shape)
    p = betainc(np.maximum(df, 1.0) / 2, 0.5, np.clip(1.0 - r * r, 0.0, 1.0))
    return np.asarray(np.where(df > 0, p, 1.0))


def of_ratios(eta2: Array, between: int, within: int) -> Array:
    """p-values of correlation ratios η² by the F-test of an analysis of variance; 1 where nothing can be tested.

    Examples
    --------
    >>> import numpy as np
    >>> of_ratios(np.array([0.0, 0.25]), 1, 20).round(4)  # two groups: the t-test of r = 0.5
    array([1.    , 0.0178])
    """
    from scipy.special import betainc

    if between < 1 or within < 1:
        return np.ones(len(eta2))
    return np.asarray(betainc(within / 2, between / 2, np.clip(1.0 - eta2, 0.0, 1.0)))


def of_deviations(v: Array) -> Array:
    """Two-sided p-values of v-tests, which are standard normal where a category is a random choice of rows.

    Examples
    --------
    >>> import numpy as np
    >>> of_deviations(np.array([0.0, -1.96])).round(3)
    array([1.  , 0.05])
    """
    from scipy.special import ndtr

    return np.asarray(2.0 * ndtr(-np.abs(v)))
