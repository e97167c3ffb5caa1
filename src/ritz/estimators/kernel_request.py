"""The parameters of KernelPCA, checked."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.estimators.seeds import seed
from ritz.fitting.request import Request, check_at_hand
from ritz.kernels import Kernel, kernel_named
from ritz.runtime.memory import parse_bytes, physical
from ritz.solvers import LowRank, Solver

# scikit-learn's names and ours, and the solver that each one means.
EIGEN_SOLVERS: dict[str, str | Solver] = {
    "auto": "auto",
    "dense": "gram",
    "arpack": "krylov",
    "randomized": "krylov",
    "krylov": "krylov",
    "power": "power",
    "orthogonal": "orthogonal",
    "lowrank": LowRank(),
}


def requested(model: Any, n: int) -> Request:
    """What a KernelPCA asks of a fit to n rows."""
    if n < 2:
        raise DataError(f"needs at least 2 rows to be centred, got n_samples={n}")
    for name in ("fit_inverse_transform", "remove_zero_eig", "copy_X", "verbose"):
        if not isinstance(value := getattr(model, name), bool | np.bool_):
            raise ValueError(f"{name}={value!r} must be True or False")
    if model.fit_inverse_transform and isinstance(model.kernel, str) and model.kernel == "precomputed":
        raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: the rows are not known")
    if not _number(model.alpha) or model.alpha < 0:
        raise ValueError(f"alpha={model.alpha!r} must be a number >= 0")
    most = [_count(name, getattr(model, name)) for name in ("max_iter", "iterated_power")]
    return Request(
        n_components=_components(model.n_components, n),
        solver=_solver(model.eigen_solver),
        tol=model.tol,
        limit=physical() // 2 if model.memory_limit is None else parse_bytes(model.memory_limit),
        seed=seed(model.random_state),
        passes=min((count for count in most if count is not None), default=None),
    )


def chosen_kernel(model: Any, gamma: float) -> Kernel:
    """The kernel, with its parameters."""
    for name in ("degree", "coef0"):
        if not _number(value := getattr(model, name)):
            raise ValueError(f"{name}={value!r} must be a finite number")
    if model.degree < 0:
        raise ValueError(f"degree={model.degree!r} must be at least 0")
    known = {"gamma": gamma, "degree": float(model.degree), "coef0": float(model.coef0)}
    if not isinstance(model.kernel_params, Mapping | None):
        raise ValueError(f"kernel_params={model.kernel_params!r} must be a dict of keyword arguments, or None")
    return kernel_named(model.kernel, model.kernel_params, **known)


def chosen_landmarks(model: Any, n: int) -> int | float | None:
    """How many landmarks, or the share of the trace that they may lack."""
    asked = model.n_landmarks
    if asked is None:
        return None
    if not isinstance(_solver(model.eigen_solver), LowRank) and _solver(model.eigen_solver) != "auto":
        raise ValueError(
            f"n_landmarks={asked!r} does not go with eigen_solver={model.eigen_solver!r}; use 'auto' or 'lowrank'"
        )
    if isinstance(asked, Integral) and not isinstance(asked, bool) and 1 <= int(asked) <= n:
        return int(asked)
    if _number(asked) and not isinstance(asked, Integral) and 0 < float(asked) < 1:
        return float(asked)
    raise ValueError(
        f"n_landmarks={asked!r} must be an integer from 1 to n_samples={n}, a share of the trace between 0 and 1 "
        "that they may lack, or None"
    )


def _solver(asked: Any) -> str | Solver:
    if not isinstance(asked, str):
        if isinstance(asked, type):
            raise ValueError(f"eigen_solver is the class {asked.__name__}; pass an object: {asked.__name__}()")
        if not hasattr(asked, "basis"):
            raise ValueError(f"eigen_solver={asked!r} is neither a name nor a solver object with a basis method")
        return asked
    if asked not in EIGEN_SOLVERS:
        names = ", ".join(map(repr, EIGEN_SOLVERS))
        raise ValueError(f"eigen_solver={asked!r} is not one of {names}, nor a solver object")
    return EIGEN_SOLVERS[asked]


def _components(asked: Any, n: int) -> int | float | None:
    if asked is None:
        return None
    check_at_hand(asked, "KernelPCA knows inner products of features, whose signs cannot be flipped")
    if _number(asked):
        if isinstance(asked, Integral) and 1 <= int(asked) <= n:
            return int(asked)
        if not isinstance(asked, Integral) and 0 < float(asked) < 1:
            return float(asked)
    raise ValueError(
        f"n_components={asked!r} must be an integer between 1 and n_samples={n}, a share of the variance between 0 "
        "and 1, or None"
    )


def _count(name: str, value: Any) -> int | None:
    if value is None or (name == "iterated_power" and isinstance(value, str) and value == "auto"):
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise ValueError(f"{name}={value!r} must be an integer >= 1")
    return int(value)


def _number(value: Any) -> bool:
    """Whether it is a finite real number, and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and bool(np.isfinite(float(value)))
