"""What is asked after a fit, beside a transform of the same rows.

    python -m benchmarks after                         200,000 × 100, 10 components
    python -m benchmarks after --shape 20000x1000 -k 5

All questions are asked in turns in one process, and the best time of each counts: read the ratios, of the clock and of
the processor, which others on the machine disturb less. A pass is what interpretation does with rows; tables are what
it makes of a pass, for every row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import ritz
from benchmarks.cases import Case
from ritz.interpretation.given import Given
from ritz.interpretation.sums import Beside, origin_of, summed

GROUPS, BESIDE = 5, 3  # categories, and columns of numbers, that stand beside the rows


def run(cases: Iterable[Case], repeat: int, quick: bool) -> None:
    """A line for each question, for the data as it is and scaled."""
    shapes = [(case.n, case.d, case.k) for case in cases] or [(2_000, 20, 3) if quick else (200_000, 100, 10)]
    for n, d, k in shapes:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d)) * np.linspace(3, 1, d) + 5
        for scale in (False, True):
            title = f"{n} × {d}, {k} components{', scaled' if scale else ''}: times a transform"
            print(f"\n{title:<50}{'clock':>6}{'processor':>12}")
            pca = ritz.PCA(k, scale=scale).fit(X)
            best = _in_turns(_questions(pca, X, rng), repeat)
            clock, processor = best["transform"]
            for name, seconds in best.items():
                print(f"  {name:<48}{seconds[0] / clock:6.2f}{seconds[1] / processor:12.2f}")


def _questions(pca: Any, X: np.ndarray, rng: np.random.Generator) -> dict[str, Callable[[], Any]]:
    values, labels = X[:, :BESIDE] ** 2, np.array(list("abcde"))[rng.integers(0, GROUPS, len(X))]
    subspace, rows = pca.subspace_, ritz.read(X)
    origin = origin_of(rows, subspace)
    numbers, groups = (Beside.of(Given.of(*given, X, len(X)), True) for given in ((values, None), (None, labels)))

    def tables() -> Any:
        found = ritz.interpret(pca, X).rows
        return found.coordinates, found.distances, found.contributions, found.cos2

    def blocks() -> None:
        for found in ritz.interpret(pca, X).rows.blocks():
            _ = found.coordinates, found.distances, found.contributions, found.cos2

    return {
        "transform": lambda: pca.transform(X),
        "summary": lambda: pca.summary(),
        "tables of columns": lambda: ritz.interpret(pca, X),
        "coordinates and distances of rows": lambda: ritz.interpret(pca, X).rows.distances,
        "all tables of rows": tables,
        "all tables of rows, block by block": blocks,
        "leading rows": lambda: ritz.interpret(pca, X).rows.leading(),
        f"pass with {BESIDE} supplementary columns": lambda: summed(rows, subspace, numbers, origin),
        f"pass with {GROUPS} categories": lambda: summed(rows, subspace, groups, origin),
        f"interpret with {BESIDE} supplementary columns": lambda: ritz.interpret(pca, X, supplementary=values),
        f"interpret with {GROUPS} categories, from text": lambda: ritz.interpret(pca, X, labels=labels),
    }


def _in_turns(questions: dict[str, Callable[[], Any]], repeat: int) -> dict[str, tuple[float, float]]:
    """The best time of each, by the clock and of the processor."""
    best = dict.fromkeys(questions, (np.inf, np.inf))
    for _ in range(max(3, repeat)):
        for name, ask in questions.items():
            start = time.perf_counter(), time.process_time()
            ask()
            found = time.perf_counter() - start[0], time.process_time() - start[1]
            best[name] = min(best[name][0], found[0]), min(best[name][1], found[1])
    return best
