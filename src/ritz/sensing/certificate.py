"""The certificate of a recovery: what was found, how far from optimal it may be, and whether there was any hope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.linalg.dense import Array
from ritz.runtime.wording import at_least, at_most, at_most_within, plain, plural
from ritz.sensing.dictionary import ALIKE, Coherence, guaranteed
from ritz.sensing.phase_transition import alone, apart, determined, needed, noisy_needed, signs_needed, telling
from ritz.spectrum.certificate import Diagnostic

SHOWN = 12  # signals in the table
POOR = 0.1  # of the measurements left unexplained without a word
HOLDS = 1 - 1e-9  # below 1, by more than rounding
# What a certificate has for every signal.
PER_SIGNAL: dict[str, type[np.generic]] = {
    **dict.fromkeys(("support_size", "sparsity", "iterations"), np.intp),
    **dict.fromkeys(("residual", "duality_gap", "penalty", "exact_recovery"), np.float64),
    **dict.fromkeys(("converged", "explained", "hopeless"), np.bool_),
}


@dataclass(frozen=True, eq=False)
class RecoveryCertificate:
    """What can be said of signals recovered from measurements y = Ac, b of them.

    Attributes
    ----------
    solver, tol, noise : as they were asked for
    n_measurements, n_coefficients : m and p of A
    rank : of A, where that was worth finding out
    coherence : of measurements and basis, √N·max|⟨φ_i, ψ_j⟩| for lengths 1, between 1 (best) and √N for an orthonormal
        basis; where `coherence_exact` is False, that of a random sample, which is at most the true one
    mutual_coherence : max|⟨a_i, a_j⟩| of columns of A of length 1, or 1 where a column is 0, likewise
    random : whether measurements were drawn and no two columns of A are alike
    generic : whether from a density: then sparse explanations of exact measurements are unique
    support_size : (b,) coefficients other than 0
    sparsity : (b,) the fewest of them that hold all but 0.1 % of the energy
    residual : (b,) ‖y − Aĉ‖/‖y‖ of what is returned
    duality_gap : (b,) relative. Where `penalty` is 0, no c with Ac = Aĉ has an l1 norm below 1 − gap times that of ĉ.
        Elsewhere, the lasso's objective ½‖Ac − y‖² + λ‖c‖₁ exceeds its least value by at most that share of itself,
        before least squares on the support put the coefficients right; λ is the penalty, for y of length 1
    exact_recovery : (b,) max ‖A_S⁺ a_j‖₁ of matching pursuit (Tropp 2004): below 1, it recovers every signal with this
        support; values of at least 1 may be lower bounds; NaN where it was not computed
    converged : (b,) whether the solver reached tol, the noise, or the sparsity asked for
    explained : (b,) whether the residual is within tol, or the noise, with so few coefficients that chance would hardly
        explain random measurements as well (`telling`); or with any number where all p columns are independent
    hopeless : (b,) whether measurements are not explained, and too few for minimising the l1 norm to recover signals of
        the sparsity found; or take so many coefficients to be explained that anything could be
    iterations : (b,)

    Examples
    --------
    >>> from ritz import CompressedSensing
    >>> signal = np.zeros((1, 64))
    >>> signal[0, [5, 40]] = 1.0, -2.0
    >>> sensing = CompressedSensing(24, basis=np.eye(64)).fit(signal)
    >>> found = sensing.inverse_transform(sensing.transform(signal))
    >>> certificate = sensing.certificate_
    >>> certificate.support_size, certificate.explained, bool(certificate.residual[0] < 1e-12)
    (array([2]), array([ True]), True)
    """

    solver: str
    tol: float
    noise: float
    n_measurements: int
    n_coefficients: int
    coherence: float
    mutual_coherence: float
    coherence_exact: bool
    rank: int
    random: bool
    support_size: NDArray[np.intp]
    sparsity: NDArray[np.intp]
    residual: Array
    duality_gap: Array
    penalty: Array
    exact_recovery: Array
    converged: NDArray[np.bool_]
    explained: NDArray[np.bool_]
    hopeless: NDArray[np.bool_]
    iterations: NDArray[np.intp]
    generic: bool = False

    @property
    def satisfied(self) -> bool:
        """Whether every signal was recovered, or explained or approximated, as asked, and nothing was warned of."""
        return not self.diagnostics()

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What a reader should know before believing these signals: codes, and how many signals each one is about.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import CompressedSensing
        >>> clicks = np.eye(32)
        >>> sensing = CompressedSensing(16, basis=np.eye(32)).fit(clicks)
        >>> sensing.recover(sensing.transform(clicks)).certificate.diagnostics()
        ()
        """
        about = {
            "hopeless": self.hopeless,
            "not_converged": self.short,
            "silent": self.silent,
            "poor": self.poor,
            "doubtful": self.doubtful,
            "alike": np.full(len(self.converged), self.alike),
        }
        return tuple(Diagnostic(code, {"signals": int(of.sum())}) for code, of in about.items() if of.any())

    @property
    def short(self) -> NDArray[np.bool_]:
        """(b,) not converged, though there was hope."""
        return ~self.converged & ~self.hopeless

    @property
    def silent(self) -> NDArray[np.bool_]:
        """(b,) in whom nothing stands above the noise."""
        return (self.support_size == 0) & (self.residual > 0) & self.converged

    @property
    def poor(self) -> NDArray[np.bool_]:
        """(b,) of whose measurements much is left unexplained by as many coefficients as were asked for."""
        return self.converged & ~self.explained & ~self.hopeless & ~self.silent & (self.residual > POOR)

    @property
    def determined(self) -> int:
        """The most coefficients that so many Gaussian measurements determine, by minimising the l1 norm."""
        return determined(self.rank, self.n_coefficients)

    @property
    def needed(self) -> int:
        """The measurements that the sparsity found calls for, by the same rule: that of hopeless signals, if any."""
        which = self.hopeless if self.hopeless.any() else slice(None)
        return int(np.ceil(needed(int(self.sparsity[which].max(initial=0)), self.n_coefficients)))

    @property
    def alike(self) -> bool:
        """Whether two basis vectors look the same through the measurements, or one cannot be seen."""
        return self.mutual_coherence >= ALIKE

    @property
    def unique(self) -> NDArray[np.bool_]:
        """(b,) whether what explains the measurements can hardly be anything but the signal, whatever that is.

        Its coefficients are so few that no others, but for a chance of 0.001 over the draw, explain as much. That is by
        `telling` and `apart` for Gaussian measurements, whose columns are in general position; by `alone` for signs,
        and for sampled cosines, for which it is a rule and no theorem, as their rows are not independent; or all p
        columns are independent. Never where measurements were not drawn.
        """
        few = self.support_size, self.residual, self.rank, self.n_coefficients
        return (telling(*few) | (self.residual == 0)) & self._only & self.random

    @property
    def _only(self) -> NDArray[np.bool_]:
        """(b,) the same for measurements whose columns are told apart, if they were drawn."""
        rule = apart if self.generic else alone
        only = rule(self.support_size, self.residual, self.rank, self.n_coefficients)
        return only | (self.rank >= self.n_coefficients)

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """(b,) explained, where another signal may well explain as much; columns that are alike are told of elsewhere.

        Measurements of your own, of which less is known, are held against the rule for signs; fewer coefficients than
        ½(1 + 1/mutual_coherence) are beyond doubt there, as no others are so few (Donoho and Elad 2003).
        """
        sure = self._only | (self._sparsest & (not self.random)) | self.alike
        return self.explained & self.converged & ~sure

    @property
    def _sparsest(self) -> NDArray[np.bool_]:
        """(b,) whether no other signal has as few coefficients for sure; the one measured may still have more."""
        proved = guaranteed(self.mutual_coherence) if self.coherence_exact else 0
        return np.asarray(self.support_size <= proved)

    @property
    def doubtless(self) -> int:
        """The measurements from which on doubtful signals would not be so: of signs, or Gaussian ones with noise."""
        rule = noisy_needed if self.generic else signs_needed
        return rule(int(self.support_size[self.doubtful].max(initial=0)), self.n_coefficients)

    @property
    def guaranteed(self) -> int:
        """Every signal of so many coefficients is recovered, as they are below ½(1 + 1/mutual_coherence) (Tropp 2004).

        That is for columns of length 1, as matching pursuit has them; 0 where it is unknown.
        """
        known = self.solver == "omp" and self.coherence_exact
        return min(self.n_coefficients, guaranteed(self.mutual_coherence)) if known else 0

    @property
    def exact_recovery_holds(self) -> NDArray[np.bool_]:
        """(b,) whether Tropp's condition is known to hold."""
        return np.nan_to_num(self.exact_recovery, nan=np.inf) < HOLDS

    def __str__(self) -> str:
        return "\n".join([self.verdict, *self._table(), *self.remarks])

    @property
    def verdict(self) -> str:
        """Whether all went well, in one line."""
        b, m, p = len(self.converged), self.n_measurements, self.n_coefficients
        if not b:
            return f"{m} measurements of {p} coefficients; no signal recovered yet"
        signals = f"{b} {plural(b, 'signal')} of {p} coefficients from {m} measurements by {self.solver}"
        if self.hopeless.any():
            return f"NOT recovered, too few measurements for {self.hopeless.sum()} of {b}: {signals}"
        if not self.converged.all():
            return f"NOT as accurate as asked for {(~self.converged).sum()} of {b}: {signals}"
        if self.doubtful.any():
            return f"explained, perhaps not by the signal measured, for {self.doubtful.sum()} of {b}: {signals}"
        word = "approximated" if not self.explained.all() else "recovered" if self.unique.all() else "explained"
        proved = word != "explained" or self.rank >= p or self._sparsest.all()
        word += " as asked" if proved else " as asked, not proved unique"
        return f"{word}: {signals}, residual at most {at_most(self.residual.max())} of the measurements"

    def _table(self) -> list[str]:
        b = len(self.converged)
        if not b:
            return []
        known = not np.isnan(self.exact_recovery).all()
        head = f"{'signal':>6} {'nonzeros':>9} {'sparsity':>9} {'residual':>9} {'gap':>8} {'of':<14}"
        lines = [head + " exact recovery" if known else head.rstrip()]
        for i in range(min(b, SHOWN)):
            of = "least l1 norm" if self.penalty[i] == 0 else f"lasso {self.penalty[i]:.1e}"
            line = f"{i + 1:>6} {self.support_size[i]:>9} {self.sparsity[i]:>9} {at_most(self.residual[i]):>9} "
            line += f"{at_most(self.duality_gap[i]):>8} {of:<14} {self._condition(i) if known else ''}"
            lines.append(line.rstrip())
        if b > SHOWN:
            lines.append(f"     … and {b - SHOWN} more")
        return lines

    def _condition(self, i: int) -> str:
        value = self.exact_recovery[i]
        if np.isnan(value):
            return "unknown"
        return f"holds: {plain(at_most_within(value, HOLDS))} < 1" if self.exact_recovery_holds[i] else "not guaranteed"

    @property
    def remarks(self) -> list[str]:
        """Measurements and coherence, a line each."""
        m, p = self.n_measurements, self.n_coefficients
        many = f"{m}" if self.rank == min(m, p) else f"{m}, of rank {self.rank},"
        first = f"measurements: {many} determine up to {self.determined} of {p} coefficients (l1 norm, Gaussian)"
        if self.hopeless.any() and self.needed > m:
            first += f"; the {int(self.sparsity[self.hopeless].max())} found would need about {self.needed}"
        pair, mutual = f"{self.coherence:.3g}", f"{self.mutual_coherence:.2g}"
        if not self.coherence_exact:
            pair = f"at least {plain(at_least(self.coherence, 3))}"
            mutual = f"at least {plain(at_least(self.mutual_coherence))}"
        second = f"coherence: {pair} of measurements and basis (best 1), {mutual} between columns"
        if count := self.guaranteed:
            second += f"; up to {count} {plural(count, 'coefficient')}: recovery guaranteed"
        if self.alike:
            second += ": some basis vectors look the same through the measurements, or cannot be seen"
        return [first, second]


def of_nothing(
    solver: str, tol: float, noise: float, shape: tuple[int, int], coherence: Coherence
) -> RecoveryCertificate:
    """The certificate of measurements that no signal was recovered from yet."""
    m, p = shape
    none = {kind: np.zeros(0, kind) for kind in PER_SIGNAL.values()}  # shared, so that a file keeps one of each kind
    nothing: dict[str, Any] = {name: none[kind] for name, kind in PER_SIGNAL.items()}
    return RecoveryCertificate(solver, tol, noise, m, p, **vars(coherence), **nothing)
