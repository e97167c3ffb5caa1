"""The rules of a panel: how many components each would keep, its threshold, and what it assumes.

A rule is a function of what is `Known`; it returns a `Finding`, or the reason why it has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ritz.fitting.rank import for_share, gavish_donoho, hard_threshold, marchenko_pastur_median, minka, parallel
from ritz.linalg.dense import Array, eigh_descending
from ritz.ranks import held_out, spectra
from ritz.ranks.known import NO_COLUMNS, Known
from ritz.ranks.marchenko_pastur import Law

SHARES = (0.8, 0.9, 0.95)
SMALL = 10  # rows or columns below which what holds for many of both is not claimed
BULK = 0.2  # of the largest level below which the smaller side counts few rows: what is asked of Kaiser's noise
MARGIN = 1e-9  # relative, by which a value must exceed a threshold: rounding decides nothing
WHOLE = "not all variances are known"
NO_ROWS = "not known how many rows there are"


@dataclass(frozen=True)
class Finding:
    """How many components, and the threshold that a variance must exceed, in units of the values; or why there is no
    answer. `text` stands for thresholds that are no variance."""

    k: int | None = None
    threshold: float = float("nan")
    text: str = ""
    why: str = ""


@dataclass(frozen=True)
class Asked:
    """What a panel was asked with."""

    level: float
    seed: int


Rule = Callable[[Known, Asked], Finding]


def share(of: float) -> Rule:
    """So large a share of the variance."""

    def rule(known: Known, asked: Asked) -> Finding:
        k = for_share(known.values, known.total, of)
        if not known.whole and float(np.sum(known.values)) <= of * known.total:
            return Finding(why=f"more than the {len(known.values)} that are known")
        return Finding(k, text=f"{100 * of:.0f} %")

    return rule


def kaiser(known: Known, asked: Asked) -> Finding:
    """Eigenvalues of the correlation matrix above 1, what a column has of its own."""
    if known.kernel:
        return Finding(why=NO_COLUMNS)
    if known.scaled:
        varying = known.d if known.columns is None else np.count_nonzero(known.columns > 0)
        return Finding(_above(known.values, known.total / varying), known.total / varying)
    if known.matrix is None:
        return Finding(why="correlations are not known: scale=True")
    return Finding(_above(correlations(known)[0], 1.0), text="1 (correlation)")


def correlations(known: Known) -> tuple[Array, Array]:
    """Eigenvalues and vectors of the correlations of the columns that vary, whose ZᵀZ is known."""
    assert known.matrix is not None
    diagonal = known.matrix.diagonal()
    varying = diagonal > 0
    weight = 1 / np.sqrt(diagonal[varying])
    matrix = known.matrix[np.ix_(varying, varying)] * np.outer(weight, weight)
    values, vectors = eigh_descending(matrix)
    return np.maximum(values, 0.0), vectors


def broken_stick(known: Known, asked: Asked) -> Finding:
    """Shares above those of a stick broken at random."""
    if not known.order:
        return Finding(why=NO_ROWS)
    k, pieces = spectra.broken_stick(known.shares, known.order)
    if k == len(known.values) < known.order:
        return Finding(why=WHOLE)
    return Finding(k, float(pieces[min(k, len(pieces) - 1)]) * known.total)


def profile(known: Known, asked: Asked) -> Finding:
    """Where the scree breaks into two groups."""
    if not known.whole:
        return Finding(why=WHOLE)
    if known.order < 3:
        return Finding(why="fewer than 3 variances")
    k = spectra.profile_likelihood(known.values)
    return Finding(k, float(known.values[k]))


def evidence(known: Known, asked: Asked) -> Finding:
    """Minka's dimension of largest evidence."""
    refused = _without(known)
    if refused is not None or known.n < known.d:
        return refused or Finding(why="fewer rows than columns")
    return Finding(minka(known.values, known.n))


def white(known: Known, asked: Asked) -> Finding:
    """Gavish and Donoho's threshold for white noise of unknown size."""
    refused = _without(known)
    if refused is not None:
        return refused
    singular, ratio = np.sqrt(known.values), known.order / max(known.n, known.d)
    omega = hard_threshold(ratio) / np.sqrt(marchenko_pastur_median(ratio))
    bar = float(omega * np.median(singular)) ** 2
    return Finding(gavish_donoho(singular, known.n, known.d), bar)


def parallel_analysis(known: Known, asked: Asked) -> Finding:
    """Deterministic parallel analysis: the edge of noise with the variances that the columns have."""
    refused = _without_columns(known)
    if refused is not None or known.columns is None:
        return refused or Finding(why=NO_COLUMNS)
    bar = known.n * Law(known.columns / known.n, known.n).threshold(asked.level)
    k = _above(known.values, bar)
    if k == len(known.values) < known.order:
        return Finding(why=WHOLE)
    return Finding(k, bar)


def deflated(known: Known, asked: Asked) -> Finding:
    """The same one after the other, without the components before, and with the threshold from which a component is
    worth keeping (Dobriban and Owen's DDPA+)."""
    refused = _without_columns(known)
    if refused is not None or known.columns is None or known.parts is None:
        return refused or Finding(why="axes are not known")
    return one_by_one(known.values, known.columns, known.parts, known.n)


def one_by_one(values: Array, columns: Array, parts: Array, n: int) -> Finding:
    """How many values exceed what noise of the columns alone asks for, when all before them have been subtracted.

    The columns get back what the components took of their noise: the shares 1 − gⱼ and 1 − k/n are left of it.
    """
    left, taken = columns.astype(float), np.zeros(len(columns))
    most, bar = min(len(values), len(parts), min(n, len(columns)) - 1), 0.0
    for k in range(most + 1):
        free = np.maximum(1 - taken, 0.01)
        noise = np.maximum(left, 0.0) / free / (1 - k / n)
        if not noise.max() > MARGIN * columns.max() * MARGIN:
            return Finding(k, 0.0)
        bar = n * Law(noise / n, n).optimal
        if k == most or not values[k] > bar * (1 + MARGIN):
            break
        left -= parts[k]
        taken += parts[k] / values[k]
    if k == most and most < min(n, len(columns)) - 1 and values[most - 1] > bar:
        return Finding(why=f"more than the {most} that are known")
    return Finding(k, bar)


def flips(known: Known, asked: Asked) -> Finding:
    """Random sign flips with deflation."""
    if known.choice is None:
        return Finding(why=known.why_not)
    choice = known.choice
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        bar = float(choice.null[min(choice.above, len(choice.null) - 1)])
    return Finding(choice.above, bar, text=f"{bar:.4g}")


def least_error(known: Known, asked: Asked) -> Finding:
    """ScreeNOT: the threshold that keeps the squared error least, whatever the noise."""
    refused = _without(known)
    if refused is not None:
        return refused
    most = spectra.most_possible(known.order)
    if known.order < 2 * most + 1:
        return Finding(why=f"{known.order} variances are too few")
    bar = spectra.screenot(np.sqrt(known.values), known.n, known.d, most) ** 2
    return Finding(_above(known.values, bar), bar)


def held_out_cells(known: Known, asked: Asked) -> Finding:
    """As many as predict held-out cells best."""
    if known.kernel:
        return Finding(why=NO_COLUMNS)
    if known.halves is None:
        return Finding(why="holds out cells: pass X" if known.facts is None else "too many rows and columns")
    if min(known.n, known.d) < 4:
        return Finding(why="fewer than 4 rows or columns")
    found = held_out.errors(known.halves, asked.seed, known.matrix is None and len(known.halves[0]) > known.n)
    k = int(np.argmin(found))
    return Finding(k, text=f"{found[k] / found[0]:.3g} of the error" if found[0] > 0 else "")


def random_tables(known: Known, asked: Asked) -> Finding:
    """Shares above those of random tables of the same shape."""
    if not known.order or known.kernel:
        return Finding(why=NO_COLUMNS if known.kernel else NO_ROWS)
    places = min(spectra.PLACES, len(known.values))
    null = spectra.reference(known.n, known.d, places, 1 - asked.level, asked.seed)
    k = parallel(known.shares, null[None])
    if k == places < known.order:
        return Finding(why=f"more than the {places} that are drawn")
    return Finding(k, float(null[min(k, len(null) - 1)]) * known.total)


def _above(values: Array, bar: float) -> int:
    """How many leading values exceed a bar by more than rounding."""
    return int(np.count_nonzero(values > bar * (1 + MARGIN)))


def _without(known: Known) -> Finding | None:
    """Why a rule of the whole spectrum of a matrix has no answer."""
    if known.kernel:
        return Finding(why=NO_COLUMNS)
    if not known.n:
        return Finding(why=NO_ROWS)
    return None if known.whole else Finding(why=WHOLE)


def _without_columns(known: Known) -> Finding | None:
    """Why a rule of the variances of columns has no answer."""
    if known.kernel or known.columns is None:
        return Finding(why=NO_COLUMNS if known.kernel else "columns' variances are not known")
    return None if known.n else Finding(why=NO_ROWS)
