"""Lazy results of a dask array whose columns are cut into chunks: sums over the chunks that a row lies in.

Scores are Σ Uⱼᵀzⱼ over the chunks j of columns, where Uⱼ is the model's share of them: a task needs no more of the
model than that, and trees of sums add up what tasks come to. Squared errors, Σ ‖zⱼ − Uⱼ y‖², need the scores first, and
so every chunk twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.linalg.exponents import delivered, times_power
from ritz.pca.gaussian import Gaussian
from ritz.rows.base import stack
from ritz.rows.dask.graphs import Key
from ritz.rows.dask.groups import bundles
from ritz.rows.dask.parts import of_chunk
from ritz.rows.dask.source import BUNDLE
from ritz.spectrum.subspace import Subspace


def scores(model: Any, X: Any, dtype: np.dtype[Any]) -> Any:
    """What `transform` gives."""
    sums = ColumnSums(model, X, "transform")
    subspace: Subspace = model.subspace_
    ending = partial(_whitened, subspace.whitening) if model.whiten else partial(_measured, subspace.power)
    return sums.array(partial(_given, ending, dtype), sums.scores(), width=subspace.axes.shape[1], dtype=dtype)


def errors(model: Any, X: Any) -> Any:
    """What `reconstruction_error` gives."""
    sums = ColumnSums(model, X, "reconstruction-error")
    return sums.array(partial(_measured, 2 * model.subspace_.power), sums.errors(sums.scores()))


def likelihoods(model: Any, X: Any) -> Any:
    """What `score_samples` gives."""
    sums = ColumnSums(model, X, "score-samples")
    Y = sums.scores()
    return sums.array(partial(_likelihood, Gaussian(model.subspace_)), Y, sums.errors(Y))


class ColumnSums:
    """A graph in the making: tasks for every chunk of X, and for every row of chunks the sum of what they come to."""

    def __init__(self, model: Any, X: Any, verb: str) -> None:
        from dask.base import tokenize

        subspace: Subspace = model.subspace_
        self._X, self._name = X, f"ritz-{verb}-{tokenize(X, subspace, bool(model.whiten))}"
        self._layer: dict[Key, Any] = {}
        self._held: list[Any] = []
        ends = [0, *np.cumsum(X.chunks[1]).tolist()]
        self._shares = {
            j: self._hold(subspace.columns(slice(*some)), f"model-{j}")
            for j, some in enumerate(pairwise(ends))
            if some[0] < some[1]
        }

    def scores(self) -> list[Key]:
        """Keys of Σ Uⱼᵀzⱼ in the unit of the model, one for every row of chunks."""
        return self._summed("scores", lambda i, j, chunk: (_score, self._shares[j], chunk, f"chunk [{i}, {j}]"))

    def errors(self, Y: Sequence[Key]) -> list[Key]:
        """Keys of Σ ‖zⱼ − Uⱼ y‖² with these scores, in the square of that unit."""
        return self._summed("errors", lambda i, j, chunk: (_error, self._shares[j], chunk, f"chunk [{i}, {j}]", Y[i]))

    def array(self, ending: Callable[..., Array], *keys: Sequence[Key], width: int = 0, dtype: Any = np.float64) -> Any:
        """A dask array of what becomes of the sums, with a chunk for every row of chunks; of rows without a width, a
        number for each."""
        import dask.array as da
        from dask.highlevelgraph import HighLevelGraph

        made, ends = self._hold(ending, "ending"), (0,) if width else ()
        for i, sums in enumerate(zip(*keys, strict=True)):
            self._layer[(self._name, i, *ends)] = (_call, made, *sums)
        graph = HighLevelGraph.from_collections(self._name, self._layer, dependencies=[self._X, *self._held])
        chunks = (self._X.chunks[0], *([(width,)] if width else []))
        return da.Array(graph, self._name, chunks, meta=np.empty((0,) * len(chunks), dtype))

    def _summed(self, what: str, task: Callable[[int, int, Key], Any]) -> list[Key]:
        return [self._sum(what, i, row, task) for i, row in enumerate(self._X.__dask_keys__())]

    def _sum(self, what: str, i: int, row: Sequence[Key], task: Callable[[int, int, Key], Any]) -> Key:
        """The key of a tree of sums, of which a task adds up a bundle."""
        name, height = f"{self._name}-{what}", 0
        level = [(name, i, height, j) for j in self._shares]
        self._layer |= {(name, i, height, j): task(i, j, row[j]) for j in self._shares}
        while len(level) > 1:
            some, level, height = level, [], height + 1
            for j, bundle in enumerate(bundles(some, BUNDLE)):
                level.append((name, i, height, j))
                self._layer[level[-1]] = (sum, bundle)
        return level[0]

    def _hold(self, value: Any, what: str) -> str:
        """The key under which all tasks find it."""
        from dask.delayed import delayed

        self._held.append(delayed(value, name=f"{self._name}-{what}", traverse=False))
        return str(self._held[-1].key)


def _call(ending: Callable[..., Array], *sums: Array) -> Array:
    return ending(*sums)


def _score(share: Subspace, chunk: Any, place: str) -> Array:  # (m, w) -> (m, k)
    if not chunk.shape[0]:
        return np.empty((0, share.axes.shape[1]))
    return of_chunk(lambda rows: stack(share.shares(rows), rows.shape[0]), chunk, place)


def _error(share: Subspace, chunk: Any, place: str, Y: Array) -> Array:  # (m, w), (m, k) -> (m,)
    return of_chunk(lambda rows: share.misfits(rows, Y), chunk, place) if len(Y) else np.empty(0)


def _given(ending: Callable[[Array], Array], dtype: np.dtype[Any], Y: Array) -> Array:
    return delivered(ending(Y), dtype)


def _whitened(weight: Array, Y: Array) -> Array:
    return Y * weight


def _measured(power: int, sums: Array) -> Array:
    """In the units of the data."""
    return np.asarray(times_power(sums, power))


def _likelihood(gaussian: Gaussian, Y: Array, outside: Array) -> Array:
    return gaussian.likelihood(Y, outside, np.full(len(Y), gaussian.subspace.power))
