"""The one base class of certified estimators: what PCA, KernelPCA and CompressedSensing share.

scikit-learn, whose import takes longer than a small fit, is imported only where its errors or settings are needed;
`scikit_learn` adds its contract.
"""

from __future__ import annotations

import copy
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz.errors import AccuracyWarning, DataError, warn
from ritz.estimators import lazy
from ritz.estimators.checkpointing import watching
from ritz.estimators.saving import Kind, write_model
from ritz.fitting.request import Request
from ritz.fitting.result import Table, attributes
from ritz.linalg.arrays import Home, on_host
from ritz.linalg.dense import Array
from ritz.rows import Rows, as_rows, check_finite, is_anndata, is_dask
from ritz.rows.base import stack
from ritz.rows.columns import counts_up, keys_of, model_columns
from ritz.rows.formats.read import read_for_model
from ritz.rows.memory.array import ArrayRows
from ritz.rows.memory.computed import choose
from ritz.rows.pictures import check_like, compare_white
from ritz.rows.scores import in_order
from ritz.rows.select import check_names_once
from ritz.rows.write.tables import Out, Results, deliver
from ritz.runtime.watch import Watch

State = TypeVar("State")
COLUMNS = ("n_features_in_", "feature_names_in_", "_column_keys")  # what a model knows of its columns


class Columns:
    """n_features_in_ and feature_names_in_, remembered by a fit and compared ever after.

    Names that are not text, such as years, are remembered as text beside them.
    """

    n_features_in_: int
    feature_names_in_: Any
    _opened: Callable[[Any], Rows]
    _column_keys: tuple[str, ...] | None = None

    def _like_fitted(self, X: Any) -> Rows:
        """X as Rows; from a file, only the model's columns."""
        names = self.__dict__.get("feature_names_in_")
        if isinstance(X, str | PathLike):
            return read_for_model(X, names, self.n_features_in_, self.__dict__.get("image_shape_"))
        rows = self._opened(X)
        # Of columns that nobody asked for by name, those of the model are taken.
        anything = isinstance(X, Rows) and X.origin is not None and X.origin.columns is None
        there = list(rows.names or ())
        if not anything or names is None or not set(names) <= set(there) or list(names) == there:
            return rows
        check_names_once(rows, names)
        return choose(rows, list(names), [], "error")

    def _columns(self, X: Any, rows: Rows, reset: bool) -> None:
        """Remember, or compare, how many columns there are and their names; and of pictures, their shape."""
        if not reset:
            shape = self.__dict__.get("image_shape_")
            check_like(rows, shape)
            compare_white(rows, shape, self.__dict__.get("white_"))
            self._check_orientation(rows)
        X = X._meta if is_dask(X) else X  # of a dataframe its columns; scikit-learn would compute it
        repeated = rows.names is not None and len(set(rows.names)) < len(rows.names)
        if not reset and (own := model_columns(self)) is not None:
            check_names_once(rows, [*own, *map(str, rows.names or ())] if repeated else own)
        # Where names repeat, positions tell the columns apart, unless the model knows names.
        names = None if repeated else rows.names
        if (reset and names is None) or ((isinstance(X, str | PathLike | Rows) or is_anndata(X)) and not repeated):
            self._columns_by_name(names, rows.shape[1], reset)
        else:
            self._columns_of_object(np.broadcast_to(0.0, rows.shape) if names is None else X, names, reset)
        self._columns_by_key(names, reset)

    def _check_orientation(self, rows: Rows) -> None:
        """Name the likely reason where rows have another number of columns than the model, but as many rows as that."""
        (n, d), known = rows.shape, self.n_features_in_
        if d != known == n:
            raise DataError(
                f"X has {d} features, but {type(self).__name__} is expecting {known} features as input, and X has "
                f"{n} rows",
                "rows are points and columns are variables: if your points are columns, pass X.T or "
                "ritz.read(X, transpose=True)",
            )

    def _columns_of_object(self, X: Any, names: tuple[Any, ...] | None, reset: bool) -> None:
        """The same for an array or a table, for which scikit-learn has rules of its own."""
        self._columns_by_name(names, X.shape[1], reset)

    def _columns_alone(self, X: Any) -> None:
        """Compare the columns of data without rows."""
        if is_dask(X):
            lazy.known(self, X)
            return
        table = X.var.iloc[:, :0].T if is_anndata(X) else X
        names = tuple(table.columns) if hasattr(type(table), "columns") else None
        self._columns_of_object(table, names, reset=False)
        self._columns_by_key(names, reset=False)

    def _columns_by_name(self, names: tuple[Any, ...] | None, d: int, reset: bool) -> None:
        """The same for sources that scikit-learn does not know: files, and AnnData objects."""
        if reset:
            self.n_features_in_ = d
            self.__dict__.pop("feature_names_in_", None)
            if names is not None and all(isinstance(name, str) for name in names):
                self.feature_names_in_ = np.array(names, dtype=object)
            return
        if d != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise DataError(f"X has {d} features, but {expected}.")
        known = self.__dict__.get("feature_names_in_")
        if known is not None and names is not None and list(known) != list(names):
            raise self._other_columns(names, list(known))

    def _columns_by_key(self, names: tuple[Any, ...] | None, reset: bool) -> None:
        """The same for names that are not text; numbers that only count the columns say nothing."""
        if reset:
            self._column_keys = None if names is None else keys_of(names)
            return
        if names is None or counts_up(names):
            return
        given, known = list(map(str, names)), model_columns(self) or list(map(str, range(len(names))))
        if given != known and (self._column_keys is not None or set(given) == set(known)):
            raise self._other_columns(names, known)

    def _other_columns(self, names: tuple[Any, ...], known: list[str]) -> DataError:
        j = next(j for j, name in enumerate(names) if str(name) != known[j])
        found, expected = (repr(names[j]), repr(known[j])) if isinstance(names[j], str) else (names[j], known[j])
        return DataError(
            f"the columns are not those the model was learned from: column {j} is {found} instead of {expected}; put "
            "them into that order first"
        )

    def _column_names(self) -> tuple[str, ...]:
        """What the columns are called in a file of rows."""
        names = self.__dict__.get("feature_names_in_")
        return tuple(f"x{j}" for j in range(self.n_features_in_)) if names is None else tuple(map(str, names))


class Learned(NamedTuple, Generic[State]):
    """What a fit comes to: the state, what to warn of, and what to print when verbose."""

    state: State
    warnings: Sequence[AccuracyWarning] = ()
    shown: Sequence[object] = ()


class Certified(Columns, ABC, Generic[State]):
    """An estimator whose answers come with a certificate.

    A subclass has a frozen state, which is all that a fit learns, and a table from which its attributes follow. It says
    how it learns (`_learn`), how rows become scores (`_codes`) and scores rows (`_rebuilt`), and what a row loses on
    the way (`_errors`). The rest is written here, once.
    """

    _kind: ClassVar[Kind]  # what a file holds of it
    verbose: bool
    certificate_: Any
    notes_: dict[str, Any]
    _table: ClassVar[Table]  # how attributes follow from the state
    _state: State = None  # type: ignore[assignment]  # None only before a fit, which `_check_fitted` refuses
    _n_features_out: int  # numbers that a row becomes, one of the attributes that follow
    _home: Home | None = None  # what the attributes are, where the rows of the fit were an array of another library
    _on_devices: ClassVar[bool] = False  # whether rows may stay on the device they are on

    # What a subclass says.

    @abstractmethod
    def _learn(self, rows: Rows, checkpoint: str | PathLike[str] | None) -> Learned[State]:
        """Check the parameters, and fit; the model stays as it is."""

    @abstractmethod
    def _codes(self, rows: Rows) -> Generator[Array, None, None]:
        """Scores of rows whose columns are the model's, block by block."""

    @abstractmethod
    def _rebuilt(self, scores: Rows) -> Generator[Array, None, None]:
        """Rows from scores, block by block."""

    @abstractmethod
    def _errors(self, rows: Rows) -> Generator[Array, None, None]:
        """Squared distances of rows to what comes back of their scores, block by block."""

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
        self._columns(X, rows, reset=True)
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

    # From rows to scores and back.

    def transform(self, X: Any, *, out: Out | None = None) -> Any:
        """What the model keeps of every row: scores, or the measurements y = Φx of CompressedSensing.

        The scores of PCA are y = Uᵀ((x − mean)/scale), divided by standard deviations when whitening; those of
        KernelPCA are coordinates along its components in feature space.

        With `out`, the path of a .npy, .parquet, .arrow, .csv or .tsv file, or a function that is given one block
        after another, nothing is returned and memory stays bounded however many rows there are. PCA leaves the scores
        of an AnnData object in its ``obsm["X_pca"]`` too.

        Of a dask array or dataframe nothing is computed yet: the result is a dask array with a chunk for every chunk of
        X, or a dask dataframe after ``set_output(transform="pandas")``; so is that of `inverse_transform` and
        `reconstruction_error`.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA, CompressedSensing, KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> pca = PCA(2).fit(X[:30])
        >>> bool(np.allclose(pca.transform(X[30:]), (X[30:] - pca.mean_) @ pca.components_.T))
        True
        >>> pca.transform(X, out=lambda block: print(block.shape))
        (40, 2)
        >>> KernelPCA(1, kernel="rbf").fit(X[:30]).transform(X[30:]).shape
        (10, 1)
        >>> sensing = CompressedSensing(2).fit(X)
        >>> bool(np.allclose(sensing.transform(X), sensing.measurement_.apply(X)))
        True
        """
        if out is None and is_dask(X):
            return lazy.scores(self, X)
        rows = self._known(X)
        if out is None:
            return self._scores(X, rows)
        names = tuple(map(str, self.get_feature_names_out()))
        found = Results(self._codes(rows), rows.shape[0], names, rows.result_dtype)
        return given(found, out, files_of(X, rows), rows.home)

    def _scores(self, X: Any, rows: Rows) -> Any:
        scores = stack(self._codes(rows), rows.shape[0])
        return scores if rows.home is None else self._at_home(scores, rows.home)

    def _at_home(self, scores: Any, home: Home) -> Any:
        """Scores as an array of the library of the rows; NumPy's, where a table is made of them."""
        return on_host(scores) if self._makes_tables() else home(scores)

    def _makes_tables(self) -> bool:
        """Whether `set_output` asks for tables."""
        return False

    def inverse_transform(self, X: Any, *, out: Out | None = None) -> Any:
        """Rows from scores, or signals from the measurements of CompressedSensing, of which `certificate_` then speaks.

        For PCA x̂ = scale ⊙ (U y) + mean. The columns of a table are matched by name, in any order: the names of
        `get_feature_names_out`, or those that the command line writes (PC1, PC2, …; y1, y2, … for measurements).
        `out` as in `transform`.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA, CompressedSensing
        >>> X = np.random.default_rng(0).standard_normal((40, 2)) @ [[1, 2, 0], [0, 1, 3]]  # on a plane
        >>> pca = PCA(2).fit(X)
        >>> bool(np.allclose(pca.inverse_transform(pca.transform(X)), X))
        True
        >>> clicks = np.eye(32)  # one entry each that is not 0
        >>> sensing = CompressedSensing(16, basis=np.eye(32)).fit(clicks)
        >>> bool(np.allclose(sensing.inverse_transform(sensing.transform(clicks)), clicks))
        True
        """
        if out is None and is_dask(X):
            return lazy.rebuilt(self, X)
        self._check_fitted()
        scores = in_order(self._opened(X), self)
        rows = Results(self._rebuilt(scores), scores.shape[0], self._column_names(), scores.result_dtype)
        return given(rows, out, files_of(X, scores), scores.home)

    def reconstruction_error(self, X: Any, *, out: Out | None = None) -> Any:
        """Squared distance of every row to what comes back of its scores, for PCA in preprocessed units; `out` as in
        `transform`.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA, CompressedSensing, KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> for model in (PCA(2), KernelPCA(2, kernel="rbf", fit_inverse_transform=True)):
        ...     back = model.inverse_transform(model.fit_transform(X))
        ...     print(np.allclose(model.reconstruction_error(X), ((X - back) ** 2).sum(axis=1)))
        True
        True
        >>> clicks = np.eye(32)
        >>> sensing = CompressedSensing(16, basis=np.eye(32)).fit(clicks)
        >>> bool(sensing.reconstruction_error(clicks).max() < 1e-12)
        True
        """
        if out is None and is_dask(X):
            return lazy.errors(self, X)
        rows = self._known(X)
        found = Results(self._errors(rows), rows.shape[0], ("error",), np.dtype(np.float64))
        return given(found, out, files_of(X, rows), rows.home)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the scores: that of the class in lower case, and a number from 0. `input_features` is only compared
        with the columns of the fit.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA, CompressedSensing, KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 2, 1]
        >>> for model in (PCA(2), KernelPCA(2), CompressedSensing(2)):
        ...     print(*model.fit(X).get_feature_names_out())
        pca0 pca1
        kernelpca0 kernelpca1
        compressedsensing0 compressedsensing1
        """
        self._check_fitted()
        if input_features is not None:
            known, count = self.__dict__.get("feature_names_in_"), len(input_features)
            if known is not None and list(known) != list(input_features):
                raise ValueError("input_features is not equal to feature_names_in_")
            if count != self.n_features_in_:
                expected = f"number of features ({self.n_features_in_})"
                raise ValueError(f"input_features should have length equal to {expected}, got {count}")
        return np.asarray([f"{type(self).__name__.lower()}{i}" for i in range(self._n_features_out)], dtype=object)

    def _known(self, X: Any) -> Rows:
        """New rows, once the model is known to be fitted and their columns to be the model's."""
        self._check_fitted()
        rows = self._like_fitted(X)
        self._columns(X, rows, reset=False)
        return rows

    def _check_scores(self, scores: Rows) -> None:
        """Scores must be finite, and as many as the model makes."""
        self._check_width(scores)
        check_finite(scores)

    def _check_width(self, scores: Rows) -> None:
        if scores.shape[1] != self._n_features_out:
            raise DataError(f"scores have {scores.shape[1]} columns, the model has {self._n_features_out} components")

    def _check_way_back(self) -> None:
        """Whether there is a way from scores back to rows: unless a subclass knows better."""

    def _lean(self) -> Self:
        """A model that encodes and decodes as this one does, without what only a fit needs: it is sent to others."""
        lean = self._twin()
        lean.__dict__.update({name: self.__dict__[name] for name in COLUMNS if name in self.__dict__})
        lean._adopt(self._lean_state())
        return lean

    def _lean_state(self) -> State:
        return self._state

    def _container(self) -> str:
        """What `set_output` wants scores in."""
        return "default"

    def _check_fitted(self) -> None:
        if self._state is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )

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

    # Parameters.

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in sorted(inspect.signature(type(self)).parameters)}

    def _twin(self) -> Self:
        """An estimator with copies of the parameters, and nothing learned: checks may draw from its random_state."""
        twin = type(self)(**copy.deepcopy(self._parameters()))
        if "_sklearn_output_config" in self.__dict__:
            twin.__dict__["_sklearn_output_config"] = dict(self.__dict__["_sklearn_output_config"])
        return twin

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None


def given(results: Results, out: Out | None, sources: Sequence[str] = (), home: Home | None = None) -> Array | None:
    """Results stacked, or one after another to where they should go; none of the files they come from is replaced.

    They are arrays of NumPy, or of the library and on the device of their `home`; in files they are numbers.
    """
    if out is None:
        found = stack(results.blocks, results.n)
        return found if home is None else home(found)
    if home is not None:
        results = replace(results, blocks=_each_of(home if callable(out) else on_host, results.blocks))
    deliver(results, out, sources)
    return None


def _each_of(f: Callable[[Any], Any], blocks: Generator[Any, None, None]) -> Generator[Any, None, None]:
    with closing(blocks):
        yield from map(f, blocks)


def in_numpy(model: Any) -> Any:
    """The same model with attributes of NumPy, for whoever draws or describes it."""
    if getattr(model, "_home", None) is None:
        return model
    twin = copy.copy(model)
    twin._settle_in(None)
    twin._adopt(twin._state)
    return twin


def files_of(X: Any, rows: Rows) -> list[str]:
    """The files that rows are read from, which no result may replace."""
    mapped = getattr(X, "filename", None) if isinstance(X, np.memmap) else None
    return rows.paths or ([str(mapped)] if mapped else [])


def seed(random_state: Any) -> int:
    """An integer seed; None is a fixed one, so that the same data gives the same answer."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 31))
    from sklearn.utils import check_random_state  # knows all that random_state may be, and takes long to import

    return int(check_random_state(random_state).randint(1 << 31))
