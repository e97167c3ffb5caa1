"""`ritz info`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from ritz.cli.inputs import APART, Input, Reading, bytes_of, chosen, default_count, located, say_what_it_is
from ritz.cli.screen import Screen, typed
from ritz.harmless import visible
from ritz.memory import format_bytes
from ritz.planner import Plan, plan
from ritz.profile import Profile
from ritz.rows.files import opened
from ritz.scores import measures

# Bytes per second that two ordinary cores read: text must be parsed, the others unpacked or only copied.
PARSED, UNPACKED = 1.5e8, 5e8


def look(screen: Screen, file: str, components: Any, scale: bool, memory: int | None, **given: Any) -> int:
    """Say what is in a file."""
    reading = Reading(**given)
    with located(file) as path:
        if path.suffix == ".safetensors":
            return _look_at_model(path, screen)
        with screen.hearing():
            found = chosen(opened(path, reading.transpose), path, file, reading)
            profile = Profile.of(found.rows.with_gaps())
            asked = default_count(components, found.rows)
            planned = plan(found.rows, asked, memory)
        seconds = bytes_of(path) / (PARSED if found.text else UNPACKED) + planned.seconds
    _show_contents(screen, found, profile)
    _show_plan(screen, planned, asked, seconds)
    if found.rows.shape[0] > 1:
        screen.say(f"\nnext: ritz fit {typed(file)}{_options(components, scale, reading, profile)}", typed=True)
    _emit(screen, found, profile, planned, asked, seconds)
    return 0


def _options(components: Any, scale: bool, reading: Reading, profile: Profile) -> str:
    """What was asked for, and what should be."""
    scale = scale or profile.spread > APART
    words = {
        f"-k {components}": components is not None,
        "--scale": scale,
        "--drop-constant": scale and bool(profile.constant),
        f"--label {shlex.quote(str(reading.label))}": reading.label is not None,
        "--transpose": reading.transpose,
        f"--missing {reading.missing}": reading.missing != "error",
        "--missing mean": reading.missing == "error" and profile.missing.any(),
    }
    parts = [word for word, due in words.items() if due]
    for name, columns in (("drop", reading.drop), ("keep", reading.keep)):
        parts += [f"--{name} {shlex.quote(column)}" for column in columns]
    return visible("".join(f" {part}" for part in parts))


def _show_contents(screen: Screen, found: Input, profile: Profile) -> None:
    n, d = found.rows.shape
    seen = "" if profile.whole else f" (by {profile.looked_at} of its rows)"
    rows, columns = f"{n} row{'s' * (n != 1)}", f"{d} column{'s' * (d != 1)}"
    screen.say(f"{visible(found)}: {rows}, {columns} of {found.rows.dtype}", "bold")
    say_what_it_is(found, screen)
    screen.say(f"  missing cells: {_gaps(profile)}{seen}")
    screen.say(f"  column scales: {_scales(profile)}{seen}")
    if profile.constant:
        shown = ", ".join(profile.constant[:5]) + (", …" if len(profile.constant) > 5 else "")
        screen.say(f"  constant columns: {visible(shown)}{seen}; --drop-constant leaves them out")


def _show_plan(screen: Screen, planned: Plan, asked: Any, seconds: float) -> None:
    screen.say(f"\nplan for -k {asked}: {visible(str(planned).splitlines()[0])}")
    screen.say(f"  why: {planned.why}")
    screen.say(f"  expected: {_duration(seconds)}, {format_bytes(planned.memory)} of memory beside the data")


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
        missing=int(profile.missing.sum()),
        deviations=profile.deviations,
        spread=profile.spread,
        constant=profile.constant,
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
    return f"{int(profile.missing.sum())}, most in {visible(shown)}"


def _scales(profile: Profile) -> str:
    if profile.spread <= APART:
        return f"alike, within a factor of {profile.spread:.2g}"
    return visible(f"{profile.widest} varies {profile.times} as much as {profile.narrowest}; consider --scale")


def _duration(seconds: float) -> str:
    if not np.isfinite(seconds):
        return "as long as the spectrum takes"
    if seconds < 1:
        return "less than a second"
    return f"about {seconds:.0f} s" if seconds < 120 else f"about {seconds / 60:.0f} minutes"


def _look_at_model(path: Path, screen: Screen) -> int:
    from ritz.estimators.cells import plain
    from ritz.estimators.loading import load

    model: Any = load(path)
    names = getattr(model, "feature_names_in_", None)
    screen.say(f"{visible(path.name)}: a model of {model.n_features_in_} columns", "bold")
    shown = re.sub(r"\s+", " ", repr(model))
    screen.say(f"  {visible(shown)}")
    for line in str(getattr(model, "plan_", "")).splitlines():
        screen.say(f"  {visible(line)}")
    screen.say(f"\n{model.certificate_}")
    size = {"measurements": model.n_measurements_} if measures(model) else {"variances": model.certificate_.values}
    screen.emit(
        input=path.name,
        model=type(model).__name__,
        columns=model.n_features_in_,
        names=None if names is None else list(names),
        parameters={key: _in_words(value) for key, value in model.get_params().items()},
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
