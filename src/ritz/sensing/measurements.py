"""The measurements of signals: random ones by name, or any matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.runtime.memory import allowed, format_bytes
from ritz.runtime.threads import cached_property
from ritz.sensing.bases import Cosines
from ritz.sensing.maps import Map, Matrix, Places, as_map

DENSE: dict[str, Callable[[int, int, np.random.Generator], Array]] = {
    "gaussian": lambda m, n, rng: rng.standard_normal((m, n)),
    "bernoulli": lambda m, n, rng: 2.0 * rng.integers(0, 2, (m, n), dtype=np.int8) - 1.0,
}


def chosen_measurement(asked: Any, m: int, signal_shape: tuple[int, ...], rng: np.random.Generator) -> Map:
    """The map Φ from signals to m measurements, scaled so that lengths are kept on average."""
    n = int(np.prod(signal_shape))
    if not isinstance(asked, str):
        measurement = as_map(asked, "measurement")
        if measurement.shape != (m, n):
            raise DataError(
                f"measurement has shape {measurement.shape}, expected {(m, n)}: a row for each of "
                f"n_measurements={m}, a column for each of the {n} entries of a signal"
            )
        return measurement
    if asked == "subsampled-dct":
        kept = np.sort(rng.choice(n, m, replace=False))
        return SubsampledCosines(signal_shape, kept, 2.0 * rng.integers(0, 2, n) - 1.0)
    if asked not in DENSE:
        raise ValueError(
            f"measurement={asked!r} is not known; the known ones are {', '.join(DENSE)}, subsampled-dct; or pass a "
            "matrix or a LinearOperator"
        )
    if 8 * m * n > allowed() // 2:  # the product with the basis takes as much again
        raise DataError(
            f"measurement={asked!r} is a matrix of {m} by {n} numbers, which would take {format_bytes(8 * m * n)} of "
            f"memory, {format_bytes(allowed() // 2)} are allowed here; measurement='subsampled-dct' needs no matrix"
        )
    entries = DENSE[asked](m, n, rng)
    entries /= np.sqrt(m)
    return Matrix(entries, random=True)


class SubsampledCosines(Map):
    """m cosine coefficients, drawn at random, of the signal with random signs: √(N/m) R F D.

    The signs D spread every signal over all frequencies, so that no basis is coherent with the measurements, that of
    cosines included, and no coefficient, such as the mean, is lost for not being drawn (Do, Gan, Nguyen and Tran 2012,
    structurally random matrices).
    """

    random = True
    independent_rows = True

    def __init__(self, signal_shape: tuple[int, ...], kept: Places, signs: Array) -> None:
        self.kept, self.signs = kept, signs
        self._cosines = Cosines(signal_shape)
        self.shape = (len(kept), len(signs))
        self._weight = np.sqrt(len(signs) / len(kept))

    def apply(self, X: Array) -> Array:
        return self._weight * np.take(self._cosines.adjoint(X * self.signs), self.kept, axis=1)

    def adjoint(self, Y: Array) -> Array:
        spread = np.zeros((len(Y), self.shape[1]))
        spread[:, self.kept] = self._weight * Y
        signals = self._cosines.apply(spread)
        signals *= self.signs
        return signals

    @cached_property
    def norm(self) -> float:
        return float(self._weight)
