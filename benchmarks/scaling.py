"""How the time of a fit grows with n, d and k, and the exponents of the power laws that fit best."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import plot, report
from benchmarks.cases import Case
from benchmarks.contenders import RITZ
from benchmarks.harness import MEASURED, Settings, demand, measured, with_data

SHOWN = (RITZ, report.DEFAULT_PEER)
Point = tuple[int, float, str]  # size, seconds, solver
Law = tuple[str, str, list[Case]]  # the variable, what is held fixed, the cases


def laws(quick: bool, dtype: str) -> list[Law]:
    """Geometric sequences, one variable at a time."""
    if quick:
        n, d, narrow = 2_000, 200, 64
        ns, ds, ks = [2**i for i in range(10, 14)], [32, 64, 128, 256], [5, 10, 20, 40]
    else:
        n, d, narrow = 20_000, 1_000, 256
        ns, ds = [2**i for i in range(13, 19)], [2**i for i in range(7, 13)]
        ks = [5 * 2**i for i in range(7)]
    return [
        ("n", f"rows n, at d = {narrow}, k = 10", [Case(size, narrow, dtype, 10) for size in ns]),
        ("d", f"columns d, at n = {n}, k = 10", [Case(n, size, dtype, 10) for size in ds]),
        ("k", f"components k, of {n}×{d}", [Case(n, d, dtype, size) for size in ks]),
    ]


def run(quick: bool, dtype: str, settings: Settings, out: Path) -> None:
    """Measure the three laws, print and draw them."""
    results: dict[str, Any] = {"machine": demand("machine"), "laws": []}
    print(report.describe(results["machine"]))
    for law in laws(quick, dtype):
        print(f"\n{law[1]}", flush=True)
        results["laws"].append(_measured_law(law, settings))
        report.save(results, out / "scaling.json")
    plot.scaling(results, out / "scaling.png")


def _measured_law(law: Law, settings: Settings) -> dict[str, Any]:
    variable, heading, cases = law
    points: dict[str, list[Point]] = {name: [] for name in SHOWN}
    for case, folder in with_data(cases, truth=False):
        size = getattr(case, variable)
        found = {name: measured(name, case, folder, settings) for name in SHOWN}
        for name, result in found.items():
            if result["status"] == MEASURED:
                points[name].append((size, result["seconds"], result["notes"]["solver"]))
        times = "   ".join(f"{name} {_shown(result)}" for name, result in found.items())
        print(f"  {variable} = {size:<8} {times}", flush=True)
    curves = {name: _curve(of) for name, of in points.items() if len(of) > 1}
    for name, curve in curves.items():
        print(f"  {name}: time grows as {variable}^{curve['exponent']:.2f}")
    return {"variable": variable, "title": heading, "curves": curves}


def _curve(points: Sequence[Point]) -> dict[str, Any]:
    """The least-squares line through the logarithms."""
    sizes, seconds, solvers = (list(part) for part in zip(*points, strict=True))
    exponent, intercept = np.polyfit(np.log(sizes), np.log(seconds), 1)
    law = {"exponent": float(exponent), "factor": float(np.exp(intercept))}
    return {"sizes": sizes, "seconds": seconds, "solvers": solvers, **law}


def _shown(result: dict[str, Any]) -> str:
    if result["status"] != MEASURED:
        return result["status"]
    return f"{result['seconds']:.3g} s ({result['notes']['solver']})"
