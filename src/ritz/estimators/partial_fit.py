"""Rows that arrive in batches, and models of parts: moments or sketches are merged, axes computed when asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ritz.errors import DataError, NotYetError
from ritz.estimators import diagnostics
from ritz.estimators.base import Certified
from ritz.fitting.request import Request, check_at_hand, checked_components
from ritz.moments.moments import Moments
from ritz.moments.sketch import Stream
from ritz.pca.from_moments import from_moments, taken_in, together
from ritz.pca.state import PCAState, state_of
from ritz.rows import Rows, is_dask
from ritz.rows.columns import model_columns, order_of

if TYPE_CHECKING:
    from ritz.estimators.pca import PCA


class Batches(Certified[PCAState | None]):
    """partial_fit, for an estimator whose state may be moments alone."""

    n_components: Any

    @abstractmethod
    def _request(self) -> Request:
        """The numerical parameters, checked."""

    @property
    def _moments(self) -> Moments | Stream | None:
        """Of the rows so far, or their sketch, where the model carries them."""
        return None if self._state is None else self._state.moments

    @property
    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self._state is None else self._state.dtype)

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> Self:
        """Take in a batch of rows, of any size. y and check_input are ignored.

        Only moments are updated; axes are computed when they are asked for. The result is that of one fit on all rows,
        whatever the batches. With svd_solver="svd" the moments hold the R factor of the rows instead of their scatter:
        slower, and with all the digits of small variances.
        Nothing is written to a batch that is an AnnData object; ``transform`` does that. Batches that are dask arrays
        or dataframes are summed where they lie.

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
        rows = self._batch(X, fresh)
        if rows is None:
            return self
        rows.check_whole("partial_fit")
        found = rows.near(taken_in, self._moments, request)
        if fresh:
            self._remember_columns(X, rows)
            self._settle_in(rows.home)
        dtype = rows.result_dtype if fresh else np.result_type(self._dtype, rows.result_dtype)
        self._resume(found, dtype, *((rows.image_shape, rows.white) if fresh else self._pictures))
        return self

    def _batch(self, X: Any, fresh: bool) -> Rows | None:
        """The rows of a batch, None where it has none."""
        if is_dask(X) or len(shape := tuple(getattr(X, "shape", ()))) != 2 or shape[0]:
            try:
                return self._opened(X) if fresh else self._known(X)
            except DataError as error:  # of a collection that did not know how many rows it has
                if error.code != "no_rows":
                    raise
        if not fresh:
            self._compare_without_rows(X)
        return None

    @property
    def _pictures(self) -> tuple[tuple[int, ...] | None, float | None]:
        """The shape of the pictures that the rows are, and their white."""
        return (None, None) if self._state is None else (self._state.image_shape, self._state.white)

    def _resume(
        self, found: Moments | Stream, dtype: np.dtype[Any], image_shape: tuple[int, ...] | None, white: float | None
    ) -> None:
        """Stand on these moments; what was computed from others is gone."""
        pictures: dict[str, Any] = {"image_shape": image_shape, "white": white}
        self._adopt(PCAState(dtype.name, self.n_features_in_, moments=found, **pictures))

    def _settle(self) -> bool:
        """Compute the axes from the moments of all batches so far; False where there is nothing to compute."""
        if self._moments is None or "subspace_" in self.__dict__:
            return False
        names = model_columns(self)
        try:
            fitted = from_moments(self._moments, self._request(), lambda j: str(j) if names is None else repr(names[j]))
        except ValueError as error:  # an attribute that is not there yet, as far as hasattr is concerned
            raise NotYetError(str(error)) from error
        self._warn(diagnostics.of_pca(fitted, self.n_components))
        image_shape, white = self._pictures
        self._adopt(replace(state_of(fitted, self._dtype), image_shape=image_shape, white=white))
        return True

    def _stored_state(self) -> PCAState | None:
        """The moments alone where axes cannot be computed from them yet."""
        with suppress(NotYetError):
            self._settle()
        return self._state


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
    whole = parts[0]._twin()
    whole._remember_those_of(parts[0])
    whole._settle_in(parts[0]._home)
    same = len({model._pictures for model in parts}) == 1
    pictures = parts[0]._pictures if same else (None, None)
    whole._resume(found, np.result_type(*(model._dtype for model in parts)), *pictures)
    return whole


def _mergeable(model: Any, first: Any, i: int) -> Moments | Stream:
    """The moments, or the sketch, of a PCA that has the columns and preprocessing of the first."""
    if not isinstance(model, Batches):
        raise TypeError(f"model {i} has the type {type(model).__name__}; only PCA models merge")
    if model._moments is None:
        model._check_fitted()
        raise DataError(f"model {i} carries no moments, because of its solver or its columns; use partial_fit for it")
    if model.n_features_in_ != first.n_features_in_:
        raise DataError(f"model {i} has {model.n_features_in_} columns, model 0 has {first.n_features_in_}")
    for parameter in ("center", "scale", "ddof"):
        theirs, ours = getattr(model, parameter), getattr(first, parameter)
        if ours != theirs:
            plain = f"models 0 and {i} were fitted with different settings: {parameter} is {ours} and {theirs}"
            problem = f"model {i} has {parameter}={theirs!r}, model 0 has {parameter}={ours!r}"
            raise DataError(problem, "fit one of them again", "other_settings", plain)
    names, expected = model_columns(model), model_columns(first)
    if (names is None) != (expected is None):
        raise DataError(f"only one of model 0 and model {i} knows the names of its columns")
    order = None if names is None or expected is None else order_of(names, expected, f"model {i}")
    return model._moments if order is None else model._moments.reordered(order)
