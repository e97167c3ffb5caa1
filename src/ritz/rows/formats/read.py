"""Files as sources of rows. A new format is a function in a file of its own and one line in the table below."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.rows.base import Rows
from ritz.rows.file_changes import Files, Origin
from ritz.rows.formats.damage import naming
from ritz.rows.memory.array import ArrayRows
from ritz.rows.memory.coded import coded, codes_of
from ritz.rows.memory.computed import choose
from ritz.rows.memory.sparse import Sparse
from ritz.rows.pictures import check_like, pictured, shape_of_each, stacked
from ritz.rows.select import announce_names, select, select_for_model
from ritz.runtime.rules import FLAG

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
    ".idx": "ritz.rows.formats.idx:open_idx",
    **dict.fromkeys(TEXTS, "ritz.rows.text.source:Text"),
}
PACKED = {".gz": (*TEXTS, ".mtx", ".idx"), ".zst": TEXTS, ".bz2": TEXTS}  # what may be compressed how
PICTURES = "ritz.rows.formats.images:Images"  # opens a folder of pictures
IDX = re.compile(r"[-.]idx[1-9](-[a-z0-9]+)?$", re.IGNORECASE)  # how names of such files end: train-images-idx3-ubyte
FOLDERS = {".parquet", ".pq", ".zarr"}  # formats that may be a folder
TABLES = "ritz.rows.formats.several:listed"  # lists a folder of tables, which are opened one by one


def read(
    source: Any,
    columns: Iterable[Any] | None = None,
    label: Any = None,
    transpose: bool = False,
    missing: str = "error",
    header: bool | None = None,
    size: tuple[int, int] | None = None,
    grey: bool | None = None,
    device: str | None = None,
    dask: Any = None,
    na: Any = None,
) -> Rows:
    """A file, many files, a folder of pictures, or data in memory as rows, to be passed to any estimator.

    Rows are points and columns are variables; ``transpose=True`` if your points are columns. Of files only what is
    needed is read, and only when; data in memory is not copied where that can be avoided.

    Parameters
    ----------
    source : .npy; .npz with one array or a sparse matrix; .csv, .tsv, .txt, .vec, also .gz, .zst or .bz2,
        whose separator, decimal sign, header and encoding are found and shown by ``repr``; .parquet, or a folder of
        such files, and .arrow, .feather or .ipc, be it a file or a stream, with numbers in columns or vectors in one
        column; .h5 and .h5ad (``pip install "ritz[hdf5]"``) and .zarr (``pip install "ritz[zarr]"``) with one matrix;
        .mtx, or a folder as 10x pipelines write it, turned to cells by genes; IDX files, also .gz, with the labels of
        the file beside them; a folder of pictures (``pip install "ritz[images]"``): PNG, JPEG, PGM, PPM, TIFF or BMP,
        one a row, whose subfolders are the labels and whose file names are the ``row_names``. A file that changes while
        its rows are in use is an error. Or an array, a table or a sparse matrix. An array of shape (n, h, w) or
        (n, h, w, 3), in memory or in a file, is a stack of pictures, which are flattened: ``image_shape`` tells theirs.
        Many files with the same columns are one source, one below the other: a list of paths, in this order, a pattern
        such as ``"data/*.csv"``, or a folder of tables of one format, in natural order (part-9 before part-10)
    columns : names or positions of the columns to use; by default all that hold numbers, except row numbers,
        identifiers and columns without a value; columns that are left out are named in a warning. True and false are
        the numbers 1 and 0 in every format; a word among numbers is an error that names its line
    label : a column that is kept aside, numbers or text, of an .h5ad also one of ``obs``; its values are the ``labels``
        of the rows
    transpose : whether the points are the columns; text in a file is then taken for the names of the columns, and
        what the source calls its columns are the ``row_names``. Of a stack, the points are along the last axis
    missing : "error", "drop" the rows with missing values, or put the "mean" of a column there; what a sparse file does
        not store is zero, not missing
    header : whether the first line of a text names the columns; None finds out, and says so where it may be a row too
    size : (height, width) to which all pictures of a folder are resized; without it they must be of one size
    grey : whether pictures of a folder are read as grey ones; None if all of them are, and else all are in colour
    device : where blocks are computed, such as "cuda", by PyTorch: they are read by the CPU, copied there one after
        another, and gone after use, so that data larger than the device's memory is decomposed there; results are
        tensors on it
    dask : where files are read: None on this machine; on a Dask cluster (``pip install "ritz[dask]"``) by its workers,
        each of which opens them under the same absolute path, with ``True`` for the active
        ``dask.distributed.Client``, a Client, the address of a scheduler, or ``"local"`` for one worker per core of
        this machine. Missing values are then an error, and points are rows
    na : values that say that there is none: a number such as -999, several, or a dictionary of such by column, as in
        ``{"glucose": 0, "bmi": [0, -1]}``; they become missing, for `missing` to deal with. `ritz.inspect` looks for
        such values

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from ritz import PCA, read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))
    ...     PCA(1).fit(read(f"{folder}/x.npy")).explained_variance_.round(4)
    array([10.301])
    >>> with tempfile.TemporaryDirectory() as folder:  # three files of one table
    ...     for i in range(3):
    ...         np.save(f"{folder}/part-{i}.npy", np.array([[1.0, 2.0], [3.0, 5.0]]) + i)
    ...     PCA(1).fit(read(f"{folder}/part-*.npy")).mean_
    array([3. , 4.5])
    >>> points = np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 7.0]])  # one a column
    >>> PCA(1).fit(read(points, transpose=True)).explained_variance_.round(4)
    array([10.301])
    >>> read(np.zeros((5, 8, 8), np.uint8))
    <ArrayRows: 5 rows, 64 columns, uint8; 5 pictures of 8×8 pixels (height×width), each flattened into a row ...>
    """
    from ritz.rows.formats.several import is_list

    FLAG.check("transpose", transpose)
    if columns is not None:
        columns = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    if isinstance(source, str | PathLike) or is_list(source):
        if dask is not None:
            if na is not None:
                raise ParameterError("na", na, "does not go with dask; write corrected files, or leave one of them out")
            if device is not None:
                raise ParameterError("device", device, "does not go with dask; leave one of them out")
            from ritz.rows.dask.files import read_by_workers

            return read_by_workers(source, dask, columns, label, transpose, missing, header, size, grey)
        rows = opened(source, transpose, header, size=size, grey=grey)
    elif dask is not None:
        raise ParameterError("dask", dask, "is for files; a dask array or dataframe is passed as it is")
    else:
        from ritz.rows.memory.given import given

        rows = given(source, columns, label, transpose, {"header": header, "size": size, "grey": grey})
    if rows.on_device and missing != "error":
        raise ParameterError("missing", missing, "is for data on the CPU; pass a copy there, or deal with gaps before")
    codes = codes_of(na)
    chosen = select(rows, columns, rows.labelled_by if label is None else label, "error" if codes else missing)
    if codes:
        found = choose(coded(chosen, codes), None, [], missing)
        chosen = found.knowing(_labels=chosen._labels, aside=chosen.aside)
    chosen.files = rows.files
    if rows.origin:
        view = f"na{[tuple(code) for code in codes]}" if codes else ""
        chosen.origin = Origin(rows.origin.files, columns, label, transpose, missing, header, size, grey, view)
    if device is None:
        return chosen
    from ritz.rows.memory.upload import Uploaded

    return Uploaded(chosen, device)


def read_for_model(
    path: str | PathLike[str], names: Iterable[str] | None, d: int, image_shape: tuple[int, ...] | None = None
) -> Rows:
    """A file with the d columns that a model knows, by their names if it knows them, in its order."""
    names = None if names is None else list(map(str, names))
    rows = opened(path, expected=names, needed=(*(names or ()), *range(d)), image_shape=image_shape)
    announce_names(rows, rows.keys or rows.names or ())
    found = select_for_model(rows, names, d, Path(path).name)
    found.origin = None if rows.origin is None else rows.origin._replace(columns=names)
    return found


def opened(
    source: str | PathLike[str] | Sequence[str | PathLike[str]],
    transpose: bool = False,
    header: bool | None = None,
    expected: Collection[str] | None = None,
    needed: Collection[Any] | None = None,
    size: tuple[int, int] | None = None,
    grey: bool | None = None,
    image_shape: tuple[int, ...] | None = None,
    over: Any = None,
) -> Rows:
    """A file, or many, before anything is chosen from it: all columns that hold numbers, no word about the others.

    What the others are stands in ``left_out``, the names of all of them in ``keys``, and how the file was understood
    in ``about``. What stands beside a matrix, such as ``obs`` of an .h5ad, is in ``others``, and what the rows are
    called in ``row_names``. `select` chooses from these rows as `read` does. `header` is for text, as in `read`, and so
    are the names that a model `expected`, if any: a first line that holds them is a header. Columns that a model has
    `needed`, by name or by as many places as there are, hold numbers: any other cell is an error with its line.
    `size` and `grey` are for folders of pictures, as in `read`; where a model expects pictures, they must be such as
    its `image_shape` says. Of many files, `over` may look at all but the first somewhere else (see `stacked`).
    """
    if header is not None and not isinstance(header, bool | np.bool_):
        raise TypeError(f"header={header!r} must be True, False, or None to find out")
    from ritz.rows.formats.several import several

    if (paths := several(source)) is not None:
        from ritz.rows.formats.stacked import together

        for_one = {"transpose": transpose or None, "size": size, "grey": grey}
        return together(paths, header, expected, needed, image_shape, for_one, over)
    path = Path(cast(str, source))
    opener = opener_of(path)
    more: tuple[Any, ...] = (header, expected, needed) if suffix_of(path) in TEXTS else ()
    if opener == PICTURES:
        coloured, expected_size = len(image_shape or ()) == 3, image_shape and image_shape[:2]
        more = (size, False if grey is None and coloured else grey, transpose, expected_size)
    elif size is not None or grey is not None:
        name, value = ("grey", grey) if size is None else ("size", size)
        raise ParameterError(name, value, f"is for folders of pictures alone, and {path.name!r} is not one")
    files = Files(partial(_read_by, opener, path.absolute()))
    with naming(path, files):
        source = resolve_name(opener)(path, *more)
        rows = _oriented(source, transpose)
        if image_shape is not None:
            check_like(rows, image_shape)
        files.check()
        files = files.joined(getattr(source, "elsewhere", ()))
    rows.files = files.read_whole() if isinstance(rows, ArrayRows | Sparse) else files
    rows.origin = Origin(files.origin, transpose=transpose, header=header, size=size, grey=grey)
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


def _oriented(source: Any, transpose: bool) -> Rows:
    """What a file holds as rows: pictures flattened, and columns turned into rows if asked."""
    from ritz.rows import as_rows
    from ritz.rows.transpose import transposed, whole

    rows, shape = isinstance(source, Rows), getattr(source, "stack", None) or source.shape
    if len(shape) > 2 and (transpose or not rows):
        return stacked(whole(source).reshape(shape) if rows else source, transpose)
    if len(shape) > 2:
        return source if source.image_shape is not None else pictured(source, shape_of_each(shape))
    if not transpose:
        return as_rows(source)
    return transposed(source) if rows else as_rows(source.T)


def suffix_of(path: Path) -> str:
    """The end of the name that tells the format, whatever compressed it."""
    outer, inner = path.suffix.lower(), _ending(path.stem)
    return inner if inner in PACKED.get(outer, ()) else _ending(path.name)


def _ending(name: str) -> str:
    return ".idx" if IDX.search(name) else Path(name).suffix.lower()


def ending_of(path: Path) -> str:
    """The end of the name that another file of the same format would have; a folder of pictures, or 10x, has none."""
    suffix, outer = suffix_of(path), path.suffix.lower()
    if path.is_dir():
        return "" if opener_of(path) not in FORMATS.values() else suffix if suffix in FOLDERS else ".parquet"
    if suffix == ".idx" and (match := IDX.search(path.name.removesuffix(".gz"))):
        return path.name[match.start() :]
    if suffix not in FORMATS:  # known by how it begins
        return ".idx" + (outer if outer == ".gz" else "")
    return suffix + (outer if suffix != outer else "")


def opens_pictures(path: Path) -> bool:
    """Whether it is a folder of pictures."""
    return path.is_dir() and opener_of(path) == PICTURES


def opener_of(path: Path) -> str:
    """What opens a file or a folder."""
    from ritz.rows.formats.idx import is_idx
    from ritz.rows.formats.signatures import about_file

    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    suffix = suffix_of(path)
    if path.is_dir():
        return _folder_opener(path, suffix)
    if not path.is_file():  # a pipe would be waited for, a device never end
        raise DataError(f"{str(path)!r} is neither a file nor a folder; save its contents as a file first")
    if suffix in FORMATS:
        return FORMATS[suffix]
    if is_idx(path):
        return FORMATS[".idx"]
    raise DataError(about_file(path))


def _folder_opener(path: Path, suffix: str) -> str:
    from ritz.rows.formats.matrix_market import is_10x
    from ritz.rows.formats.parquet import listed
    from ritz.rows.formats.several import tables_in
    from ritz.rows.formats.signatures import about_folder, holds_pictures

    if is_10x(path):
        return "ritz.rows.formats.matrix_market:open_10x"
    if suffix in FORMATS and suffix not in FOLDERS:
        raise DataError(f"{str(path)!r} is a folder, but {suffix} is the name of a file; pass a file inside it")
    if suffix == ".zarr" or listed(path):
        return FORMATS[suffix if suffix in FOLDERS else ".parquet"]
    if holds_pictures(path):
        return PICTURES
    if tables_in(path):
        return TABLES
    raise DataError(about_folder(path))
