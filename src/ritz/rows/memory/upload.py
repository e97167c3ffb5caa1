"""Rows that the CPU reads and a device computes with: blocks are read ahead, copied there, and gone after use.

So data larger than the device's memory is decomposed there. PyTorch takes the blocks over: it is what knows devices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, MissingPackageError, ParameterError
from ritz.linalg import arrays
from ritz.linalg.arrays import Home, stacked
from ritz.rows.base import Block, Rows
from ritz.rows.memory.device import DeviceRows, OnDevice, block_bytes
from ritz.runtime.watch import UNWATCHED

KEPT = 4  # times the data that must be free on the device, so that rows which are read several times stay there
KEPT_ON_CPU = 1 << 28  # bytes, where the library does not tell what is free
LEFT_OUT = "leave it out to compute on the CPU"
AHEAD = 2  # blocks that are on their way while the device computes with another


class Done:
    """Stands in for a CUDA event on the CPU, where a call is done when it returns."""

    def synchronize(self) -> None:
        """Nothing is on its way."""


class Uploaded(OnDevice):
    """Rows of another source, block by block on a device."""

    in_memory = False

    def __init__(self, base: Rows, device: str) -> None:
        if base.sparse:
            advice = "leave it out, and they are computed on the CPU"
            said = "is for dense rows, and these are sparse"
            raise DataError(f"device={device!r} {said}", advice, plain=f"the device {device} {said}")
        if base.on_device:
            raise ParameterError("device", device, f"is for rows on the CPU, and X is {base.home}; leave it out")
        self._empty = checked(device)
        self._base = base.watched(UNWATCHED)
        self.shape, self.names, self.dtype, self.watch = base.shape, base.names, base.dtype, base.watch
        self.inherit(base)
        self._labels, self.origin, self.elsewhere = base._labels, base.origin, base.elsewhere
        self.home, self.most_bytes = Home.of(self._empty), block_bytes(self._empty)

    @property
    def _like(self) -> Any:
        return self._empty

    def read(self, start: int, stop: int) -> Block:
        return self._up(self._base.read(start, stop))

    def block(self, start: int, stop: int) -> Block:
        return self._base.block(start, stop)

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._base.take(indices)

    def sample(self, size: int) -> Block:
        return self._base.sample(size)

    def column(self, key: Any) -> NDArray[Any]:
        return self._base.column(key)

    def cells(self, keys: Iterable[Any]) -> dict[Any, NDArray[Any]]:
        return self._base.cells(keys)

    def on_cpu(self) -> Any:
        return self._base

    def at_hand(self, passes: int | None) -> Rows:
        """All on the device, if they are read more than once and it has ample room for them; else as they are."""
        free = arrays.free_memory(self._empty)
        size = self.dtype.itemsize * self.shape[0] * self.shape[1]
        if passes == 1 or size > (KEPT_ON_CPU if free is None else free // KEPT):
            return self
        there = DeviceRows(stacked(list(self._blocks(0, self.shape[0], self.block_rows))))
        there.names, there.most_bytes = self.names, self.most_bytes
        return there.watched(self.watch)

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        """Blocks of about `step` rows; those to come are read by other threads while the device computes.

        Nobody else waits for the device: were it not for `AHEAD`, a file that is read faster than it computes would
        come to lie in pinned memory as a whole.
        """
        waiting: list[Any] = []
        sent: deque[Any] = deque()
        for small in self._between(start, stop):
            for at in range(0, len(small), step):
                part = small[at : at + step]
                if waiting and sum(map(len, waiting)) + len(part) > step:
                    yield stacked(waiting)
                    waiting = []
                    sent.append(self._mark())
                    if len(sent) > AHEAD:
                        sent.popleft().synchronize()
                waiting.append(self._up(part))
        yield stacked(waiting)

    def _mark(self) -> Any:
        """What is done when the device has done all that it was told so far."""
        import torch

        there = self._empty.device
        return torch.cuda.current_stream(there).record_event() if there.type == "cuda" else Done()

    def _between(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """The rows from start to stop as the source reads them; a file is read from its beginning until they end."""
        with closing(self._base.each(np.array, exact=False)) as blocks:  # copies, so that a map of a file is read there
            at = 0
            for block in blocks:
                low, high = max(start - at, 0), min(stop - at, len(block))
                if low < high:
                    yield block[low:high]
                at += len(block)
                if at >= stop:
                    return

    def _up(self, block: NDArray[Any]) -> Any:
        """A block on the device; from pinned memory, so that the copy need not be waited for."""
        import torch

        native = np.ascontiguousarray(block, block.dtype.newbyteorder("="))
        there = torch.from_numpy(native if native.flags.writeable else native.copy())
        if self._empty.device.type == "cuda":
            return there.pin_memory().to(self._empty.device, non_blocking=True)
        return there.to(self._empty.device)


def checked(device: str) -> Any:
    """An empty array on a device, which PyTorch must know and have, with float64."""
    try:
        import torch
    except ImportError:
        raise MissingPackageError(
            f"device={device!r} needs PyTorch, which copies blocks to a GPU: see https://pytorch.org for the command "
            "that installs it with CUDA"
        ) from None
    try:
        found = torch.empty((0, 0), device=device)
    except (RuntimeError, AssertionError, ValueError, TypeError, ImportError) as error:
        raise ParameterError("device", device, f"{_why_not(device, error)}; {LEFT_OUT}") from None
    if found.is_meta:
        raise ParameterError("device", device, f"holds no numbers; {LEFT_OUT}")
    if not arrays.has_float64(found):
        raise ParameterError("device", device, f"has no float64; {LEFT_OUT}")
    return found


def _why_not(device: str, error: Exception) -> str:
    """Why PyTorch made no array there: it has no such name for a device, or there is none."""
    import torch

    try:
        kind = torch.device(device).type
    except (RuntimeError, TypeError):
        return "must be a device that PyTorch knows, such as 'cuda' or 'cpu'"
    if kind == "cuda" and not torch.cuda.is_available():
        return "cannot be used: PyTorch finds no GPU"
    return f"cannot be used: PyTorch says: {str(error).splitlines()[0].partition('. ')[0]}"
