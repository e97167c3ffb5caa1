"""From rows to scores and back: what every certified estimator does with new rows once it is fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.estimators import lazy
from ritz.estimators.columns import FittedColumns
from ritz.estimators.results import files_of, stacked_or_delivered
from ritz.linalg.arrays import Home, on_host
from ritz.linalg.dense import Array
from ritz.rows import Rows, check_finite, is_dask
from ritz.rows.base import stack
from ritz.rows.scores import in_order
from ritz.rows.write.tables import Out, Results


class Transformer(FittedColumns, ABC):
    """`transform`, `inverse_transform` and `reconstruction_error`, from what a subclass does with blocks of rows."""

    _state: Any = None  # what a fit learned
    _n_features_out: int  # numbers that a row becomes

    # What a subclass says.

    @abstractmethod
    def _codes(self, rows: Rows) -> Generator[Array, None, None]:
        """Scores of rows whose columns are the model's, block by block."""

    @abstractmethod
    def _rebuilt(self, scores: Rows) -> Generator[Array, None, None]:
        """Rows from scores, block by block."""

    @abstractmethod
    def _errors(self, rows: Rows) -> Generator[Array, None, None]:
        """Squared distances of rows to what comes back of their scores, block by block."""

    # What follows.

    def transform(self, X: Any, *, out: Out | None = None) -> Any:
        """What the model keeps of every row: scores, or the measurements y = Φx of CompressedSensing.

        The scores of PCA are y = Uᵀ((x − mean)/scale), divided by standard deviations when whitening; those of
        KernelPCA are coordinates along its components in feature space.

        With `out`, the path of a .npy, .parquet, .arrow, .csv or .tsv file, or a function that is given one block
        after another, nothing is returned and memory stays bounded however many rows there are. PCA leaves the scores
        of an AnnData object in its ``obsm["X_pca"]`` too.

        Of a dask array or dataframe nothing is computed yet: the result is a dask array with a chunk for every chunk of
        X, or a dask dataframe after ``set_output(transform="pandas")``; so is that of `inverse_transform` and
        `reconstruction_error`.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA, CompressedSensing, KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> pca = PCA(2).fit(X[:30])
        >>> bool(np.allclose(pca.transform(X[30:]), (X[30:] - pca.mean_) @ pca.components_.T))
        True
        >>> pca.transform(X, out=lambda block: print(block.shape))
        (40, 2)
        >>> KernelPCA(1, kernel="rbf").fit(X[:30]).transform(X[30:]).shape
        (10, 1)
        >>> sensing = CompressedSensing(2).fit(X)
        >>> bool(np.allclose(sensing.transform(X), sensing.measurement_.apply(X)))
        True
        """
        if out is None and is_dask(X):
            return lazy.scores(self, X)
        rows = self._known(X)
        rows.check_whole("transform" if out is None else "transform(x, out=…)")
        if out is None:
            return self._scores(X, rows)
        names = tuple(map(str, self.get_feature_names_out()))
        found = Results(self._codes(rows), rows.shape[0], names, rows.result_dtype)
        return stacked_or_delivered(found, out, files_of(X, rows), rows.home)

    def _scores(self, X: Any, rows: Rows) -> Any:
        scores = stack(self._codes(rows), rows.shape[0])
        return scores if rows.home is None else self._at_home(scores, rows.home)

    def _at_home(self, scores: Any, home: Home) -> Any:
        """Scores as an array of the library of the rows; NumPy's, where a table is made of them."""
        return home(scores) if self._container() == "default" else on_host(scores)

    def _container(self) -> str:
        """What `set_output` wants scores in: "default" is an array."""
        return "default"

    def inverse_transform(self, X: Any, *, out: Out | None = None) -> Any:
        """Rows from scores, or signals from the measurements of CompressedSensing, of which `certificate_` then speaks.

        For PCA x̂ = scale ⊙ (U y) + mean. The columns of a table are matched by name, in any order: the names of
        `get_feature_names_out`, or those that the command line writes (PC1, PC2, …; y1, y2, … for measurements).
        `out` as in `transform`.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA, CompressedSensing
        >>> X = np.random.default_rng(0).standard_normal((40, 2)) @ [[1, 2, 0], [0, 1, 3]]  # on a plane
        >>> pca = PCA(2).fit(X)
        >>> bool(np.allclose(pca.inverse_transform(pca.transform(X)), X))
        True
        >>> clicks = np.eye(32)  # one entry each that is not 0
        >>> sensing = CompressedSensing(16, basis=np.eye(32)).fit(clicks)
        >>> bool(np.allclose(sensing.inverse_transform(sensing.transform(clicks)), clicks))
        True
        """
        if out is None and is_dask(X):
            return lazy.rebuilt(self, X)
        self._check_fitted()
        scores = in_order(self._opened(X), self)
        names = () if out is None else self._column_names()
        rows = Results(self._rebuilt(scores), scores.shape[0], names, scores.result_dtype)
        return stacked_or_delivered(rows, out, files_of(X, scores), scores.home)

    def reconstruction_error(self, X: Any, *, out: Out | None = None) -> Any:
        """Squared distance of every row to what comes back of its scores, for PCA in preprocessed units; `out` as in
        `transform`.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA, CompressedSensing, KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> for model in (PCA(2), KernelPCA(2, kernel="rbf", fit_inverse_transform=True)):
        ...     back = model.inverse_transform(model.fit_transform(X))
        ...     print(np.allclose(model.reconstruction_error(X), ((X - back) ** 2).sum(axis=1)))
        True
        True
        >>> clicks = np.eye(32)
        >>> sensing = CompressedSensing(16, basis=np.eye(32)).fit(clicks)
        >>> bool(sensing.reconstruction_error(clicks).max() < 1e-12)
        True
        """
        if out is None and is_dask(X):
            return lazy.errors(self, X)
        rows = self._known(X)
        rows.check_whole("reconstruction_error" if out is None else "reconstruction_error(x, out=…)")
        found = Results(self._errors(rows), rows.shape[0], ("error",), np.dtype(np.float64))
        return stacked_or_delivered(found, out, files_of(X, rows), rows.home)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the scores: that of the class in lower case, and a number from 0. `input_features` is only compared
        with the columns of the fit.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA, CompressedSensing, KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> for model in (PCA(2), KernelPCA(2), CompressedSensing(2)):
        ...     print(*model.fit(X).get_feature_names_out())
        pca0 pca1
        kernelpca0 kernelpca1
        compressedsensing0 compressedsensing1
        """
        self._check_fitted()
        if input_features is not None:
            known, count = self.__dict__.get("feature_names_in_"), len(input_features)
            if known is not None and list(known) != list(input_features):
                raise ValueError("input_features is not equal to feature_names_in_")
            if count != self.n_features_in_:
                expected = f"number of features ({self.n_features_in_})"
                raise ValueError(f"input_features should have length equal to {expected}, got {count}")
        return np.asarray([f"{type(self).__name__.lower()}{i}" for i in range(self._n_features_out)], dtype=object)

    def _known(self, X: Any) -> Rows:
        """New rows, once the model is known to be fitted and their columns to be the model's."""
        self._check_fitted()
        rows = self._like_fitted(X)
        self._compare_columns(X, rows)
        return rows

    def _check_scores(self, scores: Rows) -> None:
        """Scores must be finite, and as many as the model makes."""
        self._check_width(scores)
        check_finite(scores)

    def _check_width(self, scores: Rows) -> None:
        if scores.shape[1] != self._n_features_out:
            raise DataError(f"scores have {scores.shape[1]} columns, the model has {self._n_features_out} components")

    def _check_way_back(self) -> None:
        """Whether there is a way from scores back to rows: unless a subclass knows better."""

    def _check_fitted(self) -> None:
        if self._state is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None
