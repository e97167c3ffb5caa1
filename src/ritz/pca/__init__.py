"""Principal components from rows, from moments or from a stream of batches, without scikit-learn.

Comes in: Rows, moments or batches, and a request. Goes out: a certified fit, and its state as a model file keeps it.
A new fitted attribute of PCA is one line in the table `LEARNED` of `state`; if it does not follow from what is kept,
one field of `PCAState` with a default too, which is what older files load with, and one line in `model_file`.
`auto_rank` runs the sign flips of n_components="auto", `angles` compares two subspaces, `gaussian` is the
probabilistic model behind `score`, `recognition` compares nearest neighbours in few components and in all columns.
The estimator with its parameters is `estimators.pca`.
"""
