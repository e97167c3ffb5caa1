"""The parameters of CompressedSensing, checked, and what to tell the user of a recovery."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from numbers import Integral, Real
from sys import float_info
from typing import Any

from ritz.errors import DataError
from ritz.runtime.wording import at_most
from ritz.sensing import SOLVERS
from ritz.sensing.certificate import RecoveryCertificate
from ritz.sensing.phase_transition import LEAST_GAP
from ritz.solvers.base import check_tol

NEARLY = 1e-3  # relative residuals that speak for the basis


@dataclass(frozen=True)
class Asked:
    """What a CompressedSensing asks for, of signals of known length."""

    n_measurements: int
    signal_shape: tuple[int, ...]
    solver: str
    sparsity: int | None
    noise: float
    tol: float
    max_iter: int | None


def check_solver(asked: Asked, coefficients: int) -> None:
    """Whether the solver is one for this."""
    solver = SOLVERS[asked.solver]
    stops = solver.greedy and (asked.sparsity is not None or asked.noise > 0)
    if solver.longest is not None and coefficients > solver.longest and not stops:
        known = " unless sparsity or noise says when to stop" if solver.greedy else ""
        raise DataError(
            f"solver={asked.solver!r} is for up to {solver.longest} coefficients{known}, and there are {coefficients}; "
            "solver='fista' has no limit"
        )
    if asked.noise and not solver.noisy:
        raise DataError(
            f"solver={asked.solver!r} takes measurements as exact, and noise={asked.noise:g} says that they are not; "
            "use solver='fista' or 'omp'"
        )


def check_fit(asked: Asked, coefficients: int) -> None:
    """The same for a fit, after which a greedy solver may still be told when to stop."""
    if not SOLVERS[asked.solver].greedy:
        check_solver(asked, coefficients)


def asked_of(model: Any, length: int) -> Asked:
    """The parameters of a model for signals of this length."""
    check_tol(model.tol)
    if not isinstance(model.solver, str) or model.solver not in SOLVERS:
        raise ValueError(f"solver={model.solver!r} is not known; the known ones are {', '.join(SOLVERS)}")
    return Asked(
        _measurements(model.n_measurements, length),
        _shape(model.signal_shape, length),
        model.solver,
        _count(model.sparsity, "sparsity"),
        _noise(model.noise),
        float(model.tol),
        _count(model.max_iter, "max_iter"),
    )


def _measurements(asked: Any, length: int) -> int:
    if isinstance(asked, Real) and not isinstance(asked, Integral) and 0 < float(asked) < 1:
        return max(1, round(float(asked) * length))
    if not isinstance(asked, Integral) or isinstance(asked, bool) or int(asked) < 1:
        raise ValueError(f"n_measurements={asked!r} must be an integer >= 1, or a share of the length in (0, 1)")
    if int(asked) > length:
        raise DataError(
            f"n_measurements={asked} is more than the {length} entries of a signal (n_features={length}); that many "
            f"need no recovery: ask for {length} or fewer"
        )
    return int(asked)


def _noise(asked: Any) -> float:
    if asked is None:
        return 0.0
    real = isinstance(asked, Real) and not isinstance(asked, bool)
    if not real or not 0 <= asked <= float_info.max:
        raise ValueError(f"noise={asked!r} must be a standard deviation: a finite number >= 0, or None")
    return float(asked)


def _shape(asked: Any, length: int) -> tuple[int, ...]:
    if asked is None:
        return (length,)
    sizes = (asked,) if isinstance(asked, Integral) else asked
    if (
        not isinstance(sizes, tuple | list)
        or len(sizes) not in (1, 2)
        or not all(isinstance(size, Integral) and not isinstance(size, bool) and int(size) >= 1 for size in sizes)
    ):
        raise ValueError(f"signal_shape={asked!r} must be a length, or the height and width of an image")
    if prod(sizes) != length:
        raise DataError(
            f"signal_shape={asked!r} has {prod(sizes)} entries, but signals have {length} (n_features={length})"
        )
    return tuple(map(int, sizes))


def _count(asked: Any, name: str) -> int | None:
    if asked is None:
        return None
    if not isinstance(asked, Integral) or isinstance(asked, bool) or int(asked) < 1:
        raise ValueError(f"{name}={asked!r} must be an integer >= 1, or None")
    return min(int(asked), 1 << 31)


def complaints(certificate: RecoveryCertificate, max_iter: int | None) -> list[str]:
    """What a user should know and can act on."""
    known, b = certificate, len(certificate.converged)
    found = [_hopeless(known)] if known.hopeless.any() else []
    short = ~known.converged & ~known.hopeless
    if short.any():
        found.append(_short(known, short, max_iter))
    silent, poor = known.silent, known.poor
    if silent.any():
        found.append(
            f"nothing stands above noise={known.noise:g} in {silent.sum()} of {b} signals, which come back as zeros; "
            "noise is the standard deviation of a single measurement"
        )
    if poor.any():
        found.append(
            f"up to {known.residual[poor].max():.0%} of the measurements of {poor.sum()} of {b} signals are left "
            "unexplained by the coefficients found; raise sparsity, or check that basis, measurement and random_state "
            "are those that were measured with"
        )
    if known.doubtful.any():
        found.append(_doubtful(known))
    if known.alike and b:
        found.append(
            "through these measurements some basis vectors look the same, or cannot be seen (coherence 1 between "
            "columns): signals that contain them cannot be told from others; measure more, or less like the basis"
        )
    return found


def _hopeless(known: RecoveryCertificate) -> str:
    """Too few measurements; or enough for what counts, which still take too many coefficients to be explained."""
    m, b, which = known.n_measurements, len(known.converged), known.hopeless
    counted = f"{which.sum()} of {b} signals have up to {known.sparsity[which].max()} coefficients, of "
    if known.needed > m:
        return (
            f"{m} measurements are hopeless for the sparsity found: {counted}{known.n_coefficients}, that count, and "
            f"those need about {known.needed} random measurements; measure more, choose a basis in which the signals "
            "are sparser, or say how much noise there is"
        )
    return (
        f"{m} measurements take so many coefficients to be explained that anything could be: {counted}"
        f"{known.n_coefficients}, that count; measure more, choose a basis in which the signals are sparser, say how "
        "much noise there is, or check that basis, measurement and random_state are those that were measured with"
    )


def _doubtful(known: RecoveryCertificate) -> str:
    """Explained, but perhaps by another signal."""
    which, m, least = known.doubtful, known.n_measurements, known.doubtless
    kind = "measurements with noise" if known.generic else "measurements of your own"
    kind = "signs or samples" if known.random and not known.generic else kind
    text = (
        f"the measurements of {which.sum()} of {len(which)} signals are explained by up to "
        f"{known.support_size[which].max()} of {known.n_coefficients} coefficients, but so few {kind}, {m}, may be "
        "explained as well by others, and what came back need not be the signal; "
    )
    enough = " for random signs" * (not known.generic)
    more = f"measure more (about {least} are enough{enough})" if m < least <= known.n_coefficients else ""
    other = "use measurement='gaussian', which has no such accidents" * (known.random and not known.generic)
    return text + (", or ".join(part for part in (more, other) if part) or "measure more")


def _short(known: RecoveryCertificate, short: Any, max_iter: int | None) -> str:
    """What was not reached, and what may help."""
    residual, gap, b = known.residual[short].max(), known.duality_gap[short].max(), len(known.converged)
    text = (
        f"accuracy tol={known.tol:g} was not reached for {short.sum()} of {b} signals: residual at most "
        f"{at_most(residual)} of the measurements, duality gap at most {at_most(gap)} of the objective; "
    )
    if max_iter is not None and (known.solver == "basis-pursuit" or (known.iterations[short] >= max_iter).any()):
        return text + f"raise max_iter={max_iter}"
    if known.solver == "omp" and (2 * known.support_size[short] >= known.n_measurements - 1).any():
        return text + "matching pursuit takes no more coefficients than half of the measurements; solver='fista' may"
    if (gap > max(known.tol, LEAST_GAP) and known.solver != "omp") or residual < NEARLY:
        return text + "raise max_iter or tol; see certificate_"
    noise = "" if known.noise else "say how much noise there is, or "
    return text + f"the basis cannot give these measurements; {noise}choose another one"
