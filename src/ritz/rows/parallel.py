"""Products of tall matrices with few columns, block by block, with all cores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.products import SKINNY, add_squares, cross, mirrored, times
from ritz.rows.base import Block, Rows
from ritz.rows.memory.array import ArrayRows
from ritz.rows.partition import Cut


def thin_product(Q: NDArray[Any], S: NDArray[Any]) -> Block:  # (n, m), (m, b) -> (n, b)
    """Q S for a tall Q and few columns."""
    return ArrayRows(Q).map(lambda block: times(block, S))


def thin_inner(Q: NDArray[Any], W: NDArray[Any]) -> Block:  # (n, m), (n, b) -> (m, b)
    """Qᵀ W for a tall Q and few columns."""
    return ArrayRows(Q).reduce(lambda pairs: sum(cross(*pair) for pair in pairs), np.add, beside=W, cut=Cut.THIN)


def symmetric_product(U: NDArray[Any]) -> Block:  # (n, m) -> (m, m)
    """Uᵀ U."""
    return squares(ArrayRows(U))


def squares(rows: Rows) -> Block:  # (n, m) -> (m, m)
    """XᵀX of rows in floating point, in their own precision."""
    m = rows.shape[1]

    def run(blocks: Iterable[Block]) -> Block:
        total = np.zeros((m, m), rows.dtype)
        for block in blocks:
            add_squares(block, total)
        return total

    return mirrored(rows.reduce(run, np.add, cut=Cut.THIN if m <= SKINNY else Cut.SQUARE))
