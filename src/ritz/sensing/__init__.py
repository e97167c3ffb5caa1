"""Compressed sensing without scikit-learn: signals that are sparse in a known basis, from few measurements.

Comes in: a measurement matrix, a basis and measurements. Goes out: signals, each with a certificate of its recovery.
A new recovery algorithm is one file and one line in the table `SOLVERS` below; a new basis or measurement is one line
in `bases` or `measurements`; a new fitted attribute is one line in `state`. The estimator with its parameters is
`estimators.compressed_sensing`.
"""

from __future__ import annotations

from ritz.sensing.base import Solver
from ritz.sensing.basis_pursuit import BasisPursuit
from ritz.sensing.fista import Fista
from ritz.sensing.omp import MatchingPursuit

SOLVERS: dict[str, Solver] = {"omp": MatchingPursuit(), "fista": Fista(), "basis-pursuit": BasisPursuit()}

__all__ = ["SOLVERS", "Solver"]
