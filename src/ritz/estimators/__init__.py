"""Estimators with scikit-learn's contract."""

from ritz.estimators.pca import PCA

__all__ = ["PCA"]
