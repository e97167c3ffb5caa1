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
from ritz.interpretation.comparison import Comparison, compare
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
    """Principal angles, which components belong together, and what each model explains of the other."""
    first, second = _of_components(a), _of_components(b)
    if not isinstance(first, PCA) or not isinstance(second, PCA):
        raise DataError("only PCA models have subspaces of the columns to compare; one of these is a kernel model")
    found = compare(first, second)
    angles, tolerance = np.degrees(found), float(np.degrees(found.tolerance))
    screen.say(f"subspaces of {found.sizes[0]} and {found.sizes[1]} components, angles in degrees", "bold")
    rows = [(str(i + 1), f"{angle:.3g}", f"{np.cos(np.radians(angle)) ** 2:.4f}") for i, angle in enumerate(angles)]
    screen.table(("", "angle", "shared"), rows)
    matches, explained = _matches(found), _explained(found)
    screen.table(("of A", "of B", "angle", ""), _pairs(matches), left=(3,))
    for part in explained:
        screen.say(_share(part))
    largest = float(angles.max(initial=0.0))
    screen.say(_verdict(largest, min(found.sizes), max(found.sizes), tolerance))
    screen.emit(
        angles=angles,
        components=list(found.sizes),
        same=found.relation == "equal",
        contained=found.relation == "equal" or "contained" in found.relation,
        relation=found.relation,
        tolerance=tolerance,
        matches=matches,
        explained=explained,
        exit_code=OK,
    )
    return OK


def _matches(found: Comparison) -> list[dict[str, Any]]:
    """Which component of B is which of A, for programs."""
    table = found.matches
    groups = table.columns.get("group", [""] * len(table))
    cells = zip(table.index, table["of b"], table["angle"], table["sign"], groups, strict=True)
    return [
        {"a": one, "b": other, "angle": float(angle), "sign": 1 if sign == "+" else -1, "group": group}
        for one, other, angle, sign, group in cells
    ]


def _pairs(matches: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The same for people."""
    rows: list[tuple[str, ...]] = []
    for pair in matches:
        about = ["opposite sign"] if pair["sign"] < 0 else []
        if pair["group"]:
            about.append(f"cannot be told apart: {pair['group'].replace('a: ', 'A ').replace('b: ', 'B ')}")
        rows.append((pair["a"], pair["b"], f"{pair['angle']:.3g}", ", ".join(about)))
    return rows


def _explained(found: Comparison) -> list[dict[str, Any]]:
    """What the components of both explain of the variance of each."""
    table = found.explained
    keys = {"own": "in its own", "at_least": "at least", "at_most": "at most", "exact": "exact"}
    names = [str(name).removeprefix("variance of ") for name in table.index]
    return [{"of": name, **{key: table[column][i] for key, column in keys.items()}} for i, name in enumerate(names)]


def _share(part: dict[str, Any]) -> str:
    """The same in a sentence."""
    one, other = ("A", "B") if part["of"] == "a" else ("B", "A")
    low, high = part["at_least"], part["at_most"]
    share = f"{low:.2%}" if part["exact"] else f"{low:.2%} to {high:.2%}"
    return f"variance of {one}: its own components explain {part['own']:.2%}, those of {other} {share}"


def _verdict(largest: float, few: int, many: int, tolerance: float = ROUNDING) -> str:
    """What the largest angle says: of a larger subspace only that it contains the smaller one, or does not."""
    most = plain(at_most(largest))
    accurate = f"as far as the fits are accurate: no direction is off by more than {most}°"
    if few == many:
        if largest < ROUNDING:
            return "the same subspace, to rounding"
        if largest <= tolerance:
            return f"the same subspace, {accurate}"
        if largest < NEAR:
            return f"nearly the same subspace: no direction is off by more than {most}°"
        return f"different subspaces: a direction of one lies {largest:.3g}° outside the other"
    one, other = f"the {few}-dimensional subspace is", f"contained in the {many}-dimensional one"
    if largest < ROUNDING:
        return f"{one} {other}, to rounding"
    if largest <= tolerance:
        return f"{one} {other}, {accurate}"
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
