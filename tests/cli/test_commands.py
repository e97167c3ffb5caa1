"""The commands, on files as people have them."""

import json
import os
import time
from types import SimpleNamespace

import anndata as ad
import click
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from helpers.commands import all_said, answer, run, wine, write_wine
from helpers.models import with_tree
from ritz import PCA, KernelPCA, load
from ritz.cli import inputs, main
from ritz.cli.options import COMPONENTS
from ritz.cli.screen import folded
from ritz.estimators import pca
from ritz.views.scatter import First


@pytest.fixture
def wines(tmp_path):
    return write_wine(tmp_path / "wine.csv")


@pytest.fixture
def model(wines):
    run("fit", wines, "--scale", "-k", 4, "-q")
    return wines.parent / "wine-ritz" / "model.safetensors"


def test_fit_writes_next_to_the_input_and_says_what_it_did(wines):
    said = all_said("fit", wines, "-k", 3)
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
    said = all_said("fit", other, "-k", 3, "--scale")
    assert "semicolons, decimal comma" in said
    run("fit", wines, "-k", 3, "--scale")
    first, second = (load(tmp_path / f"{name}-ritz" / "model.safetensors") for name in ("vin", "wine"))
    assert np.array_equal(first.components_, second.components_)


def test_no_warning_of_scales_when_scaled(wines):
    assert "varies" not in all_said("fit", wines, "--scale")


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


def write_cells(path, form, names):
    """Counts of five genes, of cells that are known by name, type and how many reads they have."""
    counts = np.random.default_rng(len(names)).poisson(2.0, (len(names), 5)).astype(np.float32)
    kinds = ["T cell", "B cell", None]
    obs = {"reads": counts.sum(axis=1), "cell_type": pd.Categorical([kinds[i % 3] for i in range(len(names))])}
    genes = pd.DataFrame(index=[f"G{j}" for j in range(5)])
    ad.AnnData(form(counts), pd.DataFrame(obs, index=names), genes).write_h5ad(path)
    return counts


@pytest.mark.parametrize("form", [np.array, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("label", [["--label", "cell_type"], []], ids=["asked for", "found"])
def test_cells_keep_their_names_and_types(tmp_path, form, label):
    names = [f"AAAC-{i}" for i in range(60)]
    counts = write_cells(tmp_path / "a.h5ad", form, names)
    told = answer("fit", tmp_path / "a.h5ad", "-k", 2, *label)
    assert (told["columns"], told["label"], told["warnings"]) == (5, "cell_type", [])
    assert told["left_out"] == {"cell": "identifies rows", "cell_type": "label"}
    scores = pq.read_table(tmp_path / "a-ritz" / "scores.parquet")
    assert scores.column_names == ["cell", "cell_type", "PC1", "PC2"]
    assert scores["cell"].to_pylist() == names
    assert scores["cell_type"].to_pylist() == ["T cell", "B cell", None] * 20
    model = PCA(2).fit(counts)
    assert np.allclose(scores["PC1"].to_numpy(), model.transform(counts)[:, 0], atol=1e-4)
    assert "B cell" in (tmp_path / "a-ritz" / "report.html").read_text()
    others = [f"TTTG-{i}" for i in range(9)]
    new = write_cells(tmp_path / "b.h5ad", form, others)
    run("transform", tmp_path / "a-ritz" / "model.safetensors", tmp_path / "b.h5ad", "-o", tmp_path / "b.parquet")
    scores = pq.read_table(tmp_path / "b.parquet")
    assert scores.column_names == ["cell", "cell_type", "PC1", "PC2"]
    assert scores["cell"].to_pylist() == others
    assert scores["cell_type"].to_pylist() == ["T cell", "B cell", None] * 3
    assert np.allclose(scores["PC2"].to_numpy(), model.transform(new)[:, 1], atol=1e-4)


def test_numbers_beside_a_matrix_are_labels_only_when_asked_for(tmp_path):
    counts = write_cells(tmp_path / "a.h5ad", np.array, [f"c{i}" for i in range(40)])
    told = answer("fit", tmp_path / "a.h5ad", "-k", 2, "--label", "reads")
    assert told["left_out"] == {"cell": "identifies rows", "reads": "label"}
    scores = pq.read_table(tmp_path / "a-ritz" / "scores.parquet")
    assert scores["reads"].to_pylist() == counts.sum(axis=1).tolist()
    model = tmp_path / "a-ritz" / "model.safetensors"
    run("transform", model, tmp_path / "a.h5ad", "-o", tmp_path / "scores.csv")
    assert pyarrow.csv.read_csv(tmp_path / "scores.csv")["reads"].to_pylist() == counts.sum(axis=1).tolist()
    dropped = answer("fit", tmp_path / "a.h5ad", "-k", 2, "--drop", "cell_type", "--drop", "cell", "--force")
    assert dropped["label"] is None
    assert dropped["left_out"] == {"cell_type": "asked for", "cell": "asked for"}
    assert pq.read_table(tmp_path / "a-ritz" / "scores.parquet").column_names == ["PC1", "PC2"]
    refused = run("fit", tmp_path / "a.h5ad", "--label", "nobody", "--force", code=3).stderr
    assert "there is no column 'nobody'; there are 8: 'reads', 'cell_type', 'cell', 'G0'" in refused
    assert "cell (identifies rows)" in run("info", tmp_path / "a.h5ad").output


def test_samples_that_were_columns_keep_their_names(tmp_path):
    rng = np.random.default_rng(0)
    for name, samples in (("old", [f"S{i:03}" for i in range(30)]), ("new", ["N1", "N2"])):
        lines = ["\t".join([f"gene{j}", *map(repr, rng.standard_normal(len(samples)).tolist())]) for j in range(6)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(["\t".join(["gene", *samples]), *lines]))
    told = answer("fit", tmp_path / "old.tsv", "--transpose", "-k", 2)
    assert (told["rows"], told["columns"], told["left_out"]) == (30, 6, {"name": "identifies rows"})
    scores = pyarrow.csv.read_csv(tmp_path / "old-ritz" / "scores.csv")
    assert scores.column_names == ["name", "PC1", "PC2"]
    assert scores["name"].to_pylist() == [f"S{i:03}" for i in range(30)]
    model = tmp_path / "old-ritz" / "model.safetensors"
    run("transform", model, tmp_path / "new.tsv", "-o", tmp_path / "scores.csv")
    scores = pyarrow.csv.read_csv(tmp_path / "scores.csv")
    assert scores["name"].to_pylist() == ["N1", "N2"]
    X = np.loadtxt(tmp_path / "new.tsv", skiprows=1, usecols=(1, 2)).T
    assert np.allclose(scores["PC1"].to_numpy(), load(model).transform(X)[:, 0], atol=1e-12)


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


def turned(path, k, angle=0.0, d=5):
    """A model of the first k axes, the last of them turned towards one that is beyond all of them."""
    Q = np.eye(d)
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    Q[:, [k - 1, d - 1]] = Q[:, [k - 1, d - 1]] @ np.array([[c, -s], [s, c]])
    PCA.from_covariance(Q @ np.diag(np.arange(d, 0, -1.0) ** 2) @ Q.T, n_components=k).save(path)
    return path


@pytest.mark.parametrize(
    ("sizes", "angle", "said"),
    [
        ((3, 3), 0.0, "the same subspace, to rounding"),
        ((4, 1), 0.0, "the 1-dimensional subspace is contained in the 4-dimensional one, to rounding"),
        ((2, 3), 0.0, "the 2-dimensional subspace is contained in the 3-dimensional one, to rounding"),
        ((5, 2), 30.0, "the 2-dimensional subspace is contained in the 5-dimensional one, to rounding"),
        ((3, 3), 1.23e-3, "nearly the same subspace: no direction is off by more than 0.0013°"),
        ((3, 3), 1.23, "nearly the same subspace: no direction is off by more than 1.3°"),
        (
            (4, 2),
            1.23,
            "the 2-dimensional subspace is nearly contained in the 4-dimensional one: no direction of it is",
        ),
        ((3, 3), 30.0, "different subspaces: a direction of one lies 30° outside the other"),
        (
            (1, 4),
            30.0,
            "the 1-dimensional subspace is not contained in the 4-dimensional one: a direction of it lies 30°",
        ),
        ((1, 1), 90.0, "different subspaces: a direction of one lies 90° outside the other"),
    ],
)
def test_compare_tells_the_same_from_contained(tmp_path, sizes, angle, said):
    small = min(sizes)
    paths = {0: turned(tmp_path / "a", sizes[0]), 1: turned(tmp_path / "b", sizes[1])}
    turned(paths[sizes.index(small)], small, angle)
    for pair in (paths.values(), reversed(paths.values())):
        pair = list(pair)
        assert f"\n{said}" in run("compare", *pair).output
        found = answer("compare", *pair)
        assert len(found["angles"]) == small
        assert found["contained"] == ("to rounding" in said)
        assert found["same"] == (said == "the same subspace, to rounding")


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


@pytest.mark.parametrize("which", ["digits", "wine", "usage", "faces", "rotation"])
def test_demo_writes_a_whole_folder(which, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run("demo", which).output
    assert "accurate as asked" in said
    folder = tmp_path / f"{which}-ritz"
    assert sorted(file.name for file in folder.iterdir()) == ["model.safetensors", "report.html", "scores.parquet"]
    pictures = (folder / "report.html").read_text("utf-8").count("data:image/png")
    assert pictures == (0 if which in ("wine", "usage") else 11)  # the mean and the components


def test_demo_replaces_its_own_results_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        run("demo", "usage")
    (tmp_path / "usage-ritz" / "model.safetensors").unlink()
    assert "--force" in run("demo", "usage", code=1).stderr


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
    assert told["choice"]["flips"] == 3 * 19  # of the rows, and twice of what was left
    assert told["choice"]["k"] == len(told["components"]) == 3
    assert len(told["choice"]["null"]) >= told["choice"]["k"]


def test_json_of_an_error(wines):
    told = json.loads(run("fit", wines, "-k", 99, "--json", code=3).stdout)
    assert told["exit_code"] == 3
    assert "99" in told["error"]


def test_integers_with_gaps(tmp_path):
    table = pa.table({"a": pa.array([1, None, 3, 7]), "b": pa.array([2, 4, 4, 1]), "c": [0.5, 1.5, 0.0, 2.0]})
    pq.write_table(table, tmp_path / "x.parquet")
    assert answer("info", tmp_path / "x.parquet")["missing"] == 1
    assert answer("fit", tmp_path / "x.parquet", "--missing", "drop")["rows"] == 3
    told = answer("fit", tmp_path / "x.parquet", "--missing", "mean", "--force")
    assert told["rows"] == 4
    assert told["facts"]["cells filled"].startswith("1,")


@pytest.mark.parametrize("label", ["zip", "serial"])
def test_labels_and_identifiers_keep_every_digit(tmp_path, label):
    path = tmp_path / "x.csv"
    path.write_text("zip,serial,x,y\n00012,9007199254740993,1,2\n00013,9007199254740995,2,1\n00014,7,5,9\n")
    run("fit", path, "--label", label, "-q")
    head, *written = [line.split(",") for line in (tmp_path / "x-ritz" / "scores.csv").read_text().splitlines()]
    cells = [line[head.index(f'"{label}"')].strip('"') for line in written]
    assert cells == {"zip": ["00012", "00013", "00014"], "serial": ["9007199254740993", "9007199254740995", "7"]}[label]


def test_info_reads_no_column_to_its_end(tmp_path, monkeypatch):
    from ritz.rows.text.source import Text

    path = write_wine(tmp_path / "wine.csv")
    monkeypatch.setattr(Text, "cells", lambda *_: pytest.fail("all cells were read"))
    monkeypatch.setattr(Text, "raw_cells", lambda *_: pytest.fail("all cells were read"))
    assert answer("info", path)["label"] == "kind"


def test_time_grows_with_the_columns_and_not_with_their_square(tmp_path):
    def seconds(d):
        """What this thread computes, whatever else the machine does."""
        path = tmp_path / f"{d}.csv"
        X = np.random.default_rng(0).integers(0, 9, (6, d))
        path.write_text("\n".join([",".join(f"c{j}" for j in range(d)), *(",".join(map(str, row)) for row in X)]))
        begun = time.thread_time()
        run("fit", path, "-k", 2, "-q")
        run("transform", tmp_path / f"{d}-ritz" / "model.safetensors", path, "-o", tmp_path / f"{d}-scores.csv", "-q")
        return time.thread_time() - begun

    seconds(100)  # whatever is imported only now
    assert seconds(40_000) < 8 * seconds(10_000)


@pytest.mark.parametrize(
    "notes", [{"label": ["a"]}, {"image": 5}, {"image": [1]}, {"image": ["a", "b"]}, {"missing": 1}, {"fill": [1.0]}]
)
def test_notes_that_no_fit_wrote_are_bad_data(tmp_path, wines, notes):
    PCA(2).fit(wine()[0]).save(tmp_path / "m.safetensors", notes=notes)
    for command in ("transform", "report"):
        said = run(command, tmp_path / "m.safetensors", wines, "-o", tmp_path / "out.csv", code=3).stderr
        assert "notes" in said
        assert said.count("\n") == 1


def test_kernel_models_do_not_merge(tmp_path):
    path = tmp_path / "k.safetensors"
    KernelPCA(2, kernel="rbf").fit(wine()[0]).save(path)
    assert "only PCA models merge" in run("merge", path, path, "-o", tmp_path / "m", code=3).stderr
    assert "kernel" in run("compare", path, path, code=3).stderr
    assert "KernelPCA" in run("info", path).output


def test_sparse_files_without_their_constant_columns(tmp_path):
    X = sp.random(60, 12, 0.3, random_state=0, format="csc").tolil()
    X[:, 4] = 0
    scipy.io.mmwrite(tmp_path / "x.mtx", X.tocoo())
    told = answer("fit", tmp_path / "x.mtx", "--drop-constant", "-k", 2)
    assert told["columns"] == 11


def test_wrong_usage_in_json(wines):
    told = json.loads(run("fit", wines, "-k", "many", "--json", code=2).stdout)
    assert told["exit_code"] == 2
    run("fit", wines)
    assert json.loads(run("fit", wines, "--json", code=1).stdout)["exit_code"] == 1


def test_json_and_data_do_not_share_an_output(wines, model):
    assert "-o" in run("transform", model, wines, "--json", code=2).stderr
    for name in ("scores.npy", "again.NPY"):
        told = answer("transform", model, wines, "-o", wines.parent / name)
        assert told["rows"] == 178
        assert "bottle" in told["warnings"][0]
    run("inverse", model, wines.parent / "wine-ritz" / "scores.csv", "-o", wines.parent / "rows.NPY")


def test_names_that_repeat_are_told_apart_with_a_warning(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,a,,b\n1,2,3,5\n3,1,4,9\n2,2,8,1\n4,1,1,1\n")
    for command in ("info", "fit"):
        assert "'a' is now 'a_2'" in answer(command, path)["warnings"][0]


def test_the_report_treats_gaps_as_the_fit_did(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n1,2\n3,NA\n5,6\n7,9\n")
    run("fit", path, "--missing", "mean", "-q")
    run("report", tmp_path / "gaps-ritz" / "model.safetensors", path, "--force")
    run("report", tmp_path / "gaps-ritz" / "model.safetensors", path, "--missing", "error", "--force", code=3)


@pytest.mark.parametrize("options", [[], ["--no-center"], ["--scale"], ["--no-center", "--scale"]])
def test_gaps_are_filled_for_new_rows_as_for_the_fit(tmp_path, options):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,c\n1,2,50\n3,NA,60\n5,6,70\n7,9,51\n")
    run("fit", path, "--missing", "mean", "-q", *options)
    run("transform", tmp_path / "gaps-ritz" / "model.safetensors", path, "-o", tmp_path / "s.csv", "-q")
    first, second = (pyarrow.csv.read_csv(file) for file in (tmp_path / "s.csv", tmp_path / "gaps-ritz" / "scores.csv"))
    assert np.allclose(first["PC1"].to_numpy(), second["PC1"].to_numpy(), rtol=1e-12)


def test_a_column_without_any_value_is_left_out(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,none\n1,2,\n3,4,\n5,7,\n")
    assert answer("fit", path)["left_out"] == {"none": "no value at all"}


def test_results_of_another_format_do_not_stay_beside_new_ones(tmp_path, wines):
    np.save(tmp_path / "x.npy", wine()[0])
    run("fit", wines, "-o", tmp_path / "out")
    run("fit", tmp_path / "x.npy", "-o", tmp_path / "out", "--force")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "model.safetensors",
        "report.html",
        "scores.parquet",
    ]


def test_a_result_that_appears_meanwhile_is_not_replaced(wines, monkeypatch):
    folder = wines.parent / "wine-ritz"
    fit = pca.PCA.fit

    def slow(self, *args, **kwargs):
        folder.mkdir()
        (folder / "model.safetensors").write_text("precious")
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(pca.PCA, "fit", slow)
    assert "in the meantime" in run("fit", wines, code=1).stderr
    assert [file.name for file in folder.iterdir()] == ["model.safetensors"]
    assert (folder / "model.safetensors").read_text() == "precious"


def test_what_to_type_next_can_be_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_wine(tmp_path / "a b;c.csv")
    assert "ritz fit 'a b;c.csv' --scale" in run("info", "a b;c.csv").output
    assert "ritz transform 'a b;c-ritz/model.safetensors'" in run("fit", "a b;c.csv").output
    (tmp_path / "x.csv").write_text("a,b,c\n1,5,2000\n2,5,1000\n4,5,9000\n3,,4000\n")
    said = run("info", "x.csv", "-k", "auto", "--drop", "a", "--missing", "drop").output
    assert "ritz fit x.csv -k auto" in said
    assert "--drop a" in said
    assert "--missing drop" in said


def test_a_folder_is_fitted_from_inside(tmp_path, monkeypatch):
    inside = tmp_path / "parts"
    inside.mkdir()
    pq.write_table(
        pa.table(dict(zip("abc", np.random.default_rng(0).standard_normal((3, 50)), strict=True))), inside / "p.parquet"
    )
    monkeypatch.chdir(inside)
    assert answer("fit", ".")["input"] == "parts"
    assert (tmp_path / "parts-ritz" / "model.safetensors").exists()
    assert [file.name for file in inside.iterdir()] == ["p.parquet"]


def test_models_of_a_rule_merge(tmp_path, wines):
    lines = wines.read_text().splitlines(keepends=True)
    for name, part in (("a", lines[1::2]), ("b", lines[2::2])):
        (tmp_path / f"{name}.csv").write_text(lines[0] + "".join(part))
        run("fit", tmp_path / f"{name}.csv", "-k", "auto", "--scale", "-q")
    models = [tmp_path / f"{name}-ritz" / "model.safetensors" for name in "ab"]
    assert answer("merge", *models, "-o", tmp_path / "all.safetensors")["rows"] == 178


def test_a_seed_is_reported_as_it_was_given(wines):
    assert answer("fit", wines, "-k", "auto", "--seed", 7)["choice"]["seed"] == 7


@pytest.mark.parametrize(("given", "meant"), [("95%", 0.95), ("0.5", 0.5), ("7", 7), ("auto", "auto")])
def test_components(given, meant):
    assert COMPONENTS.convert(given, None, None) == meant


@pytest.mark.parametrize("given", ["0", "-1", "0.0", "1.0", "1e3", "nan", "inf", "0%", "100%", "", "many", "2.5"])
def test_what_is_no_number_of_components(given):
    with pytest.raises(click.BadParameter):
        COMPONENTS.convert(given, None, None)


def test_results_never_go_into_the_folder_that_is_read(tmp_path, model):
    folder = tmp_path / "parts"
    folder.mkdir()
    X, names, _ = wine()
    pq.write_table(pa.table(dict(zip(names, X.T, strict=True))), folder / "p.parquet")
    for out in (folder, folder / "inside"):
        assert "lies in it" in run("fit", folder, "-o", out, code=2).stderr
    assert "--force" in run("transform", model, folder, "-o", folder / "s.parquet", code=1).stderr
    run("fit", folder / "p.parquet", "-q")  # its results are no part of the folder
    assert answer("info", folder)["rows"] == 178


def test_columns_of_lists_and_structs_are_left_out(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table({"s": [{"a": 1}] * 9, "l": [["x"]] * 9, "x": rng.standard_normal(9), "y": rng.standard_normal(9)})
    pq.write_table(table, tmp_path / "x.parquet")
    assert answer("fit", tmp_path / "x.parquet")["columns"] == 2


def test_labels_are_seen_in_sorted_tables_and_small_row_groups(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a},{'first' if i < 3000 else 'second'}" for i, a in enumerate(rng.standard_normal(6000))]
    (tmp_path / "x.csv").write_text("\n".join(["a,kind", *lines]))
    assert answer("info", tmp_path / "x.csv")["label"] == "kind"
    table = pa.table({"id": [f"r{i}" for i in range(30)], "x": rng.standard_normal(30), "y": rng.standard_normal(30)})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=1)
    run("fit", tmp_path / "x.parquet", "-q")
    assert pq.read_table(tmp_path / "x-ritz" / "scores.parquet").column_names[0] == "id"


def test_devices_and_pipes_are_not_replaced(tmp_path, wines, model):
    os.mkfifo(tmp_path / "fifo.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "fifo.csv")
    for name in ("fifo.csv", "link.csv"):
        run("transform", model, wines, "-o", tmp_path / name, "--force", code=2)
        run("merge", model, model, "-o", tmp_path / name, "--force", code=2)
    assert (tmp_path / "fifo.csv").is_fifo()


def test_infinity_gets_advice_that_helps(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,inf\n5,6\n")
    for missing in ("error", "drop", "mean"):
        assert (
            "--na inf --na -inf takes such cells for missing" in run("fit", path, "--missing", missing, code=3).stderr
        )


@pytest.mark.parametrize(
    "options",
    [
        ["--memory", "9" * 5000],
        ["--image", f"{'9' * 5000}x1"],
        ["--tol", "nan"],
        ["--tol", "1"],
        ["--seed", "-1"],
        ["--checkpoint", "wine.csv"],
    ],
)
def test_options_out_of_range_are_wrong_usage(options, wines, monkeypatch):
    monkeypatch.chdir(wines.parent)
    run("fit", "wine.csv", *options, code=2)


def test_a_label_of_another_script(tmp_path, wines):
    assert "there is no column '²'; there are 15" in run("fit", wines, "--label", "²", code=3).stderr


@pytest.mark.parametrize("change", [{"quantity": ""}, {"rounding": 1e308}])
def test_numbers_that_no_fit_gives_are_refused(tmp_path, change):
    path = tmp_path / "m.safetensors"
    PCA(2).fit(wine()[0]).save(path)
    part = "certificate" if "quantity" in change else "moments"
    with_tree(path, lambda tree: tree[part].update(change))
    for command in (["report", path], ["merge", path, path, "-o", tmp_path / "x"], ["info", path]):
        assert run(*command, code=3).stderr.count("\n") == 1


def test_constant_columns_of_files_that_are_not_held(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [f"t{i % 3},{a:.6f},5,{b:.6f},7,{c:.6f}" for i, (a, b, c) in enumerate(rng.standard_normal((400, 3)))]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["word,a,five,b,seven,c", *lines]))
    held = answer("fit", path, "-k", 3, "--drop-constant")
    monkeypatch.setattr(inputs, "worth_holding", lambda *_: False)
    read = answer("fit", path, "-k", 3, "--drop-constant", "-o", tmp_path / "other")
    assert held["left_out"] == read["left_out"] == {"word": "label", "five": "constant", "seven": "constant"}
    first, second = (load(told["files"]["model"]) for told in (held, read))
    assert list(second.feature_names_in_) == ["a", "b", "c"]
    assert np.allclose(first.explained_variance_, second.explained_variance_)


def test_reports_of_very_many_rows_say_which_are_counted(tmp_path, wines, monkeypatch):
    class Few(First):
        def __init__(self):
            super().__init__(50)

    monkeypatch.setattr("ritz.cli.analysis.First", Few)
    monkeypatch.setattr("ritz.cli.models.First", Few)
    run("fit", wines, "-o", tmp_path / "out")
    run("report", tmp_path / "out" / "model.safetensors", wines, "-o", tmp_path / "page.html")
    for page in (tmp_path / "out" / "report.html", tmp_path / "page.html"):
        text = page.read_text(encoding="utf-8")
        assert "There are 178 rows, of which every 4th is counted" in text
        assert "every 4th row of 178" in text


def test_gaps_of_sparse_files_are_filled_for_new_rows_too(tmp_path):
    X = sp.random(60, 12, 0.3, random_state=0, format="csr")
    X.data[5] = np.nan
    sp.save_npz(tmp_path / "x.npz", X)
    run("fit", tmp_path / "x.npz", "--missing", "mean", "-k", 2, "-q")
    run("transform", tmp_path / "x-ritz" / "model.safetensors", tmp_path / "x.npz", "-o", tmp_path / "s.parquet", "-q")
    first, second = (pq.read_table(path) for path in (tmp_path / "s.parquet", tmp_path / "x-ritz" / "scores.parquet"))
    assert np.allclose(first["PC1"].to_numpy(), second["PC1"].to_numpy())


@pytest.mark.parametrize("options", [["--drop-constant"], ["--drop", "0"], ["--drop", "1", "--drop-constant"]])
def test_columns_without_names_are_known_by_their_places(tmp_path, options):
    X = np.random.default_rng(0).standard_normal((30, 6))
    X[:, 3] = 5
    np.save(tmp_path / "x.npy", X)
    run("fit", tmp_path / "x.npy", *options, "-k", 2, "-q")
    run("transform", tmp_path / "x-ritz" / "model.safetensors", tmp_path / "x.npy", "-o", tmp_path / "s.parquet", "-q")
    first, second = (pq.read_table(path) for path in (tmp_path / "s.parquet", tmp_path / "x-ritz" / "scores.parquet"))
    assert np.allclose(first["PC2"].to_numpy(), second["PC2"].to_numpy())


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_identifiers_of_few_rows_are_carried_along(tmp_path, rows):
    path = tmp_path / "x.csv"
    lines = [f"{i:04},{a:.5f},{b:.5f}" for i, (a, b) in enumerate(np.random.default_rng(0).standard_normal((40, 2)))]
    path.write_text("\n".join(["id,a,b", *lines]))
    run("fit", path, "-q")
    few = tmp_path / "few.csv"
    few.write_text("\n".join(["id,a,b", *lines[7 : 7 + rows]]))
    run("transform", tmp_path / "x-ritz" / "model.safetensors", few, "-o", tmp_path / "s.csv", "-q")
    assert (tmp_path / "s.csv").read_text().splitlines()[1].startswith('"0007",')


def test_a_dash_is_a_pipe_or_refused(tmp_path, model, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("report", model, "-o", "-").stdout.rstrip().endswith("</html>")
    run("merge", model, model, "-o", "-", code=2)
    assert not (tmp_path / "-").exists()


def test_merged_models_fill_gaps_as_all_rows_would(tmp_path):
    rng = np.random.default_rng(0)
    for name, count in (("a", 30), ("b", 60)):
        lines = [f"{x:.5f},{y:.5f}" for x, y in 5 + rng.standard_normal((count, 2))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,y", ",2.5", *lines]))
        run("fit", tmp_path / f"{name}.csv", "--missing", "mean", "--no-center", "-q")
    models = [tmp_path / f"{name}-ritz" / "model.safetensors" for name in "ab"]
    for pair in (models, models[::-1]):
        run("merge", *pair, "-o", tmp_path / "m.safetensors", "--force", "-q")
        fills = [load(path).notes_["fill"][0] for path in (*models, tmp_path / "m.safetensors")]
        assert fills[2] == pytest.approx((31 * fills[0] + 61 * fills[1]) / 92)


def test_what_was_typed_cannot_command_the_terminal(wines):
    assert "\x1b" not in run("fit", wines, "\x1b[5mextra", code=2).stderr


@pytest.mark.parametrize("share", ["0.3", "0.6", "0.95", "0.999"])
def test_the_table_shows_where_the_share_is_reached(tmp_path, wines, share):
    said = run("fit", wines, "--scale", "-k", share, "-o", tmp_path / "out").stdout
    k = load(tmp_path / "out" / "model.safetensors").n_components_
    row = next(line.split() for line in said.splitlines() if line.split()[:1] == [f"PC{k}"])
    assert float(row[4].rstrip("%")) >= 100 * float(share) - 0.05
    assert f"of the variance (asked: {100 * float(share):g}%)" in said
    if k == 1:
        assert "1 of 13 components explains" in said


def test_the_table_names_what_rows_do_not_tell_apart(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).standard_normal((90, 4)) * [9, 3, 3.1, 1])
    told = run("fit", tmp_path / "a.npy", "-k", 4, "-o", tmp_path / "out").stdout
    assert "90 rows do not tell PC2–PC3 apart: trust their span alone" in told
    np.save(tmp_path / "noise.npy", np.random.default_rng(1).standard_normal((90, 4)))
    noise = run("fit", tmp_path / "noise.npy", "-k", 2, "-o", tmp_path / "out", "--force").stdout
    assert "90 rows do not tell PC1–PC2 apart, and their span is not determined" in noise
    said = json.loads(run("fit", tmp_path / "a.npy", "-k", 4, "-o", tmp_path / "out", "--force", "--json").stdout)
    certificate = load(tmp_path / "out" / "model.safetensors").certificate_
    parts = {name: [one[name] for one in said["components"]] for name in ("sampling_error", "sampling_angle")}
    np.testing.assert_allclose(parts["sampling_error"], certificate.sampling_errors)
    np.testing.assert_allclose(parts["sampling_angle"], np.degrees(np.arcsin(certificate.sampling_angles)))


def test_a_long_table_ends_with_the_last_component(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).standard_normal((40, 20)))
    said = run("fit", tmp_path / "a.npy", "-k", 20, "-o", tmp_path / "out").stdout
    names = [line.split()[0] for line in said.splitlines() if line.strip().startswith(("PC", "…"))]
    assert names == [*(f"PC{i + 1}" for i in range(10)), "…", "PC20"]


def test_lines_are_broken_between_words_in_a_terminal_alone(monkeypatch):
    text = "  why: 40 columns are fewer than 60000 rows, so the 40×40 covariance is the smallest\n\nrest"
    monkeypatch.setenv("COLUMNS", "50")
    assert folded(text, SimpleNamespace(isatty=lambda: False)) == text
    lines = folded(text, SimpleNamespace(isatty=lambda: True)).split("\n")
    assert lines[0] == "  why: 40 columns are fewer than 60000 rows, so"
    assert lines[1] == "    the 40×40 covariance is the smallest"
    assert lines[2:] == ["", "rest"]
