"""Kernel PCA with scikit-learn's contract, and a certificate."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ritz.errors import AccuracyWarning, DataError
from ritz.estimators.checkpointing import watching
from ritz.estimators.columns import Columns
from ritz.estimators.kernel_fitted import attributes, complaints, way_back
from ritz.estimators.kernel_request import chosen_kernel, chosen_landmarks, requested
from ritz.estimators.kernel_saving import kernel_state
from ritz.estimators.saving import Saving
from ritz.fitting.request import Request
from ritz.kernels import bandwidth
from ritz.kernels.decompose import Alike, decompose_kernel
from ritz.kernels.embedding import Embedding
from ritz.kernels.preimage import PreImage, learn
from ritz.kernels.state import FORMS, KernelState
from ritz.linalg.dense import Array
from ritz.linalg.exponents import delivered
from ritz.rows import Rows, as_rows
from ritz.rows.base import Block, dense, stack
from ritz.rows.finite import check_finite
from ritz.rows.scores import in_order, without_columns
from ritz.runtime.files.decoding import Form


class KernelPCA(Saving, Columns, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components in the feature space of a kernel k(x, y) = φ(x)·φ(y), with a certificate.

    The eigenpairs A u = λ u of the centred kernel matrix A = H K H, K_ij = k(x_i, x_j), H = I − 11ᵀ/n. The score of a
    row on component j is √λ_j u_j; that of a new one follows from its inner products with the rows of the fit.

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
        Every residual ‖A u − λ u‖ plus rounding is at most tol·λ₁, or the fit warns.
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
        trace; None leaves that to eigen_solver.
    memory_limit : int or str, optional
        Bytes beside the data that a fit may take, such as "2GB"; half of the memory of this machine by default.
    verbose : bool
        Show on stderr the progress of every pass over the kernel matrix, the plan and the certificate.

    Attributes
    ----------
    eigenvalues_ : (k,) of A, descending
    eigenvectors_ : (n, k), orthonormal
    explained_variance_ratio_ : (k,) eigenvalues over the trace of A, or over its positive part where
        the fit warns of eigenvalues below 0
    explained_variance_ratio_bounds_ : (k, 2) what the true ratios lie between
    trace_error_ : share of tr(K) that landmarks lack, 0 for an exact fit
    gamma_ : the number that was used
    X_fit_ : the rows of the fit
    embedding_ : the model for new rows as an immutable object
    certificate_ : how accurate all this is; print it
    plan_ : what was done, and why
    history_ : iterations of an iterative solver
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

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        n_landmarks: int | float | None = None,
        memory_limit: int | str | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.n_landmarks = n_landmarks
        self.memory_limit = memory_limit
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Learn the components of X: an array, a table, a sparse matrix, or the path of a file. y is ignored."""
        self._fit(X, as_rows(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and the scores of the same rows."""
        self._fit(X, as_rows(X))
        return delivered(self.eigenvectors_ * self._deviations, self.eigenvectors_.dtype)

    def _fit(self, X: Any, rows: Rows) -> None:
        request = requested(self, rows.shape[0])
        check_finite(rows)
        matrix = gathered(rows, copy=bool(self.copy_X))
        gamma = bandwidth.resolved(self.gamma, matrix, self.kernel)
        kernel, landmarks = chosen_kernel(self, gamma), chosen_landmarks(self, rows.shape[0])
        with watching(rows, request, bool(self.verbose)) as watch:
            fitted = decompose_kernel(matrix, kernel, request, landmarks, watch)
        state = attributes(fitted, rows.result_dtype, self.n_components is None or bool(self.remove_zero_eig))
        preimage = self._learned(matrix, state, request, landmarks) if self.fit_inverse_transform else {}
        # Warnings first: where they are errors, the old state must survive them.
        for message in complaints(fitted, self.n_components, kernel, self.gamma, landmarks):
            warnings.warn(message, AccuracyWarning, stacklevel=3)
        self._columns(X, rows, reset=True)
        for name in ("dual_coef_", "X_transformed_fit_", "preimage_error_", "_preimage", "notes_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(state, **preimage, X_fit_=matrix, gamma_=gamma)
        if self.verbose:
            print(self.plan_, self.certificate_, sep="\n", file=sys.stderr)

    def transform(self, X: Any) -> Any:
        """Scores of rows: their coordinates along the components."""
        rows = self._known(X)
        return stack(self.codes(rows), rows.shape[0])

    def codes(self, rows: Rows) -> Generator[Array, None, None]:
        """Scores of rows whose columns are the model's, block by block."""
        return self.embedding_.encode(rows)

    def inverse_transform(self, X: Any) -> Array:
        """Pre-images: rows whose features come near those of these scores.

        Kernel ridge regression from scores to rows, learned with the fit (Bakır, Weston and Schölkopf 2004); for rbf a
        regularised fixed point (Mika et al. 1999) refines it. The mean of the rows is restored.
        """
        check_is_fitted(self)
        if not self._n_features_out and (no_scores := without_columns(X)) is not None:
            return self._way_back().means(no_scores)
        rows = in_order(as_rows(X), self)
        return stack(self.rebuilt(rows), rows.shape[0])

    def rebuilt(self, scores: Rows) -> Generator[Array, None, None]:
        """Pre-images of scores, block by block."""
        preimage, k = self._way_back(), len(self.eigenvalues_)
        if scores.shape[1] != k:
            raise DataError(f"scores have {scores.shape[1]} columns, the model has {k} components")
        check_finite(scores)
        return preimage.decode(scores)

    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance of every row to the pre-image of its scores."""
        rows = self._known(X)
        preimage = self._way_back()
        scores = stack(self.embedding_.encode(rows, np.float64), rows.shape[0])
        return preimage.distances(dense(gathered(rows, copy=False)), scores)

    def _way_back(self) -> PreImage:
        if "_preimage" not in self.__dict__:
            raise NotFittedError("there are no pre-images to be had; fit with fit_inverse_transform=True")
        found: PreImage = self._preimage
        return found

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _learned(
        self, matrix: Block, state: dict[str, Any], request: Request, landmarks: int | float | None
    ) -> dict[str, Any]:
        """The way back."""
        embedding: Embedding = state["embedding_"]

        def refit(others: Block) -> Embedding:
            n = others.shape[0]
            asked = replace(request, n_components=min(embedding.n_components, n - 1))
            few = min(landmarks, n) if isinstance(landmarks, int) else landmarks
            try:
                return decompose_kernel(others, embedding.kernel, asked, few).embedding
            except Alike:  # what set them apart was held out
                return embedding.first(0)

        scores = state["eigenvectors_"] * state["_deviations"]
        return way_back(learn(scores, matrix, embedding, float(self.alpha), refit, request.limit), scores)

    def _made_of(self) -> tuple[KernelState, dict[type[Any], Form]]:
        return kernel_state(self), FORMS


def gathered(rows: Rows, copy: bool) -> Block:
    """All rows in memory, dense or sparse as they are."""
    if rows.sparse:
        return scipy.sparse.vstack(list(rows.each(lambda block: block.copy() if copy else block)), format="csr")
    if rows.in_memory and not copy:
        return rows.exact(rows.block(0, rows.shape[0]))
    return rows.map(lambda block: np.array(block))
