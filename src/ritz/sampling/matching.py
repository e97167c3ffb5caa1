"""Axes of resamples beside those of the fit: turned towards them within groups, and the angles that remain.

Signs, and axes within a group that the sample cannot tell apart, are arbitrary in every resample. Orthogonal Procrustes
(Schönemann 1966) takes out just that: the rotation within each group that brings its axes next to those of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg.dense import Array

Groups = tuple[tuple[int, int], ...]


def merged(a: Groups, b: Groups) -> Groups:
    """The finest ranges that hold whole ranges of both.

    Examples
    --------
    >>> merged(((0, 1), (1, 3), (3, 4)), ((0, 2), (2, 3), (3, 4)))
    ((0, 3), (3, 4))
    """
    edges = sorted({start for start, _ in a} & {start for start, _ in b})
    ends = [*edges[1:], max((end for _, end in a), default=0)]
    return tuple(zip(edges, ends, strict=True)) if edges else ()


@dataclass
class Matched:
    """Sums over resamples of what is left between their axes and those of the fit.

    Attributes
    ----------
    fit : (r, k) axes of the fit in the coordinates of the resamples
    roots : (k,) standard deviations of the fit
    groups : within which axes are turned
    by_entry : whether coordinates are columns, so that no covariance between them is needed
    sines : of every resample, that of each group with its own span, and last that of all axes together
    squares : of axes and of loadings, sums over resamples of the squares of aligned ones less those of the fit, (k, r),
        or of their outer products, (k, r, r)
    offsets : (2, k, r), sums of the differences themselves
    """

    fit: Array
    roots: Array
    groups: Groups
    by_entry: bool

    def __post_init__(self) -> None:
        r, k = self.fit.shape
        self.sines: list[Array] = []
        self.squares = np.zeros((2, k, r) if self.by_entry else (2, k, r, r))
        self.offsets, self.count = np.zeros((2, k, r)), 0

    def add(self, found: Array, roots: Array) -> None:  # (c, r, k), (c, k)
        """Take in some resamples: their axes, and the deviations along them."""
        self.sines.append(np.column_stack([*self._by_group(found), largest_sines(self.fit, found)]))
        pairs = (found, self.fit), (found * roots[:, None, :], self.fit * self.roots)
        for squares, offset, (own, given) in zip(self.squares, self.offsets, pairs, strict=True):
            rest = np.ascontiguousarray(np.moveaxis(self._aligned(own, given) - given, 2, 0))  # (k, c, r)
            offset += rest.sum(axis=1)
            squares += np.einsum("kcr,kcr->kr", rest, rest) if self.by_entry else np.swapaxes(rest, 1, 2) @ rest
        self.count += len(found)

    def _by_group(self, found: Array) -> list[Array]:
        return [largest_sines(self.fit[:, s:e], found[:, :, s:e]) for s, e in self.groups]

    def _aligned(self, found: Array, given: Array) -> Array:
        """Turned within every group so that they lie as near to the given ones as they can."""
        out = np.empty_like(found)
        for s, e in self.groups:
            inner = np.swapaxes(found[:, :, s:e], 1, 2) @ given[:, s:e]
            if e - s == 1:
                out[:, :, s:e] = found[:, :, s:e] * np.where(inner < 0, -1.0, 1.0)
            else:
                U, _, Vt = np.linalg.svd(inner)
                out[:, :, s:e] = found[:, :, s:e] @ (U @ Vt)
        return out

    def spread(self, i: int, of_loadings: bool) -> Array:  # (r,) or (r, r)
        """Variances of the entries of the i-th axis, or of its loadings, over resamples; or their covariance."""
        sums, mean = self.squares[int(of_loadings), i], self.offsets[int(of_loadings), i] / self.count
        about = mean**2 if self.by_entry else np.outer(mean, mean)
        return np.asarray((sums - self.count * about) / max(1, self.count - 1))


def largest_sines(given: Array, found: Array) -> Array:  # (r, m), (c, r, m) -> (c,)
    """The sine of the largest angle between the span of the given axes and those of each resample; 1 where a resample
    has fewer axes, and zeros for the others."""
    rest = found - given @ (given.T @ found)
    sines = np.linalg.norm(rest[:, :, 0], axis=1) if rest.shape[2] == 1 else np.linalg.norm(rest, ord=2, axis=(1, 2))
    lost = ~np.all(np.any(found, axis=1), axis=1)
    return np.asarray(np.where(lost, 1.0, np.minimum(sines, 1.0)))
