"""From an operator to a certified subspace, whatever the operator was made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.fitting import rank
from ritz.fitting.planning import Plan
from ritz.fitting.request import Decomposition, Request
from ritz.linalg.dense import Array
from ritz.linalg.exponents import squared
from ritz.moments.moments import Moments
from ritz.moments.preprocessing import Preprocessing
from ritz.moments.scaling import FAINT
from ritz.operators import Operator
from ritz.rows import Rows
from ritz.rows.memory.scaled import Scaled
from ritz.solvers import SVD, Solver
from ritz.spectrum.certify import Spectrum, certify
from ritz.spectrum.subspace import Subspace

FIRST_GUESS = 16  # components an iterative solver starts with when a share of the variance is asked for


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
    remainder: Array | None = None,
) -> Decomposition:
    """A fit from a spectrum of at most `bound` values; these, and what the mean lacks, are in units of `unit`."""
    total = _at_least_kept(found, total)
    left_out, seen = _left_out(found, total, bound)
    variances, rest = squared(found.values, unit), float(squared(left_out, unit))
    exact: dict[str, Any] = {}
    if unit != 1:
        exact = {"unit": unit, "roots": np.sqrt(found.values), "beyond": float(np.sqrt(left_out))}
    if remainder is not None and remainder.any():
        exact["remainder"] = remainder
    subspace = Subspace(found.vectors, variances, mean, scale, rest, n_rows, ddof, orthonormal=True, **exact)
    return Decomposition(subspace, found, found.certificate.in_units(unit), plan, total, unit, seen)


def _at_least_kept(found: Spectrum, total: float) -> float:
    """The total, which rounding alone may have left below the sum of the values kept: it is computed otherwise."""
    kept = float(np.sum(found.values))
    rounding = (len(found.values) + 1) * found.certificate.rounding
    return kept if total < kept <= total + rounding else total


def _left_out(found: Spectrum, total: float, bound: int) -> tuple[float, bool]:
    """Σ of the values left out, and whether it stands above rounding: summed where all are known, else by the trace.

    So many Ritz values as there can be eigenvalues are not yet these; if they are, they add up to the trace.
    """
    certificate, k = found.certificate, len(found.values)
    rest = max(total - float(np.sum(found.values)), 0.0)
    if found.spare is not None and k + len(found.spare) >= bound:
        summed = float(np.sum(found.spare[: bound - k]))
        if rest - summed <= (bound + 1) * (certificate.rounding + certificate.missing):
            return summed, True
    return rest, rest > (k + 1) * certificate.rounding


def preprocessing(
    found: Moments, request: Request, name: Callable[[int], str] = str
) -> tuple[Preprocessing, Array | None, float]:
    """z = (x − mean)/scale in units where nothing overflows; the scale and the unit (1 when scaled)."""
    with np.errstate(under="ignore"):
        shift, delta = (found.shift, found.delta * found.unit) if request.center else (None, None)
    shift = shift if shift is not None and shift.any() else None
    if not request.scale:
        unit = float(np.max(found.unit))
        weight = None if unit == 1 else np.full(len(found.mean), 1 / unit)
        return Preprocessing(shift, delta, weight), None, unit
    with np.errstate(over="ignore", under="ignore"):
        scale = found.unit * np.sqrt(found.diagonal / (found.count - request.ddof))
    if not np.isfinite(scale).all():
        column = name(int(np.argmin(np.isfinite(scale))))
        raise DataError(f"scale=True, but column {column} varies by more than float64 has numbers for; divide it")
    varies = found.diagonal > found.rounding * found.sizes
    tiny = np.flatnonzero((scale < np.finfo(float).tiny) & varies)
    if len(tiny):
        raise DataError(f"scale=True, but column {name(int(tiny[0]))} varies by {scale[tiny[0]]:.0e}; multiply it")
    flat = (scale <= 2 * np.finfo(float).eps * np.abs(found.mean)) | ~varies
    constant = np.flatnonzero(flat if request.center else scale <= 0)
    if len(constant):
        names = ", ".join(name(int(j)) for j in constant[:5]) + (", …" if len(constant) > 5 else "")
        what = "constant (to rounding)" if request.center else "zero"
        raise DataError(f"scale=True, but {len(constant)} column(s) are {what}: {names}; drop them or use scale=False")
    return Preprocessing(shift, delta, 1 / scale), scale, 1.0


def magnified(rows: Rows, found: Moments, prepare: Preprocessing, unit: float) -> tuple[Rows, Preprocessing, Moments]:
    """The same where numbers have all their digits: rows of faint numbers divided by their unit before all else."""
    if unit >= FAINT:
        return rows, prepare, found
    here = replace(found.rescaled(np.full(len(found.unit), unit)), unit=np.ones(len(found.unit)))
    delta, shift = (None, None) if prepare.delta is None else (here.delta, here.shift)
    if rows.sparse and delta is not None and shift is not None:  # nothing is subtracted from them
        with np.errstate(over="ignore"):
            delta, shift = shift / unit + delta, None
        if not np.isfinite(delta).all():
            column = int(np.argmin(np.isfinite(delta)))
            raise DataError(
                f"column {rows.name(column)} is {here.shift[column]:.0e} everywhere, and no other varies by more than "
                f"{unit:.0e}; drop it, or multiply the others"
            )
    return Scaled(rows, shift, 1 / unit), Preprocessing(None, delta), here
