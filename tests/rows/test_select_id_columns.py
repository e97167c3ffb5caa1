"""Row numbers and identifiers are left out, by one rule for the command line and for Python."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

from helpers.commands import answer, run
from ritz import PCA, load, read
from ritz.errors import ColumnWarning, DataError
from ritz.rows.text import lines

N = 40
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3)) * [3, 2, 1]
KINDS = [["a", "b"][i % 2] for i in range(N)]
# The name of a column, its values, and whether they are decomposed.
COLUMNS = {
    "no name": ("", np.arange(N), False),
    "pandas": ("Unnamed: 0", np.arange(N), False),
    "pandas, shuffled": ("Unnamed: 0", RNG.permutation(N), False),
    "id": ("id", np.arange(1, N + 1), False),
    "index": ("index", np.arange(N), False),
    "row": ("row", np.arange(1, N + 1), False),
    "numbers that identify": ("customer_id", RNG.permutation(N) * 7, False),
    "PassengerId": ("PassengerId", np.arange(892, 892 + N), False),
    "no.": ("No.", np.arange(1, N + 1), False),
    "how many": ("number", RNG.permutation(N), True),
    "beyond 2**53": ("id", 2**60 + np.arange(N), False),
    "no header": (None, np.arange(1, N + 1), False),
    "words": ("name", [f"w{i}" for i in range(N)], False),
    "labels": ("kind", KINDS, False),
    "nothing": ("e", [None] * N, False),
    "year": ("year", 1960 + np.arange(N), True),
    "age": ("age", 20 + np.arange(N), True),
    "time step": ("time_step", np.arange(N), True),
    "constant": ("c", np.full(N, 5), True),
    "groups": ("id", np.arange(N) // 3, True),
}


def write_csv(path, name, values, n=N):
    head = [] if name is None else [f"{name},x,y,z"]
    rows = [",".join(["" if value is None else str(value), *map(repr, row.tolist())]) for value, row in zip(values, X)]  # noqa: B905
    path.write_text("\n".join([*head, *rows[:n], ""]))
    return path


def write_table(path, name, values):
    column = pa.array(values, pa.float64()) if values[0] is None else pa.array(values)
    table = pa.table({name: column, "x": X[:, 0], "y": X[:, 1], "z": X[:, 2]})
    (pq.write_table if path.suffix == ".parquet" else pf.write_feather)(table, path)
    return path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, ".csv") for name in COLUMNS),
        *((name, ".parquet") for name in ("id", "numbers that identify", "nothing", "year")),
        ("pandas", ".feather"),
    ],
)
@pytest.mark.filterwarnings("ignore::ritz.errors.AccuracyWarning")
def test_the_command_and_python_decompose_the_same_columns(tmp_path, name, kind):
    key, values, decomposed = COLUMNS[name]
    path = (write_csv if kind == ".csv" else write_table)(tmp_path / f"x{kind}", key, values)
    told = answer("fit", path, "-k", 3 + decomposed, "-o", tmp_path / "m")
    ours = load(tmp_path / "m" / "model.safetensors")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = PCA().fit(path)
    assert model.n_features_in_ == ours.n_features_in_ == told["columns"] == 3 + decomposed
    assert list(getattr(model, "feature_names_in_", ())) == list(getattr(ours, "feature_names_in_", ()))
    assert np.allclose(model.explained_variance_, ours.explained_variance_, rtol=1e-12, atol=1e-12)
    assert np.allclose(model.components_[:3], ours.components_[:3], rtol=1e-9)
    assert decomposed or (told["left_out"] and any("columns left out" in str(w.message) for w in heard))
    few = write_csv(tmp_path / "few.csv", key, values, n=4)  # fewer rows than a rule could go by
    run("transform", tmp_path / "m" / "model.safetensors", few, "-o", tmp_path / "s.npy", "-q")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = model.transform(few)
        assert np.allclose(scores, model.transform(path)[:4], atol=1e-12)
    assert np.allclose(np.load(tmp_path / "s.npy"), scores, atol=1e-12)


@pytest.mark.filterwarnings("ignore::ritz.errors.ColumnWarning")
def test_what_is_asked_for_is_taken(tmp_path):
    path = write_csv(tmp_path / "x.csv", "id", np.arange(N))
    assert read(path, columns=["id", "x"]).names == ("id", "x")
    assert read(path).aside == {"id": "row numbers"}
    assert read(path, label="id").labels.tolist() == list(range(N))
    assert answer("fit", path, "--keep", "id")["columns"] == 4
    (tmp_path / "y.csv").write_text("id\n" + "\n".join(map(str, range(N))))
    assert read(tmp_path / "y.csv").names == ("id",)  # nothing else would be left


def test_a_column_that_counts_but_may_be_data_is_kept_and_said(tmp_path):
    path = write_csv(tmp_path / "x.csv", "year", 1960 + np.arange(N))
    with pytest.warns(ColumnWarning, match="column 'year' counts the rows; it is decomposed.*pass columns= without it"):
        read(path)
    assert any("--drop" in word for word in answer("fit", path)["warnings"])


@pytest.mark.parametrize("size", [500, 1 << 22])
@pytest.mark.filterwarnings("ignore::ritz.errors.ColumnWarning")
def test_all_rows_are_looked_at_before_a_column_is_left_out(tmp_path, monkeypatch, size):
    monkeypatch.setattr(lines, "PART_BYTES", size)
    values = np.arange(3000)
    values[2500:] = 7
    path = tmp_path / "x.csv"
    path.write_text("\n".join([",x", *(f"{value},{i % 13}.5" for i, value in enumerate(values)), ""]))
    assert read(path).shape[1] == 2


@pytest.mark.filterwarnings("ignore::ritz.errors.ColumnWarning")
def test_a_model_finds_its_columns_in_any_file_by_name(tmp_path):
    model = PCA(2).fit(write_csv(tmp_path / "x.csv", "id", np.arange(N)))
    other = tmp_path / "other.csv"
    other.write_text("z,more,y,id,x\n" + "\n".join(f"{z!r},1,{y!r},7,{x!r}" for x, y, z in X.tolist()) + "\n")
    assert np.allclose(model.transform(other), model.transform(X[:, :3].copy()), atol=1e-12)
    assert np.allclose(model.transform(read(other)), model.transform(other))
    batches = PCA(2).partial_fit(tmp_path / "x.csv").partial_fit(other)
    assert batches.n_samples_seen_ == 2 * N
    other.write_text("z,y\n1,2\n3,5\n")
    with pytest.raises(DataError, match=r"other\.csv lacks 1 of 3 columns: 'x'"):
        model.transform(other)


def test_row_numbers_are_no_sample_of_a_transposed_table(tmp_path):
    path = write_csv(tmp_path / "x.csv", "", np.arange(N))
    with pytest.warns(ColumnWarning, match=r"column 'unnamed_0' \(row numbers\) is not a sample, and was left out"):
        rows = read(path, transpose=True)
    assert (rows.shape, rows.row_names.tolist(), rows.names[:2]) == ((3, N), ["x", "y", "z"], ("0", "1"))
    told = answer("fit", path, "--transpose", "-o", tmp_path / "m")
    assert (told["rows"], told["columns"]) == (3, N)
    assert any("is not a sample" in word for word in told["warnings"])


def test_tables_in_memory_are_taken_as_they_are():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": np.arange(N), "x": X[:, 0]})
    assert PCA().fit(frame).n_features_in_ == 2


@pytest.mark.parametrize(
    "index", [[7, 3, 9, 1, 30, 12, 5, 8], [0, 1, 2, 3, 0, 1, 2, 3], [0.5, 1.5, 9.0, 2, 3, 4, 5, 6]]
)
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_the_index_of_a_frame_is_no_column_wherever_it_stands(tmp_path, index, ending):
    """Rows that were chosen, shuffled or joined: pandas writes their index behind all columns."""
    numbers = np.random.default_rng(0).standard_normal((8, 3))
    table = pa.table({**dict(zip("abc", numbers.T, strict=True)), "__index_level_0__": index})
    path = tmp_path / f"x.{ending}"
    (pq.write_table if ending == "parquet" else pf.write_feather)(table, path)
    with pytest.warns(ColumnWarning, match=r"__index_level_0__' \(row numbers\)"):
        assert list(PCA(2).fit(path).feature_names_in_) == ["a", "b", "c"]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_an_index_that_has_a_name_is_no_column_either(tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    index = pandas.Index(rng.permutation(900)[:30], name="subjectnr")
    frame = pandas.DataFrame(rng.standard_normal((30, 3)), columns=list("abc"), index=index)
    path, table = tmp_path / f"x.{ending}", pa.Table.from_pandas(frame)
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    with pytest.warns(ColumnWarning, match=r"'subjectnr' \(index of the table\)"):
        found = PCA(2).fit(path)
    np.testing.assert_allclose(found.explained_variance_, PCA(2).fit(frame).explained_variance_, rtol=1e-12)
    assert answer("fit", path, "-k", 2, "-o", tmp_path / "m")["columns"] == 3


@pytest.mark.parametrize(
    "told", [b"no json", b"[]", b'{"index_columns": 3}', b'{"index_columns": [{"kind": "range"}]}']
)
def test_whatever_is_told_about_an_index_does_no_harm(tmp_path, told):
    table = pa.table({"a": [1.0, 2, 4], "b": [3.0, 1, 2]}).replace_schema_metadata({b"pandas": told})
    pq.write_table(table, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet").names == ("a", "b")


def test_warnings_are_of_the_line_that_reads(tmp_path):
    (tmp_path / "x.csv").write_text("a,a,n\n" + "".join(f"{a},{b},{i}\n" for i, (a, b, _) in enumerate(X)))
    with pytest.warns(ColumnWarning) as told:
        read(tmp_path / "x.csv")
    assert len(told) == 2
    assert {warning.filename for warning in told} == {__file__}
