"""What is asked of a fit, and what a fit is."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ritz.errors import DataError
from ritz.fitting.planning import Plan
from ritz.fitting.rank import Choice
from ritz.moments.moments import Moments
from ritz.moments.sketch import Stream
from ritz.solvers import ALIASES, Solver, by_name
from ritz.solvers.base import check_tol
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.certify import Spectrum
from ritz.spectrum.subspace import Subspace


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
    choice: Choice | None = None  # what decided how many components, where that was left to the rows


def check_count(n: int, request: Request) -> None:
    """A variance needs two rows, and more than ddof."""
    if words := too_few(n, request.ddof):
        raise DataError(words)


def too_few(n: int, ddof: int = 1) -> str:
    """Why so many rows have no variance, and how many have; nothing where they do.

    Examples
    --------
    >>> too_few(1)
    'one row has no variance (n_samples=1); give at least 2 rows'
    >>> too_few(2)
    ''
    """
    least = max(2, ddof + 1)
    if n >= least:
        return ""
    if n == 1:
        return f"one row has no variance (n_samples=1); give at least {least} rows"
    return f"{n} rows have no variance with ddof={ddof} (n_samples={n}); give at least {least} rows, or a smaller ddof"
