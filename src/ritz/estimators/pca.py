"""PCA with a certificate. `scikit_learn` adds scikit-learn's contract to it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from ritz.errors import DataError
from ritz.estimators import anndata, diagnostics, lazy
from ritz.estimators.base import Learned, seed
from ritz.estimators.meaning import Meaning
from ritz.estimators.partial_fit import Batches
from ritz.estimators.results import files_of, stacked_or_delivered
from ritz.estimators.saving import Kind
from ritz.fitting.request import Request, checked_components
from ritz.fitting.result import Units, as_result
from ritz.linalg.arrays import all_finite, in_type, on_host
from ritz.linalg.dense import Array
from ritz.pca.from_moments import from_covariance
from ritz.pca.from_rows import from_rows
from ritz.pca.gaussian import Gaussian
from ritz.pca.left_vectors import left_vectors, turned, turning
from ritz.pca.model_file import FORMS, Parameter
from ritz.pca.state import ATTRIBUTES, LEARNED, PCAState, in_data, state_of
from ritz.rows import Rows, as_rows, check_exact, check_finite, is_anndata, is_dask
from ritz.rows.base import Block, dense
from ritz.rows.write.tables import Out, Results, deliver
from ritz.runtime.rules import COUNT_OR_AUTO, FLAG, TOL_OF_PAIRS, check_all, integer, is_integer, parse_bytes
from ritz.spectrum.eigen_pairs import symmetric

if TYPE_CHECKING:
    from ritz.monitoring.result import Monitoring
    from ritz.sampling.asymptotic import Sampling

# What the parameters may be; n_components, svd_solver and memory_limit have rules where they are used.
RULES = {
    "center": FLAG,
    "scale": FLAG,
    "whiten": FLAG,
    "tol": TOL_OF_PAIRS,
    "ddof": integer(0, "; 1 divides by n - 1, 0 by n"),
    "iterated_power": COUNT_OR_AUTO,
    "n_oversamples": integer(0),
    "verbose": FLAG,
}
# Why an attribute is not there after a fit.
WITHOUT = {
    "dual_components_": "dual_components_ comes from the Gram route; fit with svd_solver='gram'",
    "rank_choice_": "rank_choice_ comes with n_components='auto'; this model was not fitted so",
    "singular_values_": "singular_values_ needs the number of rows; pass n_rows to from_covariance",
}


@dataclass(eq=False, repr=False)
class PCA(Batches, Meaning):
    """Principal component analysis that says how accurate it is.

    The k orthonormal axes u that keep the most variance, C u = λ u with C = ZᵀZ/(n − ddof) and z = (x − mean)/scale.
    Every kept component's residual ‖C u − λ u‖ plus rounding is at most tol·λ₁, or the fit warns.
    Arrays of other libraries, such as tensors of PyTorch on a GPU, are computed where they are: attributes are of the
    type and on the device of what was fitted, results of what they are computed from.

    Parameters
    ----------
    n_components : int, float in (0, 1), "mle", "auto" or None
        How many components: that many; enough for that share of the variance; Minka's choice; as many as stand above
        noise, but at least one; all min(n, d). "auto" keeps what has more variance than any direction of 19 copies of
        the preprocessed rows whose entries have random signs: noise does so once in 20 times. The copies keep the scale
        of every column, so columns that are independent of each other are noise, however unequal their variances. It
        usually takes two to four times as long as one fit; for large data in memory it stops as soon as further copies
        cannot change the count. It may miss a component in the shadow of far larger ones.
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
        Working memory that a fit may take, in bytes or such as "2GB". `partial_fit` sketches rows too wide for it.
    iterated_power : int or "auto"
        Most passes of the orthogonal and krylov solvers.
    n_oversamples : int
        Extra columns of their blocks; with 0, orthogonal iterates exactly k.
    power_iteration_normalizer : str
        Accepted for compatibility: bases are always orthonormal.
    random_state : int, RandomState or None
        Start of the iterative solvers, and the signs of "auto". None is a fixed seed: the same data gives the same
        answer.
    verbose : bool
        Show on stderr what was read, the progress of every pass, the plan and the certificate.

    Attributes
    ----------
    components_ : (k, d) axes; float32 for float32, float16 and bfloat16 data, float64 otherwise
    explained_variance_, explained_variance_ratio_, singular_values_ : (k,), of the same type; variances, singular
        values and loadings that float32 has no room for (below 1.2e-38 or above 3.4e38) are float64
    mean_ : (d,), in float64, or in float32 where the device of the data has no float64; zeros when center=False
    scale_ : (d,) or None
    noise_variance_ : mean of the variances left out
    total_variance_ : trace of C
    loadings_ : (d, k) axes times standard deviations
    certificate_ : how accurate all this is; print it
    plan_ : what was done, and why
    subspace_ : the model as an immutable object
    history_ : iterations of an iterative solver
    dual_components_ : (n, k) α with components_.T = Zᵀα, after the Gram route: α = β/√κ for unit eigenvectors β of
        Z Zᵀ, which are the left singular vectors, with κ = (n − ddof)·variance; 0 for axes without variance
    rank_choice_ : what decided the number of components, after n_components="auto"; print it
    image_shape_ : (h, w) or (h, w, 3) where the rows are pictures, as of ``ritz.read(folder)``; None otherwise
    white_ : the number that stands for white in them, where 0 is black; None where it is not known

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

    n_components: int | float | str | None = None
    _: KW_ONLY
    center: bool = True
    scale: bool = False
    whiten: bool = False
    svd_solver: Any = "auto"
    tol: float = 1e-6
    ddof: int = 1
    copy: bool = True
    memory_limit: int | str | None = None
    iterated_power: int | str = "auto"
    n_oversamples: int = 10
    power_iteration_normalizer: str = "auto"
    random_state: Any = None
    verbose: bool = False

    _kind = Kind(PCAState, FORMS, Parameter)
    _table = ATTRIBUTES
    _on_devices = True
    _sums_columns = True

    def fit(self, X: Any, y: Any = None, *, checkpoint: str | PathLike[str] | None = None) -> Self:
        """Learn the subspace of X: an array, a table, a sparse matrix, a collection of Dask, or the path of a file.
        y is ignored.

        Rows are points and columns are variables; pass ``ritz.read(X, transpose=True)`` if your points are columns.
        With `checkpoint`, the path of a file, a fit that is interrupted goes on where it stopped when it is called
        again with the same data, and its result is bitwise the same. The file is removed when the fit is done. Fits of
        Dask collections have none.
        An AnnData object keeps the axes in ``varm["PCs"]`` and variances and certificate in ``uns["pca"]``.
        Dask arrays and dataframes are read where they lie: by the workers of the active ``distributed.Client``, one of
        which leads the fit, or by threads where there is none. A chunk holds whole rows; how many may be
        unknown. Where there are fewer rows than columns, it may hold whole columns instead.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> pca = PCA(1).fit(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))
        >>> pca.explained_variance_.round(6), pca.components_.round(4)
        (array([2.]), array([[0.7071, 0.7071]]))
        """
        if is_anndata(X):
            anndata.check(X)
        self._fit(X, self._opened(X), checkpoint)
        if is_anndata(X):
            anndata.note(self, X)
        return self

    def _learn(self, rows: Rows, checkpoint: str | PathLike[str] | None) -> Learned:
        request = self._request()
        with self._watching(rows, request, checkpoint) as watch:
            fitted = rows.watched(watch).near(from_rows, request)
        choice = [] if fitted.choice is None else [fitted.choice]
        found = diagnostics.of_pca(fitted, self.n_components) if choice or fitted.certificate.diagnostics() else []
        state = state_of(fitted, rows.result_dtype, image_shape=rows.image_shape, white=rows.white)
        return Learned(state, found, [fitted.plan, *choice, fitted.certificate])

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, then transform the same rows."""
        if is_anndata(X):
            anndata.check(X)
        return super().fit_transform(X)

    def _scores(self, X: Any, rows: Rows) -> Any:
        if not is_anndata(X):
            return super()._scores(X, rows)
        anndata.check(X)
        Y = super()._scores(X, rows)
        anndata.note(self, X, Y)
        return anndata.named(self, X, Y)

    def _codes(self, rows: Rows) -> Generator[Array, None, None]:
        """Scores y = Uᵀ((x − mean)/scale), block by block; divided by their standard deviations when whitening."""
        return self.subspace_.codes(rows, whiten=bool(self.whiten))

    def _rebuilt(self, scores: Rows) -> Generator[Array, None, None]:
        """x̂ = scale ⊙ (U y) + mean from scores y, block by block."""
        self._check_width(scores)

        def decode(block: Block) -> Array:
            Y = in_type(dense(block), scores.result_dtype)
            if not all_finite(Y):  # only then are all scores searched for the place
                check_finite(scores)
            return self.subspace_.decode(Y, bool(self.whiten))

        return scores.each(decode, columns=self.n_features_in_)

    def _errors(self, rows: Rows) -> Generator[Array, None, None]:
        """Squared distances of rows to the subspace, in preprocessed units, block by block."""
        return self.subspace_.errors(rows)

    def _likelihoods(self, rows: Rows) -> Generator[Array, None, None]:
        """Log-likelihoods of rows."""
        yield Gaussian(self.subspace_).log_likelihood(rows)

    def sampling(self, X: Any = None) -> Sampling:
        """How far another sample of rows would move variances, shares and axes, and what corrects them where columns
        are many.

        Without X from the model alone, for normal rows; with X, the rows of the fit, from their fourth moments, for
        rows of any law: one pass. `ritz.bootstrap` resamples the rows.

        Examples
        --------
        >>> from ritz import PCA
        >>> from sklearn.datasets import load_iris
        >>> print(PCA(2).fit(load_iris().data).sampling())
        standard errors of 150 rows, by normal rows
             variance  ± error  corrected  share  ± share  axis ±  shrinkage
        PC1     4.228   0.4882      4.226  92.5%     1.0%    1.4°      1.000
        PC2    0.2427  0.02802     0.2435   5.3%     0.8%    4.4°      0.996
        """
        from ritz.sampling.asymptotic import sampling  # which a fit does not need

        self._check_fitted()
        return sampling(self, X)

    def corrected_scores(self, X: Any) -> Any:
        """Scores of new rows, divided by what shrinks them beside those of the rows of the fit.

        With few rows for many columns, axes lean towards the noise of the rows they were learned from: these have
        larger scores than new rows of the same law. The factors are `sampling().shrinkage` (Lee, Zou and Wright 2010),
        for noise that is alike in all directions left out. A component that noise alone reaches has none: an error.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((1100, 1)) * np.full(1000, 0.2) + rng.standard_normal((1100, 1000))
        >>> pca, new = PCA(1).fit(X[:100]), X[100:]
        >>> sizes = [np.std(Y) for Y in (pca.transform(X[:100]), pca.transform(new), pca.corrected_scores(new))]
        >>> np.divide(sizes, sizes[0]).round(2)
        array([1.  , 0.81, 1.04])
        """
        from ritz.sampling.shrinkage import corrected

        self._check_fitted()
        return corrected(self, X)

    def _restored(self, state: Any) -> PCAState:
        """What follows from the subspace is not in the file, whichever version wrote it."""
        if state.subspace is None:
            return cast(PCAState, state)
        return cast(PCAState, replace(state, certificate=state.certificate.of_sample(state.subspace.sample)))

    def _lean_state(self) -> PCAState:
        _ = self.subspace_  # computed now, where only moments are there yet
        assert self._state is not None
        return replace(self._state, moments=None, dual=None, choice=None)

    def left_singular_vectors(self, X: Any, *, out: Out | None = None) -> Any:
        """U of Z = U Σ Vᵀ, (n, k), for the rows X of the fit: U = Z V Σ⁻¹, with UᵀU = I to rounding.

        V is `components_.T`, Σ has `singular_values_` σ = √((n − ddof) λ). Scores are U Σ, and U √(n − ddof) the
        whitened ones; with all components, U Σ Vᵀ gives back the preprocessed rows to the accuracy of the fit. A small
        σ beside a large σ₁ leaves columns of Z V Σ⁻¹ that are orthonormal to eps·σ₁/σ alone (eps·σ₁²/σ² where variances
        come from the covariance): these are made orthonormal to the ones before them. Columns without variance are 0,
        as nothing determines them, and a warning counts them.

        A column β of U is an eigenvector of K = Z Zᵀ, K β = κ β with κ = σ². The `dual_components_` of the Gram route
        are α = β/√κ, which make v = Zᵀα a unit vector.

        `out` as in `transform`, with columns u1, u2, …; X is read twice, a dask collection once at once and then when
        the result is computed. Rows other than those of the fit are an error.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 5.0], [4.0, 2.0]])
        >>> pca = PCA(svd_solver="svd").fit(X)
        >>> U = pca.left_singular_vectors(X)
        >>> bool(np.allclose(U.T @ U, np.eye(2)))
        True
        >>> bool(np.allclose(U * pca.singular_values_ @ pca.components_ + pca.mean_, X))
        True
        >>> gram = PCA(1, svd_solver="gram").fit(X)
        >>> beta = gram.dual_components_ * gram.singular_values_
        >>> bool(np.allclose(np.abs(beta), np.abs(U[:, :1])))
        True
        """
        if out is None and is_dask(X):
            lazy.compared(self, X)
            rows = as_rows(X)
            rows.check_whole("left_singular_vectors")
            seen, turn = rows.near(turning, self.subspace_, self.certificate_)
            self._warn(diagnostics.of_left_vectors(self.subspace_.deviations))
            made = partial(turned, model=self.subspace_, seen=seen, turn=turn)
            return lazy.array(X, "left-singular-vectors", made, self._n_features_out, rows.result_dtype)
        rows = self._known(X)
        rows.check_whole("left_singular_vectors")
        names = tuple(f"u{i + 1}" for i in range(self._n_features_out))
        blocks = left_vectors(self.subspace_, self.certificate_, rows)
        self._warn(diagnostics.of_left_vectors(self.subspace_.deviations))
        found = Results(blocks, rows.shape[0], names, rows.result_dtype)
        return stacked_or_delivered(found, out, files_of(X, rows), rows.home)

    def monitor(
        self,
        X: Any,
        *,
        k: int | None = None,
        alpha: float | tuple[float, ...] = (0.05, 0.01),
        rows: str = "auto",
        limits: str = "auto",
        reference: Monitoring | None = None,
        out: Out | None = None,
    ) -> Monitoring:
        """Which rows are odd: Hotelling's T² and the squared prediction error of each, with limits at two levels.

        T² = Σ t_a²/λ_a says how far a row is from the mean inside the model, SPE = ‖z − U Uᵀz‖² how far it is from the
        model. One pass over the rows, two numbers of each in memory. Limits come from the model, or from the rows of
        its fit, never from new rows.

        Parameters
        ----------
        X : rows, of the fit or new, as for `transform`
        k : components that count, the first of the model; all by default
        alpha : shares of rows that exceed a limit by chance: of two, the first is a warning, the second an alarm
        rows : "fit" or "new"; "auto" recognises the rows of the fit by sums over their scores. Rows that the axes were
            learned from are nearer to them than new ones, so limits differ, by much where n is not many times d
        limits : how they are found:

            - "auto": for rows of the fit the exact distribution for normal rows, of T² (Beta) and of SPE; for new rows
              that of a row that is left out of the fit, simulated from the eigenvalues (with a fixed seed)
            - "jm": Beta or F for T², Jackson and Mudholkar for SPE; "box": the same with Box's g χ²(h), h a real number
            - "moments": g χ²(h) with the mean and the variance of the SPE of the rows of the fit
            - "pls_toolbox": k(n−1)/(n−k) F for T² of all rows and Jackson–Mudholkar, as that program prints them
            - "empirical": quantiles of the rows of the fit, which assume no distribution
        reference : what `monitor` returned for the rows of the fit, for limits that need these: "moments", "empirical",
            and those of SPE for models that keep only the sum of the variances left out, whose limits else are upper
            bounds
        out : a path or a function, as in `transform`, that gets a line for every row: T2, SPE, leverage, T2_flag and
            SPE_flag, which count the limits that are exceeded

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((100, 4)) * [4, 3, 1, 1]
        >>> X[17, 3] = 9.0  # a typing error
        >>> found = PCA(2).fit(X).monitor(X)
        >>> found.odd.index[0], found.odd["columns to blame"][0]
        (17, 'x3 high 99 %')
        """
        from ritz.monitoring.monitor import delivered_flags, monitored

        found = monitored(self, X, k=k, alpha=alpha, rows=rows, limits=limits, reference=reference)
        if out is not None:
            deliver(delivered_flags(found), out, files_of(X, self._known(X)))
        return found

    @classmethod
    def from_covariance(cls, C: Any, mean: Any = None, n_rows: int | None = None, **parameters: Any) -> Self:
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
        if n_rows is not None and not (is_integer(n_rows) and n_rows > max(1, request.ddof)):
            raise ValueError(f"n_rows={n_rows!r} must be an integer above {max(1, request.ddof)}, or None if unknown")
        matrix = rows.map(lambda block: in_type(dense(block), np.dtype(np.float64), copy=True))
        operator, unit = symmetric(matrix)
        scale = standard_deviations(matrix, rows) if request.scale else None
        if scale is not None:
            operator, unit = symmetric(matrix / scale / scale[:, None])
        if mean is not None:
            mean = on_host(mean)
            check_exact([mean])
            mean = np.array(mean, dtype=np.float64)
        units = Units(unit, mean=mean, scale=scale, n_rows=n_rows, ddof=request.ddof)
        fitted = from_covariance(operator, units, request)
        pca._remember_names(rows.names, operator.dim)
        pca._warn(diagnostics.of_pca(fitted, pca.n_components))
        pca._settle_in(rows.home)
        pca._adopt(state_of(fitted, np.dtype(np.float64)))
        return pca

    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of each row under the probabilistic PCA model (Tipping and Bishop 1999).

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((200, 3)) * [3, 2, 1]
        >>> likely, unlikely = PCA(2).fit(X).score_samples([[0.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
        >>> bool(likely > unlikely)
        True
        """
        if is_dask(X):
            return lazy.likelihoods(self, X)
        rows = self._known(X)
        rows.check_whole("score_samples")
        found = next(self._likelihoods(rows))
        return found if rows.home is None else rows.home(found)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((200, 3)) * [3, 2, 1]
        >>> pca = PCA(2).fit(X[:100])
        >>> bool(np.isclose(pca.score(X[100:]), pca.score_samples(X[100:]).mean()))
        True
        """
        found: Any = self.score_samples(X)
        return float(np.mean(on_host(found.compute() if is_dask(found) else found)))

    def get_covariance(self) -> Array:
        """Covariance of the probabilistic model, U diag(λ − noise) Uᵀ + noise·I, in the units of the data.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((200, 3)) * [3, 2, 1]
        >>> bool(np.allclose(PCA(3).fit(X).get_covariance(), np.cov(X.T)))
        True
        """
        self._check_fitted()
        return self._at_fit(Gaussian(self.subspace_).covariance())

    def get_precision(self) -> Array:
        """Inverse of `get_covariance`; its pseudo-inverse where that is singular.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> pca = PCA(2).fit(np.random.default_rng(0).standard_normal((200, 3)) * [3, 2, 1])
        >>> bool(np.allclose(pca.get_precision() @ pca.get_covariance(), np.eye(3)))
        True
        """
        self._check_fitted()
        return self._at_fit(Gaussian(self.subspace_).precision())

    @property
    def loadings_(self) -> Array:  # (d, k)
        """Axes times standard deviations; with the names of columns, ``summary().loadings.to_frame()``."""
        return self._at_fit(as_result(in_data(self.subspace_, self.subspace_.axes), self._dtype))

    def _at_fit(self, values: Array) -> Any:
        """Like the attributes: where the rows of the fit were."""
        return values if self._home is None else self._home(values)

    def __getattr__(self, name: str) -> Any:
        if name in LEARNED and self._settle():
            return getattr(self, name)
        known = WITHOUT if "subspace_" in self.__dict__ else {}
        raise AttributeError(known.get(name, f"{type(self).__name__!r} object has no attribute {name!r}"))

    def _request(self) -> Request:
        """The numerical parameters, checked here once."""
        check_all(self, RULES)
        return Request(
            n_components=self.n_components,
            center=bool(self.center),
            scale=bool(self.scale),
            ddof=self.ddof,
            solver=self.svd_solver,
            tol=self.tol,
            limit=parse_bytes(self.memory_limit),
            seed=seed(self.random_state),
            oversample=int(self.n_oversamples),
            passes=None if isinstance(self.iterated_power, str) else int(self.iterated_power),
        )

    def _check_parameters(self, state: PCAState) -> None:
        request = self._twin()._request()
        checked_components(request.n_components, state.n_features, state.n_features)
        n = None if state.subspace is None else state.subspace.n_rows
        if n is not None and n <= request.ddof:  # batches may still be on their way
            raise ValueError(f"ddof={request.ddof} must be below the {n} rows of the fit")


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
