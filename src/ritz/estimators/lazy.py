"""Results of Dask collections that nobody has computed yet: dask arrays, or dataframes, with one task per chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.linalg.exponents import delivered
from ritz.rows import Rows
from ritz.rows.base import stack
from ritz.rows.scores import in_order
from ritz.runtime.threads import alone

Made = Callable[[Rows], Iterator[Array]]  # results of rows, block by block


@dataclass(frozen=True, eq=False)
class Work:
    """What the task of every chunk does. It holds the model, and is one key of the graph that all tasks share.

    Attributes
    ----------
    made : results of rows, block by block
    width : numbers of a row, None where a row becomes one that is no column
    dtype : of the results, whatever that of a chunk turns out to be
    """

    made: Made
    width: int | None
    dtype: np.dtype[Any]

    def __call__(self, chunk: Any, place: str) -> Array:
        from ritz.rows.dask.parts import rows_of

        n = int(chunk.shape[0])
        if not n:
            return np.empty((0,) if self.width is None else (0, self.width), self.dtype)
        rows = rows_of(chunk, place)
        try:
            with alone():
                return delivered(stack(iter(self.made(rows)), n), self.dtype)
        except DataError as error:
            raise error.at(place) from error


def scores(model: Any, X: Any) -> Any:
    """What `transform` gives, in what `set_output` asks for."""
    rows = known(model, X)
    Y = lazily(X, "transform", model._lean()._codes, model._n_features_out, rows.result_dtype)
    return contained(Y, X, model.get_feature_names_out(), model._container())


def rebuilt(model: Any, X: Any) -> Any:
    """What `inverse_transform` gives."""
    from ritz.rows.dask.source import described

    model._check_fitted()
    model._check_way_back()
    rows = in_order(described(X), model)
    model._check_width(rows)
    return lazily(X, "inverse-transform", Decoder(model._lean()), model.n_features_in_, rows.result_dtype)


def errors(model: Any, X: Any) -> Any:
    """What `reconstruction_error` gives."""
    known(model, X)
    model._check_way_back()
    return lazily(X, "reconstruction-error", model._lean()._errors, None)


def known(model: Any, X: Any) -> Rows:
    """What X says of its rows, once the model is fitted and their columns are the model's; nothing is computed."""
    from ritz.rows.dask.source import described

    model._check_fitted()
    rows = described(X)
    model._columns(X, rows, reset=False)
    return rows


@dataclass(frozen=True, eq=False)
class Decoder:
    """Rows from the scores of a chunk, whose columns may stand in any order where they have names."""

    model: Any

    def __call__(self, scores: Rows) -> Iterator[Array]:
        return iter(self.model._rebuilt(in_order(scores, self.model)))


def lazily(X: Any, verb: str, made: Made, width: int | None, dtype: Any = np.float64) -> Any:
    """A dask array of what is made of every chunk of X: chunks[0] is kept, what a row becomes is in one chunk."""
    import dask.array as da
    from dask.base import tokenize
    from dask.core import flatten
    from dask.delayed import delayed
    from dask.highlevelgraph import HighLevelGraph

    X = X.optimize() if hasattr(X, "columns") else X  # the expression that a dataframe is, as a graph
    work = Work(made, width, np.dtype(dtype))
    token = tokenize(X, work)
    shared = delayed(work, name=f"ritz-model-{token}", traverse=False)
    name, keys = f"ritz-{verb}-{token}", list(flatten(X.__dask_keys__()))
    counts = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * len(keys)
    ends, wide = (() if width is None else (0,)), (() if width is None else ((width,),))
    layer: dict[Any, Any] = {
        (name, i, *ends): (_task, shared.key, key, place)
        for i, (key, place) in enumerate(zip(keys, _places(counts), strict=True))
    }
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[X, shared])
    return da.Array(graph, name, (tuple(counts), *wide), meta=np.empty((0,) * (1 + len(ends)), work.dtype))


def _task(work: Work, chunk: Any, place: str) -> Array:
    return work(chunk, place)


def _places(counts: Sequence[float]) -> Iterator[str]:
    """What to call every chunk in a message, and the row that it begins with where that is known."""
    for i, start in enumerate(accumulate(counts[:-1], initial=0)):
        yield f"chunk {i}" if np.isnan(start) else f"chunk {i}, from row {int(start)} on"


def contained(Y: Any, X: Any, names: Sequence[str], container: str) -> Any:
    """Scores in what `set_output` asks for: "default" is a dask array, "pandas" a dask dataframe with X's index."""
    if container == "default":
        return Y
    if container != "pandas":
        raise ValueError(f"set_output(transform={container!r}) is not for Dask; 'pandas' gives a dask dataframe")
    import dask.dataframe as dd

    index = X.index if hasattr(X, "columns") else None
    return dd.from_dask_array(Y, columns=list(names), index=index)
