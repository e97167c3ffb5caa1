"""From a table to a folder of answers: fit, write, and say what was done."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.cli.errors import INACCURATE, OK
from ritz.cli.inputs import (
    APART,
    FOR_A_MAP,
    Input,
    advised,
    as_facts,
    completed,
    default_count,
    is_left_to_data,
    say_what_it_is,
)
from ritz.cli.notes import Notes
from ritz.cli.paths import FILES, MODEL, REPORT, SCORES
from ritz.cli.reading import Reading
from ritz.cli.screen import Screen, typed
from ritz.errors import DataError, ParameterError
from ritz.estimators.anndata import plain as certificate_parts
from ritz.estimators.base import in_numpy
from ritz.estimators.pca import PCA
from ritz.inspection.finding import WARNING
from ritz.pca.recognition import Recognition, recognition
from ritz.ranks.choose import choose_rank
from ritz.ranks.panel import RankPanel, in_words, marks_of
from ritz.rows import Rows
from ritz.rows.patterns import found_by
from ritz.rows.pictures import COLOURS, as_option, checked, pictured
from ritz.rows.profile import Profile
from ritz.rows.scores import score_names
from ritz.rows.write.tables import FORMATS, Results, deliver
from ritz.runtime.atomic import replacing, staged
from ritz.runtime.watch import Progress, Watch
from ritz.runtime.wording import visible
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.printed import trusted, untold
from ritz.views import sentences
from ritz.views.classes import kinds_of
from ritz.views.findings import share_asked
from ritz.views.format import asked_share, counted, percent
from ritz.views.report import render
from ritz.views.scatter import First

PLANNED = ("solver", "passes", "operations", "memory", "why")  # what a plan tells a machine
SHOWN = 10  # components on the screen, and the last
RESOLVED = 1e-14  # of the first variance, below which another one may be rounding


def analyse(
    found: Input,
    reading: Reading,
    pca: PCA,
    folder: Path,
    screen: Screen,
    force: bool,
    checkpoint: str | None = None,
    device: str | None = None,
) -> int:
    """Fit the model to the input, on a device if one is named, write three files, say what was done; the exit code."""
    begun = time.perf_counter()
    limit: Any = pca.memory_limit  # in bytes
    with screen.hearing(), Progress(screen.quiet) as progress:
        watched = replace(found, rows=found.rows.watched(Watch(progress)))
        found = _pictured(completed(watched, reading, limit), reading.image)
        n, d = found.rows.shape
        if limit is not None and found.rows.in_memory and not watched.rows.in_memory:
            pca.memory_limit = limit - found.rows.dtype.itemsize * n * d
        told = "" if pca.scale or found.rows.image_shape else _scale_advice(found.scales or Profile.of(found.rows))
        by_default = pca.n_components is None
        panel = _chosen(pca, found.rows)
        pca.n_components = default_count(pca.n_components, found.rows) if panel is None else _kept(panel, found.rows)
        pca.fit(found.rows if device is None else _uploaded(found.rows, device), checkpoint=checkpoint)
        pca = in_numpy(pca)
        seconds = time.perf_counter() - begun
        files, seen = written(pca, found, folder, told, _notes(pca, found, reading), force)
    describe(pca, found, screen, seconds, by_default, panel)
    if seen is not None:
        screen.say(sentences.recognised(seen, found.rows.image_shape is not None))
    if told:
        screen.warn(told)
    for finding in found.findings:
        if finding.severity == WARNING:
            screen.warn(advised(finding))
    return conclude(pca, found, files, screen, seen, panel)


def _chosen(pca: PCA, rows: Rows) -> RankPanel | None:
    """What all rules say of how many components, where that is left to the data; None where it cannot be told."""
    if not is_left_to_data(pca.n_components, rows):
        return None
    how: Any = {name: getattr(pca, name) for name in ("center", "scale", "ddof", "random_state", "memory_limit")}
    try:
        return choose_rank(rows, **how)
    except (DataError, ParameterError):  # the fit says what is wrong, if anything is: it needs less than all rules
        return None


def _kept(panel: RankPanel, rows: Rows) -> int:
    """As many as recommended, but enough for a map of the rows, where so many have a variance at all."""
    varying = int(np.count_nonzero(panel.values > RESOLVED * panel.values[:1]))
    return max(1, panel.k, min(FOR_A_MAP, varying))


def _uploaded(rows: Rows, device: str) -> Rows:
    from ritz.rows.memory.upload import Uploaded

    return Uploaded(rows, device)


def _recognised(pca: PCA, rows: Rows, labels: NDArray[Any] | None) -> Recognition | None:
    """How well the labels are recognised, where there are some, and rows can be had one by one."""
    if labels is None or not (rows.in_memory or rows.image_shape):
        return None
    kinds = kinds_of(labels, rows.shape[0])
    return None if kinds is None else recognition(pca.subspace_, rows, kinds)


def _pictured(found: Input, image: tuple[int, ...] | None) -> Input:
    """The input as pictures of the shape that was asked for, if one was."""
    if image is None:
        return found
    d = found.rows.shape[1]
    if d not in (pixels := math.prod(image), COLOURS * pixels):
        raise DataError(f"--image {as_option(image)} has {pixels} pixels, but there are {d} columns")
    return replace(found, rows=pictured(found.rows, checked(image, d), found.rows.white))


def _scale_advice(profile: Profile) -> str:
    """A warning where a few columns dominate."""
    if profile.spread <= APART:
        return ""
    return (
        f"column {profile.widest} varies {profile.times} as much as {profile.narrowest}, so it dominates the first "
        "components; --scale gives every column the same weight"
    )


def written(
    pca: PCA, found: Input, folder: Path, told: str, notes: Notes, force: bool
) -> tuple[dict[str, Path], Recognition | None]:
    """Model, scores and report, which come into the folder together; and what the nearest neighbours tell."""
    files = {"model": MODEL, "scores": SCORES[found.text], "report": REPORT}
    rows, beside, first = found.rows, found.beside(), First()
    labels = None if found.label is None else beside[found.label]
    seen = _recognised(pca, rows, labels)
    with staged(folder, force, instead_of=FILES if force else ()) as stage:
        blocks = first.seen(pca._codes(rows))
        deliver(Results(blocks, rows.shape[0], score_names(pca), rows.result_dtype, beside), stage / files["scores"])
        left_out = [(f"not decomposed: {key}", why) for key, why in found.left_out.items()]
        page = render(
            pca,
            title=f"Principal components of {found.name}",
            scores=first,
            labels=labels,
            recognition=seen,
            facts=(*found.facts, *left_out, *([("scales", told)] if told else [])),
            doubts=[advised(finding) for finding in found.findings if finding.severity == WARNING],
            unlike=found.scales is None or bool(told),
        )
        with replacing(stage / files["report"]) as new:
            new.write_text(page, encoding="utf-8")
        pca.save(stage / files["model"], notes=notes.kept())
    return {what: folder / name for what, name in files.items()}, seen


def _notes(pca: PCA, found: Input, reading: Reading) -> Notes:
    """How another file is read in the same way."""
    rows, places = found.rows, found.rows.names or ()
    left_out = found.source is not None and len(places) < found.source.shape[1]
    nameless = left_out and all(isinstance(place, int) for place in places)  # no other note tells which were taken
    fill = None if pca.center else rows.fill  # else the mean of the model tells it
    return Notes(
        label=found.label,
        identifier=None if found.identifier is None else str(found.identifier),
        columns=places if nameless else None,
        transpose=reading.transpose,
        na=_codes(found, reading),
        missing=reading.missing,
        diff=reading.diff,
        header=reading.header,
        size=reading.size,
        grey=reading.grey,
        fill=None if fill is None else tuple(map(float, fill)),
        demo=found.demo,
    )


def _codes(found: Input, reading: Reading) -> tuple[tuple[str, tuple[str, ...] | None], ...]:
    """Values that are missing, as text, which JSON has for all numbers, and the names of their columns."""
    codes = []
    for value, columns in reading.na:
        names = None if columns is None else tuple(map(str, found_by(found.rows, columns)))
        codes.append((f"{value!r}", names))
    return tuple(codes)


def describe(
    pca: PCA, found: Input, screen: Screen, seconds: float, by_default: bool, panel: RankPanel | None = None
) -> None:
    """What was read, what was left out, and the components, with the names of columns unless those are pixels."""
    n, d = found.rows.shape
    screen.say(f"{visible(found)}: {counted(n, 'row')}, {counted(d, 'column')} of numbers", "bold")
    say_what_it_is(found, screen)
    unit = "unit variance" if pca.center else "a root mean square of 1"
    how = ("centred" if pca.center else "not centred") + (f", scaled to {unit}" if pca.scale else "")
    how += "" if pca.ddof == 1 else ", variances divided by n"
    screen.say(f"  {how}; {pca.plan_.solver} in {seconds:.2f} s: {pca.plan_.why}\n")
    show_components(pca, screen, named=found.rows.image_shape is None)
    if hasattr(pca, "rank_choice_"):
        screen.say(f"\n{pca.rank_choice_}")
    kept = f"{percent(float(pca.explained_variance_ratio_.sum()))} of the variance"
    verb = "explains" if pca.n_components_ == 1 else "explain"
    most = max(1, min(n - pca.center, d))  # centred rows span one dimension less
    kept += _why_so_many(pca, by_default and pca.n_components_ < most, panel)
    screen.say(f"\n{pca.n_components_} of {counted(most, 'component')} {verb} {kept}", "bold")
    if panel is not None:
        for line in (panel.recommendation, panel.shares):
            screen.say(f"  {line}")
    elif by_default and share_asked(pca) is None and float(pca.explained_variance_[0]) > 0:
        screen.say(f"  {in_words(marks_of(pca.explained_variance_ratio_.astype(float), 1.0))}")


def _why_so_many(pca: PCA, by_default: bool, panel: RankPanel | None) -> str:
    """What decided the number of components, where a share of the variance, the data or the default did."""
    share = share_asked(pca)
    if by_default and panel is not None:
        fewer = panel.k < pca.n_components_
        return f" ({f'a map needs {FOR_A_MAP}' if fewer else 'the data decided'}; -k changes that)"
    if by_default:
        return f" (default{'' if share is None else f': {asked_share(share)}'}; -k changes that)"
    return "" if share is None else f" (asked: {asked_share(share)})"


def show_components(pca: PCA, screen: Screen, named: bool = True) -> None:
    """A line for each of the first components; names of pixels say nothing."""
    named = named and hasattr(pca, "feature_names_in_")
    rows, head = sentences.component_rows(pca, SHOWN), sentences.HEAD
    screen.table(head if named else head[:-1], rows if named else [row[:-1] for row in rows], left=(len(head) - 1,))
    if alike := untold(pca.certificate_):
        rows_of_fit = counted(pca.certificate_.n_rows or 0, "row")
        screen.say(f"{rows_of_fit} do not tell {alike} apart{trusted(pca.certificate_)}")


def conclude(
    pca: PCA,
    found: Input,
    files: Mapping[str, Path],
    screen: Screen,
    seen: Recognition | None = None,
    panel: RankPanel | None = None,
) -> int:
    """The certificate, the files, what to type next; or all of it for machines. Returns the exit code."""
    code = say_certificate(pca.certificate_, screen)
    screen.say("\nwritten:")
    for what, path in files.items():
        screen.say(f"  {what:<7} {visible(path)}", typed=True)
    model, ending = typed(files["model"]), found.ending
    screen.say(f"\nnext: open {visible(files['report'])} in a browser", typed=True)
    scores = ending if ending in FORMATS else ".npy" if ending == ".npz" else ".csv" if found.text else ".parquet"
    screen.say(f"      ritz transform {model} NEW{ending} -o NEW-scores{scores}", typed=True)
    if pca.image_shape_ is not None:
        screen.say(f"      ritz inverse {model} {typed(files['scores'])} -o PICTURES/", typed=True)
    screen.emit(
        input=found.name,
        rows=found.rows.shape[0],
        columns=found.rows.shape[1],
        left_out=dict(found.left_out),
        label=found.label,
        facts=dict(found.facts),
        findings=as_facts(found.findings),
        components=components(pca),
        plan={name: getattr(pca.plan_, name) for name in PLANNED},
        choice=choice(pca),
        panel=panel and _panel_parts(panel),
        recognition=seen and {**vars(seen), "in_kept": seen.in_kept, "enough": seen.enough},
        certificate=certificate_parts(pca.certificate_),
        files={what: str(path) for what, path in files.items()},
        warnings=screen.warned,
        exit_code=code,
    )
    return code


def _panel_parts(panel: RankPanel) -> dict[str, Any]:
    """The panel, for machines."""
    return {
        "k": panel.k,
        "recommendation": panel.recommendation,
        "marks": {f"{share:g}": k for share, k in panel.marks.items()},
        "rules": [vars(rule) | {"threshold": _finite(rule.threshold)} for rule in panel.rules.values()],
        "notes": panel.notes,
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def say_certificate(certificate: Certificate, screen: Screen) -> int:
    """The certificate in one line; returns the exit code."""
    screen.say(f"certificate: {certificate.verdict}; {certificate.missed}", "good" if certificate.satisfied else "bad")
    return OK if certificate.satisfied else INACCURATE


def components(pca: PCA) -> list[dict[str, float | None]]:
    """One object per component, for machines; angles in degrees, null where the rows do not determine them."""
    shares = pca.explained_variance_ratio_
    errors, sines = pca.certificate_.sampling_errors, pca.certificate_.sampling_angles
    unknown = [None] * len(shares)
    parts = zip(
        pca.explained_variance_,
        shares,
        np.cumsum(shares),
        unknown if errors is None else errors,
        unknown if sines is None else [None if sine >= 1 else np.degrees(np.arcsin(sine)) for sine in sines],
        strict=True,
    )
    names = ("variance", "share", "together", "sampling_error", "sampling_angle")
    return [dict(zip(names, part, strict=True)) for part in parts]


def choice(pca: PCA) -> dict[str, Any] | None:
    """How the number of components was chosen, where a rule did."""
    made, names = getattr(pca, "rank_choice_", None), ("rule", "k", "seed", "flips", "quantile", "values", "null")
    return None if made is None else {name: getattr(made, name) for name in names}
