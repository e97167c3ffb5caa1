"""`ritz report`, `ritz merge`, `ritz compare` and `ritz export`: what is done with models that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ritz.cli.analysis import say_certificate, show_components
from ritz.cli.errors import OK, USAGE, Failure
from ritz.cli.fit import check_labels, show
from ritz.cli.inputs import LEFT_OUT
from ritz.cli.notes import notes_of, together
from ritz.cli.paths import PIPE, all_located, may_write
from ritz.cli.reading import Asked
from ritz.cli.screen import Screen
from ritz.cli.transform import for_model
from ritz.errors import DataError
from ritz.estimators.compressed_sensing import CompressedSensing
from ritz.estimators.kernel_pca import KernelPCA
from ritz.estimators.loading import load
from ritz.estimators.partial_fit import merge
from ritz.estimators.pca import PCA
from ritz.pca.angles import compare
from ritz.runtime.atomic import writing
from ritz.runtime.watch import Progress, Watch
from ritz.runtime.wording import at_most, plain, visible
from ritz.views.report import render
from ritz.views.scatter import First

ROUNDING, NEAR = 1e-8, 5.0  # degrees below which subspaces are the same but for rounding, or nearly so


def write_report(
    screen: Screen, model: str, file: str | None, out: str | None, image: Any, opens: bool, force: bool, **reading: Any
) -> int:
    """A page about a model, and about the rows of a file, which is read as asked, if there is one."""
    check_labels(reading)
    path = Path(out) if out is not None else Path(model).parent / "report.html"
    if out != PIPE:
        may_write(path, [model, file], force)
    elif screen.as_json or opens:
        raise Failure("--json and --open need a file for the page; give one with -o", USAGE)
    pca = _of_components(model)
    image = image or (notes_of(pca).image if getattr(pca, "image_shape_", None) is None else None)
    about = Path(model).absolute().parent.name
    given: dict[str, Any] = {}
    if file is not None:
        about, given = _of_rows(screen, pca, file, Asked(**reading))
    page = render(pca, title=f"Principal components of {about}", image=image, **given)
    if out == PIPE:
        click.echo(page)
        return OK
    with writing(path) as new:
        new.write_text(page, encoding="utf-8")
    screen.say(f"report written to {visible(path)}")
    screen.emit(file=str(path), warnings=screen.warned, exit_code=OK)
    if opens:
        show(path)
    return OK


def _of_rows(screen: Screen, pca: Any, file: str, asked: Asked) -> tuple[str, dict[str, Any]]:
    """What a file is called, and what `render` says of its rows: scores, labels and facts."""
    with screen.hearing(), Progress(screen.quiet) as progress, all_located((file,)) as source:
        found = for_model(pca, source, asked)
        if not found.rows.shape[0]:
            raise DataError(f"every row of {found.name} has a missing value; --missing mean fills the gaps")
        if asked.missing is None and (left := dict(found.facts).get(LEFT_OUT)):
            screen.warn(f"{LEFT_OUT}: {left}; --missing mean fills the gaps")
        first = First()
        for block in pca._codes(found.rows.watched(Watch(progress))):
            first.add(block)
        labels = None if found.label is None else found.beside()[found.label]
    return found.name, {"scores": first, "labels": labels, "facts": found.facts}


def _of_components(path: str) -> PCA | KernelPCA:
    """A model that has components, which is what the commands here are about."""
    model = load(path)
    if isinstance(model, CompressedSensing):
        raise DataError(
            f"{path!r} is a CompressedSensing model, which has no components; ritz info shows it, ritz transform "
            "measures and ritz inverse recovers"
        )
    return model


def merge_models(screen: Screen, parts: tuple[str, ...], out: str, force: bool) -> int:
    """One model of all rows."""
    if len(parts) < 2:
        raise Failure("merge needs two models or more", USAGE)
    path = Path(out)
    may_write(path, parts, force)
    models = [load(part) for part in parts]
    for part, model in zip(parts, models, strict=True):
        if not isinstance(model, PCA):
            raise DataError(f"{part!r} is a {type(model).__name__} model; only PCA models merge")
        model.n_components = model.n_components_  # a rule that needs the rows cannot be followed again
    with screen.hearing():
        whole = merge(models)
        whole.save(path, notes=together(models).kept())
    screen.say(f"{len(parts)} models of {whole.n_samples_seen_} rows in all", "bold")
    show_components(whole, screen)
    code = say_certificate(whole.certificate_, screen)
    screen.say(f"model written to {visible(path)}")
    facts = {"file": str(path), "rows": whole.n_samples_seen_, "variances": whole.explained_variance_}
    screen.emit(**facts, warnings=screen.warned, exit_code=code)
    return code


def compare_models(screen: Screen, a: str, b: str) -> int:
    """Principal angles."""
    first, second = _of_components(a), _of_components(b)
    if not isinstance(first, PCA) or not isinstance(second, PCA):
        raise DataError("only PCA models have subspaces of the columns to compare; one of these is a kernel model")
    angles, sizes = np.degrees(compare(first, second)), (first.n_components_, second.n_components_)
    contained = bool(angles[-1] < ROUNDING)
    screen.say(f"subspaces of {sizes[0]} and {sizes[1]} components, angles in degrees", "bold")
    rows = [(str(i + 1), f"{angle:.3g}", f"{np.cos(np.radians(angle)) ** 2:.4f}") for i, angle in enumerate(angles)]
    screen.table(("", "angle", "shared"), rows)
    screen.say(_verdict(float(angles[-1]), *sorted(sizes)))
    same = contained and sizes[0] == sizes[1]
    screen.emit(angles=angles, components=list(sizes), same=same, contained=contained, exit_code=OK)
    return OK


def _verdict(largest: float, few: int, many: int) -> str:
    """What the largest angle says: of a larger subspace only that it contains the smaller one, or does not."""
    most = plain(at_most(largest))
    if few == many:
        if largest < ROUNDING:
            return "the same subspace, to rounding"
        if largest < NEAR:
            return f"nearly the same subspace: no direction is off by more than {most}°"
        return f"different subspaces: a direction of one lies {largest:.3g}° outside the other"
    one, other = f"the {few}-dimensional subspace is", f"contained in the {many}-dimensional one"
    if largest < ROUNDING:
        return f"{one} {other}, to rounding"
    if largest < NEAR:
        return f"{one} nearly {other}: no direction of it is off by more than {most}°"
    return f"{one} not {other}: a direction of it lies {largest:.3g}° outside"


def export_model(screen: Screen, model: str, out: str, force: bool) -> int:
    """A model as ONNX."""
    from ritz.estimators.onnx import export_onnx

    path = Path(out)
    if path.suffix.lower() != ".onnx":
        raise Failure(f"{out!r} does not end in .onnx, the only format that models are exported to", USAGE)
    may_write(path, [model], force)
    export_onnx(_of_components(model), path)
    screen.say(f"model written to {visible(path)}")
    screen.emit(file=str(path), exit_code=OK)
    return OK
