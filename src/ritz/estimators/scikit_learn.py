"""The public estimators: certified ones with scikit-learn's contract. Importing this module imports scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from os import PathLike
from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from ritz.estimators import compressed_sensing, kernel_pca, loading, pca
from ritz.estimators.base import Certified
from ritz.estimators.loading import Classes
from ritz.rows import is_dask
from ritz.rows.columns import keys_of
from ritz.rows.write.tables import Out


class Estimator(TransformerMixin, BaseEstimator, Certified):
    """scikit-learn's parameters, tags, names of columns and `set_output`, for any certified estimator."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return super(TransformerMixin, self).fit_transform(X)

    def transform(self, X: Any, *, out: Out | None = None) -> Any:
        return super().transform(X, out=out)

    def _remember_table(self, X: Any, names: tuple[Any, ...]) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        self._column_keys = keys_of(names)

    def _compare_table(self, X: Any, names: tuple[Any, ...] | None) -> None:
        validate_data(self, X, reset=False, skip_check_array=True)

    def _container(self) -> str:
        return str(_get_output_config("transform", self)["dense"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _unless_streamed(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """scikit-learn makes a table of whatever transform returns; with `out` there is nothing to make one of, and what
    Dask has not computed yet must not be computed for that."""

    @wraps(wrapped)
    def transform(self: Estimator, X: Any, *, out: Out | None = None) -> Any:
        return wrapped(self, X) if out is None and not is_dask(X) else Certified.transform(self, X, out=out)

    return transform


def _unless_lazy(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """fit_transform of a Dask collection is lazy, and scikit-learn would compute it to make a table of it."""

    @wraps(wrapped)
    def fit_transform(self: Estimator, X: Any, y: Any = None) -> Any:
        return super(TransformerMixin, self).fit_transform(X) if is_dask(X) else wrapped(self, X, y)

    return fit_transform


Estimator.transform = _unless_streamed(Estimator.transform)  # type: ignore[method-assign]
Estimator.fit_transform = _unless_lazy(Estimator.fit_transform)  # type: ignore[method-assign]
Estimator.transform.__doc__ = Certified.transform.__doc__
Estimator.fit_transform.__doc__ = Certified.fit_transform.__doc__


class PCA(Estimator, pca.PCA):
    __doc__ = pca.PCA.__doc__


class KernelPCA(Estimator, kernel_pca.KernelPCA):
    __doc__ = kernel_pca.KernelPCA.__doc__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


class CompressedSensing(Estimator, compressed_sensing.CompressedSensing):
    __doc__ = compressed_sensing.CompressedSensing.__doc__


MODELS: Classes = {"PCA": PCA, "KernelPCA": KernelPCA, "CompressedSensing": CompressedSensing}


def load(path: str | PathLike[str]) -> PCA | KernelPCA | CompressedSensing:
    """The model that `save` wrote into a file. It transforms to the last bit as it did before.

    Nothing in the file is run, and everything is checked: a file that is damaged, or made to deceive, is an error.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ritz import PCA
    >>> pca = PCA(1).fit(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.1]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pca.save(f"{folder}/pca.safetensors")
    ...     print(load(f"{folder}/pca.safetensors"))
    PCA(n_components=1)
    """
    return loading.load(path, MODELS)
