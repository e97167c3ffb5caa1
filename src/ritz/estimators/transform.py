"""From rows to scores and back, stacked in memory or streamed into a file."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz.errors import DataError
from ritz.estimators import anndata
from ritz.estimators.columns import Columns
from ritz.linalg.dense import Array
from ritz.rows import Rows, as_rows
from ritz.rows.base import Block, dense, stack
from ritz.rows.finite import check_finite
from ritz.rows.scores import in_order
from ritz.rows.write.tables import Out, Results, deliver
from ritz.spectrum.subspace import Subspace


class Coding(Columns, TransformerMixin):
    """transform, inverse_transform and reconstruction_error of a model that has a subspace."""

    subspace_: Subspace
    n_components_: int
    whiten: bool
    get_feature_names_out: Any

    def transform(self, X: Any, *, out: Out | None = None) -> Any:
        """Scores y = Uᵀ((x − mean)/scale), one row each; divided by their standard deviations when whitening.

        With `out`, the path of a .npy, .parquet, .arrow, .csv or .tsv file, or a function that is given one block
        of scores after another, nothing is returned and memory stays bounded however many rows there are.
        An AnnData object keeps the scores in ``obsm["X_pca"]`` too, beside the axes and the certificate.
        """
        if out is None:
            anndata.check(X)
            return self._scores(X, self._known(X))
        return self._scores_into(X, out)

    def _scores_into(self, X: Any, out: Out) -> None:
        rows = self._known(X)
        names = tuple(map(str, self.get_feature_names_out()))
        deliver(Results(self.codes(rows), rows.shape[0], names, rows.result_dtype), out, files_of(X, rows))

    def _scores(self, X: Any, rows: Rows) -> Any:
        Y = stack(self.codes(rows), rows.shape[0])
        anndata.note(self, X, Y)
        return anndata.named(self, X, Y)

    def codes(self, rows: Rows) -> Generator[Array, None, None]:
        """Scores of rows whose columns are the model's, block by block."""
        return self.subspace_.codes(rows, whiten=bool(self.whiten))

    def inverse_transform(self, X: Any, *, out: Out | None = None) -> Any:
        """x̂ = scale ⊙ (U y) + mean from scores y; `out` as in `transform`.

        Scores in a table are told apart by the names of its columns, pca0, pca1, … or PC1, PC2, …, in any order.
        """
        check_is_fitted(self)
        rows = in_order(as_rows(X), self)
        known = self.__dict__.get("feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        names = tuple(map(str, known))
        return _given(lambda: self.rebuilt(rows), rows, names, rows.result_dtype, out, X)

    def rebuilt(self, scores: Rows) -> Generator[Array, None, None]:
        """Rows from scores, block by block."""
        if scores.shape[1] != self.n_components_:
            raise DataError(f"scores have {scores.shape[1]} columns, the model has {self.n_components_} components")
        check_finite(scores)

        def decode(Y: Block) -> Array:
            return self.subspace_.decode(dense(Y).astype(scores.result_dtype, copy=False), bool(self.whiten))

        return scores.each(decode)

    def reconstruction_error(self, X: Any, *, out: Out | None = None) -> Any:
        """Squared distance of every row to the subspace, in preprocessed units; `out` as in `transform`."""
        rows = self._known(X)
        return _given(lambda: self.subspace_.errors(rows), rows, ("error",), np.dtype(np.float64), out, X)


def _given(
    compute: Callable[[], Generator[Array, None, None]],
    rows: Rows,
    names: tuple[str, ...],
    dtype: np.dtype[Any],
    out: Out | None,
    source: Any,
) -> Array | None:
    """Results stacked, or one after another to where they should go."""
    if out is None:
        return stack(compute(), rows.shape[0])
    deliver(Results(compute(), rows.shape[0], names, dtype), out, files_of(source, rows))
    return None


def files_of(X: Any, rows: Rows) -> list[str]:
    """The files that rows are read from, which no result may replace."""
    mapped = getattr(X, "filename", None) if isinstance(X, np.memmap) else None
    return [path for path, *_ in rows.origin[0]] if rows.origin else [str(mapped)] if mapped else []


def _unless_streamed(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """scikit-learn makes a table of whatever transform returns; with `out` there is nothing to make one of."""

    @wraps(wrapped)
    def transform(self: Coding, X: Any, *, out: Out | None = None) -> Any:
        return wrapped(self, X) if out is None else self._scores_into(X, out)

    return transform


Coding.transform = _unless_streamed(Coding.transform)  # type: ignore[method-assign]
