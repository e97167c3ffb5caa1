"""One pass over rows: T² and SPE of each, what tells rows of the fit, and the few that are farthest out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.arrays import is_device_array, on_host, taken
from ritz.linalg.dense import Array
from ritz.linalg.exponents import times_power
from ritz.rows import Rows, check_finite
from ritz.rows.base import dense
from ritz.spectrum.subspace import Subspace

SAME, GRAIN = 1e-5, 1e-12  # how far sums over rows of the fit may be off, relative; and per λ₁/λ
DECIDES = 0.5  # share of the variance of a component from which on one row decides it
NONE: Array = np.empty(0)
Places = NDArray[np.intp]


class Part(NamedTuple):
    """What a block came to. `top` is the largest squared standard score per component, and `at` its row, where that may
    decide the component; 0 elsewhere."""

    t2: Array
    spe: Array
    sums: Array
    squares: Array
    top: Array
    at: Places
    kept: Places
    values: Any


@dataclass(frozen=True, eq=False)
class Reading:
    """What a pass found.

    Attributes
    ----------
    t2, spe : (n,) with the variances of the model, and in `unit`²
    sums, squares : (k,) over the rows of their standard scores, and of the squares of these
    top, at : (k,) the largest of these squares, and its row, where that may decide a component; 0 elsewhere
    farthest : rows whose numbers were kept, ascending
    values : their numbers, as they came
    """

    t2: Array
    spe: Array
    sums: Array
    squares: Array
    top: Array
    at: Places
    farthest: Places
    values: Array


class Farthest:
    """The rows with the largest T², and those with the largest SPE, so many of each: as they come, and which are sure
    not to be among them. Whoever knows limits says what is worth keeping."""

    def __init__(self, most: int, least_t2: float, least_spe: float) -> None:
        self.most, self.least_t2, self.least_spe = most, least_t2, least_spe
        self.rows: Places = np.empty(0, np.intp)
        self.t2: Array = np.empty(0)
        self.spe: Array = np.empty(0)
        self.values: list[Any] = []

    def among(self, t2: Array, spe: Array) -> Places:
        """Rows of a block that may be among them: at most twice as many as are wanted. The last of so many says what
        others need; threads may miss what others found, which costs time alone."""
        found = np.flatnonzero((t2 >= self.least_t2) | (spe >= self.least_spe))
        if len(found) <= self.most:
            return found
        first, second = (_largest(part[found], self.most) for part in (t2, spe))
        self.least_t2 = max(self.least_t2, float(t2[found[first[-1]]]))
        self.least_spe = max(self.least_spe, float(spe[found[second[-1]]]))
        return found[np.union1d(first, second)]

    def add(self, rows: Places, t2: Array, spe: Array, values: Any) -> None:
        """More of them; when there are many, those that are not the largest go."""
        self.rows = np.concatenate([self.rows, rows])
        self.t2, self.spe = np.concatenate([self.t2, t2]), np.concatenate([self.spe, spe])
        self.values += list(values)
        if len(self.rows) > 4 * self.most:
            self.settle()

    def settle(self) -> None:
        """Only the largest stay, in the order of the rows."""
        parts = [_largest(part, self.most) for part in (self.t2, self.spe)]
        stay = np.unique(np.concatenate(parts))
        self.rows, self.t2, self.spe = self.rows[stay], self.t2[stay], self.spe[stay]
        self.values = [self.values[i] for i in stay]
        if len(self.rows) >= self.most:  # others have to be as large as the least of these
            self.least_t2 = max(self.least_t2, float(np.sort(self.t2)[-self.most]))
            self.least_spe = max(self.least_spe, float(np.sort(self.spe)[-self.most]))


def _largest(values: Array, most: int) -> Places:
    """Places of the largest values, the first ones among equal ones."""
    return np.argsort(-values, kind="stable")[:most]


def read(subspace: Subspace, rows: Rows, farthest: Farthest) -> Reading:
    """Everything from one pass; a row that is not finite is named."""
    parts: list[Part] = []
    seen, t2, spe = 0, np.empty(rows.shape[0]), np.empty(rows.shape[0])
    for part in subspace.walked(rows, judge(subspace, farthest)):
        if not (np.isfinite(part.sums).all() and not np.isnan(part.spe).any()):
            check_finite(rows)
            if np.isnan(part.t2).any() or np.isnan(part.spe).any():
                raise DataError("some rows are so far from those of the fit that T² or SPE exceeds float64")
        if len(part.kept):
            farthest.add(part.kept + seen, part.t2[part.kept], part.spe[part.kept], part.values)
        stop = seen + len(part.t2)
        t2[seen:stop], spe[seen:stop] = part.t2, part.spe
        parts.append(part._replace(t2=NONE, spe=NONE, at=part.at + seen, values=None))
        seen = stop
    farthest.settle()
    top = np.array([part.top for part in parts])  # (blocks, k)
    first = top.argmax(axis=0)
    k = np.arange(top.shape[1])
    return Reading(
        t2[:seen],
        spe[:seen],
        np.sum([part.sums for part in parts], axis=0),
        np.sum([part.squares for part in parts], axis=0),
        top[first, k],
        np.array([part.at for part in parts])[first, k],
        farthest.rows,
        np.array(farthest.values).reshape(-1, rows.shape[1]),
    )


def judge(subspace: Subspace, farthest: Farthest) -> Callable[..., Part]:
    """What becomes of a block, of its scores, squared errors and the powers of two that these are in."""
    whiten, unit, n = subspace.whitening, subspace.power, subspace.n_rows
    square, k = whiten**2, len(whiten)
    much = np.inf if n is None else DECIDES * (n - subspace.ddof)  # the square of a row that decides a component

    def part(block: Any, Y: Array, error: Array, powers: Any) -> Part:
        weight = square
        if unit or powers.any():
            Y, error = times_power(Y, (powers - unit)[:, None]) * whiten, times_power(error, 2 * (powers - unit))
            weight = np.ones(k)
        ones, squares = np.ones(len(Y)), Y * Y
        t2 = squares @ weight
        top, at = np.zeros(k), np.zeros(k, np.intp)
        if k and t2.max() > much:
            at = squares.argmax(axis=0)
            top = squares[at, np.arange(k)] * weight
        kept = farthest.among(t2, error)
        some = taken(block, kept) if is_device_array(block) else dense(block[kept])
        values = np.array(on_host(some) if is_device_array(some) else some)
        return Part(t2, error, (ones @ Y) * np.sqrt(weight), (ones @ squares) * weight, top, at, kept, values)

    return part


def are_of_fit(subspace: Any, found: Reading, centred: bool) -> bool:
    """Whether these are the rows that the axes were learned from: as many, with standard scores whose sums are 0 and
    whose squares add up to n − ddof, component by component, and squared errors that add up to the variance left out.

    New rows are off by about 1/√n, those of the fit by rounding.
    """
    n, ddof = subspace.n_rows, subspace.ddof
    if n is None or len(found.t2) != n:
        return False
    roots = subspace.deviations
    if not len(roots):
        return bool(np.isclose(found.spe.sum(), (n - ddof) * subspace.outside**2, rtol=1e-3, atol=0.0))
    doubt = SAME + GRAIN * (roots[0] / roots) ** 2
    far = doubt > 1e-2  # such components tell nothing
    means = np.abs(found.sums) / n if centred else np.zeros(len(roots))
    sizes = np.abs(found.squares / (n - ddof) - 1)
    return bool(((np.maximum(means, sizes) <= doubt) | far).all() and not far.all())
