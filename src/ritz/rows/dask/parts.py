"""Parts of rows, each read in one piece wherever it is needed: a chunk of a Dask collection, or a slice of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from ritz.errors import ChunkError, DataError
from ritz.rows import Rows, as_rows
from ritz.rows.dask.graphs import Key, given
from ritz.runtime.threads import alone
from ritz.runtime.wording import plural

Result = TypeVar("Result")
UNKNOWN = -1  # rows of a chunk that nobody has counted yet


class Part(Protocol):
    """Consecutive rows that are read in one piece."""

    @property
    def place(self) -> str:
        """What to call it, or what it is a part of, in a message."""

    @property
    def start(self) -> int:
        """The number of its first row in what `place` names."""

    @property
    def rows(self) -> int: ...

    @property
    def needs(self) -> tuple[Key, ...]:
        """Results in the memory of the cluster that it is made from."""

    @property
    def anchor(self) -> Key | None:
        """The one among them that it is read next to; None if it may be read anywhere."""

    @property
    def placed(self) -> bool:
        """Whether Ritz put it there, in the order of the rows; else it lies where it was found."""

    def opened(self, needed: Mapping[Key, Any]) -> Rows:
        """Its rows, from the results that it needs."""

    def count(self, needed: Mapping[Key, Any]) -> int:
        """How many rows it has, found by making it."""

    def counted(self, rows: int) -> Part:
        """The same, knowing that."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """A chunk of a Dask collection: what of its graph makes it."""

    place: str
    rows: int
    key: Key
    graph: Mapping[Key, Any] = field(default_factory=dict)
    needs: tuple[Key, ...] = ()
    start: int = 0
    anchor: Key | None = None
    placed: bool = False

    def opened(self, needed: Mapping[Key, Any]) -> Rows:
        return rows_of(self._value(needed), self.place)

    def count(self, needed: Mapping[Key, Any]) -> int:
        return int(self._value(needed).shape[0])

    def _value(self, needed: Mapping[Key, Any]) -> Any:
        known = {key: needed[key] for key in self.needs}
        if self.key in known:
            return known[self.key]
        from dask import get

        try:
            return get({**self.graph, **given(known)}, self.key)
        except Exception as error:  # of the user's own tasks, whatever it may be
            raise failed(self.place, error) from error

    def counted(self, rows: int) -> Chunk:
        return replace(self, rows=rows)


def rows_of(chunk: Any, place: str) -> Rows:
    """The rows of a chunk that was computed: an array, a sparse matrix of SciPy or a table."""
    kind = type(chunk)
    if kind.__module__.partition(".")[0] == "sparse":
        raise DataError(
            f"{place} is a {kind.__name__} of the package sparse, and only sparse matrices of SciPy are read",
            "pass x.map_blocks(lambda chunk: chunk.tocsr())",
            "sparse_package",
        )
    try:
        rows = as_rows(chunk)
    except DataError as error:
        raise error.at(place) from error
    except TypeError as error:  # no matrix at all
        raise DataError(f"{place}: {error}") from error
    if rows.home is not None and not rows.home.is_cpu:
        raise DataError(
            f"{place} is {rows.home}, and chunks are computed on the CPU",
            "pass x.map_blocks(cupy.asnumpy), or x.map_blocks(lambda chunk: chunk.cpu().numpy()) for PyTorch",
            "chunk_on_device",
        )
    return rows.on_cpu()


def of_chunk(f: Callable[[Rows], Result], chunk: Any, place: str) -> Result:
    """f of the rows of a chunk, in one thread; an error about the data names the chunk."""
    rows = rows_of(chunk, place)
    try:
        with alone():
            return f(rows)
    except DataError as error:
        raise error.at(place) from error


def failed(place: str, error: BaseException) -> ChunkError:
    """What to say of a chunk whose own task raises an error."""
    which = place.removeprefix("chunk ").strip("[]")
    advice = f"x.blocks[{which}].compute(), or x.partitions[{which}].compute() for a dataframe, shows it alone"
    told = ChunkError(f"{place} cannot be computed: {type(error).__name__}: {error}", advice, "failing_chunk")
    told.cause = error
    return told


def loaded(part: Part, key: Key) -> Chunk:
    """A part whose rows Ritz put into the memory of the cluster under this key."""
    return Chunk(part.place, part.rows, key, needs=(key,), start=part.start, anchor=key, placed=True)


def check_columns(count: int, part: Part, d: int) -> None:
    """A part has as many columns as the others."""
    if count != d:
        raise DataError(f"{part.place} has {count} {plural(count, 'column')}, others have {d}; give all the same")


def check_like(rows: Rows, part: Part, whole: Rows) -> Rows:
    """The rows of a part, which must be as many as were announced and have the columns of the whole."""
    d, names = whole.shape[1], whole.names
    check_columns(rows.shape[1], part, d)
    if part.rows != (n := rows.shape[0]):
        raise DataError(
            f"{part.place} has {n} {plural(n, 'row')}, but {part.rows} were announced",
            "x.compute_chunk_sizes() corrects the sizes of a dask array; a file must not change meanwhile",
        )
    if rows.sparse != whole.sparse:
        kinds = ("sparse", "dense") if rows.sparse else ("dense", "sparse")
        raise DataError(
            f"{part.place} is {kinds[0]}, others are {kinds[1]}",
            "make all alike: x.map_blocks(scipy.sparse.csr_array), or x.map_blocks(lambda chunk: chunk.toarray())",
        )
    if whole.narrow and not rows.narrow:  # digits would be lost without a word
        raise DataError(
            f"{part.place} holds {rows.dtype}, others hold {whole.dtype}, which has fewer digits",
            'pass x.map_blocks(lambda chunk: chunk.astype("float64"), dtype="float64")',
        )
    if names is not None and rows.names is not None and tuple(rows.names) != tuple(names):
        j = next(j for j, (ours, theirs) in enumerate(zip(names, rows.names, strict=True)) if ours != theirs)
        raise DataError(f"column {j} of {part.place} is {rows.names[j]!r}, that of the others is {names[j]!r}")
    return rows
