"""Where recovery begins: the share of sparse signals that come back, beside the curve of Donoho and Tanner.

s coefficients out of N, standard normal at random places, are seen through m Gaussian measurements and recovered by
minimising the l1 norm. For large N nearly all come back below a curve in the plane of m/N and s/m, and nearly none
above it (Donoho and Tanner, Phil. Trans. R. Soc. A 367, 2009); `ritz.sensing.phase_transition` computes it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.contenders import cores
from benchmarks.harness import demand

N = 400
RECOVERED = 1e-4  # relative error of the coefficients
PER_MATRIX = 10  # signals that are seen through the same measurements


@dataclass(frozen=True)
class Point:
    """m/N and s/m, and the share of signals that is to come back there: at least, or at most."""

    measured: float
    sparse: float
    least: float = 0.0
    most: float = 1.0

    def holds(self, share: float) -> bool:
        return self.least <= share <= self.most

    @property
    def asked(self) -> str:
        return f"at least {self.least:.0%}" if self.least else f"at most {self.most:.0%}"


CHECKED = (
    Point(0.5, 0.2, least=0.95),
    Point(0.25, 0.12, least=0.95),
    Point(0.5, 0.55, most=0.05),
    Point(0.25, 0.45, most=0.05),
)


@dataclass(frozen=True)
class Extent:
    """Which m/N and s/m the grid has, the signals of each of its cells, and those of the checked points by solver."""

    measured: tuple[float, ...]
    sparse: tuple[float, ...]
    signals: int
    checked: dict[str, int]


WHOLE = Extent(
    measured=tuple(i / 10 for i in range(1, 10)),
    sparse=tuple(0.05 + 0.075 * i for i in range(10)),
    signals=20,
    checked={"fista": 100, "basis-pursuit": 30},
)
QUICK = Extent(measured=(0.2, 0.4), sparse=(0.1, 0.3, 0.5), signals=4, checked={"fista": 10, "basis-pursuit": 2})


# What is measured


def sparse_codes(rng: np.random.Generator, n: int, length: int, sparsity: int) -> np.ndarray:
    """n rows with so many coefficients other than 0, standard normal, at random places."""
    codes = np.zeros((n, length))
    for row in codes:
        row[rng.choice(length, sparsity, replace=False)] = rng.standard_normal(sparsity)
    return codes


def recovered_shares(length: int, m: int, sparsities: list[int], signals: int, solver: str) -> list[float]:
    """The share of signals that come back from m measurements, for each number of coefficients.

    On one core: matrices this small are multiplied no faster by two, and other processes are at work beside this one.
    """
    from threadpoolctl import threadpool_limits

    from ritz.errors import AccuracyWarning

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # signals beyond hope are the point here
        return [_share(length, m, sparsity, signals, solver) for sparsity in sparsities]


def _share(length: int, m: int, sparsity: int, signals: int, solver: str) -> float:
    from ritz import CompressedSensing

    rng, recovered = np.random.default_rng([m, sparsity]), 0
    for start in range(0, signals, PER_MATRIX):
        codes = sparse_codes(rng, min(PER_MATRIX, signals - start), length, sparsity)
        seed = int(rng.integers(1 << 31))
        model = CompressedSensing(m, basis=np.eye(length), solver=solver, random_state=seed).fit(codes)
        found = model.recover(model.transform(codes)).coefficients
        off = np.linalg.norm(found - codes, axis=1) / np.linalg.norm(codes, axis=1)
        recovered += int(np.count_nonzero(off < RECOVERED))
    return recovered / signals


# The tables


def run(extent: Extent) -> dict[str, Any]:
    """Measure the grid and the checked points, and print them as it goes."""
    print(f"\nsignals of length {N} recovered by the least l1 norm, s coefficients from m measurements")
    print(f"{extent.signals} signals a cell by fista; right of | the curve of Donoho and Tanner expects failure")
    print(f"{'m/N':>6}{'s/m':>6}" + "".join(f"{rho:8.3f}" for rho in extent.sparse), flush=True)
    grid = []
    for measured, shares in zip(extent.measured, _shares_of(extent), strict=True):
        print(_row(measured, extent.sparse, shares), flush=True)
        grid.append(shares)
    return {
        "length": N,
        "measured": extent.measured,
        "sparse": extent.sparse,
        "signals": extent.signals,
        "shares": grid,
        "checked": _checked(extent.checked),
    }


def _shares_of(extent: Extent) -> Iterator[list[float]]:
    """A row of the grid for each m/N, every one in a process of its own, as many at a time as there are cores."""

    def shares(measured: float) -> list[float]:
        m = round(measured * N)
        sparsities = [_coefficients(rho, m) for rho in extent.sparse]
        asked = {"length": N, "m": m, "sparsities": sparsities, "signals": extent.signals, "solver": "fista"}
        return demand("recovered_shares", **asked)["answer"]

    with ThreadPoolExecutor(cores()) as pool:
        yield from pool.map(shares, extent.measured)


def _coefficients(sparse: float, m: int) -> int:
    return max(1, round(sparse * m))


def _row(measured: float, sparse: tuple[float, ...], shares: list[float]) -> str:
    from ritz.sensing.phase_transition import determined

    m = round(measured * N)
    few = determined(m, N)
    inside = [_coefficients(rho, m) <= few for rho in sparse]
    marks = ["|" if before and not here else " " for before, here in zip([True, *inside], inside, strict=False)]
    return f"{measured:6.2f}{'':6}" + "".join(
        f"{mark:>3}{share:5.0%}" for mark, share in zip(marks, shares, strict=True)
    )


def _checked(signals: dict[str, int]) -> list[dict[str, Any]]:
    """The points that are promised, by each solver, with the verdict."""
    print("\npoints that are promised", flush=True)
    asked = [(solver, point) for solver in signals for point in CHECKED]

    def share(solver: str, point: Point) -> float:
        m = round(point.measured * N)
        what = {"length": N, "m": m, "sparsities": [_coefficients(point.sparse, m)]}
        return demand("recovered_shares", signals=signals[solver], solver=solver, **what)["answer"][0]

    found = []
    with ThreadPoolExecutor(cores()) as pool:
        for (solver, point), reached in zip(asked, pool.map(share, *zip(*asked, strict=True)), strict=True):
            verdict = "as asked" if point.holds(reached) else "NOT as asked"
            where = f"m/N = {point.measured:<5g} s/m = {point.sparse:<5g} {solver:14}"
            print(f"  {where}{reached:5.0%} of {signals[solver]:<4} {verdict}: {point.asked}", flush=True)
            at = {"solver": solver, "measured": point.measured, "sparse": point.sparse, "signals": signals[solver]}
            found.append({**at, "share": reached, "asked": point.asked, "holds": point.holds(reached)})
    return found
