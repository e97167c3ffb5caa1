"""Estimators: parameters are checked, a fit is run, its result becomes attributes.

Comes in: what users pass. Goes out: fitted estimators, model files, ONNX graphs, warnings.
A new parameter of PCA is one field and one line in the table `RULES` of `pca.py`, and one field of
`fitting.request.Request` where the fit needs it. The words of a new warning are one line in `diagnostics`; the fact
behind it comes from `Certificate.diagnostics`, or from the fit.
A new model is one file beside `pca.py` with what it does, one class in `scikit_learn` with scikit-learn's contract,
which no other module knows, and one line in `loading`; its mathematics and its `state` are a package of their own, such
as `ritz.pca`. What all models share is in `base`.
"""
