"""The state of a CompressedSensing model: what a fit draws, what a file keeps, and the attributes that follow from it.

A new fitted attribute is one line in `ATTRIBUTES`; if it does not follow from what is there, one field of `SensingFit`
and one of `SensingState` too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from operator import attrgetter
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.fitting.result import Table
from ritz.pca import model_file
from ritz.pca.model_file import Twister, require
from ritz.rows.base import Block
from ritz.runtime.files.container import DTYPES
from ritz.runtime.files.decoding import Form
from ritz.runtime.rules import TOL
from ritz.sensing import SOLVERS
from ritz.sensing.bases import Cosines, Wavelets, chosen_basis
from ritz.sensing.certificate import PER_SIGNAL, RecoveryCertificate
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import Map, Matrix, Operator, as_map
from ritz.sensing.measurements import SubsampledCosines

SLACK = 1 + 1e-6  # on a bound that rounding may pass


@dataclass(frozen=True, eq=False)
class SensingFit:
    """What a fit draws, and the certificate of the signals that were recovered last."""

    signal_shape: tuple[int, ...]
    dictionary: Dictionary
    certificate: RecoveryCertificate


# How every attribute follows from it.
ATTRIBUTES: Table = {
    "_n_features_out": lambda fit: fit.dictionary.shape[0],
    "n_measurements_": lambda fit: fit.dictionary.shape[0],
    "signal_shape_": attrgetter("signal_shape"),
    "measurement_": attrgetter("dictionary.measurement"),
    "basis_": attrgetter("dictionary.basis"),
    "certificate_": attrgetter("certificate"),
    "n_iter_": lambda fit: int(max(fit.certificate.iterations, default=1)),
}


@dataclass(frozen=True, eq=False)
class MatrixState:
    """A matrix, dense or sparse: drawn measurements, or what a parameter was given as."""

    entries: Block


@dataclass(frozen=True, eq=False)
class CosinesState:
    """Measurements without a matrix."""

    kept: NDArray[np.int64]  # (m,) places of the cosine coefficients that are measured, ascending
    signs: NDArray[np.int8]  # (n,) of the entries of a signal before it is transformed


@dataclass(frozen=True, eq=False)
class SensingState:
    """All that a fit drew, and the last certificate.

    Measurements are kept as drawn, so that they do not depend on how NumPy draws.
    """

    n_features: int  # n, the length of signals
    signal_shape: tuple[int, ...]
    certificate: RecoveryCertificate
    measurement: MatrixState | CosinesState | None = None  # None where it is the parameter of this name
    basis: str | MatrixState | None = None  # its name, or a matrix; None likewise
    columns: tuple[str, ...] | None = None  # their names, if they have any
    output: str | None = None  # what `set_output` was told about `transform`
    textual: bool = True  # whether the names of columns are text where they come from, and not numbers


Parameter = None | bool | int | float | str | tuple[int, ...] | MatrixState | Twister


def stored(fit: SensingFit, measurement: Any, basis: Any) -> SensingState:
    """The state as a file keeps it, beside these parameters."""
    return SensingState(
        n_features=fit.dictionary.measurement.shape[1],
        signal_shape=fit.signal_shape,
        certificate=fit.certificate,
        measurement=_kept(fit.dictionary.measurement, measurement, "measurement"),
        basis=_kept(fit.dictionary.basis, basis, "basis"),
    )


def restored(state: SensingState, measurement: Any, basis: Any) -> SensingFit:
    """The fit that a file keeps, beside these parameters."""
    Phi, kept = _measurement(state, measurement), state.basis
    Psi = chosen_basis(kept, state.signal_shape) if isinstance(kept, str) else _map(kept, basis, "basis")
    dictionary = Dictionary(Phi, Psi)
    certificate = replace(state.certificate, generic=Phi.generic)  # which older files do not tell
    n, (m, p) = state.n_features, dictionary.shape
    require(m <= n, f"at most {n} measurements")
    found = certificate.n_measurements, certificate.n_coefficients
    require(found == (m, p), f"a certificate of {m} measurements of {p} coefficients")
    require(certificate.coherence <= SLACK * np.sqrt(n), f"coherence of at most the root of {n}")
    return SensingFit(state.signal_shape, dictionary, certificate)


def as_matrix(given: Any, name: str) -> Block:
    """A parameter that is a matrix, as a file can hold it."""
    if scipy.sparse.issparse(given):
        return given.tocsr()
    if hasattr(given, "matmat"):
        raise DataError(
            f"{name}={given!r} is known by its products alone, and a model file holds numbers; pass the matrix itself, "
            "or use pickle or joblib between trusted programs"
        )
    return np.asarray(given)


def _kept(held: Any, given: Any, name: str) -> Any:
    """What a file keeps of measurements or basis; None where the parameter says the same: no file has it twice."""
    if isinstance(held, SubsampledCosines):
        return CosinesState(held.kept.astype(np.int64), held.signs.astype(np.int8))
    if isinstance(held, Cosines | Wavelets):
        return "dct" if isinstance(held, Cosines) else held.name
    if not isinstance(given, str) and _same(as_map(as_matrix(given, name), name), held):
        return None
    return MatrixState(held.entries if isinstance(held, Matrix) else as_matrix(held.operator, name))


def _same(a: Map, b: Map) -> bool:
    """The same numbers in the same order in memory, which arithmetic rounds by."""
    if isinstance(a, Matrix) and isinstance(b, Matrix):
        return a.entries.strides == b.entries.strides and np.array_equal(a.entries, b.entries)
    if not isinstance(a, Operator) or not isinstance(b, Operator) or type(a.operator) is not type(b.operator):
        return False
    pairs = [(getattr(a.operator, part), getattr(b.operator, part)) for part in ("data", "indices", "indptr")]
    return a.shape == b.shape and all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in pairs)


def _measurement(state: SensingState, given: Any) -> Map:
    kept = state.measurement
    if isinstance(kept, CosinesState):
        return SubsampledCosines(state.signal_shape, kept.kept.astype(np.intp), kept.signs.astype(np.float64))
    measurement = _map(kept, given, "measurement")
    # The parameter may have been changed since the fit, but the certificate knows what was drawn, if columns differ.
    named, known = isinstance(given, str), state.certificate
    drawn = kept is not None and (known.random or (known.alike and named))
    return Matrix(measurement.entries, random=True) if drawn and isinstance(measurement, Matrix) else measurement


def _map(kept: MatrixState | None, given: Any, name: str) -> Map:
    """The matrix that was kept, or else the one that is a parameter."""
    if kept is None and isinstance(given, str):
        raise DataError(f"the file lacks the matrix of {name}={given!r}")
    return as_map(given if kept is None else kept.entries, name)


def _check_sensing(state: SensingState) -> None:
    model_file.check_columns(state.output, state.n_features, state.columns)
    n, sizes = state.n_features, state.signal_shape
    require(len(sizes) in (1, 2) and min(sizes) >= 1 and prod(sizes) == n, f"a signal_shape of {n} entries")
    if isinstance(state.measurement, CosinesState):
        require(len(state.measurement.signs) == n, f"signs of {n} entries")
    elif state.measurement is not None:
        require(state.measurement.entries.shape[1] == n, f"a measurement with {n} columns")
    if isinstance(state.basis, MatrixState):
        require(state.basis.entries.shape[0] == n, f"a basis with {n} rows")


def _check_matrix(state: MatrixState) -> None:
    require(min(state.entries.shape) >= 1, "a matrix of one row and one column at least")


def _check_cosines(state: CosinesState) -> None:
    m, n = len(state.kept), len(state.signs)
    require(1 <= m <= n, f"between 1 and {n} places")
    require((state.kept[1:] > state.kept[:-1]).all(), "places ascend, and none stands twice")
    require(state.kept[0] >= 0 and state.kept[-1] < n, f"places of {n} coefficients")
    require((np.abs(state.signs) == 1).all(), "signs are 1 or -1")


def _check_certificate(known: RecoveryCertificate) -> None:
    m, p, sizes = known.n_measurements, known.n_coefficients, known.support_size
    TOL.check("tol", known.tol)
    require(known.solver in SOLVERS, f"a solver that is one of {', '.join(SOLVERS)}")
    require(known.noise >= 0, "noise >= 0")
    require(m >= 1 and p >= 1, "measurements and coefficients, one at least")
    require(known.coherence >= 0 and 0 <= known.mutual_coherence <= 1, "coherence >= 0, and that of columns at most 1")
    require(0 <= known.rank <= min(m, p), "a rank that A can have")
    require((known.sparsity >= 0).all() and (known.sparsity <= sizes).all(), "sparsity between 0 and support_size")
    require((sizes <= p).all(), f"at most {p} coefficients in a support")
    for name in ("residual", "duality_gap", "penalty", "exact_recovery", "iterations"):
        require(not (getattr(known, name) < 0).any(), f"{name} >= 0")
    # Numbers that overflow leave no residual, but then nothing was reached either.
    reached = np.stack([known.residual, known.duality_gap])[:, known.converged]
    require(np.isfinite(reached).all(), "finite residuals and gaps of signals that converged")
    require(known.rank < p or not known.hopeless.any(), "that no signal is hopeless where all columns are independent")
    require(not (known.hopeless & known.explained).any(), "that no signal is hopeless whose measurements are explained")


NUMBERS = " ".join(dtype.name for dtype in DTYPES.values())
FORMS: dict[type[Any], Form] = {
    SensingState: Form(check=_check_sensing),
    MatrixState: Form({"entries": "m n"}, {"entries": NUMBERS}, sparse="entries", check=_check_matrix),
    CosinesState: Form({"kept": "m", "signs": "n"}, {"kept": "int64", "signs": "int8"}, check=_check_cosines),
    RecoveryCertificate: Form(
        dict.fromkeys(PER_SIGNAL, "b"),
        {name: np.dtype(kind).name for name, kind in PER_SIGNAL.items()},
        infinite="residual duality_gap exact_recovery",
        unknown="residual duality_gap exact_recovery",
        check=_check_certificate,
    ),
    Twister: model_file.FORMS[Twister],
}
