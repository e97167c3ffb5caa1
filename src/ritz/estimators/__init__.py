"""Estimators: parameters are checked, a fit is run, its result becomes attributes.

Comes in: what users pass. Goes out: fitted estimators, model files, ONNX graphs, warnings.
A new parameter is one argument and one line in the table of rules of its estimator, a new warning one line in
`diagnostics`, a new model one file beside `pca` and one class in `scikit_learn`. What all models share is in `base`;
the mathematics belongs into `pca`, `kernels` or `sensing`. Only `scikit_learn` knows scikit-learn.
"""
