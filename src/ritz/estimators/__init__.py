"""Estimators: parameters are checked, a fit is run, its result becomes attributes.

Comes in: what users pass. Goes out: fitted estimators, model files, ONNX graphs, warnings.
`estimators/pca.py` has the parameters, docstring and methods of PCA; `scikit_learn` derives from it the class that
users import, with scikit-learn's contract. What all models share is in `base` (a fit, and what it leaves),
`transformer` (scores of new rows, and the way back), `columns` (whether later data has those of the fit) and `lazy`
(collections of Dask).
A new parameter is one field of the class and one line in its table of rules (`RULES` of `pca.py`), from which its
signature and its checks follow, and one field of `fitting.request.Request` where the fit needs it.
A new warning is a fact with a code: about the eigenpairs it comes from `Certificate.diagnostics`, about the data or the
request it is found in `diagnostics`, which has the words of all of them.
A new model is one file here, one class in `scikit_learn`, one line in the table `MODELS` of `loading`, one public name
in `ritz/__init__.py`; its mathematics and its `state`, with the table `FORMS`, are a package such as `ritz.kernels`.
"""
