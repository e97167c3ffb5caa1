"""Principal components from rows, from moments or from a covariance, without scikit-learn.

Comes in: Rows, moments or batches, and a request. Goes out: a certified fit, and its state as a model file keeps it.
A new fitted attribute of PCA is one line in `state`. `angles` compares two subspaces, `gaussian` is the probabilistic
model behind `score`.
"""
