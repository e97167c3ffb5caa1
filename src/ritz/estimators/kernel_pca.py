"""Kernel PCA with a certificate. `scikit_learn` adds scikit-learn's contract to it."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from ritz.errors import DataError
from ritz.estimators import diagnostics, lazy
from ritz.estimators.base import Certified, Learned, seed
from ritz.estimators.results import files_of, stacked_or_delivered
from ritz.estimators.saving import Kind
from ritz.fitting.request import Request, check_at_hand
from ritz.kernels import Kernel, Precomputed, distances, kernel_named
from ritz.kernels.decompose import Alike, decompose_kernel
from ritz.kernels.embedding import Embedding
from ritz.kernels.feature_error import FeatureError
from ritz.kernels.nystrom import decompose_scattered
from ritz.kernels.preimage import PreImage, learn
from ritz.kernels.state import ATTRIBUTES, FORMS, KernelState, state_of, without_rows
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import Array
from ritz.linalg.exponents import delivered
from ritz.pca.model_file import Parameter
from ritz.rows import Rows, as_rows, check_finite, is_dask
from ritz.rows.base import Block, dense, stack
from ritz.rows.scores import without_columns
from ritz.rows.write.tables import Out, Results, deliver
from ritz.runtime.memory import PHYSICAL
from ritz.runtime.rules import (
    COUNT_OR_AUTO,
    COUNT_OR_NONE,
    FINITE,
    FLAG,
    TOL_OF_PAIRS,
    Rule,
    check_all,
    is_integer,
    is_number,
    is_share,
    parse_bytes,
)
from ritz.solvers import LowRank, Solver

if TYPE_CHECKING:
    from ritz.monitoring.result import Monitoring

# scikit-learn's names and ours, and the solver that each one means.
EIGEN_SOLVERS: dict[str, str | Solver] = {
    "auto": "auto",
    "dense": "gram",
    "arpack": "krylov",
    "randomized": "krylov",
    "krylov": "krylov",
    "power": "power",
    "orthogonal": "orthogonal",
    "lowrank": LowRank(),
}
# Where the diagonal that feature_error is given is not what the kernel needs.
WHOLE_NUMBER = "a whole number, such as n_landmarks=500, or "
WITHOUT_DIAGONAL = (
    "feature_error needs k(x, x) of every row, and X has only the values with the rows of the fit; pass diagonal, such "
    "as np.diag(K) for the rows of the fit"
)
# Why an attribute is not there after a fit.
WITHOUT = {
    "X_fit_": "the rows of a dask collection stay where they are, and so do those on a device: the model keeps its "
    "landmarks, embedding_.points",
    "eigenvectors_": "of a dask collection, and of rows on a device, they are transform(X) divided by the roots of "
    "eigenvalues_, and lie where X does",
}
WITH_DIAGONAL = "k(x, x) follows from the rows of X, but diagonal was given; leave it out"


def rules(n: int) -> dict[str, Rule]:
    """What the parameters may be for n rows; kernel, gamma and memory_limit have rules where they are used."""

    def count_or_share(value: Any) -> bool:
        return value is None or (is_integer(value) and 1 <= int(value) <= n) or is_share(value)

    return {
        "n_components": Rule(
            count_or_share,
            f"must be an integer between 1 and n_samples={n}, a share of the variance between 0 and 1, or None",
        ),
        "degree": Rule(lambda value: is_number(value) and value >= 0, "must be a finite number >= 0"),
        "coef0": FINITE,
        "kernel_params": Rule(
            lambda value: isinstance(value, Mapping | None), "must be a dict of keyword arguments, or None"
        ),
        "alpha": Rule(lambda value: is_number(value) and value >= 0, "must be a number >= 0"),
        "fit_inverse_transform": FLAG,
        "eigen_solver": Rule(
            lambda value: hasattr(value, "basis") or (isinstance(value, str) and value in EIGEN_SOLVERS),
            f"is not one of {', '.join(map(repr, EIGEN_SOLVERS))}, nor a solver object with a basis method",
        ),
        "tol": TOL_OF_PAIRS,
        "max_iter": COUNT_OR_NONE,
        "iterated_power": Rule(lambda value: value is None or COUNT_OR_AUTO.holds(value), COUNT_OR_AUTO.words),
        "remove_zero_eig": FLAG,
        "copy_X": FLAG,
        "n_landmarks": Rule(
            count_or_share,
            f"must be an integer from 1 to n_samples={n}, a share of the trace between 0 and 1 that they may lack, or "
            "None",
        ),
        "verbose": FLAG,
    }


@dataclass(eq=False, repr=False)
class KernelPCA(Certified[KernelState]):
    """Principal components in the feature space of a kernel k(x, y) = φ(x)·φ(y), with a certificate.

    The eigenpairs K̃ β = κ β, ‖β‖ = 1, of the centred kernel matrix K̃ = H K H, K_ij = k(x_i, x_j), H = I − 11ᵀ/n. The
    scores of the rows on component j are √κ_j β_j; that of a new one follows from its kernels with the rows of the fit.

    Parameters
    ----------
    n_components : int, float in (0, 1) or None
        How many components: that many; enough for that share of the variance; all with an eigenvalue above 0.
    kernel : str or callable
        "linear", "poly" (γ x·y + coef0)^degree, "rbf" exp(−γ‖x − y‖²), "sigmoid" tanh(γ x·y + coef0), "laplacian"
        exp(−γ Σ|x − y|), "cosine", "precomputed", or a function of two rows that returns a number, or of two blocks of
        rows that returns a matrix.
    gamma : float, "median", "scale" or None
        None is 1/d; "median" is 1 over the median squared distance of rows; "scale" is 1/(d·variance of X).
    degree, coef0 : float
        Of the kernels whose formula has them.
    kernel_params : dict
        Keyword arguments of a kernel that is a function.
    alpha : float
        Ridge of the regression that learns pre-images.
    fit_inverse_transform : bool
        Learn the way back, for `inverse_transform`.
    eigen_solver : str or solver object
        "auto", "dense" (LAPACK), "krylov", "power", "orthogonal", "lowrank" (landmarks), scikit-learn's "arpack" and
        "randomized" (krylov), or an object such as ``ritz.solvers.Krylov(max_iter=50)``.
    tol : float
        Every residual ‖K̃ β − κ β‖ plus rounding is at most tol·κ₁, or the fit warns.
    max_iter, iterated_power : int
        Most products of an iterative solver; the smaller one counts.
    remove_zero_eig : bool
        Drop components without variance even where n_components asks for them.
    random_state : int, RandomState or None
        Start of the iterative solvers, choice of landmarks. None is a fixed seed.
    copy_X : bool
        Whether the model keeps a copy of X or X itself; it is never written to.
    n_jobs : int or None
        Accepted for compatibility: all cores are used, as many as BLAS may use.
    n_landmarks : int, float in (0, 1) or None
        So many columns of the kernel matrix stand for all, or as many as it takes to lack at most that share of its
        trace; None leaves that to eigen_solver. A dask array or dataframe needs a number, and so do rows that are to
        stay on a device: landmarks are then chosen by randomly pivoted Cholesky among rows drawn at random, and what
        they lack of all rows is in `certificate_.missing`. Such a model has no `X_fit_` and no `eigenvectors_`, and its
        signs are decided by the coefficients of the components; `transform` gives the scores.
    memory_limit : int or str, optional
        Working memory that a fit may take, in bytes or such as "2GB"; half of the memory of this machine by default.
    verbose : bool
        Show on stderr the progress of every pass over the kernel matrix, the plan and the certificate.

    Attributes
    ----------
    eigenvalues_ : (k,) κ of K̃, descending
    eigenvectors_ : (n, k) β, orthonormal
    explained_variance_ratio_ : (k,) eigenvalues over the trace of K̃, or over its positive part where
        the fit warns of eigenvalues below 0
    explained_variance_ratio_bounds_ : (k, 2) what the true ratios lie between
    trace_error_ : share of tr(K) that landmarks lack, 0 for an exact fit
    gamma_ : the number that was used
    X_fit_ : the rows of the fit
    embedding_ : the model for new rows as an immutable object
    certificate_ : how accurate all this is; print it
    plan_ : what was done, and why
    history_ : iterations of an iterative solver
    image_shape_, white_ : as of PCA, where the rows are pictures
    dual_coef_ : (p, d) of the regression on the scores of p rows, or for the linear kernel on the k components, with
        fit_inverse_transform=True
    X_transformed_fit_ : (n, k) scores of the rows of the fit, likewise
    preimage_error_ : mean squared distance of rows that were held out to their pre-images, likewise

    Examples
    --------
    >>> from ritz import KernelPCA
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(400, factor=0.3, noise=0.05, random_state=0)
    >>> scores = KernelPCA(1, kernel="rbf", gamma=2).fit_transform(X)[:, 0]
    >>> bool(scores[y == 0].max() < scores[y == 1].min() or scores[y == 1].max() < scores[y == 0].min())
    True
    """

    n_components: int | float | None = None
    _: KW_ONLY
    kernel: Any = "linear"
    gamma: float | str | None = None
    degree: float = 3
    coef0: float = 1
    kernel_params: Mapping[str, Any] | None = None
    alpha: float = 1.0
    fit_inverse_transform: bool = False
    eigen_solver: Any = "auto"
    tol: float = 1e-6
    max_iter: int | None = None
    iterated_power: int | str = "auto"
    remove_zero_eig: bool = False
    random_state: Any = None
    copy_X: bool = True
    n_jobs: int | None = None
    n_landmarks: int | float | None = None
    memory_limit: int | str | None = None
    verbose: bool = False

    _kind = Kind(KernelState, FORMS, Parameter)
    _table = ATTRIBUTES
    _on_devices = True

    def _learn(self, rows: Rows, checkpoint: str | PathLike[str] | None) -> Learned:
        rows.check_whole("KernelPCA")
        request = self._request(rows.shape[0])
        if rows.scattered or (is_away(rows) and is_integer(self.n_landmarks)):
            return self._learn_scattered(rows if rows.scattered else rows.at_hand(2), request)
        rows = self._all_on_cpu(rows)
        check_finite(rows)
        matrix = gathered(rows, copy=bool(self.copy_X))
        gamma = distances.resolved(self.gamma, matrix, self.kernel)
        kernel, landmarks = self._kernel(gamma), _count_or_share(self.n_landmarks)
        with self._watching(rows, request) as watch:
            fitted = decompose_kernel(matrix, kernel, request, landmarks, watch)
        drop = self.n_components is None or bool(self.remove_zero_eig)
        state = state_of(fitted, matrix, gamma, rows.result_dtype, drop)
        state = replace(state, image_shape=rows.image_shape, white=rows.white)
        if self.fit_inverse_transform:
            state = replace(state, preimage=self._preimage(state, request, landmarks))
        found = diagnostics.of_kernel_pca(fitted, self.n_components, kernel, self.gamma, landmarks)
        return Learned(state, found, [state.plan, state.certificate])

    def _all_on_cpu(self, rows: Rows) -> Rows:
        """Rows in the memory of the CPU; on a device landmarks are named too, where the kernel can do with them."""
        what, otherwise = "KernelPCA", "n_landmarks, how many rows stand for all, or "
        if self.n_landmarks is not None:
            what, otherwise = f"{what} with n_landmarks={self.n_landmarks!r}", WHOLE_NUMBER
        return self._on_cpu(rows, what, otherwise * self._kernel(1.0).positive)

    def _learn_scattered(self, rows: Rows, request: Request) -> Learned:
        """From landmarks, where the rows lie: neither they nor the kernel matrix come together."""
        copy = "X.compute()" if rows.scattered else "X.cpu()"
        if not is_integer(self.n_landmarks):
            given = "" if self.n_landmarks is None else f", a number of them, and got {self.n_landmarks!r}"
            raise DataError(f"KernelPCA of a dask collection needs n_landmarks{given}", f"or pass {copy}")
        if self.fit_inverse_transform:
            raise DataError("fit_inverse_transform=True needs all rows at hand", f"pass {copy}, or leave it out")
        kernel_of = partial(kernel_named, params=self.kernel_params, degree=float(self.degree), coef0=float(self.coef0))
        asked = self.kernel, self.gamma, request, int(self.n_landmarks)
        with self._watching(rows, request) as watch:
            fitted, gamma = rows.watched(watch).near(decompose_scattered, kernel_of, *asked)
        none = np.empty((0, rows.shape[1]), rows.result_dtype)
        state = without_rows(state_of(fitted, none, gamma, rows.result_dtype, bool(self.remove_zero_eig)))
        kernel = fitted.embedding.kernel
        found = diagnostics.of_kernel_pca(fitted, self.n_components, kernel, self.gamma, self.n_landmarks)
        return Learned(state, found, [state.plan, state.certificate])

    def _preimage(self, state: KernelState, request: Request, landmarks: int | float | None) -> PreImage:
        """The way back from scores to rows, learned from those of the fit."""
        embedding = state.embedding

        def refit(others: Block) -> Embedding:
            n = others.shape[0]
            asked = replace(request, n_components=min(embedding.n_components, n - 1))
            few = min(landmarks, n) if isinstance(landmarks, int) else landmarks
            try:
                return decompose_kernel(others, embedding.kernel, asked, few).embedding
            except Alike:  # what set them apart was held out
                return embedding.first(0)

        return learn(state.scores, state.rows, embedding, float(self.alpha), refit, request.limit)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and the scores of the same rows."""
        self.fit(X)
        if is_dask(X):
            return lazy.scores(self, X)
        if not self._state.rows.shape[0]:  # they stayed on their device
            return self._scores(X, self._known(X))
        scores = delivered(self._state.scores, self._state.eigenvectors.dtype)
        return scores if self._home is None else self._at_home(scores, self._home)

    def _codes(self, rows: Rows) -> Generator[Array, None, None]:
        """Scores: coordinates of rows along the components, block by block."""
        kernel = self._state.embedding.kernel
        return self._state.embedding.encode(rows if kernel.on_devices else self._on_cpu(rows, f"kernel={kernel!r}"))

    def inverse_transform(self, X: Any, *, out: Out | None = None) -> Any:
        """Pre-images: rows whose features come near those of these scores.

        Kernel ridge regression from scores to rows, learned with the fit (Bakır, Weston and Schölkopf 2004); for rbf a
        regularised fixed point (Mika et al. 1999) refines it. The mean of the rows is restored; `out` as in
        `transform`.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import KernelPCA
        >>> t = np.linspace(0, 2 * np.pi, 60, endpoint=False)
        >>> circle = np.column_stack([np.cos(t), np.sin(t)])
        >>> model = KernelPCA(2, kernel="rbf", gamma=1.0, alpha=0.01, fit_inverse_transform=True)
        >>> scores = model.fit(circle).transform(1.2 * circle)  # of points off the circle
        >>> back = model.inverse_transform(scores)
        >>> bool(np.abs(np.linalg.norm(back, axis=1) - 1).max() < 0.05)
        True
        """
        self._check_fitted()
        if self._n_features_out or (no_scores := without_columns(X)) is None:
            return super().inverse_transform(X, out=out)
        means = self._way_back().means(no_scores)
        found = Results((block for block in [means]), len(means), self._column_names(), means.dtype)
        return stacked_or_delivered(found, out)

    def _rebuilt(self, scores: Rows) -> Generator[Array, None, None]:
        """Pre-images of scores, block by block."""
        preimage, scores = self._way_back(), self._on_cpu(scores, "inverse_transform")
        self._check_scores(scores)
        return preimage.decode(scores)

    def _errors(self, rows: Rows) -> Generator[Array, None, None]:
        """Squared distances of rows to the pre-images of their scores, block by block."""
        preimage, rows = self._way_back(), self._on_cpu(rows, "reconstruction_error")
        check_finite(rows)
        for block in rows.each(lambda block: block):
            scores = stack(self._state.embedding.encode(as_rows(block), np.float64), block.shape[0])
            yield preimage.distances(dense(block), scores)

    def feature_error(self, X: Any, *, diagonal: Any = None, out: Out | None = None) -> Any:
        """‖φ(x) − μ‖² − ‖y‖², the squared distance of every row to the components in feature space; no pre-images.

        By the kernel alone, k(x, x) − (2/n) Σ_i k(x, x_i) + (1/n²) Σ_ij k(x_i, x_j) − Σ_j y_j², with the scores y. With
        the linear kernel it is `PCA.reconstruction_error`. Summed over the rows of the fit it is the sum of the
        eigenvalues left out. From landmarks it is the distance to the axes that they span. It is a difference: what is
        below about 1e-15·√n·k(x, x) is rounding, and what rounding puts below 0 is 0. A kernel that is no inner product
        may leave values below 0.

        Parameters
        ----------
        X : rows, or for kernel="precomputed" their values with the rows of the fit
        diagonal : (n,) values k(x, x), for kernel="precomputed", where X does not tell them
        out : as in `transform`

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((50, 3))
        >>> model = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
        >>> error = model.feature_error(X)
        >>> everything = KernelPCA(kernel="rbf", gamma=0.5).fit(X).eigenvalues_
        >>> bool(np.isclose(error.sum(), everything[2:].sum()))
        True
        """
        if out is None and is_dask(X):
            lazy.compared(self, X)
            self._diagonal(diagonal, 0)
            errors_of = FeatureError.of(self._state.embedding, self._state.rows).each
            return lazy.array(X, "feature-error", errors_of, None)
        rows = self._on_cpu(self._known(X), "feature_error")
        check_finite(rows)
        values = self._diagonal(diagonal, rows.shape[0])
        errors = FeatureError.of(self._state.embedding, self._state.rows).each(rows, values)
        found = Results(errors, rows.shape[0], ("error",), np.dtype(np.float64))
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
        diagonal: Any = None,
        out: Out | None = None,
    ) -> Monitoring:
        """Which rows are odd in feature space: T² along the components, and as SPE the `feature_error`.

        Everything is as for `PCA.monitor`, but for limits. Features of a kernel are not normal, so those of T², by Beta
        and F distributions, are a convention; those of SPE match the mean and the variance of the errors of the rows of
        the fit by g χ²(h), or with limits="empirical" are quantiles of these. Errors of the rows of the fit are
        computed from the rows that the model keeps; one without them, as after a fit of a dask collection, needs
        `reference`, which is what it returned for these with rows="fit". New rows are farther from the
        components than those of the fit: compare rows that were held out. `diagonal` is that of `feature_error`.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import KernelPCA
        >>> angles = np.random.default_rng(0).uniform(0, 6.28, 200)
        >>> ring = np.column_stack([np.cos(angles), np.sin(angles)])
        >>> model = KernelPCA(6, kernel="rbf", gamma=1.0).fit(ring)
        >>> model.monitor([[1.0, 0.0], [0.0, 0.0]]).spe_flags  # the centre is no point of the ring
        array([0, 2], dtype=int8)
        """
        from ritz.monitoring import features
        from ritz.monitoring.monitor import Asked, delivered_flags
        from ritz.pca.fitted import row_names

        self._check_fitted()
        deviations, given = self._state.deviations, self._known(X)
        known = features.rows_of_fit(len(self._state.eigenvectors), reference, given.shape[0] if rows == "fit" else 0)
        methods = ("auto", "empirical")
        asked = Asked.of(len(deviations), k, alpha, rows, limits, methods)
        about = features.in_features(deviations / np.sqrt(max(1, known - 1)), known, asked)
        data = self._on_cpu(given, "monitor")
        found = features.statistics(about, *self._scores_and_errors(data, self._diagonal(diagonal, data.shape[0])))
        of_fit = asked.rows == "fit" or (asked.rows == "auto" and features.recognised(about, found))
        if of_fit:
            about = replace(about, reference=features.Reference(found.t2, found.spe))
        elif reference is not None:
            about = features.referred(about, reference)
        elif len(self._state.rows):
            about = replace(about, reference=self._of_fit(about))
        result = features.judged_in_features(about, found, asked, of_fit).named(row_names(X, given))
        if out is not None:
            deliver(delivered_flags(result), out, files_of(X, data))
        return result

    def _scores_and_errors(self, rows: Rows, diagonal: Array | None) -> tuple[Array, Array]:
        """Scores in float64, and what they leave in feature space."""
        check_finite(rows)
        n = rows.shape[0]
        errors = FeatureError.of(self._state.embedding, self._state.rows).each(rows, diagonal)
        return stack(self._state.embedding.encode(rows, np.float64), n), stack(errors, n)

    def _of_fit(self, about: Any) -> Any:
        """T² and SPE of the rows of the fit, which the model keeps."""
        from ritz.monitoring import features

        rows = as_rows(self._state.rows)
        precomputed = isinstance(self._state.embedding.kernel, Precomputed)
        diagonal = np.diagonal(self._state.rows).astype(np.float64) if precomputed else None
        found = features.statistics(about, *self._scores_and_errors(rows, diagonal))
        return features.Reference(found.t2, found.spe)

    def _diagonal(self, values: Any, n: int) -> Array | None:
        """k(x, x) of n rows as it is given: with a precomputed kernel, and with no other."""
        precomputed = isinstance(self._state.embedding.kernel, Precomputed)
        if (values is not None) != precomputed:
            raise ValueError(f"kernel={self.kernel!r}: {WITHOUT_DIAGONAL if precomputed else WITH_DIAGONAL}")
        if values is None:
            return None
        found = np.asarray(on_host(values))
        if found.shape != (n,) or found.dtype.kind not in "biuf" or not np.isfinite(found).all():
            raise DataError(f"diagonal must hold {n} finite numbers, k(x, x) of every row; got shape {found.shape}")
        return found.astype(np.float64)

    def _check_way_back(self) -> None:
        self._way_back()

    def _lean_state(self) -> KernelState:
        return without_rows(self._state)

    def _way_back(self) -> PreImage:
        preimage = self._state.preimage
        if preimage is None:
            from sklearn.exceptions import NotFittedError

            there = "" if self._home is None or self._home.is_cpu else " a copy on the CPU, such as X.cpu(),"
            raise NotFittedError(f"the model has no pre-images; fit{there} with fit_inverse_transform=True")
        return preimage

    def __getattr__(self, name: str) -> Any:
        known = WITHOUT if "embedding_" in self.__dict__ else {}
        raise AttributeError(known.get(name, f"{type(self).__name__!r} object has no attribute {name!r}"))

    def _request(self, n: int) -> Request:
        """What is asked of a fit to n rows, checked here once."""
        if n < 2:
            raise DataError(f"needs at least 2 rows to be centred, got n_samples={n}")
        check_at_hand(self.n_components, "KernelPCA knows inner products of features, whose signs cannot be flipped")
        check_all(self, rules(n))
        self._check_together()
        most = [int(count) for count in (self.max_iter, self.iterated_power) if is_integer(count)]
        return Request(
            n_components=_count_or_share(self.n_components),
            solver=self._solver(),
            tol=self.tol,
            limit=PHYSICAL // 2 if self.memory_limit is None else parse_bytes(self.memory_limit),
            seed=seed(self.random_state),
            passes=min(most, default=None),
        )

    def _check_together(self) -> None:
        """A solver that is no object yet, and parameters that do not go with each other."""
        if isinstance(asked := self.eigen_solver, type):
            raise ValueError(f"eigen_solver is the class {asked.__name__}; pass an object: {asked.__name__}()")
        if self.fit_inverse_transform and isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: the rows are not known")
        if self.n_landmarks is not None and not isinstance(self._solver(), LowRank) and self._solver() != "auto":
            raise ValueError(
                f"n_landmarks={self.n_landmarks!r} does not go with eigen_solver={self.eigen_solver!r}; use 'auto' or "
                "'lowrank'"
            )

    def _solver(self) -> str | Solver:
        return EIGEN_SOLVERS[self.eigen_solver] if isinstance(self.eigen_solver, str) else self.eigen_solver

    def _kernel(self, gamma: float) -> Kernel:
        degree, coef0 = float(self.degree), float(self.coef0)
        return kernel_named(self.kernel, self.kernel_params, gamma=gamma, degree=degree, coef0=coef0)

    def _check_parameters(self, state: KernelState) -> None:
        self._twin()._request(len(state.eigenvectors) or sys.maxsize)  # of scattered rows nobody kept how many
        self._kernel(state.gamma)


def _count_or_share(asked: Any) -> int | float | None:
    return asked if asked is None else int(asked) if is_integer(asked) else float(asked)


def is_away(rows: Rows) -> bool:
    """Whether rows lie on a device, or are copied from one block by block."""
    return rows.on_device or (rows.home is not None and not rows.home.is_cpu)


def gathered(rows: Rows, copy: bool) -> Block:
    """All rows in memory, dense or sparse as they are."""
    if rows.sparse:
        return scipy.sparse.vstack(list(rows.each(lambda block: block.copy() if copy else block)), format="csr")
    if rows.in_memory and not copy:
        return rows.exact(rows.block(0, rows.shape[0]))
    return rows.map(lambda block: np.array(block))
