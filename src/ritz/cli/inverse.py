"""`ritz inverse`: scores to rows, by the names of columns, as they come; of pictures, to files of their own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ritz.cli import pictures
from ritz.cli.errors import INACCURATE, OK
from ritz.cli.paths import located, title
from ritz.cli.screen import Screen
from ritz.cli.transform import aligned, destination, on_screen, only_numbers, say, send
from ritz.errors import DataError
from ritz.estimators.loading import load
from ritz.rows import Rows
from ritz.rows.columns import order_of
from ritz.rows.formats.read import opened
from ritz.rows.memory.computed import choose, drop_missing
from ritz.rows.scores import in_order, is_sensing, matching_score_names, score_names
from ritz.rows.select import announce_names, check_names_once
from ritz.rows.write.columns import numbers_from_text
from ritz.rows.write.tables import Results
from ritz.runtime.watch import Progress, Watch
from ritz.runtime.wording import visible


def decode(
    screen: Screen, model: str, scores: str, out: str | None, to: str | None, header: bool | None, force: bool
) -> int:
    """Rows from scores."""
    if drawn := pictures.is_target(out):
        pictures.check_target(out, to, scores, model, force)
    else:
        out = destination(screen, out, to, [scores, model], force, "; FOLDER/ holds pictures")
    pca: Any = load(model)
    target = pictures.Target.of(pca, model, str(out), force) if drawn else None
    _check_way_back(pca, model)
    with screen.hearing(), Progress(screen.quiet or on_screen(out)) as progress, located(scores) as path:
        results, lacking = _rebuilt(pca, path, title(scores, path), header, progress, beside=not only_numbers(out))
        if target is None:
            where = send(results, out, to)
            tell = partial(say, screen, where, out, results.n, results.names, without_scores=lacking)
        else:
            tell = partial(target.write(results).tell, screen, target)
    if lacking:
        so = "their cells are empty" if target is None else "there is no picture of them"
        screen.warn(f"{lacking} of {results.n} rows have no scores, and {so}")
    code = _say_recovered(screen, pca)
    tell(code=code)
    return code


def _rebuilt(
    pca: Any, path: Path, name: str, header: bool | None, progress: Progress, beside: bool
) -> tuple[Results, int]:
    """Rows from the scores in a file, with its other columns `beside` them if asked; and how many have no scores."""
    raw = _opened_scores(path, pca, header)
    rows, others = _components(raw, pca, name)
    cells = raw.raw_cells(others if beside else [])
    scored, n = drop_missing(rows, how="all"), rows.shape[0]
    results = aligned(pca._rebuilt, scored.watched(Watch(progress)), n, pca._column_names())
    columns = {str(key): numbers_from_text(values) for key, values in cells.items()}
    return replace(results, beside=columns), n - scored.shape[0]


def _check_way_back(pca: Any, model: str) -> None:
    if getattr(pca, "fit_inverse_transform", True) is False:
        advice = "fit the model again with pre-images, in Python"
        raise DataError(f"{model!r} was fitted without pre-images, so scores do not lead back to rows", advice)


def _opened_scores(path: Any, pca: Any, header: bool | None) -> Rows:
    known_as = score_names(pca)
    needed = {*known_as, *map(str, pca.get_feature_names_out()), *range(len(known_as))}
    raw = opened(path, header=header, expected=known_as, needed=needed)
    announce_names(raw, raw.keys or raw.names or ())
    return raw


def _say_recovered(screen: Screen, pca: Any) -> int:
    """The exit code; of signals that were recovered, with a certificate of their own."""
    if not is_sensing(pca):
        return OK
    screen.tell(visible(pca.certificate_.verdict))
    return OK if pca.certificate_.satisfied else INACCURATE


def _components(raw: Rows, pca: Any, name: str) -> tuple[Rows, list[Any]]:
    """The columns PC1, PC2, … or pca0, pca1, …, and the others; where none is called so, all columns of numbers."""
    there = dict.fromkeys(raw.keys or (*(raw.names or ()), *raw.left_out))
    wanted = matching_score_names(pca, [key for key in there if isinstance(key, str)])  # the others are positions
    if wanted is not None:
        check_names_once(raw, wanted)
        order_of(list(there), wanted, name)
        known = set(wanted)
        return choose(raw, wanted, [], "error"), [key for key in there if key not in known]
    wanted = list(score_names(pca))
    if raw.shape[1] != len(wanted):
        ends = f"{wanted[0]} to {wanted[-1]}"
        raise DataError(f"{name} has {raw.shape[1]} columns of numbers, but the model has {len(wanted)}: {ends}")
    return in_order(raw, pca), []
