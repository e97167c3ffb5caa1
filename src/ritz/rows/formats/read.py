"""Files as sources of rows. A new format is a function in a file of its own and one line in the table below."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import ColumnWarning, DataError
from ritz.rows.base import Rows
from ritz.rows.file_changes import Files
from ritz.rows.memory.array import ArrayRows
from ritz.rows.memory.computed import choose
from ritz.rows.memory.sparse import Sparse
from ritz.rows.select import EMPTY, announce_names, find_id_columns, name_by_position, select, select_for_model
from ritz.runtime.memory import check_fits

TEXTS = (".csv", ".tsv", ".tab", ".txt", ".dat", ".vec")
# What opens a file, by its extension; modules are imported only when reached.
FORMATS = {
    ".npy": "ritz.rows.formats.npy:open_npy",
    ".npz": "ritz.rows.formats.npy:open_npz",
    **dict.fromkeys((".parquet", ".pq"), "ritz.rows.formats.parquet:Parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), "ritz.rows.formats.arrow:Arrow"),
    **dict.fromkeys((".h5", ".hdf5", ".h5ad"), "ritz.rows.formats.hdf5:open_hdf5"),
    ".zarr": "ritz.rows.formats.chunked:open_zarr",
    ".mtx": "ritz.rows.formats.matrix_market:open_market",
    **dict.fromkeys(TEXTS, "ritz.rows.text.source:Text"),
}
PACKED = {".gz": (*TEXTS, ".mtx"), ".zst": TEXTS, ".bz2": TEXTS}  # what may be compressed how
NAME = "name"  # what the names of rows are called that were columns of the file
FOLDERS = {".parquet", ".pq", ".zarr"}  # formats that may be a folder


def read(
    path: str | PathLike[str],
    columns: Iterable[Any] | None = None,
    label: Any = None,
    transpose: bool = False,
    missing: str = "error",
    header: bool | None = None,
) -> Rows:
    """A file as rows, to be passed to any estimator; only what is needed is read, and only when.

    Parameters
    ----------
    path : .npy; .npz with one array or a sparse matrix; .csv, .tsv, .txt, .vec, also .gz, .zst or .bz2,
        whose separator, decimal sign, header and encoding are found and shown by ``repr``; .parquet, or a folder of
        such files, and .arrow, .feather or .ipc, be it a file or a stream, with numbers in columns or vectors in one
        column; .h5 and .h5ad (``pip install "ritz[hdf5]"``) and .zarr (``pip install "ritz[zarr]"``) with one matrix;
        .mtx, or a folder as 10x pipelines write it, turned to cells by genes. A file that changes while its rows are in
        use is an error
    columns : names or positions of the columns to use; by default all that hold numbers, except row numbers,
        identifiers and columns without a value; columns that are left out are named in a warning. True and false are
        the numbers 1 and 0 in every format; a word among numbers is an error that names its line
    label : a column that is kept aside, numbers or text, of an .h5ad also one of ``obs``; its values are the ``labels``
        of the rows
    transpose : whether the samples are the columns of the file; text is then taken for the names of the columns, and
        what the file calls its columns are the ``row_names``
    missing : "error", "drop" the rows with missing values, or put the "mean" of a column there; what a sparse file does
        not store is zero, not missing
    header : whether the first line of a text names the columns; None finds out, and says so where it may be a row too

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from ritz import PCA, read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))
    ...     PCA(1).fit(read(f"{folder}/x.npy")).explained_variance_.round(4)
    array([10.301])
    """
    if columns is not None:
        columns = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    rows = opened(path, transpose, header)
    chosen = select(rows, columns, label, missing)
    chosen.files, chosen.origin = rows.files, (rows.origin[0], columns, label, transpose, missing, header)
    return chosen


def read_for_model(path: str | PathLike[str], names: Iterable[str] | None, d: int) -> Rows:
    """A file with the d columns that a model knows, by their names if it knows them, in its order."""
    names = None if names is None else list(map(str, names))
    rows = opened(path, expected=names, needed=(*(names or ()), *range(d)))
    announce_names(rows, rows.keys or rows.names or ())
    found = select_for_model(rows, names, d, Path(path).name)
    found.origin = (rows.origin[0], names, None, False, "error", None)
    return found


def opened(
    path: str | PathLike[str],
    transpose: bool = False,
    header: bool | None = None,
    expected: Collection[str] | None = None,
    needed: Collection[Any] | None = None,
) -> Rows:
    """A file as it is, before anything is chosen from it: all columns that hold numbers, and no word about the others.

    What the others are stands in ``left_out``, the names of all of them in ``keys``, and how the file was understood
    in ``about``. What stands beside a matrix, such as ``obs`` of an .h5ad, is in ``others``, and what the rows are
    called in ``row_names``. `select` chooses from these rows as `read` does. `header` is for text, as in `read`, and so
    are the names that a model `expected`, if any: a first line that holds them is a header. Columns that a model has
    `needed`, by name or by as many places as there are, hold numbers: any other cell is an error with its line.
    """
    from ritz.rows import as_rows

    path = Path(path)
    if header is not None and not isinstance(header, bool | np.bool_):
        raise TypeError(f"header={header!r} must be True, False, or None to find out")
    opener = _opener(path)
    about_text = (header, expected, needed) if suffix_of(path) in TEXTS else ()
    files = Files(partial(_read_by, opener, path.absolute()))
    with _naming(path, files):
        source = resolve_name(opener)(path, *about_text)
        rows = as_rows(_turned(source) if transpose else source)
        files.check()
        files = files.joined(getattr(source, "elsewhere", ()))
    rows.files = files.read_whole() if isinstance(rows, ArrayRows | Sparse) else files
    rows.origin = (files.origin, None, None, transpose, "error", header)
    return rows


def _read_by(opener: str, path: Path) -> list[Path]:
    """The files that are read of a file or a folder, in which others may come and go."""
    if not path.is_dir():
        return [path]
    if opener == FORMATS[".zarr"]:  # whatever lies in such a folder is part of the array
        return sorted(file for file in path.rglob("*") if not file.is_dir())
    module, _ = opener.split(":")
    found: list[Path] = resolve_name(f"{module}:listed")(path)
    return found


def _turned(source: Any) -> Any:
    """Columns as rows, with their names. What can only be read by rows is read into memory, if it fits."""
    from ritz.rows import as_rows

    if not isinstance(source, Rows):
        return source.T
    apart = {key: why for key, why in find_id_columns(source).out.items() if why != EMPTY}
    kept = choose(name_by_position(source), None, list(apart), "error") if apart else source
    turned = as_rows(kept.T if hasattr(kept, "T") else _whole(kept).T)
    turned.names, turned.about, turned.aside = _names_of_rows(source, apart), source.about, apart
    left_out = (f"column {key!r} ({why}) is not a sample, and was left out" for key, why in apart.items())
    turned.remarks = (*source.remarks, *map(ColumnWarning, left_out))
    turned.renamed = tuple(pair for pair in source.renamed if pair[1] not in {*source.left_out, *apart})
    names = kept.names or ()
    if names and all(isinstance(name, str) for name in names):  # numbers are positions, which name nothing
        turned.put_beside([], (NAME, partial(_first, names)))
    return turned


def _whole(rows: Rows) -> NDArray[Any]:
    n, d = rows.shape
    check_fits(rows.dtype.itemsize * n * d, f"{n} rows of {d} numbers, to be transposed,")
    return rows.map(lambda block: block.copy(), exact=False)


def _first(names: tuple[str, ...], count: int | None) -> NDArray[Any]:
    return np.array(names[:count], object)


def _names_of_rows(rows: Rows, apart: Iterable[Any] = ()) -> tuple[str, ...] | None:
    """What the source calls its rows, its first column of text, or one `apart`, if that tells them apart: genes."""
    text = next((key for key in (*rows.text_columns, rows.named_by, *apart) if key is not None), None)
    if text is None:
        return None
    names = tuple(map(str, rows.raw_cells([text])[text]))
    return names if len(set(names)) == len(names) else None


def suffix_of(path: Path) -> str:
    """The end of the name that tells the format, whatever compressed it."""
    outer, inner = path.suffix.lower(), Path(path.stem).suffix.lower()
    return inner if inner in PACKED.get(outer, ()) else outer


def ending_of(path: Path) -> str:
    """The end of the name that another file of the same format would have; a 10x folder has none."""
    from ritz.rows.formats.matrix_market import is_10x

    suffix, outer = suffix_of(path), path.suffix.lower()
    if suffix not in FORMATS:
        return "" if is_10x(path) else ".parquet"
    return suffix + (outer if suffix != outer else "")


def _opener(path: Path) -> str:
    """What opens a file or a folder."""
    from ritz.rows.formats.matrix_market import is_10x
    from ritz.rows.formats.parquet import listed
    from ritz.rows.formats.signatures import about_file, about_folder

    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    suffix = suffix_of(path)
    if path.is_dir():
        if is_10x(path):
            return "ritz.rows.formats.matrix_market:open_10x"
        if suffix in FORMATS and suffix not in FOLDERS:
            raise DataError(f"{str(path)!r} is a folder, but {suffix} is the name of a file; pass a file inside it")
        if suffix != ".zarr" and not listed(path):
            raise DataError(about_folder(path))
        return FORMATS[suffix if suffix in FOLDERS else ".parquet"]
    if not path.is_file():  # a pipe would be waited for, a device never end
        raise DataError(f"{str(path)!r} is neither a file nor a folder; save its contents as a file first")
    if suffix not in FORMATS:
        raise DataError(about_file(path))
    return FORMATS[suffix]


@contextmanager
def damage(
    what: str, kinds: type[Exception] | tuple[type[Exception], ...] = Exception, file: object = ""
) -> Iterator[None]:
    """Whatever a library says of bytes that make no sense, in errors of many kinds or of these, as one in the data.

    A `file` is named where nobody else would, because it was opened before.
    """
    try:
        yield
    except DataError as error:
        if error.file or not file:
            raise
        raise error.in_file(file) from error
    except kinds as error:
        raise DataError(f"{what}: {error}", file=file) from error


@contextmanager
def _naming(path: Path, files: Files) -> Iterator[None]:
    """Errors in the data name the file, also those that only know its contents; one that changes is not damaged."""
    try:
        yield
    except (DataError, OSError) as error:
        files.check(error)
        if isinstance(error, OSError) or error.file:
            raise
        raise error.in_file(path) from error
