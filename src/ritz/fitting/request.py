"""What is asked of a fit: the numerical parameters, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ritz.errors import DataError, ParameterError
from ritz.runtime.rules import is_integer, is_number, is_share
from ritz.solvers import ALIASES, SOLVERS, Solver, by_name
from ritz.solvers.base import check_object, with_options


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
        check_object("svd_solver", self.solver)
        if isinstance(self.solver, str) and self.name != "auto":
            by_name(self.name)

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
        passes = self.passes if name != "power" else None
        return with_options(SOLVERS[name], oversample=self.oversample, max_iter=passes)


def checked_components(asked: Any, n: int, d: int) -> int | float | str | None:
    """n_components as None, "mle", "auto", a float inside (0, 1) or an int from 1 to min(n, d); else an error.

    Examples
    --------
    >>> checked_components(7, 100, 5)
    Traceback (most recent call last):
    ...
    ritz.errors.ParameterError: n_components=7 must be between 1 and min(n_samples, n_features)=5
    """
    if asked is None or is_auto(asked):
        return asked
    if is_integer(asked) and 1 <= int(asked) <= min(n, d):
        return int(asked)
    rule = f"must be between 1 and min(n_samples, n_features)={min(n, d)}"
    plain = f"must be between 1 and the smaller of rows and columns, {min(n, d)}"
    if isinstance(asked, str) and asked == "mle":
        if n < d:
            rule = f"is only supported if n_samples >= n_features, got {n} < {d}"
            raise ParameterError("n_components", asked, rule, f"needs as many rows as columns, and has {n} < {d}")
        return asked
    if is_share(asked):
        return float(asked)
    if is_integer(asked):
        raise ParameterError("n_components", int(asked), rule, plain)
    if is_number(asked):
        more = ", or a fraction strictly between 0 and 1"
        raise ParameterError("n_components", float(asked), rule + more, plain + more)
    raise ParameterError("n_components", asked, f"{rule}, a fraction between 0 and 1, 'mle', 'auto' or None")


def is_auto(asked: object) -> bool:
    """Whether the number of components is to be found by sign flips."""
    return isinstance(asked, str) and asked == "auto"


def check_at_hand(asked: object, what: str) -> None:
    """Signs can only be flipped in rows that are there: "auto" is an error where they are not."""
    if is_auto(asked):
        raise ParameterError(
            "n_components",
            asked,
            f"compares rows with copies of them whose signs are flipped, but {what}; ask for a number of components or "
            "a share of the variance instead",
        )


def check_count(n: int, request: Request) -> None:
    """A variance needs two rows, and more than ddof."""
    if (error := too_few(n, request.ddof)) is not None:
        raise error


def too_few(n: int, ddof: int = 1) -> DataError | None:
    """Why so many rows have no variance, and how many have; None where they do.

    Examples
    --------
    >>> print(too_few(1))
    one row has no variance (n_samples=1); give at least 2 rows
    >>> print(too_few(2))
    None
    """
    least = max(2, ddof + 1)
    if n >= least:
        return None
    problem = "one row has no variance" if n == 1 else f"{n} rows have no variance with ddof={ddof}"
    advice = f"give at least {least} rows" + (n > 1) * ", or a smaller ddof"
    return DataError(f"{problem} (n_samples={n})", advice, plain=problem)
