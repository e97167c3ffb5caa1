"""What may appear in the file of a CompressedSensing model, and how its parts must fit together."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ritz.pca import model_file
from ritz.pca.model_file import Twister, require
from ritz.runtime.files.container import DTYPES
from ritz.runtime.files.decoding import Form
from ritz.sensing import SOLVERS
from ritz.sensing.certificate import RecoveryCertificate, of_nothing
from ritz.sensing.dictionary import Coherence
from ritz.sensing.state import CosinesState, MatrixState, SensingState
from ritz.solvers.base import check_tol

Parameter = None | bool | int | float | str | tuple[int, ...] | MatrixState | Twister


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


def _check_certificate(certificate: RecoveryCertificate) -> None:
    known = certificate
    check_tol(known.tol)
    require(known.solver in SOLVERS, f"a solver that is one of {', '.join(SOLVERS)}")
    require(known.noise >= 0, "noise >= 0")
    require(known.n_measurements >= 1 and known.n_coefficients >= 1, "measurements and coefficients, one at least")
    require(known.coherence >= 0 and 0 <= known.mutual_coherence <= 1, "coherence >= 0, and that of columns at most 1")
    require(0 <= known.rank <= min(known.n_measurements, known.n_coefficients), "a rank that A can have")
    _check_signals(known)


def _check_signals(known: RecoveryCertificate) -> None:
    """What is said of every signal that was recovered."""
    sizes, p = known.support_size, known.n_coefficients
    require((known.sparsity >= 0).all() and (known.sparsity <= sizes).all(), "sparsity between 0 and support_size")
    require((sizes <= p).all(), f"at most {p} coefficients in a support")
    for name in ("residual", "duality_gap", "penalty", "exact_recovery", "iterations"):
        require(not (getattr(known, name) < 0).any(), f"{name} >= 0")
    # Numbers that overflow leave no residual, but then nothing was reached either.
    reached = np.stack([known.residual, known.duality_gap])[:, known.converged]
    require(np.isfinite(reached).all(), "finite residuals and gaps of signals that converged")
    require(known.rank < p or not known.hopeless.any(), "hope where all columns are independent")
    require(not (known.hopeless & known.explained).any(), "hope where measurements are explained")


def _per_signal() -> dict[str, str]:
    """What a certificate has for every signal, and in which dtype: all of its arrays."""
    blank = of_nothing("omp", 0.0, 0.0, (1, 1), Coherence(1.0, 1.0, exact=True, rank=1, random=True, generic=True))
    return {name: part.dtype.name for name, part in vars(blank).items() if isinstance(part, np.ndarray)}


NUMBERS, PER_SIGNAL = " ".join(dtype.name for dtype in DTYPES.values()), _per_signal()
FORMS: dict[type[Any], Form] = {
    SensingState: Form(check=_check_sensing),
    MatrixState: Form({"entries": "m n"}, {"entries": NUMBERS}, sparse="entries", check=_check_matrix),
    CosinesState: Form({"kept": "m", "signs": "n"}, {"kept": "int64", "signs": "int8"}, check=_check_cosines),
    RecoveryCertificate: Form(
        dict.fromkeys(PER_SIGNAL, "b"),
        PER_SIGNAL,
        infinite="residual duality_gap exact_recovery",
        unknown="residual duality_gap exact_recovery",
        check=_check_certificate,
    ),
    Twister: model_file.FORMS[Twister],
}
