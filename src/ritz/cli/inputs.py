"""A file, or standard input, as rows to be decomposed, and as what stands beside them: identifiers and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.cli.labels import labels_from
from ritz.cli.paths import Source
from ritz.cli.reading import NOT_ASKED, Reading, roles_of
from ritz.cli.screen import Screen
from ritz.inspection.finding import Finding, spoilt
from ritz.inspection.inspection import inspected
from ritz.linalg.dense import Array
from ritz.pca.from_rows import held
from ritz.rows import Rows
from ritz.rows.base import dense
from ritz.rows.formats.read import TEXTS, ending_of, suffix_of
from ritz.rows.formats.several import several
from ritz.rows.memory.coded import Code, coded
from ritz.rows.memory.computed import choose
from ritz.rows.memory.differenced import differenced, levels
from ritz.rows.profile import Profile
from ritz.rows.select import EMPTY, announce_doubts, announce_names, name_by_position
from ritz.rows.write.columns import numbers_from_text
from ritz.runtime.memory import PHYSICAL, format_bytes
from ritz.runtime.wording import visible

HELD = 0.25  # of the memory, that numbers from a file may take to be parsed only once
DEFAULT = 10  # components, unless there are fewer
SHARE = 0.95  # of the variance of pictures, by default; or so many components, where there are many pictures and pixels
OF_MANY, MANY = 100, 2000
QUICK = 2e9  # multiplications of one copy of the data up to which it decides how many components, within seconds
FOR_A_MAP = 2  # components that are kept at least where the data decides: a map of rows needs as many
APART = 10.0  # times that deviations of columns may differ before one dominates the first component
SHOWN = 10  # columns that are left out, on the screen
SEEN, LEAST_SEEN = 1 << 19, 64  # cells, and rows, that are looked over before a fit
# Findings that a command says in words of its own: about gaps, columns that never vary, scales and identifiers.
SAID = {"missing", "infinite", "constant", "units", "identifier", "mixed", "large_integers"}
LEFT_OUT = "rows left out"  # of which a fact may tell


@dataclass(frozen=True)
class Input:
    """Rows, and what a command says and writes beside them.

    Attributes
    ----------
    name, size : of the file, for people
    rows : the numbers
    source : the file as it was opened, None for a bundled data set
    identifier : the column that names the rows
    carried : columns of the source that stand beside the scores
    given : the same, of a bundled data set
    label : which of them tells the rows apart in the report
    left_out : columns that are not decomposed, and why
    facts : what was found out about the file, a term and a description each
    text : whether it is text, so that scores should be too
    ending : of the name of another file like it
    demo : which bundled data set it is
    findings : what looks wrong in the rows
    scales : how differently columns vary, without the cells that the findings tell of; None where there are none
    """

    name: str
    rows: Rows
    source: Rows | None = None
    identifier: Any = None
    carried: tuple[Any, ...] = ()
    given: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    label: str | None = None
    left_out: Mapping[Any, str] = field(default_factory=dict)
    facts: tuple[tuple[str, str], ...] = ()
    text: bool = False
    size: str = ""
    ending: str = ".parquet"
    demo: str | None = None
    findings: tuple[Finding, ...] = ()
    scales: Profile | None = None

    def __str__(self) -> str:
        return f"{self.name} ({self.size})" if self.size else self.name

    def beside(self, every: bool = False) -> dict[str, NDArray[Any]]:
        """The columns that are carried along, of the rows that are kept, or of `every` one of the source.

        They are read when they are asked for, then whole.
        """
        found = dict(self.given)
        if self.source is not None and self.carried:
            cells = self.source.raw_cells(self.carried)
            found |= {str(key): numbers_from_text(values) for key, values in cells.items()}
        kept = None if every else self.rows.kept
        return found if kept is None else {key: values[kept] for key, values in found.items()}


def chosen(raw: Rows, source: Source, reading: Reading) -> Input:
    """The columns of files that are decomposed, those that are carried along, and those that are left out."""
    raw = name_by_position(raw)
    roles = roles_of(raw, reading)
    rows = choose(raw, None, [key for key in roles.out if not raw.is_aside(key)], "error")
    announce_names(raw, roles.out)
    if not reading.known:
        announce_doubts(roles.apart)
    rows, views = viewed(rows, reading.na, reading.diff)
    beside = (roles.identifier, roles.label)
    labels = None if reading.labels is None else labels_from(reading.labels, raw, source.title, roles.identifier)
    told = () if labels is None else (("labels", labels.told),)
    named = roles.label if labels is None else labels.name
    left_out = {**raw.left_out, **roles.out}
    if not_asked := [key for key, why in left_out.items() if why == NOT_ASKED]:
        told = (*told, ("columns", f"{rows.shape[1]} of {rows.shape[1] + len(not_asked)}, as asked"))
    like = (several(source.opened) or source.paths)[0]  # a file of the same format
    return Input(
        source.title,
        rows,
        raw,
        roles.identifier,
        tuple(dict.fromkeys(key for key in beside if key is not None)),
        given={} if labels is None else {labels.name: labels.values},
        label=None if named is None else str(named),
        left_out={key: why for key, why in left_out.items() if why != NOT_ASKED},
        facts=((("read as", raw.about),) if raw.about else ()) + told + views,
        text=suffix_of(like) in TEXTS,
        size=format_bytes(source.bytes),
        ending=ending_of(like),
    )


def viewed(rows: Rows, na: Any, diff: bool) -> tuple[Rows, tuple[tuple[str, str], ...]]:
    """The rows with codes for missing values as gaps, and then the differences of neighbours, and facts about that.

    In this order, and before anything is done about gaps: no difference spans a row that was dropped.
    """
    facts: tuple[tuple[str, str], ...] = ()
    if na:
        codes = tuple(Code(*code) for code in na)
        rows = coded(rows, codes)
        told = (
            repr(value).removesuffix(".0") + ("" if names is None else f" in {', '.join(map(str, names))}")
            for value, names in codes
        )
        facts = (("taken for missing", "; ".join(told)),)
    if diff:
        rows, facts = differenced(rows), (*facts, ("differences", "of every row and the one before it"))
    return rows, facts


def completed(found: Input, reading: Reading, limit: int | None) -> Input:
    """The input with its numbers in memory where they fit, gaps dealt with, and constant columns left out if asked."""
    rows = found.rows if reading.missing == "error" else found.rows.with_gaps()
    read = held(rows) if worth_holding(rows, limit) else rows
    if not reading.image:
        found = looked_at(found, rows if reading.diff else read)
    rows = read
    if Profile.of(rows.with_gaps()).empty:
        low, high = extremes(rows.with_gaps())
        found, rows = _without(found, rows, low > high, EMPTY)
    complete = choose(rows, None, [], reading.missing)
    if reading.drop_constant:  # of the rows that are left
        low, high = extremes(complete.with_gaps())
        found, rows = _without(found, rows, low == high, "constant")
        complete = choose(rows, None, [], reading.missing)
    return without_gaps(found, complete)


def looked_at(found: Input, rows: Rows) -> Input:
    """The input with what looks wrong in a sample of its rows, but for what is said anyway; as it is on a cluster."""
    if rows.scattered or rows.on_device:
        return found
    findings = _looked_over(rows)
    cells = [Code(value, (name,)) for value, name in spoilt(findings)]
    if not cells:
        return replace(found, findings=findings)
    before = levels(rows)
    rest = coded(before, cells)
    rest = rest if before is rows else differenced(rest)
    return replace(found, findings=findings, scales=Profile.of(rest.with_gaps()))


def _looked_over(rows: Rows) -> tuple[Finding, ...]:
    size = min(levels(rows).shape[0], max(LEAST_SEEN, SEEN // rows.shape[1]))
    found = inspected(rows, size, np.random.default_rng(0))
    return tuple(finding for finding in found if finding.code not in SAID)


def advised(finding: Finding) -> str:
    """A finding and the options that would treat it."""
    return f"{finding.sentence}; {finding.option}" if finding.option else finding.sentence


def as_facts(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings for machines."""
    names = ("code", "severity", "columns", "rows", "evidence", "sentence", "option")
    return [{name: getattr(finding, name) for name in names} for finding in findings]


def _without(found: Input, rows: Rows, which: NDArray[np.bool_], why: str) -> tuple[Input, Rows]:
    """The input and its rows without some columns."""
    names = [name_of(rows, int(j)) for j in np.flatnonzero(which)]
    found = replace(found, left_out={**found.left_out, **dict.fromkeys(names, why)})
    return found, choose(rows, None, names, "error")


def without_gaps(found: Input, rows: Rows) -> Input:
    """The input with the rows that are left, and a word about those that are not."""
    gone, facts = found.rows.shape[0] - rows.shape[0], found.facts
    if gone:
        facts = (*facts, (LEFT_OUT, f"{gone} of {found.rows.shape[0]}, because of missing values"))
    if rows.n_filled:
        facts = (*facts, ("cells filled", f"{rows.n_filled}, with the mean of their column"))
    return replace(found, rows=rows.watched(found.rows.watch), facts=facts)


def worth_holding(rows: Rows, limit: int | None = None) -> bool:
    """Whether rows should be read into memory: to parse them again costs more than all else."""
    most = HELD * PHYSICAL if limit is None else limit / 2
    return not rows.in_memory and rows.dtype.itemsize * rows.shape[0] * rows.shape[1] <= most


def extremes(rows: Rows) -> tuple[Array, Array]:
    """The least and the largest value of every column, gaps aside; of one without values, the least is above."""

    def ends(blocks: Iterable[Any]) -> Any:
        low, high = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf)
        for block in map(dense, blocks):
            low, high = np.fmin(low, np.fmin.reduce(block)), np.fmax(high, np.fmax.reduce(block))
        return low, high

    return rows.reduce(ends, lambda a, b: (np.fmin(a[0], b[0]), np.fmax(a[1], b[1])))


def name_of(rows: Rows, j: int) -> Any:
    """What a column is called, its position where it has no name."""
    return j if rows.names is None else rows.names[j]


def say_what_it_is(found: Input, screen: Screen) -> None:
    """How it was read, and which columns are not decomposed."""
    for term, text in found.facts:
        screen.say(f"  {term}: {visible(text)}")
    for key, why in list(found.left_out.items())[:SHOWN]:
        screen.say(f"  not decomposed: {visible(key)} ({visible(why)})")
    if len(found.left_out) > SHOWN:
        screen.say(f"  … and {len(found.left_out) - SHOWN} more columns")


def default_count(asked: int | float | str | None, rows: Rows) -> int | float | str:
    """How many components: as asked, or a number that a person can take in; of pictures, what they can be told by."""
    most = max(1, min(rows.shape[0] - 1, rows.shape[1]))
    if asked is not None:
        return asked
    if rows.image_shape is None:
        return min(DEFAULT, most)
    return SHARE if 1 < most <= MANY else min(OF_MANY, most)


def is_left_to_data(asked: object, rows: Rows) -> bool:
    """Whether the data decides how many components: nobody asked for a number, and to find it takes no longer than
    people wait. Of pictures a share of the variance says more."""
    (n, d), here = rows.shape, (rows.in_memory or worth_holding(rows)) and not rows.scattered and not rows.on_device
    return asked is None and rows.image_shape is None and here and n > 2 and d > 1 and n * d * min(n, d) <= QUICK
