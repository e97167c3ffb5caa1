"""Operators: symmetric positive semidefinite matrices known by what they do to a block of vectors.

Comes in: rows, moments, a factor or a matrix. Goes out: `apply(V)`, with a bound on its rounding.
A new operator is one file here: one product is required, the rest follows from it. How eigenvectors are found is not a
matter of this package but of `solvers`.
"""

from ritz.operators.base import Factored, Operator
from ritz.operators.by_columns import ColumnMatrix
from ritz.operators.covariance import Covariance, DataMatrix, Summed, factored, scale_error
from ritz.operators.given import Dense, Function
from ritz.operators.gram import Gram, Sketched
from ritz.operators.pivoted_cholesky import LowRank
from ritz.operators.sparse import SparseMatrix

__all__ = [
    "ColumnMatrix",
    "Covariance",
    "DataMatrix",
    "Dense",
    "Factored",
    "Function",
    "Gram",
    "LowRank",
    "Operator",
    "Sketched",
    "SparseMatrix",
    "Summed",
    "factored",
    "scale_error",
]
