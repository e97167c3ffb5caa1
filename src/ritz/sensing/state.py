"""The state of a CompressedSensing model: what a fit draws, what a file keeps, and the attributes that follow from it.

A new fitted attribute is one line in `ATTRIBUTES`; if it does not follow from what is there, one field of `SensingFit`
and one of `SensingState` too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.fitting.result import Table
from ritz.pca.model_file import require
from ritz.rows.base import Block
from ritz.sensing.bases import as_map, chosen_basis
from ritz.sensing.certificate import RecoveryCertificate
from ritz.sensing.cosines import Cosines, SubsampledCosines
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import Map, Matrix, Operator
from ritz.sensing.wavelets import Wavelets

SLACK = 1 + 1e-6  # on a bound that rounding may pass


@dataclass(frozen=True, eq=False)
class SensingFit:
    """What a fit draws, and the certificate of the signals that were recovered last."""

    signal_shape: tuple[int, ...]
    dictionary: Dictionary
    certificate: RecoveryCertificate


# How every attribute follows from it.
ATTRIBUTES: Table = {
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
    """Measurements without a matrix.

    Attributes
    ----------
    kept : (m,) places of the cosine coefficients that are measured, ascending
    signs : (n,) of the entries of a signal before it is transformed
    """

    kept: NDArray[np.int64]
    signs: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class SensingState:
    """All that a fit drew, and the last certificate.

    Attributes
    ----------
    n_features : n, the length of signals
    measurement : as drawn, so that it does not depend on how NumPy draws; None where it is the parameter of this name
    basis : its name, or a matrix; None likewise
    columns : their names, if they have any
    textual : whether these names are text in the table they come from, and not numbers or something else
    output : what `set_output` was told about `transform`
    """

    n_features: int
    signal_shape: tuple[int, ...]
    certificate: RecoveryCertificate
    measurement: MatrixState | CosinesState | None = None
    basis: str | MatrixState | None = None
    columns: tuple[str, ...] | None = None
    output: str | None = None
    textual: bool = True


def stored(fit: SensingFit, measurement: Any, basis: Any) -> SensingState:
    """The state as a file keeps it, beside these parameters."""
    return SensingState(
        n_features=fit.dictionary.measurement.shape[1],
        signal_shape=fit.signal_shape,
        certificate=fit.certificate,
        measurement=_measurement_state(fit.dictionary.measurement, measurement),
        basis=_basis_state(fit.dictionary.basis, basis),
    )


def restored(state: SensingState, measurement: Any, basis: Any) -> SensingFit:
    """The fit that a file keeps, beside these parameters."""
    dictionary = Dictionary(_measurement(state, measurement), _basis(state, basis))
    certificate = replace(state.certificate, generic=dictionary.measurement.generic)  # which older files do not tell
    check_together(certificate, state.n_features, dictionary.shape)
    return SensingFit(state.signal_shape, dictionary, certificate)


def check_together(certificate: RecoveryCertificate, n: int, shape: tuple[int, int]) -> None:
    """Whether a certificate can be one of m measurements of p coefficients, for signals of length n."""
    m, p = shape
    require(m <= n, f"at most {n} measurements")
    found = certificate.n_measurements, certificate.n_coefficients
    require(found == shape, f"a certificate of {m} measurements of {p} coefficients")
    require(certificate.coherence <= SLACK * np.sqrt(n), f"coherence of at most the root of {n}")


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


def _measurement_state(drawn: Any, given: Any) -> MatrixState | CosinesState | None:
    if isinstance(drawn, SubsampledCosines):
        return CosinesState(drawn.kept.astype(np.int64), drawn.signs.astype(np.int8))
    return _matrix_state(drawn, given, "measurement")


def _basis_state(basis: Any, given: Any) -> str | MatrixState | None:
    if isinstance(basis, Cosines):
        return "dct"
    return basis.name if isinstance(basis, Wavelets) else _matrix_state(basis, given, "basis")


def _matrix_state(held: Matrix | Operator, given: Any, name: str) -> MatrixState | None:
    """The matrix that is held; None where the parameter says the same, so that no file has it twice."""
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


def _basis(state: SensingState, given: Any) -> Map:
    kept = state.basis
    return chosen_basis(kept, state.signal_shape) if isinstance(kept, str) else _map(kept, given, "basis")


def _map(kept: MatrixState | None, given: Any, name: str) -> Map:
    """The matrix that was kept, or else the one that is a parameter."""
    if kept is None and isinstance(given, str):
        raise DataError(f"there is no {name} beside its name, {given!r}")
    return as_map(given if kept is None else kept.entries, name)
