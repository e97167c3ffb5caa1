"""Block Krylov: block Lanczos with full reorthogonalisation and thick restarts, from a random start."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ritz.linalg.dense import LARGE, Array
from ritz.operators import Operator
from ritz.operators.base import trusted
from ritz.runtime.threads import team
from ritz.solvers.base import (
    Basis,
    Iterative,
    Outside,
    Step,
    block_width,
    capacity,
    measured_gap,
    slow,
    starting_block,
    target,
    worst_step,
)
from ritz.solvers.lanczos import KrylovSpace
from ritz.solvers.probes import Probes
from ritz.solvers.single import by_single_vectors, worth_single_vectors

MOST_ITER = 500  # products with A, unless told
USUAL = 10  # scikit-learn's default for oversampling
SPARE = 16  # Ritz vectors beyond those asked for that are kept for the certificate
AHEAD = 3  # products before the expected end at which probes set out
LOOKS = 3  # products of probes that look for what was missed
PROBED = 10  # products after which a probe has said what it can


@dataclass(frozen=True, eq=False)
class Krylov(Iterative):
    """Rayleigh–Ritz in span{G, A G, A² G, …} with a random block G: one product with A per step.

    A step costs no more than a step of orthogonal iteration with so few columns, and the best polynomial over all
    products so far replaces the last power alone. When the basis is full, its leading Ritz vectors start the next one.

    Parameters
    ----------
    max_iter : products with A; probes for completeness may add up to 13
    oversample : 10 gives the block its usual width; every one more widens it by a column, every one less narrows it
    start : (dim,) or (dim, b) array, where to begin; random otherwise

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> A = np.diag(1.0 / np.arange(1, 301))
    >>> found = ritz.eigen(A, 3, ritz.solvers.Krylov(max_iter=50))
    >>> found.values.round(6)
    array([1.      , 0.5     , 0.333333])
    >>> power = ritz.eigen(A, 3, "power")  # a product for one vector in every iteration
    >>> found.history[-1].iteration < len(power.history)
    True
    """

    max_iter: int = MOST_ITER
    oversample: int = USUAL
    start: Array | None = None

    @team()  # BLAS threads that spin after a small product would keep the next pass from its cores
    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        single = self._usual and A.is_dense and not A.negativity
        if single and tol is not None and worth_single_vectors(A.dim, k, tol):
            found = by_single_vectors(A, k, tol, rng)
            if found is not None:
                return found
        return self._by_blocks(A, k, tol, rng)

    @property
    def _usual(self) -> bool:
        """Whether nobody has said how to go about it."""
        return self.start is None and self.oversample == USUAL and self.max_iter >= MOST_ITER

    def _by_blocks(self, A: Operator, k: int, tol: float | None, rng: np.random.Generator) -> Basis:
        usual = block_width(k, 1 if A.is_dense else A.free_columns)
        width, wanted = min(max(1, usual + self.oversample - USUAL), A.dim), min(k + 1, A.dim)
        space = KrylovSpace(A, starting_block(self.start, A.dim, width, rng), capacity(A.dim, k, width), rng)
        completeness = _Completeness(space, k, rng)
        most = max(self.max_iter, -(-wanted // width))  # fewer would not fill a basis
        history: list[Step] = []
        next_look, departure = 0, np.inf
        for iteration in range(1, most + 1):
            if iteration > departure and completeness.probes is None:
                completeness.probes = Probes(space.Q, rng)
            space.expand(completeness.probes)
            final = iteration == most or space.exhausted
            if space.size < wanted or not (final or space.full or iteration >= next_look):
                continue
            space.rayleigh_ritz(k + SPARE + 1)
            goal = target(A, 1e-6 if tol is None else tol, float(space.values[0]))
            history.append(worst_step(iteration, space.values, space.residuals(k, goal), history))
            expected = _steps_left(history, goal)
            if final or not expected:
                missed = completeness.missed(goal, may_multiply=iteration < most)
                if missed is None:
                    break
                space.widen(missed)
            if space.full:
                space.restart()
                completeness.probes = None  # what they are orthogonal to was overwritten
            # Ritz vectors are looked at well before the expected end, and before a third more steps are done; beside a
            # matrix, where a look takes as long as a step, before half as many are.
            next_look = iteration + max(1, int(min(0.8 * expected, (0.5 if A.is_dense else 0.35) * iteration)))
            departure = np.inf if A.is_dense else iteration + expected - AHEAD
        note = slow(history, measured_gap(space.values, k)) if expected > 0 and not space.exhausted else ""
        return completeness.basis(tuple(history), note)


def _steps_left(history: list[Step], goal: float) -> float:
    """How many more steps the residuals' decay promises, 0 when the goal is reached."""
    last = history[-1]
    if last.residual <= goal:
        return 0.0
    if len(history) < 2 or goal <= 0 or history[-2].residual <= 0:
        return np.inf
    before = history[-2]
    gained = np.log(before.residual / last.residual) / (last.iteration - before.iteration)
    return float(np.log(last.residual / goal) / max(gained, 0.1))


class _Completeness:
    """Whether something larger than the components asked for was missed: by the trace, or by random probes.

    A block of b columns finds at most b vectors of one eigenvalue: residuals alone would not tell. Probes that set out
    before the end are multiplied in the passes of the space, `outside` is the verdict.
    """

    def __init__(self, space: KrylovSpace, k: int, rng: np.random.Generator) -> None:
        self._space, self._A, self._k, self._rng = space, space.A, k, rng
        self._rounds = 1  # of probes that were asked for a verdict
        self.probes: Probes | None = None
        self.outside = Outside(np.inf)

    def missed(self, goal: float, may_multiply: bool) -> Array | None:
        """Directions of what was surely missed; None where nothing was, or where nobody can tell."""
        enough = float(self._space.values[self._k - 1]) + goal
        self.outside, probes = self._verdict(enough, may_multiply)
        if self._settled(self.outside, enough, may_multiply):
            return None
        self._rounds += 1
        largest = enough + self._A.rounding
        if probes is not None and probes.steps >= LOOKS and probes.at_least <= largest:
            return None
        probes = Probes(self._space.Q, self._rng)  # the earlier ones may see what has been found since they set out
        for _ in range(LOOKS):
            self._multiply(probes)
        return probes.columns if probes.at_least > largest else None

    def _verdict(self, enough: float, may_multiply: bool) -> tuple[Outside, Probes | None]:
        """The norm of A outside the vectors kept: from the trace, or from probes multiplied until it is low enough."""
        space, probes = self._space, self.probes
        if self._A.is_dense and self._A.dim <= LARGE and not space.exhausted:
            return Outside(np.inf), probes  # up to a moderate order a dense matrix gets a proof by Cholesky anyway
        m = self._kept()
        found = space.outside(m, space.beyond())
        if self._settled(found, enough, may_multiply):
            return found, probes
        if probes is None or not probes.steps:
            probes = self._multiply(Probes(space.Q, self._rng))
        found, gained = space.outside(m, probes.outside(space.beyond().level)), np.inf
        # The bound falls by less and less: where steps as large as the last one would not do, no more are taken.
        while 0 < found.level - enough < gained * (PROBED - probes.steps):
            before = found.level
            found = space.outside(m, self._multiply(probes).outside(space.beyond().level))
            gained = before - found.level
        return found._replace(failure=found.failure * self._rounds), probes

    def _settled(self, found: Outside, enough: float, may_multiply: bool) -> bool:
        """Whether the bound is low enough, or cannot be lowered."""
        return found.level <= enough or not may_multiply or self._space.exhausted

    def _multiply(self, probes: Probes) -> Probes:
        probes.absorb(self._A.apply(probes.columns))
        return probes

    def _kept(self) -> int:
        return trusted(self._space.ritz_vectors()[2], self._k, self._A.rounding)

    def basis(self, history: tuple[Step, ...], note: str) -> Basis:
        """The Ritz vectors asked for and those spare ones that are as good."""
        (U, AU, _), m = self._space.ritz_vectors(), self._kept()
        mixed, values = self._space.multiplied, self._space.values
        basis = Basis(U[:, :m], AU[:, :m], history=history, note=note, outside=self.outside, mixed=mixed)
        return basis if len(values) <= self._k else replace(basis, following=float(values[self._k]))
