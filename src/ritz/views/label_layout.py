"""Names of classes inside a chart, in free room beside their own points; what has none is told by the legend."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array
from ritz.views.axes import LARGEST, Axis, length
from ritz.views.charts import Label
from ritz.views.classes import Classes

SHORT = 12  # characters of a name that is written into the chart
EDGE = 2.0  # pixels around a name, its outline
TALL = 1.3 * LARGEST  # of a line
DOT = 4.0  # pixels that a point reaches, and a little more
NEAR, AROUND = 20.0, 40.0  # pixels around a name where most points must be of its class, more so the nearer they are
MOST = 2 / 3  # of the near points
APART = 0.3  # from 0, rows of a class scattered among all others, to 1, with no other near: what is worth a name
FEWEST, TOGETHER = 4, 0.8  # points that may well be a class, if so large a part of it is together and no other is near
SAMPLE = 500  # points that stand for a class
ASIDE = 5.0  # times as far that a name goes to have none of the other points around it
STEP = 4  # pixels between places that are tried
SURE = 3.5  # standard deviations by which a class outnumbers the others around its name: chance does not reach that


def written(at: Array, codes: NDArray[np.intp], classes: Classes, x: Axis, y: Axis) -> tuple[Label, ...]:
    """Short names of classes, each as near to the middle of its points as there is free room among or beside them.

    A name stands where most points around it are of its class, and covers none; where there is no such room, it may
    cover points of its own class. The largest class chooses first. `at` is (n, 2), where the points are drawn.
    """
    if len(classes.names) < 2 or classes.scale or not len(at):
        return ()
    everyone = _Counted(at, x, y)
    placed: list[tuple[float, float, float]] = []  # middles, and half the width
    labels = []
    for i in sorted(range(len(classes.names)), key=lambda i: -classes.counts[i]):
        points, name = at[codes == i], classes.names[i]
        own = _Counted(points, x, y)
        if len(name) <= SHORT and classes.kinds[i].startswith("c") and _separate(points, own, everyone):
            half = length(name, bold=True) / 2 + EDGE
            spot = _best(_spots(half, x, y, placed), half, np.median(points, axis=0), own, everyone)
            if spot is not None:
                placed.append((*spot, half))
                labels.append(Label(*spot, text=name, kind="class"))
    return tuple(labels)


def _separate(points: Array, own: _Counted, everyone: _Counted) -> bool:
    """Whether the points around those of a class are more often its own than if classes were drawn by lot."""
    if own.count < FEWEST:
        return False
    sample = points[:: -(-own.count // SAMPLE)]
    mine, others = (one.inside(sample, AROUND, AROUND) - 1 for one in (own, everyone))
    share = (own.count - 1) / max(everyone.count - 1, 1)
    purity = float(np.mean(np.where(others > 0, mine / np.maximum(others, 1), share)))
    return purity - share >= APART * (1 - share)


class _Counted:
    """How many points lie in boxes: sums over a grid of pixels, so that any box costs four numbers."""

    def __init__(self, points: Array, x: Axis, y: Axis) -> None:
        self.count, self._corner = len(points), np.array([x.start, y.end])
        shape = np.ceil(np.array([x.end, y.start]) - self._corner).astype(int) + 1
        cells = np.clip(np.floor(points - self._corner).astype(int), 0, shape - 1)
        table = np.zeros(shape + 1)
        np.add.at(table, (cells[:, 0] + 1, cells[:, 1] + 1), 1.0)
        self._sums = table.cumsum(axis=0).cumsum(axis=1)

    def inside(self, middles: Array, wide: float, tall: float) -> Array:  # (m, 2) -> (m,)
        """Points in boxes around these places, of which so much lies on either side."""
        reach, most = np.array([wide, tall]), np.array(self._sums.shape) - 1
        low = np.clip(np.floor(middles - reach - self._corner).astype(int), 0, most)
        high = np.clip(np.ceil(middles + reach - self._corner).astype(int), 0, most)
        sums, (a, b), (c, d) = self._sums, low.T, high.T
        return np.asarray(sums[c, d] - sums[a, d] - sums[c, b] + sums[a, b])


def _best(spots: Array, half: float, middle: Array, own: _Counted, everyone: _Counted) -> tuple[float, float] | None:
    """Where the name of a class stands, if it may stand anywhere."""
    windows = [(half + DOT + more, TALL / 2 + DOT + more) for more in (0.0, NEAR, AROUND)]
    beneath, near, mine = (own.inside(spots, *window) for window in windows)
    covered, nearest, around = (everyone.inside(spots, *window) for window in windows)
    sure = 2 * mine - around > SURE * np.sqrt(around)
    sure |= (mine == around) & (mine >= max(FEWEST, TOGETHER * own.count))
    sure &= (near > 0) & (near >= MOST * nearest)
    far = np.linalg.norm(spots - middle, axis=1) * (1 + ASIDE * (1 - mine / np.maximum(around, 1)))
    for room in (covered == 0, beneath == covered):
        good = np.flatnonzero(room & sure)
        if len(good):
            across, down = spots[good[np.argmin(far[good])]].tolist()
            return across, down
    return None


def _spots(half: float, x: Axis, y: Axis, placed: list[tuple[float, float, float]]) -> Array:  # (m, 2)
    """Middles of names that lie inside the frame, and on no other name."""
    across = np.arange(x.start + half, x.end - half + 1e-9, STEP)
    down = np.arange(y.end + TALL / 2, y.start - TALL / 2 + 1e-9, STEP)
    spots = np.round(np.stack(np.meshgrid(across, down, indexing="ij"), axis=-1).reshape(-1, 2), 1)
    for a, b, reach in placed:
        spots = spots[(np.abs(spots[:, 0] - a) >= half + reach) | (np.abs(spots[:, 1] - b) >= TALL)]
    return spots
