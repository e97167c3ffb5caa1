"""Estimators with scikit-learn's contract."""

from ritz.estimators.batches import merge
from ritz.estimators.pca import PCA

__all__ = ["PCA", "merge"]
