"""1,000 resamples: `ritz.bootstrap` beside an SVD by LAPACK of each of them."""

from __future__ import annotations

from time import perf_counter

import numpy as np

import ritz

SHAPES = ((5000, 50), (100, 20_000), (1000, 30), (200, 2000))
K, RESAMPLES = 5, 1000
COMPARED = 20  # resamples that LAPACK decomposes; the quickest stands for all


def data(n: int, d: int) -> np.ndarray:
    """Five components above noise."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((n, K)) * [9.0, 7, 5, 4, 3] * max(1.0, (d / n) ** 0.25)
    return np.asarray(scores @ np.linalg.qr(rng.standard_normal((d, K)))[0].T * 2 + rng.standard_normal((n, d)))


def by_lapack(X: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, float]:
    """Variances of the resamples, and the seconds that the quickest of them takes."""
    found, best = [], np.inf
    for line in indices:
        start = perf_counter()
        Y = X[line]
        found.append(np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)[1][:K] ** 2 / (len(Y) - 1))
        best = min(best, perf_counter() - start)
    return np.array(found), best


def run(quick: bool, repeat: int) -> None:
    """A line for every shape: seconds, how many times as long LAPACK takes, and how far the variances are apart."""
    print("| rows × columns | method | 1,000 resamples | LAPACK | times | largest relative difference |")
    print("|---|---|---|---|---|---|")
    for n, d in SHAPES if not quick else ((500, 20), (50, 500)):
        X = data(n, d)
        pca = ritz.PCA(K).fit(X)
        indices = np.random.default_rng(1).integers(0, n, (COMPARED, n))
        ours, theirs = np.inf, np.inf
        for _ in range(repeat):  # in turn, so that both see the same machine
            start = perf_counter()
            found = ritz.bootstrap(pca, X, RESAMPLES)
            ours = min(ours, perf_counter() - start)
            truth, best = by_lapack(X, indices)
            theirs = min(theirs, best * RESAMPLES)
        draws = ritz.bootstrap(pca, X, indices=indices).draws
        off = np.max(np.abs(draws / truth - 1))
        print(
            f"| {n} × {d} | {found.method} | {ours:.2f} s | {theirs:.2g} s | {theirs / ours:.0f} | {off:.0e} |",
            flush=True,
        )
