"""How many components: rules that turn a spectrum into a number."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.special import gammaln

from ritz.linalg import Array


def checked(asked: object, n: int, d: int) -> int | float | str | None:
    """n_components as None, "mle", a float inside (0, 1) or an int from 1 to min(n, d); anything else is an error.

    Examples
    --------
    >>> checked(7, 100, 5)
    Traceback (most recent call last):
    ...
    ValueError: n_components=7 must be between 1 and min(n_samples, n_features)=5
    """
    rule = f"must be between 1 and min(n_samples, n_features)={min(n, d)}"
    if asked is None:
        return None
    if isinstance(asked, str) and asked == "mle":
        if n < d:
            raise ValueError(f"n_components='mle' is only supported if n_samples >= n_features, got {n} < {d}")
        return asked
    if isinstance(asked, bool | np.bool_) or not isinstance(asked, Real):
        raise ValueError(f"n_components={asked!r} {rule}, a fraction between 0 and 1, 'mle' or None")
    if isinstance(asked, Integral):
        if not 1 <= int(asked) <= min(n, d):
            raise ValueError(f"n_components={asked} {rule}")
        return int(asked)
    if not 0 < float(asked) < 1:
        raise ValueError(f"n_components={asked} {rule}, or a fraction strictly between 0 and 1")
    return float(asked)


def for_share(values: Array, total: float, share: float) -> int:
    """The fewest components whose variance exceeds `share` of the total (scikit-learn's rule).

    Examples
    --------
    >>> import numpy as np
    >>> for_share(np.array([6.0, 3.0, 1.0]), 10.0, 0.8)
    2
    """
    if total <= 0:
        return 1
    reached = np.cumsum(values) / total
    return min(int(np.searchsorted(reached, share, side="right")) + 1, len(values))


def minka(values: Array, n_rows: int) -> int:
    """The dimension of largest evidence, by Minka's Laplace approximation (NIPS 13, 2000).

    Parameters
    ----------
    values : all d eigenvalues of the covariance, descending

    Examples
    --------
    >>> import numpy as np
    >>> minka(np.array([9.0, 7.0, 0.11, 0.1, 0.09]), n_rows=500)
    2
    """
    evidence = [_log_evidence(values, k, n_rows) for k in range(1, len(values))]
    return int(np.argmax(evidence)) + 1 if evidence else 1


def _log_evidence(values: Array, k: int, n: int) -> float:
    d = len(values)
    tiny = np.finfo(float).eps * float(values[0])
    if values[k - 1] <= tiny:
        return -np.inf
    noise = max(float(np.sum(values[k:])) / (d - k), tiny)
    sizes = (d - np.arange(k)) / 2.0
    log_volume = float(np.sum(gammaln(sizes) - sizes * np.log(np.pi))) - k * np.log(2.0)
    log_fit = -0.5 * n * (float(np.sum(np.log(values[:k]))) + (d - k) * np.log(noise))
    free = d * k - k * (k + 1) / 2.0
    smoothed = np.append(values[:k], np.full(d - k, noise))
    # The Hessian's determinant runs over pairs i < j with i among the first k. Between values that are equal to
    # rounding the curvature is 0 and the approximation breaks down; such a pair counts as a parameter like any other.
    i, j = np.triu_indices(d, 1)
    i, j = i[i < k], j[i < k]
    curvature = (values[i] - values[j]) * (1 / smoothed[j] - 1 / smoothed[i])
    curvature[values[i] - values[j] <= 1e-12 * values[i]] = 1.0
    log_hessian = float(np.sum(np.log(curvature))) + len(i) * np.log(n)
    return log_volume + log_fit + 0.5 * (free + k) * np.log(2 * np.pi) - 0.5 * log_hessian - 0.5 * k * np.log(n)
