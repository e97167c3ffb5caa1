"""From a table to a folder of answers: fit, write, and say what was done."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ritz.certificate import Certificate
from ritz.cli.failures import INACCURATE, OK
from ritz.cli.inputs import Reading, Table, completed
from ritz.cli.outputs import scores
from ritz.cli.screen import Screen
from ritz.errors import DataError
from ritz.estimators import PCA
from ritz.estimators.cells import plain as certificate_parts
from ritz.harmless import visible
from ritz.linalg import Array
from ritz.passes import Watch
from ritz.profile import Profile
from ritz.progress import Progress
from ritz.rows.base import Block
from ritz.views.components import HEAD, component_rows
from ritz.views.report import render
from ritz.whole import replacing, staged
from ritz.writing import deliver

MODEL, REPORT = "model.safetensors", "report.html"
DEFAULT = 10  # components, unless there are fewer
SHOWN = 10  # components on the screen
APART = 10.0  # times that deviations of columns may differ before one decides about the first component
SEEN = 20_000  # rows whose first two scores are drawn one by one


@dataclass(frozen=True)
class Asked:
    """What is asked of a fit."""

    components: int | float | str | None = None
    scale: bool = False
    center: bool = True
    solver: str = "auto"
    tol: float = 1e-6
    seed: int | None = None
    memory: int | None = None
    image: tuple[int, int] | None = None
    checkpoint: str | None = None


def file_names(text: bool) -> tuple[str, str, str]:
    """Model, scores and report."""
    return MODEL, "scores.csv" if text else "scores.parquet", REPORT


def analyse(
    table: Table, reading: Reading, asked: Asked, folder: Path, screen: Screen, notes: Mapping[str, Any]
) -> int:
    """Fit the table, write the three files, say what was done; the exit code."""
    begun = time.perf_counter()
    with Progress(screen.quiet) as progress, screen.hearing():
        watched = replace(table, rows=table.rows.watched(Watch(progress)))
        table = completed(watched, reading, asked.memory)
        if asked.memory is not None and table.rows.in_memory and not watched.rows.in_memory:
            n, d = table.rows.shape
            asked = replace(asked, memory=asked.memory - table.rows.dtype.itemsize * n * d)
        _check_picture(asked.image, table.rows.shape[1])
        profile = Profile.of(table.rows)
        told = "" if asked.scale or asked.image else _scales(profile)
        pca = fitted(table, asked)
        seconds = time.perf_counter() - begun
        files = written(pca, table, asked, folder, told, {**notes, "reading": _notes(reading)})
    describe(pca, table, asked, screen, seconds)
    if told:
        screen.warn(told)
    conclude(pca, table, files, screen)
    return OK if pca.certificate_.satisfied else INACCURATE


def fitted(table: Table, asked: Asked) -> PCA:
    """The model of the rows."""
    n, d = table.rows.shape
    k = min(DEFAULT, n, d) if asked.components is None else asked.components
    pca = PCA(
        k,
        center=asked.center,
        scale=asked.scale,
        svd_solver=asked.solver,
        tol=asked.tol,
        memory_limit=asked.memory,
        random_state=asked.seed,
    )
    return pca.fit(table.rows, checkpoint=asked.checkpoint)


def written(pca: PCA, table: Table, asked: Asked, folder: Path, told: str, notes: Mapping[str, Any]) -> dict[str, Path]:
    """Model, scores and report, which come into the folder together."""
    model, table_of_scores, report = names = file_names(table.text)
    with staged(folder) as stage:
        results, first = scores(pca, table.rows, table.beside), First()
        deliver(replace(results, blocks=first.seen(results.blocks)), stage / table_of_scores)
        with replacing(stage / report) as new:
            new.write_text(page(pca, table, asked, told, first.scores), encoding="utf-8")
        pca.save(stage / model, notes={**notes, "image": asked.image, "label": table.label})
    return dict(zip(("model", "scores", "report"), (folder / name for name in names), strict=True))


def page(pca: PCA, table: Table, asked: Asked, told: str, first: Array) -> str:
    """The report."""
    left_out = ((f"left out: {key}", why) for key, why in table.left_out.items())
    return render(
        pca,
        title=f"Principal components of {table.name}",
        scores=first,
        labels=None if table.label is None else table.beside[table.label],
        facts=(*table.facts, *left_out, *([("scales", told)] if told else [])),
        image=asked.image,
    )


class First:
    """The first two scores of every row, remembered while all of them pass by."""

    def __init__(self) -> None:
        self._parts: list[Block] = []

    def seen(self, blocks: Iterator[Block]) -> Any:
        """The same blocks."""
        for block in blocks:
            self._parts.append(np.array(block[:, :2], np.float32))
            yield block

    @property
    def scores(self) -> Array:
        """(n, 2), or (n, 1) of a single component."""
        return np.concatenate(self._parts).astype(np.float64)


def describe(pca: PCA, table: Table, asked: Asked, screen: Screen, seconds: float) -> None:
    """What was read, what was left out, and the components."""
    n, d = table.rows.shape
    screen.say(f"{visible(table)}: {n} rows, {d} columns of numbers", "bold")
    for term, text in table.facts:
        screen.say(f"  {term}: {visible(text)}")
    for key, why in list(table.left_out.items())[:SHOWN]:
        screen.say(f"  not decomposed: {visible(key)} ({visible(why)})")
    if len(table.left_out) > SHOWN:
        screen.say(f"  … and {len(table.left_out) - SHOWN} more columns")
    how = ", ".join(words for words, said in (("centred", pca.center), ("scaled to unit variance", pca.scale)) if said)
    screen.say(f"  {how or 'neither centred nor scaled'}; {pca.plan_.solver} in {seconds:.2f} s: {pca.plan_.why}\n")
    show_components(pca, screen, named=asked.image is None)
    k = pca.n_components_
    if hasattr(pca, "rank_choice_"):
        screen.say(f"\n{pca.rank_choice_}")
    screen.say(f"\n{k} of {d} numbers per row keep {pca.explained_variance_ratio_.sum():.1%} of the variance", "bold")


def show_components(pca: PCA, screen: Screen, named: bool = True) -> None:
    """A line for each of the first components; names of pixels say nothing."""
    named = named and hasattr(pca, "feature_names_in_")
    rows = component_rows(pca, SHOWN)
    screen.table(HEAD if named else HEAD[:-1], rows if named else [row[:-1] for row in rows], left=(len(HEAD) - 1,))
    if pca.n_components_ > SHOWN:
        screen.say(f"… and {pca.n_components_ - SHOWN} more")


def conclude(pca: PCA, table: Table, files: Mapping[str, Path], screen: Screen) -> None:
    """The certificate, the files, what to type next; or all of it for machines."""
    certificate = pca.certificate_
    screen.say(one_line(certificate), "good" if certificate.satisfied else "bad")
    screen.say("\nwritten:")
    for what, path in files.items():
        screen.say(f"  {what:<7} {visible(path)}")
    model, end = visible(files["model"]), "csv" if table.text else "parquet"
    screen.say(f"\nnext: open {visible(files['report'])} in a browser")
    screen.say(f"      ritz transform {model} NEW.{end} -o NEW-scores.{end}")
    screen.emit(
        input=table.name,
        rows=table.rows.shape[0],
        columns=table.rows.shape[1],
        left_out=dict(table.left_out),
        label=table.label,
        facts=dict(table.facts),
        components=components(pca),
        plan={"solver": pca.plan_.solver, "why": pca.plan_.why},
        choice=choice(pca),
        certificate=certificate_parts(certificate),
        files={what: str(path) for what, path in files.items()},
        warnings=screen.warned,
        exit_code=OK if certificate.satisfied else INACCURATE,
    )


def one_line(certificate: Certificate) -> str:
    """The certificate in one line."""
    missed = certificate.remarks[0].removeprefix("completeness: ").split(";")[0]
    return f"certificate: {certificate.verdict}; {missed}"


def components(pca: PCA) -> list[dict[str, float]]:
    """One object per component, for machines."""
    shares = pca.explained_variance_ratio_
    parts = zip(pca.explained_variance_, shares, np.cumsum(shares), strict=True)
    return [{"variance": variance, "share": share, "together": all_} for variance, share, all_ in parts]


def choice(pca: PCA) -> dict[str, Any] | None:
    """How the number of components was chosen, where a rule did."""
    found = getattr(pca, "rank_choice_", None)
    if found is None:
        return None
    return {name: getattr(found, name) for name in ("rule", "k", "seed", "flips", "quantile", "values", "null")}


def _check_picture(image: tuple[int, int] | None, d: int) -> None:
    if image is not None and image[0] * image[1] != d:
        raise DataError(f"--image {image[0]}x{image[1]} has {image[0] * image[1]} pixels, but there are {d} columns")


def _scales(profile: Profile) -> str:
    """A warning where a few columns decide about everything."""
    if profile.spread <= APART:
        return ""
    wide, narrow = profile.widest, profile.narrowest
    return (
        f"column {wide} varies {profile.times} as much as {narrow}, so it decides about the first "
        "components; --scale gives every column the same weight"
    )


def _notes(reading: Reading) -> dict[str, Any]:
    """What is needed to read another file in the same way."""
    return {"transpose": reading.transpose, "missing": reading.missing}
