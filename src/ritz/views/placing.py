"""Names of classes inside a chart, where none lies on another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ritz.linalg import Array
from ritz.views.axes import Axis
from ritz.views.charts import Label
from ritz.views.labels import Classes
from ritz.views.lettering import LARGEST, length

SHORT = 12  # characters of a name that is written into the chart
EDGE = 2.0  # pixels around a name, its outline
TALL = 1.3 * LARGEST  # of a line


def written(at: Array, codes: NDArray[np.intp], classes: Classes, x: Axis, y: Axis) -> tuple[Label, ...]:
    """Short names of classes among their points; the largest class chooses first, and a name without room is left out.

    Parameters
    ----------
    at : (n, 2) where the points are drawn
    """
    if len(classes.names) < 2 or classes.scale:
        return ()
    placed: list[tuple[float, float, float]] = []  # middles, and half the width
    labels = []
    for i in sorted(range(len(classes.names)), key=lambda i: -classes.counts[i]):
        own, name = at[codes == i], classes.names[i]
        if len(own) and len(name) <= SHORT and classes.kinds[i].startswith("c"):
            half = length(name, bold=True) / 2 + EDGE
            spot = next((spot for spot in _spots(own, half, x, y) if _free(*spot, half, placed)), None)
            if spot is not None:
                placed.append((*spot, half))
                labels.append(Label(*spot, text=name, kind="class"))
    return tuple(labels)


def _spots(own: Array, half: float, x: Axis, y: Axis) -> Iterator[tuple[float, float]]:
    """The middle of the points, then those of their upper, lower, left and right halves, moved into the frame."""
    if 2 * half > x.end - x.start:
        return
    low, high = (x.start + half, y.end + TALL / 2), (x.end - half, y.start - TALL / 2)
    middle = np.median(own, axis=0)
    yield _rounded(np.clip(middle, low, high))
    for j in (1, 0):
        for side in (own[own[:, j] < middle[j]], own[own[:, j] > middle[j]]):
            if len(side):
                yield _rounded(np.clip(np.median(side, axis=0), low, high))


def _rounded(spot: Array) -> tuple[float, float]:
    return round(float(spot[0]), 1), round(float(spot[1]), 1)


def _free(x: float, y: float, half: float, placed: list[tuple[float, float, float]]) -> bool:
    return all(abs(x - a) >= half + reach or abs(y - b) >= TALL for a, b, reach in placed)
