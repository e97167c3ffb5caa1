"""Estimators with scikit-learn's contract."""

from ritz.estimators.batches import merge
from ritz.estimators.kernel_pca import KernelPCA
from ritz.estimators.pca import PCA

__all__ = ["PCA", "KernelPCA", "merge"]
