"""Models into files, and all that a file must hold of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ritz import __version__
from ritz.errors import DataError, NotYetError
from ritz.fitting.request import Request
from ritz.pca.state import PCAState, Twister
from ritz.rows.columns import model_columns
from ritz.runtime.files.container import Stored, parsed, write
from ritz.runtime.files.encoding import Encoder


class Saving:
    """save, for an estimator that can say what it is made of."""

    _made_of: Any  # its state, and the table of all that may appear in it
    get_params: Any
    notes_: dict[str, Any]

    def save(self, path: str | PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Write the model to a file, whole or not at all; `ritz.load` reads it, and nothing in it is ever run.

        The file is in the safetensors format, which many languages read; docs/model_file.md says what is in it.

        Parameters
        ----------
        path : of the file, which is replaced if it exists
        notes : what else to keep, of what JSON has: text, numbers, lists, tables with text as keys. A loaded model has
            it as `notes_`. None keeps those that were loaded

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import ritz
        >>> X = np.random.default_rng(0).standard_normal((100, 3)) * [3, 2, 1]
        >>> pca = ritz.PCA(2).fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pca.save(f"{folder}/pca.safetensors", notes={"units": "cm"})
        ...     model = ritz.load(f"{folder}/pca.safetensors")
        >>> bool(np.array_equal(model.transform(X), pca.transform(X))), model.notes_
        (True, {'units': 'cm'})
        """
        check_is_fitted(self)
        state, forms = self._made_of()
        encoder = Encoder(forms)
        kept = _checked(self.__dict__.get("notes_", {}) if notes is None else notes)
        given = {name: _parameter(name, value) for name, value in self._given().items()}
        tree = {
            "parameters": {name: encoder.encoded(value, f"parameters.{name}") for name, value in given.items()},
            "notes": kept,
            **encoder.encoded(state),
        }
        write(path, Stored(_kind(self), tree, encoder.tensors), __version__)

    def _given(self) -> dict[str, Any]:
        """The parameters."""
        return dict(self.get_params(deep=False))


def _kind(model: Any) -> str:
    """The name of its class, if that is what will be loaded."""
    name = type(model).__name__
    if type(model).__module__.partition(".")[0] != "ritz":
        raise DataError(f"{name} is a class of its own, which a model file cannot hold; use pickle or joblib for it")
    return name


def _checked(notes: Any) -> dict[str, Any]:
    """Notes that come back as they were given, but for tuples, which come back as lists."""
    rule = "notes must be a mapping of what JSON has: text, finite numbers, lists and tables with text as keys"
    if not isinstance(notes, Mapping):
        raise DataError(f"{rule}; found {type(notes).__name__}")
    try:
        found: dict[str, Any] = parsed(json.dumps(dict(notes), allow_nan=False), "the notes")
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{rule}; {error}") from None
    return found


def _parameter(name: str, value: Any) -> Any:
    """A parameter as a file can hold it."""
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


def pca_state(model: Any) -> PCAState:
    """What a PCA is made of; the moments alone where axes cannot be computed from them yet."""
    # Parameters may have been changed since the fit; a copy, as this draws from random_state.
    request = clone(model)._request()
    with suppress(NotYetError):
        model._settle()
    known = model.__dict__
    common = {"dtype": model._dtype.name, "n_features": int(model.n_features_in_), "moments": model._moments}
    common |= {"output": output_of(model), **columns_of(model)}
    if "subspace_" not in known:
        return PCAState(**common)
    state = PCAState(
        **common,
        subspace=model.subspace_,
        deviations=model._standard_deviations,
        ratios=model.explained_variance_ratio_,
        total_variance=model.total_variance_,
        certificate=model.certificate_,
        plan=model.plan_,
        history=model.history_,
        dual=known.get("dual_components_"),
        choice=known.get("rank_choice_"),
    )
    check_ddof(request, state)
    return state


def check_ddof(request: Request, state: PCAState) -> None:
    """The rule of a fit: a variance needs more rows than ddof. Batches may still be on their way."""
    n = None if state.subspace is None else state.subspace.n_rows
    if n is not None and n <= request.ddof:
        raise ValueError(f"ddof={request.ddof} must be below the {n} rows of the fit")


def columns_of(model: Any) -> dict[str, Any]:
    """What a state says of the names of columns."""
    names = model_columns(model)
    return {"columns": None if names is None else tuple(names), "textual": model._column_keys is None}


def output_of(model: Any) -> str | None:
    return getattr(model, "_sklearn_output_config", {}).get("transform")
