"""Models of compressed sensing into files, and back."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse

from ritz.errors import DataError
from ritz.estimators.saving import columns_of, output_of
from ritz.estimators.seeds import seed
from ritz.estimators.sensing_request import asked_of, check_fit
from ritz.rows.base import Block
from ritz.sensing.bases import as_map, chosen_basis
from ritz.sensing.cosines import Cosines, SubsampledCosines
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import Map, Matrix, Operator
from ritz.sensing.measurements import chosen_measurement
from ritz.sensing.state import CosinesState, MatrixState, SensingState, check_together
from ritz.sensing.wavelets import Wavelets

GIVEN = ("measurement", "basis")  # parameters that may be matrices


def check_parameters(model: Any, length: int) -> None:
    """By the rules of a fit on signals of this length."""
    asked = asked_of(model, length)
    check_fit(asked, chosen_basis(model.basis, asked.signal_shape).shape[1])
    rng = np.random.default_rng(seed(copy.deepcopy(model.random_state)))  # a copy, as this draws from it
    if isinstance(model.measurement, str):
        chosen_measurement(model.measurement, 1, (1,), rng)  # a small one tells whether the name is known
    else:
        chosen_measurement(model.measurement, asked.n_measurements, asked.signal_shape, rng)


def sensing_state(model: Any) -> SensingState:
    """What a CompressedSensing is made of."""
    check_parameters(model, model.n_features_in_)
    return SensingState(
        n_features=int(model.n_features_in_),
        signal_shape=model.signal_shape_,
        certificate=model.certificate_,
        measurement=_measurement_state(model),
        basis=_basis_state(model),
        **columns_of(model),
        output=output_of(model),
    )


def kept_parameters(model: Any) -> dict[str, Any]:
    """The parameters, matrices among them as a file can hold them."""
    given = model.get_params(deep=False)
    for name in GIVEN:
        if not isinstance(given[name], str):
            given[name] = MatrixState(_as_matrix(given[name], name))
    if isinstance(given["signal_shape"], list):
        given["signal_shape"] = tuple(given["signal_shape"])
    return given


def _as_matrix(given: Any, name: str) -> Block:
    if scipy.sparse.issparse(given):
        return given.tocsr()
    if hasattr(given, "matmat"):
        raise DataError(
            f"{name}={given!r} is known by its products alone, and a model file holds numbers; pass the matrix itself, "
            "or use pickle or joblib between trusted programs"
        )
    return np.asarray(given)


def _measurement_state(model: Any) -> MatrixState | CosinesState | None:
    drawn = model.measurement_
    if isinstance(drawn, SubsampledCosines):
        return CosinesState(drawn.kept.astype(np.int64), drawn.signs.astype(np.int8))
    return _matrix_state(drawn, model.measurement, "measurement")


def _basis_state(model: Any) -> str | MatrixState | None:
    basis = model.basis_
    if isinstance(basis, Cosines):
        return "dct"
    return basis.name if isinstance(basis, Wavelets) else _matrix_state(basis, model.basis, "basis")


def _matrix_state(held: Matrix | Operator, given: Any, name: str) -> MatrixState | None:
    """The matrix that is held; None where the parameter says the same, so that no file has it twice."""
    if not isinstance(given, str) and _same(as_map(_as_matrix(given, name), name), held):
        return None
    return MatrixState(held.entries if isinstance(held, Matrix) else _as_matrix(held.operator, name))


def _same(a: Map, b: Map) -> bool:
    """The same numbers in the same order in memory, which arithmetic rounds by."""
    if isinstance(a, Matrix) and isinstance(b, Matrix):
        return a.entries.strides == b.entries.strides and np.array_equal(a.entries, b.entries)
    if not isinstance(a, Operator) or not isinstance(b, Operator) or type(a.operator) is not type(b.operator):
        return False
    pairs = [(getattr(a.operator, part), getattr(b.operator, part)) for part in ("data", "indices", "indptr")]
    return a.shape == b.shape and all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in pairs)


def restored(model: Any, state: SensingState) -> dict[str, Any]:
    """Everything a fit, and the last recovery, left on a model with these parameters."""
    measurement, basis = _measurement(model, state), _basis(model, state)
    certificate = replace(state.certificate, generic=measurement.generic)  # which older files do not tell
    check_together(certificate, state.n_features, (measurement.shape[0], basis.shape[1]))
    iterations = certificate.iterations
    return {
        "n_measurements_": measurement.shape[0],
        "signal_shape_": state.signal_shape,
        "measurement_": measurement,
        "basis_": basis,
        "_dictionary": Dictionary(measurement, basis),
        "certificate_": certificate,
        "n_iter_": int(iterations.max()) if len(iterations) else 1,
    }


def _measurement(model: Any, state: SensingState) -> Map:
    kept = state.measurement
    if isinstance(kept, CosinesState):
        return SubsampledCosines(state.signal_shape, kept.kept.astype(np.intp), kept.signs.astype(np.float64))
    measurement = _map(kept, model.measurement, "measurement")
    # The parameter may have been changed since the fit, but the certificate knows what was drawn, if columns differ.
    named, known = isinstance(model.measurement, str), state.certificate
    drawn = kept is not None and (known.random or (known.alike and named))
    return Matrix(measurement.entries, random=True) if drawn and isinstance(measurement, Matrix) else measurement


def _basis(model: Any, state: SensingState) -> Map:
    kept = state.basis
    return chosen_basis(kept, state.signal_shape) if isinstance(kept, str) else _map(kept, model.basis, "basis")


def _map(kept: MatrixState | None, given: Any, name: str) -> Map:
    """The matrix that was kept, or else the one that is a parameter."""
    if kept is None and isinstance(given, str):
        raise DataError(f"there is no {name} beside its name, {given!r}")
    return as_map(given if kept is None else kept.entries, name)
