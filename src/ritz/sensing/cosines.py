"""The discrete cosine transform, as a basis and as measurements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.fft

from ritz.linalg.dense import Array
from ritz.runtime.threads import cached_property
from ritz.sensing.maps import Map, Places


class Cosines(Map):
    """Signals as sums of cosines: the orthonormal DCT-II, along one axis or two."""

    isometry = True

    def __init__(self, signal_shape: tuple[int, ...]) -> None:
        self.signal_shape = signal_shape
        self.shape = (int(np.prod(signal_shape)),) * 2

    def apply(self, X: Array) -> Array:
        return self._transform(scipy.fft.idctn, X)

    def adjoint(self, Y: Array) -> Array:
        return self._transform(scipy.fft.dctn, Y)

    def _transform(self, transform: Callable[..., Array], X: Array) -> Array:
        signals = X.reshape(len(X), *self.signal_shape)
        axes = tuple(range(1, signals.ndim))
        return transform(signals, axes=axes, norm="ortho").reshape(X.shape)


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
