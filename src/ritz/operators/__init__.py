"""Operators: symmetric positive semidefinite matrices known by what they do to a block of vectors."""

from ritz.operators.base import Dense, Factored, Function, Operator
from ritz.operators.covariance import Covariance, Summed, factored, scale_error
from ritz.operators.gram import Gram
from ritz.operators.sketched import Sketched

__all__ = [
    "Covariance",
    "Dense",
    "Factored",
    "Function",
    "Gram",
    "Operator",
    "Sketched",
    "Summed",
    "factored",
    "scale_error",
]
