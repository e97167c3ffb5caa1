"""Spectrum: what every solver's basis turns into, once: values, order, signs, residuals, certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ritz.certificate import Bounds, Certificate, bounds, free_ceiling, proved_ceiling
from ritz.linalg import UNIT, Array, column_norms, eigh_descending, gamma, orthogonality_defect, orthonormalise, svd
from ritz.operators import Covariance, Gram, Operator
from ritz.solvers import Basis, Step

CHEAP = 0.05  # share of a fit that a proof of completeness may cost where the free bounds already hold


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues in descending order, orthonormal vectors with decided signs, and how good they are.

    Attributes
    ----------
    values, vectors : (k,) and (dim, k)
    certificate : Certificate
    history : one Step per iteration of an iterative solver
    note : why an iterative solver stopped short, if it did
    spare : further values found beside the k, exact enough for totals only
    dual : (n, k) α with vectors = Zᵀ α, from the Gram route
    """

    values: Array
    vectors: Array
    certificate: Certificate
    history: tuple[Step, ...] = ()
    note: str = ""
    spare: Array | None = None
    dual: Array | None = None

    @property
    def residuals(self) -> Array:
        return self.certificate.residuals

    def __str__(self) -> str:
        return str(self.certificate)


@dataclass(frozen=True)
class Pairs:
    """Ritz pairs of A inside span(Q), all m of them: A U = U Θ + R.

    `coupling` holds the residual norms in the units of `levels`: eigenvalues, or singular values of the factor.
    """

    values: Array  # (m,)
    vectors: Array  # (dim, m)
    residuals: Array  # (m,) ‖A u − λ u‖
    defect: float  # ‖Uᵀ A U − Θ‖
    scores: Array | None = None  # (n, m) Z U, from the Gram route
    levels: Array | None = None  # (m,) singular values of the factor
    coupling: Array | None = None  # (m,) residuals of the singular triplets


def spectrum(A: Operator, basis: Basis, k: int, *, tol: float, n_rows: int | None = None) -> Spectrum:
    """The k leading eigenpairs of A inside the solver's basis, certified."""
    pairs = rayleigh_ritz(A, basis)
    spare = pairs.values[k:]
    pairs = _trusted(pairs, k, A.rounding)
    own = (2 * orthogonality_defect(pairs.vectors) + 4 * len(pairs.values) * UNIT) * float(pairs.values[0])
    rounding = A.rounding + own
    if pairs.levels is None:
        found, floor = _by_eigenvalues(A, pairs, k, rounding), rounding + pairs.defect
    else:
        found, floor = _by_singular_values(A, pairs, k)
    residuals = pairs.residuals[:k]
    worst = float(np.max(residuals)) + rounding
    values = np.where(pairs.values > floor, pairs.values, 0.0)
    largest = float(values[0])
    allowed = max(tol * largest, 2 * rounding if tol == 0 else 0.0)
    missed = found.following - float(pairs.values[k - 1])
    proved = bool(missed <= max(tol * largest, 8 * worst))
    certificate = Certificate(
        values=values[:k],
        residuals=residuals,
        value_bounds=np.column_stack([found.lower, found.upper]),
        angle_bounds=found.angles,
        groups=found.groups,
        tie_at_k=found.tie_at_k,
        completeness="proved" if proved else "not excluded",
        failure_probability=0.0 if proved else None,
        complete_to=found.complete_to,
        rank=int(np.count_nonzero(values)),
        rounding=rounding,
        audited=A.audited,
        passes=A.passes,
        tol=tol,
        satisfied=bool(worst <= allowed or largest == 0),
        n_rows=n_rows,
    )
    vectors = pairs.vectors[:, :k]
    sign = signs(vectors)
    dual = None if pairs.scores is None else _dual(A, pairs.scores[:, :k] * sign, values[:k])
    return Spectrum(values[:k], vectors * sign, certificate, basis.history, basis.note, spare, dual)


def signs(U: Array) -> Array:  # (d, k) -> (k,)
    """±1 per column, so that the first entry within 1e-3 of the largest magnitude becomes positive.

    The tolerance makes the choice the same for every solver, chunking and thread count, where picking the very
    largest entry would turn on the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> signs(np.array([[-0.7071], [0.7072]]))
    array([-1.])
    """
    size = np.abs(U)
    first = np.argmax(size >= (1 - 1e-3) * size.max(axis=0), axis=0)
    return np.where(U[first, np.arange(U.shape[1])] < 0, -1.0, 1.0)


def rayleigh_ritz(A: Operator, basis: Basis) -> Pairs:
    """The best eigenpairs inside span(Q): from QᵀAQ, or from Q's image under the factor where there is one."""
    if isinstance(A, Gram):
        return _lifted(A, basis.Q)
    if isinstance(A, Covariance) and A.has_factor:
        return _triplets(A.factor(), basis.Q)
    if basis.AQ is not None:
        values, turn = eigh_descending(basis.Q.T @ basis.AQ)
        return _pairs(basis.Q, basis.AQ, np.maximum(values, 0.0), turn)
    AQ, T = A.normal(basis.Q)
    if T is None:
        return rayleigh_ritz(A, replace(basis, AQ=AQ))
    _, sigma, turn = svd(T)
    return _pairs(basis.Q, AQ, sigma**2, turn)


def _pairs(Q: Array, AQ: Array, values: Array, turn: Array) -> Pairs:
    vectors = Q @ turn
    R = AQ @ turn - vectors * values
    return Pairs(values, vectors, column_norms(R), float(np.linalg.norm(vectors.T @ R)))


def _lifted(A: Gram, B: Array) -> Pairs:
    """From eigenvectors of the Gram matrix to axes: span(Zᵀ B), then Rayleigh–Ritz in factor form there."""
    Q = orthonormalise(A.lift(B))
    scores = A.push(Q)
    divisor = A.covariance.divisor
    _, sigma, turn = svd(np.linalg.qr(scores, mode="r") / np.sqrt(divisor))
    pairs = _pairs(Q, A.lift(scores) / divisor, sigma**2, turn)
    return replace(pairs, scores=scores @ turn)


def _dual(A: Operator, scores: Array, values: Array) -> Array:
    """α = Z u/((n − ddof) λ), so that Zᵀα = u; zero for components without variance."""
    assert isinstance(A, Gram)
    return np.divide(scores, values * A.covariance.divisor, out=np.zeros_like(scores), where=values > 0)


def _triplets(F: Array, Q: Array) -> Pairs:
    """Singular triplets of the factor inside span(Q); F is never squared."""
    P, T = np.linalg.qr(F @ Q)
    turn_left, sigma, turn = svd(T)
    P, U = P @ turn_left, Q @ turn
    FU, FtP = F @ U, F.T @ P
    coupling = np.maximum(column_norms(FU - P * sigma), column_norms(FtP - U * sigma))
    own = 2 * orthogonality_defect(P) + 2 * orthogonality_defect(U) + 4 * len(sigma) * UNIT
    residual = F.T @ FU - U * sigma**2
    pairs = Pairs(sigma**2, U, column_norms(residual), float(np.linalg.norm(U.T @ residual)))
    return replace(pairs, levels=sigma, coupling=coupling + own * sigma[0] / np.sqrt(len(sigma)))


def _trusted(pairs: Pairs, k: int, rounding: float) -> Pairs:
    """The k pairs asked for and those spare ones that are as good; unconverged ones would loosen every bound."""
    limit = 10 * float(np.max(pairs.residuals[:k])) + rounding
    good = pairs.residuals[k:] <= limit
    m = k + (len(good) if good.all() else int(np.argmin(good)))
    cut = {name: getattr(pairs, name) for name in ("values", "residuals", "levels", "coupling")}
    short = {name: None if part is None else part[:m] for name, part in cut.items()}
    return replace(
        pairs,
        vectors=pairs.vectors[:, :m],
        scores=None if pairs.scores is None else pairs.scores[:, :m],
        **short,
    )


def _by_eigenvalues(A: Operator, pairs: Pairs, k: int, rounding: float) -> Bounds:
    m = len(pairs.values)
    exhausted = m >= len(pairs.vectors)
    claims = {"rounding": rounding, "defect": pairs.defect}
    matrix = A.dense() if A.is_dense else None
    frobenius = None if matrix is None else float(np.linalg.norm(matrix))
    tau = 0.0 if exhausted else free_ceiling(A.trace, frobenius, pairs.values, dim=A.dim, **claims)
    found = bounds(pairs.values, pairs.residuals, k, ceiling=tau, exhausted=exhausted, **claims)
    open_still = found.complete_to < min(k, A.rank_bound)
    if matrix is None or exhausted or not (open_still or _cheap(A)):
        return found
    left, size = (pairs.vectors, pairs.values) if pairs.scores is None else _scores_as_vectors(A, pairs)
    deflated = matrix - (left * size) @ left.T
    forming = gamma(m + 8) * (float(pairs.values[0]) + float(frobenius or 0.0)) + A.rounding
    last = float(pairs.values[-1]) + float(np.linalg.norm(pairs.residuals))
    tau = min(tau, proved_ceiling(deflated, last, rounding=rounding + forming, converged=m > k))
    return bounds(pairs.values, pairs.residuals, k, ceiling=tau, exhausted=exhausted, **claims)


def _scores_as_vectors(A: Operator, pairs: Pairs) -> tuple[Array, Array]:
    """Z(I − UUᵀ)Zᵀ = K − (ZU)(ZU)ᵀ: what the Gram matrix looks like without the axes found."""
    assert isinstance(A, Gram) and pairs.scores is not None
    return pairs.scores, np.full(len(pairs.values), 1.0 / A.covariance.divisor)


def _cheap(A: Operator) -> bool:
    """Whether dim³/3 operations are few beside those of the fit."""
    n, d = A.covariance.rows.shape if isinstance(A, Gram) else A.rows.shape if isinstance(A, Covariance) else (0, 0)
    return A.dim**3 / 3 <= CHEAP * (n * d * min(n, d) + 8 * A.dim**3)


def _by_singular_values(A: Operator, pairs: Pairs, k: int) -> tuple[Bounds, float]:
    """Bounds from the factor, where small variances keep their digits; squared at the end.

    The eigenvalues of [[0, F], [Fᵀ, 0]] are ±σ; its eigenvectors stack both sides, which costs the angle a √2.
    """
    assert isinstance(A, Covariance) and pairs.levels is not None and pairs.coupling is not None
    rounding = A.factor_rounding
    m, dim = len(pairs.levels), len(pairs.vectors)
    whole = m >= min(A.factor().shape)
    ceiling = 0.0 if whole else float(np.sqrt(max((A.trace or 0.0) - float(np.sum(pairs.values)), 0.0))) + rounding
    defect = float(np.linalg.norm(pairs.coupling))
    found = bounds(
        pairs.levels, pairs.coupling, k, rounding=rounding, defect=defect, ceiling=ceiling, exhausted=m >= dim
    )
    angles = np.minimum(1.0, np.sqrt(2.0) * found.angles)
    return found._replace(
        lower=found.lower**2, upper=found.upper**2, following=found.following**2, angles=angles
    ), (rounding + defect) ** 2
