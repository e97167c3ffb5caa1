"""Odd rows: how often limits are exceeded by chance, and what monitoring costs beside a transform.

False alarms are shares of rows beyond a limit over its level: 1 is what it promises. Every line is a spectrum, a shape
and k; fits and their new rows are drawn afresh, normal ones unless said otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

import ritz
from ritz.monitoring.result import Monitoring

SPECTRA: dict[str, Callable[[int, int], np.ndarray]] = {
    "components above noise": lambda d, k: np.r_[10.0 * 4 ** np.linspace(1, 0, k), np.ones(d - k)],
    "1/i": lambda d, k: 1 / np.arange(1.0, d + 1),
    "geometric": lambda d, k: 0.7 ** np.arange(d),
    "noise alone": lambda d, k: np.ones(d),
}
SHAPES = [(20, 10, 2), (40, 20, 3), (100, 50, 5), (100, 10, 3), (500, 10, 3), (50, 100, 3)]
QUICK = [(40, 20, 3), (100, 10, 3)]
SPEED = [(200_000, 100, 10), (20_000, 1000, 20)]
METHODS = ("auto", "jm")


def run(quick: bool, fits: int, repeat: int) -> None:
    """Both tables."""
    false_alarms(QUICK if quick else SHAPES, fits)
    speed([(20_000, 100, 10)] if quick else SPEED, repeat)


def false_alarms(shapes: list[tuple[int, int, int]], fits: int) -> None:
    print(f"False alarms over their level, {fits} fits each: new rows by limits auto and jm, rows of the fit by auto")
    head = "".join(f"{f'{statistic} {level}%':>7}" for statistic in ("T²", "SPE") for level in (5, 1)) + "  "
    print(f"{'':40}" + "".join(f"{name:30}" for name in ("new, auto", "new, jm", "fit, auto")))
    print(f"{'n × d, k, spectrum':40}" + 3 * head)
    for n, d, k in shapes:
        for name, spectrum in SPECTRA.items():
            found = shares(n, d, k, np.sqrt(spectrum(d, k)), fits)
            cells = "".join("".join(f"{value:7.2f}" for value in part) + "  " for part in found)
            print(f"{f'{n} × {d}, {k}, {name}':40}{cells}", flush=True)


def shares(n: int, d: int, k: int, deviations: np.ndarray, fits: int, seed: int = 0) -> list[np.ndarray]:
    """Rows beyond limits over their level: T² at 5 and 1 %, SPE at 5 and 1 %."""
    rng = np.random.default_rng(seed)
    totals = [np.zeros(4) for _ in range(3)]
    for _ in range(fits):
        X, new = (rng.standard_normal((rows, d)) * deviations for rows in (n, 2000))
        pca = ritz.PCA(k, svd_solver="covariance").fit(X)
        cases = [(new, "new", method) for method in METHODS] + [(X, "fit", "auto")]
        for total, (rows, kind, method) in zip(totals, cases, strict=True):
            total += beyond(pca.monitor(rows, rows=kind, limits=method))
    return [total / fits for total in totals]


def beyond(found: Monitoring) -> np.ndarray:
    """The share of rows beyond each limit over its level."""
    flags = (found.t2_flags, found.spe_flags)
    return np.array([np.mean(flag > i) / alpha for flag in flags for i, alpha in enumerate(found.alpha)])


def speed(shapes: list[tuple[int, int, int]], repeat: int) -> None:
    print("\nMonitoring over a transform of the same rows: best of several, in turn")
    for n, d, k in shapes:
        X = factors(n, d, k)
        pca = ritz.PCA(k).fit(X)
        start = time.perf_counter()
        pca.monitor(X[1:])  # limits of new rows are simulated once
        first = time.perf_counter() - start
        best = dict.fromkeys(("transform", "rows of the fit", "new rows"), np.inf)
        for _ in range(repeat):
            for name, seconds in timed(pca, X):
                best[name] = min(best[name], seconds)
        ratios = ", ".join(f"{name} {best[name] / best['transform']:.2f}" for name in list(best)[1:])
        print(f"{n} × {d}, k={k}: transform {best['transform']:.4f} s; {ratios}; the first call {first:.3f} s")


def factors(n: int, d: int, k: int) -> np.ndarray:
    """k factors and noise, away from 0."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + rng.standard_normal((n, d)) + 1


def timed(pca: ritz.PCA, X: np.ndarray) -> Iterator[tuple[str, float]]:
    work = {
        "transform": lambda: pca.transform(X),
        "rows of the fit": lambda: pca.monitor(X),
        "new rows": lambda: pca.monitor(X, rows="new"),
    }
    for name, f in work.items():
        start = time.perf_counter()
        f()
        yield name, time.perf_counter() - start
