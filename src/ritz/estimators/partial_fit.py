"""Rows that arrive in batches, and models of parts: moments or sketches are merged, axes computed when asked for."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ritz.errors import AccuracyWarning, DataError, NotYetError
from ritz.estimators.columns import Columns
from ritz.estimators.fitted import LEARNED, complaints
from ritz.fitting.request import check_at_hand, checked_components
from ritz.moments.moments import Moments
from ritz.moments.sketch import Stream
from ritz.pca.from_stream import from_stream, taken_in, together
from ritz.rows import as_rows
from ritz.rows.columns import known_columns, order_of

if TYPE_CHECKING:
    from ritz.estimators.pca import PCA

COLUMNS = ("n_features_in_", "feature_names_in_", "_column_keys")  # what a model knows of its columns


class Batches(Columns):
    """partial_fit, for an estimator that can adopt a decomposition."""

    _moments: Moments | Stream | None = None  # of the rows so far, or their sketch, where the model carries them
    _dtype: np.dtype[Any] = np.dtype(np.float64)  # of the results
    n_components: Any
    _request: Any
    _adopt: Any

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> Self:
        """Take in a batch of rows, of any size. y and check_input are ignored.

        Only moments are updated; axes are computed when they are asked for. The result is that of one fit on all rows,
        whatever the batches. With svd_solver="svd" the moments hold the triangle of the rows instead of their scatter:
        slower, and with all the digits of small variances.
        Nothing is written to a batch that is an AnnData object; ``transform`` does that.

        Where moments, d×d, would exceed `memory_limit`, a sketch of the rows takes their place from the first batch on
        (Frequent Directions). It lacks at most `certificate_.missing` of the variance in any direction; all bounds of
        the certificate contain that, and the fit warns if it is more than `tol` allows. The sketch keeps as many
        directions as memory and `n_components` of the first batch decide. scale=True and "mle" need the moments,
        "auto" the rows themselves.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((100, 3)) * [3, 2, 1]
        >>> pca = PCA(2).partial_fit(X[:1]).partial_fit(X[1:60]).partial_fit(X[60:])
        >>> bool(np.allclose(pca.explained_variance_, PCA(2).fit(X).explained_variance_))
        True
        """
        request, fresh = self._request(), "n_features_in_" not in self.__dict__
        check_at_hand(request.n_components, "partial_fit keeps no rows")
        if not fresh and self._moments is None:
            raise ValueError(
                "this model kept no moments to add to, because of the solver or the number of columns; start a new one "
                "with partial_fit"
            )
        if len(shape := tuple(getattr(X, "shape", ()))) == 2 and shape[0] == 0:
            if not fresh:
                self._columns_alone(X)
            return self
        rows = as_rows(X) if fresh else self._like_fitted(X)
        if not fresh:
            self._columns(X, rows, reset=False)
        found = taken_in(self._moments, rows, request)
        if fresh:
            self._columns(X, rows, reset=True)
        self._resume(found, rows.result_dtype if fresh else np.result_type(self._dtype, rows.result_dtype))
        return self

    def _resume(self, found: Moments | Stream, dtype: np.dtype[Any]) -> None:
        """Stand on these moments in one step; what was computed from others is gone."""
        kept = {name: value for name, value in self.__dict__.items() if name not in LEARNED}
        self.__dict__ = kept | {"_moments": found, "_dtype": dtype, "n_samples_seen_": found.count}

    def _settle(self) -> bool:
        """Compute the axes from the moments of all batches so far; False where there is nothing to compute."""
        if self._moments is None or "subspace_" in self.__dict__:
            return False
        try:
            fitted = from_stream(self._moments, self._request(), self._column_name)
        except ValueError as error:  # an attribute that is not there yet, as far as hasattr is concerned
            raise NotYetError(str(error)) from error
        for message in complaints(fitted, self.n_components):
            warnings.warn(message, AccuracyWarning, stacklevel=4)
        self._adopt(fitted, self._dtype)
        return True


def merge(models: Iterable[PCA]) -> PCA:
    """The model of all rows, from models of parts of them: equal to one fit on the whole.

    Models that partial_fit sketched, because their moments would exceed `memory_limit`, merge with each other: their
    bounds add up.

    Parameters
    ----------
    models : PCA fitted on rows with the same columns, in any order if they have names, and the same preprocessing; the
        first one's parameters are kept

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import PCA
    >>> X = np.random.default_rng(0).standard_normal((100, 3)) * [3, 2, 1]
    >>> whole = merge([PCA(2).fit(X[:40]), PCA(2).fit(X[40:])])
    >>> bool(np.allclose(whole.explained_variance_, PCA(2).fit(X).explained_variance_))
    True
    """
    parts = list(models)
    if not parts:
        raise ValueError("nothing to merge: the list of models is empty")
    asked = getattr(parts[0], "n_components", None)
    check_at_hand(asked, "models to merge hold no rows (set_params changes it)")
    found = reduce(together, [_mergeable(model, parts[0], i) for i, model in enumerate(parts)])
    checked_components(asked, parts[0].n_features_in_, parts[0].n_features_in_)
    whole: PCA = clone(parts[0])
    whole.__dict__.update({name: parts[0].__dict__[name] for name in COLUMNS if name in parts[0].__dict__})
    whole._resume(found, np.result_type(*(model._dtype for model in parts)))
    return whole


def _mergeable(model: Any, first: Any, i: int) -> Moments | Stream:
    """The moments, or the sketch, of a PCA that has the columns and preprocessing of the first."""
    if not isinstance(model, Batches):
        raise TypeError(f"model {i} is a {type(model).__name__}; only PCA models merge")
    if model._moments is None:
        check_is_fitted(model)
        raise DataError(f"model {i} carries no moments, because of its solver or its columns; use partial_fit for it")
    if model.n_features_in_ != first.n_features_in_:
        raise DataError(f"model {i} has {model.n_features_in_} columns, model 0 has {first.n_features_in_}")
    for parameter in ("center", "scale", "ddof"):
        theirs, ours = getattr(model, parameter), getattr(first, parameter)
        if ours != theirs:
            raise DataError(f"model {i} has {parameter}={theirs!r}, model 0 has {parameter}={ours!r}")
    names, expected = known_columns(model), known_columns(first)
    if (names is None) != (expected is None):
        raise DataError(f"only one of model 0 and model {i} knows the names of its columns")
    order = None if names is None or expected is None else order_of(names, expected, f"model {i}")
    return model._moments if order is None else model._moments.reordered(order)
