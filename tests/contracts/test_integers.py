"""Integers that float64 cannot hold are refused in every container, and all others are exact."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
from pyarrow import feather

import ritz
from helpers.commands import run
from ritz import PCA, CompressedSensing, KernelPCA, eigen, read
from ritz.errors import ColumnWarning, DataError

N = 40
STEPS = np.random.default_rng(0).integers(0, 300, (N, 2)).tolist()
FLOATS = (np.random.default_rng(1).standard_normal(N) * 100).tolist()
STAMPS = [[1700000000123456789 + a, 1690000000987654321 + b] for a, b in STEPS]  # of nanoseconds
ROUND = [[2**60 + 512 * a, 2**59 + 256 * b] for a, b in STEPS]  # beyond 2⁵³ too, but float64 holds them
REFUSED = "which float64 cannot hold: beyond 2"


def columns(rows, mixed):
    """The numbers by columns: integers alone, or a column of floats beside one of integers."""
    first, second = zip(*rows, strict=True)
    return {"t": list(first), "u": FLOATS if mixed else list(second)}


def truth(table):
    """Variances along the components, from a covariance in fractions."""
    parts = [[Fraction(value) for value in column] for column in table.values()]
    centred = [[value - sum(part) / N for value in part] for part in parts]
    C = [[float(sum(a * b for a, b in zip(x, y, strict=True)) / (N - 1)) for y in centred] for x in centred]
    return np.linalg.eigvalsh(C)[::-1]


def array(table, dtype=None):
    return np.array([list(row) for row in zip(*table.values(), strict=True)], dtype)


def of_kinds(frame, kinds):
    return lambda table: frame({name: kinds(values) for name, values in table.items()})


def integers(make, floats=np.array):
    """A column made in one way of integers and in another of floats."""
    return lambda values: make(values) if isinstance(values[0], int) else floats(values)


def decimals(values):
    return pa.array([Decimal(value) for value in values], pa.decimal128(22, 1))


def by_rows(kind):
    return lambda table: [kind(row) for row in zip(*table.values(), strict=True)]


# How numbers may be kept in memory, whatever stands beside the integers.
TABLES = {
    "objects": lambda table: array(table, object),
    "lists": by_rows(list),
    "tuples": by_rows(tuple),
    "arrays in a list": by_rows(lambda row: np.array(row, object)),
    "decimals as objects": lambda table: array(
        {name: list(map(Decimal, part)) for name, part in table.items()}, object
    ),
    "fractions as objects": lambda table: array(
        {name: list(map(Fraction, part)) for name, part in table.items()}, object
    ),
    "pandas": of_kinds(pd.DataFrame, np.array),
    "pandas, objects": of_kinds(pd.DataFrame, lambda values: pd.Series(values, dtype=object)),
    "pandas, nullable": of_kinds(pd.DataFrame, integers(lambda values: pd.array(values, "Int64"))),
    "pandas, unsigned": of_kinds(pd.DataFrame, integers(lambda values: pd.array(values, "UInt64"))),
    "pandas, Arrow": of_kinds(pd.DataFrame, integers(lambda values: pd.array(values, "int64[pyarrow]"))),
    "pandas, decimals": of_kinds(
        pd.DataFrame, integers(lambda values: pd.arrays.ArrowExtensionArray(decimals(values)))
    ),
    "pandas, sparse": of_kinds(pd.DataFrame, pd.arrays.SparseArray),
    "polars": of_kinds(pl.DataFrame, pl.Series),
    "polars, unsigned": of_kinds(pl.DataFrame, integers(lambda values: pl.Series(values, dtype=pl.UInt64))),
    "polars, 128 bits": of_kinds(pl.DataFrame, integers(lambda values: pl.Series(values, dtype=pl.Int128))),
    "polars, decimals": of_kinds(pl.DataFrame, integers(lambda values: pl.Series(map(Decimal, values)))),
    "pyarrow": of_kinds(pa.table, pa.array),
    "pyarrow, unsigned": of_kinds(pa.table, integers(lambda values: pa.array(values, pa.uint64()))),
    "pyarrow, decimals": of_kinds(pa.table, integers(decimals, pa.array)),
}
# Matrices of integers alone.
MATRICES = {
    "int64": lambda table: array(table, np.int64),
    "uint64": lambda table: array(table, np.uint64),
    "big-endian": lambda table: array(table, ">i8"),
    "by columns": lambda table: np.asfortranarray(array(table, np.int64)),
    "every other row": lambda table: np.repeat(array(table, np.int64), 2, axis=0)[::2],
    "int64 and uint64": lambda table: pd.DataFrame({name: pd.Series(values, dtype=name) for name, values in
                                                    zip(("int64", "uint64"), table.values(), strict=True)}),
    **{kind: lambda table, kind=kind: getattr(sp, f"{kind}_array")(array(table, np.int64))
       for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")},
    "csr matrix": lambda table: sp.csr_matrix(array(table, np.int64)),
    "unsigned csr": lambda table: sp.csr_array(array(table, np.uint64)),
    "csr with duplicates": lambda table: doubled(table, sp.csr_array),
    "csc with duplicates": lambda table: doubled(table, sp.csc_array),
    "coo with duplicates": lambda table: doubled(table, sp.coo_array),
}  # fmt: skip


def doubled(table, kind):
    """Every value in two parts that stand at the same place: float64 holds each, and maybe not their sum."""
    values = array(table, np.int64).ravel()
    parts = np.stack([values // 2**20 * 2**20, values % 2**20], axis=1).ravel()
    places = np.repeat(np.arange(2 * N), 2)
    if kind is sp.coo_array:
        return sp.coo_array((parts, (places // 2, places % 2)), shape=(N, 2))
    if kind is sp.csr_array:
        return sp.csr_array((parts, places % 2, np.arange(0, 4 * N + 1, 4)), shape=(N, 2))
    return sp.csr_array((parts, places % 2, np.arange(0, 4 * N + 1, 4)), shape=(N, 2)).T.T.tocsc()


def text(separator=",", decimal=".", header=True, end="\n"):
    def write(path, table):
        lines = [separator.join(map(str, row)).replace(".", decimal) for row in zip(*table.values(), strict=True)]
        path.write_text("".join(line + end for line in ([separator.join(table)] if header else []) + lines))

    return write


def compressed_text(path, table):
    pd.DataFrame(table).to_csv(path, index=False)


def sideways(write):
    """Rows of the file are columns of the data; every column of the file holds integers and floats."""
    return lambda path, table: write(path, {f"c{i}": row for i, row in enumerate(zip(*table.values(), strict=True))})


def arrow_table(table):
    return pa.table({name: pa.array(values) for name, values in table.items()})


def parquet(path, table):
    pq.write_table(arrow_table(table), path, row_group_size=16)


def nullable(path, table):
    gaps = [None, None]
    more = {name: pa.array([*gaps, *values]) for name, values in table.items()}
    pq.write_table(pa.table(more), path, row_group_size=16)


def vectors(path, table):
    rows = [list(row) for row in zip(*table.values(), strict=True)]
    pq.write_table(pa.table({"v": pa.array(rows, pa.list_(pa.int64()))}), path)


def hdf5(path, table):
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["data"] = array(table, np.int64)


def h5ad(path, table):
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["X"] = array(table, np.uint64)


def h5ad_sparse(path, table):
    X = sp.csr_array(array(table, np.int64))
    with pytest.importorskip("h5py").File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", X.shape
        group["data"], group["indices"], group["indptr"] = X.data, X.indices, X.indptr


def zarr(path, table):
    data = array(table, np.int64)
    pytest.importorskip("zarr").create_array(str(path), shape=data.shape, chunks=(16, 2), dtype=data.dtype)[:] = data


def market(path, table):
    scipy.io.mmwrite(path, sp.coo_array(array(table, np.int64)))


def real_market(path, table):
    lines = "".join(f"{value}\n" for values in table.values() for value in values)
    path.write_text(f"%%MatrixMarket matrix array real general\n{N} 2\n{lines}")


# Files: their end, what writes them, and what is passed to `read`.
FILES = {
    "CSV": (".csv", text(), {}),
    "CSV without header": (".csv", text(header=False), {}),
    "CSV with decimal comma": (".csv", text(";", ","), {}),
    "CSV in blanks": (".txt", text("   "), {}),
    "CSV with returns": (".csv", text(end="\r\n"), {}),
    "CSV, some columns": (".csv", text(), {"columns": ["t", "u"]}),
    "CSV, compressed": (".csv.gz", compressed_text, {}),
    "CSV, transposed": (".csv", sideways(text()), {"transpose": True}),
    "Parquet": (".parquet", parquet, {}),
    "Parquet with gaps": (".parquet", nullable, {"missing": "drop"}),
    "Arrow": (".feather", lambda path, table: feather.write_feather(arrow_table(table), path), {}),
    "Matrix Market, real": (".mtx", real_market, {}),
}
INTEGER_FILES = {
    "NumPy": (".npy", lambda path, table: np.save(path, array(table, np.int64)), {}),
    "NumPy, some columns": (".npy", lambda path, table: np.save(path, array(table, np.int64)), {"columns": [0, 1]}),
    "NumPy, transposed": (".npy", lambda path, table: np.save(path, array(table, np.int64).T), {"transpose": True}),
    "NumPy, packed": (".npz", lambda path, table: np.savez(path, array(table, np.uint64)), {}),
    "NumPy, sparse": (".npz", lambda path, table: sp.save_npz(path, doubled(table, sp.coo_array)), {}),
    "Parquet, transposed": (".parquet", sideways(parquet), {"transpose": True}),
    "Parquet of vectors": (".parquet", vectors, {}),
    "HDF5": (".h5", hdf5, {}),
    "h5ad": (".h5ad", h5ad, {}),
    "h5ad, sparse": (".h5ad", h5ad_sparse, {}),
    "Zarr": (".zarr", zarr, {}),
    "Matrix Market": (".mtx", market, {}),
}  # fmt: skip
CASES = [
    *((TABLES[name], mixed) for name in TABLES for mixed in (False, True)),
    *((MATRICES[name], False) for name in MATRICES),
]
NAMES = [*(f"{name}{', beside floats' * mixed}" for name in TABLES for mixed in (False, True)), *MATRICES]
FILE_CASES = [
    *((*FILES[name], mixed) for name in FILES for mixed in (False, True)),
    *((*INTEGER_FILES[name], False) for name in INTEGER_FILES),
]
FILE_NAMES = [*(f"{name}{', beside floats' * mixed}" for name in FILES for mixed in (False, True)), *INTEGER_FILES]


def check_exact(pca, table):
    """Variances are the true ones; sparse rows are not centred, and the certificate says what that costs."""
    bounds, expected = pca.certificate_.value_bounds, truth(table)
    assert (bounds[:, 0] <= expected).all()
    assert (expected <= bounds[:, 1]).all()
    if bounds[0, 1] < 2 * expected[0]:
        np.testing.assert_allclose(pca.explained_variance_, expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::ritz.errors.AccuracyWarning")
@pytest.mark.parametrize(("make", "mixed"), CASES, ids=NAMES)
def test_in_memory(make, mixed):
    stamps, fine = make(columns(STAMPS, mixed)), make(columns(ROUND, mixed))
    for fit in (PCA(2).fit, PCA(2).partial_fit, KernelPCA(2).fit):
        with pytest.raises(DataError, match=REFUSED):
            fit(stamps)
    pca = PCA(2).fit(fine)
    check_exact(pca, columns(ROUND, mixed))
    for use in (pca.transform, pca.reconstruction_error, pca.inverse_transform):
        with pytest.raises(DataError, match=REFUSED):
            use(stamps)


@pytest.mark.filterwarnings("ignore::ritz.errors.AccuracyWarning", "ignore::ritz.errors.ColumnWarning")
@pytest.mark.parametrize(("suffix", "write", "how", "mixed"), FILE_CASES, ids=FILE_NAMES)
def test_in_files(tmp_path, suffix, write, how, mixed):
    stamps, fine = (tmp_path / f"{name}{suffix}" for name in ("stamps", "fine"))
    write(stamps, columns(STAMPS, mixed))
    write(fine, columns(ROUND, mixed))
    with pytest.raises(DataError, match=REFUSED):
        PCA(2).fit(read(stamps, **how))
    with pytest.raises(DataError, match=REFUSED):
        PCA(2).partial_fit(read(stamps, **how))
    pca = PCA(2).fit(read(fine, **how))
    check_exact(pca, columns(ROUND, mixed))
    with pytest.raises(DataError, match=REFUSED):
        pca.transform(read(stamps, **how), out=tmp_path / "scores.npy")
    assert not (tmp_path / "scores.npy").exists()


@pytest.fixture(scope="module")
def models():
    fine = array(columns(ROUND, False), float)
    return {
        "PCA": PCA(2).fit(fine),
        "KernelPCA": KernelPCA(2, fit_inverse_transform=True).fit(fine),
        "CompressedSensing": CompressedSensing(2, basis=np.eye(2)).fit(fine),
    }


@pytest.mark.filterwarnings("ignore::ritz.errors.AccuracyWarning")
@pytest.mark.parametrize("source", ["int64", "pandas", "lists", "csr"])
def test_by_every_method(models, source, tmp_path):
    """New rows are refused by all that read them, and so are rows of a fit by every solver."""
    make = {**TABLES, **MATRICES}[source]
    stamps = make(columns(STAMPS, source in ("pandas", "lists")))
    uses = [
        *(getattr(models["PCA"], name) for name in ("transform", "reconstruction_error", "score", "inverse_transform")),
        *(getattr(models["KernelPCA"], name) for name in ("transform", "inverse_transform", "feature_error")
          if hasattr(models["KernelPCA"], name)),
        *(getattr(models["CompressedSensing"], name) for name in ("fit", "transform", "inverse_transform", "recover")),
        *(PCA(1, svd_solver=name).fit for name in ("covariance", "gram", "svd", "krylov", "power", "orthogonal")),
        *(PCA(1, **how).fit for how in ({"center": False}, {"scale": True}, {"memory_limit": "1 MB"})),
        *(KernelPCA(1, kernel=name).fit for name in ("rbf", "laplacian", "cosine", "poly")),
        KernelPCA(1, copy_X=False).fit,
        lambda X: KernelPCA(1, kernel="precomputed").fit(X[:2]),
        lambda X: ritz.report(models["PCA"], tmp_path / "report.html", X),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(DataError, match=REFUSED):
            use(stamps)


@pytest.mark.parametrize("sign", [1, -1])
def test_where_it_begins(sign):
    """Up to 2⁵³ every integer is taken, beyond those that float64 holds."""
    for value in (2**53 - 1, 2**53, 2**53 + 2, 2**60, 2**62 + 2**10, 3 * 2**61):
        rows = np.array([[0], [sign * value], [sign * value // 2]])
        assert PCA(1).fit(rows).explained_variance_ == PCA(1).fit(rows.astype(float)).explained_variance_
    for value in (2**53 + 1, 2**54 + 2, 2**62 + 2**9, 2**63 - 1):
        for rows in (np.array([[0], [sign * value]]), [[0.5], [sign * value]], [[0], [Decimal(sign * value)]]):
            with pytest.raises(DataError, match=f"column 0 holds {sign * value}, {REFUSED}"):
                PCA(1).fit(rows)
    with pytest.raises(DataError, match=REFUSED):
        PCA(1).fit(np.array([[2**64 - 1], [0]], np.uint64))
    with pytest.raises(DataError, match=f"column 0 holds {-(2**80) - 1}, {REFUSED}"):
        PCA(1).fit([[-(2**80) - 1], [0]])
    assert PCA(1).fit([[-(2**63)], [0]]).explained_variance_ == pytest.approx(2**125, rel=1e-14)


def test_floats_are_what_they_are():
    """A float beyond 2⁵³ is taken for the number it is, whoever rounded it before; fractions are rounded as ever."""
    for value in (2.0**53 + 2, 1.7000000001234568e18, 1e300, 0.1, Decimal("0.1"), Fraction(1, 3), Decimal("1e15")):
        for rows in ([[value], [0]], np.array([[value], [0]], object)):
            variance = float(value) ** 2 / 2 if value != 1e300 else np.inf
            np.testing.assert_allclose(PCA(1).fit(rows).explained_variance_, variance, rtol=1e-12)


@pytest.mark.parametrize("form", ["%r", "%.17g", "%.18e", "%.2f"])
def test_floats_that_programs_write(tmp_path, form):
    """Large floats come back from text, however many digits it has."""
    drawn = np.random.default_rng(0).uniform(53, 100, (200, 2))
    X, path = 2**drawn, tmp_path / "x.csv"
    path.write_text("".join(f"{form % a},{form % b}\n" for a, b in X.tolist()))
    np.testing.assert_array_equal(read(path).map(lambda block: block), X)


@pytest.mark.parametrize(
    ("cell", "taken"),
    [
        ("9007199254740992", True),
        ("9007199254740993", False),
        ("-9007199254740993", False),
        ("+9007199254740993", False),
        ('"9007199254740993"', False),
        (" 9007199254740993 ", False),
        ("9007199254740993.0", False),
        ("9007199254740994.0", True),
        ("1700000000123456789.5", False),
        ("1700000000123456768", True),
        ("1700000000.123456789", True),
        ("0.1234567890123456789", True),
        ("1.7000000001234568e+18", True),
        ("9007199254740993e0", True),
        ("1e300", True),
    ],
)
def test_numbers_in_text(tmp_path, cell, taken):
    """What is written without an exponent must be exact beyond 2⁵³; with one, it is a float like any other."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "".join(f"{i}.5,{i}\n" for i in range(9)) + f"{cell},3\n")
    if taken:
        found = PCA(1).fit(path).explained_variance_
        value = float(cell)
        expected = PCA(1).fit(np.array([[i + 0.5, i] for i in range(9)] + [[value, 3]])).explained_variance_
        np.testing.assert_array_equal(found, expected)
    else:
        with pytest.raises(DataError, match=f"column 'a' holds .*, {REFUSED}"):
            PCA(1).fit(path)


@pytest.mark.filterwarnings("ignore::ritz.errors.ColumnWarning", "ignore::ritz.errors.AccuracyWarning")
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".npy", ".npz", ".mtx", ".h5"])
def test_columns_that_are_not_decomposed(tmp_path, suffix):
    """Identifiers of any size may stand beside the numbers, as labels or left out."""
    ids, a, b = np.array(STAMPS)[:, 0], np.arange(N) * 7 % 11, np.arange(N) * 5 % 13
    table = {
        "id": ids.tolist(),
        "a": (a + 0.5 * (suffix in (".csv", ".parquet", ".feather"))).tolist(),
        "b": b.tolist(),
    }
    write = {
        ".csv": text(),
        ".parquet": parquet,
        ".feather": FILES["Arrow"][1],
        ".npy": INTEGER_FILES["NumPy"][1],
        ".npz": lambda path, table: sp.save_npz(path, sp.coo_array(array(table, np.int64))),
        ".mtx": market,
        ".h5": hdf5,
    }[suffix]
    path = tmp_path / f"x{suffix}"
    write(path, table)
    named = suffix in (".csv", ".parquet", ".feather")
    expected = PCA(2).fit(array({"a": table["a"], "b": table["b"]}, float)).explained_variance_
    first, rest = ("id", ["a", "b"]) if named else (0, [1, 2])
    np.testing.assert_allclose(PCA(2).fit(read(path, columns=rest)).explained_variance_, expected, rtol=1e-12)
    labelled = read(path, label=first)
    np.testing.assert_allclose(PCA(2).fit(labelled).explained_variance_, expected, rtol=1e-12)
    assert labelled.labels.tolist() == ids.tolist()
    if named:  # an identifier by its name
        with pytest.warns(ColumnWarning, match="id"):
            np.testing.assert_allclose(PCA(2).fit(path).explained_variance_, expected, rtol=1e-12)
    with pytest.raises(DataError, match=REFUSED):
        PCA(2).fit(read(path, columns=[first, *rest]))


def test_labels_in_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,a\n9007199254740993,1.5\ninf,2.5\n,3.5\n9007199254740994,1\n1e300,2\n7.5,0\n")
    labels = read(path, label="id").labels.tolist()
    assert labels[:2] + labels[3:] == [2**53 + 1, np.inf, 2**53 + 2, 1e300, 7.5]
    assert np.isnan(labels[2])


def test_matrices_that_are_not_rows():
    C = [[2**54 + 1, 1], [1, 2**54]]
    good = [[2**54, 1], [1, 2**54]]
    mixed = pd.DataFrame({"a": [2**54 + 1, 1], "b": [1.0, 2.0]}, index=["a", "b"])
    for matrix in (C, [[2**54 + 1, 0.5], [0.5, 2.0]], np.array(C), pd.DataFrame(C), mixed):
        with pytest.raises(DataError, match=REFUSED):
            eigen(matrix, 1)
        with pytest.raises(DataError, match=REFUSED):
            PCA.from_covariance(matrix)
        with pytest.raises(DataError, match=REFUSED):
            CompressedSensing(2, basis=matrix).fit(np.eye(2))
    with pytest.raises(DataError, match=REFUSED):
        CompressedSensing(2, measurement=sp.coo_array(C)).fit(np.eye(2))
    for mean in ([2**53 + 1, 0], [2**53 + 1, 0.5], np.array([2**53 + 1, 0])):
        with pytest.raises(DataError, match=REFUSED):
            PCA.from_covariance(np.eye(2), mean=mean)
    assert eigen(good, 1).values[0] == pytest.approx(2**54)
    assert PCA.from_covariance(good, mean=[2**60, 3]).mean_.tolist() == [2**60, 3]


def test_gaps_between_integers():
    """Integers with gaps become floats; what is said of the gaps is not hidden by large ones that float64 holds."""
    values = [2**60, None, 2**60 + 1]
    frames = (
        pd.DataFrame({"t": pd.array(values, "Int64")}),
        pd.DataFrame({"t": pd.array(values, "int64[pyarrow]")}),
        pl.DataFrame({"t": values}),
        pa.table({"t": values}),
    )
    for frame in frames:
        with pytest.raises(DataError, match=REFUSED):
            PCA(1).fit(frame)
        with pytest.raises(DataError, match="1 NaN, first at row 1, column 't'"):
            PCA(1).fit(frame[:2])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_on_the_command_line(tmp_path, monkeypatch, suffix):
    monkeypatch.chdir(tmp_path)
    write = {".csv": text(), ".parquet": parquet}[suffix]
    write(tmp_path / f"stamps{suffix}", columns(STAMPS, True))
    write(tmp_path / f"fine{suffix}", columns(ROUND, True))
    for command in ("info", "fit"):
        said = " ".join(run(command, f"stamps{suffix}", code=3).stderr.split())
        assert f"column 't' holds {STAMPS[0][0]}, which float64 cannot hold" in said
        assert said.endswith("or leave the column out with --drop")
    run("fit", f"fine{suffix}", "-k", "1", "-o", "model")
    said = run("transform", "model/model.safetensors", f"stamps{suffix}", "-o", f"out{suffix}", code=3).stderr
    assert "which float64 cannot hold" in " ".join(said.split())
    assert not (tmp_path / f"out{suffix}").exists()
