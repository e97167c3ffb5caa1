"""Estimators with scikit-learn's contract: parameters are checked, a fit is run, its result becomes attributes.

Comes in: what users pass. Goes out: fitted estimators, model files, ONNX graphs, warnings.
A new parameter is one line in the table of its estimator; the mathematics belongs into `pca`, `kernels` or `sensing`.
"""

from ritz.estimators.partial_fit import merge
from ritz.estimators.pca import PCA

__all__ = ["PCA", "merge"]
