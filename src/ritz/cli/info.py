"""`ritz info`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from ritz.cli.errors import in_options
from ritz.cli.fit import check_labels
from ritz.cli.inputs import (
    APART,
    Input,
    as_facts,
    chosen,
    default_count,
    is_left_to_data,
    looked_at,
    name_of,
    say_what_it_is,
)
from ritz.cli.paths import PIPE, all_located, free_folder
from ritz.cli.reading import Reading
from ritz.cli.screen import Screen, typed
from ritz.fitting.planning import Plan, plan
from ritz.fitting.request import too_few
from ritz.rows.formats.read import opened
from ritz.rows.pictures import of_size
from ritz.rows.profile import Profile
from ritz.rows.scores import is_sensing
from ritz.runtime.memory import format_bytes
from ritz.runtime.wording import plural, visible

# Bytes per second that two ordinary cores read: text must be parsed, the others unpacked or only copied.
PARSED, UNPACKED = 1.5e8, 5e8


def look(
    screen: Screen, files: tuple[str, ...], n_components: Any, scale: bool, memory_limit: int | None, **given: Any
) -> int:
    """Say what is in a file, or in many."""
    check_labels(given)
    reading = Reading(**given)
    with all_located(files) as source:
        if len(files) == 1 and source.paths[0].suffix == ".safetensors":
            return _look_at_model(source.paths[0], screen)
        with screen.hearing():
            raw = opened(source.opened, reading.transpose, reading.header, size=reading.size, grey=reading.grey)
            found = chosen(raw, source, reading)
            profile = Profile.of(found.rows.with_gaps())
            found = looked_at(found, found.rows.with_gaps())
            asked = default_count(n_components, found.rows)
            planned = plan(found.rows, asked, memory_limit)
        seconds = source.bytes / (PARSED if found.text else UNPACKED) + planned.seconds
    missing = profile.remedy if reading.missing == "error" else reading.missing  # as asked, or as it should be
    _show_contents(screen, found, profile, missing)
    for finding in found.findings:
        screen.say(f"  {finding.severity}: {visible(finding.sentence)}")
        if finding.option:
            screen.say(f"    {visible(finding.option)}", typed=True)
    left = is_left_to_data(n_components, found.rows)
    or_so = " or so (without -k the data decides)" if left else ""
    screen.say(f"\nplan for -k {asked}{or_so}: {visible(planned.summary)}")
    screen.say(f"  why: {planned.why}")
    screen.say(f"  expected: {_duration(seconds)}, {format_bytes(planned.memory)} of working memory")
    if (few := too_few(found.rows.shape[0])) is not None:
        screen.warn(in_options(few))
    elif profile.whole and not profile.varies(missing):
        which = "all columns are constant" if len(profile.constant) == len(profile.names) else "no column varies"
        screen.warn(f"{which}: no row differs from another, and there is nothing to decompose")
    else:
        options = _options(n_components, scale, replace(reading, missing=missing), profile, found, files[0])
        shown = " ".join(file if file == PIPE else typed(file) for file in files)
        screen.say(f"\nnext: ritz fit {shown}{options}", typed=True)
    _emit(screen, found, profile, planned, asked, seconds)
    return 0


def _options(components: Any, scale: bool, reading: Reading, profile: Profile, found: Input, file: str) -> str:
    """What was asked for, and what should be."""
    missing = reading.missing
    pixels = found.rows.image_shape is not None  # which have one unit
    scale = (scale or ((found.scales or profile).needs_scale(APART) and not pixels)) and profile.varies(missing)
    stuck = bool(profile.constant) or (missing == "drop" and bool(profile.constant_if_dropped.any()))
    drops = [*reading.drop, *(str(name_of(found.rows, j)) for j in profile.worthless)]
    folder = free_folder(file)
    words = {
        f"-k {components}": components is not None,
        "--scale": scale,
        "--drop-constant": scale and stuck,
        f"--label {shlex.quote(str(reading.label))}": reading.label is not None,
        f"--labels {shlex.quote(str(reading.labels))}": reading.labels is not None,
        "--diff": reading.diff,
        "--header" if reading.header else "--no-header": reading.header is not None,
        "--transpose": reading.transpose,
        f"--size {'x'.join(map(str, reading.size or ()))}": reading.size is not None,
        "--grey": bool(reading.grey),
        f"--missing {missing}": missing != "error",
        f"-o {typed(folder)}": folder is not None,
    }
    parts = [word for word, due in words.items() if due]
    codes = [
        repr(value).removesuffix(".0") + ("" if names is None else f":{','.join(names)}") for value, names in reading.na
    ]
    for name, given in (("columns", reading.columns), ("na", codes), ("drop", drops), ("keep", reading.keep)):
        parts += [f"--{name} {shlex.quote(one)}" for one in given]
    return visible("".join(f" {part}" for part in parts))


def _show_contents(screen: Screen, found: Input, profile: Profile, missing: str) -> None:
    n, d = found.rows.shape
    seen = "" if profile.whole else f" (estimated from {profile.looked_at} rows spread over the file)"
    counts = f"{n} {plural(n, 'row')}, {d} {plural(d, 'column')}"
    screen.say(f"{visible(found)}: {counts} of {found.rows.dtype}", "bold")
    say_what_it_is(found, screen)
    screen.say(f"  missing cells: {_gaps(profile)}{seen}")
    varies = profile.varies(missing)
    if n > 1 and found.rows.image_shape is None:
        aside = ", without the cells below" if found.scales else ""
        said = _scales(found.scales or profile) if varies else "no column varies"
        screen.say(f"  column scales{aside}: {said}{seen}")
    if profile.infinite.any():
        shown = ", ".join(profile.names[j] for j in np.flatnonzero(profile.infinite)[:5])
        count = int(profile.infinite.sum())
        screen.say(f"  infinite cells: {count}, in {visible(shown)}{seen}; --na inf --na -inf takes them for missing")
    if profile.constant and varies:
        shown = ", ".join(profile.constant[:5]) + (", …" if len(profile.constant) > 5 else "")
        where = "" if profile.whole else f" in a sample of {profile.looked_at} rows"
        advice = "--drop-constant leaves out what is constant everywhere"
        screen.say(f"  constant columns{where}: {visible(shown)}; {advice}")


def _emit(screen: Screen, found: Input, profile: Profile, planned: Plan, asked: Any, seconds: float) -> None:
    names = ("solver", "passes", "operations", "memory", "why")
    screen.emit(
        input=found.name,
        rows=found.rows.shape[0],
        columns=found.rows.shape[1],
        dtype=str(found.rows.dtype),
        names=None if found.rows.names is None else list(found.rows.names),
        facts=dict(found.facts),
        left_out=dict(found.left_out),
        label=found.label,
        looked_at=profile.looked_at,
        whole=profile.whole,
        missing=int(profile.missing.sum()),
        deviations=profile.deviations,
        spread=profile.spread,
        constant=profile.constant,
        findings=as_facts(found.findings),
        plan={"components": asked, **{name: getattr(planned, name) for name in names}},
        seconds=seconds,
        warnings=screen.warned,
        exit_code=0,
    )


def _gaps(profile: Profile) -> str:
    if not profile.missing.any():
        return "none"
    worst = np.argsort(-profile.missing, kind="stable")[:3]
    shown = ", ".join(f"{profile.names[j]} ({int(profile.missing[j])})" for j in worst if profile.missing[j])
    gaps = profile.with_gaps
    rows = f"in {gaps} of {profile.looked_at} rows" if gaps else "in columns that hold hardly any"
    return f"{int(profile.missing.sum())}, {rows}, most in {visible(shown)}"


def _scales(profile: Profile) -> str:
    if profile.spread <= APART:
        units = ", ".join(sorted(profile.units - {""}))
        advice = f", but units differ ({units}); consider --scale" if profile.needs_scale(APART) else ""
        return f"alike, within a factor of {profile.spread:.2g}{advice}"
    return visible(f"{profile.widest} varies {profile.times} as much as {profile.narrowest}; consider --scale")


def _duration(seconds: float) -> str:
    if not np.isfinite(seconds):
        return "as long as the spectrum takes"
    if seconds < 1:
        return "less than a second"
    return f"about {seconds:.0f} s" if seconds < 120 else f"about {seconds / 60:.0f} minutes"


def _look_at_model(path: Path, screen: Screen) -> int:
    from ritz.estimators.anndata import plain
    from ritz.estimators.loading import load

    model: Any = load(path)
    names, shape = getattr(model, "feature_names_in_", None), getattr(model, "image_shape_", None)
    pictures = f", {of_size(shape)}" if shape else ""
    screen.say(f"{visible(path.name)}: a model of {model.n_features_in_} columns{pictures}", "bold")
    parameters = {name: _in_words(value) for name, value in model._parameters().items()}
    usual = signature(type(model)).parameters
    told = [f"{name}={value!r}" for name, value in parameters.items() if repr(value) != repr(usual[name].default)]
    screen.say(f"  {type(model).__name__}({visible(', '.join(told))})")
    for line in str(getattr(model, "plan_", "")).splitlines():
        screen.say(f"  {visible(line)}")
    screen.say(f"\n{model.certificate_}")
    size = {"measurements": model.n_measurements_} if is_sensing(model) else {"variances": model.certificate_.values}
    screen.emit(
        input=path.name,
        model=type(model).__name__,
        columns=model.n_features_in_,
        names=None if names is None else list(names),
        image_shape=None if shape is None else list(shape),
        parameters=parameters,
        **size,
        certificate=plain(model.certificate_),
        notes=model.notes_,
        exit_code=0,
    )
    return 0


def _in_words(value: Any) -> Any:
    """A parameter, or the size of one that is a matrix."""
    shape: tuple[int, ...] = getattr(value, "shape", ())
    return f"a matrix of {shape[0]} by {shape[1]} numbers" if len(shape) == 2 else value
