"""`ritz monitor`: which rows of a file are odd, and which columns are to blame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ritz.cli.errors import OK, USAGE, Failure
from ritz.cli.inputs import Input
from ritz.cli.paths import all_located
from ritz.cli.reading import Asked
from ritz.cli.screen import Screen
from ritz.cli.transform import aligned, destination, for_model, on_screen, only_numbers, say, say_gaps, send
from ritz.errors import DataError
from ritz.estimators.compressed_sensing import CompressedSensing
from ritz.estimators.loading import load
from ritz.estimators.pca import PCA
from ritz.monitoring.limits import ADVICE
from ritz.monitoring.monitor import delivered_flags, monitored_rows
from ritz.monitoring.result import Monitoring
from ritz.rows import Rows
from ritz.runtime.tables import Table, written
from ritz.runtime.watch import Progress, Watch

USUAL = (0.05, 0.01)  # levels of the limits


def find_odd_rows(
    screen: Screen,
    model: str,
    files: tuple[str, ...],
    out: str | None,
    force: bool,
    k: int | None,
    alpha: tuple[float, ...],
    rows: str,
    limits: str,
    reference: str | None,
    **reading: Any,
) -> int:
    """T² and SPE of the rows of a file, or of many, beside limits."""
    asked = Asked(**reading)
    if out is not None:
        out = destination(screen, out, None, [*files, model], force)
    pca: Any = load(model)
    if isinstance(pca, CompressedSensing):
        raise Failure("a model of compressed sensing has no components that rows could be compared with", USAGE)
    most = pca.n_components_ if isinstance(pca, PCA) else len(pca.eigenvalues_)
    if k is not None and k > most:
        raise Failure(f"-k {k} asks for more components than the {most} of the model", USAGE)
    ask = {"k": k, "alpha": alpha or USUAL, "limits": limits}
    with screen.hearing(), Progress(screen.quiet or on_screen(out)) as progress:
        before = None if reference is None else _of_fit(pca, reference, asked, ask, progress)
        with all_located(files) as source:
            found = for_model(pca, source, asked)
            data = _some(found).watched(Watch(progress))
            result = _monitor(pca, data, rows=rows, reference=before, **ask)
            n = _count(found, asked)
            names = _names(found, asked, n)
            where = None if out is None else _write(result, found, asked, n, out)
    say_gaps(screen, found, n - found.rows.shape[0], n, "statistics")
    _show(screen, result, names)
    _finish(screen, result, names, where, out, n)
    return OK


def _monitor(pca: Any, data: Rows, **ask: Any) -> Monitoring:
    """By the model; columns are known to be its own."""
    return monitored_rows(pca, data, **ask) if isinstance(pca, PCA) else pca.monitor(data, **ask)


def _of_fit(pca: Any, file: str, asked: Asked, ask: dict[str, Any], progress: Progress) -> Monitoring:
    """What the rows of the fit came to."""
    with all_located((file,)) as source:
        data = _some(for_model(pca, source, asked)).watched(Watch(progress))
        return _monitor(pca, data, rows="fit", **ask)


def _some(found: Input) -> Rows:
    """The rows without a missing value, at least one."""
    if not found.rows.shape[0]:
        raise DataError("no row is without missing values, so there is nothing to compare")
    return found.rows


def _count(found: Input, asked: Asked) -> int:
    """Rows of the file; of those that are left, where gaps were to be dropped."""
    every = asked.missing is None and found.source is not None
    return found.source.shape[0] if every and found.source is not None else found.rows.shape[0]


def _names(found: Input, asked: Asked, n: int) -> Callable[[int], str]:
    """What a row is called: by its identifier, or by its number in the file."""
    beside = found.beside() if found.identifier is not None else {}
    known = beside.get(str(found.identifier))
    if known is not None and len(known) == found.rows.shape[0]:
        return lambda row: str(known[row])
    return found.rows.place


def _write(result: Monitoring, found: Input, asked: Asked, n: int, out: str) -> str:
    """A line for every row, beside its identifier and label."""
    lines = delivered_flags(result)
    every = asked.missing is None
    placed = aligned(lambda rows: lines.blocks, found.rows, n, lines.names)
    results = replace(placed, dtype=lines.dtype, beside={} if only_numbers(out) else found.beside(every))
    return send(results, out, None)


def _show(screen: Screen, result: Monitoring, names: Callable[[int], str]) -> None:
    """Limits, odd rows, and components that one row decides."""
    screen.say(result.limits.head[0], "bold")
    _say_table(screen, "", result.limits, result.limits.index, numbers=4)
    for note in _notes(result):
        screen.say(f"  {note}")
    screen.say(result.odd.head[0], "bold")
    if len(result.odd):
        _say_table(screen, "row", result.odd, [names(row) for row in result.odd.index], numbers=2)
    for line in _decisions(result, names):
        screen.say(line)


def _say_table(screen: Screen, first: str, table: Table, index: Sequence[str], numbers: int) -> None:
    """So many columns of numbers, and then words: all but the last are as wide as the longest of them."""
    head = [first, *table.columns]
    lines = [[index[i], *(written(values[i]) for values in table.columns.values())] for i in range(len(table))]
    words = range(1 + numbers, len(head))
    for j in words[:-1]:
        width = max(len(line[j]) for line in [head, *lines])
        for line in [head, *lines]:
            line[j] = line[j].ljust(width)
    screen.table(head, lines, left=tuple(words))


def _notes(result: Monitoring) -> list[str]:
    """What there is to know beside limits, with options of this command."""
    return [note.replace(ADVICE, "give the rows of the fit with --reference") for note in result.notes]


def _decisions(result: Monitoring, names: Callable[[int], str]) -> list[str]:
    """One line per component that a single row decides."""
    table = result.deciding
    shares = zip(table.index, table["row"], table["share of its variance"], strict=True)
    return [f"{names(int(row))} carries {100 * share:.0f} % of the variance of {name}" for name, row, share in shares]


def _finish(
    screen: Screen, result: Monitoring, names: Callable[[int], str], where: str | None, out: str | None, n: int
) -> None:
    """Where the lines went, and everything for machines."""
    facts: dict[str, Any] = {
        "of_fit": result.of_fit,
        "components": result.k,
        "limits": [
            {
                "statistic": name.replace("²", "2"),
                "alpha": result.alpha[i % len(result.alpha)],
                **_cells(result.limits, i),
            }
            for i, name in enumerate(result.limits.index)
        ],
        "beyond": {"T2": _beyond(result.t2_flags, result), "SPE": _beyond(result.spe_flags, result)},
        "odd": [{"row": names(row), **_cells(result.odd, i)} for i, row in enumerate(result.odd.index)],
        "deciding": [
            {
                "component": name,
                "row": names(int(result.deciding["row"][i])),
                "share": result.deciding["share of its variance"][i],
            }
            for i, name in enumerate(result.deciding.index)
        ],
        "notes": _notes(result),
    }
    if where is not None:
        say(screen, where, out, n, delivered_flags(result).names, **facts)
    else:
        screen.emit(rows=n, **facts, warnings=screen.warned, exit_code=OK)


def _cells(table: Any, i: int) -> dict[str, Any]:
    return {column.replace("²", "2").replace(" ", "_"): values[i] for column, values in table.columns.items()}


def _beyond(flags: Any, result: Monitoring) -> list[int]:
    """How many rows exceed each limit."""
    return [int((flags > i).sum()) for i in range(len(result.alpha))]
