"""Models into files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ritz import __version__
from ritz.errors import DataError
from ritz.pca.model_file import Twister
from ritz.rows.columns import model_columns
from ritz.runtime.files.container import Stored, parsed, write
from ritz.runtime.files.decoding import Form
from ritz.runtime.files.encoding import Encoder

if TYPE_CHECKING:
    from ritz.estimators.base import Certified


class Kind(NamedTuple):
    """What a file holds of a model: its state, what may appear in it, and what its parameters may be."""

    state: type[Any]
    forms: Mapping[type[Any], Form]
    parameter: Any


def write_model(model: Certified, path: str | PathLike[str], notes: Any) -> None:
    """Parameters, notes and state into a file."""
    state, encoder = model._stored_state(), Encoder(model._kind.forms)
    model._check_parameters(state)  # they may have been changed since the fit
    names = model_columns(model)
    state = replace(
        state,
        columns=None if names is None else tuple(names),
        textual=model._column_keys is None,
        output=model.__dict__.get("_sklearn_output_config", {}).get("transform"),
    )
    kept = _checked(notes)
    given = {
        name: encoder.encoded(_parameter(name, value), f"parameters.{name}")
        for name, value in model._stored_parameters().items()
    }
    tree = {"parameters": given, "notes": kept, **encoder.encoded(state)}
    name = type(model).__name__
    if type(model).__module__.partition(".")[0] != "ritz":
        raise DataError(f"{name} is not a class of ritz, so a model file cannot hold it; use pickle or joblib for it")
    write(path, Stored(name, tree, encoder.tensors), __version__)


def _checked(notes: Any) -> dict[str, Any]:
    """Notes that come back as they were given, but for tuples, which come back as lists."""
    rule = "notes must be a mapping of what JSON has: text, finite numbers, lists and tables with text as keys"
    if not isinstance(notes, Mapping):
        raise DataError(f"{rule}; found {type(notes).__name__}")
    try:
        return parsed(json.dumps(dict(notes), allow_nan=False), "the notes")
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{rule}; {error}") from None


def _parameter(name: str, value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        state: dict[str, Any] = dict(value.get_state(legacy=False))
        if state["bit_generator"] == "MT19937":
            return Twister(state["state"]["key"], int(state["state"]["pos"]), state["has_gauss"], state["gauss"])
    if callable(value) and not isinstance(value, type):
        raise DataError(
            f"{name}={getattr(value, '__name__', value)!r} is a Python function, which a model file cannot hold; use "
            "pickle or joblib between trusted programs"
        )
    if isinstance(value, Mapping):
        return json.dumps(_checked(value))
    return value
