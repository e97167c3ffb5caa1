"""`ritz report`, `ritz merge`, `ritz compare` and `ritz export`: what is done with models that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ritz.cli.analysis import First, one_line, show_components
from ritz.cli.failures import INACCURATE, OK, USAGE, Failure
from ritz.cli.outputs import may_write
from ritz.cli.screen import Screen
from ritz.comparison import compare
from ritz.errors import DataError
from ritz.estimators import merge
from ritz.estimators.loading import load
from ritz.harmless import visible
from ritz.views.report import render
from ritz.whole import replacing


def write_report(
    screen: Screen,
    model: str,
    file: str | None,
    out: str | None,
    label: str | None,
    image: tuple[int, int] | None,
    opens: bool,
    force: bool,
) -> int:
    """A page about a model, and about the rows of a file if there is one."""
    from ritz.cli.fitting import show

    pca = load(model)
    path = Path(out) if out is not None else Path(model).parent / "report.html"
    may_write(path, [Path(model)], force)
    notes, given = pca.notes_, {}
    if file is not None:
        with screen.hearing():
            given = _scores(pca, file, label, screen)
    size = image or notes.get("image")
    page = render(
        pca,
        title=f"Principal components of {given.pop('name', Path(model).parent.name)}",
        **given,
        image=None if size is None else (int(size[0]), int(size[1])),
    )
    with replacing(path) as new:
        new.write_text(page, encoding="utf-8")
    screen.say(f"report written to {visible(path)}")
    screen.emit(file=str(path), warnings=screen.warned, exit_code=OK)
    if opens:
        show(path)
    return OK


def _scores(pca: Any, file: str, label: str | None, screen: Screen) -> dict[str, Any]:
    """Scores, labels and facts of a file."""
    from ritz.cli.coding import for_model
    from ritz.cli.inputs import Reading, located
    from ritz.passes import Watch
    from ritz.progress import Progress

    reading = Reading(label or pca.notes_.get("label"), transpose=bool(pca.notes_.get("reading", {}).get("transpose")))
    with Progress(screen.quiet) as progress, located(file) as path:
        table = for_model(pca, path, file, reading, asked=label is not None)
        first = First()
        for _ in first.seen(pca.codes(table.rows.watched(Watch(progress)))):
            pass
    labels = None if table.label is None else table.beside[table.label]
    return {"name": table.name, "scores": first.scores, "labels": labels, "facts": table.facts}


def merge_models(screen: Screen, parts: tuple[str, ...], out: str, force: bool) -> int:
    """One model of all rows."""
    if len(parts) < 2:
        raise Failure("merge needs two models or more", USAGE)
    path = Path(out)
    may_write(path, [Path(part) for part in parts], force)
    models = [load(part) for part in parts]
    with screen.hearing():
        whole = merge(models)
        whole.save(path, notes=models[0].notes_)
    certificate = whole.certificate_
    screen.say(f"{len(parts)} models of {whole.n_samples_seen_} rows in all", "bold")
    show_components(whole, screen)
    screen.say(one_line(certificate), "good" if certificate.satisfied else "bad")
    screen.say(f"model written to {visible(path)}")
    code = OK if certificate.satisfied else INACCURATE
    screen.emit(
        file=str(path),
        rows=whole.n_samples_seen_,
        variances=whole.explained_variance_,
        warnings=screen.warned,
        exit_code=code,
    )
    return code


def compare_models(screen: Screen, a: str, b: str) -> int:
    """Principal angles."""
    first, second = load(a), load(b)
    if not all(hasattr(model, "subspace_") for model in (first, second)):
        raise DataError("only PCA models have subspaces of the columns to compare; one of these is a kernel model")
    angles = np.degrees(compare(first, second))
    screen.say(f"subspaces of {first.n_components_} and {second.n_components_} components, angles in degrees", "bold")
    rows = [(str(i + 1), f"{angle:.3g}", f"{np.cos(np.radians(angle)) ** 2:.4f}") for i, angle in enumerate(angles)]
    screen.table(("", "angle", "shared"), rows)
    screen.say(_verdict(float(angles[-1])))
    screen.emit(angles=angles, components=[first.n_components_, second.n_components_], exit_code=OK)
    return OK


def _verdict(largest: float) -> str:
    if largest < 1e-5:
        return "the same subspace, to rounding"
    if largest < 5:
        return f"nearly the same subspace: no direction is off by more than {largest:.2g}°"
    return f"different subspaces: a direction of one lies {largest:.3g}° outside the other"


def export_model(screen: Screen, model: str, out: str, force: bool) -> int:
    """A model as ONNX."""
    from ritz.exporting import export_onnx

    path = Path(out)
    if path.suffix.lower() != ".onnx":
        raise Failure(f"{out!r} does not end in .onnx, the only format that models are exported to", USAGE)
    may_write(path, [Path(model)], force)
    export_onnx(load(model), path)
    screen.say(f"model written to {visible(path)}")
    screen.emit(file=str(path), exit_code=OK)
    return OK
