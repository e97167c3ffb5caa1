"""Models from files: read, checked against everything that is known of a model, and put together."""

from __future__ import annotations

import inspect
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ritz.errors import DataError
from ritz.estimators.compressed_sensing import CompressedSensing
from ritz.estimators.fitted import of_subspace
from ritz.estimators.kernel_fitted import way_back
from ritz.estimators.kernel_pca import KernelPCA
from ritz.estimators.kernel_request import chosen_kernel, requested
from ritz.estimators.pca import PCA
from ritz.estimators.saving import check_ddof
from ritz.estimators.sensing_saving import check_parameters, restored
from ritz.fitting.request import checked_components
from ritz.kernels import state as kernel_states
from ritz.kernels.state import KernelState
from ritz.pca import state as states
from ritz.pca.state import PCAState, Twister
from ritz.runtime.files.container import VERSION, Stored, brief, parsed, read
from ritz.runtime.files.decoding import Decoder, Form
from ritz.sensing import state as sensing_states
from ritz.sensing.state import MatrixState, SensingState

LONGEST = 300  # letters of a message about what is in a file
Model = PCA | KernelPCA | CompressedSensing
State = PCAState | KernelState | SensingState


class Kind(NamedTuple):
    """A model, its state, what may appear in it, and what its parameters may be."""

    model: type[Any]
    state: type[Any]
    forms: dict[type[Any], Form]
    parameter: Any


KINDS = {
    "PCA": Kind(PCA, PCAState, states.FORMS, states.Parameter),
    "KernelPCA": Kind(KernelPCA, KernelState, kernel_states.FORMS, states.Parameter),
    "CompressedSensing": Kind(CompressedSensing, SensingState, sensing_states.FORMS, sensing_states.Parameter),
}


def load(path: str | PathLike[str]) -> Model:
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
    again = ""
    try:
        stored = read(path)
        if stored.version < VERSION:
            again = (
                f"; a file of format version {stored.version} lacks what very large or small data needs: fit the model "
                "again with this version of ritz"
            )
        with np.errstate(all="ignore"):  # of numbers that nobody computed; what is wrong with them, checks will say
            return _model(stored)
    except ValueError as error:  # of the classes in the file, and of the parameters
        raise DataError(f"cannot load {str(path)!r}: {brief(error, LONGEST)}{again}") from None


def _model(stored: Stored) -> Model:
    if stored.kind not in KINDS:
        raise DataError(f"expected a model of kind {' or '.join(KINDS)}, found {brief(stored.kind)!r}")
    kind = KINDS[stored.kind]
    decoder, tree = Decoder(kind.forms, stored.tensors), stored.tree
    if not isinstance(tree, dict):
        raise DataError(f"expected a table in the metadata model, found {brief(tree)}")
    notes, given = tree.pop("notes", {}), tree.pop("parameters", {})
    if not isinstance(notes, dict) or not isinstance(given, dict):
        raise DataError("expected tables of notes and parameters, found something else")
    model: Model = kind.model(**_parameters(given, kind, decoder))
    state = _in_version_2(decoder.decoded(tree, kind.state), stored.version)
    decoder.check_all_used()
    _restore(model, state)
    model.notes_ = notes
    return model


def _in_version_2(state: State, version: int) -> State:
    """Version 1 keeps the coefficients of kernel models multiplied by the unit of the kernel's values."""
    if version > 1 or not isinstance(state, KernelState):
        return state
    was = state.embedding
    unit = was.frame.unit
    embedding = replace(was, coefficients=was.coefficients / unit, offset=was.offset / unit)
    if not np.isfinite(embedding.coefficients).all() or not np.isfinite(embedding.offset).all():
        raise DataError(f"expected coefficients in units of {unit:.0e}, found some beyond the range of float64")
    preimage = None if state.preimage is None else replace(state.preimage, embedding=embedding)
    return replace(state, embedding=embedding, preimage=preimage)


def _parameters(given: dict[str, Any], kind: Kind, decoder: Decoder) -> dict[str, Any]:
    known = inspect.signature(kind.model).parameters
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise DataError(f"expected parameters of {kind.model.__name__}, found {brief(unknown[0])!r}")
    absent = [name for name, known_as in known.items() if known_as.default is known_as.empty and name not in given]
    if absent:
        raise DataError(f"expected the parameter {absent[0]}, found nothing")
    return {
        name: _parameter(name, decoder.decoded(node, kind.parameter, f"parameters.{name}"))
        for name, node in given.items()
    }


def _parameter(name: str, value: Any) -> Any:
    if isinstance(value, Twister):
        generator = np.random.RandomState()
        generator.set_state(("MT19937", value.key, value.position, value.has_gauss, value.gauss))
        return generator
    if isinstance(value, MatrixState):
        return value.entries
    if name == "kernel_params" and isinstance(value, str):
        return parsed(value, "kernel_params")
    return value


def _restore(model: Any, state: State) -> None:
    """Everything a fit would have left on the model."""
    try:
        _check_parameters(model, state)
    except ValueError as error:
        raise DataError(f"expected parameters that {type(model).__name__} takes, found that {error}") from None
    model.n_features_in_ = state.n_features
    if state.columns is not None and state.textual:
        model.feature_names_in_ = np.array(state.columns, dtype=object)
    model._column_keys = None if state.textual else state.columns
    if state.output is not None:
        model.set_output(transform=state.output)
    model.__dict__.update(_learned(model, state))


def _check_parameters(model: Any, state: State) -> None:
    """By the rules of a fit; on a copy, where that draws from random_state."""
    if isinstance(state, SensingState):
        check_parameters(model, state.n_features)
    elif isinstance(state, PCAState):
        request = clone(model)._request()
        checked_components(request.n_components, state.n_features, state.n_features)
        check_ddof(request, state)
    else:
        requested(clone(model), len(state.eigenvectors))
        chosen_kernel(model, state.gamma)


def _learned(model: Any, state: State) -> dict[str, Any]:
    if isinstance(state, PCAState):
        return _pca(state)
    if isinstance(state, KernelState):
        return _kernel_pca(state)
    try:
        return restored(model, state)
    except ValueError as error:
        raise DataError(f"expected parts that fit together, found that {error}") from None


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
