"""`ritz info`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ritz.cli.inputs import Reading, Table, chosen, located
from ritz.cli.screen import Screen
from ritz.harmless import visible
from ritz.memory import format_bytes
from ritz.planner import Plan, plan
from ritz.profile import Profile
from ritz.rows.files import opened

# Bytes per second that two ordinary cores read: text must be parsed, the others unpacked or only copied.
PARSED, UNPACKED = 1.5e8, 5e8
DEFAULT = 10


def look(screen: Screen, file: str, **given: Any) -> int:
    """Say what is in a file."""
    with located(file) as path:
        if path.suffix == ".safetensors":
            return _look_at_model(path, screen)
        components, scale, memory = given.pop("components"), given.pop("scale"), given.pop("memory")
        with screen.hearing():
            reading = Reading(**given)
            table = chosen(opened(path, reading.transpose), path, file, reading)
            rows = table.rows.with_gaps()
            profile = Profile.of(rows)
            asked = min(DEFAULT, *rows.shape) if components is None else components
            planned = plan(table.rows, asked, memory)
        seconds = _reading_time(path, table) + planned.seconds
        _show(screen, file, table, profile, planned, asked, seconds, scale)
    return 0


def _show(
    screen: Screen,
    file: str,
    table: Table,
    profile: Profile,
    planned: Plan,
    asked: Any,
    seconds: float,
    scale: bool,
) -> None:
    n, d = table.rows.shape
    missing = int(profile.missing.sum())
    seen = "" if profile.whole else f" (by {profile.looked_at} of its rows)"
    screen.say(f"{visible(table)}: {n} rows, {d} columns of {table.rows.dtype}", "bold")
    for term, text in table.facts:
        screen.say(f"  {term}: {visible(text)}")
    for key, why in list(table.left_out.items())[:10]:
        screen.say(f"  not decomposed: {visible(key)} ({visible(why)})")
    if len(table.left_out) > 10:
        screen.say(f"  … and {len(table.left_out) - 10} more columns")
    screen.say(f"  missing cells: {_gaps(profile)}{seen}")
    screen.say(f"  column scales: {_scales(profile)}{seen}")
    if profile.constant:
        shown = ", ".join(profile.constant[:5]) + (", …" if len(profile.constant) > 5 else "")
        screen.say(f"  constant columns: {visible(shown)}{seen}; --drop-constant leaves them out")
    screen.say(f"\nplan for -k {asked}: {visible(str(planned).splitlines()[0])}")
    screen.say(f"  why: {planned.why}")
    screen.say(f"  expected: {_duration(seconds)}, {format_bytes(planned.memory)} of memory beside the data")
    advice = " --scale" if profile.spread > 10 and not scale else ""
    screen.say(f"\nnext: ritz fit {visible(file)}{advice}{' --missing mean' if missing else ''}")
    screen.emit(
        input=table.name,
        rows=n,
        columns=d,
        dtype=str(table.rows.dtype),
        names=None if table.rows.names is None else list(table.rows.names),
        facts=dict(table.facts),
        left_out=dict(table.left_out),
        label=table.label,
        looked_at=profile.looked_at,
        missing=missing,
        deviations=profile.deviations,
        spread=profile.spread,
        constant=profile.constant,
        plan={
            "components": asked,
            "solver": planned.solver,
            "passes": planned.passes,
            "operations": planned.operations,
            "memory": planned.memory,
            "why": planned.why,
        },
        seconds=seconds,
        warnings=screen.warned,
    )


def _gaps(profile: Profile) -> str:
    if not profile.missing.any():
        return "none"
    worst = np.argsort(-profile.missing, kind="stable")[:3]
    shown = ", ".join(f"{profile.names[j]} {int(profile.missing[j])}" for j in worst if profile.missing[j])
    return f"{int(profile.missing.sum())}, most in {visible(shown)}"


def _scales(profile: Profile) -> str:
    if profile.spread <= 10:
        return f"alike, within a factor of {profile.spread:.2g}"
    return visible(f"{profile.widest} varies {profile.times} as much as {profile.narrowest}; consider --scale")


def _reading_time(path: Path, table: Table) -> float:
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files) / (PARSED if table.text else UNPACKED)


def _duration(seconds: float) -> str:
    if not np.isfinite(seconds):
        return "as long as the spectrum takes"
    if seconds < 1:
        return "less than a second"
    return f"about {seconds:.0f} s" if seconds < 120 else f"about {seconds / 60:.0f} minutes"


def _look_at_model(path: Path, screen: Screen) -> int:
    from ritz.estimators.cells import plain as certificate_parts
    from ritz.estimators.loading import load

    model = load(path)
    shown = re.sub(r"\s+", " ", repr(model))
    columns = model.n_features_in_
    screen.say(f"{visible(path.name)}: a model of {columns} columns", "bold")
    screen.say(f"  {visible(shown)}")
    for line in str(model.plan_).splitlines():
        screen.say(f"  {visible(line)}")
    screen.say(str(model.certificate_))
    names = getattr(model, "feature_names_in_", None)
    screen.emit(
        input=path.name,
        model=type(model).__name__,
        columns=columns,
        names=None if names is None else list(names),
        parameters=model.get_params(),
        variances=model.certificate_.values,
        certificate=certificate_parts(model.certificate_),
        notes=model.notes_,
    )
    return 0
