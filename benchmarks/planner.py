"""Whether Ritz chooses well: the time of its own choice over that of the best solver it could have taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.cases import Case
from benchmarks.contenders import RITZ
from benchmarks.harness import MEASURED, Settings, demand, measured, with_data

SOLVERS = ("auto", "covariance", "gram", "svd", "krylov")
LARGEST_ORDER = 6_000  # of a matrix whose eigenproblem still ends in seconds
LARGEST_SVD = 3e11  # operations

GRID = [
    Case.of("200000x50", "float64", 10),
    Case.of("100000x200", "float32", 10),
    Case.of("50000x500", "float64", 10),
    Case.of("50000x500", "float64", 250),
    Case.of("20000x1000", "float64", 10),
    Case.of("20000x1000", "float64", 300),
    Case.of("20000x2000", "float32", 20),
    Case.of("10000x3000", "float64", 10),
    Case.of("1000x1000", "float64", 10),
    Case.of("1000x1000", "float64", 900),
    Case.of("3000x3000", "float64", 10),
    Case.of("3000x3000", "float64", 1000),
    Case.of("5000x5000", "float32", 20),
    Case.of("300x600", "float64", 5),
    Case.of("500x20000", "float64", 10),
    Case.of("500x20000", "float64", 499),
    Case.of("2000x10000", "float64", 50),
    Case.of("1000x30000", "float32", 10),
]
QUICK = [
    Case.of("2000x50", "float64", 5),
    Case.of("2000x50", "float32", 5),
    Case.of("400x400", "float64", 10),
    Case.of("300x600", "float64", 5),
    Case.of("300x600", "float64", 299),
]


def run(cases: Sequence[Case], settings: Settings, out: Path) -> None:
    """Every solver on every case; print how far auto is from the best."""
    results: dict[str, Any] = {"machine": demand("machine"), "cases": []}
    print(report.describe(results["machine"]))
    print(f"\n{'':34}" + "".join(f"{solver:>12}" for solver in SOLVERS) + f"{'chosen':>14}{'auto/best':>11}  best")
    for case, folder in with_data(cases, truth=False):
        record = _record(case, folder, settings)
        results["cases"].append(record)
        print(_row(case, record), flush=True)
        report.save(results, out / "planner.json")
    known = [record for record in results["cases"] if record["ratio"]]
    if known:
        worst = max(known, key=lambda record: record["ratio"])
        print(f"\nworst choice: {worst['ratio']:.2f}× the time of the best solver ({worst['title']})")


def hopeless(solver: str, n: int, d: int) -> bool:
    """Whether a solver is known beforehand to take far too long."""
    small = min(n, d)
    return {
        "covariance": d > LARGEST_ORDER,
        "gram": n > LARGEST_ORDER,
        "svd": 2.0 * n * d * small + 14.0 * small**3 > LARGEST_SVD,
    }.get(solver, False)


def _record(case: Case, folder: str, settings: Settings) -> dict[str, Any]:
    found = {}
    for solver in SOLVERS:
        hopes = not hopeless(solver, case.n, case.d)
        found[solver] = measured(f"{RITZ} {solver}", case, folder, settings) if hopes else {"status": "hopeless"}
    right = {solver: f for solver, f in found.items() if f["status"] == MEASURED and f["notes"]["satisfied"]}
    best = min(right, key=lambda solver: right[solver]["seconds"], default=None)
    ratio = right["auto"]["seconds"] / right[best]["seconds"] if "auto" in right else None
    chosen = found["auto"].get("notes", {}).get("solver")
    return {"title": case.title, "solvers": found, "chosen": chosen, "best": best, "ratio": ratio}


def _row(case: Case, record: dict[str, Any]) -> str:
    times = "".join(f"{_time(found):>12}" for found in record["solvers"].values())
    ratio = f"{record['ratio']:.2f}" if record["ratio"] else "-"
    return f"{case.title:34}{times}{record['chosen'] or '-':>14}{ratio:>11}  {record['best'] or '-'}"


def _time(found: dict[str, Any]) -> str:
    """Seconds; in brackets where the certificate was not satisfied, so that the time does not count."""
    if found["status"] != MEASURED:
        return found["status"] if found["status"].startswith(">") else "-"
    return f"{found['seconds']:.3g} s" if found["notes"]["satisfied"] else f"({found['seconds']:.3g} s)"
