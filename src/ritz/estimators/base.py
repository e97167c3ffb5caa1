"""The one base class of certified estimators: what PCA, KernelPCA and CompressedSensing share.

Here is what a fit leaves, and how it is kept; `transformer` has what a model does with rows once it is fitted.
scikit-learn, whose import takes longer than a small fit, is imported only where its errors or settings are needed;
`scikit_learn` adds its contract.
"""

from __future__ import annotations

import copy
import inspect
import sys
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np

from ritz.errors import AccuracyWarning, DataError, ParameterError, warn
from ritz.estimators import lazy
from ritz.estimators.checkpointing import watching
from ritz.estimators.columns import as_table, is_no_table, repeats
from ritz.estimators.saving import Kind, write_model
from ritz.estimators.transformer import Transformer
from ritz.fitting.request import Request
from ritz.fitting.result import Table, attributes
from ritz.linalg.arrays import Home
from ritz.rows import Rows, as_rows, is_dask
from ritz.rows.columns import keys_of
from ritz.rows.memory.array import ArrayRows
from ritz.runtime.rules import seed_of
from ritz.runtime.watch import Watch

State = TypeVar("State")
COLUMNS = ("n_features_in_", "feature_names_in_", "_column_keys")  # what a model knows of its columns


class Learned(NamedTuple, Generic[State]):
    """What a fit comes to: the state, what to warn of, and what to print when verbose."""

    state: State
    warnings: Sequence[AccuracyWarning] = ()
    shown: Sequence[object] = ()


class Certified(Transformer, Generic[State]):
    """An estimator whose answers come with a certificate.

    A subclass has a frozen state, which is all that a fit learns, and a table from which its attributes follow. It says
    how it learns (`_learn`), how rows become scores (`_codes`) and scores rows (`_rebuilt`), and what a row loses on
    the way (`_errors`). The rest is written once.
    """

    _kind: ClassVar[Kind]  # what a file holds of it
    verbose: bool
    certificate_: Any
    notes_: dict[str, Any]
    _table: ClassVar[Table]  # how attributes follow from the state
    _state: State = None  # type: ignore[assignment]  # None only before a fit, which `_check_fitted` refuses
    _home: Home | None = None  # what the attributes are, where the rows of the fit were an array of another library
    _on_devices: ClassVar[bool] = False  # whether rows may stay on the device they are on
    _sums_columns: ClassVar[bool] = False  # whether what becomes of a row is a sum over its columns

    # What a subclass says.

    @abstractmethod
    def _learn(self, rows: Rows, checkpoint: str | PathLike[str] | None) -> Learned[State]:
        """Check the parameters, and fit; the model stays as it is."""

    @abstractmethod
    def _check_parameters(self, state: Any) -> None:
        """By the rules of a fit that leaves this state."""

    def _stored_state(self) -> Any:
        """The state as a file keeps it."""
        return self._state

    def _stored_parameters(self) -> dict[str, Any]:
        """The parameters as a file keeps them."""
        return self._parameters()

    def _restored(self, state: Any) -> State:
        """The state from what a file kept."""
        return state

    # Fitting.

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X: an array, a table, a sparse matrix, a collection of Dask, or the path of a file.
        y is ignored.

        Rows are points and columns are variables; pass ``ritz.read(X, transpose=True)`` if your points are columns.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3))
        >>> model = KernelPCA(2, kernel="rbf").fit(X)
        >>> model.eigenvalues_.shape, model.certificate_.satisfied
        ((2,), True)
        """
        self._fit(X, self._opened(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, then transform the same rows.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA, CompressedSensing, KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> models = PCA(2), KernelPCA(1, kernel="rbf"), CompressedSensing(2)
        >>> [model.fit_transform(X).shape for model in models]
        [(40, 2), (40, 1), (40, 2)]
        """
        rows = self._opened(X)
        self._fit(X, rows)
        return lazy.scores(self, X) if is_dask(X) else self._scores(X, rows)

    def _fit(self, X: Any, rows: Rows, checkpoint: str | PathLike[str] | None = None) -> None:
        """Fit; on any error, also a warning turned into one, the model keeps its old state."""
        learned = self._learn(rows, checkpoint)
        self._warn(learned.warnings)
        self._remember_columns(X, rows)
        self._settle_in(rows.home)
        self._adopt(learned.state)
        self.__dict__.pop("notes_", None)  # they were about another fit
        if self.verbose and learned.shown:
            print(*learned.shown, sep="\n", file=sys.stderr)

    def _watching(
        self, rows: Rows, request: Request, checkpoint: str | PathLike[str] | None = None
    ) -> AbstractContextManager[Watch]:
        """An observer of every pass of the fit, where progress is shown or a checkpoint kept."""
        if not self.verbose and checkpoint is None:
            return nullcontext(rows.watch)
        return watching(rows, request, bool(self.verbose), checkpoint)

    def _adopt(self, state: State) -> None:
        """Take over a finished fit in one step, so that the model is the old one or the new one."""
        found = attributes(self._table, state)
        if self._home is not None:
            found = {name: self._home(value) for name, value in found.items()}
        kept = {name: value for name, value in self.__dict__.items() if name not in self._table}
        self.__dict__ = kept | {"_state": state} | found

    def _settle_in(self, home: Home | None) -> None:
        """Attributes are to be arrays of this library, on this device; NumPy's for None."""
        self.__dict__.pop("_home", None)
        if home is not None:
            self._home = home

    def _opened(self, X: Any) -> Rows:
        """X as Rows, unless it lies on a device where this estimator cannot compute."""
        return as_rows(X) if self._on_devices else self._on_cpu(as_rows(X))

    def _on_cpu(self, rows: Rows, what: str = "", otherwise: str = "") -> Rows:
        """Rows in the memory of the CPU; an error for those of a device, which nobody copies without being asked."""
        if rows.home is None or isinstance(rows, ArrayRows):
            return rows
        if not rows.home.is_cpu:
            raise DataError(
                f"X is {rows.home}, and {what or type(self).__name__} computes on the CPU",
                f"pass {otherwise}a copy there, such as X.cpu() of PyTorch or cupy.asnumpy(X)",
            )
        there = rows.on_cpu()
        there.home = rows.home
        return there

    def _warn(self, found: Sequence[AccuracyWarning]) -> None:
        for warning in found:
            warn(warning)

    # Columns, which later data is compared with (`ritz.estimators.columns`).

    def _remember_columns(self, X: Any, rows: Rows) -> None:
        """How many there are, and their names; where names repeat, positions tell the columns apart."""
        if rows.names is None or repeats(rows.names):
            self._remember_names(None, rows.shape[1])
        elif is_no_table(X):
            self._remember_names(rows.names, rows.shape[1])
        else:
            self._remember_table(as_table(X), rows.names)

    def _remember_table(self, X: Any, names: tuple[Any, ...]) -> None:
        """The same for a table, for which scikit-learn has rules of its own."""
        self._remember_names(names, X.shape[1])

    def _remember_names(self, names: tuple[Any, ...] | None, d: int) -> None:
        """Names of all columns as an attribute if they are text, and aside if they are not."""
        self.n_features_in_ = d
        self.__dict__.pop("feature_names_in_", None)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        self._column_keys = None if names is None else keys_of(names)

    def _remember_those_of(self, model: Self) -> None:
        """The columns of another model."""
        self.__dict__.update({name: model.__dict__[name] for name in COLUMNS if name in model.__dict__})

    # Files.

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
        self._check_fitted()
        write_model(self, path, self.__dict__.get("notes_", {}) if notes is None else notes)

    # Parameters, and other models with the same ones.

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in sorted(inspect.signature(type(self)).parameters)}

    def _twin(self) -> Self:
        """An estimator with copies of the parameters, and nothing learned: checks may draw from its random_state."""
        twin = type(self)(**copy.deepcopy(self._parameters()))
        if "_sklearn_output_config" in self.__dict__:
            twin.__dict__["_sklearn_output_config"] = dict(self.__dict__["_sklearn_output_config"])
        return twin

    def _lean(self) -> Self:
        """A model that encodes and decodes as this one does, without what only a fit needs: it is sent to others."""
        lean = self._twin()
        lean._remember_those_of(self)
        lean._adopt(self._lean_state())
        return lean

    def _lean_state(self) -> State:
        return self._state


def in_numpy(model: Any) -> Any:
    """The same model with attributes of NumPy, for whoever draws or describes it."""
    if getattr(model, "_home", None) is None:
        return model
    twin = copy.copy(model)
    twin._settle_in(None)
    twin._adopt(twin._state)
    return twin


def seed(random_state: Any) -> int:
    """`seed_of`, and of whatever else scikit-learn takes for a random_state."""
    try:
        return seed_of(random_state)
    except ParameterError:
        from sklearn.utils import check_random_state  # knows the rest, and takes long to import

        return int(check_random_state(random_state).randint(1 << 31))
