"""`ritz.inspect` as a whole: clean tables, what it takes, numbers of every size, and the same answer every time."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import datasets

import ritz
from helpers.counts import usually
from ritz import DataError, ParameterError
from ritz.rows import as_rows
from ritz.rows.memory.differenced import differenced

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("iris", ["duplicate_rows"]),
        ("wine", ["units"]),
        ("breast_cancer", ["units"]),
        ("diabetes", []),
        ("digits", ["constant"]),
        ("linnerud", ["units"]),
    ],
)
def test_tables_that_are_known_to_be_in_order(name, codes):
    found = ritz.inspect(getattr(datasets, f"load_{name}")().data)
    assert [one.code for one in found] == codes


@pytest.mark.parametrize(("name", "codes"), [("usarrests", ["units"]), ("decathlon", ["units"])])
def test_published_tables(name, codes):
    from pathlib import Path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ritz.inspect(str(Path(__file__).parents[1] / "data" / f"{name}.csv"))
    assert [one.code for one in found] == codes


CLEAN = {
    "normal": lambda n, d: RNG.normal(size=(n, d)) @ RNG.normal(size=(d, d)),
    "rounded": lambda n, d: RNG.normal(50, 10, (n, d)).round(1),
    "t5": lambda n, d: RNG.standard_t(5, (n, d)),
    "lognormal": lambda n, d: RNG.lognormal(0, 0.7, (n, d)),
    "exponential": lambda n, d: RNG.exponential(3, (n, d)),
    "gamma": lambda n, d: RNG.gamma(2, 5, (n, d)).round(1),
    "uniform": lambda n, d: RNG.uniform(size=(n, d)),
    "counts": lambda n, d: RNG.poisson(RNG.uniform(0.5, 20, d), (n, d)),
    "answers": lambda n, d: RNG.integers(1, 6, (n, d)),
    "rain": lambda n, d: np.where(RNG.random((n, d)) < 0.4, 0, RNG.gamma(0.7, 5, (n, d))).round(1),
    "groups": lambda n, d: RNG.normal(size=(n, d)) + 8 * RNG.integers(0, 3, n)[:, None],
    "indicators": lambda n, d: np.eye(d + 2)[RNG.integers(0, d + 2, n)],
}
TRUE = {"units", "closed", "duplicate_rows", "constant", "heavy_tails", "heavy_cell"}  # what is so, of some of these


@pytest.mark.parametrize("name", CLEAN)
def test_clean_tables_are_left_in_peace(name):
    """At most 4 of 100 random tables get a finding that is not plainly true: of 12,000 tables, 0.1 % did."""
    count = usually(50, thorough=1000)
    sizes = np.exp(RNG.uniform(np.log(12), np.log(2000), count)).astype(int), RNG.integers(1, 12, count)
    told = 0
    for n, d in zip(*sizes, strict=True):
        codes = {one.code for one in ritz.inspect(CLEAN[name](int(n), int(d)))} - TRUE
        told += bool(codes)
    assert told <= usually(0.04, thorough=0.02) * count


X = RNG.normal(50, 10, (200, 3))
X[:20, 1] = -999
FRAME = pd.DataFrame(X, columns=list("abc"))
SOURCES = {
    "array": lambda folder: X,
    "list": lambda folder: X.tolist(),
    "pandas": lambda folder: pd.DataFrame(X, columns=list("abc")),
    "polars": lambda folder: pl.DataFrame(dict(zip("abc", X.T, strict=True))),
    "rows": lambda folder: ritz.read(X),
    "csv": lambda folder: _written(folder / "x.csv", lambda path: FRAME.to_csv(path, index=False)),
    "parquet": lambda folder: _written(folder / "x.parquet", pd.DataFrame(X, columns=list("abc")).to_parquet),
    "npy": lambda folder: _written(folder / "x.npy", lambda path: np.save(path, X)),
    "float32": lambda folder: X.astype(np.float32),
    "csv.gz": lambda folder: _written(folder / "x.csv.gz", lambda path: FRAME.to_csv(path, index=False)),
}


def _written(path, write):
    write(path)
    return str(path)


@pytest.mark.parametrize("name", SOURCES)
def test_whatever_a_fit_takes(name, tmp_path):
    found = ritz.inspect(SOURCES[name](tmp_path))
    assert found["code"].evidence["counts"] == [20]
    assert found["code"].rows == (0, 1, 2, 3, 4)
    assert (found.n_rows, found.n_columns, found.whole) == (200, 3, True)


def test_a_medical_table_with_zeros_for_missing_values():
    """As that of the Pima women: five columns with zeros that cannot be, and two with zeros that can."""
    n = 768
    zeros = {"glucose": 5, "pressure": 35, "bmi": 11}
    table = {
        "pregnancies": RNG.poisson(3, n),
        "glucose": RNG.normal(121, 30, n).round().clip(44, 199),
        "pressure": RNG.normal(72, 12, n).round().clip(24, 122),
        "skin": RNG.normal(29, 10, n).round().clip(7, 99),
        "insulin": RNG.lognormal(4.8, 0.7, n).round().clip(14, 846),
        "bmi": RNG.normal(32.4, 6.9, n).round(1).clip(18.2, 67.1),
        "outcome": (RNG.random(n) < 0.35).astype(int),
    }
    for name, count in zeros.items():
        table[name][RNG.choice(n, count, replace=False)] = 0
    lacking = RNG.choice(n, 374, replace=False)
    table["insulin"][lacking], table["skin"][lacking[:227]] = 0, 0
    finding = ritz.inspect(pd.DataFrame(table))["zero_code"]
    assert dict(zip(finding.columns, finding.evidence["counts"], strict=True)) == {
        "glucose": 5, "pressure": 35, "skin": 227, "insulin": 374, "bmi": 11
    }  # fmt: skip
    assert finding.evidence["rows_with_several"] >= 227


def test_dask_arrays():
    da = pytest.importorskip("dask.array")
    assert ritz.inspect(da.from_array(X, chunks=(60, 3)))["code"].evidence["counts"] == [20]


def test_sparse_rows_and_pictures():
    genes = sp.random(400, 300, 0.05, random_state=0, format="csr")
    assert [one.code for one in ritz.inspect(genes)] == []
    genes.data[7] = np.nan
    assert [one.code for one in ritz.inspect(genes)] == ["missing"]
    faces = ritz.read(RNG.integers(0, 256, (60, 8, 8)).astype(np.uint8))
    assert [one.code for one in ritz.inspect(faces)] == []


NUMBERS = {
    "1e300": lambda A: A * 1e300,
    "1e-200": lambda A: A * 1e-200,
    "subnormal": lambda A: A * 1e-310,
    "offset": lambda A: A + 1e8,
    "float32": lambda A: A.astype(np.float32),
    "float16": lambda A: A.astype(np.float16),
    "integers": lambda A: (A * 100).astype(np.int16),
    "nothing": lambda A: np.full_like(A, np.nan),
    "a column of nothing": lambda A: np.where(np.arange(A.shape[1]) == 0, np.nan, A),
    "infinities": lambda A: np.where(np.arange(A.shape[1]) == 0, np.inf, A),
    "constant": lambda A: np.full_like(A, 7.0),
    "zeros": lambda A: np.zeros_like(A),
    "flags": lambda A: A > 0,
    "beyond float64": lambda A: (A * 2.0**61).astype(np.int64) + 1,
    "many magnitudes": lambda A: A * 10.0 ** (np.arange(A.shape[1]) * 150 - 300),
}
EXPECTED = {
    "nothing": {"missing", "nearly_empty"},
    "a column of nothing": {"missing", "nearly_empty"},
    "infinities": {"infinite"},
    "beyond float64": {"large_integers"},
}


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (2, 4), (3, 2), (12, 1), (40, 3)])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_every_size_and_shape(name, shape):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ritz.inspect(NUMBERS[name](RNG.normal(size=shape)))
        assert str(found)
    codes = {one.code for one in found}
    assert codes >= EXPECTED.get(name, set()) - ({"nearly_empty"} if shape[0] < 2 else set())
    assert codes <= EXPECTED.get(name, set()) | {"units", "constant", "duplicate_rows", "kinds", "far_too_often"}


def test_integers_beyond_float64_are_a_finding_because_a_fit_refuses_them():
    big = np.array([[2**53 + 1, 1], [5, 2], [7, 3]])
    assert ritz.inspect(big)["large_integers"].severity == "error"
    with pytest.raises(DataError):
        ritz.PCA(1).fit(big)


def test_what_is_given_is_checked():
    for given, value in (("sample", 0), ("sample", True), ("sample", 2.5), ("names", ["a"]), ("names", "abc")):
        with pytest.raises(ParameterError, match=given):
            ritz.inspect(X, **{given: value})
    for value in (-1, "seed", True):
        with pytest.raises(ParameterError, match="random_state"):
            ritz.inspect(X, random_state=value)
    with pytest.raises(ValueError, match="2D"):
        ritz.inspect(np.zeros(3))


def test_a_sample_is_the_same_for_the_same_seed_and_says_what_it_is():
    A = RNG.normal(50, 10, (5000, 3))
    A[::7, 2] = -999
    texts = [str(ritz.inspect(A, sample=400, random_state=seed)) for seed in (None, 0, 0, 1)]
    assert texts[0] == texts[1] == texts[2]
    assert "in a sample of 400 of 5,000 rows" in texts[0]
    assert "of which 400 from all over were looked at" in texts[3]
    generators = [np.random.default_rng(3), np.random.default_rng(3)]
    assert len({str(ritz.inspect(A, sample=400, random_state=one)) for one in generators}) == 1
    assert ritz.inspect(A, sample=400, random_state=np.random.RandomState(3)).looked_at == 400


def test_it_does_not_depend_on_memory_or_threads():
    rows = ritz.read(X)
    assert str(ritz.inspect(rows.limited(8 * 3 * 7, 1))) == str(ritz.inspect(X))


def test_nothing_is_changed():
    before = X.copy()
    X.flags.writeable = False
    ritz.inspect(X)
    X.flags.writeable = True
    assert np.array_equal(X, before)


def test_it_prints_and_becomes_a_frame():
    table = pd.DataFrame(X, columns=["a", "\x1b[31mred", "c"])
    found = ritz.inspect(table)
    assert "\x1b" not in str(found)
    frame = found.to_frame()
    assert frame.index.tolist() == [one.code for one in found]
    assert set(frame.columns) == {"severity", "columns", "rows", "sentence", "python", "option"}
    assert [one.severity for one in found] == sorted(
        (one.severity for one in found), key=("error", "warning", "note").index
    )
    assert str(ritz.inspect(RNG.normal(size=(50, 2)))) == "50 rows, 2 columns: nothing was found"
    with pytest.raises(KeyError):
        found["nothing"]


def test_text_columns_of_a_file_that_hold_numbers_nearly_always(tmp_path):
    cells = [f"{i * 37 % 101 + 0.5}" for i in range(60)]
    for k in range(0, 60, 3):
        cells[k] = f"A{k}"
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{i * 13 % 7 + 0.25},{cell}\n" for i, cell in enumerate(cells)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        finding = ritz.inspect(str(tmp_path / "x.csv"))["mixed"]
    assert (finding.columns, finding.severity) == (("b",), "warning")
    assert "'A0' in line 2" in finding.sentence


def test_the_order_of_columns_and_powers_of_two_change_nothing():
    for _ in range(10):
        A = np.column_stack([RNG.normal(60, 5, (150, 4)).round(1), RNG.poisson(9, (150, 2))])
        A[7, 1] *= 10
        A[:, 3] = 2 * A[:, 0]
        A = np.column_stack([A, A[:, 4] + A[:, 5]])
        turn = RNG.permutation(7)
        names = np.array(list("abcdefg"))
        plain, turned = ritz.inspect(A, names=names), ritz.inspect(A[:, turn], names=names[turn])
        shifted = ritz.inspect(A * 2.0**200, names=names)
        assert [one.code for one in plain] == [one.code for one in turned] == [one.code for one in shifted]
        for code in ("far_cell", "sums"):
            assert plain[code].columns == turned[code].columns == shifted[code].columns
            assert plain[code].rows == turned[code].rows == shifted[code].rows
        assert set("ad") == {*plain["duplicate_columns"].columns, *plain["duplicate_columns"].evidence["of"]}
        assert plain["far_cell"].evidence["shares"] == pytest.approx(shifted["far_cell"].evidence["shares"])


def test_differences_are_told_of_by_what_they_are_of():
    X = RNG.normal(50, 5, (300, 3)).round(1)
    X[40, 1] = 512.0
    found = ritz.inspect(differenced(as_rows(X)))
    assert [one.code for one in found] == ["far_cell"]
    assert found["far_cell"].evidence["cells"] == [[40, 1, 512.0]]
    assert found.whole
    walk = np.cumsum(RNG.normal(size=(300, 3)), axis=0)
    assert "ordered_rows" in ritz.inspect(walk)
    assert not len(ritz.inspect(differenced(as_rows(walk))))
