"""What monitoring found: a statistic per row, limits, and the rows beyond them with the columns to blame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.linalg.exponents import times_power
from ritz.monitoring.contributions import Contributions
from ritz.monitoring.textbook import Freedom, t2_of_fit, t2_of_known, t2_of_new
from ritz.runtime.rules import is_integer
from ritz.runtime.tables import Table, Tabled
from ritz.runtime.wording import component, plural

LEVELS = ("", "warning", "alarm")  # what two limits tell
T2, SPE = "T²", "SPE"


@dataclass(frozen=True, eq=False)
class Monitoring(Tabled):
    """T² and SPE of every row, with limits, and the rows beyond them; what `monitor` returns.

    Printed it shows the limits and the odd rows; `to_frame` has a line for every row. Arrays are NumPy's, whatever the
    rows are.

    Attributes
    ----------
    t2 : (n,) Hotelling's T² = Σ t_a²/λ_a, the squared distance from the mean inside the model
    spe : (n,) squared prediction error ‖z − U Uᵀz‖², the squared distance from the model, also called Q
    t2_flags, spe_flags : (n,) how many limits a row exceeds: of two, 1 is a warning and 2 an alarm
    alpha : the levels of the limits, the larger first
    limits : Table with a line per statistic and level: the limit, how many rows exceed it, how many do so by chance,
        the method and why it was taken
    odd : Table of the rows beyond a limit, the farthest first, with the columns to blame
    deciding : Table of components of which one row of the fit has more than half of the variance
    of_fit : whether the rows were taken as those of the fit
    k : components that T² counts: those asked for which have variance
    n_passes : over the rows
    names : of the rows, where they have others than numbers: tables have these, `contributions` takes either

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import PCA
    >>> X = np.random.default_rng(0).standard_normal((200, 3)) * [3, 2, 1]
    >>> found = PCA(2).fit(X).monitor([[0.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
    >>> found.spe_flags.tolist(), found.odd["columns to blame"]
    ([0, 2], ['x2 high 100 %'])
    """

    t2: Array
    spe: Array
    t2_flags: NDArray[np.int8]
    spe_flags: NDArray[np.int8]
    alpha: tuple[float, ...]
    limits: Table
    odd: Table
    deciding: Table
    of_fit: bool
    k: int
    n_passes: int = 1
    notes: tuple[str, ...] = ()
    names: Sequence[Any] | None = None
    _listed: tuple[int, ...] | None = field(default=None, repr=False)  # the rows of `odd` by number, where names differ
    _learned: Any = field(default=None, repr=False)  # what limits followed from, for `reference`
    _explain: Callable[[Sequence[int]], Contributions] | None = field(default=None, repr=False)

    @property
    def leverage(self) -> Array | None:
        """(n,) 1/n + T²/(n − ddof), with n the rows of the fit; without the 1/n where they were not centred, and None
        where n is unknown."""
        return self.leverage_of(self.t2)

    def leverage_of(self, t2: Array) -> Array | None:
        """The same of rows with these T²."""
        of: Freedom | None = self._learned.of
        return None if of is None else t2 / (of.n - of.ddof) + (1 / of.n if of.centred else 0.0)

    @cached_property
    def flags(self) -> NDArray[np.int8]:
        """How many limits a row exceeds, in the statistic where these are more."""
        return np.maximum(self.t2_flags, self.spe_flags)

    @property
    def alarms(self) -> NDArray[np.intp]:
        """The rows beyond the last limit of T² or SPE, ascending."""
        return np.flatnonzero(self.flags >= len(self.alpha))

    @property
    def table(self) -> Table:
        """A line for every row."""
        columns: dict[str, Any] = {T2: self.t2, SPE: self.spe}
        if self.leverage is not None:
            columns["leverage"] = self.leverage
        columns |= {f"{T2} flag": self.t2_flags, f"{SPE} flag": self.spe_flags}
        return Table(columns, range(len(self.t2)) if self.names is None else self.names, index_name="row")

    def named(self, names: Sequence[Any]) -> Monitoring:
        """The same with names of rows in its tables; numbers would be taken for places, so they are none."""
        if isinstance(names[0], Integral):
            return self
        odd = replace(self.odd, index=[names[row] for row in self.odd.index])
        cells = {**self.deciding.columns, "row": [names[row] for row in self.deciding["row"]]}
        deciding = replace(self.deciding, columns=cells)
        return replace(self, names=names, odd=odd, deciding=deciding, _listed=tuple(self.odd.index))

    def _place(self, row: Any) -> Any:
        """The number of a row that may be called by its name."""
        if self.names is None or isinstance(row, Integral):
            return row
        places = [place for place, name in enumerate(self.names) if name == row]
        if len(places) != 1:
            raise DataError(f"{len(places)} rows are called {row!r}", "say which one by its number, counted from 0")
        return places[0]

    def contributions(self, rows: Sequence[Any] | NDArray[Any] | int | str | None = None) -> Contributions:
        """What every column adds to T² and SPE of some rows, by default of the odd ones that are listed.

        The numbers of listed rows are kept; others are read again, from where they came.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> print(PCA(2).fit(X).monitor(X).contributions(7).t2)
        contributions of columns to T²
        column      row 7
        x0          1.944
        x1         0.8014
        x2      -0.001387
        """
        if self._explain is None:
            raise DataError(
                "contributions need columns, and components of a kernel have none; look at t2 and spe, or monitor a PCA"
            )
        listed: Any = self.odd.index if self._listed is None else self._listed
        if rows is not None:
            given: Any = [rows] if isinstance(rows, str) or not hasattr(rows, "__len__") else rows
            listed = [self._place(row) for row in given]
        asked = np.asarray(listed if len(listed) else np.empty(0, int))
        if (
            asked.dtype.kind not in "iu"
            or asked.ndim != 1
            or (len(asked) and not 0 <= asked.min() <= asked.max() < len(self.t2))
        ):
            raise DataError(f"rows must be numbers from 0 to {len(self.t2) - 1}, got {rows!r}")
        return self._explain([int(row) for row in asked])

    def ellipse(self, first: int = 0, second: int = 1) -> Table:
        """Half axes of the ellipses around 0 that scores, not whitened, leave as often as the levels say, whatever
        the number of components of the model: T² of these two alone, with two degrees of freedom.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> print(PCA(3).fit(X).monitor(X).ellipse())
        half axes of the ellipses of scores
               PC1    PC2
        5 %  8.058   3.94
        1 %  9.784  4.783
        """
        places = [first, second]
        if not all(is_integer(a) and 0 <= a < self.k for a in places) or first == second:
            raise DataError(
                f"an ellipse takes two of the {self.k} components, counted from 0; got {first!r}, {second!r}"
            )
        of, space = self._learned.of, self._learned.subspace
        roots = times_power(space.deviations[places], space.power)
        levels = [two_of(a, of, self.of_fit) for a in self.alpha]
        axes = np.sqrt(levels)[:, None] * roots
        columns = {component(a): axes[:, i] for i, a in enumerate(places)}
        head = "half axes of the ellipses of scores"
        return Table(columns, [percent(a) for a in self.alpha], head=(head,))

    def __str__(self) -> str:
        odd = str(self.odd) if len(self.odd) else "\n".join(self.odd.head)  # no line of titles above nothing
        parts = [str(self.limits), odd] + ([str(self.deciding)] if len(self.deciding) else [])
        return "\n\n".join(["\n".join([parts[0], *self.notes]), *parts[1:]])

    def __getstate__(self) -> dict[str, Any]:
        """All but the way to rows that are not kept."""
        kept = dict(self.__dict__)
        if self._explain is not None and hasattr(self._explain, "without_rows"):
            kept["_explain"] = self._explain.without_rows()
        return kept


def two_of(alpha: float, of: Freedom | None, of_fit: bool) -> float:
    """The limit of T² of two components, for the variances of the model."""
    if of is None:
        return t2_of_known(alpha, 2)
    two = replace(of, k=2)
    return (t2_of_fit if of_fit else t2_of_new)(alpha, two) * of.bias


def level_of(flag: int, count: int) -> str:
    """What a flag is called: warning and alarm where there are two limits."""
    return LEVELS[flag] if count == 2 else LEVELS[2] if count == 1 and flag else f"{flag} of {count}" if flag else ""


def percent(alpha: float) -> str:
    """5 % for 0.05.

    Examples
    --------
    >>> percent(0.05), percent(0.0027)
    ('5 %', '0.27 %')
    """
    return f"{100 * alpha:.3g} %"


def summary(of_fit: bool, n: int, k: int) -> str:
    """What was monitored."""
    what = f"{n:,} {plural(n, 'row')} of the fit" if of_fit else f"{n:,} new {plural(n, 'row')}"
    return f"{what}, {k} {plural(k, 'component')}"
