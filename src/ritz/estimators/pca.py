"""PCA with scikit-learn's contract, and a certificate."""

from __future__ import annotations

import sys
import warnings
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from ritz.errors import AccuracyWarning, DataError
from ritz.estimators import anndata
from ritz.estimators.checkpointing import watching
from ritz.estimators.fitted import LEARNED, attributes, complaints, fitting, in_data
from ritz.estimators.partial_fit import Batches
from ritz.estimators.saving import Saving, pca_state
from ritz.estimators.seeds import seed
from ritz.estimators.transform import Coding
from ritz.fitting.request import Request
from ritz.fitting.result import Decomposition, Units
from ritz.linalg.dense import Array
from ritz.pca.from_moments import from_covariance
from ritz.pca.from_rows import from_rows
from ritz.pca.gaussian import Gaussian
from ritz.pca.state import FORMS, PCAState
from ritz.rows import Rows, as_rows, check_exact
from ritz.rows.base import dense
from ritz.rows.columns import keys_of
from ritz.runtime.files.decoding import Form
from ritz.runtime.memory import parse_bytes
from ritz.spectrum.eigen_pairs import symmetric


class PCA(Saving, Batches, Coding, ClassNamePrefixFeaturesOutMixin, BaseEstimator):
    """Principal component analysis that says how accurate it is.

    The k orthonormal axes u that keep the most variance, C u = λ u with C = ZᵀZ/(n − ddof) and z = (x − mean)/scale.
    Every kept component's residual ‖C u − λ u‖ plus rounding is at most tol·λ₁, or the fit warns.

    Parameters
    ----------
    n_components : int, float in (0, 1), "mle", "auto" or None
        How many components: that many; enough for that share of the variance; Minka's choice; as many as stand above
        noise, but at least one; all min(n, d). "auto" keeps what has more variance than any direction of 19 copies of
        the preprocessed rows whose entries have random signs: noise does so once in 20 times. The copies keep the scale
        of every column, so columns that are independent of each other are noise, however unequal their variances. It
        takes as long as 20 covariance matrices, and may miss a component in the shadow of far larger ones.
    center, scale : bool
        Subtract the mean; divide every column by its standard deviation. Without centring, scaling is by the root
        mean square.
    whiten : bool
        Divide scores by their standard deviation; components without variance give 0.
    svd_solver : str or solver object
        "auto", "covariance", "gram", "svd", "krylov", "power", "orthogonal", scikit-learn's "full" (svd),
        "covariance_eigh" (covariance), "arpack" and "randomized" (krylov), or an object such as
        ``ritz.solvers.Power(max_iter=500)``. Only "auto" goes on to another solver when the certificate falls short.
    tol : float
        The accuracy asked for; 0 for the best the arithmetic allows.
    ddof : int
        1 divides by n − 1, 0 by n; for variance and scale alike.
    copy : bool
        Accepted for compatibility: the data is never written to, nor copied to be centred.
    memory_limit : int or str, optional
        Bytes beside the data that a fit may take, such as "2GB". `partial_fit` sketches rows too wide for it.
    iterated_power : int or "auto"
        Most passes of the orthogonal and krylov solvers.
    n_oversamples : int
        Extra columns of their blocks.
    power_iteration_normalizer : str
        Accepted for compatibility: bases are always orthonormal.
    random_state : int, RandomState or None
        Start of the iterative solvers, and the signs of "auto". None is a fixed seed: the same data gives the same
        answer.
    verbose : bool
        Show on stderr what was read, the progress of every pass, the plan and the certificate.

    Attributes
    ----------
    components_ : (k, d) axes; float32 for float32 and float16 data, float64 otherwise
    explained_variance_, explained_variance_ratio_, singular_values_ : (k,), of the same type; variances, singular
        values and loadings that float32 has no room for (below 1.2e-38 or above 3.4e38) are float64
    mean_ : (d,), in float64; zeros when center=False
    scale_ : (d,) or None
    noise_variance_ : mean of the variances left out
    total_variance_ : trace of C
    loadings_ : (d, k) axes times standard deviations
    certificate_ : how accurate all this is; print it
    plan_ : what was done, and why
    subspace_ : the model as an immutable object
    history_ : iterations of an iterative solver
    dual_components_ : (n, k) α with components_.T = Zᵀα, after the Gram route
    rank_choice_ : what decided the number of components, after n_components="auto"; print it

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import PCA
    >>> X = 1e8 + np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.1]])
    >>> pca = PCA(n_components=1).fit(X)
    >>> pca.explained_variance_.round(4)
    array([3.4353])
    >>> pca.certificate_.satisfied
    True
    """

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        center: bool = True,
        scale: bool = False,
        whiten: bool = False,
        svd_solver: Any = "auto",
        tol: float = 1e-6,
        ddof: int = 1,
        copy: bool = True,
        memory_limit: int | str | None = None,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.scale = scale
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.ddof = ddof
        self.copy = copy
        self.memory_limit = memory_limit
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, checkpoint: str | PathLike[str] | None = None) -> PCA:
        """Learn the subspace of X: an array, a table, a sparse matrix, or the path of a file. y is ignored.

        With `checkpoint`, the path of a file, a fit that is interrupted goes on where it stopped when it is called
        again with the same data, and its result is bitwise the same. The file is removed when the fit is done.
        An AnnData object keeps the axes in ``varm["PCs"]`` and variances and certificate in ``uns["pca"]``.
        """
        anndata.check(X)
        self._fit(X, as_rows(X), checkpoint)
        anndata.note(self, X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, then transform the same rows."""
        anndata.check(X)
        rows = as_rows(X)
        self._fit(X, rows)
        return self._scores(X, rows)

    def _fit(self, X: Any, rows: Rows, checkpoint: str | PathLike[str] | None = None) -> None:
        request = self._request()
        with watching(rows, request, bool(self.verbose), checkpoint) as watch:
            fitted = from_rows(rows.watched(watch), request)
        # Warnings first: where they are errors, the old state must survive them.
        for message in complaints(fitted, self.n_components):
            warnings.warn(message, AccuracyWarning, stacklevel=3)
        self._columns(X, rows, reset=True)
        self._adopt(fitted, rows.result_dtype)
        self.__dict__.pop("notes_", None)  # they were about another fit
        if self.verbose:
            choice = [] if fitted.choice is None else [fitted.choice]
            print(self.plan_, *choice, self.certificate_, sep="\n", file=sys.stderr)

    @classmethod
    def from_covariance(cls, C: Any, mean: Any = None, n_rows: int | None = None, **parameters: Any) -> PCA:
        """A fitted PCA from a covariance matrix, for when the rows are not at hand.

        Examples
        --------
        >>> PCA.from_covariance([[2.0, 0.0], [0.0, 1.0]], n_rows=100).explained_variance_
        array([2., 1.])
        """
        pca = cls(**parameters)
        if (np.ndim(C) if isinstance(C, list | tuple) else getattr(C, "ndim", 2)) > 2:
            raise DataError(f"a covariance matrix is square, with a row for every column; got shape {np.shape(C)}")
        request, rows = pca._request(), as_rows(C)
        _check_labels(C, rows)
        if n_rows is not None and (not isinstance(n_rows, Integral) or n_rows <= max(1, request.ddof)):
            raise ValueError(f"n_rows={n_rows!r} must be an integer above {max(1, request.ddof)}, or None if unknown")
        matrix = rows.map(lambda block: dense(block).astype(np.float64))
        operator, unit = symmetric(matrix)
        scale = standard_deviations(matrix, rows) if request.scale else None
        if scale is not None:
            operator, unit = symmetric(matrix / scale / scale[:, None])
        if mean is not None:
            check_exact([mean])
            mean = np.array(mean, dtype=np.float64)
        units = Units(unit, mean=mean, scale=scale, n_rows=n_rows, ddof=request.ddof)
        fitted = from_covariance(operator, units, request)
        pca.n_features_in_ = operator.dim
        if rows.names is not None and all(isinstance(name, str) for name in rows.names):
            pca.feature_names_in_ = np.array(rows.names, dtype=object)
        pca._column_keys = keys_of(rows.names)
        for message in complaints(fitted, pca.n_components):
            warnings.warn(message, AccuracyWarning, stacklevel=2)
        pca._adopt(fitted, np.dtype(np.float64))
        return pca

    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of each row under the probabilistic PCA model (Tipping and Bishop 1999)."""
        rows = self._known(X)
        return self._density().log_likelihood(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows."""
        return float(np.mean(self.score_samples(X)))

    def get_covariance(self) -> Array:
        """Covariance of the probabilistic model, U diag(λ − noise) Uᵀ + noise·I, in the units of the data."""
        check_is_fitted(self)
        return self._density().covariance()

    def get_precision(self) -> Array:
        """Inverse of `get_covariance`; its pseudo-inverse where that is singular."""
        check_is_fitted(self)
        return self._density().precision()

    @property
    def loadings_(self) -> Array:  # (d, k)
        """Axes times standard deviations."""
        if not hasattr(self, "subspace_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'loadings_'")
        return fitting(in_data(self.subspace_, self.subspace_.axes), self.components_.dtype)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_is_fitted__(self) -> bool:
        return self._moments is not None or "subspace_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __getattr__(self, name: str) -> Any:
        if name in LEARNED and self._settle():
            return getattr(self, name)
        after_fit = {
            "dual_components_": "dual_components_ comes from the Gram route; fit with svd_solver='gram'",
            "rank_choice_": "rank_choice_ comes with n_components='auto'; this model was not fitted so",
            "singular_values_": "singular_values_ needs the number of rows; pass n_rows to from_covariance",
        }
        known = after_fit if "subspace_" in self.__dict__ else {}
        raise AttributeError(known.get(name, f"{type(self).__name__!r} object has no attribute {name!r}"))

    def _request(self) -> Request:
        """The numerical parameters, checked here once."""
        for name in ("center", "scale", "whiten", "verbose"):
            if not isinstance(value := getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name}={value!r} must be True or False")
        passes = self.iterated_power
        if passes != "auto" and (not isinstance(passes, Integral) or isinstance(passes, bool) or passes < 1):
            raise ValueError(f"iterated_power={passes!r} must be 'auto' or an integer >= 1")
        extra = self.n_oversamples
        if not isinstance(extra, Integral) or isinstance(extra, bool) or extra < 1:
            raise ValueError(f"n_oversamples={extra!r} must be an integer >= 1")
        return Request(
            n_components=self.n_components,
            center=bool(self.center),
            scale=bool(self.scale),
            ddof=self.ddof,
            solver=self.svd_solver,
            tol=self.tol,
            limit=parse_bytes(self.memory_limit),
            seed=seed(self.random_state),
            oversample=int(extra),
            passes=None if passes == "auto" else int(passes),
        )

    def _adopt(self, fitted: Decomposition, dtype: np.dtype[Any]) -> None:
        """Take over a finished fit in one step, so that the state is the old one or the new one."""
        state = attributes(fitted, dtype)
        for name in ("dual_components_", "rank_choice_", "singular_values_", "n_samples_", "n_samples_seen_"):
            self.__dict__.pop(name, None)
        seen = {"n_samples_seen_": fitted.moments.count} if fitted.moments else {}
        self.__dict__.update(state, _moments=fitted.moments, _dtype=dtype, **seen)

    def _made_of(self) -> tuple[PCAState, dict[type[Any], Form]]:
        return pca_state(self), FORMS

    def _density(self) -> Gaussian:
        return Gaussian(self.subspace_)


def _check_labels(C: Any, rows: Rows) -> None:
    """A covariance whose rows are labelled like its columns, but in another order, is a mistake."""
    labels = list(getattr(C, "index", ())) if rows.names is not None else []
    if labels != list(rows.names or ()) and set(labels) == set(rows.names or ()):
        raise DataError("the rows and columns of the covariance stand in different orders; reindex one of them")


def standard_deviations(C: Array, rows: Rows) -> Array:
    """√ of the diagonal of a covariance, none of which may be 0."""
    variances = np.diagonal(C)
    flat = np.flatnonzero(~(variances > 0))
    if len(flat):
        raise DataError(
            f"scale=True, but column {rows.name(int(flat[0]))} has variance {variances[flat[0]]:g}; drop it"
        )
    return np.sqrt(variances)
