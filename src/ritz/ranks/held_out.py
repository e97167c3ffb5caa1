"""Bi-cross-validation: how well so many components predict cells that were held out.

Rows and columns are halved at random. Of the four blocks

    A  B     rows that are held out
    C  D     the others

the cells of A are predicted by B Dₖ⁺ C, with Dₖ the k leading components of D: neither the rows nor the columns of A
took part in them (Owen and Perry, Ann. Appl. Stat. 3, 2009). To hold out rows alone would not do: a row that is
projected has seen its own cells.

All that it takes are the scatter matrices of the two halves of the rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array, eigh_descending

Indices = NDArray[np.integer]
MOST = 100  # components that are tried
SPLITS, FEW_SPLITS, MANY = 12, 2, 200  # halvings of the columns, and of more columns than that
NEGLIGIBLE = 1e-12  # share of the largest variance of D below which its components are rounding


def errors(halves: Array, seed: int, centred: bool = False) -> Array:  # (2, d, d) -> (k + 1,)
    """Sums of squared errors over all cells with 0, 1, … components.

    Where the lines that are halved were `centred` together, they sum to 0, and those kept tell something of those held
    out even if all are noise: both are centred anew, each about its own mean.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = 3 * np.outer(rng.standard_normal(60), rng.standard_normal(12)) + rng.standard_normal((60, 12))
    >>> int(np.argmin(errors(np.stack([X[:30].T @ X[:30], X[30:].T @ X[30:]]), 0)))
    1
    """
    d = halves.shape[1]
    most, rng = min(MOST, d // 2), np.random.default_rng([seed, d])
    total: Array = np.zeros(most + 1)
    for _ in range(SPLITS if d <= MANY else FEW_SPLITS):
        order = rng.permutation(d)
        for out, others in ((0, 1), (1, 0)):
            for held, kept in ((order[: d // 2], order[d // 2 :]), (order[d // 2 :], order[: d // 2])):
                ours, theirs = (_apart(halves[i], held, kept) if centred else halves[i] for i in (out, others))
                total = total + _block(ours, theirs, held, kept, most)
    return total


def _apart(K: Array, *parts: Indices) -> Array:
    """Inner products of lines about the mean of each of these parts."""
    P = np.eye(len(K))
    for part in parts:
        P[np.ix_(part, part)] -= 1.0 / len(part)
    return np.asarray(P @ K @ P)


def _block(out: Array, others: Array, held: Indices, kept: Indices, most: int) -> Array:
    """‖A − B Dₖ⁺ C‖² for k = 0, 1, …: with D = U Σ Vᵀ the prediction is Σₐ (B vₐ) wₐᵀ, wₐ = Cᵀ D vₐ / σₐ²."""
    values, V = eigh_descending(np.ascontiguousarray(others[np.ix_(kept, kept)]), most)
    sure = values > NEGLIGIBLE * max(values[0], 0.0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=sure)
    W = (others[np.ix_(held, kept)] @ V) * inverse  # (held, k)
    gain = np.einsum("ja,ja->a", out[np.ix_(held, kept)] @ V, W)
    spent = (V.T @ out[np.ix_(kept, kept)] @ V) * (W.T @ W)
    # The sum of the leading a×a entries grows by twice a row of them, and the corner.
    corner = np.cumsum(np.tril(spent, -1).sum(axis=1) * 2 + spent.diagonal())
    found = np.zeros(most + 1)
    whole = float(np.trace(out[np.ix_(held, held)]))
    found[1 : len(gain) + 1] = corner - 2 * np.cumsum(gain)
    found[len(gain) + 1 :] = found[len(gain)]
    return np.asarray(found + whole)
