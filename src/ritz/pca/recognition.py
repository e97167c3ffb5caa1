"""Recognition by the nearest neighbour: how often it has the same label, in few components and in all columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array, eigh_descending
from ritz.rows import Rows
from ritz.rows.base import Block, dense
from ritz.runtime.threads import pinned
from ritz.spectrum.subspace import Subspace

MOST_ROWS = 1000  # that are compared with each other
MOST_WORK = 8e9  # rows² × columns that the distances in all columns may take
SLICE = 1024  # columns that are centred at a time
EVERY, GROWTH = 20, 1.1  # every number of components is tried up to the first, then each so many times the one before
SEED = 0
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Recognition:
    """How many rows have the label of their nearest neighbour among all others that were compared.

    The axes are those of the fit, learned from all rows without their labels.

    Attributes
    ----------
    counts : numbers of components that were tried, ascending; those beyond `kept` only where these are not enough
    right : rows recognised with each
    in_columns : rows recognised in all columns, preprocessed as for the fit
    kept : components of the model
    asked : rows that can be recognised, because another one has their label
    compared, rows : rows that were compared, a random part of all rows where those are many
    """

    counts: tuple[int, ...]
    right: tuple[int, ...]
    in_columns: int
    kept: int
    asked: int
    compared: int
    rows: int

    @property
    def enough(self) -> int:
        """The fewest components that recognise as many rows as all columns do; more than are kept if these do not."""
        least = self.kept if self.in_kept < self.in_columns else 0
        tried = zip(self.counts, self.right, strict=True)
        return next(count for count, right in tried if count > least and right >= self.in_columns)

    @property
    def in_kept(self) -> int:
        """Rows recognised with the components of the model."""
        return self.right[self.counts.index(self.kept)]


def recognition(subspace: Subspace, rows: Rows, codes: Codes) -> Recognition | None:
    """Leave-one-out recognition of rows, whose kinds are `codes`, −1 for none; None where kinds do not repeat.

    Examples
    --------
    >>> from ritz import PCA
    >>> from ritz.rows import as_rows
    >>> X = as_rows([[0.0, 0.0], [9.0, 2.0], [0.0, 1.0], [9.0, 1.0]])
    >>> found = recognition(PCA(1).fit(X).subspace_, X, np.array([0, 1, 0, 1]))
    >>> found.in_kept, found.in_columns, found.asked
    (4, 4, 4)
    """
    places = _some(codes, rows.shape)
    kinds, repeated = codes[places], np.bincount(codes[places], minlength=1) > 1
    asked = repeated[kinds]
    if repeated.sum() < 2 or 2 * asked.sum() < len(kinds):
        return None
    with pinned(), np.errstate(all="ignore"):
        X = rows.take(places)
        Y = subspace.encode(X, np.float64) / subspace.unit
        inside, left = Y @ Y.T, _gram_outside(subspace, X, Y)
        in_columns = _recognised(inside + left, kinds, asked)
        tried = dict(_each(Y, np.zeros_like(left), 0, kinds, asked))
        k = Y.shape[1]
        if tried[k] < in_columns:
            more = dict(_each(_scores(left), inside, k, kinds, asked))
            tried |= {**more, max(more): in_columns}  # all of them are all columns, but for rounding
    numbers = int(asked.sum()), len(kinds), rows.shape[0]
    return Recognition(tuple(tried), tuple(tried.values()), in_columns, k, *numbers)


def _some(codes: Codes, shape: tuple[int, int]) -> Codes:
    """Rows with a label, or a random part of them, in order."""
    places = np.flatnonzero(codes >= 0)
    most = min(MOST_ROWS, int((MOST_WORK / shape[1]) ** 0.5))
    if len(places) > most:
        places = np.sort(np.random.default_rng(SEED).choice(places, most, replace=False))
    return places


def _gram_outside(subspace: Subspace, X: Block, Y: Array) -> Array:  # (m, d), (m, k) -> (m, m)
    """Inner products of what the subspace leaves out of rows, in its unit."""
    d, total = X.shape[1], np.zeros((len(Y), len(Y)))
    for start in range(0, d, SLICE):
        part = slice(start, min(start + SLICE, d))
        Z = dense(X[:, part]).astype(np.float64)
        Z -= 0.0 if subspace.mean is None else subspace.mean[part]
        Z /= subspace.unit if subspace.scale is None else subspace.unit * subspace.scale[part]
        Z -= Y @ subspace.axes[part].T
        total += Z @ Z.T
    return total


def _scores(gram: Array) -> Array:
    """Points with these inner products, in the coordinates of their principal components, but for rounding."""
    values, vectors = eigh_descending(gram)
    some = max(1, int(np.count_nonzero(values > len(gram) * np.finfo(float).eps * values[0])))
    return vectors[:, :some] * np.sqrt(np.maximum(values[:some], 0.0))


def _each(Y: Array, gram: Array, before: int, kinds: Codes, asked: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Numbers of components and rows recognised with them: scores Y follow `before` others with these products."""
    for start, stop in pairwise(_grid(before, before + Y.shape[1])):
        part = Y[:, start - before : stop - before]
        gram = gram + part @ part.T
        yield stop, _recognised(gram, kinds, asked)


def _grid(start: int, stop: int) -> list[int]:
    """All numbers up to some, then ever fewer of them, and the last."""
    found = [start]
    while found[-1] < stop:
        found.append(min(stop, found[-1] + 1 if found[-1] < EVERY else int(found[-1] * GROWTH)))
    return found


def _recognised(gram: Array, kinds: Codes, asked: NDArray[np.bool_]) -> int:
    """How many rows have the kind of the nearest other one, ‖a − b‖² = ‖a‖² + ‖b‖² − 2 aᵀb."""
    distances = np.diagonal(gram) - 2 * gram  # less ‖a‖², the same for all others
    np.fill_diagonal(distances, np.inf)
    return int(np.count_nonzero((kinds[distances.argmin(axis=1)] == kinds) & asked))
