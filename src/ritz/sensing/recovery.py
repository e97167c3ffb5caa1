"""Signals from measurements: batches on all cores, rows scaled to length 1 and back, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.fft

from ritz.linalg.dense import Array
from ritz.runtime import threads
from ritz.sensing.base import SATURATED, Found, Goal, Solver, pursuit_gap
from ritz.sensing.certificate import PER_SIGNAL, RecoveryCertificate
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.lasso import least_squares, signed_dual
from ritz.sensing.phase_transition import determined, telling

BATCH = 1 << 17  # coefficients of a batch of signals
SHARES, LEAST = 8, 16  # at least so many batches, but of no fewer signals than this
SMALL = 1 << 24  # multiplications up to which the threads of BLAS cost more than they save
ALL_NOISE = 1e100  # standard deviation, relative to ‖y‖, beyond which more makes no difference
NEGLIGIBLE = 1e-3  # share of the energy that the coefficients left out of the sparsity may hold


@dataclass(frozen=True, eq=False)
class Part:
    """The result of a batch of signals, and its rows of the certificate's columns."""

    output: Array
    columns: dict[str, Array]


def parts(
    A: Dictionary, Y: Array, solver: Solver, goal: Goal, output: Callable[[Array], Array]
) -> Generator[Part, None, None]:
    """`output` of the coefficients of every batch of measurements, in order.

    Batches do not depend on the number of threads. A single batch leaves the cores to the transforms, and to BLAS where
    its products are large enough.
    """
    for name in ("coherence", *solver.uses):
        getattr(A, name)  # once, before threads ask for it
    step = max(1, min(BATCH // max(A.shape), max(LEAST, -(-len(Y) // SHARES))))
    starts = range(0, len(Y), step)

    def part(start: int) -> Part:
        batch = slice(start, start + step)
        some = replace(goal, noise=goal.noise[batch])
        found = recovered(A, Y[batch], solver, some)
        return Part(output(found.codes), _columns(found, A, some))

    if len(starts) == 1:
        with by_all_cores(blas=A.held is not None and 1.0 * len(Y) * A.shape[0] * A.shape[1] > SMALL):
            yield part(0)
    else:
        with closing(threads.ordered(part, starts, threads.pinned.budget())) as found:
            yield from found


@contextmanager
def by_all_cores(blas: bool = True) -> Iterator[None]:
    """All cores for the transforms of one batch; BLAS keeps its own threads where it does the work."""
    with scipy.fft.set_workers(threads.pinned.budget()), nullcontext() if blas else threads.team():
        yield


def recovered(A: Dictionary, Y: Array, solver: Solver, goal: Goal) -> Found:
    """Coefficients of a batch, and how well they explain it. What is 0 comes back as 0."""
    peak = np.abs(Y).max(axis=1)
    units = np.where(peak > 0, peak, 1.0)
    lengths = np.linalg.norm(Y / units[:, None], axis=1)  # ‖y‖/unit: squares of y itself may overflow
    all_found, rows = Found.nothing(len(Y), A.shape[1]), np.flatnonzero(lengths)
    if not len(rows):
        return all_found
    Z = Y[rows] / units[rows, None] / lengths[rows, None]
    with np.errstate(over="ignore"):
        scaled = replace(goal, noise=np.minimum(goal.noise[rows] / units[rows] / lengths[rows], ALL_NOISE))
    found = solver.recover(A, Z, scaled)
    if goal.sparsity is not None:
        _keep_largest(A, Z, found, goal.sparsity)
    found.residuals[:] = np.linalg.norm(Z - A.apply(found.codes), axis=1)
    found.within[:] = found.residuals <= scaled.level(A.shape[0])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found.codes[:] *= (lengths * (units / A.unit))[rows, None]
    found.converged[:] &= np.isfinite(found.gaps) & np.isfinite(found.codes).all(axis=1)
    all_found.put(rows, found)
    return all_found


def _keep_largest(A: Dictionary, Y: Array, found: Found, most: int) -> None:
    """The largest coefficients alone, fitted anew, where there are more; what was said of the others is void."""
    codes = found.codes
    rows = np.flatnonzero(np.count_nonzero(codes, axis=1) > most)
    if not len(rows):
        return
    support = np.zeros((len(rows), codes.shape[1]), bool)
    np.put_along_axis(support, np.argsort(-np.abs(codes[rows]), axis=1, kind="stable")[:, :most], True, axis=1)
    codes[rows], found.saturated[rows] = least_squares(A, Y[rows], codes[rows], support), False
    exact = rows[found.penalties[rows] == 0]
    if len(exact):
        found.gaps[exact] = pursuit_gap(A, codes[exact], signed_dual(A, codes[exact]))


def _columns(found: Found, A: Dictionary, goal: Goal) -> dict[str, Array]:
    """What the certificate says of every signal of a batch, by the name of its column."""
    rank, p = A.coherence.rank, A.shape[1]
    size, sparsity = np.count_nonzero(found.codes, axis=1), _sparsity(found.codes)
    fits = found.within & ((size > 0) | (found.residuals == 0))  # large noise accounts for everything by no code
    explained = fits & (telling(size, found.residuals, rank, p) | (rank >= p))
    saturated = found.saturated | ((size > SATURATED * rank) & (size > 0))
    overfitted = saturated | (fits & (goal.noise == 0))
    hopeless = ~explained & (overfitted | (sparsity > determined(rank, p)))
    return {
        "support_size": size,
        "sparsity": sparsity,
        "residual": found.residuals,
        "duality_gap": found.gaps,
        "penalty": found.penalties,
        "exact_recovery": found.exact_recovery,
        "converged": found.converged,
        "explained": explained,
        "hopeless": hopeless & (rank < p) & (found.converged | (goal.max_iter is None)),
        "iterations": found.iterations,
    }


def _sparsity(codes: Array) -> Array:  # (b, p) -> (b,)
    """The fewest coefficients that hold nearly all of the energy."""
    largest = np.abs(codes).max(axis=1, initial=0.0)
    energy = np.sort(np.square(codes / np.where(largest > 0, largest, 1.0)[:, None]), axis=1)  # ascending
    left_out = np.cumsum(energy, axis=1) <= NEGLIGIBLE * energy.sum(axis=1, keepdims=True)
    return np.where(largest > 0, energy.shape[1] - left_out.sum(axis=1), 0)


def certified(blank: RecoveryCertificate, columns: list[dict[str, Array]]) -> RecoveryCertificate:
    """The certificate of all batches."""
    known: dict[str, Any] = {name: np.concatenate([part[name] for part in columns]) for name in PER_SIGNAL}
    return replace(blank, **known)
