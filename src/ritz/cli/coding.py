"""`ritz transform` and `ritz inverse`: rows to scores and back, by the names of columns, as they come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.cli.inputs import Reading, Table, chosen, located, tidy
from ritz.cli.outputs import scores as results_of
from ritz.cli.outputs import send
from ritz.cli.screen import Screen
from ritz.errors import DataError
from ritz.estimators.loading import load
from ritz.harmless import visible
from ritz.passes import Watch
from ritz.progress import Progress
from ritz.rows import Rows
from ritz.rows.chosen import Chosen, choose
from ritz.rows.files import opened
from ritz.rows.named import order_of
from ritz.writing import Results


def encode(
    screen: Screen,
    model: str,
    file: str,
    out: str | None,
    to: str | None,
    label: str | None,
    missing: str | None,
    force: bool,
) -> int:
    """Scores of the rows of a file."""
    pca = load(model)
    read = pca.notes_.get("reading", {})
    reading = Reading(label or pca.notes_.get("label"), transpose=bool(read.get("transpose")))
    with Progress(screen.quiet) as progress, located(file) as path, screen.hearing():
        table = for_model(pca, path, file, reading, asked=label is not None)
        rows, beside = _complete(table, missing or read.get("missing", "error"), pca)
        results = results_of(pca, rows.watched(Watch(progress)), beside)
        where = send(results, out, to, [path, Path(model)], force)
    _say(screen, where, out, rows.shape[0], results.names)
    return 0


def for_model(pca: Any, path: Path, name: str, reading: Reading, asked: bool = True) -> Table:
    """A file with the columns that a model knows, in its order."""
    raw = opened(path, reading.transpose)
    there = {*(raw.keys or raw.names or ()), *raw.left_out}
    if not asked and reading.label not in there:
        reading = replace(reading, label=None)  # the label of the fit need not be there
    known = getattr(pca, "feature_names_in_", None)
    if known is None or raw.names is None:
        table, d = chosen(raw, path, name, reading), pca.n_features_in_
        if table.rows.shape[1] != d:
            raise DataError(
                f"{table.name} has {table.rows.shape[1]} columns of numbers, but the model was learned from {d}"
            )
        return table
    columns = [str(column) for column in known]
    order_of(list(there), columns, path.name)
    table = chosen(raw, path, name, replace(reading, keep=tuple(columns)))
    return replace(table, rows=choose(raw, columns, [], "error"))


def _complete(table: Table, missing: str, pca: Any) -> tuple[Rows, Mapping[str, NDArray[Any]]]:
    """Rows without gaps: refused later, dropped, or filled with what the model takes for the middle."""
    rows = table.rows
    if missing == "mean" and hasattr(pca, "mean_"):
        return Chosen(rows.with_gaps(), np.arange(rows.shape[1]), fill=pca.mean_), table.beside
    rows = choose(rows, None, [], missing)
    if rows.kept is None:
        return rows, table.beside
    return rows, {key: values[rows.kept] for key, values in table.beside.items()}


def decode(screen: Screen, model: str, scores: str, out: str | None, to: str | None, force: bool) -> int:
    """Rows from scores."""
    pca = load(model)
    k, known = pca._n_features_out, getattr(pca, "feature_names_in_", None)
    wanted = [f"PC{i + 1}" for i in range(k)]
    with Progress(screen.quiet) as progress, located(scores) as path, screen.hearing():
        raw = opened(path)
        named = raw.names is not None and any(name in raw.names for name in wanted)
        lacking = [name for name in wanted if name not in (raw.names or ())] if named else []
        if lacking:
            raise DataError(f"{path.name} lacks {len(lacking)} of the {k} components: {', '.join(lacking[:20])}")
        rows = choose(raw, wanted, [], "error") if named else raw
        if rows.shape[1] != k:
            raise DataError(f"{path.name} has {rows.shape[1]} columns of numbers, but the model has {k} components")
        known_keys = raw.keys or (*(raw.names or ()), *raw.left_out)
        others = [key for key in known_keys if key not in wanted] if named else []
        beside = {str(key): tidy(values) for key, values in raw.cells(others).items()}
        names = tuple(map(str, known)) if known is not None else tuple(f"x{j}" for j in range(pca.n_features_in_))
        blocks = pca.rebuilt(rows.watched(Watch(progress)))
        results = Results(blocks, rows.shape[0], names, rows.result_dtype, beside)
        where = send(results, out, to, [path, Path(model)], force)
    _say(screen, where, out, rows.shape[0], names)
    return 0


def _say(screen: Screen, where: str, out: str | None, n: int, names: tuple[str, ...]) -> None:
    """Where they went; not among the data that goes to standard output."""
    text = f"{n} rows, {names[0]} to {names[-1]}," if len(names) > 1 else f"{n} rows, {names[0]},"
    if out in (None, "-"):
        screen.tell(f"{text} to {where}")
        return
    screen.say(f"{text} written to {visible(where)}")
    screen.emit(file=where, rows=n, columns=list(names), warnings=screen.warned, exit_code=0)
