"""Models from files: read, checked against everything that is known of a model, and put together."""

from __future__ import annotations

import inspect
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import clone

from ritz.errors import DataError
from ritz.estimators.fitted import of_subspace
from ritz.estimators.kernel_fitted import way_back
from ritz.estimators.kernel_pca import KernelPCA
from ritz.estimators.kernel_request import chosen_kernel, requested
from ritz.estimators.pca import PCA
from ritz.files.container import Stored, brief, parsed, read
from ritz.files.decoding import Decoder
from ritz.kernel_states import FORMS, KernelState
from ritz.states import Parameter, PCAState, Twister

LONGEST = 300  # letters of a message about what is in a file
STATES: dict[str, tuple[type[Any], type[Any]]] = {"PCA": (PCA, PCAState), "KernelPCA": (KernelPCA, KernelState)}


def load(path: str | PathLike[str]) -> PCA | KernelPCA:
    """The model that `save` wrote into a file. It transforms to the last bit as it did before.

    Nothing in the file is run, and everything is checked: a file that is damaged, or made to deceive, is an error.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ritz import PCA
    >>> pca = PCA(1).fit(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.1]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pca.save(f"{folder}/pca.safetensors")
    ...     print(load(f"{folder}/pca.safetensors"))
    PCA(n_components=1)
    """
    try:
        with np.errstate(all="ignore"):  # of numbers that nobody computed; what is wrong with them, checks will say
            return _model(read(path))
    except ValueError as error:  # of the classes in the file, and of the parameters
        raise DataError(f"cannot load {str(path)!r}: {brief(error, LONGEST)}") from None


def _model(stored: Stored) -> PCA | KernelPCA:
    if stored.kind not in STATES:
        raise DataError(f"expected a model of kind {' or '.join(STATES)}, found {brief(stored.kind)!r}")
    kind, form = STATES[stored.kind]
    decoder, tree = Decoder(FORMS, stored.tensors), stored.tree
    if not isinstance(tree, dict):
        raise DataError(f"expected a table in the metadata model, found {brief(tree)}")
    notes, given = tree.pop("notes", {}), tree.pop("parameters", {})
    if not isinstance(notes, dict) or not isinstance(given, dict):
        raise DataError("expected tables of notes and parameters, found something else")
    model = kind(**_parameters(given, kind, decoder))
    state = decoder.decoded(tree, form)
    decoder.check_all_used()
    _restore(model, state)
    model.notes_ = notes
    return model


def _parameters(given: dict[str, Any], kind: type[Any], decoder: Decoder) -> dict[str, Any]:
    known = inspect.signature(kind).parameters
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise DataError(f"expected parameters of {kind.__name__}, found {brief(unknown[0])!r}")
    return {
        name: _parameter(name, decoder.decoded(node, Parameter, f"parameters.{name}")) for name, node in given.items()
    }


def _parameter(name: str, value: Any) -> Any:
    if isinstance(value, Twister):
        generator = np.random.RandomState()
        generator.set_state(("MT19937", value.key, value.position, value.has_gauss, value.gauss))
        return generator
    if name == "kernel_params" and isinstance(value, str):
        return parsed(value, "kernel_params")
    return value


def _restore(model: Any, state: PCAState | KernelState) -> None:
    """Everything a fit would have left on the model."""
    try:
        _check_parameters(clone(model), state)  # a copy, because that draws from random_state
    except ValueError as error:
        raise DataError(f"expected parameters that {type(model).__name__} takes, found that {error}") from None
    model.n_features_in_ = state.n_features
    if state.columns is not None:
        model.feature_names_in_ = np.array(state.columns, dtype=object)
    if state.output is not None:
        model.set_output(transform=state.output)
    model.__dict__.update(_pca(state) if isinstance(state, PCAState) else _kernel_pca(state))


def _check_parameters(model: Any, state: PCAState | KernelState) -> None:
    """By the rules of a fit."""
    if isinstance(state, PCAState):
        model._request()
    else:
        requested(model, len(state.eigenvectors))
        chosen_kernel(model, state.gamma)


def _pca(state: PCAState) -> dict[str, Any]:
    dtype, found = np.dtype(state.dtype), state.moments
    known: dict[str, Any] = {"_moments": found, "_dtype": dtype}
    if found is not None:
        known["n_samples_seen_"] = found.count
    if state.subspace is None or state.deviations is None:
        return known
    known |= of_subspace(state.subspace, state.deviations, dtype)
    known |= {"certificate_": state.certificate, "plan_": state.plan, "history_": state.history}
    known |= {"explained_variance_ratio_": state.ratios, "total_variance_": state.total_variance}
    others = {"dual_components_": state.dual, "rank_choice_": state.choice}
    return known | {name: value for name, value in others.items() if value is not None}


def _kernel_pca(state: KernelState) -> dict[str, Any]:
    known: dict[str, Any] = {
        "X_fit_": state.rows,
        "gamma_": state.gamma,
        "eigenvalues_": state.eigenvalues,
        "eigenvectors_": state.eigenvectors,
        "explained_variance_ratio_": state.ratios,
        "explained_variance_ratio_bounds_": state.ratio_bounds,
        "trace_error_": state.trace_error,
        "embedding_": state.embedding,
        "_deviations": state.deviations,
        "certificate_": state.certificate,
        "plan_": state.plan,
        "history_": state.history,
    }
    return known if state.preimage is None else known | way_back(state.preimage, state.eigenvectors * state.deviations)
