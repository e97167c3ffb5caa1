"""What an inspection finds: a fact about the data, with its place, the evidence, and what would treat it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ritz.runtime.tables import written
from ritz.runtime.wording import visible

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)  # no fit without a treatment; the answer is likely to be another one; good to know
CODES, CELLS = ("zero_code", "code"), ("far_cell", "heavy_cell")  # findings with one value, and with cells
LISTED = 5  # columns in a sentence


@dataclass(frozen=True, eq=False)
class Finding:
    """One fact about the data.

    Attributes
    ----------
    code : what kind of fact it is, for programs; docs/guide/sane.md lists them
    severity : "error" where a fit refuses such data, "warning" where the answer is likely to be another one, "note"
    columns : names, or positions of columns that have none
    rows : numbers of some rows that show it
    evidence : the numbers behind it, by name
    sentence : the fact in words
    python : what would treat it, in Python
    option : the same as options of `ritz fit`; "" where the table has to be changed before

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> X = np.random.default_rng(0).normal(50, 10, (100, 2))
    >>> X[[3, 40, 77], 1] = -999
    >>> [finding] = ritz.inspect(X, names=["north", "south"]).findings
    >>> finding.code, finding.severity, finding.columns, finding.rows, finding.evidence["counts"]
    ('code', 'warning', ('south',), (3, 40, 77), [3])
    >>> finding.option
    '--na -999 --missing mean'
    """

    code: str
    severity: str
    sentence: str
    columns: tuple[Any, ...] = ()
    rows: tuple[int, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    python: str = ""
    option: str = ""

    def __str__(self) -> str:
        return f"{self.severity}: {self.sentence}" + (f"; {self.python}" if self.python else "")


def spoilt(findings: Iterable[Finding]) -> list[tuple[float, Any]]:
    """The values that are told of as codes, mistakes or too large a share of a variance, each with its column.

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> X = np.random.default_rng(0).normal(50, 10, (100, 2))
    >>> X[[3, 40, 77], 1] = -999
    >>> spoilt(ritz.inspect(X))
    [(-999.0, 1)]
    """
    values = [(one.evidence["value"], name) for one in findings if one.code in CODES for name in one.columns]
    cells = [(value, name) for one in findings if one.code in CELLS for _, name, value in one.evidence["cells"]]
    return list(dict.fromkeys(values + cells))


def called(names: Iterable[Any], most: int = LISTED) -> str:
    """Columns in a sentence: quoted names, the first of them if they are many.

    Examples
    --------
    >>> called(["a", "b"]), called([3]), called("abc", 2)
    ("'a', 'b'", 'column 3', "'a', 'b' and 1 more")
    """
    names = list(names)
    shown = [f"column {name}" if isinstance(name, int) else repr(visible(name)) for name in names[:most]]
    rest = len(names) - most
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def in_option(option: str, names: Sequence[Any], before: str = "") -> str:
    """An option with columns as they are typed into a shell.

    Examples
    --------
    >>> in_option("--drop", ["a", "b,c"]), in_option("--na", ["x"], "0:")
    ('--drop \\'a,"b,c"\\'', '--na 0:x')
    """
    return f"{option} {shlex.quote(before + ','.join(map(_typed, names)))}"


def _typed(name: Any) -> str:
    text = str(name)
    quoted = any(letter in text for letter in ',"') or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if quoted else text


def as_number(value: float) -> str:
    """A number of the data in a sentence, as it is written there: 1750, 0.25, 1e+20.

    Examples
    --------
    >>> as_number(1750.0), as_number(-0.25), as_number(1e20), as_number(0.1 + 0.2)
    ('1750', '-0.25', '1e+20', '0.3')
    """
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.7g}"


def roughly(value: float) -> str:
    """A statistic in a sentence, with few digits."""
    return written(float(f"{value:.3g}"))
