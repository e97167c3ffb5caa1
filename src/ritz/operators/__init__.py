"""Operators: symmetric positive semidefinite matrices known by what they do to a block of vectors."""

from ritz.operators.base import Dense, Factored, Function, Operator
from ritz.operators.covariance import Covariance, Summed, factored, scale_error
from ritz.operators.gram import Gram
from ritz.operators.kernel import Kernel
from ritz.operators.lowrank import LowRank
from ritz.operators.sketched import Sketched

__all__ = [
    "Covariance",
    "Dense",
    "Factored",
    "Function",
    "Gram",
    "Kernel",
    "LowRank",
    "Operator",
    "Sketched",
    "Summed",
    "factored",
    "scale_error",
]
