"""How many components stand above noise: the rows compared with copies of them that have random signs, and then what
is left of the rows without the components found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

import numpy as np

from ritz.fitting import rank
from ritz.fitting.deflation import Deflation
from ritz.fitting.edges import ITERATED, edge, none_above, spectrum
from ritz.fitting.rank import FLIPS, Choice
from ritz.fitting.request import Request
from ritz.fitting.signflip_plans import GUESS, SPECTRA, Route
from ritz.fitting.signflips import Flips, flipping_dtype
from ritz.fitting.solve import magnified, preprocessing
from ritz.fitting.stopping import LEAST, PLACES, Comparison
from ritz.linalg.dense import SUBSET, Array, eigh_descending, mirrored, squared
from ritz.moments.accumulate import Scatter
from ritz.moments.moments import Moments, moments
from ritz.moments.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.runtime.threads import ordered

# What rounding may add to a value, of itself and of the largest: it must not decide between equal ones.
TIE, DUST = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}, 1e-13
# Comparisons that are made however long they take, and operations beyond which no more follow: a smooth spectrum, as
# that of pictures, has hundreds of components above noise, of which each comparison finds a few.
SURE, BUDGET = 3, 3e10
Vectors = Callable[[int], Array]  # so many leading eigenvectors of what was compared


def chosen(rows: Rows, request: Request, route: Route, found: Moments | None = None) -> Choice:
    """How many components stand above noise, by random sign flips; `found` are the moments of the rows, if known.

    Every value is compared with the largest one of each copy, not with that at its own place: behind r components
    stands the largest of the noise at place r + 1, and the copies have a smaller one there where noise differs by
    column. Centring took 1/n of the noise out of every entry, which the copies get back. Copies that would not change
    the count are not made.

    What stands above noise is then subtracted, and the rest compared with its own copies, until nothing of it stands
    above them, or it would take long: so a component in the shadow of far larger ones is found when these are gone.
    """
    rows = rows.limited(route.cost.block_bytes, route.cost.threads)
    flips, unit = prepared(rows, request, found)
    return by_stages(flips, unit, request, route)


def by_stages(flips: Flips, unit: float, request: Request, route: Route) -> Choice:
    """The same for rows that are preprocessed already, in a unit."""
    n, order = flips.rows.shape[0], min(flips.rows.shape)
    stages: list[Stage] = []
    guessing = route.kind != "krylov"  # which knows no more values than it needs
    dust = 0.0
    while True:
        factor = (1 + TIE[flipping_dtype(flips.rows)]) * n / (n - request.center)
        stage = Stage(flips, sum(found.taken for found in stages), Comparison(factor, DUST, dust=dust))
        stage.compare(route)
        dust = dust or DUST * float(stage.seen.values[0])
        if stages and not stages[-1].confirmed(stage.seen):
            stages[-1].withdraw(stage.seen.count)
            guessing = False
        else:
            stages.append(stage)
        above = stages[-1].take(guessing, request.center)
        if not above or stages[-1].removed + above >= order:
            break
        if len(stages) >= SURE and sum(found.copies for found in stages) >= _affordable(route):
            stages[-1].taken = stages[-1].above  # a guess that nothing will confirm
            break
        flips = stages[-1].rest(request.center, route.kind)
    return _choice(stages, order, unit / np.sqrt(n - request.ddof), request.seed)


@dataclass(eq=False)
class Stage:
    """One comparison: rows without what was found before, beside their copies.

    Attributes
    ----------
    flips, removed : the rows, and how many components were subtracted from them
    seen : their values beside those of copies
    above : how many values stand above the copies
    taken : how many are subtracted next: those, and perhaps some that a guess says will stand above what they left
    bar : what the last of those taken was compared with
    vectors : so many leading eigenvectors
    """

    flips: Flips
    removed: int
    seen: Comparison
    above: int = 0
    taken: int = 0
    extra: int = 0  # copies that denied a guess
    bars: Array = field(default_factory=lambda: np.empty(0))
    vectors: Vectors = np.empty

    def compare(self, route: Route) -> None:
        compare = _by_products if route.kind == "krylov" else _by_matrices
        self.above, self.vectors = compare(self.flips, route, self.seen)

    def take(self, guessing: bool, center: bool) -> int:
        """How many components go next, if they have not been chosen."""
        n, d = (size - self.removed for size in self.flips.rows.shape)
        self.taken = self.seen.ahead(self.above, n - center, d) if guessing and self.above else self.above
        self.bars = np.full(len(self.seen.values), self.seen.bar)
        return self.taken

    def confirmed(self, later: Comparison) -> bool:
        """Whether all that were taken stand above what the rows are compared with when they are gone."""
        if self.taken == self.above:
            return True
        self.bars[self.above : self.taken] = later.bar
        return bool(self.seen.values[self.taken - 1] > later.reach)

    @property
    def copies(self) -> int:
        """How many copies it took."""
        return self.seen.count + self.extra

    def withdraw(self, copies: int) -> None:
        """Take only those above, after so many copies that told nothing else."""
        self.extra += copies

    def rest(self, center: bool, kind: str) -> Flips:
        """The rows without the components that were taken."""
        return _without(self.flips, self.vectors(self.taken), self.seen.values[: self.taken], center, kind)


def _affordable(route: Route) -> float:
    """How many copies are compared before no further components are looked for behind those found."""
    return BUDGET / (route.cost.operations / SPECTRA)


def _choice(stages: list[Stage], order: int, size: float, seed: int) -> Choice:
    """What the stages found; the last one took nothing."""
    ends = [stage.taken for stage in stages[:-1]] + [order - stages[-1].removed]
    found = [(stage.seen.values[:end], stage.bars[:end]) for stage, end in zip(stages, ends, strict=True)]
    values, bars = (np.concatenate(parts) for parts in zip(*found, strict=True))
    above = stages[-1].removed + stages[-1].taken
    told, null = squared(np.minimum.accumulate(values), size), squared(bars, size)
    made = tuple((stage.removed, stage.copies) for stage in stages)
    return Choice(
        rule=rank.RULE,
        seed=seed,
        flips=sum(copies for _, copies in made),
        quantile=rank.QUANTILE,
        values=told,
        null=null,
        k=max(1, above),
        count=None if rank.parallel(told, null[None]) == above else above,
        stages=made,
    )


def _without(flips: Flips, axes: Array, levels: Array, center: bool, kind: str) -> Flips:
    """The rows without these components, too: their axes, or their scores where inner products are formed."""
    n, gram = flips.rows.shape[0], kind == "gram"
    none = Deflation(np.empty((len(axes), 0)), np.empty(0), center * gram / n, center * (not gram) / n)
    known = flips.own is not None and len(flips.own) == len(axes)
    own = flips.own - (axes * levels) @ axes.T if known and flips.own is not None else None
    return replace(flips, own=own, without=(flips.without or none).further(axes, levels))


def prepared(rows: Rows, request: Request, found: Moments | None = None) -> tuple[Flips, float]:
    """The rows, centred and scaled as the model is, in a unit near the size of their entries: no square leaves float32.

    The unit is a power of two, so that it costs no rounding.
    """
    if found is None:
        found = moments(rows, center=request.center, scale=request.scale, scatter=Scatter.DIAGONAL)
    prepare, units = preprocessing(found, request, rows.name)
    rows, prepare, found = magnified(rows, found, prepare, units.unit)
    weight = np.ones(rows.shape[1]) if prepare.weight is None else prepare.weight
    factor = found.unit * weight
    squares = found.diagonal * factor**2
    size = float(np.ldexp(1.0, int(np.frexp(np.sqrt(np.mean(squares) / rows.shape[0]))[1])))
    prepare = Preprocessing(prepare.shift, prepare.delta, weight / size)
    factor /= size
    own = found.scatter * np.outer(factor, factor) if found.scatter.ndim == 2 else None
    return Flips(rows, prepare, squares / size**2, request.seed, own), units.unit * size


def _by_matrices(flips: Flips, route: Route, seen: Comparison) -> tuple[int, Vectors]:
    """All eigenvalues of the rows beside the largest ones of copies, one pass after the other until they tell."""
    order = min(flips.rows.shape)
    places, workers = min(PLACES, order), flips.rows.threads if SUBSET < order <= ITERATED else 1
    whole = LEAST if len(route.groups) > 1 else 1  # copies of which more than the largest value may be asked
    own = flips.own if flips.own is not None and len(flips.own) == order else None
    for group in route.groups:
        if own is not None and group[0] is None:
            seen.values, group = spectrum(own), group[1:]
        if not group:
            continue
        matrices = flips.matrices(route.kind, group, len(group))
        if own is None:
            own = np.array(next(matrices), np.float64)
            seen.values = spectrum(own)
        while some := list(islice(matrices, LEAST if workers > 1 else 1)):
            top = partial(_top, bar=seen.largest if seen.count >= whole else 0.0, places=places)
            for found in ordered(top, some, workers) if workers > 1 else map(top, some):
                seen.add(found)
        if seen.count and (not seen.above or (seen.count < FLIPS and seen.clear)):
            break
    matrix = own
    return seen.clear if seen.count < FLIPS else seen.above, lambda count: _vectors(matrix, count)


def _vectors(K: Array | None, count: int) -> Array:
    assert K is not None  # the first group is never empty
    return np.asarray(eigh_descending(mirrored(K), count)[1])


def _top(K: Array, bar: float, places: int) -> Array | None:
    """The largest eigenvalues; None where a factorisation, which takes less, shows that all are within the bar."""
    return None if bar and none_above(K, bar) else edge(K, places)


def _by_products(flips: Flips, route: Route, seen: Comparison) -> tuple[int, Vectors]:
    """The same by iteration, a copy at a time: as many values of the rows as it takes to end the count."""
    most = min(flips.rows.shape)
    places, k = min(PLACES, most), min(GUESS, most)
    vectors: Array = np.empty((flips.rows.shape[1], 0))
    for flip in range(FLIPS):
        seen.add(flips.leading(flip, places)[0])
        while len(seen.values) < k and (not len(seen.values) or seen.values[-1] > seen.largest):
            seen.values, vectors = flips.leading(None, k)
            k = min(2 * k, most)
        if not seen.above or seen.clear:
            break
    return seen.clear if seen.count < FLIPS else seen.above, lambda count: vectors[:, :count]
