"""Whether the first line of a table in text names its columns, or is a row; and whether that can be told at all."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import pairwise

from ritz.rows.text.cells import is_count, is_missing, is_number, is_truth, number

YEARS = (1800, 2100)
APART, FAR = 3.0, 10.0  # times that names differ from the numbers below, as wavelengths from absorbances
FEW, SEVERAL, MANY = 3, 5, 8  # columns that are numbered or named in even steps, with less and less else to say so
RISING = 10  # columns whose names rise or fall in any steps
SHOWN = 4  # cells in a message


def judge_header(
    table: list[list[str]], decimal: str, quoted: bool, expected: Collection[str] | None = None
) -> tuple[bool, str]:
    """Whether the first line is a header; and where it may be either, in words what it was taken for and why.

    Text above numbers, or above true and false, is a header, and so is a line with all the names that are `expected`.
    Numbers above numbers are a row, unless much speaks for names: a row that is lost is worse than one too many. Where
    it is known that there are no names, none being `expected`, nothing speaks for them.

    Examples
    --------
    >>> judge_header([["a", "b"], ["1", "2"]], ".", False)
    (True, '')
    >>> judge_header([["1900", "1950"], ["1901", "1960"]], ".", False)[0]
    False
    """
    first, rows = table[0], table[1:]
    below = [[row[j] for row in rows if len(row) > j and not is_missing(row[j])] for j in range(len(first))]
    numeric = [_most(cells, lambda cell: is_number(cell, decimal)) for cells in below]
    boolean = [_most(cells, is_truth) for cells in below]
    truths = [is_truth(cell) and truth for cell, truth in zip(first, boolean, strict=True)]
    text = [not (truths[j] or is_number(cell, decimal) or is_missing(cell)) for j, cell in enumerate(first)]
    if over := [j for j, t in enumerate(text) if t and (numeric[j] or boolean[j])]:
        return True, _mixed(first, over, numeric, decimal)
    if not any((*numeric, *boolean)):
        return all(text), ""
    if expected and set(expected) <= {cell.strip() for cell in first}:
        return True, ""
    if any(truths) or any(t and first[j] in below[j] for j, t in enumerate(text)):
        return False, ""
    line = _Line(first, rows, below, numeric, decimal)
    above_truths = any(truth and is_number(cell, decimal) for cell, truth in zip(first, boolean, strict=True))
    why = line.reason(above_truths) or (line.evidence(quoted) if expected is None or expected else "")
    return bool(why), _doubt(first, why) if why or quoted or line.may_name else ""


def _most(cells: list[str], fits: Callable[[str], bool]) -> bool:
    """Whether most of the cells, if there are any, are of a kind."""
    return bool(cells) and sum(map(fits, cells)) > len(cells) / 2


def _mixed(first: list[str], over: list[int], numeric: list[bool], decimal: str) -> str:
    """A doubt where the text `over` numbers stands among more numbers, which are hardly names: it may be a mistake."""
    cells = [cell for cell, below in zip(first, numeric, strict=True) if below and is_number(cell, decimal)]
    if len(cells) <= len(over) or _may_name(cells, [number(cell, decimal) for cell in cells]):
        return ""
    return _doubt(first, f"{first[over[0]].strip()!r} stands above numbers")


def _doubt(first: list[str], why: str) -> str:
    """What a first line was taken for that may be either: names, or a row where nothing says why."""
    shown = ", ".join(cell.strip() for cell in first[:SHOWN]) + (", …" if len(first) > SHOWN else "")
    taken = f"names of columns, because {why}" if why else "a row of numbers"
    return f"the first line ({shown}) was taken for {taken}"


class _Line:
    """Numbers above numbers."""

    def __init__(
        self, first: list[str], rows: list[list[str]], below: list[list[str]], numeric: list[bool], decimal: str
    ) -> None:
        self._first, self._rows, self._decimal = first, rows, decimal
        missing = [j for j, over in enumerate(numeric) if over and is_missing(first[j])]
        self.places = [j for j, over in enumerate(numeric) if over and not is_missing(first[j])]
        self._cells = [first[j] for j in self.places]
        self._below = [[c for c in below[j] if is_number(c, decimal)] for j in self.places]
        self._index = self._read([c for c in below[0] if is_number(c, decimal)]) if missing == [0] else []
        # Programs leave the name of the first column empty, and no other.
        self._whole = missing in ([], [0]) and bool(self.places)
        self._beside = len(self.places) < len(first)
        self.numbers = self._read(self._cells)
        self.may_name = self._whole and _may_name(self._cells, self.numbers)

    def _read(self, cells: list[str]) -> list[float]:
        return [number(cell, self._decimal) for cell in cells]

    def reason(self, above_truths: bool) -> str:
        """What makes it names, whatever its numbers are; nothing where they decide."""
        if self._rows and all(len(row) == len(self._first) + 1 for row in self._rows):
            return "it has one cell fewer than the rows, as in tables that R writes"
        return "true and false stand below" if above_truths else ""

    def evidence(self, quoted: bool) -> str:
        """What speaks so much for names that it is hardly a row; nothing where it may well be one."""
        if not self._whole or not self._rows:
            return ""
        if quoted:
            return "it alone is in quotes"
        if self.may_name and self._yearly():
            return "it counts years, and the numbers below are of another kind"
        if not self.may_name or any(map(self._alike, self._rows)):
            return ""
        if self._numbered():
            return "it counts the columns"
        if self._series():
            return "it counts years, and no row below does"
        even = _even(self.numbers)
        if len(self.numbers) < (SEVERAL if even else RISING) or not _rising(self.numbers) or not self._far(FAR):
            return ""
        way = "rises" if self.numbers[0] < self.numbers[-1] else "falls"
        return f"it {way} {'in equal steps' if even else 'from cell to cell'}, far from the numbers below"

    def _numbered(self) -> bool:
        """Whether it is 0, 1, 2, … or 1, 2, 3, … as programs number columns."""
        start, count = self.numbers[0], len(self.numbers)
        if start not in (0, 1) or self.numbers != [start + i for i in range(count)]:
            return False
        if self._index and self._index == [self._index[0] + i for i in range(len(self._index))]:
            return self._index[0] in (0, 1)
        few = (FEW if start == 0 else SEVERAL) - self._beside
        return count >= MANY or (count >= few and self._fractions >= 0.5)

    def _yearly(self) -> bool:
        count, even = len(self.numbers), _even(self.numbers)
        if not _years(self._cells) or count < 2 or not _rising(self.numbers):
            return False
        if self._fractions >= 0.5 and (self._far(APART) or (even and count >= SEVERAL)):
            return True
        return even and count >= FEW and self._far(FAR)

    def _series(self) -> bool:
        """Whether it is years in equal steps, as above a table of countries, and no row below holds years alone."""
        if len(self.numbers) < (FEW if self._beside else MANY) or not _even(self.numbers) or not _years(self._cells):
            return False
        return not any(_years([row[j] for j in self.places if j < len(row)]) for row in self._rows)

    @property
    def _fractions(self) -> float:
        """The share of the numbers below that are not written as counts."""
        cells = [cell for column in self._below for cell in column]
        return sum(not is_count(cell.strip().lstrip("-")) for cell in cells) / max(1, len(cells))

    def _far(self, times: float) -> bool:
        """Whether every number is so many times larger than all below it, or smaller than any."""
        sizes = [[abs(value) for value in self._read(column)] for column in self._below]
        pairs = zip(map(abs, self.numbers), sizes, strict=True)
        return all(size > times * max(column) or times * size < min(column) for size, column in pairs)

    def _alike(self, row: list[str]) -> bool:
        """Whether a row below goes on in the same way, as in a table of counts."""
        cells = [row[j] for j in self.places if j < len(row) and is_number(row[j], self._decimal)]
        if len(cells) != len(self.numbers) or len(cells) < FEW or is_count(cells[0]) != is_count(self._cells[0]):
            return False
        ours, theirs = self.numbers, self._read(cells)
        return _even(ours) and _even(theirs) and abs(theirs[1] - theirs[0] - (ours[1] - ours[0])) <= 1e-6


def _may_name(cells: list[str], numbers: list[float]) -> bool:
    """Whether numbers could be names at all: all different, and written as counts are, or in order."""
    ordered = len(numbers) >= FEW and _rising(numbers)
    return len(set(numbers)) == len(numbers) and (all(map(is_count, cells)) or ordered)


def _years(cells: list[str]) -> bool:
    """Whether all of them are written as years are."""
    return all(is_count(cell) and YEARS[0] <= number(cell, ".") <= YEARS[1] for cell in cells)


def _rising(numbers: list[float]) -> bool:
    """Whether they rise, or fall, from one to the next."""
    return all(a < b for a, b in pairwise(numbers)) or all(a > b for a, b in pairwise(numbers))


def _even(numbers: list[float]) -> bool:
    """Whether they rise or fall in equal steps."""
    steps = [b - a for a, b in pairwise(numbers)]
    return bool(steps) and steps[0] != 0 and all(abs(step - steps[0]) <= 1e-6 * abs(steps[0]) for step in steps)
