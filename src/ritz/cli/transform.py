"""`ritz transform`: rows to scores, by the names of columns, as they come; and where results go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.cli.errors import ADVICE, OK, USAGE, Failure
from ritz.cli.inputs import LEFT_OUT, Input, chosen, viewed, without_gaps, worth_holding
from ritz.cli.notes import Notes, notes_of
from ritz.cli.paths import PIPE, Source, all_located, may_write
from ritz.cli.reading import Asked, Reading
from ritz.cli.screen import Screen, in_terminal
from ritz.estimators.loading import load
from ritz.linalg.dense import Array
from ritz.pca.from_rows import held
from ritz.rows import Rows
from ritz.rows.columns import model_columns
from ritz.rows.formats.read import opened, opens_pictures
from ritz.rows.memory.computed import Subset, choose, drop_missing
from ritz.rows.memory.sparse import Sparse
from ritz.rows.pictures import compare_white
from ritz.rows.scores import score_names
from ritz.rows.select import name_by_position, select_for_model
from ritz.rows.write.tables import FORMATS, Results, deliver, pour
from ritz.runtime.watch import Progress, Watch
from ritz.runtime.wording import plural, visible


def encode(
    screen: Screen, model: str, files: tuple[str, ...], out: str | None, to: str | None, force: bool, **reading: Any
) -> int:
    """Scores of the rows of a file, or of many, which are read as asked."""
    asked = Asked(**reading)
    out = destination(screen, out, to, [*files, model], force)
    pca = load(model)
    with screen.hearing(), Progress(screen.quiet or on_screen(out)) as progress, all_located(files) as source:
        found = for_model(pca, source, asked)
        every = asked.missing is None  # nobody asked for rows to be dropped
        n = found.source.shape[0] if every and found.source is not None else found.rows.shape[0]
        beside = {} if only_numbers(out) else found.beside(every)
        rows, names = found.rows.watched(Watch(progress)), score_names(pca)
        results = aligned(pca._codes, rows, n, names)
        where = send(replace(results, beside=beside), out, to)
    if found.carried and not beside:
        screen.warn(f"{', '.join(map(str, found.carried))} not written: .npy holds only numbers")
    lacking = n - found.rows.shape[0]
    first = int(every and notes_of(pca).diff)
    if first:
        screen.tell("the scores of the first row are empty: it has no difference from one before it")
    say_gaps(screen, found, lacking - first, n)
    facts = {term: text for term, text in found.facts if not (lacking and term == LEFT_OUT)}
    say(screen, where, out, n, names, without_scores=lacking, facts=facts)
    return OK


def aligned(compute: Callable[[Rows], Any], rows: Rows, n: int, names: tuple[str, ...]) -> Results:
    """Results of rows among n, in whose places nothing stands where they are not."""
    blocks: Any = compute(rows) if rows.shape[0] else (row for row in np.empty((0, 1, len(names))))
    results = Results(blocks, rows.shape[0], names, rows.result_dtype)
    if rows.kept is None or rows.shape[0] == n:
        return results
    return replace(results, blocks=_spread_out(results, rows.kept, n), n=n)


def _spread_out(results: Results, kept: NDArray[np.intp], n: int) -> Generator[Array, None, None]:
    """Blocks of n rows in all, where those at `kept` are the results, and nothing stands in the others."""
    at = done = 0
    with closing(results.blocks):
        for block in results.blocks:
            places = kept[done : done + len(block)]
            stop = int(places[-1]) + 1
            whole = np.full((stop - at, *block.shape[1:]), np.nan, results.dtype)
            whole[places - at] = block
            yield whole
            at, done = stop, done + len(block)
    if at < n:
        yield np.full((n - at, len(results.names)), np.nan, results.dtype)


def say_gaps(screen: Screen, found: Input, lacking: int, n: int, what: str = "scores") -> None:
    """What became of rows with a missing value, which have none of these."""
    if lacking:
        screen.warn(f"{lacking} of {n} rows have a missing value, and their {what} are empty; {ADVICE['missing']}")
    elif left_out := dict(found.facts).get(LEFT_OUT):
        screen.tell(f"{LEFT_OUT}: {left_out}")
    if found.rows.replaced:
        means = "their column" if found.rows.n_filled else "the model"
        screen.tell(f"cells filled: {found.rows.n_filled or found.rows.replaced}, with the mean of {means}")


def for_model(pca: Any, source: Source, asked: Asked) -> Input:
    """Files with the columns that a model knows, in its order, read as those of the fit were, or as asked."""
    notes, names, d = notes_of(pca), model_columns(pca), pca.n_features_in_
    raw = _opened(pca, source, asked, notes)
    there = dict.fromkeys((*(raw.keys or raw.names or ()), *raw.left_out, *raw.others))
    places = notes.columns
    if places is not None and d < raw.shape[1] and raw.names is None and max(places) < raw.shape[1]:
        rows = choose(name_by_position(raw), places, [], "error")
    else:
        rows = select_for_model(raw, names, d, source.title)
    label = asked.label or (notes.label if notes.label in there else None)
    keep = () if raw.names is None else tuple(names or ())
    reading = Reading(label, notes.identifier, labels=asked.labels, keep=keep, known=True)
    rows, views = viewed(rows, notes.codes, notes.diff)
    found = chosen(raw, source, reading)
    found = replace(found, rows=rows, facts=(*found.facts, *views))
    if asked.missing is None and notes.missing != "mean":  # none may be left
        rows = held(rows.with_gaps()) if found.text and worth_holding(rows) else rows  # not to parse it twice
        present = drop_missing(rows, how="any")
        return without_gaps(found, rows if present.shape[0] == rows.shape[0] else present)
    return without_gaps(found, _complete(rows, asked.missing or notes.missing, pca, notes))


def _opened(pca: Any, source: Source, asked: Asked, notes: Notes) -> Rows:
    """All of the file, of whose columns the model needs some; pictures must be such as it knows."""
    transpose = notes.transpose if asked.transpose is None else asked.transpose
    names, shape = model_columns(pca), getattr(pca, "image_shape_", None)
    nameless = () if notes.header is False else None  # told so for the fit
    expected = nameless if transpose or names is None else names
    needed = () if transpose else (*(names or ()), *range(pca.n_features_in_))
    size, grey = asked.size, asked.grey
    if len(source.paths) == 1 and opens_pictures(source.paths[0]):  # as they were for the fit, unless told otherwise
        size, grey = size or notes.size, grey or notes.grey
    raw = opened(source.opened, transpose, asked.header, expected, needed, size, grey, shape)
    compare_white(raw, shape, getattr(pca, "white_", None))
    return raw


def _complete(rows: Rows, missing: str, pca: Any, notes: Notes) -> Rows:
    """Rows without gaps: refused later, dropped, or filled as they were for the fit."""
    if missing == "mean" and hasattr(pca, "mean_"):
        fill = pca.mean_ if notes.fill is None else np.array(notes.fill)
        if isinstance(rows, Sparse):
            return rows.filled(fill)
        return Subset(rows.with_gaps(), np.arange(rows.shape[1]), fill=fill)
    return choose(rows, None, [], missing)


def on_screen(out: str | None) -> bool:
    """Whether results appear in the terminal as they come, where a bar would get between them."""
    return out is None and in_terminal()


def only_numbers(out: str | None) -> bool:
    return out is not None and out.lower().endswith(".npy")


def destination(
    screen: Screen, out: str | None, to: str | None, sources: list[str], force: bool, more: str = ""
) -> str | None:
    """The file that results may go to, None for standard output: asked before anything is read."""
    if out is None or out == PIPE:
        if screen.as_json:
            raise Failure("--json needs -o: standard output holds either the data or what is said about it", USAGE)
        if to in ("parquet", "arrow") and in_terminal():
            raise Failure(f"a terminal cannot show {to}; write it to a file with -o, or use --to csv", USAGE)
        return None
    if to is not None:
        raise Failure("--to is the format of standard output; with -o the ending of the file name decides", USAGE)
    if Path(out).suffix.lower() not in FORMATS:
        raise Failure(f"cannot write {Path(out).name!r}: its name must end in {', '.join(FORMATS)}{more}", USAGE)
    may_write(Path(out), sources, force)
    return out


def send(results: Results, out: str | None, to: str | None) -> str:
    """Results into a file by the end of its name, or to standard output; returns where they went, in words."""
    if out is not None:
        deliver(results, out)
        return out
    kind = to or ("csv" if in_terminal() else "arrow")
    sys.stdout.flush()
    pour(_shown(results) if in_terminal() else results, sys.stdout.buffer, kind)
    return f"standard output, as {kind}"


def _shown(results: Results) -> Results:
    """The same with nothing in it that a terminal would obey."""
    beside = {visible(name): _harmless(values) for name, values in results.beside.items()}
    return replace(results, names=tuple(map(visible, results.names)), beside=beside)


def _harmless(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind != "O":
        return values
    return np.array([None if value is None else visible(value) for value in values], object)


def say(
    screen: Screen, where: str, out: str | None, n: int, names: tuple[str, ...], code: int = OK, **more: Any
) -> None:
    """Where they went; not among the data that goes to standard output."""
    text = f"{n} {plural(n, 'row')}, {names[0]}{f' to {names[-1]}' * (len(names) > 1)},"
    if out is None:
        screen.tell(f"{visible(text)} to {where}")
        return
    screen.say(f"{visible(text)} written to {visible(where)}")
    screen.emit(file=where, rows=n, columns=list(names), **more, warnings=screen.warned, exit_code=code)
