"""Where blocks are: in the memory of the CPU, unless a source says that they stay on a device."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from ritz.linalg.arrays import Home
from ritz.runtime.threads import scratch


class Placement:
    """What a pass needs to know of it: memory for its results and for copies of blocks, beside the blocks."""

    on_device: bool = False  # whether blocks are arrays of another library, which stay on their device
    home: Home | None = None  # what results should be, where the data was an array of another library
    remark: str = ""  # what a plan says of where blocks are computed

    def buffer(self, use: str, rows: int, columns: int) -> Any:
        """Memory that a block may be written into, the same for the same use; None for blocks on a device."""
        return scratch(use, rows, columns)

    def zeros(self, *shape: int) -> Any:
        """What results of blocks are added to."""
        return np.zeros(shape)

    def here(self, A: Any) -> Any:
        """A small matrix where the blocks are."""
        return A

    def on_cpu(self) -> Self:
        """The same rows in blocks of NumPy, and so are results."""
        if self.home is None:
            return self
        there = copy(self)
        there.home = None
        return there
