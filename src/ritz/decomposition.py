"""From rows to a certified subspace: the one path that every estimator, command and report takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from ritz import costs, planner, rank
from ritz.certificate import Certificate
from ritz.errors import DataError
from ritz.linalg import LARGE, Array, squared
from ritz.memory import format_bytes
from ritz.moments import Moments, moments
from ritz.operators import Covariance, Gram, Operator, Summed, factored, scale_error
from ritz.planner import Plan
from ritz.preprocessing import Preprocessing
from ritz.rows import Rows
from ritz.sketch import Stream
from ritz.solvers import ALIASES, SVD, Solver, by_name
from ritz.spectrum import Spectrum, certify, check_tol
from ritz.subspace import Subspace
from ritz.threads import pinned, team
from ritz.triangles import triangular_moments

PATIENCE = 3.0  # seconds, by the planner's table, that a further attempt may take when accuracy is not at stake
CARRIED = 256  # columns up to which the whole scatter costs little beside any solver
FIRST_GUESS = 16  # components an iterative solver starts with when a share of the variance is asked for


@dataclass(frozen=True, eq=False)
class Request:
    """What was asked: the numerical parameters of PCA, checked."""

    n_components: Any = None
    center: bool = True
    scale: bool = False
    ddof: int = 1
    solver: str | Solver = "auto"
    tol: float = 1e-6
    limit: int = 1 << 62
    seed: int = 0
    oversample: int | None = None
    passes: int | None = None

    def __post_init__(self) -> None:
        check_tol(self.tol)
        if not isinstance(self.ddof, Integral) or isinstance(self.ddof, bool) or self.ddof < 0:
            raise ValueError(f"ddof={self.ddof!r} must be an integer >= 0; 1 divides by n - 1, 0 by n")
        if isinstance(self.solver, type):
            raise ValueError(
                f"svd_solver is the class {self.solver.__name__}; pass an object: {self.solver.__name__}()"
            )
        if not isinstance(self.solver, str) and not hasattr(self.solver, "basis"):
            raise ValueError(f"svd_solver={self.solver!r} is neither a name nor a solver object with a basis method")
        if self.name != "auto":
            self.chosen()

    @property
    def name(self) -> str:
        """The solver's name, ours where scikit-learn's was given."""
        if isinstance(self.solver, str):
            return ALIASES.get(self.solver, self.solver)
        return type(self.solver).__name__.lower()

    def chosen(self, name: str | None = None) -> Solver:
        """The solver object: the one given, or the one of that name with the options of this request."""
        if not isinstance(self.solver, str):
            return self.solver
        name = name or self.name
        return by_name(name, oversample=self.oversample, max_iter=self.passes if name != "power" else None)


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A fit: the subspace, how it was found and how good it is."""

    subspace: Subspace
    spectrum: Spectrum  # in units of `unit`, where nothing overflows
    certificate: Certificate  # in the units of the data
    plan: Plan
    total: float  # trace, in units of `unit`
    unit: float
    left_out_seen: bool = True  # whether the variance left out stands above rounding
    enough: bool = True  # whether the components reach the share of variance asked for
    moments: Moments | Stream | None = None  # of the rows, where they are whole, or their sketch: what merging needs


def decompose(rows: Rows, request: Request) -> Decomposition:
    """Fit a principal subspace to rows."""
    # One team for the whole fit: BLAS threads would spin after every small product and keep the next walk waiting.
    with team():
        return _decompose(rows, request)


def _decompose(rows: Rows, request: Request) -> Decomposition:
    n, d = rows.shape
    check_count(n, request)
    request = replace(request, n_components=rank.checked(request.n_components, n, d))
    found: Moments | None = None
    result: Decomposition | None = None
    for plan in _attempts(rows, request):
        if result is not None and found is not None and not _helps(plan, result, request, n, found):
            continue
        rows = rows.limited(plan.block_bytes, plan.threads)
        passes = 0 if result is None else result.certificate.passes
        if found is None or not _serves(found, plan, rows):
            found = _walked(rows, request, plan)
            passes += 1
        result = _attempt(rows, request, plan, found, passes)
    assert result is not None  # there is at least one attempt
    return result


def _walked(rows: Rows, request: Request, plan: Plan) -> Moments:
    """The moments that a plan needs, from one pass."""
    if _by_triangle(plan, rows):
        return triangular_moments(rows, center=request.center, scale=request.scale)
    full = (plan.dense and plan.side == "covariance") or rows.shape[1] <= CARRIED  # models of few columns can be merged
    wide = plan.precision == "float64"
    return moments(rows, center=request.center, full=full, scale=request.scale, wide=wide, rough=plan.refined)


def _by_triangle(plan: Plan, rows: Rows) -> bool:
    """Whether the factor of the covariance is a triangle, which the pass for the moments finds on its way."""
    return plan.solver == "svd" and rows.shape[0] > rows.shape[1]


def _serves(found: Moments, plan: Plan, rows: Rows) -> bool:
    """Whether moments of an earlier attempt are what this one needs."""
    if _by_triangle(plan, rows):
        return found.triangle is not None
    narrow = found.rough or found.audit > 0
    if plan.dense and plan.side == "covariance":
        return found.scatter.ndim == 2 and not (narrow and plan.precision == "float64")
    return True


def _helps(plan: Plan, result: Decomposition, request: Request, n: int, found: Moments) -> bool:
    """Whether a further attempt may improve on a result."""
    if not result.certificate.satisfied:
        return True
    if request.name != "auto":
        return False
    certificate = result.spectrum.certificate
    missing = certificate.completeness == "not excluded" and certificate.complete_to < certificate.rank
    if not result.enough or (missing and plan.seconds <= PATIENCE):
        return plan.solver != "svd"
    reachable = min(n - request.center, int(np.count_nonzero(found.diagonal)))
    return plan.solver == "svd" and plan.seconds <= PATIENCE and not _all_seen(result, reachable)


def _all_seen(result: Decomposition, reachable: int) -> bool:
    """Whether every variance that can differ from 0, kept or left out, stands above rounding."""
    certificate = result.spectrum.certificate
    k = len(certificate.values)
    return certificate.rank >= min(k, reachable) and (k >= reachable or result.left_out_seen)


def _attempts(rows: Rows, request: Request) -> list[Plan]:
    """Plans to try in order. Only "auto" goes on to another solver; a named one is at most repeated in float64."""
    k = request.n_components if isinstance(request.n_components, int) else min(rows.shape)
    if request.name != "auto":
        if isinstance(request.n_components, float) and not request.chosen().direct:
            k = min(k, planner.GUESS)  # it grows until the share is reached
        plan = _within(planner.plan_for(rows, request.name, request.chosen(), k, request.limit), request.limit)
        return [plan, replace(plan, precision="float64")] if plan.precision == "float32" else [plan]
    finest = planner.plan_for(rows, "svd", SVD(), k, request.limit)
    if request.tol == 0 and finest.memory <= request.limit:
        return [replace(finest, why="tol=0 asks for the best the arithmetic allows")]
    chosen = _within(planner.choose(rows, request.n_components, request.limit, request.tol), request.limit)
    attempts = [chosen]
    if chosen.precision == "float32":
        why = f"{chosen.why}; float32 products were not enough"
        attempts.append(replace(chosen, precision="float64", refined=False, why=why))
    name = "covariance" if rows.shape[1] <= rows.shape[0] else "gram"
    direct = planner.plan_for(rows, name, request.chosen(name), k, request.limit)
    if chosen.solver == "krylov" and direct.memory <= request.limit:
        why = "the iteration left accuracy or completeness open"
        attempts.append(replace(direct, precision="float64", why=why))
    if chosen.solver != "svd" and finest.memory <= request.limit:
        why = f"the {chosen.solver} route leaves tol, or small variances, below its rounding; svd resolves more"
        attempts.append(replace(finest, why=why))
    return attempts


def _within(plan: Plan, limit: int) -> Plan:
    if plan.memory > limit:
        needed, allowed = format_bytes(plan.memory), format_bytes(limit)
        raise ValueError(f"memory_limit of {allowed} is too small: {plan.solver} needs {needed} beside the data")
    return plan


def _attempt(rows: Rows, request: Request, plan: Plan, found: Moments, passes: int) -> Decomposition:
    prepare, scale, unit = preprocessing(found, request, rows.name)
    bound = min(rows.shape[0] - request.center, rows.shape[1])
    covariance = Covariance(rows, prepare, found, request.ddof, bound, passes)
    A: Operator = Gram(covariance) if plan.side == "gram" else covariance
    if plan.dense:
        A.dense()
    solver = request.chosen(plan.solver)
    result, total = solve(A, solver, request, min(rows.shape), rows.shape[0])
    mean = found.mean if request.center else None
    fit = in_units_of_data(result, total, unit, min(rows.shape), plan, mean, scale, rows.shape[0], request.ddof)
    share = request.n_components if isinstance(request.n_components, float) else 0.0
    enough = len(result.values) == min(rows.shape) or float(np.sum(result.values)) >= share * total
    return replace(fit, enough=enough, moments=found if _mergeable(found) else None)


def _mergeable(found: Moments) -> bool:
    """Whether a model should carry these moments: whole, not too large, and right in units that do not change."""
    whole = found.scatter.ndim == 2 or found.triangle is not None
    return whole and not found.rough and not (found.audit and found.scaled) and len(found.mean) <= LARGE


def in_units_of_data(
    found: Spectrum,
    total: float,
    unit: float,
    bound: int,
    plan: Plan,
    mean: Array | None,
    scale: Array | None,
    n_rows: int | None,
    ddof: int,
) -> Decomposition:
    """A fit from a spectrum of at most `bound` values in units of `unit`."""
    left_out, seen = _left_out(found, total, bound)
    variances, rest = squared(found.values, unit), float(squared(left_out, unit))
    subspace = Subspace(found.vectors, variances, mean, scale, rest, n_rows, ddof, orthonormal=True)
    return Decomposition(subspace, found, found.certificate.in_units(unit), plan, total, unit, seen)


def preprocessing(
    found: Moments, request: Request, name: Callable[[int], str] = str
) -> tuple[Preprocessing, Array | None, float]:
    """z = (x − mean)/scale in units where nothing overflows; the scale and the unit (1 when scaled)."""
    shift, delta = (found.shift, found.delta) if request.center else (None, None)
    shift = shift if shift is not None and shift.any() else None
    if not request.scale:
        unit = float(np.max(found.unit))
        weight = None if unit == 1 else np.full(len(found.mean), 1 / unit)
        return Preprocessing(shift, delta, weight), None, unit
    scale = found.unit * np.sqrt(found.diagonal / (found.count - request.ddof))
    flat = (scale <= 2 * np.finfo(float).eps * np.abs(found.mean)) | (found.diagonal <= found.rounding * found.sizes)
    constant = np.flatnonzero(flat if request.center else scale <= 0)
    if len(constant):
        names = ", ".join(name(int(j)) for j in constant[:5]) + (", …" if len(constant) > 5 else "")
        what = "constant (to rounding)" if request.center else "zero"
        raise DataError(f"scale=True, but {len(constant)} column(s) are {what}: {names}; drop them or use scale=False")
    tiny = np.flatnonzero(scale < 1 / np.finfo(float).max)
    if len(tiny):
        raise DataError(f"scale=True, but column {name(int(tiny[0]))} varies by {scale[tiny[0]]:.0e}; multiply it")
    return Preprocessing(shift, delta, 1 / scale), scale, 1.0


def solve(A: Operator, solver: Solver, request: Request, bound: int, n_rows: int | None) -> tuple[Spectrum, float]:
    """The spectrum with as many components as the request means, and the total variance."""
    asked, rng = request.n_components, np.random.default_rng(request.seed)
    if asked == "mle" and not solver.direct:
        given = request.solver if isinstance(request.solver, str) else request.name
        raise ValueError(
            f"n_components='mle' cannot be a string with svd_solver={given!r}: it weighs the whole spectrum; use 'auto'"
        )
    k = asked if isinstance(asked, int) else bound
    if isinstance(asked, float) and not solver.direct:
        k = min(FIRST_GUESS, bound)
    while True:
        basis = solver.basis(A, k, tol=request.tol, rng=rng)
        pairs = A.ritz(basis.Q, basis.AQ, basis.P, request.tol)
        total = float(np.sum(pairs.values)) if isinstance(solver, SVD) else float(A.trace or 0.0)
        if not isinstance(asked, float) or k == bound or float(np.sum(pairs.values[:k])) > asked * total:
            break
        if request.name == "auto" and 16 * k > bound:  # a direct solver has the whole spectrum for less
            break
        k = min(2 * k, bound)
    if isinstance(asked, float):
        k = rank.for_share(pairs.values[:k], total, asked)
    elif asked == "mle":
        k = rank.minka(pairs.values[:bound], n_rows or bound)
    return certify(A, pairs, basis, k, tol=request.tol, n_rows=n_rows), total


def _left_out(found: Spectrum, total: float, bound: int) -> tuple[float, bool]:
    """Σ of the values left out, and whether it stands above rounding: summed where all are known, else by the trace."""
    if found.spare is not None and len(found.values) + len(found.spare) >= bound:
        return float(np.sum(found.spare[: bound - len(found.values)])), True
    rest = max(total - float(np.sum(found.values)), 0.0)
    return rest, rest > (len(found.values) + 1) * found.certificate.rounding


def decompose_moments(found: Moments, request: Request, name: Callable[[int], str] = str) -> Decomposition:
    """Fit a principal subspace to rows of which only the moments are left."""
    n, d = found.count, len(found.mean)
    if found.centred != request.center:
        raise DataError(f"rows were summed with center={found.centred}; that cannot be changed, start a new model")
    check_count(n, request)
    prepare, scale, unit = preprocessing(found, request, name)
    mean, why = found.mean if request.center else None, "the rows were summed up as they came"
    if found.triangle is not None and request.name in ("auto", "svd"):
        A: Operator = _kept(found, prepare, request)
        why = "the triangle of the rows was kept up as they came, so small variances have all their digits"
        request = replace(request, solver="svd")
    else:
        A = Summed(found.formed(), prepare, request.ddof, min(n - request.center, d), scaled=request.scale)
        if request.name in ("svd", "gram"):
            why = f"{request.name} needs the rows, but they were summed up as they came"
            request = replace(request, solver="covariance")
    fit = decompose_matrix(A, unit, scale, request, mean, n, why)
    return replace(fit, moments=found)


def _kept(found: Moments, prepare: Preprocessing, request: Request) -> Operator:
    """The covariance from the triangle of rows that are gone."""
    A = factored(found, prepare, found.count - request.ddof, scale_error(found) if request.scale else 0.0)
    A.rank_bound, A.passes = min(found.count - request.center, A.dim), 1
    return A


def summing_memory(d: int) -> int:
    """Bytes of whole moments: a sum in every thread, finished ones waiting to be added, the matrix and a copy."""
    return 8 * d * d * (4 + 2 * pinned.budget())


def summed(rows: Rows, request: Request) -> Moments:
    """Moments of a batch, whole and in float64, to be merged with those of other batches; for svd, their triangle."""
    d, by_triangle = rows.shape[1], request.name == "svd"
    memory = costs.triangle_memory(rows) if by_triangle else summing_memory(d)
    if memory > request.limit:
        needed, allowed = format_bytes(memory), format_bytes(request.limit)
        raise ValueError(
            f"memory_limit of {allowed} is too small: moments of {d} columns take {needed}; raise it, or start a new "
            "model with partial_fit, which will sketch the rows"
        )
    with team():
        if by_triangle:
            return triangular_moments(rows, center=request.center)
        return moments(rows, center=request.center, wide=True)


def check_count(n: int, request: Request) -> None:
    """A variance needs two rows, and more than ddof."""
    least = max(2, request.ddof + 1)
    if n < least:
        raise DataError(f"needs at least {least} rows for a variance, got n_samples={n} with ddof={request.ddof}")


def decompose_matrix(
    A: Operator,
    unit: float,
    scale: Array | None,
    request: Request,
    mean: Array | None,
    n_rows: int | None,
    why: str = "the covariance matrix was given",
) -> Decomposition:
    """Fit a principal subspace to a covariance matrix given directly, or by its factor, A·unit²."""
    if request.n_components == "mle" and n_rows is None:
        raise ValueError("n_components='mle' weighs the evidence of the rows; pass n_rows")
    if mean is not None and not request.center:
        raise ValueError("center=False, but a mean was given; leave one of them out")
    request = replace(request, n_components=rank.checked(request.n_components, n_rows or A.dim, A.dim))
    name = "covariance" if request.name == "auto" else request.name
    if name == "gram" or (name == "svd" and A.factor() is None):
        raise ValueError(f"svd_solver={name!r} needs the rows; a covariance is decomposed by 'covariance'")
    bound = min(n_rows or A.dim, A.dim)
    found, total = solve(A, request.chosen(name), request, bound, n_rows)
    share, copies, dense = (14.0, 10, False) if name == "svd" else (4.0 / 3, 3, True)
    plan = Plan(name, "covariance", 0, share * A.dim**3, 8 * copies * A.dim**2, why, dense)
    return in_units_of_data(found, total, unit, bound, plan, mean, scale, n_rows, request.ddof)
