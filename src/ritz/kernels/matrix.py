"""The kernel matrix, centred in feature space, as an operator: it is formed only where that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.kernels.base import Frame, Kernel, Points
from ritz.linalg.dense import Array, column_norms, cross, gamma, times
from ritz.moments.accumulate import PROBE_FACTOR, PROBES
from ritz.operators.base import Operator, Pairs
from ritz.rows.memory.array import thin_product
from ritz.rows.passes import SERIAL_PRODUCTS
from ritz.runtime.threads import cached_property, check, in_order, pinned
from ritz.runtime.watch import UNWATCHED, Watch

STRIP = 512  # rows of the matrix that are handled at a time: all of so few, else a quarter of them up to as many
TILE = 1 << 17  # entries of a tile: it stays in cache while it is computed and multiplied
ALIKE = 1e-8  # share of the largest value by which a symmetric matrix may differ from its transpose
PIECE = 2048  # columns of a strip that are multiplied at a time
CENTRING = 32  # roundings beyond the sums of a product: means taken off on both sides


class KernelMatrix(Operator):
    """A = H K H, K_ij = k(x_i, x_j)/unit², H = I − 11ᵀ/n.

    K is symmetric: only tiles on and above its diagonal are computed, and each is multiplied in both directions.
    They are kept where memory allows, and recomputed for every product where it does not. With `narrow` they are in
    float32: products then find the subspace, and one pass in float64 finishes what they found, as random vectors that
    are multiplied in that pass tell how far off the others were.
    """

    def __init__(
        self,
        function: Kernel,
        frame: Frame,
        points: Points,
        *,
        stored: bool = True,
        narrow: bool = False,
        watch: Watch = UNWATCHED,
    ) -> None:
        self.function, self.frame, self.points = function, frame, points
        self.stored, self.narrow, self.watch = stored, narrow, watch
        self.dim, self.rank_bound = len(points), len(points) - 1
        self.negativity, self.indefinite = 0.0 if function.positive else np.inf, 0.0
        self.work = float(self.dim) ** 2 * points.Z.shape[1] / 2
        self.audited = narrow
        self._means: Array | None = None
        self._dense: Array | None = None
        self._roughness = 0.0
        self._heights: dict[int, float] = {}

    def known_to_be(
        self, negativity: float, tolerance: float, rank: int | None = None, indefinite: float = 0.0
    ) -> KernelMatrix:
        """The same matrix, and all that was computed of it, with what was found of its eigenvalues below 0.

        `rank` counts those above rounding; `indefinite` is the size of the lowest one relative to the largest, where it
        is below 0 and that is tolerated.
        """
        A = copy(self)
        A.negativity, A.tolerance, A.indefinite = negativity, tolerance, indefinite
        A.rank_bound = self.rank_bound if rank is None else rank
        return A

    @property
    def strip(self) -> int:
        """Rows that are handled at a time."""
        return self.dim if self.dim <= STRIP else min(STRIP, -(-self.dim // 4))

    @cached_property
    def diagonal(self) -> Array:  # (n,)
        """k(x_i, x_i)/unit²."""
        return self.function.diagonal(self.points, self.frame)

    @property
    def size(self) -> float:
        """Σ ‖φ(x)‖², which bounds every sum of values; where K may be indefinite, its largest entry does."""
        return max(self._lengths, self.dim * max(self._heights.values(), default=0.0))

    @cached_property
    def _lengths(self) -> float:
        return float(np.sum(self.function.lengths(self.points, self.frame)))

    @property
    def rounding(self) -> float:
        """|δK_ij| ≤ ε‖φ_i‖‖φ_j‖ makes ‖δK‖ ≤ ε Σ‖φ‖²; sums and means add the like."""
        return self._relative_rounding * self.size

    @cached_property
    def _relative_rounding(self) -> float:
        return self.frame.rounding + 6 * gamma(self.dim + CENTRING)

    @property
    def dense_rounding(self) -> float:
        return max(self.rounding, self._roughness)

    @property
    def means(self) -> Array:  # (n,)
        """K 1/n: the mean of every row of K."""
        if self._means is None:
            self._means = self._multiply(np.ones((self.dim, 1)), self.points)[:, 0] / self.dim
        return self._means

    @property
    def trace(self) -> float | None:  # type: ignore[override]
        """Σ K_ii − 1ᵀK1/n, None until there was a pass over all of K in float64."""
        if self._means is None:
            return None
        return max(float(np.sum(self.diagonal)) - float(np.sum(self._means)), 0.0)

    def apply(self, V: Array) -> Array:
        """H K H V."""
        if self._dense is not None:
            return thin_product(self._dense, V)
        W, first = V - V.mean(axis=0), self._means is None and not self.narrow
        product = self._multiply(np.column_stack([W, np.ones(self.dim)]) if first else W, self._tiled)
        if first:  # one column more tells the trace
            self._means, product = product[:, -1] / self.dim, product[:, :-1]
        return product - product.mean(axis=0)

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        if self.narrow:
            AQ = self._finished(Q)
        elif self._dense is None and AQ is not None:
            _ = self.means  # else the product with Q tells them too
        return super().ritz(Q, AQ, P, tol)

    def _finished(self, Q: Array) -> Array:
        """A Q in float64 from tiles that are recomputed, together with products that audit those in float32."""
        G = np.random.default_rng(0).standard_normal((self.dim, PROBES))
        W = np.column_stack([Q - Q.mean(axis=0), G - G.mean(axis=0), np.ones(self.dim)])
        product = self._multiply(W, self.points)
        self._means, product = product[:, -1] / self.dim, product[:, :-1]
        product -= product.mean(axis=0)
        AQ, AG = product[:, : Q.shape[1]], product[:, Q.shape[1] :]
        errors = column_norms(self.apply(G) - AG) + self.rounding * column_norms(G)
        self._roughness = PROBE_FACTOR * float(errors.max())
        return AQ

    @property
    def is_dense(self) -> bool:
        return self._dense is not None

    def dense(self) -> Array:
        """A itself, n×n in float64."""
        if self._dense is None:
            self.__dict__.pop("_kept", None)
            K = self._whole()
            self.passes += 1
            self._means = K.mean(axis=1)
            K -= self._means[:, None]
            K -= self._means - self._means.mean()
            self._dense = K
        return self._dense

    def _whole(self) -> Array:
        """K, not centred, in memory of its own."""
        n = self.dim
        if n <= self.strip:  # a single tile, which nobody else keeps
            return self._strip(0, self.points)
        K = np.empty((n, n))
        for start, strip in self._by_strips(lambda start: self._strip(start, self.points)):
            K[start : start + len(strip), start:] = strip
            K[start:, start : start + len(strip)] = strip.T
        return K

    def entries(self, rows: Any, columns: Any) -> Array:
        """K itself, not centred, at these rows and columns."""
        return self.function.tile(self.points[rows], self.points[columns], self.frame)

    @cached_property
    def _tiled(self) -> Points:
        """Points in the precision of the tiles that are kept."""
        if not self.narrow:
            return self.points
        return Points(self.points.Z.astype(np.float32), self.points.sizes.astype(np.float32))

    @cached_property
    def _kept(self) -> list[Array]:
        """All strips, computed once."""
        return [strip for _, strip in self._by_strips(lambda start: self._strip(start, self._tiled))]

    def _strip(self, start: int, points: Points) -> Array:
        """K from the diagonal of these rows on, to the right."""
        left = points[start : start + self.strip]
        if self.function.positive and len(left) * (self.dim - start) <= 2 * TILE:
            return self.function.tile(left, points[start:], self.frame)
        tiles = [tile for _, tile in self._tiles(start, points)]
        return np.concatenate(tiles, axis=1) if len(tiles) > 1 else tiles[0]

    def _tiles(self, start: int, points: Points) -> Iterator[tuple[int, Array]]:
        """Tiles of these rows and the columns where they begin; the first one is the square on the diagonal."""
        left = points[start : start + self.strip]
        step = max(self.strip, TILE // len(left))
        column, stop = start, start + len(left)
        while column < self.dim:
            check()
            tile = self.function.tile(left, points[column:stop], self.frame)
            if not self.function.positive:
                self._check(start, column, tile)
            yield column, tile
            column, stop = stop, min(stop + step, self.dim)

    def _check(self, start: int, column: int, tile: Array) -> None:
        """What no formula guarantees is checked: values are finite and symmetric. Their size is noted."""
        function, height = self.function, float(np.abs(tile).max())
        if not np.isfinite(height):
            what = f"; change {function.parameters}, or scale the columns" if function.parameters else ""
            raise DataError(f"kernel={function!r} gives values that are not finite{what}")
        if column == start and (error := float(np.abs(tile - tile.T).max())) > ALIKE * height:
            raise DataError(f"kernel={function!r} is not symmetric: |k(x, y) - k(y, x)| reaches {error:.2g}")
        self._heights[start] = max(height, self._heights.get(start, 0.0))  # one thread has all of a strip

    def _multiply(self, V: Array, points: Points) -> Array:  # (n, b) -> (n, b)
        """K V, tiles in the precision of the points, sums over them in float64."""
        self.passes += 1
        V = V.astype(points.Z.dtype)
        kept = self._kept if self.stored and points is self._tiled else None

        def partial(start: int) -> Array:
            tiles = self._tiles(start, points) if kept is None else _cut(start, kept[start // self.strip])
            total = np.zeros((self.dim - start, V.shape[1]))
            for column, tile in tiles:
                m, p = tile.shape
                total[:m] += times(tile, V[column : column + p])
                if column > start:
                    total[column - start : column - start + p] += cross(tile, V[start : start + m])
            return total

        out = np.zeros(V.shape)
        if kept is None or V.shape[1] * self.dim**2 >= SERIAL_PRODUCTS:
            strips = self._by_strips(partial)
        else:  # so few products that threads cost more than they save; BLAS has one as well, for the same bits
            with pinned():
                strips = iter(list(self._by_strips(partial, workers=1)))
        for start, part in strips:
            out[start:] += part
        return out

    def _by_strips(self, f: Callable[[int], Any], workers: int | None = None) -> Iterator[tuple[int, Any]]:
        """f of every strip's first row, by all cores, in order: sums do not depend on timing or the number of cores."""
        n, starts = self.dim, range(0, self.dim, self.strip)
        workers = min(workers or pinned.budget(), len(starts))
        self.watch.begin([(0, n)])
        found: Iterable[Any] = map(f, starts) if workers == 1 else in_order(f, list(starts), workers)
        for start, part in zip(starts, found, strict=True):
            yield start, part
            height = min(self.strip, n - start)
            self.watch.advance(height * (2 * (n - start) - height) // n)  # the first strips are the longest


def _cut(start: int, strip: Array) -> Iterator[tuple[int, Array]]:
    """The square on the diagonal, and what stands right of it, in pieces whose sums lose little even in float32."""
    m = len(strip)
    yield start, strip[:, :m]
    for left in range(m, strip.shape[1], PIECE):
        yield start + left, strip[:, left : left + PIECE]
