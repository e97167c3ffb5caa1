"""Where results go: folders and files that may be written, and scores with what stands beside them."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.cli.errors import USAGE, Failure
from ritz.cli.paths import MODEL, PIPE, REPORT, SCORES, may_write
from ritz.cli.screen import in_terminal
from ritz.linalg.dense import Array
from ritz.rows.scores import score_names
from ritz.rows.write.tables import FORMATS, Results, deliver, pour
from ritz.runtime.wording import visible


def file_names(text: bool) -> tuple[str, str, str]:
    """Model, scores and report of a fit."""
    return MODEL, SCORES[text], REPORT


def scores_ending(ending: str, text: bool) -> str:
    """The end of the name of scores beside an input of that ending: the same format where it can be written."""
    return ending if ending in FORMATS else ".npy" if ending == ".npz" else ".csv" if text else ".parquet"


def check_destination(out: str | None, to: str | None, sources: Iterable[Path], force: bool) -> None:
    """Whether results may go there: asked before anything is read."""
    if out is None or out == PIPE:
        if (to == "parquet" or to == "arrow") and in_terminal():
            raise Failure(f"a terminal cannot show {to}; write it to a file with -o, or use --to csv", USAGE)
        return
    if to is not None:
        raise Failure("--to is the format of standard output; the end of the name given with -o tells its own", USAGE)
    if Path(out).suffix.lower() not in FORMATS:
        raise Failure(f"cannot write {Path(out).name!r} by the end of its name; known: {', '.join(FORMATS)}", USAGE)
    may_write(Path(out), sources, force)


def send(results: Results, out: str | None, to: str | None) -> str:
    """Results into a file by the end of its name, or to standard output; returns where they went, in words."""
    if out is not None and out != PIPE:
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


def scores_of(model: Any, rows: Any, beside: Mapping[str, NDArray[Any]]) -> Results:
    """Scores under their names."""
    return Results(model.codes(rows), rows.shape[0], score_names(model), rows.result_dtype, beside)


def spread_out(results: Results, kept: NDArray[np.intp], n: int) -> Generator[Array, None, None]:
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
