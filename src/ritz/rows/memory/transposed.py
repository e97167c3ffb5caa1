"""The transpose of a matrix that is known in pieces: its columns, each read as a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.rows.base import Block, Rows


class Transposed(Rows):
    """Fᵀ, (d, p), where F is made of pieces of d columns that stand one below the other and are never stacked."""

    def __init__(self, pieces: Sequence[NDArray[Any]]) -> None:
        self.pieces = pieces
        self.shape = (int(pieces[0].shape[1]), sum(map(len, pieces)))
        self.dtype = np.result_type(*pieces)

    def block(self, start: int, stop: int) -> Block:
        out, left = np.empty((stop - start, self.shape[1]), self.dtype), 0
        for piece in self.pieces:
            out[:, left : left + len(piece)] = piece[:, start:stop].T
            left += len(piece)
        return out
