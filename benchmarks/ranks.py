"""How often each rule finds the number of components that was planted, and what the panel costs beside one fit.

    python -m benchmarks ranks                  the share of runs in which each rule is right: about five minutes
    python -m benchmarks ranks --repeat 20      fewer runs
    python -m benchmarks ranks --speed          the panel, and "auto", beside PCA(10).fit

Components are as large as so many times the largest variance of the noise of the same run. A line says the worst of all
shapes: a rule holds where it is right in 95 of 100 runs of every one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

Matrix = np.ndarray

SHAPES = ((300, 40), (40, 300), (100, 100), (1000, 100))
NOISE: dict[str, Callable[[np.random.Generator, int, int], Matrix]] = {
    "equal": lambda rng, n, d: rng.standard_normal((n, d)),
    "unequal columns": lambda rng, n, d: rng.standard_normal((n, d)) * np.geomspace(1, 5, d),
    "unequal rows": lambda rng, n, d: rng.standard_normal((n, d)) * np.geomspace(1, 5, n)[:, None],
    "t, 5 degrees of freedom": lambda rng, n, d: rng.standard_t(5, (n, d)),
    "rows of a time series": lambda rng, n, d: _autoregressive(rng, n, d),
}
PLANTED: dict[str, tuple[float, ...]] = {
    "none": (),
    "3, 4, 6 × the noise": (6.0, 4.0, 3.0),
    "30, 1000, 10⁶ × the noise": (1e6, 1e3, 30.0),
    "1.5 × the noise": (1.5,),
}
RUNS = 100


def planted(rng: np.random.Generator, n: int, d: int, noise: str, sizes: tuple[float, ...]) -> Matrix:
    """Rows with components of these variances, as multiples of the largest variance of the noise."""
    E = NOISE[noise](rng, n, d)
    edge = np.linalg.norm(E - E.mean(axis=0), 2)
    scores, axes = (np.linalg.qr(rng.standard_normal((m, max(1, len(sizes)))))[0][:, : len(sizes)] for m in (n, d))
    return np.asarray(E + edge * scores * np.sqrt(sizes) @ axes.T)


def _autoregressive(rng: np.random.Generator, n: int, d: int) -> Matrix:
    from scipy.signal import lfilter

    return np.asarray(lfilter([1.0], [1.0, -0.7], rng.standard_normal((n, d)), axis=0))


def right(noise: str, sizes: tuple[float, ...], runs: int) -> dict[str, float]:
    """The share of runs in which each rule finds the number of components, in the worst of the shapes."""
    from ritz import choose_rank

    worst: dict[str, float] = {}
    for n, d in SHAPES:
        hits: dict[str, list[bool]] = {}
        for run in range(runs):
            rng = np.random.default_rng([run, n, d])
            panel = choose_rank(planted(rng, n, d, noise, sizes), random_state=run)
            for name, found in panel.rules.items():
                if found.k is not None:
                    hits.setdefault(name, []).append(found.k == len(sizes))
        for name, of_rule in hits.items():
            worst[name] = min(worst.get(name, 1.0), float(np.mean(of_rule)))
    return worst


def regimes(runs: int) -> None:
    """A line for every noise and size, a column for every rule."""
    for noise in NOISE:
        for what, sizes in PLANTED.items():
            found = right(noise, sizes, runs)
            told = ", ".join(f"{name} {100 * share:.0f}" for name, share in found.items() if "%" not in name)
            print(f"{noise}; planted {what}: {told}", flush=True)


def speed(repeat: int) -> None:
    """Seconds of one fit, of "auto" and of the panel, in turns in one process; the best of each."""
    from ritz import PCA, choose_rank

    for n, d in ((20_000, 500), (200_000, 50), (500, 5_000), (1_797, 64)):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d)) + (
            rng.standard_normal((n, 5)) * np.geomspace(30, 5, 5) @ np.linalg.qr(rng.standard_normal((d, 5)))[0].T
        )
        work: dict[str, Callable[[], object]] = {
            "fit": lambda X=X: PCA(10).fit(X),  # type: ignore[misc]
            "auto": lambda X=X: PCA("auto").fit(X),  # type: ignore[misc]
            "panel": lambda X=X: choose_rank(X),  # type: ignore[misc]
        }
        best = dict.fromkeys(work, np.inf)
        for _ in range(repeat):
            for name, do in work.items():
                begun = time.perf_counter()
                do()
                best[name] = min(best[name], time.perf_counter() - begun)
        fit = best["fit"]
        print(
            f"{n}×{d}: one fit {fit * 1e3:.1f} ms, auto {best['auto'] / fit:.1f} fits, "
            f"panel {best['panel'] / fit:.1f} fits",
            flush=True,
        )


def run(repeat: int | None, timed: bool) -> None:
    """The speed, or the regimes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if timed:
            speed(repeat or 5)
        else:
            regimes(repeat or RUNS)
