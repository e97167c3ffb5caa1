"""The commands, on files as people have them."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cli_helpers import answer, run, wine, write_wine
from ritz import PCA, load
from ritz.cli import main


@pytest.fixture
def wines(tmp_path):
    return write_wine(tmp_path / "wine.csv")


@pytest.fixture
def model(wines):
    run("fit", wines, "--scale", "-k", 4, "-q")
    return wines.parent / "wine-ritz" / "model.safetensors"


def test_fit_writes_next_to_the_input_and_says_what_it_did(wines):
    said = run("fit", wines, "-k", 3).output
    folder = wines.parent / "wine-ritz"
    assert sorted(file.name for file in folder.iterdir()) == ["model.safetensors", "report.html", "scores.csv"]
    for words in (
        "178 rows, 13 columns",
        "separated by commas, decimal point, names in the header",
        "bottle (identifies rows)",
        "kind (label)",
        "PC3",
        "+proline",
        "accurate as asked",
        "proved",
        "ritz transform",
        "report.html",
    ):
        assert words in said
    assert "column 'proline' varies" in said
    assert "--scale" in said


def test_scores_are_those_of_the_library_with_identifiers_and_labels(wines):
    run("fit", wines, "-k", 3)
    X, _, kinds = wine()
    table = pyarrow.csv.read_csv(wines.parent / "wine-ritz" / "scores.csv")
    assert table.column_names == ["bottle", "kind", "PC1", "PC2", "PC3"]
    assert table["bottle"][5].as_py() == "W-005"
    assert table["kind"].to_pylist() == kinds
    scores = np.column_stack([table[f"PC{i}"].to_numpy() for i in (1, 2, 3)])
    assert np.allclose(scores, PCA(3).fit_transform(X), rtol=1e-12, atol=1e-9)


def test_decimal_commas_and_semicolons_give_the_same(tmp_path, wines):
    other = write_wine(tmp_path / "vin.csv", ";", ",")
    said = run("fit", other, "-k", 3, "--scale").output
    assert "semicolons, decimal comma" in said
    run("fit", wines, "-k", 3, "--scale")
    first, second = (load(tmp_path / f"{name}-ritz" / "model.safetensors") for name in ("vin", "wine"))
    assert np.array_equal(first.components_, second.components_)


def test_no_warning_of_scales_when_scaled(wines):
    assert "varies" not in run("fit", wines, "--scale").output


def test_a_folder_of_embeddings(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 24)).astype(np.float32)
    folder = tmp_path / "embeddings"
    folder.mkdir()
    for part in range(3):
        block = X[100 * part : 100 * (part + 1)]
        ids = [f"doc{100 * part + i}" for i in range(100)]
        table = {"id": ids, "embedding": pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), 24)}
        pq.write_table(pa.table(table), folder / f"part-{part}.parquet")
    told = answer("fit", folder, "-k", 5)
    assert (told["rows"], told["columns"], told["exit_code"]) == (300, 24, 0)
    scores = pq.read_table(tmp_path / "embeddings-ritz" / "scores.parquet")
    assert scores.column_names == ["id", "PC1", "PC2", "PC3", "PC4", "PC5"]
    assert scores["id"][299].as_py() == "doc299"
    expected = PCA(5).fit_transform(X)
    assert np.allclose(scores["PC1"].to_numpy(), expected[:, 0], atol=1e-5)


def test_json_of_a_fit(wines):
    told = answer("fit", wines, "-k", 0.9, "--scale")
    X = wine()[0]
    expected = PCA(0.9, scale=True).fit(X)
    assert np.allclose([part["variance"] for part in told["components"]], expected.explained_variance_)
    assert told["certificate"]["satisfied"] is True
    assert told["left_out"] == {"bottle": "identifies rows", "kind": "label"}
    assert set(told["files"]) == {"model", "scores", "report"}


def test_an_existing_result_is_replaced_only_by_force(wines):
    run("fit", wines, "-k", 2)
    model = wines.parent / "wine-ritz" / "model.safetensors"
    before = model.read_bytes()
    refused = run("fit", wines, "-k", 3, code=1)
    assert "--force" in refused.stderr
    assert model.read_bytes() == before
    run("fit", wines, "-k", 3, "--force")
    assert load(model).n_components_ == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["fit", "nothing.csv"], 2, "there is no file"),
        (["fit", "wine.csv", "-k", "0"], 2, "0"),
        (["fit", "wine.csv", "-k", "many"], 2, "many"),
        (["fit", "wine.csv", "--sclae"], 2, "--scale"),
        (["fit", "wine.csv", "-k", "14"], 3, "-k 14"),
        (["fit", "wine.csv", "--label", "nobody"], 3, "there is no column 'nobody'"),
        (["fit", "wine.csv", "--image", "3x3"], 3, "9 pixels"),
        (["fit", "wine.csv", "--image", "3"], 2, "28x28"),
        (["fit", "wine.csv", "-o", "no/where"], 2, "there is no folder"),
        (["transform", "nothing.safetensors", "wine.csv"], 2, "nothing.safetensors"),
        (["transform", "wine.csv", "wine.csv"], 3, "wine.csv"),
        (["export", "nothing.safetensors", "x.txt"], 2, ".onnx"),
        (["merge", "a.safetensors", "-o", "b"], 2, "two models"),
        (["nothing"], 2, "nothing"),
    ],
)
def test_errors_are_a_line_with_a_code(arguments, code, words, wines, monkeypatch):
    monkeypatch.chdir(wines.parent)
    result = run(*arguments, code=code)
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert sorted(file.name for file in wines.parent.iterdir()) == ["wine.csv"]


def test_gaps_are_refused_with_their_place_and_what_to_do(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n1,2\n3,NA\n5,6\n7,9\n")
    said = run("fit", path, code=3).stderr
    assert "row 1, column 'b'" in said
    assert "--missing drop" in said
    told = answer("fit", path, "--missing", "drop")
    assert told["rows"] == 3
    run("fit", path, "--missing", "mean", "--force")
    table = pyarrow.csv.read_csv(tmp_path / "gaps-ritz" / "scores.csv")
    assert table.num_rows == 4


def test_dropped_rows_take_their_labels_along(tmp_path):
    path = tmp_path / "x.csv"
    lines = [f"{i}.5,{'' if i == 3 else i * i},{'even' if i % 2 == 0 else 'odd'}" for i in range(12)]
    path.write_text("\n".join(["a,b,parity", *lines]))
    run("fit", path, "--missing", "drop", "-k", 1)
    table = pyarrow.csv.read_csv(tmp_path / "x-ritz" / "scores.csv")
    assert table["parity"].to_pylist() == ["even" if i % 2 == 0 else "odd" for i in range(12) if i != 3]


def test_row_numbers_are_no_measurement_unless_kept(tmp_path):
    path = tmp_path / "x.csv"
    rng = np.random.default_rng(0)
    lines = [f"{i + 1},{a:.6f},{b:.6f}" for i, (a, b) in enumerate(rng.standard_normal((40, 2)))]
    path.write_text("\n".join(["id,a,b", *lines]))
    told = answer("fit", path)
    assert told["columns"] == 2
    assert "--keep" in told["left_out"]["id"]
    assert pyarrow.csv.read_csv(tmp_path / "x-ritz" / "scores.csv")["id"].to_pylist() == list(range(1, 41))
    assert answer("fit", path, "--keep", "id", "--force")["columns"] == 3


def test_constant_columns_can_be_dropped(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\n1,5,2\n2,5,1\n4,5,9\n")
    refused = run("fit", path, "--scale", code=3).stderr
    assert "'b'" in refused
    assert "--drop-constant" in refused
    told = answer("fit", path, "--scale", "--drop-constant")
    assert told["left_out"] == {"b": "constant"}


def test_transform_finds_columns_by_name(tmp_path, wines, model):
    shuffled = write_wine(tmp_path / "other.csv", ";", ",", order=np.random.default_rng(0).permutation(13))
    run("transform", model, shuffled, "-o", tmp_path / "scores.csv")
    ours = pyarrow.csv.read_csv(tmp_path / "scores.csv")
    fitted = pyarrow.csv.read_csv(tmp_path / "wine-ritz" / "scores.csv")
    assert ours.column_names == fitted.column_names
    assert np.allclose(ours["PC2"].to_numpy(), fitted["PC2"].to_numpy(), atol=1e-12)


def test_columns_that_lack_are_listed(tmp_path, model):
    few = write_wine(tmp_path / "few.csv", order=[0, 1, 2])
    said = run("transform", model, few, code=3).stderr
    assert "lacks 10 of 13 columns" in said
    assert "'proline'" in said


def test_inverse_goes_back(tmp_path, wines):
    run("fit", wines, "-k", 13)
    folder = tmp_path / "wine-ritz"
    run("inverse", folder / "model.safetensors", folder / "scores.csv", "-o", tmp_path / "back.csv")
    back = pyarrow.csv.read_csv(tmp_path / "back.csv")
    X, names, kinds = wine()
    assert back.column_names == ["bottle", "kind", *names]
    assert np.allclose(np.column_stack([back[name].to_numpy() for name in names]), X)
    assert back["kind"].to_pylist() == kinds


def test_merge_equals_one_fit(tmp_path, wines):
    lines = wines.read_text().splitlines(keepends=True)
    for name, part in (("a", lines[1:60]), ("b", lines[60:])):
        (tmp_path / f"{name}.csv").write_text(lines[0] + "".join(part))
        run("fit", tmp_path / f"{name}.csv", "-k", 4)
    models = [tmp_path / f"{name}-ritz" / "model.safetensors" for name in "ab"]
    told = answer("merge", *models, "-o", tmp_path / "all.safetensors")
    assert told["rows"] == 178
    assert np.allclose(told["variances"], PCA(4).fit(wine()[0]).explained_variance_, rtol=1e-9)
    run("fit", wines, "-k", 4)
    angles = answer("compare", tmp_path / "all.safetensors", tmp_path / "wine-ritz" / "model.safetensors")["angles"]
    assert max(angles) < 1e-5


def test_compare_prints_angles(model):
    said = run("compare", model, model).output
    assert "the same subspace" in said


def test_export_to_onnx(tmp_path, model):
    onnxruntime = pytest.importorskip("onnxruntime")
    run("export", model, tmp_path / "wine.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "wine.onnx")
    X = wine()[0]
    scores = session.run(None, {session.get_inputs()[0].name: X})[0]
    assert np.allclose(scores, load(model).transform(X), rtol=1e-12, atol=1e-12)


def test_report_of_a_model(tmp_path, wines, model):
    run("report", model, wines, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "cultivar 2" in page
    assert "<script" not in page
    run("report", model, code=1)
    run("report", model, "--force")


def test_info_reads_little_and_says_much(wines):
    said = run("info", wines).output
    for words in ("178 rows, 13 columns", "missing cells: none", "proline", "plan", "memory", "--scale"):
        assert words in said
    told = answer("info", wines)
    assert told["plan"]["solver"] == "svd"
    assert told["missing"] == 0
    assert not (wines.parent / "wine-ritz").exists()


def test_info_of_a_model(model):
    assert "accurate as asked" in run("info", model).output
    assert answer("info", model)["columns"] == 13


def test_not_reaching_the_accuracy_is_code_4_and_files_are_written(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.standard_normal((300, 200)))
    run("fit", tmp_path / "x.npy", "-k", 5, "--solver", "power", "--tol", "1e-14", code=4)
    assert (tmp_path / "x-ritz" / "model.safetensors").exists()
    assert (tmp_path / "x-ritz" / "scores.parquet").exists()


def test_hostile_names_reach_neither_terminal_nor_page(tmp_path):
    path = tmp_path / "x.csv"
    rng = np.random.default_rng(0)
    kinds = ["=1+1", "\x1b[31mred"] * 10
    lines = [f"{a},{b},{kind}" for (a, b), kind in zip(rng.standard_normal((20, 2)), kinds, strict=True)]
    path.write_text("\n".join(['"\x1b]0;owned\x07","<script>alert(1)</script>",kind', *lines]))
    result = run("fit", path)
    assert "\x1b" not in result.output.replace("\x1b[0m", "")
    assert "\x07" not in result.output
    page = (tmp_path / "x-ritz" / "report.html").read_text()
    assert "<script" not in page
    assert "\x1b" not in page
    scores = (tmp_path / "x-ritz" / "scores.csv").read_text()
    assert '"\'=1+1"' in scores or "'=1+1" in scores


def test_outputs_that_are_not_what_they_seem_are_refused(tmp_path, wines, model, monkeypatch):
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    (inside / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    for out in ("../scores.csv", "link.csv", str(wines)):
        assert "--force" in run("transform", model, wines, "-o", out, code=1).stderr
    assert not (tmp_path / "elsewhere.csv").exists()
    assert not (tmp_path / "scores.csv").exists()
    before = wines.read_bytes()
    run("transform", model, wines, "-o", "../scores.csv", "--force")
    assert (tmp_path / "scores.csv").exists()
    assert wines.read_bytes() == before


@pytest.mark.parametrize("which", ["digits", "wine", "rotation"])
def test_demo_writes_a_whole_folder(which, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run("demo", which).output
    assert "accurate as asked" in said
    folder = tmp_path / f"{which}-ritz"
    assert sorted(file.name for file in folder.iterdir()) == ["model.safetensors", "report.html", "scores.parquet"]
    run("demo", which)  # its own results it replaces
    (folder / "model.safetensors").unlink()
    assert "--force" in run("demo", which, code=1).stderr


def test_every_command_has_help_with_an_example():
    for name, command in main.commands.items():
        said = run(name, "--help").output
        assert "Example" in said
        assert f"ritz {name}" in said
        assert command.get_short_help_str(70).endswith((".", "…", "...")) or command.short_help is None


def test_the_program_lists_its_commands_and_exit_codes():
    said = run("--help").output
    for word in (*main.commands, "Exit codes", "130"):
        assert word in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    assert "_RITZ_COMPLETE" in run("completion", shell).output


def test_auto_says_how_many_and_why(wines):
    told = answer("fit", wines, "-k", "auto", "--scale")
    assert told["choice"]["flips"] == 19
    assert told["choice"]["k"] == len(told["components"])
    assert len(told["choice"]["null"]) >= told["choice"]["k"]


def test_json_of_an_error(wines):
    told = json.loads(run("fit", wines, "-k", 99, "--json", code=3).stdout)
    assert told["exit_code"] == 3
    assert "99" in told["error"]
