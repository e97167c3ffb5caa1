"""The Gram matrix of rows, n×n: their inner products. The rows may be those of a sketch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ritz.linalg.bases import orthonormalise, outside
from ritz.linalg.dense import Array, column_norms, gamma, r_factor
from ritz.moments.preprocessing import Preprocessing
from ritz.moments.sketch import Sketch
from ritz.operators.base import COMBINING, Operator, Pairs, Rotation, ritz_pairs, rotation
from ritz.operators.covariance import DataMatrix
from ritz.rows import as_rows
from ritz.rows.memory.array import symmetric_product, thin_inner, thin_product
from ritz.runtime.threads import cached_property

ORTHONORMAL = 1e-13  # the most that axes may have of each other
MAGNIFIED = 4.0  # times the rounding of K that inner products may add to values; beyond that the rows are read again


class Gram(Operator):
    """K = Z Zᵀ/(n − ddof), n×n: the same non-zero eigenvalues as C, known from inner products alone."""

    def __init__(self, Z: DataMatrix) -> None:
        self.Z, self.divisor = Z, Z.divisor
        self.dim, d = Z.shape
        self.rank_bound, self.trace = Z.rank_bound, Z.trace
        self.work = float(self.dim) ** 2 * d

    @property
    def passes(self) -> int:  # type: ignore[override]
        return self.Z.passes

    @property
    def rounding(self) -> float:
        """Of Z Zᵀ V: n terms are behind a sum over rows, however they are cut and merged, and `inner_terms` of Z behind
        an inner product of two rows, which is a sum over columns."""
        return 2 * gamma(self.dim + self.Z.inner_terms + COMBINING) * self.Z.sizes + self.Z.scaling * self.Z.trace

    @property
    def is_dense(self) -> bool:
        return "_dense" in self.__dict__

    @cached_property
    def _dense(self) -> Array:
        return self.Z.gram()

    def dense(self) -> Array:
        return self._dense

    def factor(self) -> Array:
        """F = Zᵀ/√(n − ddof), so that FᵀF = K."""
        return self.Z.dense().T / np.sqrt(self.divisor)

    def apply(self, V: Array) -> Array:
        return thin_product(self._dense, V) if self.is_dense else self.Z.gram_product(V)

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        """From vectors β of the Gram matrix to axes u = Zᵀα.

        The image Y = Z U/√(n − ddof) makes K − Y Yᵀ = Z(I − UUᵀ)Zᵀ/(n − ddof), which has the non-zero eigenvalues of C
        outside the axes found: what is proved about it holds for C. The dual is α = Z u/((n − ddof) λ), zero for axes
        without variance.
        """
        found = self._from_gram_matrix(Q, tol) if self.is_dense else None
        return self._in_factor_form(Q) if found is None else found

    def _from_gram_matrix(self, Q: Array, tol: float) -> Pairs | None:
        """Pairs for one pass over the rows, None where the rounding of K would cost more than half of tol."""
        KQ, r = self.apply(Q), min(Q.shape[1], self.rank_bound)
        turned = rotation(Q.T @ KQ)
        large = turned.values[r - 1] > 4 * self.rounding  # else ‖UᵀU − I‖ may not be small
        if not (large and self._magnified(np.sqrt(turned.values[:r]))[-1] <= 0.5 * tol * turned.values[0]):
            return None
        found = self._from_inner_products(turned(Q), turned(KQ), turned, r)
        worst = float(np.max(np.asarray(found.slack)))
        if not (found.defect <= MAGNIFIED * self.rounding and worst <= 0.5 * tol * found.values[0]):
            return None
        return found if Q.shape[1] == r else self._with_empty(found, Q.shape[1] - r)

    def _from_inner_products(self, B: Array, KB: Array, turned: Rotation, r: int) -> Pairs:
        """Axes u = Zᵀα, α = β/√(κ (n − ddof)), of r values that are not too small: one pass, the rest is known from K.

        UᵀU = I, because β are Ritz vectors of K. But UᵀCU = YᵀY is κ plus ρᵀρ/κ, ρ = Kβ − κβ: before convergence the
        axes are not yet Ritz vectors of C, and are turned until they are. Then C u − λ u = Zᵀρ with ρ = Kα − λα, and
        the squared norm of that is (n − ddof) ρᵀKρ. Errors of K and of the pass are magnified by √(κ₁/κ) at most; a
        turn may hand on those of small κ to large values.
        """
        values, root, divisor = turned.values[:r], np.sqrt(turned.values[:r]), self.divisor
        axes, dual, nonorthogonality = self._orthonormal(B[:, :r] / (root * np.sqrt(divisor)))
        image, slack = self.apply(dual) * np.sqrt(divisor), self._magnified(root)
        unconverged = float(np.sum((column_norms(KB[:, :r] - B[:, :r] * values) / root) ** 2))
        defect = turned.defect + unconverged
        if unconverged > self.rounding:
            turn = rotation(symmetric_product(image))
            axes, dual, image = turn(axes), turn(dual), turn(image)
            magnified = 2 * float(np.linalg.norm(slack)) * float(np.sqrt(turn.values[0] / values[0]))
            values, defect = turn.values, turn.defect + magnified
            slack = turn.norms(slack)
        R = image / np.sqrt(divisor) - dual * values
        return Pairs(
            values=values,
            vectors=axes,
            residuals=np.sqrt(divisor * np.maximum(np.einsum("ij,ij->j", R, self.apply(R)), 0.0)),
            defect=defect,
            image=image,
            dual=dual,
            slack=slack + np.sqrt(divisor * self.rounding) * column_norms(R),  # K is known to rounding where R meets it
            nonorthogonality=nonorthogonality,
        )

    def _magnified(self, root: Array) -> Array:
        """What errors of K and of Zᵀα add to residuals, √(κ₁/κ) times as large as they are."""
        lifting = 2 * gamma(self.dim + COMBINING) * float(np.sqrt(self.Z.sizes)) * float(root[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(root > 0, root[0] / root * (self.rounding + lifting), np.inf)

    def _orthonormal(self, dual: Array) -> tuple[Array, Array, float]:
        """U = Zᵀα, α and ‖UᵀU − I‖. What axes of small variance have caught of the larger ones is taken out."""
        axes = self.Z.combine(dual)
        inner = symmetric_product(axes)
        error = np.abs(np.triu(inner - np.eye(len(inner)))).max(axis=0)
        good = int(np.argmax(error > ORTHONORMAL)) if (error > ORTHONORMAL).any() else len(error)
        if good < len(error):
            caught = inner[:good, good:]
            small = np.linalg.inv(np.linalg.cholesky(inner[good:, good:] - caught.T @ caught, upper=True))
            turn = np.vstack([-caught @ small, small])
            axes[:, good:], dual[:, good:] = thin_product(axes, turn), dual @ turn
            inner[:, good:] = thin_inner(axes, axes[:, good:])
            inner[good:, :good] = inner[:good, good:].T
        return axes, dual, float(np.linalg.norm(inner - np.eye(len(inner))))

    def _with_empty(self, found: Pairs, count: int) -> Pairs:
        """More axes, beyond the rank that n rows can have: orthonormal, without variance."""
        V = outside(found.vectors, np.zeros((len(found.vectors), count)))
        CV = self.Z.normal(V)[0]
        none = np.zeros((self.dim, count))
        return replace(
            found,
            values=np.append(found.values, np.zeros(count)),
            vectors=np.column_stack([found.vectors, V]),
            residuals=np.append(found.residuals, column_norms(CV)),
            defect=found.defect + 2 * float(np.linalg.norm(CV)),
            image=np.column_stack([np.asarray(found.image), none]),
            dual=np.column_stack([np.asarray(found.dual), none]),
            slack=np.append(np.asarray(found.slack), np.zeros(count)),
            nonorthogonality=None,
        )

    def _in_factor_form(self, Q: Array) -> Pairs:
        """Rayleigh–Ritz in span(ZᵀQ), in factor form, so that small values keep their digits."""
        axes = orthonormalise(self.Z.combine(Q))
        scores = self.Z.project(axes)
        T = r_factor(scores) / np.sqrt(self.divisor)
        turned = rotation(T.T @ T, T)
        image = turned(scores) / np.sqrt(self.divisor)
        pairs = ritz_pairs(axes, self.Z.combine(scores) / self.divisor, turned, image=image)
        seen = pairs.values > self.rounding
        dual = np.divide(image, pairs.values * np.sqrt(self.divisor), out=np.zeros_like(image), where=seen)
        return replace(pairs, dual=dual)


class Sketched(Gram):
    """K = F Fᵀ/(n − ddof) of a sketch F of n rows, at least `least` of them: zeros fill up what the sketch has less.

    Its eigenvalues are those of FᵀF/(n − ddof), which falls short of the covariance by `missing` at most, in units of
    unit². `mean` is that of the rows, `remainder` what it lacks as a float64, in units of unit.
    """

    passes = 1  # over the rows themselves; products with F are none

    def __init__(self, sketch: Sketch, ddof: int, rank_bound: int, least: int) -> None:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            _, self.remainder = sketch.moments.mean_and_remainder(sketch.unit)
        self.mean, self.unit, d = sketch.moments.mean, sketch.unit, len(sketch.moments.mean)
        rows = sum(map(len, sketch.pieces))
        F = np.concatenate([*sketch.pieces, np.zeros((max(0, least - rows), d))])
        here = replace(sketch.moments.rescaled(np.full(d, self.unit)), unit=np.ones(d))
        super().__init__(_SketchRows(as_rows(F), Preprocessing(), here, ddof, rank_bound))
        self.missing = sketch.lost / self.divisor
        self.offset = self.missing / 2
        self._error = sketch.error / self.divisor

    @property
    def rounding(self) -> float:
        return super().rounding + self._error


class _SketchRows(DataMatrix):
    """The rows F of a sketch, few and long."""

    def combine(self, V: Array) -> Array:  # (p, b) -> (d, b)
        """Fᵀ V by pieces of columns, so that no core needs a d×b of its own."""
        return thin_product(self.rows.block(0, self.shape[0]).T, V)
