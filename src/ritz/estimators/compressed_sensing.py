"""Compressed sensing with a certificate. `scikit_learn` adds scikit-learn's contract to it."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Generator
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from math import prod
from os import PathLike
from sys import float_info
from typing import Any, Self

import numpy as np

from ritz.errors import DataError
from ritz.estimators import diagnostics
from ritz.estimators.base import Certified, Learned, seed
from ritz.estimators.saving import Kind
from ritz.linalg.dense import Array
from ritz.linalg.exponents import delivered, mapped
from ritz.rows import Rows, check_finite, is_dask
from ritz.rows.base import Block, dense, stack
from ritz.rows.scores import in_order
from ritz.rows.write.tables import Out
from ritz.runtime.rules import COUNT_OR_NONE, FLAG, TOL, Rule, check_all, integer, is_integer, is_number, is_share
from ritz.runtime.watch import Progress
from ritz.sensing import SOLVERS
from ritz.sensing.base import Goal
from ritz.sensing.bases import chosen_basis
from ritz.sensing.certificate import RecoveryCertificate, of_nothing
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.measurements import chosen_measurement
from ritz.sensing.recovery import by_all_cores, certified, parts
from ritz.sensing.state import (
    ATTRIBUTES,
    FORMS,
    MatrixState,
    Parameter,
    SensingFit,
    SensingState,
    as_matrix,
    restored,
    stored,
)

COUNTS = 1 << 31  # more than anybody has


def _is_shape(asked: Any) -> bool:
    sizes = asked if isinstance(asked, tuple | list) else (asked,)
    return asked is None or (len(sizes) in (1, 2) and all(map(integer(1).holds, sizes)))


# What the parameters may be; basis and measurement have rules where they are used.
RULES = {
    "n_measurements": Rule(
        lambda value: is_share(value) or integer(1).holds(value),
        "must be an integer >= 1, or a share of the length in (0, 1)",
    ),
    "signal_shape": Rule(_is_shape, "must be a length, or the height and width of an image"),
    "solver": Rule(
        lambda value: isinstance(value, str) and value in SOLVERS,
        f"is not known; the known ones are {', '.join(SOLVERS)}",
    ),
    "sparsity": COUNT_OR_NONE,
    "noise": Rule(
        lambda value: value is None or (is_number(value) and 0 <= value <= float_info.max),
        "must be a standard deviation: a finite number >= 0, or None",
    ),
    "tol": TOL,
    "max_iter": COUNT_OR_NONE,
    "verbose": FLAG,
}


@dataclass(frozen=True, eq=False)
class Recovery:
    """What was found behind measurements."""

    coefficients: Array
    signals: Array
    certificate: RecoveryCertificate


@dataclass(eq=False, repr=False)
class CompressedSensing(Certified[SensingFit]):
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
    measurement_, basis_ : Φ and Ψ as maps of rows, with `apply` (Ψc) and `adjoint` (Ψᵀx); a basis also has `analysis`
        (c with Ψc = x), `synthesis` and `approximate` (by the largest coefficients alone)
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

    n_measurements: int | float
    _: KW_ONLY
    basis: Any = "dct"
    signal_shape: int | tuple[int, ...] | None = None
    measurement: Any = "gaussian"
    solver: str = "omp"
    sparsity: int | None = None
    noise: float | None = None
    tol: float = 1e-6
    max_iter: int | None = None
    random_state: Any = None
    verbose: bool = False

    _kind = Kind(SensingState, FORMS, Parameter)
    _table = ATTRIBUTES

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the measurements for signals as long as the rows of X. y is ignored.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import CompressedSensing
        >>> sensing = CompressedSensing(0.25).fit(np.zeros((1, 64)))  # only their length matters
        >>> sensing.n_measurements_, sensing.measurement_.shape
        (16, (16, 64))
        """
        if getattr(X, "ndim", 2) == 3:
            raise DataError(f"got an array of shape {X.shape}; signals are rows: pass X.reshape(len(X), -1)")
        return super().fit(X)

    def _learn(self, rows: Rows, checkpoint: str | PathLike[str] | None) -> Learned:
        m, shape = self._checked(rows.shape[1])
        check_finite(rows)
        rng = np.random.default_rng(seed(self.random_state))
        basis = chosen_basis(self.basis, shape)
        self._check_solver(basis.shape[1], fitted=False)
        dictionary = Dictionary(chosen_measurement(self.measurement, m, shape, rng), basis)
        blank = of_nothing(self.solver, float(self.tol), self._noise, dictionary.shape, dictionary.coherence)
        return Learned(SensingFit(shape, dictionary, blank))

    def _codes(self, rows: Rows) -> Generator[Array, None, None]:
        """Measurements y = Φx of signals, block by block."""
        check_finite(rows)
        return rows.each(_of_block(self._measure, rows.result_dtype))

    def _scores(self, X: Any, rows: Rows) -> Any:
        check_finite(rows)
        measured = _mapped(rows, self._measure, rows.result_dtype)
        return measured if rows.home is None else self._at_home(measured, rows.home)

    def _measure(self, X: Array) -> Array:
        return mapped(self._state.dictionary.measurement.apply, X)

    def _signals(self, codes: Array) -> Array:
        return mapped(self._state.dictionary.basis.apply, codes)

    def _rebuilt(self, scores: Rows) -> Generator[Array, None, None]:
        """Signals x = Ψc with a sparse c that explains the measurements, batch by batch.

        `certificate_` then speaks of these.
        """
        Y, dtype = self._measured(scores)

        def note(certificate: RecoveryCertificate) -> None:
            self._adopt(replace(self._state, certificate=certificate))

        return self._found(Y, lambda codes: delivered(self._signals(codes), dtype), note)

    def inverse_transform(self, X: Any, *, out: Out | None = None) -> Any:
        if out is None and is_dask(X):
            raise DataError(
                "CompressedSensing does not recover signals lazily: every recovery is certified when it is done",
                "pass X.compute(), or a file as out",
            )
        return super().inverse_transform(X, out=out)

    inverse_transform.__doc__ = Certified.inverse_transform.__doc__

    def recover(self, X: Any) -> Recovery:
        """Coefficients, signals and certificate behind measurements; the model stays as it is.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import CompressedSensing
        >>> clicks = np.eye(32)[:3]
        >>> sensing = CompressedSensing(16, basis=np.eye(32)).fit(clicks)
        >>> found = sensing.recover(sensing.transform(clicks))
        >>> bool(np.allclose(found.signals, clicks)), found.certificate.support_size
        (True, array([1, 1, 1]))
        """
        self._check_fitted()
        rows = in_order(self._opened(X), self)
        Y, dtype = self._measured(rows)
        said: list[RecoveryCertificate] = []
        codes = stack(self._found(Y, lambda codes: codes, said.append), len(Y))
        with by_all_cores():
            signals = self._signals(codes)
        put = rows.home or (lambda values: values)
        return Recovery(put(delivered(codes, dtype)), put(delivered(signals, dtype)), said[0])

    def _errors(self, rows: Rows) -> Generator[Array, None, None]:
        """Squared distances of signals to what comes back of their measurements."""
        check_finite(rows)
        measured = _mapped(rows, self._measure, np.float64)
        signals = stack(self._found(measured, self._signals, lambda certificate: None), len(measured))
        with np.errstate(over="ignore", under="ignore"):  # squares may be infinite
            yield np.square(_mapped(rows, lambda block: block, np.float64) - signals).sum(axis=1)

    def _measured(self, rows: Rows) -> tuple[Array, Any]:
        """Measurements, checked, and the type of what they are turned into."""
        if rows.shape[1] != self._n_features_out:
            raise DataError(
                f"got {rows.shape[1]} columns; the model measures {self._n_features_out} numbers per signal"
            )
        check_finite(rows)
        return np.ascontiguousarray(_mapped(rows, lambda block: block, np.float64)), rows.result_dtype

    def _found(
        self, Y: Array, output: Callable[[Array], Array], note: Callable[[RecoveryCertificate], object]
    ) -> Generator[Array, None, None]:
        """What is made of the coefficients of all signals, batch by batch; `note` is given their certificate, before
        the last batch comes: whoever has that one may stop."""
        self._checked(self.n_features_in_)
        self._check_solver(self._state.dictionary.basis.shape[1], fitted=True)
        most = [None if count is None else min(int(count), COUNTS) for count in (self.sparsity, self.max_iter)]
        goal = Goal(np.full(len(Y), self._noise), sparsity=most[0], tol=float(self.tol), max_iter=most[1])
        blank = replace(self.certificate_, solver=self.solver, tol=float(self.tol), noise=self._noise)
        columns: list[dict[str, Array]] = []
        left = len(Y)
        with Progress() if self.verbose else nullcontext() as progress:
            if progress is not None:
                goal = replace(goal, tell=progress.say)
                progress.begin(left, what="signals")
            for part in parts(self._state.dictionary, Y, SOLVERS[self.solver], goal, output):
                columns.append(part.columns)
                left -= len(part.output)
                if progress is not None:
                    progress.advance(len(part.output))
                if left:
                    yield part.output
        certificate = certified(blank, columns)
        if self.verbose:
            print(certificate, file=sys.stderr)
        self._warn(diagnostics.of_recovery(certificate, goal.max_iter))
        note(certificate)
        yield part.output

    @property
    def _noise(self) -> float:
        return 0.0 if self.noise is None else float(self.noise)

    def _checked(self, length: int) -> tuple[int, tuple[int, ...]]:
        """How many measurements, and which shape, signals of this length have; all parameters are checked."""
        check_all(self, RULES)
        return _measurements(self.n_measurements, length), _shape(self.signal_shape, length)

    def _check_solver(self, coefficients: int, fitted: bool) -> None:
        """Whether the solver is one for this; until a fit is done, a greedy one may still be told when to stop."""
        solver = SOLVERS[self.solver]
        stops = solver.greedy and (not fitted or self.sparsity is not None or self._noise > 0)
        if solver.longest is not None and coefficients > solver.longest and not stops:
            known = " unless sparsity or noise says when to stop" if solver.greedy else ""
            raise DataError(
                f"solver={self.solver!r} is for up to {solver.longest} coefficients{known}, and there are "
                f"{coefficients}; solver='fista' has no limit"
            )
        if self._noise and not solver.noisy:
            raise DataError(
                f"solver={self.solver!r} takes measurements as exact, and noise={self._noise:g} says that they are "
                "not; use solver='fista' or 'omp'"
            )

    def _check_parameters(self, state: SensingState) -> None:
        m, shape = self._checked(state.n_features)
        self._check_solver(chosen_basis(self.basis, shape).shape[1], fitted=False)
        rng = np.random.default_rng(seed(copy.deepcopy(self.random_state)))  # a copy, as this draws from it
        if isinstance(self.measurement, str):
            m, shape = 1, (1,)  # a small one tells whether the name is known
        chosen_measurement(self.measurement, m, shape, rng)

    def _stored_state(self) -> SensingState:
        return stored(self._state, self.measurement, self.basis)

    def _restored(self, state: SensingState) -> SensingFit:
        return restored(state, self.measurement, self.basis)

    def _stored_parameters(self) -> dict[str, Any]:
        given = self._parameters()
        for name in ("measurement", "basis"):
            if not isinstance(given[name], str):
                given[name] = MatrixState(as_matrix(given[name], name))
        if isinstance(given["signal_shape"], list):
            given["signal_shape"] = tuple(given["signal_shape"])
        return given


def _measurements(asked: int | float, length: int) -> int:
    if is_share(asked):
        return max(1, round(float(asked) * length))
    if int(asked) > length:
        raise DataError(
            f"n_measurements={asked} is more than the {length} entries of a signal (n_features={length}); that many "
            f"need no recovery: ask for {length} or fewer"
        )
    return int(asked)


def _shape(asked: Any, length: int) -> tuple[int, ...]:
    sizes = (length,) if asked is None else (asked,) if is_integer(asked) else asked
    if prod(sizes) != length:
        raise DataError(
            f"signal_shape={asked!r} has {prod(sizes)} entries, but signals have {length} (n_features={length})"
        )
    return tuple(map(int, sizes))


def _mapped(rows: Rows, f: Callable[[Array], Array], dtype: Any) -> Array:
    """f of all rows, in float64, then in that type."""
    with by_all_cores():
        return np.array(rows.map(_of_block(f, dtype)), copy=None)


def _of_block(f: Callable[[Array], Array], dtype: Any) -> Callable[[Block], Array]:
    """The same of a block."""
    return lambda block: delivered(np.asarray(f(dense(block).astype(np.float64, copy=False))), np.dtype(dtype))
