"""Rows that are computed from other rows, block by block: what all of these share."""

from __future__ import annotations

from typing import Self

import numpy as np

from ritz.rows.base import Rows
from ritz.rows.partition import Run


class Computed(Rows):
    """Rows in float64 of the shape of others, read as those are: limits, threads, files and pieces.

    Whoever computes rows of another shape or type says so after `__init__`.
    """

    def __init__(self, base: Rows) -> None:
        self._base = base
        self.shape, self.names, self.dtype = base.shape, base.names, np.dtype(np.float64)
        self.most_bytes, self.most_threads = base.most_bytes, base.most_threads
        self.in_memory, self.watch, self.files = base.in_memory, base.watch, base.files

    @property
    def threads(self) -> int:
        return min(self._base.threads, self.most_threads)

    def limited(self, most_bytes: int, most_threads: int | None = None) -> Self:
        limited = super().limited(most_bytes, most_threads)
        limited._base = self._base.limited(most_bytes, most_threads)
        return limited

    def _runs(self, step: int, least: int, most: int) -> list[Run]:
        return self._base._runs(step, least, most)

    def _pieces(self) -> list[Run]:
        return self._base._pieces()
