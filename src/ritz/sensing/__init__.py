"""Signals that are sparse in a known basis, from few measurements. A new solver is one file and one line here."""

from __future__ import annotations

from ritz.sensing.base import Solver
from ritz.sensing.fista import Fista
from ritz.sensing.omp import MatchingPursuit
from ritz.sensing.pursuit import BasisPursuit

SOLVERS: dict[str, Solver] = {"omp": MatchingPursuit(), "fista": Fista(), "basis-pursuit": BasisPursuit()}

__all__ = ["SOLVERS", "Solver"]
