"""Many random fits on all cores: how many of each route were judged, and every violated claim."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from os import cpu_count

import numpy as np
import threadpoolctl

from benchmarks.hunt import elsewhere, routes

ROUTES = (*routes.ROUTES, *elsewhere.ROUTES)
CHUNK = 250  # fits a process is given at a time
VERDICTS = ("held", "violated", "failed", "refused", "out of range")
Counts = Counter[tuple[str, str]]  # by route and verdict


def run(first: int, fits: int) -> int:
    """Print what was found; how many claims were violated."""
    start, counts = time.perf_counter(), Counts()
    for done, (counted, violated) in enumerate(_chunks(first, fits), start=1):
        counts += counted
        print(*violated, sep="\n", end="\n" * bool(violated), flush=True)
        if done * CHUNK % 10_000 == 0:
            print(f"{done * CHUNK:,} fits, {time.perf_counter() - start:.0f} s", flush=True)
    _print(counts)
    return sum(count for (_, verdict), count in counts.items() if verdict in ("violated", "failed"))


def _print(counts: Counts) -> None:
    print(f"\n{'route':12}" + "".join(f"{verdict:>14}" for verdict in VERDICTS))
    for route in dict.fromkeys(route.__name__ for route in ROUTES):
        print(f"{route:12}" + "".join(f"{counts[route, verdict]:>14,}" for verdict in VERDICTS))
    totals = [sum(count for (_, said), count in counts.items() if said == verdict) for verdict in VERDICTS]
    print(f"{'all':12}" + "".join(f"{total:>14,}" for total in totals))


def _chunks(first: int, fits: int) -> Iterator[tuple[Counts, list[str]]]:
    numbers = iter(range(first, first + fits))
    chunks = list(iter(lambda: list(islice(numbers, CHUNK)), []))
    with ProcessPoolExecutor(cpu_count(), mp_context=get_context("spawn")) as pool:
        yield from pool.map(judge_all, chunks)


def judge_all(numbers: list[int]) -> tuple[Counts, list[str]]:
    """The verdicts on these fits, by route, and the violated claims in words."""
    counts, violated = Counts(), []
    with warnings.catch_warnings(), threadpoolctl.threadpool_limits(1):
        warnings.simplefilter("ignore")
        for number in numbers:
            route, verdict, words = judge(number)
            counts[route, verdict] += 1
            violated += words
    return counts, violated


def judge(number: int) -> tuple[str, str, list[str]]:
    """Route, verdict and violated claims of one fit; everything in it follows from its number."""
    draw = np.random.default_rng(number)
    route = ROUTES[draw.integers(len(ROUTES))]
    try:
        fit = route(draw)
    except ValueError:  # what no model can be made of
        return route.__name__, "refused", []
    except Exception as error:  # anything else is a fault, and the hunt goes on
        return route.__name__, "failed", [f"{number}, {route.__name__}: {type(error).__name__}: {error}"]
    if fit is None:
        return route.__name__, "out of range", []
    violated = fit.violations()
    return route.__name__, "violated" if violated else "held", [f"{number}, {fit.what}: {claim}" for claim in violated]
