"""The bases that signals may be sparse in: cosines, the wavelets of PyWavelets, a matrix, or its products."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import Any

import numpy as np
import scipy.fft

from ritz.errors import DataError, MissingPackageError
from ritz.linalg.dense import Array
from ritz.runtime import threads
from ritz.sensing.maps import Map, as_map

SHAPE = "columns are the basis vectors: signal = basis @ coefficients"
NEAR = 1e-9  # departure from orthonormality that rounded tables of filters have
MENDED = 20  # steps at most to the inverse of a transform: each leaves a hundredth of the error, or far less
LARGE = 1 << 14  # entries from which on more threads pay


def chosen_basis(asked: Any, signal_shape: tuple[int, ...]) -> Map:
    """The map Ψ from coefficients to signals of this shape."""
    if not isinstance(asked, str):
        basis = as_map(asked, "basis")
        length = int(np.prod(signal_shape))
        if basis.shape[0] != length:
            raise DataError(f"basis has shape {basis.shape}, but signals have {length} entries (n_features); {SHAPE}")
        return basis
    if asked == "dct":
        return Cosines(signal_shape)
    try:
        import pywt
    except ImportError:
        needs = "any other name needs PyWavelets: pip install 'ritz[sensing]'"
        raise MissingPackageError(f"basis={asked!r} is not 'dct', and {needs}") from None
    known = pywt.wavelist(kind="discrete")
    if asked not in known:
        near = get_close_matches(asked.lower(), ["dct", *known], 1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(
            f"basis={asked!r} is not known{meant}; the known ones are dct, {', '.join(known)}; or pass a matrix or a "
            "LinearOperator"
        )
    return Wavelets(asked, signal_shape)


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


class Wavelets(Map):
    """Signals as sums of wavelets: a filter bank that is repeated on its low half, with signals continued periodically.

    A part of odd length passes its last entry on to the next level, so that the transform is orthonormal, where the
    wavelets are, for every length.
    """

    def __init__(self, name: str, signal_shape: tuple[int, ...]) -> None:
        import pywt

        wavelet = pywt.Wavelet(name)
        self.name, self.signal_shape = name, signal_shape
        self.shape = (int(np.prod(signal_shape)),) * 2
        self.isometry = wavelet.orthogonal and _orthonormal(np.array(wavelet.rec_lo))
        self._levels = _levels(signal_shape, wavelet.rec_len)
        if not self._levels:
            raise DataError(
                f"basis={name!r} has {wavelet.rec_len} coefficients, more than fit along the shortest side of "
                f"signal_shape={signal_shape} (n_features={self.shape[0]}); choose basis='dct', a shorter wavelet "
                "('haar' has 2), or another signal_shape"
            )
        # The adjoint of synthesis takes a signal apart with the synthesis filters, backwards. Its inverse does so with
        # the analysis filters; only for orthonormal wavelets are the two the same.
        backwards = [filter_[::-1] for filter_ in (wavelet.rec_lo, wavelet.rec_hi, wavelet.dec_lo, wavelet.dec_hi)]
        self._wavelet, self._adjoint = wavelet, pywt.Wavelet("adjoint", filter_bank=backwards)

    def apply(self, X: Array) -> Array:
        return self._by_levels(X, self._levels[::-1], partial(_join, self._wavelet))

    def adjoint(self, Y: Array) -> Array:
        return self._by_levels(Y, self._levels, partial(_split, self._adjoint))

    def inverse(self, X: Array) -> Array:
        """Ψ⁻¹x, by the analysis filters T and c ← c + T(x − Ψc).

        The filters are tables that were rounded, and those of "dmey" were cut off: TΨ = I up to 1e-11, or 1e-2.
        """
        codes, before = np.zeros(X.shape), np.full(len(X), np.inf)
        for _ in range(MENDED):
            left = X - self.apply(codes)
            size = np.abs(left).max(axis=1, initial=0.0)
            if not (size < before / 2).any():
                break
            left[size >= before / 2] = 0.0  # rounding is all that is left of these
            codes, before = codes + self._by_levels(left, self._levels, partial(_split, self._wavelet)), size
        return codes

    def _by_levels(self, X: Array, levels: list[tuple[int, ...]], step: Callable[[Array], None]) -> Array:
        """A step along every axis of the low part of each level."""
        found = np.array(X, dtype=np.float64).reshape(len(X), *self.signal_shape)
        for sizes in levels:
            part = found[(slice(None), *map(slice, sizes))]
            for axis in range(1, found.ndim):
                _on_lines(step, np.moveaxis(part, axis, -1))
        return found.reshape(X.shape)


def _levels(sizes: tuple[int, ...], length: int) -> list[tuple[int, ...]]:
    """The sizes of the part that each level splits, as long as the filter fits into it."""
    levels = []
    while min(sizes) >= max(2, length):
        levels.append(sizes)
        sizes = tuple(-(-size // 2) for size in sizes)
    return levels


def _on_lines(step: Callable[[Array], None], lines: Array) -> None:
    """A step on every line, by as many threads as SciPy's transforms may use here."""
    workers = scipy.fft.get_workers()
    if workers > 1 and lines.size >= LARGE:
        deque(threads.ordered(step, np.array_split(lines, workers, axis=-2), workers), maxlen=0)
    else:
        step(lines)


def _split(wavelet: Any, X: Array) -> None:
    """In place, along the last axis: the low half, an odd entry, the high half."""
    import pywt

    size = X.shape[-1]
    half = size // 2
    odd = X[..., 2 * half :].copy()
    low, high = pywt.dwt(X[..., : 2 * half], wavelet, "periodization")
    X[..., :half], X[..., half : size - half], X[..., size - half :] = low, odd, high


def _join(wavelet: Any, X: Array) -> None:
    """The reverse of `_split`, with the synthesis filters."""
    import pywt

    size = X.shape[-1]
    half = size // 2
    odd = X[..., half : size - half].copy()
    X[..., : 2 * half] = pywt.idwt(X[..., :half], X[..., size - half :], wavelet, "periodization")
    X[..., 2 * half :] = odd


def _orthonormal(low: Array) -> bool:
    """Whether the shifts of a filter by twos are orthonormal."""
    products = np.correlate(low, low, "full")[len(low) - 1 :: 2]
    return bool(np.abs(products - np.eye(1, len(products))).max() < NEAR)
