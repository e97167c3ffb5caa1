"""Where rows lie among the components: coordinates, distances, contributions, cos²; from one pass, when asked for."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.interpretation.column_tables import Tables, by_component, decimals, hundredths
from ritz.interpretation.sums import Sums, scores_sums, sums_of
from ritz.linalg.dense import Array
from ritz.linalg.exponents import times_power
from ritz.rows import Rows, check_finite
from ritz.rows.base import Block
from ritz.runtime.tables import Table
from ritz.runtime.threads import cached_property
from ritz.runtime.wording import component
from ritz.spectrum.subspace import Subspace

FLOOR = 1e-12  # of the largest variance: what is called rounding where the certificate's own has no number


@dataclass(frozen=True, eq=False)
class RowTables(Tables):
    """Rows beside the components. Nothing is computed before it is asked for.

    The first table reads the rows once and keeps their scores and distances, (n, k + 1) numbers; `blocks` and `leading`
    keep nothing.

    Attributes
    ----------
    coordinates : scores y, not divided by anything
    distances : ‖z‖, from the centre, along all directions and not those of the components alone
    contributions : 100·y²/((n − ddof)λ), the share of a row in the variance of a component, in percent; rows that were
        not part of the fit have none
    cos2 : y²/‖z‖², how much of a row the component shows; 0 for a row in the centre
    index : names of the rows, or their numbers
    """

    rows: Rows
    subspace: Subspace
    index: Sequence[Any]
    lack: float | None = None  # relative accuracy of the variances of the fit; None for rows that were not part of it
    _kept: Array | None = field(default=None, repr=False)

    @property
    def tables(self) -> dict[str, Table]:
        found = {"coordinates": self.coordinates, "distances": self.distances, "cos2": self.cos2}
        return found if self.lack is None else found | {"contributions": self.contributions}

    @property
    def coordinates(self) -> Table:
        Y = times_power(self._placed[:-1], self.subspace.power)
        return by_component(Y.T, self.index, "coordinates of rows (scores)", index_name="row")

    @property
    def distances(self) -> Table:
        sizes = times_power(self._placed[-1], self.subspace.power)
        return Table({"distance": sizes}, self.index, ("distances of rows from the centre",), index_name="row")

    @property
    def contributions(self) -> Table:
        shares = self._shares(self._placed)
        return by_component(shares.T, self.index, "contributions of rows, percent", (), hundredths, "row")

    @property
    def cos2(self) -> Table:
        found = squared_cosines(self._placed, self._least)
        return by_component(found.T, self.index, "cos² of rows", (), decimals, "row")

    def blocks(self) -> Generator[RowTables, None, None]:
        """The same block by block, for rows that are more than fit into memory.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> rows = ritz.interpret(ritz.PCA(2).fit(X), X).rows
        >>> round(float(sum(block.contributions["PC1"].sum() for block in rows.blocks())), 9)
        100.0
        """
        at = 0
        for part in self._read():
            stop = at + part.shape[1]
            yield replace(self, index=self.index[at:stop], _kept=part)
            at = stop

    def leading(self, count: int = 5) -> dict[str, Table]:
        """For every component, the rows that contribute most to it; of rows beside the fit, those it shows best.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> rows = ritz.interpret(ritz.PCA(2).fit(X), X).rows
        >>> print(rows.leading(2)["PC1"])
        rows that contribute most to PC1
        row  coordinate  contribution %    cos²
        4        -6.574            9.70  0.9610
        36        -6.25            8.77  0.9614
        """
        k, at = self.subspace.axes.shape[1], 0
        best = [np.empty((4, 0)) for _ in range(k)]  # number, coordinate, contribution or cos², cos²
        for part in self._read():
            cos2 = squared_cosines(part, self._least)
            weight = cos2 if self.lack is None else self._shares(part)
            for i, known in enumerate(best):
                least = known[2, -1] if known.shape[1] == count else -1.0
                some = np.flatnonzero(weight[i] > least)
                if len(some):
                    both = np.column_stack([known, [some + at, part[i, some], weight[i, some], cos2[i, some]]])
                    best[i] = both[:, np.argsort(-both[2], kind="stable")[:count]]
            at += part.shape[1]
        return {component(i): self._best(component(i), found) for i, found in enumerate(best)}

    def _best(self, name: str, found: Array) -> Table:
        numbers, y, weight, cos2 = found
        cells: dict[str, Any] = {"coordinate": times_power(y, self.subspace.power)}
        head = f"rows that {name} shows best" if self.lack is None else f"rows that contribute most to {name}"
        if self.lack is not None:
            cells["contribution %"] = weight
        formats = {"contribution %": hundredths, "cos²": decimals}
        return Table(
            cells | {"cos²": cos2}, [self.index[int(i)] for i in numbers], (head,), (), formats, index_name="row"
        )

    def _shares(self, part: Array) -> Array:  # (k + 1, m) -> (k, m)
        """Contributions of rows; 0 to a component without variance."""
        n, roots = self.subspace.n_rows, self.subspace.deviations
        if self.lack is None or n is None:
            raise DataError(
                "rows that were not part of the fit have no share in the variances of its components",
                "their coordinates, distances and cos² are known",
            )
        weight = np.divide(10.0 / np.sqrt(n - self.subspace.ddof), roots, out=np.zeros_like(roots), where=roots > 0)
        found = part[:-1] * weight[:, None]
        found *= found
        return found

    @property
    def _least(self) -> float:
        return rounding_of(self.subspace)

    @cached_property
    def _placed(self) -> Array:  # (k + 1, n)
        """Scores and distances of all rows, in the unit of the subspace, one component after the other."""
        if self._kept is not None:
            return self._kept
        out, at = np.empty((self.subspace.axes.shape[1] + 1, self.rows.shape[0])), 0
        for part in self._read():
            out[:, at : at + part.shape[1]] = part
            at += part.shape[1]
        return out

    def _read(self) -> Generator[Array, None, None]:  # (k + 1, m)
        """The same block by block, compared with the fit where they are its rows."""
        known = self._kept if self._kept is not None else self.__dict__.get("_placed")
        if known is not None:
            yield known
            return
        rows, place = self.subspace.placing(self.rows)
        k = self.subspace.axes.shape[1]

        def located(block: Block) -> Any:
            found = np.ascontiguousarray(place(block).T)
            return found, *sums_of(found[:-1])

        count, totals, squares = 0, np.zeros(k), np.zeros(k)
        blocks: Any = rows.each(located, columns=k)  # not arrays, so nothing stacks them
        with closing(blocks):
            for found, total, square in blocks:
                count, totals, squares = count + found.shape[1], totals + total, squares + square
                if count == rows.shape[0]:  # whoever has all blocks asks no more
                    self._check(scores_sums(count, totals, squares))
                yield found

    def _check(self, sums: Sums) -> None:
        if self.lack is not None:
            sums.check(self.rows, self.subspace, self.lack)
        elif not np.isfinite(sums.squares).all():
            check_finite(self.rows)


def rounding_of(subspace: Subspace) -> float:
    """A distance, in the unit of the subspace, below which a centred row is in the centre but for rounding."""
    if subspace.mean is None:
        return 0.0
    center = subspace.mean if subspace.scale is None else subspace.mean / subspace.scale
    size = np.abs(times_power(center, -subspace.power)).max() + subspace.deviations.max(initial=subspace.outside)
    return 4.0 * np.finfo(float).eps * float(size)


def squared_cosines(part: Array, least: float = 0.0) -> Array:  # (k + 1, m) -> (k, m)
    """cos² of rows from their scores and distances; 0 for a row in the centre, no farther than `least` from it."""
    sizes = part[-1]
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > least)
    found = part[:-1] * inverse
    found *= found
    return np.minimum(found, 1.0, out=found)
