"""Arrays that lie on a device: their blocks stay there, and only what is small travels.

Blocks are read one after another, as large as the device likes them; what a pass leaves, d×d, d×b or n×b, comes back
as NumPy's. Where the device runs out of memory, blocks are halved and the pass is repeated; the precision never is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg import arrays
from ritz.linalg.arrays import Home, beside, brought, is_out_of_memory, namespace, on_host
from ritz.linalg.tf32 import full_precision
from ritz.rows.base import Block, Rows, paired, stack
from ritz.rows.large_integers import check_block, is_wide
from ritz.rows.memory.array import ArrayRows, check_shape, real_numbers
from ritz.rows.memory.plain import check_plain
from ritz.rows.passes import Cut, Run

MOST_BYTES = 1 << 29  # of a block in float64: larger ones do not run faster
SHARE = 8  # of the free memory that a block may take; several copies of it are alive at a time
MOST_ROWS = 1 << 16  # of a block: the bound on rounding grows with the rows that are summed at once
FREE_COLUMNS = 32  # to bring a block to the processors takes as long as to multiply it by so many
TILE = 2048  # rows of a tile of inner products


class OnDevice(Rows):
    """Rows whose blocks lie on a device. A source gives `read`, and `_like`, an array that lies there."""

    on_device = True
    most_threads = 1  # a device shares out its work itself
    free_columns = FREE_COLUMNS

    @property
    @abstractmethod
    def _like(self) -> Any:
        """An array on the device."""

    @property
    def block_rows(self) -> int:
        n, d = self.shape
        return max(1, min(n, MOST_ROWS, self.most_bytes // (8 * d)))

    @property
    def thin_rows(self) -> int:
        return self.block_rows

    def cut(self, cut: Cut, least: int = 1) -> tuple[int, list[Run]]:
        return self.block_rows, [(0, self.shape[0])]

    def buffer(self, use: str, rows: int, columns: int) -> None:
        return None

    def zeros(self, *shape: int) -> Any:
        xp = namespace(self._like)
        return xp.zeros(shape, dtype=xp.float64, device=arrays.device_of(self._like))

    def here(self, A: Any) -> Any:
        return beside(A, self._like)

    def reduce(self, f: Any, combine: Any, beside: Any = None, cut: Cut = Cut.SQUARE, least: int = 1) -> Any:
        """f of all blocks as one run: what it leaves is on the host, and nothing is left to be combined."""

        def whole(step: int) -> Any:
            blocks = self.watch.seen(map(self.exact, self._blocks(0, self.shape[0], step)))
            return brought(f(blocks if beside is None else paired(blocks, beside, 0)))

        def over(runs: list[Run]) -> Generator[Any, None, None]:
            yield from (self._fitting(whole) for _ in runs)

        return self.watch.fold([(0, self.shape[0])], over, combine)

    def map(self, f: Callable[[Block], Block], exact: bool = True) -> Block:
        return self.watch.whole(lambda: stack(map(on_host, self.each(f, exact)), self.shape[0]))

    def each(
        self, f: Callable[[Block], Block], exact: bool = True, columns: int | None = None
    ) -> Generator[Block, None, None]:
        """f of every block, on the device if f leaves it there."""
        self.watch.begin([(0, self.shape[0])])
        at, step = 0, self.block_rows
        while True:
            blocks = self._blocks(at, self.shape[0], step)
            try:
                for block in self.watch.seen(map(self.exact, blocks) if exact else blocks):
                    yield from self._halved(f, block)
                    at += block.shape[0]
                return
            except Exception as error:  # of reading: what f does with a block is halved already
                self._check_full(error, step)
            step = self._smaller(step)

    def _pairs(self, f: Callable[[Block, Block], Block]) -> Block:
        n = self.shape[0]

        def tiles(step: int) -> Block:
            out = np.empty((n, n))
            for i in range(0, n, step):
                rows = self.exact(self.read(i, min(i + step, n)))
                for j in range(i, n, step):
                    part = on_host(f(rows, rows if i == j else self.exact(self.read(j, min(j + step, n)))))
                    out[i : i + step, j : j + step] = part
                    out[j : j + step, i : i + step] = part.T
            return out

        return self._fitting(tiles, TILE)

    def _fitting(self, work: Callable[[int], Any], step: int | None = None) -> Any:
        """work with blocks of so many rows, and of half as many while the device has no room for them."""
        step = self.block_rows if step is None else step
        while True:
            try:
                with full_precision():
                    return work(step)
            except Exception as error:  # every library has a class of its own for full memory
                self._check_full(error, step)
            step = self._smaller(step)

    def _halved(self, f: Callable[[Block], Block], block: Block) -> Iterator[Block]:
        """f of a block, or of its halves where the device has no room for it whole."""
        try:
            with full_precision():
                found = f(block)
        except Exception as error:  # as in `_fitting`
            self._check_full(error, block.shape[0])
        else:
            yield found
            return
        arrays.release(self._like)
        half = block.shape[0] // 2
        for part in (block[:half, :], block[half:, :]):
            yield from self._halved(f, part)

    def _check_full(self, error: Exception, rows: int) -> None:
        """Raise an error again, unless the device was full and fewer rows can be tried."""
        if not is_out_of_memory(error):
            raise error
        if rows == 1:
            raise DataError(
                f"{arrays.device_of(self._like)} has no memory left for one row of {self.shape[1]} columns and what is "
                "computed with it",
                "free some of it, or pass a copy on the CPU",
            ) from error

    def _smaller(self, step: int) -> int:
        """Half as many rows for the next block; after the error is gone, which keeps memory of the device alive."""
        arrays.release(self._like)
        step = -(-step // 2)
        self.most_bytes = min(self.most_bytes, 8 * self.shape[1] * step)  # nor has it room next time
        return step

    def exact(self, block: Block) -> Block:
        if is_wide(self.dtype):
            xp = namespace(block)
            if max(abs(int(xp.min(block))), abs(int(xp.max(block)))) > 1 << 53:
                check_block(on_host(block), self.name)
        return block


class DeviceRows(OnDevice):
    """An array of another library on a device with float64."""

    def __init__(self, X: Any) -> None:
        self._X, self.dtype = opened(X)
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.home = Home.of(X)
        self.most_bytes = block_bytes(self._X)

    @property
    def _like(self) -> Any:
        return self._X

    @property
    def T(self) -> Any:
        return self._X.T

    def read(self, start: int, stop: int) -> Block:
        return self._X[start:stop, :]

    def block(self, start: int, stop: int) -> Block:
        return on_host(self.read(start, stop))

    def take(self, indices: NDArray[np.integer]) -> Block:
        places = np.asarray(indices)

        def parts(step: int) -> Block:
            return np.concatenate([arrays.taken(self._X, places[i : i + step]) for i in range(0, len(places), step)])

        return self._fitting(parts, len(places)) if len(places) else arrays.taken(self._X, places)

    def on_cpu(self) -> Any:
        return Downloaded(self._X).on_cpu()


class Downloaded(Rows):
    """An array on a device, block by block on the CPU: for what only runs there, and devices without float64."""

    copied = True

    def __init__(self, X: Any) -> None:
        self._X, self.dtype = opened(X)
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.home = Home.of(X)
        if not arrays.has_float64(X):
            self.remark = f"{arrays.device_of(X)} has no float64, so blocks are computed on the CPU"

    def read(self, start: int, stop: int) -> Block:
        return on_host(self._X[start:stop, :])

    def take(self, indices: NDArray[np.integer]) -> Block:
        return arrays.taken(self._X, np.asarray(indices))

    @property
    def T(self) -> Any:
        return self._X.T


class Viewed(ArrayRows):
    """An array of another library in the memory of the CPU, which NumPy looks at without a copy."""

    def __init__(self, X: Any) -> None:
        super().__init__(on_host(X))
        self.home = Home.of(X)


class OtherArray(Rows):
    """An array of another library: NumPy looks at it, or it stays on its device, or blocks of it are copied."""

    def __new__(cls, X: Any) -> Any:
        check_plain(X)
        kind = Viewed if viewable(X) else DeviceRows if arrays.has_float64(X) else Downloaded
        return kind(X)

    @classmethod
    def opens(cls, source: object) -> bool:
        return arrays.is_other_array(source)


def block_bytes(like: Any) -> int:
    """The most bytes of a block in float64, on the device of an array."""
    free = arrays.free_memory(like)
    return MOST_BYTES if free is None else max(1, min(MOST_BYTES, free // SHARE))


def viewable(X: Any) -> bool:
    """Whether NumPy can look at an array without a copy: it lies in the CPU's memory, and NumPy knows its numbers."""
    return arrays.in_cpu_memory(X) and not str(X.dtype).endswith("bfloat16")


def opened(X: Any) -> tuple[Any, np.dtype[Any]]:
    """An array that is not part of a computation of gradients, and NumPy's type for its numbers."""
    check_shape(tuple(X.shape), pictures=False)
    dtype = arrays.dtype_of(X)
    real_numbers(np.empty((0, 0), dtype))
    return (X.detach() if hasattr(X, "detach") else X), dtype
