"""The panel: all rules beside each other, and a recommendation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.fitting.rank import for_share
from ritz.linalg.dense import Array
from ritz.ranks import conditions, rules
from ritz.ranks.known import Known
from ritz.ranks.rules import SHARES, Asked, Finding, Rule
from ritz.runtime.tables import Table, Tabled, written
from ritz.runtime.threads import team
from ritz.runtime.wording import plural

FLIPS, DEFLATED, PARALLEL, CELLS, LEAST_ERROR = (
    "sign flips",
    "deflated parallel analysis",
    "parallel analysis",
    "held-out cells",
    "ScreeNOT",
)
OF_NOISE = (FLIPS, DEFLATED, PARALLEL, CELLS, LEAST_ERROR)  # rules that allow for noise of unequal columns
UNITS = 10.0  # times that deviations of columns may differ before their units decide what noise is


@dataclass(frozen=True)
class Entry:
    """A rule: what it computes, what it assumes, and how that is checked."""

    rule: Rule
    assumes: str
    holds: Callable[[Known], str]


RULES: Mapping[str, Entry] = {
    **{f"{100 * of:.0f} % of the variance": Entry(rules.share(of), "nothing", conditions.habit) for of in SHARES},
    "Kaiser": Entry(rules.kaiser, "uncorrelated noise, n much above d", conditions.kaiser),
    "broken stick": Entry(rules.broken_stick, "variance split at random", conditions.thumb),
    "profile likelihood": Entry(rules.profile, "two groups of variances", conditions.thumb),
    "Minka": Entry(rules.evidence, "white normal noise, n above d", conditions.white),
    "Gavish–Donoho": Entry(rules.white, "white noise", conditions.white),
    "random tables": Entry(rules.random_tables, "normal columns of equal variance", conditions.table),
    PARALLEL: Entry(rules.parallel_analysis, "independent columns, rows alike", conditions.columns),
    DEFLATED: Entry(rules.deflated, "independent columns, rows alike", conditions.columns),
    FLIPS: Entry(rules.flips, "noise with random signs", conditions.signs),
    LEAST_ERROR: Entry(rules.least_error, "few components of many", conditions.any_noise),
    CELLS: Entry(rules.held_out_cells, "rows and columns like each other", conditions.exchangeable),
}


@dataclass(frozen=True)
class RuleResult:
    """What one rule says.

    Attributes
    ----------
    name : of the rule
    k : how many components it would keep; None where it has no answer
    threshold : the variance that a component must exceed, NaN where the rule has none
    shown : the threshold as it is printed
    assumes, holds : what it assumes, and whether that holds here, or why there is no answer

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_wine
    >>> ritz.choose_rank(load_wine().data, scale=True).rules["sign flips"].k
    3
    """

    name: str
    k: int | None
    threshold: float
    shown: str
    assumes: str
    holds: str


@dataclass(frozen=True, eq=False)
class RankPanel(Tabled):
    """How many components: what every rule says, and a recommendation.

    Attributes
    ----------
    k : how many components are recommended, at least 1
    recommendation : one sentence with its reason
    rules : what each rule says, by name
    values : variances of the components, those that are known, in the units of the data
    marks : how many components hold 80, 90 and 95 % of the variance; None where more are needed than are known
    passes : over the rows
    notes : what else there is to say

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_wine
    >>> panel = ritz.choose_rank(load_wine().data, scale=True)
    >>> panel.k, panel.marks[0.9]
    (3, 8)
    >>> panel.rules["Kaiser"].k, panel.rules["Minka"].holds
    (3, 'doubtful: next rows are alike (0.26)')
    """

    k: int
    recommendation: str
    rules: Mapping[str, RuleResult]
    values: Array
    marks: Mapping[float, int | None]
    passes: int
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        """One row for every rule."""
        said = list(self.rules.values())
        columns: dict[str, list[Any]] = {
            "k": [one.k for one in said],
            "threshold": [one.shown for one in said],
            "assumes": [one.assumes for one in said],
            "holds here?": [one.holds for one in said],
        }
        return Table(
            columns,
            [one.name for one in said],
            head=(self.recommendation, ""),
            notes=("", self.shares, *self.notes),
            index_name="rule",
        )

    @property
    def shares(self) -> str:
        """The marks in words."""
        return in_words(self.marks)


def in_words(marks: Mapping[float, int | None]) -> str:
    """How many components hold how much.

    Examples
    --------
    >>> in_words({0.8: 3, 0.9: 5, 0.95: None})
    '80 % of the variance with 3, 90 % with 5 components'
    >>> in_words({0.8: 1, 0.9: 1, 0.95: 1})
    '80, 90 and 95 % of the variance with 1 component'
    """
    known = {share: k for share, k in marks.items() if k is not None}
    if not known:
        return "80 % of the variance takes more components than are known"
    if len(known) == len(marks) and len(set(known.values())) == 1:
        k = next(iter(known.values()))
        return f"80, 90 and 95 % of the variance with {k} {plural(k, 'component')}"
    said = [
        f"{100 * share:.0f} %{' of the variance' if i == 0 else ''} with {k}"
        for i, (share, k) in enumerate(known.items())
    ]
    return f"{', '.join(said)} {plural(list(known.values())[-1], 'component')}"


def marks_of(values: Array, total: float) -> dict[float, int | None]:
    """How many components hold 80, 90 and 95 % of the variance, where so many are known."""
    kept = float(np.sum(values))
    enough = len(values) and total > 0
    return {
        of: for_share(values, total, of) if enough and (kept > of * total or np.isclose(kept, total)) else None
        for of in SHARES
    }


def panel_of(known: Known, asked: Asked, names: tuple[str, ...]) -> RankPanel:
    """The panel of these rules."""
    with team():  # BLAS threads would spin between products this small
        found = {name: RULES[name].rule(known, asked) for name in dict.fromkeys([*names, *OF_NOISE])}
    k, said, notes = recommended(known, found)
    results = {name: _result(name, found[name], known) for name in names}
    with np.errstate(over="ignore", under="ignore"):
        values = known.values * known.size * known.size
    return RankPanel(k, said, results, values, marks_of(known.values, known.total), known.passes, notes)


def _result(name: str, found: Finding, known: Known) -> RuleResult:
    entry = RULES[name]
    with np.errstate(over="ignore", under="ignore"):
        bar = found.threshold if name == FLIPS else found.threshold * known.size * known.size
    shown = found.text or written(float(bar))
    holds = entry.holds(known) if found.k is not None else found.why
    return RuleResult(name, found.k, float(bar), shown if found.k is not None else "", entry.assumes, holds)


def recommended(known: Known, found: Mapping[str, Finding]) -> tuple[int, str, tuple[str, ...]]:
    """How many components, why, and what else there is to say."""
    by, why = _leading_rule(known, found)
    said = found[by].k if by else None
    if said is None:
        k = for_share(known.values, known.total, SHARES[0])
        text = f"{_count(k)}: 80 % of the variance, for want of a rule that knows noise from components."
        return k, text, _notes(known)
    k = max(1, said)
    others = {name: count for name in OF_NOISE if name != by and (count := found[name].k) is not None}
    agreeing = [name for name, count in others.items() if count == said]
    if not said:
        text = f"No component stands above noise ({by}); 1 is the least that a model can keep"
    else:
        text = f"{_count(k)}: {why}"
    if agreeing:
        text += f"; {_listed(agreeing)} agree{'s' * (len(agreeing) == 1)}"
    elif others:
        low, high = min(others.values()), max(others.values())
        text += f"; other rules of noise say {low if low == high else f'{low} to {high}'}"
    return k, f"{text}.", _notes(known)


def _leading_rule(known: Known, found: Mapping[str, Finding]) -> tuple[str, str]:
    """Which rule decides, and why it may: the first that has an answer and allows for noise of unequal columns."""
    if known.choice is not None:
        return FLIPS, "so many stand above what random signs leave of the rows, whatever the noise of columns and rows"
    if found[DEFLATED].k is not None:
        return DEFLATED, "so many stand above noise of the variances that columns have"
    return "", ""


def _notes(known: Known) -> tuple[str, ...]:
    """Where units of columns decide what noise is, and how often the rows were read."""
    notes = []
    if not known.scaled and not known.kernel and known.spread > UNITS and known.d > 1:
        times = conditions.times(known.spread)
        notes.append(
            f"columns are not scaled and deviate by up to {times} as much as each other: a column of its own is noise, "
            f"however large, so where units differ they decide what noise is{_scaled(known)}"
        )
    if known.passes:
        notes.append(f"{known.passes} {'pass' if known.passes == 1 else 'passes'} over the rows")
    return tuple(notes)


def _scaled(known: Known) -> str:
    """What scaled columns would say, by parallel analysis of their correlations."""
    if known.matrix is None or not known.n:
        return "; scale=True gives all columns one unit"
    values, vectors = rules.correlations(known)
    parts = values[:, None] * np.square(vectors.T)
    found = rules.one_by_one(values, np.ones(len(values)), parts, known.n)
    if found.k is None:
        return "; scale=True gives all columns one unit"
    return f"; with scale=True about {_count(found.k)} would stand above it"


def _count(k: int) -> str:
    return f"{k} {plural(k, 'component')}"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
