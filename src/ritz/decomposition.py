"""From rows to a certified subspace: the one path that every estimator, command and report takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from ritz import planner, rank
from ritz.certificate import Certificate
from ritz.errors import DataError
from ritz.linalg import Array
from ritz.moments import Moments, moments
from ritz.operators import Covariance, Dense, Gram, Operator
from ritz.planner import Plan
from ritz.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.solvers import ALIASES, Solver, by_name
from ritz.spectrum import Spectrum, spectrum
from ritz.subspace import Subspace

FIRST_GUESS = 16  # components an iterative solver starts with when a share of the variance is asked for


@dataclass(frozen=True)
class Request:
    """What was asked: the numerical parameters of PCA, checked."""

    n_components: int | float | str | None = None
    center: bool = True
    scale: bool = False
    ddof: int = 1
    solver: str | Solver = "auto"
    tol: float = 1e-6
    limit: int = 1 << 62
    seed: int = 0
    oversample: int | None = None
    max_iter: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tol, Real) or isinstance(self.tol, bool) or not 0 <= self.tol < 1:
            raise ValueError(f"tol={self.tol!r} must be a number with 0 <= tol < 1")
        if not isinstance(self.ddof, Integral) or isinstance(self.ddof, bool) or self.ddof < 0:
            raise ValueError(f"ddof={self.ddof!r} must be 0 (divide by n) or 1 (divide by n - 1)")
        if isinstance(self.solver, str) and self.solver != "auto":
            by_name(self.solver)
        elif not isinstance(self.solver, str) and not hasattr(self.solver, "basis"):
            raise ValueError(f"svd_solver={self.solver!r} is neither a name nor a solver object with a basis method")

    @property
    def solver_name(self) -> str:
        if isinstance(self.solver, str):
            return ALIASES.get(self.solver, self.solver)
        return type(self.solver).__name__.lower()

    def make(self, name: str) -> Solver:
        """The solver object: the one given, or the named one with the options of this request."""
        if not isinstance(self.solver, str):
            return self.solver
        return by_name(name, oversample=self.oversample, max_iter=self.max_iter)


@dataclass(frozen=True)
class Decomposition:
    """A fit: the subspace, how it was found and how good it is. Variances are in the units of the data."""

    subspace: Subspace
    spectrum: Spectrum  # in units of `unit`, where nothing overflows
    certificate: Certificate
    plan: Plan
    total: float  # trace, in units of `unit`
    unit: float


def squared(values: Any, unit: float) -> Any:
    """values·unit², infinite or zero where that leaves the range of float64."""
    with np.errstate(over="ignore", under="ignore"):
        return values * np.float64(unit) * np.float64(unit)


def decompose(rows: Rows, request: Request) -> Decomposition:
    """Fit a principal subspace to rows."""
    n, d = rows.shape
    if n < 2 or n <= request.ddof:
        least = max(2, request.ddof + 1)
        raise DataError(
            f"a variance needs at least {least} rows, got n_samples={n} (shape {rows.shape}, ddof={request.ddof})"
        )
    check_components(request.n_components, n, d, request.solver_name)
    for attempt in _attempts(rows, request):
        result = _attempt(rows, request, *attempt)
        certificate = result.spectrum.certificate
        k = len(certificate.values)
        if certificate.satisfied and certificate.rank >= min(k, n - request.center, d):
            break
    return result


def check_components(asked: object, n: int, d: int, solver: str) -> None:
    """n_components is None, "mle", a fraction inside (0, 1) or an integer from 1 to min(n, d)."""
    rule = f"must be between 1 and min(n_samples, n_features)={min(n, d)} with svd_solver={solver!r}"
    if asked is None:
        return
    if isinstance(asked, str):
        if asked != "mle":
            raise ValueError(f"n_components={asked!r} {rule}, a fraction between 0 and 1, 'mle' or None")
        if n < d:
            raise ValueError(f"n_components='mle' is only supported if n_samples >= n_features, got {n} < {d}")
        if solver in ("power", "orthogonal"):
            raise ValueError(f"n_components='mle' needs the whole spectrum, not svd_solver={solver!r}; use 'auto'")
        return
    if isinstance(asked, bool | np.bool_) or not isinstance(asked, Real):
        raise ValueError(f"n_components={asked!r} {rule}, a fraction between 0 and 1, 'mle' or None")
    if isinstance(asked, Integral):
        if not 1 <= int(asked) <= min(n, d):
            raise ValueError(f"n_components={asked} {rule}")
    elif not 0 < float(asked) < 1:
        raise ValueError(f"n_components={asked} {rule}, or a fraction strictly between 0 and 1")


def _attempts(rows: Rows, request: Request) -> list[tuple[Plan, bool]]:
    """Plans to try in order, each with whether narrow data is multiplied wide. Only "auto" has a second one."""
    k = request.n_components if isinstance(request.n_components, Integral) else min(rows.shape)
    chosen = planner.choose(rows, request.solver_name, int(k), request.limit)
    if request.solver_name != "auto":
        return [(chosen, False)]
    finest = planner.choose(rows, "svd", int(k), request.limit)
    if finest.memory > request.limit:
        return [(chosen, False)]
    if request.tol == 0:
        return [(replace(finest, why="tol=0 asks for the best the arithmetic allows"), False)]
    reason = f"the {chosen.solver} route cannot see variances this small or reach this tol"
    attempts = [(chosen, False), (replace(finest, why=reason), False)]
    if chosen.solver == "covariance" and np.result_type(rows.dtype, np.float32) == np.float32:
        attempts.insert(1, (replace(chosen, why=chosen.why + "; float32 products missed tol"), True))
    return attempts


def _attempt(rows: Rows, request: Request, plan: Plan, wide: bool) -> Decomposition:
    full = plan.dense and plan.side == "covariance"
    found = moments(rows, center=request.center, full=full, wide=wide)
    prepare, scale, unit = preprocessing(rows, found, request)
    bound = min(rows.shape[0] - request.center, rows.shape[1])
    covariance = Covariance(rows, prepare, found, request.ddof, bound)
    A: Operator = Gram(covariance) if plan.side == "gram" else covariance
    if plan.dense:
        A.dense()
    result, left_out = _solve(A, request, plan.solver, min(rows.shape), rows.shape[0])
    total = float(covariance.trace or 0.0)
    if plan.solver == "svd" and result.spare is not None:
        total = float(np.sum(result.values) + np.sum(result.spare))
    subspace = Subspace(
        axes=result.vectors,
        variances=squared(result.values, unit),
        mean=found.mean if request.center else None,
        scale=scale,
        left_out=float(squared(left_out, unit)),
        n_rows=rows.shape[0],
        ddof=request.ddof,
    )
    return Decomposition(subspace, result, _in_units(result.certificate, unit), plan, total, unit)


def _in_units(certificate: Certificate, unit: float) -> Certificate:
    """The certificate in the units of the data."""
    names = ("values", "residuals", "value_bounds", "rounding")
    return replace(certificate, **{name: squared(getattr(certificate, name), unit) for name in names})


def preprocessing(rows: Rows, found: Moments, request: Request) -> tuple[Preprocessing, Array | None, float]:
    """z = (x − mean)/scale in units where nothing overflows; the scale and the unit (1 when scaled)."""
    shift, delta = (found.shift, found.delta) if request.center else (None, None)
    if not request.scale:
        unit = float(np.max(found.unit))
        weight = None if unit == 1 else np.full(rows.shape[1], 1 / unit)
        return Preprocessing(shift, delta, weight), None, unit
    scale = found.unit * np.sqrt(found.diagonal / (rows.shape[0] - request.ddof))
    constant = np.flatnonzero(scale <= 2 * np.finfo(float).eps * np.abs(found.mean) * request.center)
    if len(constant):
        names = ", ".join(rows.name(int(j)) for j in constant[:5]) + (", …" if len(constant) > 5 else "")
        what = "constant" if request.center else "zero"
        raise DataError(f"scale=True, but {len(constant)} column(s) are {what}: {names}; drop them or use scale=False")
    return Preprocessing(shift, delta, 1 / scale), scale, 1.0


def _solve(A: Operator, request: Request, name: str, bound: int, n_rows: int | None) -> tuple[Spectrum, float]:
    """The spectrum with as many components as the request means, and the variance it leaves out."""
    asked, solver = request.n_components, request.make(name)
    iterative = name not in ("covariance", "gram", "svd")
    k = int(asked) if isinstance(asked, Integral) else bound
    if iterative and isinstance(asked, float):
        k = min(FIRST_GUESS, bound)
    while True:
        rng = np.random.default_rng(request.seed)
        basis = solver.basis(A, k, tol=request.tol, rng=rng)
        whole = spectrum(A, basis, k, tol=request.tol, n_rows=n_rows)
        total = float(A.trace if A.trace is not None else np.sum(whole.values))
        if not isinstance(asked, float) or k == bound or np.sum(whole.values) > asked * total:
            break
        k = min(2 * k, bound)
    kept = k
    if isinstance(asked, float):
        kept = rank.for_share(whole.values, total, asked)
    elif asked == "mle":
        kept = rank.minka(whole.values, n_rows or bound)
    if kept < k:
        whole = spectrum(A, basis, kept, tol=request.tol, n_rows=n_rows)
    return whole, _left_out(whole, total, bound)


def _left_out(found: Spectrum, total: float, bound: int) -> float:
    """Σ of the values left out: summed where all are known, else what the trace has left."""
    if found.spare is not None and len(found.values) + len(found.spare) >= bound:
        return float(np.sum(found.spare[: bound - len(found.values)]))
    rest = total - float(np.sum(found.values))
    return rest if rest > (len(found.values) + 1) * found.certificate.rounding else 0.0


def decompose_matrix(C: Array, request: Request, mean: Array | None, n_rows: int | None) -> Decomposition:
    """Fit a principal subspace to a covariance matrix given directly."""
    d = len(C)
    check_components(request.n_components, n_rows or d, d, request.solver_name)
    scale = np.sqrt(np.diagonal(C)) if request.scale else None
    if scale is not None:
        if not (scale > 0).all():
            raise DataError(f"scale=True, but the variances of columns {np.flatnonzero(scale <= 0)[:5].tolist()} are 0")
        C = C / scale / scale[:, None]
    name = "covariance" if request.solver_name == "auto" else request.solver_name
    if name == "svd":
        raise ValueError("svd_solver='svd' needs the rows; a covariance is decomposed by 'covariance'")
    A = Dense(C)
    found, left_out = _solve(A, request, name, d, n_rows)
    plan = Plan(name, "covariance", 0, 4.0 / 3 * d**3, 24 * d * d, "the covariance matrix was given", True)
    subspace = Subspace(found.vectors, found.values, mean, scale, left_out, n_rows, request.ddof)
    return Decomposition(subspace, found, found.certificate, plan, A.trace or 0.0, 1.0)
