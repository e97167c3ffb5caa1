"""The lasso at one penalty per signal, by accelerated proximal gradients, stopped by the duality gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ritz.linalg.dense import Array
from ritz.runtime import threads
from ritz.sensing.base import PerSignal, lasso_gap
from ritz.sensing.dictionary import Dictionary
from ritz.sensing.maps import Places

EVERY = 10  # iterations between two looks at the gap, which cost half an iteration


def lasso(
    A: Dictionary, Y: Array, penalties: Array, start: Array, tol: float, most: Places
) -> tuple[Array, Array, Places]:
    """Codes (b, p) of min ½‖Ac − y‖² + λ‖c‖₁, their relative duality gaps and the iterations, from a start."""
    codes, gaps, spent = start.copy(), np.empty(len(Y)), np.zeros(len(Y), np.intp)
    length = 1 / (A.norm**2 or 1.0)  # nothing is seen through a matrix of zeros
    seen = A.apply(start)
    now = _Iterates(np.arange(len(Y)), Y, penalties[:, None], most, start, seen, start, seen, np.ones((len(Y), 1)))
    for count in range(int(most.max()) + 1):
        last = count >= now.most
        if count % EVERY == 0 or last.any():
            gaps[now.places] = lasso_gap(A, now.C, now.Y - now.AC, now.penalties[:, 0])
            done = last | (gaps[now.places] <= tol)
            codes[now.places[done]], spent[now.places[done]] = now.C[done], count
            now = now.of(~done)
            if not len(now.places):
                break
        threads.check()
        now.step(A, length)
    return codes, gaps, spent


@dataclass(eq=False)
class _Iterates(PerSignal):
    """FISTA's iterates of signals whose gap is not yet small."""

    places: Places  # (a,)
    Y: Array  # (a, m)
    penalties: Array  # (a, 1) λ
    most: Places  # (a,) iterations
    C: Array  # (a, p) the codes
    AC: Array  # (a, m)
    Z: Array  # (a, p) the codes with momentum, from which the next step is made
    AZ: Array  # (a, m)
    t: Array  # (a, 1) Nesterov's sequence

    def step(self, A: Dictionary, length: float) -> None:
        """c ← shrink(z + Aᵀ(y − Az)/L, λ/L), and z ← c with momentum."""
        new = A.adjoint(self.Y - self.AZ)
        new *= length
        new += self.Z
        shrink(new, length * self.penalties)
        seen, change = A.apply(new), new - self.C
        self.t[np.einsum("bp,bp->b", self.Z - new, change) > 0] = 1.0  # momentum points uphill: begin anew
        longer = (1 + np.sqrt(1 + 4 * self.t * self.t)) / 2
        momentum = (self.t - 1) / longer
        change *= momentum
        change += new
        self.Z, self.AZ = change, seen + momentum * (seen - self.AC)
        self.C, self.AC, self.t = new, seen, longer


def shrink(C: Array, by: Array) -> None:
    """Towards 0, in place: max(|c| − by, 0)·sign(c)."""
    C -= np.clip(C, -by, by)
