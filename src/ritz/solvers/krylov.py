"""Block Krylov: block Lanczos with full reorthogonalisation and thick restarts, from a random start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ritz.linalg.dense import LARGE, Array, column_norms, eigh_descending, orthonormalise
from ritz.linalg.rounding import UNIT
from ritz.operators import Operator
from ritz.rows.memory.array import thin_inner, thin_product
from ritz.runtime.threads import team
from ritz.solvers.base import Basis, Outside, Step, check_options, slow, starting_block, target
from ritz.solvers.probes import Probes

# Columns of a block for up to MANY components and beyond. A narrow block makes the most of every column, by polynomials
# of high degree; a wide one needs fewer passes.
BLOCK, WIDE, MANY = 8, 16, 32
USUAL = 10  # scikit-learn's default for oversampling
STEPS = 16  # blocks that a basis holds beside three vectors per component, before it is restarted
SPARE = 16  # Ritz vectors beyond those asked for that are kept for the certificate
AHEAD = 3  # products before the expected end at which probes set out
ORTHOGONAL = 1e-14  # the most of a new block that may lie in the space already
LOOKS = 3  # products of probes that look for what was missed
PROBED = 10  # products after which a probe has said what it can


@dataclass(frozen=True, eq=False)
class Krylov:
    """Rayleigh–Ritz in span{G, A G, A² G, …} with a random block G: one product with A per step.

    A step costs no more than a step of orthogonal iteration with so few columns, and the best polynomial over all
    products so far replaces the last power alone. When the basis is full, its leading Ritz vectors start the next one.

    Parameters
    ----------
    max_iter : products with A; probes for completeness may add up to 13
    oversample : 10 gives the block its usual width; every one more widens it by a column, every one less narrows it
    start : (dim,) or (dim, b) array, where to begin; random otherwise
    """

    max_iter: int = 500
    oversample: int = USUAL
    start: Array | None = None
    side: ClassVar[str] = "either"
    direct: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_options(self.max_iter, 0.0, self.oversample)

    def basis(self, A: Operator, k: int, *, tol: float | None, rng: np.random.Generator) -> Basis:
        with team():  # BLAS threads that spin after a small product would keep the next walk from its cores
            return self._iterate(A, k, tol, rng)

    def _iterate(self, A: Operator, k: int, tol: float | None, rng: np.random.Generator) -> Basis:
        width = min(max(1, block_width(k) + self.oversample - USUAL), A.dim)
        space = _Space(A, k, starting_block(self.start, A.dim, width, rng), rng)
        most = max(self.max_iter, -(-min(k + 1, A.dim) // width))  # fewer would not fill a basis
        history: list[Step] = []
        probes, due = None, 0
        for iteration in range(1, most + 1):
            space.grow(probes)
            early = iteration < due and not space.full and not space.exhausted and iteration < most
            if early or space.size < min(k + 1, A.dim):
                continue
            space.rayleigh_ritz()
            goal = target(A, 1e-6 if tol is None else tol, float(space.values[0]))
            history.append(space.step(iteration, history, goal))
            left = _steps_left(history, goal)
            if not left or space.exhausted or iteration == most:
                outside, missed = space.outside(probes, goal, probing=iteration < most)
                if missed is None or iteration == most:
                    break
                space.widen(missed)
            due = iteration + max(1, int(min(0.6 * left, 0.35 * iteration)))
            if space.full:
                space.restart()
                probes = None
            if probes is None and left <= AHEAD and not A.is_dense:
                probes = Probes(space.Q, rng)
        why = "the eigengap to what follows is small for so few products"
        note = slow(history, why) if left > 0 and not space.exhausted else ""
        return space.basis(outside, tuple(history), note)


def block_width(k: int) -> int:
    """Columns of a block when k components are asked for."""
    return BLOCK if k <= MANY else WIDE


def expected_steps(k: int) -> int:
    """Products that it takes where variances decay slowly, like 1/i, to the default tolerance."""
    return round(8 + 0.4 * k if k <= MANY else 9 + k / 7)


def capacity(dim: int, k: int, width: int) -> int:
    """Vectors that a basis holds before it is restarted."""
    return min(dim, 3 * k + STEPS * width)


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


class _Space:
    """The Krylov space so far: A Q = Q H + W C, with Q orthonormal and W the block that will be added next.

    C is zero but for the columns of the last block. H is QᵀAQ itself, not the recurrence of exact arithmetic, so that
    restarts need no special case.
    """

    def __init__(self, A: Operator, k: int, W: Array, rng: np.random.Generator) -> None:
        self.A, self.k, self.rng, self.W = A, k, rng, W
        self.size, self._last, self.multiplied, self._dropped = 0, slice(0, 0), 0, 0.0
        self._capacity = capacity(A.dim, k, W.shape[1])
        self._Q = np.empty((A.dim, self._capacity))
        self._AQ = np.empty((A.dim, self._capacity))
        self._H = np.zeros((self._capacity, self._capacity))
        self.C = np.zeros((0, 0))
        self._rounds = 1  # of probes that were asked for a verdict
        self._residuals: Array | None = None  # of the Ritz vectors found last

    @property
    def Q(self) -> Array:  # (dim, size)
        return self._Q[:, : self.size]

    @property
    def AQ(self) -> Array:  # (dim, size)
        return self._AQ[:, : self.size]

    @property
    def full(self) -> bool:
        """Whether another block does not fit."""
        return self.size + self.W.shape[1] > self._capacity

    @property
    def exhausted(self) -> bool:
        """Whether the space is all there is."""
        return self.size == self.A.dim

    def grow(self, probes: Probes | None) -> None:
        """Add the block W, and multiply the probes in the same pass over the data."""
        columns = self.W if probes is None else np.column_stack([self.W, probes.columns])
        product = self.A.apply(columns)
        width = self.W.shape[1]
        if probes is not None:
            probes.absorb(product[:, width:])
        new = slice(self.size, self.size + width)
        self._Q[:, new], self._AQ[:, new] = self.W, product[:, :width]
        self.size, self._last = new.stop, new
        self.multiplied += width
        block = thin_inner(self.Q, product[:, :width])
        self._H[: self.size, new] = block
        self._H[new, : self.size] = block.T
        self._H[new, new] = (self._H[new, new] + self._H[new, new].T) / 2
        self._follow(product[:, :width] - thin_product(self.Q, block))

    def _follow(self, rest: Array) -> None:
        """The next block: an orthonormal basis of what A takes out of the space, random where it takes nothing out."""
        width = min(rest.shape[1], self.A.dim - self.size)
        scale = float(np.max(np.abs(np.diagonal(self._H)[: self.size])))
        W = rest[:, :width].copy()
        lost = column_norms(W) <= 100 * UNIT * np.sqrt(self.A.dim) * scale
        for attempt in range(8):
            W[:, lost] = self.rng.standard_normal((self.A.dim, int(lost.sum())))
            W = orthonormalise(W)
            inside = thin_inner(self.Q, W)
            tilt = column_norms(inside)
            if np.linalg.norm(inside) <= ORTHOGONAL:
                break
            # What is still in the space after several projections has nothing outside: a random vector has.
            lost = (tilt > ORTHOGONAL) & (attempt % 3 == 2)
            W = W - thin_product(self.Q, inside)
        else:
            W = orthonormalise(W)
        self.W, self.C = W, W.T @ rest
        self._dropped = float(np.linalg.norm(rest - W @ self.C))

    def rayleigh_ritz(self) -> None:
        """The leading Ritz values and, as coefficients in Q, their vectors."""
        found = min(self.k + SPARE + 1, self.size)
        self.values, self._S = eigh_descending(self._H[: self.size, : self.size], found)
        self._residuals = None

    def step(self, iteration: int, history: list[Step], goal: float) -> Step:
        """The worst of the components asked for. Its residual follows from C; near the goal it is computed."""
        residuals = column_norms(self.C @ self._S[self._last, : self.k])
        if residuals.max() <= goal:
            residuals = self.residuals()[: self.k]
        worst = int(np.argmax(residuals))
        value = float(self.values[worst])
        change = abs(value - history[-1].value) / value if history and value else 0.0
        return Step(iteration, worst, value, change, float(residuals[worst]))

    def residuals(self) -> Array:
        """‖A u − θ u‖ of all Ritz vectors found, from products in float64."""
        if self._residuals is None:
            self.U, self.AU = thin_product(self.Q, self._S), thin_product(self.AQ, self._S)
            self._residuals = column_norms(self.AU - self.U * self.values)
        return self._residuals

    def restart(self) -> None:
        """Keep the leading Ritz vectors and the block that follows."""
        keep = min(len(self.values), self.size - self.W.shape[1])
        S = self._S[:, :keep]
        Q, AQ = thin_product(self.Q, S), thin_product(self.AQ, S)
        self.size = keep
        self._Q[:, :keep], self._AQ[:, :keep] = Q, AQ
        self._H[:keep, :keep] = np.diag(self.values[:keep])

    def basis(self, outside: Outside, history: tuple[Step, ...], note: str) -> Basis:
        """The Ritz vectors asked for and those spare ones that are as good."""
        m = self._kept()
        return Basis(self.U[:, :m], self.AU[:, :m], history=history, note=note, outside=outside, mixed=self.multiplied)

    def _kept(self) -> int:
        residuals = self.residuals()
        good = residuals[self.k :] <= 10 * float(residuals[: self.k].max()) + self.A.rounding
        return self.k + (len(good) if good.all() else int(np.argmin(good)))

    def outside(self, probes: Probes | None, goal: float, probing: bool) -> tuple[Outside, Array | None]:
        """What can be said about A outside the vectors kept, and directions that were missed, if some surely were.

        A block of b columns finds at most b vectors of one eigenvalue: residuals alone would not tell.
        """
        enough = float(self.values[self.k - 1]) + goal
        found = Outside(np.inf)
        # Up to a moderate order a dense matrix gets a proof by Cholesky anyway.
        if not (self.A.is_dense and self.A.dim <= LARGE) or self.exhausted:
            found, probes = self._judged(probes, enough, probing)
        if found.level <= enough or not probing or self.exhausted:
            return found, None
        self._rounds += 1
        largest = enough + self.A.rounding
        if probes is not None and probes.steps >= LOOKS and probes.at_least <= largest:
            return found, None
        probes = Probes(self.Q, self.rng)  # the earlier ones may see what has been found since they set out
        for _ in range(LOOKS):
            self._probed(probes)
        return found, probes.columns if probes.at_least > largest else None

    def _judged(self, probes: Probes | None, enough: float, probing: bool) -> tuple[Outside, Probes | None]:
        """The norm of A outside the vectors kept: from the trace, or from probes multiplied until it is low enough."""
        m = self._kept()
        found = self._beyond(m, Outside(self._untraced()))
        if found.level <= enough or not probing or self.exhausted:
            return found, probes
        if probes is None or not probes.steps:
            probes = self._probed(Probes(self.Q, self.rng))
        found, gained = self._beyond(m, probes.outside(self._untraced())), np.inf
        # The bound falls by less and less: where steps as large as the last one would not do, no more are taken.
        while 0 < found.level - enough < gained * (PROBED - probes.steps):
            before = found.level
            found = self._beyond(m, self._probed(probes).outside(self._untraced()))
            gained = before - found.level
        return found._replace(failure=found.failure * self._rounds), probes

    def _probed(self, probes: Probes) -> Probes:
        probes.absorb(self.A.apply(probes.columns))
        return probes

    def widen(self, directions: Array) -> None:
        """Let these directions join the next block."""
        room = min(self.A.dim - self.size, self._capacity // 4) - self.W.shape[1]
        fresh = directions[:, : max(room, 0)]
        if not fresh.shape[1]:
            return
        for _ in range(2):
            for basis in (self.Q, self.W):
                fresh = fresh - thin_product(basis, thin_inner(basis, fresh))
            fresh = orthonormalise(fresh)
        self.W = np.column_stack([self.W, fresh])
        self.C = np.vstack([self.C, np.zeros((fresh.shape[1], self.C.shape[1]))])

    def _untraced(self) -> float:
        """A bound of the norm outside the space that costs nothing: what is left of the trace."""
        if self.A.dim == self.size:
            return 0.0
        if self.A.trace is None or self.A.negativity:
            return np.inf
        seen = float(np.trace(self._H[: self.size, : self.size]))
        return max(self.A.trace - seen, 0.0) + (self.size + 1) * self.A.rounding

    def _beyond(self, m: int, beyond: Outside) -> Outside:
        """The norm outside the first m Ritz vectors, from the norm beyond the space.

        It is at most that of [[H, Cᵀ], [C, τI]] without those vectors: the rest of the space, its coupling to the next
        block, and τ for all that lies beyond.
        """
        if not np.isfinite(beyond.level):
            return beyond
        S, width = self._S[:, :m], len(self.C)
        M = np.zeros((self.size + width, self.size + width))
        M[: self.size, : self.size] = self._H[: self.size, : self.size] - (S * self.values[:m]) @ S.T
        coupling = np.zeros((width, self.size))
        coupling[:, self._last] = self.C
        M[self.size :, : self.size] = coupling - (coupling @ S) @ S.T
        M[: self.size, self.size :] = M[self.size :, : self.size].T
        M[range(self.size, len(M)), range(self.size, len(M))] = beyond.level
        largest = max(float(eigh_descending(M, 1)[0][0]), 0.0)
        return beyond._replace(level=largest + self._dropped + self.A.rounding)
