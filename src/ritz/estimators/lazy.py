"""Results of Dask collections that nobody has computed yet: dask arrays, or dataframes, with one task per chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from ritz.estimators import lazy_columns
from ritz.linalg.dense import Array
from ritz.linalg.exponents import delivered
from ritz.rows import Rows
from ritz.rows.base import stack
from ritz.rows.scores import in_order

OfRows = Callable[[Rows], Iterator[Array]]  # results of rows, block by block


@dataclass(frozen=True, eq=False)
class Work:
    """What the task of every chunk does. It holds the model, and is one key of the graph that all tasks share.

    Attributes
    ----------
    of_rows : results of rows, block by block
    width : numbers of a row, None where a row becomes one that is no column
    dtype : of the results, whatever that of a chunk turns out to be
    """

    of_rows: OfRows
    width: int | None
    dtype: np.dtype[Any]

    def __call__(self, chunk: Any, place: str) -> Array:
        from ritz.rows.dask.parts import of_chunk

        n = int(chunk.shape[0])
        if not n:
            return np.empty((0,) if self.width is None else (0, self.width), self.dtype)
        return of_chunk(lambda rows: delivered(stack(iter(self.of_rows(rows)), n), self.dtype), chunk, place)


def scores(model: Any, X: Any) -> Any:
    """What `transform` gives, in what `set_output` asks for: "default" is an array, "pandas" a dask dataframe."""
    rows, container = compared(model, X), model._container()
    if container not in ("default", "pandas"):
        raise ValueError(f"set_output(transform={container!r}) is not for Dask; 'pandas' gives a dask dataframe")
    names = list(model.get_feature_names_out())
    if _by_columns(model, X):
        found = lazy_columns.scores(model, X, rows.result_dtype)
        return found if container == "default" else _framed(found, names)
    work = Work(model._lean()._codes, model._n_features_out, rows.result_dtype)
    return _array(X, "transform", work) if container == "default" else _dataframe(X, "transform", work, names)


def rebuilt(model: Any, X: Any) -> Any:
    """What `inverse_transform` gives."""
    from ritz.rows.dask.source import described

    model._check_fitted()
    model._check_way_back()
    rows = in_order(described(X), model)
    model._check_width(rows)
    return array(X, "inverse-transform", Decoder(model._lean()), model.n_features_in_, rows.result_dtype)


def errors(model: Any, X: Any) -> Any:
    """What `reconstruction_error` gives."""
    compared(model, X)
    model._check_way_back()
    if _by_columns(model, X):
        return lazy_columns.errors(model, X)
    return array(X, "reconstruction-error", model._lean()._errors, None)


def likelihoods(model: Any, X: Any) -> Any:
    """What `score_samples` gives."""
    compared(model, X)
    if _by_columns(model, X):
        return lazy_columns.likelihoods(model, X)
    return array(X, "score-samples", model._lean()._likelihoods, None)


def _by_columns(model: Any, X: Any) -> bool:
    """Whether chunks hold no whole rows, and the model can do without."""
    from ritz.rows.dask.source import are_columns_cut

    return model._sums_columns and are_columns_cut(X)


def compared(model: Any, X: Any) -> Rows:
    """What X says of its rows, once the model is fitted and their columns are the model's; nothing is computed."""
    from ritz.rows.dask.source import described

    model._check_fitted()
    rows = described(X)
    model._compare_columns(X, rows)
    return rows


@dataclass(frozen=True, eq=False)
class Decoder:
    """Rows from the scores of a chunk, whose columns may stand in any order where they have names."""

    model: Any

    def __call__(self, scores: Rows) -> Iterator[Array]:
        return iter(self.model._rebuilt(in_order(scores, self.model)))


def array(X: Any, verb: str, of_rows: OfRows, width: int | None, dtype: Any = np.float64) -> Any:
    """A dask array of what becomes of the rows of every chunk of X; `verb` is in the names of its tasks."""
    return _array(X, verb, Work(of_rows, width, np.dtype(dtype)))


def _array(X: Any, verb: str, work: Work) -> Any:
    """A dask array with a chunk for every chunk of X: chunks[0] is kept, what a row becomes is in one chunk."""
    import dask.array as da
    from dask.core import flatten
    from dask.highlevelgraph import HighLevelGraph

    from ritz.rows.dask.graphs import optimized
    from ritz.rows.dask.source import check_whole

    check_whole(X, verb.replace("-", "_"))
    X = optimized(X) if hasattr(X, "columns") else X  # the expression that a dataframe is, as a graph
    shared, token = _shared_key(X, work)
    name, keys = f"ritz-{verb}-{token}", list(flatten(X.__dask_keys__()))
    counts = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * len(keys)
    ends, wide = ((), ()) if work.width is None else ((0,), ((work.width,),))
    layer: dict[Any, Any] = {
        (name, i, *ends): (_task, shared.key, key, place)
        for i, (key, place) in enumerate(zip(keys, _places(counts), strict=True))
    }
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[X, shared])
    return da.Array(graph, name, (tuple(counts), *wide), meta=np.empty((0,) * (1 + len(ends)), work.dtype))


def _dataframe(X: Any, verb: str, work: Work, names: list[str]) -> Any:
    """A dask dataframe with these columns, and the index of X where X is one."""
    import pandas as pd

    if not hasattr(X, "columns"):
        return _framed(_array(X, verb, work), names)
    meta = pd.DataFrame(np.empty((0, len(names)), work.dtype), X._meta.index, names)
    return X.map_partitions(_chunk_as_table, _shared_key(X, work)[0], names, meta=meta, token=f"ritz-{verb}")


def _framed(x: Any, names: list[str]) -> Any:
    """A dask array as a dask dataframe."""
    import dask.dataframe as dd

    return dd.from_dask_array(x, columns=names)


def _shared_key(X: Any, work: Work) -> tuple[Any, str]:
    """The work as one key of a graph, and what sets it apart from other work and other data."""
    from dask.base import tokenize
    from dask.delayed import delayed

    token = tokenize(X, work)
    return delayed(work, name=f"ritz-model-{token}", traverse=False), token


def _task(work: Work, chunk: Any, place: str) -> Array:
    return work(chunk, place)


def _chunk_as_table(chunk: Any, work: Work, names: list[str], partition_info: Any = None) -> Any:
    import pandas as pd

    place = f"chunk {partition_info['number']}" if partition_info else "a chunk"
    return pd.DataFrame(work(chunk, place), chunk.index, names)


def _places(counts: Sequence[float]) -> Iterator[str]:
    """What to call every chunk in a message, and the row that it begins with where that is known."""
    for i, start in enumerate(accumulate(counts[:-1], initial=0)):
        yield f"chunk {i}" if np.isnan(start) else f"chunk {i}, from row {int(start)} on"
