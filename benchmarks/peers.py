"""Ritz beside its peers: every contender on the same data, each in its own process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import plot, report
from benchmarks.cases import SYNTHETIC, Case
from benchmarks.contenders import CONTENDERS, Contender
from benchmarks.harness import Settings, demand, measured, with_data


def chosen(only: Sequence[str]) -> list[Contender]:
    """The contenders whose name contains one of the words given; all without any."""
    return [c for c in CONTENDERS if not only or any(word.lower() in c.name.lower() for word in only)]


def run(cases: Sequence[Case], contenders: Sequence[Contender], settings: Settings, out: Path) -> dict[str, Any]:
    """Measure, print as it goes, and keep the results as JSON and as a picture."""
    machine = demand("machine")
    print(report.describe(machine))
    results: dict[str, Any] = {"machine": machine, "settings": asdict(settings), "cases": []}
    for case, folder in with_data(cases):
        record = record_of(case, contenders, folder, settings)
        print("\n" + report.table(record, machine), flush=True)
        results["cases"].append(record)
        report.save(results, out / "results.json")  # after every case: a long run that is stopped leaves what it has
    print("\n" + report.summary(results))
    plot.peers(results, out / "results.png")
    return results


def record_of(case: Case, contenders: Sequence[Contender], folder: str, settings: Settings) -> dict[str, Any]:
    """All contenders on one case."""
    found = {}
    for contender in contenders:
        excuse = contender.excuse(case.n, case.d)
        found[contender.name] = {"status": excuse} if excuse else measured(contender.name, case, folder, settings)
    source = case.source if case.source == SYNTHETIC else Path(case.source).name
    return {**asdict(case), "source": source, "contenders": found}
