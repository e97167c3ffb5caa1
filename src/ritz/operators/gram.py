"""The inner products of rows, n×n."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ritz.linalg.dense import Array, column_norms, orthonormalise, outside, r_factor
from ritz.linalg.products import SKINNY
from ritz.linalg.rounding import gamma
from ritz.moments.preprocessing import Preprocessing
from ritz.operators.base import COMBINING, Operator
from ritz.operators.covariance import Covariance
from ritz.operators.rayleigh_ritz import Pairs, Rotation, ritz_pairs, rotation
from ritz.rows.base import Block
from ritz.rows.memory.array import symmetric_product, thin_inner, thin_product
from ritz.runtime.lazy import cached_property
from ritz.runtime.threads import ordered, pinned, scratch

ORTHONORMAL = 1e-13  # the most that axes may have of each other
MAGNIFIED = 4.0  # times the rounding of K that inner products may add to values; beyond that the rows are read again
CHUNK = 1 << 18  # entries of a tile's column chunk: two of them stay in cache


class Gram(Operator):
    """K = Z Zᵀ/(n − ddof), n×n: the same non-zero eigenvalues as C, known from inner products alone."""

    def __init__(self, covariance: Covariance) -> None:
        self.covariance = covariance
        self.dim = covariance.rows.shape[0]
        self.rank_bound = covariance.rank_bound
        self.trace = covariance.trace
        self.work = float(self.dim) ** 2 * covariance.dim

    @property
    def passes(self) -> int:  # type: ignore[override]
        return self.covariance.passes

    @property
    def rounding(self) -> float:
        scaled = self.covariance.scaling * (self.trace or 0.0)
        return 2 * gamma(self.covariance.dim + self.dim + COMBINING) * self.covariance.sizes + scaled

    @property
    def is_dense(self) -> bool:
        return "_dense" in self.__dict__

    @cached_property
    def _dense(self) -> Array:
        rows, prepare, divisor = self.covariance.rows, self.covariance.prepare, self.covariance.divisor
        self.covariance.passes += 1
        return rows.pairs(lambda a, b: _inner(a, b, prepare) / divisor)

    def dense(self) -> Array:
        return self._dense

    def factor(self) -> Array:
        """F = Zᵀ/√(n − ddof), so that FᵀF = K."""
        self.covariance.passes += 1
        Z: Array = self.covariance.rows.map(self.covariance.prepare)
        return Z.T / np.sqrt(self.covariance.divisor)

    def apply(self, V: Array) -> Array:
        return thin_product(self._dense, V) if self.is_dense else self.push(self.lift(V)) / self.covariance.divisor

    def ritz(self, Q: Array, AQ: Array | None = None, P: Array | None = None, tol: float = 0.0) -> Pairs:
        """From vectors β of the Gram matrix to axes u = Zᵀα.

        The image Y = Z U/√(n − ddof) makes K − Y Yᵀ = Z(I − UUᵀ)Zᵀ/(n − ddof), which has the non-zero eigenvalues of C
        outside the axes found: what is proved about it holds for C. The dual is α = Z u/((n − ddof) λ), zero for axes
        without variance.
        """
        if self.is_dense:
            KQ = self.apply(Q)
            turned = rotation(Q.T @ KQ)
            r = min(Q.shape[1], self.rank_bound)
            root = np.sqrt(turned.values[:r])
            large = turned.values[r - 1] > 4 * self.rounding  # else ‖UᵀU − I‖ may not be small
            if large and self._magnified(root)[-1] <= 0.5 * tol * turned.values[0]:
                found = self._from_inner_products(turned(Q), turned(KQ), turned, r)
                worst = float(np.max(np.asarray(found.slack)))
                if found.defect <= MAGNIFIED * self.rounding and worst <= 0.5 * tol * found.values[0]:
                    return found if Q.shape[1] == r else self._with_empty(found, Q.shape[1] - r)
        return self._in_factor_form(Q)

    def _from_inner_products(self, B: Array, KB: Array, turned: Rotation, r: int) -> Pairs:
        """Axes u = Zᵀα, α = β/√(κ (n − ddof)), of r values that are not too small: one pass, the rest is known from K.

        UᵀU = I, because β are Ritz vectors of K. But UᵀCU = YᵀY is κ plus ρᵀρ/κ, ρ = Kβ − κβ: before convergence the
        axes are not yet Ritz vectors of C, and are turned until they are. Then C u − λ u = Zᵀρ with ρ = Kα − λα, and
        the squared norm of that is (n − ddof) ρᵀKρ. Errors of K and of the pass are magnified by √(κ₁/κ) at most; a
        turn may hand on those of small κ to large values.
        """
        values, root, divisor = turned.values[:r], np.sqrt(turned.values[:r]), self.covariance.divisor
        axes, dual, nonorthogonality = self._orthonormal(B[:, :r] / (root * np.sqrt(divisor)))
        image, slack = self.apply(dual) * np.sqrt(divisor), self._magnified(root)
        unconverged = float(np.sum((column_norms(KB[:, :r] - B[:, :r] * values) / root) ** 2))
        defect = turned.defect + unconverged
        if unconverged > self.rounding:
            turn = rotation(symmetric_product(image))
            axes, dual, image = turn(axes), turn(dual), turn(image)
            magnified = 2 * float(np.linalg.norm(slack)) * float(np.sqrt(turn.values[0] / values[0]))
            values, defect = turn.values, turn.defect + magnified
            slack = slack if turn.turn is None else np.abs(turn.turn).T @ slack
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
        """What errors of K and of a lift add to residuals, √(κ₁/κ) times as large as they are."""
        lifting = 2 * gamma(self.dim + COMBINING) * float(np.sqrt(self.covariance.sizes)) * float(root[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(root > 0, root[0] / root * (self.rounding + lifting), np.inf)

    def _orthonormal(self, dual: Array) -> tuple[Array, Array, float]:
        """U = Zᵀα, α and ‖UᵀU − I‖. What axes of small variance have caught of the larger ones is taken out."""
        axes = self.lift(dual)
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
        CV = self.covariance.apply(V)
        none = np.zeros((self.dim, count))
        return replace(
            found,
            values=np.append(found.values, np.zeros(count)),
            vectors=np.column_stack([found.vectors, V]),
            residuals=np.append(found.residuals, column_norms(CV)),
            defect=found.defect + 2 * float(np.linalg.norm(CV)),
            image=np.column_stack([found.image, none]),
            dual=np.column_stack([np.asarray(found.dual), none]),
            slack=np.append(np.asarray(found.slack), np.zeros(count)),
            nonorthogonality=None,
        )

    def _in_factor_form(self, Q: Array) -> Pairs:
        """Rayleigh–Ritz in span(ZᵀQ), in factor form, so that small values keep their digits."""
        divisor = self.covariance.divisor
        axes = orthonormalise(self.lift(Q))
        scores = self.push(axes)
        T = r_factor(scores) / np.sqrt(divisor)
        turned = rotation(T.T @ T, T)
        pairs = ritz_pairs(axes, self.lift(scores) / divisor, turned)
        image = turned(scores) / np.sqrt(divisor)
        seen = pairs.values > self.rounding
        dual = np.divide(image, pairs.values * np.sqrt(divisor), out=np.zeros_like(image), where=seen)
        return replace(pairs, image=image, dual=dual)

    def lift(self, V: Array) -> Array:  # (n, b) -> (d, b)
        """Zᵀ V: combinations of the points."""
        self.covariance.passes += 1
        prepare = self.covariance.prepare
        if V.shape[1] > SKINNY and not self.covariance.rows.sparse:
            # The result is large anyway; blocks of its size save it from being added to again and again.
            rows = self.covariance.rows
            rows = rows.limited(max(rows.most_bytes, 8 * V.shape[1] * rows.shape[1]))
            return rows.reduce(lambda blocks: self._combine_wide(blocks, V.shape[1]), np.add, V, whole=True)
        ZV = self.covariance.rows.combine(V, self.covariance.shifted)
        if prepare.delta is not None:
            ZV -= np.outer(prepare.delta, V.sum(axis=0))
        return prepare.weighted(ZV)

    def _combine_wide(self, blocks: Iterable[tuple[Block, Array]], b: int) -> Array:
        """z v, for many columns: the result is large, so the cores share it, each with columns of its own."""
        prepare, d = self.covariance.prepare, self.covariance.dim
        total = np.zeros((b, d))
        for block, V in blocks:
            step = max(64, CHUNK // max(len(block), b))

            def add(left: int, block: Block = block, V: Array = V, step: int = step) -> None:
                chunk = slice(left, min(left + step, d))
                part = block[:, chunk]
                total[:, chunk] += V.T @ prepare.columns(chunk)(part, scratch("block", *part.shape))

            for _ in ordered(add, range(0, d, step), pinned.budget()):
                pass
        return total.T

    def push(self, W: Array) -> Array:  # (d, b) -> (n, b)
        """Z W."""
        self.covariance.passes += 1
        W = self.covariance.prepare.weighted(W)
        ZW = self.covariance.rows.project(W, self.covariance.shifted)
        ZW -= self.covariance.prepare.remainder(W)
        return ZW


def _inner(a: Block, b: Block, prepare: Preprocessing) -> Array:
    """Inner products of preprocessed rows, chunk by chunk of columns so that no wide copy is made."""
    if not isinstance(a, np.ndarray):
        return _sparse_inner(a, b, prepare)
    step = max(1, CHUNK // max(len(a), len(b)))
    total = np.zeros((len(a), len(b)))
    for start in range(0, a.shape[1], step):
        columns = slice(start, start + step)
        part = prepare.columns(columns)
        Z = part(a[:, columns])
        total += Z @ (Z if a is b else part(b[:, columns])).T
    return total


def _sparse_inner(a: Block, b: Block, prepare: Preprocessing) -> Array:
    """(x − m)·(y − m) = x·y − x·m − m·y + m·m, every x, y and m times the weights."""
    A, B, center = prepare.uncentred(a), prepare.uncentred(b), prepare.center
    inner: Array = (A @ B.T).toarray()
    return inner if center is None else inner - (A @ center)[:, None] - (B @ center) + center @ center
