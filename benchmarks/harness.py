"""The parent's side: every measurement in a process of its own, on data that is made once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.cases import Case

ROOT = Path(__file__).resolve().parents[1]
MEASURED = "measured"


@dataclass(frozen=True)
class Settings:
    """How often a fit is repeated, after how many seconds no more, and when a process is given up."""

    repeat: int = 5
    budget: float = 20.0
    limit: float = 120.0


def ask(task: str, limit: float | None = None, **arguments: Any) -> dict[str, Any]:
    """What a task of `worker` answers; its status tells whether it did."""
    command = [sys.executable, "-m", "benchmarks.worker", task, json.dumps(arguments)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"status": f"> {limit:g} s"}
    if done.returncode < 0:
        return {"status": f"failed: killed by signal {-done.returncode}"}
    if done.returncode:
        return {"status": f"failed: {_last_line(done.stderr)}"}
    answer = json.loads(done.stdout.splitlines()[-1])
    return {"status": MEASURED, **answer} if isinstance(answer, dict) else {"status": MEASURED, "answer": answer}


def demand(task: str, **arguments: Any) -> dict[str, Any]:
    """What a task answers, where going on without makes no sense."""
    answer = ask(task, **arguments)
    if answer["status"] != MEASURED:
        raise SystemExit(f"{task} {answer['status']}")
    return answer


def with_data(cases: Iterable[Case], truth: bool = True) -> Iterator[tuple[Case, str]]:
    """Each case with the folder that holds its data (and the truth about it) as long as it is worked on."""
    for _, sharing in groupby(cases, key=lambda case: case.data):
        same = list(sharing)
        with TemporaryDirectory() as folder:
            of, k = same[0], max(case.k for case in same) if truth else 0
            made = demand(
                "prepare", folder=folder, source=of.source, n=of.n, d=of.d, dtype=of.dtype, k=k, transpose=of.transpose
            )
            for case in same:
                yield replace(case, n=made["n"], d=made["d"]), folder


def measured(
    contender: str, case: Case, folder: str, settings: Settings, task: str = "measure", **more: Any
) -> dict[str, Any]:
    """One contender on one case, by the task that measures such cases."""
    budget = min(settings.budget, settings.limit / 4)  # a repeated fit must not cost the result of the first
    return ask(
        task,
        settings.limit,
        contender=contender,
        folder=folder,
        k=case.k,
        repeat=settings.repeat,
        budget=budget,
        **more,
    )


def _last_line(text: str, most: int = 90) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    return lines[-1] if len(lines[-1]) <= most else lines[-1][: most - 1] + "…"
