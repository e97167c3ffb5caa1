"""Models from files: read, checked against everything that is known of a model, and put together."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.estimators.base import Certified
from ritz.estimators.compressed_sensing import CompressedSensing
from ritz.estimators.kernel_pca import KernelPCA
from ritz.estimators.pca import PCA
from ritz.kernels.state import KernelState
from ritz.pca.model_file import Twister
from ritz.runtime.files.container import Stored, brief, parsed, read
from ritz.runtime.files.decoding import Decoder
from ritz.sensing.state import MatrixState

COMPLETE = 2  # the oldest version of the format that keeps all that a model needs
LONGEST = 300  # letters of a message about what is in a file
Classes = Mapping[str, type[Certified]]
MODELS: Classes = {"PCA": PCA, "KernelPCA": KernelPCA, "CompressedSensing": CompressedSensing}


def load(path: str | PathLike[str], classes: Classes = MODELS) -> Any:
    """The model that `save` wrote into a file, of the class that its kind stands for."""
    again = ""
    try:
        stored = read(path)
        if stored.version < COMPLETE:
            again = (
                f"; a file of format version {stored.version} lacks what very large or small data needs: fit the model "
                "again with this version of ritz"
            )
        with np.errstate(all="ignore"):  # of numbers that nobody computed; what is wrong with them, checks will say
            return _model(stored, classes)
    except ValueError as error:  # of the classes in the file, and of the parameters
        raise DataError(f"cannot load {str(path)!r}: {brief(error, LONGEST)}{again}") from None


def _model(stored: Stored, classes: Classes) -> Certified:
    if stored.kind not in classes:
        raise DataError(f"expected a model of kind {' or '.join(classes)}, found {brief(stored.kind)!r}")
    model_class = classes[stored.kind]
    kind, tree = model_class._kind, stored.tree
    decoder = Decoder(kind.forms, stored.tensors)
    if not isinstance(tree, dict):
        raise DataError(f"expected a table in the metadata model, found {brief(tree)}")
    notes, given = tree.pop("notes", {}), tree.pop("parameters", {})
    if not isinstance(notes, dict) or not isinstance(given, dict):
        raise DataError("expected tables of notes and parameters, found something else")
    model = model_class(**_parameters(given, model_class, decoder))
    state = _in_version_2(decoder.decoded(tree, kind.state), stored.version)
    decoder.check_all_used()
    _restore(model, state)
    model.notes_ = notes
    return model


def _in_version_2(state: Any, version: int) -> Any:
    """Version 1 keeps the coefficients of kernel models multiplied by the unit of the kernel's values."""
    if version >= COMPLETE or not isinstance(state, KernelState):
        return state
    was = state.embedding
    unit = was.frame.unit
    embedding = replace(was, coefficients=was.coefficients / unit, offset=was.offset / unit)
    if not np.isfinite(embedding.coefficients).all() or not np.isfinite(embedding.offset).all():
        raise DataError(f"expected coefficients in units of {unit:.0e}, found some beyond the range of float64")
    preimage = None if state.preimage is None else replace(state.preimage, embedding=embedding)
    return replace(state, embedding=embedding, preimage=preimage)


def _parameters(given: dict[str, Any], model_class: type[Certified], decoder: Decoder) -> dict[str, Any]:
    known = inspect.signature(model_class).parameters
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise DataError(f"expected parameters of {model_class.__name__}, found {brief(unknown[0])!r}")
    absent = [name for name, known_as in known.items() if known_as.default is known_as.empty and name not in given]
    if absent:
        raise DataError(f"expected the parameter {absent[0]}, found nothing")
    return {
        name: _parameter(name, decoder.decoded(node, model_class._kind.parameter, f"parameters.{name}"))
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


def _restore(model: Certified, state: Any) -> None:
    """Everything a fit would have left on the model."""
    try:
        model._check_parameters(state)
    except ValueError as error:
        raise DataError(f"expected parameters that {type(model).__name__} takes, found that {error}") from None
    try:
        learned = model._restored(replace(state, columns=None, textual=True, output=None))  # which the model has itself
    except ValueError as error:
        raise DataError(f"expected parts that fit together, found that {error}") from None
    model._remember_names(state.columns if state.textual else None, state.n_features)
    if not state.textual:
        model._column_keys = state.columns
    if state.output is not None:
        model.__dict__["_sklearn_output_config"] = {"transform": state.output}
    model._adopt(learned)
