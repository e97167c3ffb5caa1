"""Solvers by name. A new solver is one file in this folder and one line in the table `SOLVERS` below.

Comes in: an operator and the number of components. Goes out: an orthonormal basis with its history, and nothing else;
order, signs, eigenvalues, residuals and the certificate are computed once for all solvers, in `ritz.spectrum`.
A solver that "auto" may choose needs a cost, too, in `fitting.costs`, and a line in `fitting.planning`. `probes` are
random vectors that ride along in an iteration, for a bound on what it may have missed.
"""

from __future__ import annotations

from ritz.solvers.base import Basis, Outside, Solver, Step, with_options
from ritz.solvers.covariance import Covariance
from ritz.solvers.gram import Gram
from ritz.solvers.krylov import Krylov
from ritz.solvers.lowrank import LowRank
from ritz.solvers.orthogonal import Orthogonal
from ritz.solvers.power import Power
from ritz.solvers.svd import SVD

# Every solver by its name; `svd_solver=` and `ritz.eigen` look here. A solver of your own may be added.
SOLVERS: dict[str, type[Solver]] = {
    "covariance": Covariance,
    "gram": Gram,
    "svd": SVD,
    "power": Power,
    "orthogonal": Orthogonal,
    "krylov": Krylov,
}

# scikit-learn's names for the same things.
ALIASES = {"full": "svd", "covariance_eigh": "covariance", "arpack": "krylov", "randomized": "krylov"}


def by_name(name: str) -> Solver:
    """The solver of that name.

    Examples
    --------
    >>> by_name("full"), by_name("power").max_iter
    (SVD(), 1000)
    """
    known = ALIASES.get(name, name)
    if known not in SOLVERS:
        names = ", ".join(map(repr, ["auto", *SOLVERS, *ALIASES]))
        raise ValueError(f"solver {name!r} is not one of {names}, nor a solver object such as ritz.solvers.Power()")
    return with_options(SOLVERS[known])


__all__ = [
    "ALIASES",
    "SOLVERS",
    "SVD",
    "Basis",
    "Covariance",
    "Gram",
    "Krylov",
    "LowRank",
    "Orthogonal",
    "Outside",
    "Power",
    "Solver",
    "Step",
    "by_name",
]
