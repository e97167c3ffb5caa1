"""Compressed sensing with scikit-learn's contract, and a certificate."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz.errors import AccuracyWarning, DataError
from ritz.estimators.columns import Columns
from ritz.estimators.saving import Saving
from ritz.estimators.seeds import seed
from ritz.estimators.sensing_request import asked_of, check_fit, check_solver, complaints
from ritz.estimators.sensing_saving import kept_parameters, sensing_state
from ritz.linalg.dense import Array
from ritz.linalg.exponents import delivered, mapped
from ritz.rows import Rows, as_rows
from ritz.rows.base import Block, dense, stack
from ritz.rows.finite import check_finite
from ritz.rows.scores import in_order
from ritz.runtime.files.decoding import Form
from ritz.runtime.progress import Progress
from ritz.sensing import SOLVERS
from ritz.sensing.base import Goal
from ritz.sensing.bases import chosen_basis
from ritz.sensing.certificate import RecoveryCertificate, of_nothing
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.measurements import chosen_measurement
from ritz.sensing.recovery import by_all_cores, certified, parts
from ritz.sensing.state import FORMS, SensingState


@dataclass(frozen=True, eq=False)
class Recovery:
    """What was found behind measurements."""

    coefficients: Array
    signals: Array
    certificate: RecoveryCertificate


class CompressedSensing(Saving, Columns, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Few random measurements y = Φx of signals x = Ψc that are sparse in a known basis, and the way back.

    `transform` measures, `inverse_transform` recovers. There is nothing to learn from the rows of a fit but how long
    they are: it is the basis, not a training set, that says what signals are like.

    Parameters
    ----------
    n_measurements : int, or float in (0, 1)
        How many numbers are kept of every signal, or which share of its length.
    basis : str, array (N, p) or LinearOperator
        What signals are sparse in: "dct" (cosines), "haar", "db4" or any other discrete wavelet of PyWavelets (extra
        "sensing"), or a matrix whose columns are the basis vectors.
    signal_shape : int or tuple, optional
        (height, width) where rows are images, flattened row by row; by default they are one long signal.
    measurement : str, array (m, N) or LinearOperator
        "gaussian", "bernoulli" (±1), both a matrix; "subsampled-dct": cosine coefficients, drawn at random, of the
        signal with random signs, which needs no matrix; or a matrix of your own.
    solver : str
        "omp": orthogonal matching pursuit, for very sparse signals; "fista": the least l1 norm, also for signals that
        are only nearly sparse, and long ones; "basis-pursuit": the same by linear programming, for reference, up to
        2,048 coefficients.
    sparsity : int, optional
        The most coefficients other than 0; as many as it takes by default.
    noise : float, optional
        Standard deviation of the noise in every measurement, in their units; exact by default.
    tol : float
        Relative: of the residual that matching pursuit stops at; of the duality gap, and the residual of exact answers,
        of the others.
    max_iter : int, optional
        Most iterations for a signal. By default what a solver deems enough.
    random_state : int, RandomState or None
        Of the measurements. None is a fixed seed: whoever recovers needs the measurements of whoever measured.
    verbose : bool
        Show on stderr how a recovery goes, and its certificate.

    Solver, sparsity, noise, tol, max_iter and verbose may be changed after a fit; measurements and basis are those of
    the fit.

    Attributes
    ----------
    n_measurements_ : int
    signal_shape_ : tuple
    measurement_, basis_ : Φ and Ψ as maps of rows, with `apply` and `adjoint`
    n_iter_ : most iterations of any signal recovered last, 1 before there is any
    certificate_ : coherence of measurements and basis, and what can be said of the signals recovered last; print it

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.fft import idct
    >>> from ritz import CompressedSensing
    >>> rng = np.random.default_rng(0)
    >>> coefficients = np.zeros((5, 1000))
    >>> for row in coefficients:
    ...     row[rng.choice(1000, 10, replace=False)] = rng.standard_normal(10)
    >>> signals = idct(coefficients, norm="ortho")
    >>> sensing = CompressedSensing(100).fit(signals)
    >>> measured = sensing.transform(signals)
    >>> measured.shape
    (5, 100)
    >>> bool(np.allclose(sensing.inverse_transform(measured), signals))
    True
    >>> sensing.certificate_.support_size
    array([10, 10, 10, 10, 10])
    """

    def __init__(
        self,
        n_measurements: int | float,
        *,
        basis: Any = "dct",
        signal_shape: int | tuple[int, ...] | None = None,
        measurement: Any = "gaussian",
        solver: str = "omp",
        sparsity: int | None = None,
        noise: float | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_measurements = n_measurements
        self.basis = basis
        self.signal_shape = signal_shape
        self.measurement = measurement
        self.solver = solver
        self.sparsity = sparsity
        self.noise = noise
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> CompressedSensing:
        """Draw the measurements for signals as long as the rows of X. y is ignored."""
        if getattr(X, "ndim", 2) == 3:
            raise DataError(f"got an array of shape {X.shape}; signals are rows: pass X.reshape(len(X), -1)")
        rows = as_rows(X)
        asked = asked_of(self, rows.shape[1])
        check_finite(rows)
        rng = np.random.default_rng(seed(self.random_state))
        basis = chosen_basis(self.basis, asked.signal_shape)
        check_fit(asked, basis.shape[1])
        measurement = chosen_measurement(self.measurement, asked.n_measurements, asked.signal_shape, rng)
        dictionary = Dictionary(measurement, basis)
        blank = of_nothing(self.solver, asked.tol, asked.noise, dictionary.shape, dictionary.coherence)
        self._columns(X, rows, reset=True)
        self.n_measurements_, self.signal_shape_ = asked.n_measurements, asked.signal_shape
        self.measurement_, self.basis_, self._dictionary = measurement, basis, dictionary
        self.certificate_, self.n_iter_ = blank, 1
        self.__dict__.pop("notes_", None)  # they were about another fit
        return self

    def transform(self, X: Any) -> Any:
        """Measurements y = Φx of every signal."""
        rows = self._known(X)
        check_finite(rows)
        return _mapped(rows, self._measure, rows.result_dtype)

    def codes(self, rows: Rows) -> Generator[Array, None, None]:
        """Measurements of rows whose columns are the model's, block by block."""
        check_finite(rows)
        return rows.each(_of_block(self._measure, rows.result_dtype))

    def _measure(self, X: Array) -> Array:
        return mapped(self.measurement_.apply, X)

    def inverse_transform(self, X: Any) -> Any:
        """Signals from measurements: x = Ψc with a sparse c that explains them. `certificate_` then speaks of these."""
        Y, dtype = self._measured(X)
        signals, certificate = self._found(Y, lambda codes: delivered(mapped(self.basis_.apply, codes), dtype))
        self.certificate_, self.n_iter_ = certificate, int(certificate.iterations.max())
        return signals

    def rebuilt(self, measured: Rows) -> Generator[Array, None, None]:
        """Signals from rows of measurements, in a single block."""
        yield self.inverse_transform(measured)

    def recover(self, X: Any) -> Recovery:
        """Coefficients, signals and certificate behind measurements; the model stays as it is."""
        Y, dtype = self._measured(X)
        codes, certificate = self._found(Y, lambda codes: codes)
        with by_all_cores():
            signals = mapped(self.basis_.apply, codes)
        return Recovery(delivered(codes, dtype), delivered(signals, dtype), certificate)

    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance of every signal to what comes back of its measurements."""
        rows = self._known(X)
        check_finite(rows)
        measured = _mapped(rows, self._measure, np.float64)
        signals, _ = self._found(measured, lambda codes: mapped(self.basis_.apply, codes))
        with np.errstate(over="ignore", under="ignore"):  # squares may be infinite
            return np.square(_mapped(rows, lambda block: block, np.float64) - signals).sum(axis=1)

    def _measured(self, X: Any) -> tuple[Array, Any]:
        """Measurements, checked, and the type of what they are turned into."""
        check_is_fitted(self)
        rows = in_order(as_rows(X), self)
        if rows.shape[1] != self.n_measurements_:
            raise DataError(
                f"got {rows.shape[1]} columns; the model measures {self.n_measurements_} numbers per signal"
            )
        check_finite(rows)
        return np.ascontiguousarray(_mapped(rows, lambda block: block, np.float64)), rows.result_dtype

    def _found(self, Y: Array, output: Callable[[Array], Array]) -> tuple[Array, RecoveryCertificate]:
        """What is made of the coefficients of all signals, and their certificate."""
        asked = asked_of(self, self.n_features_in_)
        check_solver(asked, self.basis_.shape[1])
        goal = Goal(np.full(len(Y), asked.noise), asked.sparsity, asked.tol, asked.max_iter)
        columns: list[dict[str, Array]] = []
        with Progress() if self.verbose else nullcontext() as progress:
            goal = goal if progress is None else replace(goal, tell=progress.say)
            found = stack(self._parts(Y, goal, output, columns, progress), len(Y))
        blank = replace(self.certificate_, solver=asked.solver, tol=asked.tol, noise=asked.noise)
        certificate = certified(blank, columns)
        if self.verbose:
            print(certificate, file=sys.stderr)
        for message in complaints(certificate, asked.max_iter):
            warnings.warn(message, AccuracyWarning, stacklevel=3)
        return found, certificate

    def _parts(
        self,
        Y: Array,
        goal: Goal,
        output: Callable[[Array], Array],
        columns: list[dict[str, Array]],
        progress: Progress | None,
    ) -> Iterator[Array]:
        """Batch after batch; what is said of each goes to `columns`."""
        if progress is not None:
            progress.begin(len(Y), what="signals")
        for part in parts(self._dictionary, Y, SOLVERS[self.solver], goal, output):
            columns.append(part.columns)
            if progress is not None:
                progress.advance(len(part.output))
            yield part.output

    @property
    def _n_features_out(self) -> int:
        return self.n_measurements_

    def _made_of(self) -> tuple[SensingState, dict[type[Any], Form]]:
        return sensing_state(self), FORMS

    def _given(self) -> dict[str, Any]:
        return kept_parameters(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _mapped(rows: Rows, f: Callable[[Array], Array], dtype: Any) -> Array:
    """f of all rows, in float64, then in that type."""
    with by_all_cores():
        return np.array(rows.map(_of_block(f, dtype)), copy=None)


def _of_block(f: Callable[[Array], Array], dtype: Any) -> Callable[[Block], Array]:
    """The same of a block."""

    def mapped(block: Block) -> Array:
        return delivered(np.asarray(f(dense(block).astype(np.float64, copy=False))), np.dtype(dtype))

    return mapped
