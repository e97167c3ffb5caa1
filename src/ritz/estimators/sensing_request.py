"""The parameters of CompressedSensing, checked, and what to tell the user of a recovery."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod
from numbers import Integral, Real
from typing import Any

from ritz.errors import DataError
from ritz.sensing import SOLVERS
from ritz.sensing.certificate import RecoveryCertificate
from ritz.spectrum import check_tol


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
    if solver.longest is not None and coefficients > solver.longest:
        raise DataError(
            f"solver={asked.solver!r} is for up to {solver.longest} coefficients, and there are {coefficients}; "
            "solver='fista' has no limit"
        )
    if asked.noise and not solver.noisy:
        raise DataError(
            f"solver={asked.solver!r} takes measurements as exact, and noise={asked.noise:g} says that they are not; "
            "use solver='fista' or 'omp'"
        )


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
    if not isinstance(asked, Real) or isinstance(asked, bool) or not 0 <= float(asked) < inf:
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
    return int(asked)


def complaints(certificate: RecoveryCertificate) -> list[str]:
    """What a user should know and can act on."""
    b, found = len(certificate.converged), []
    if certificate.hopeless.any():
        found.append(
            f"{certificate.n_measurements} measurements are hopeless for the sparsity found: "
            f"{certificate.hopeless.sum()} of {b} signals have up to {certificate.sparsity.max()} coefficients, of "
            f"{certificate.n_coefficients}, that count, and those need about {certificate.needed} random measurements; "
            "measure more, choose a basis in which the signals are sparser, or say how much noise there is"
        )
    short = ~certificate.converged & ~certificate.hopeless
    if short.any():
        found.append(
            f"accuracy tol={certificate.tol:g} was not reached for {short.sum()} of {b} signals: relative residual "
            f"{certificate.residual[short].max():.1e}, duality gap {certificate.duality_gap[short].max():.1e}; raise "
            "max_iter or tol, or say how much noise there is; see certificate_"
        )
    return found
