"""`ritz.inspect`: look at rows before a fit, and say what in them may spoil it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.inspection.codes import codes_for_missing
from ritz.inspection.duplicates import duplicate_columns, duplicate_rows
from ritz.inspection.far_cells import far_cells
from ritz.inspection.finding import ERROR, SEVERITIES, WARNING, Finding, called
from ritz.inspection.gaps import infinite, missing, nothing
from ritz.inspection.heavy import heavy_tails
from ritz.inspection.known import known_of
from ritz.inspection.meaning import dates, identifiers, kinds, percentages, units
from ritz.inspection.order import ordered_rows
from ritz.inspection.sample import Sample, check_rows, generator, names_of, rows_to_look_at, sampled
from ritz.inspection.sums import sums
from ritz.rows import Rows, as_rows
from ritz.rows.memory.differenced import levels
from ritz.runtime.tables import Table, Tabled
from ritz.runtime.threads import team
from ritz.runtime.wording import plural

Check = Callable[[Sample], Iterator[Finding]]
# Every check, in the order in which its findings are told among those of the same severity.
CHECKS: tuple[Check, ...] = (
    missing, infinite, codes_for_missing, far_cells, nothing, identifiers, dates, duplicate_columns, sums, ordered_rows,
    units, percentages, duplicate_rows, heavy_tails, kinds,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Inspection(Tabled):
    """What `ritz.inspect` found: it prints as a list, worst first, and becomes a frame.

    Attributes
    ----------
    findings : worst first
    n_rows, n_columns : of the data
    looked_at : rows that were looked at, from all over the data

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_wine
    >>> found = ritz.inspect(load_wine(as_frame=True).data)
    >>> print(found)
    178 rows, 13 columns: 1 finding
    warning  units  'proline' varies 2,530 times as much as 'nonflavanoid_phenols': without a
    common scale the columns with the largest numbers decide
      Python: PCA(scale=True) gives every column the same weight
      ritz fit: --scale
    >>> found.to_frame()["severity"].tolist()
    ['warning']
    """

    findings: tuple[Finding, ...]
    n_rows: int
    n_columns: int
    looked_at: int

    @property
    def whole(self) -> bool:
        """Whether all rows were looked at."""
        return self.looked_at == self.n_rows

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, code: str) -> Finding:
        """The first finding of a kind, by its code."""
        found = next((finding for finding in self.findings if finding.code == code), None)
        if found is None:
            raise KeyError(code)
        return found

    def __contains__(self, code: object) -> bool:
        return any(finding.code == code for finding in self.findings)

    def __str__(self) -> str:
        lines = [self.table.head[0]]
        for finding in self.findings:
            lines.append(f"{finding.severity}  {finding.code}  {finding.sentence}")
            lines += [f"  Python: {finding.python}"] if finding.python else []
            lines += [f"  ritz fit: {finding.option}"] if finding.option else []
        return "\n".join(lines)

    @property
    def table(self) -> Table:
        """A row for every finding, by its code."""
        count = len(self.findings)
        n, d = self.n_rows, self.n_columns
        shape = f"{n:,} {plural(n, 'row')}, {d:,} {plural(d, 'column')}"
        seen = "" if self.whole else f", of which {self.looked_at:,} from all over were looked at"
        told = f"{count} {plural(count, 'finding')}" if count else "nothing was found"
        columns: dict[str, list[Any]] = {
            "severity": [finding.severity for finding in self.findings],
            "columns": [called(finding.columns, 3) for finding in self.findings],
            "rows": [", ".join(map(str, finding.rows[:3])) for finding in self.findings],
            "sentence": [finding.sentence for finding in self.findings],
            "python": [finding.python for finding in self.findings],
            "option": [finding.option for finding in self.findings],
        }
        return Table(columns, [finding.code for finding in self.findings], head=(f"{shape}{seen}: {told}",))


def inspect(X: Any, *, names: Any = None, sample: int | None = None, random_state: Any = None) -> Inspection:
    """Look at data before a fit: codes for missing values, far cells, duplicates, sums, units, dates, order.

    Nothing is changed, and nothing is refused that can be described: what a fit would refuse is a finding.

    Parameters
    ----------
    X : whatever `PCA.fit` takes: an array, a table, a sparse matrix, the path of a file, rows
    names : of the columns, where X has none
    sample : rows to look at, from all over the data, in runs of neighbours. None takes all rows where they hold at most
        32 MB, and 4096 otherwise; of an array or a table in memory, counts, ends of columns and duplicates are then
        those of all rows all the same
    random_state : an integer or a generator of NumPy, for the places of the sample. None is a fixed seed

    Returns
    -------
    Inspection : `findings`, worst first, each with its place, the evidence, a sentence, and what would treat it

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> rng = np.random.default_rng(0)
    >>> height, weight = rng.normal(175, 8, 300).round(), rng.normal(70, 9, 300).round(1)
    >>> height[12] *= 10
    >>> weight[[40, 41, 250]] = 0
    >>> found = ritz.inspect(np.column_stack([height, weight]), names=["height", "weight"])
    >>> for finding in found:
    ...     print(finding.code, finding.columns, finding.rows, finding.option)
    zero_code ('weight',) (40, 41, 250) --na 0:weight --missing mean
    far_cell ('height',) (12,) --na 1560:height --missing mean
    units ('height', 'weight') () --scale
    """
    if sample is not None and (isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 1):
        raise ParameterError("sample", sample, "must be None or a number of rows from 1 on")
    rng, rows = generator(random_state), as_rows(X)
    check_rows(rows)
    every = levels(rows)
    size = rows_to_look_at(every, sample)
    known = known_of(every) if sample is None and size < every.shape[0] else None
    return inspected(rows, size, rng, names, known)


def inspected(rows: Rows, size: int, rng: np.random.Generator, names: Any = None, known: Any = None) -> Inspection:
    """What so many rows tell, and what is known of all; of differences, what the rows tell that they are of.

    What treats a finding is done before differences are taken, and a mistake in a row is one of two of them.
    """
    differences, rows = levels(rows) is not rows, levels(rows)
    some = sampled(rows, size, rng, names_of(rows, names), known)
    checks = [check for check in CHECKS if not (differences and check is ordered_rows)]
    with team():
        found = [finding for check in checks for finding in check(some)]
    found += [*_mixed(rows), *_large(rows, some)]
    order = {severity: k for k, severity in enumerate(SEVERITIES)}
    return Inspection(tuple(sorted(found, key=lambda one: order[one.severity])), *rows.shape, some.m)


def _mixed(rows: Rows) -> Iterator[Finding]:
    """Columns of a text that are left out although they hold numbers nearly always."""
    for key, why in rows.mixed.items():
        yield Finding(
            "mixed", WARNING, f"{called([key])} holds {why}", (key,), python="correct the cells, or mark them"
        )


def _large(rows: Rows, sample: Sample) -> Iterator[Finding]:
    """Integers that float64 cannot hold, in what was looked at."""
    if rows.dtype.kind not in "iu" or rows.dtype.itemsize < 8:
        return
    try:
        for i in sample.at[: len(sample.at) : max(1, len(sample.at) // 64)]:
            rows.exact(rows.block(int(i), int(i) + 1))
    except DataError as error:
        yield Finding("large_integers", ERROR, error.problem, python=error.advice)
