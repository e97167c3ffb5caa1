"""What the library says, in the words of the command line: by codes and names of parameters, never by its prose."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import ritz
from helpers.commands import answer, run, write_wine
from ritz import PCA, AccuracyWarning, ColumnWarning, DataError, KernelPCA, read
from ritz.cli.errors import ADVICE, CELLS, DROP_ADVICE, MODEL_ADVICE, OPTIONS, in_options
from ritz.errors import ParameterError

SOURCE = Path(ritz.__file__).parent
LIBRARY = [path for path in SOURCE.rglob("*.py") if "cli" not in path.relative_to(SOURCE).parts]
PYTHON = ("memory_limit", "n_components", "svd_solver", "scale=", "missing=", "header=", "columns=", "tol=", "Input X")
MODELS = [code for table in MODEL_ADVICE.values() for code in table]


@pytest.fixture(scope="module")
def codes():
    """All strings in the library: a code is one of them."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in LIBRARY]
    return {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}


@pytest.mark.parametrize("code", sorted({*ADVICE, *DROP_ADVICE, *MODELS, *CELLS}))
def test_every_code_that_has_words_here_is_raised_somewhere(codes, code):
    assert code in codes


def test_every_option_stands_for_a_parameter():
    assert OPTIONS.keys() <= {*inspect.signature(PCA).parameters, *inspect.signature(read).parameters}


def test_no_module_looks_into_messages():
    """Patterns are for data, names and what people type, not for what another part of Ritz says."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
                given = " ".join(map(ast.unparse, node.args))
                assert not any(word in given for word in ("error", "message", "warning", "advice")), f"{path}: {given}"


def test_a_parameter_is_told_as_its_option():
    told = in_options(ParameterError("n_components", 9, "must be between 1 and min(n, d)=4", "must be at most 4"))
    assert told == "-k 9 must be at most 4"
    assert in_options(ParameterError("alpha", 0, "must be positive")) == "alpha=0 must be positive"


@pytest.mark.parametrize("kind", [DataError, AccuracyWarning, ColumnWarning])
def test_advice_is_that_of_the_command(kind):
    told = kind("cell 3 is odd", "pass columns= without it", "not_a_number", "a cell is odd")
    assert str(told) == "cell 3 is odd; pass columns= without it"
    assert in_options(told, "fit") == "a cell is odd; leave it out with --drop, or mark missing values as NA"
    assert in_options(told, "report").endswith("so that its row is left out")
    assert in_options(told, "monitor").endswith("so that its row has no statistics")
    assert in_options(kind("it is odd", "turn it", "unheard of")) == "it is odd; turn it"
    assert in_options(kind("it is odd", "see certificate_", "not_converged")) == "it is odd"


def test_names_of_files_are_left_alone(tmp_path):
    assert "/tol=1.csv'" in run("fit", tmp_path / "tol=1.csv", code=2).stderr


TABLES = {
    "constant": "a,b,c\n1,5,2\n2,5,1\n4,5,9\n",
    "one row": "a,b,c\n1,5,2\n",
    "gaps": "a,b,c\n1,NA,2\nNA,5,1\n4,5,NA\n",
    "wide": "a,b,c\n1,5,2\n2,4,1\n",
    "cell": "a,b\n" + "1,2\n3,5\n" * 10 + "4,x\n",
}
REFUSED = [
    (
        "constant",
        ["--scale"],
        "cannot scale: 1 column(s) are constant (to rounding): 'b'; leave them out with --drop-c",
    ),
    ("one row", [], "one row has no variance; give at least 2 rows"),
    ("gaps", [], "the data contains 3 NaN, first at row 0, column 'b'; --missing drop leaves such rows out, --miss"),
    ("gaps", ["--missing", "drop"], "no row is left: each of 3 has a missing value; --missing mean fills the gaps"),
    ("wide", ["-k", 3], "-k 3 must be between 1 and the smaller of rows and columns, 2"),
    ("wide", ["-k", "mle"], "-k mle needs as many rows as columns, and has 2 < 3"),
    ("constant", ["-k", "mle", "--solver", "krylov"], "-k mle weighs the whole spectrum, which the solver krylov does"),
    (
        "cell",
        [],
        "column 'b': 'x' is not a number, unlike the other cells of that column; leave it out with --drop",
    ),
]


@pytest.mark.parametrize(("table", "options", "words"), REFUSED)
@pytest.mark.parametrize("piped", [False, True])
def test_an_error_speaks_of_options(tmp_path, table, options, words, piped):
    path = tmp_path / "x.csv"
    path.write_text(TABLES[table])
    if piped:
        told = run("fit", "-", *options, "-o", tmp_path / "m", input=path.read_bytes(), code=3).stderr
        assert str(tmp_path) not in told
    else:
        told = run("fit", path, *options, code=3).stderr
    assert words in told
    assert not any(word in told for word in PYTHON)


def test_memory_that_is_not_enough_is_raised_by_its_option(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(300, 40)))
    for options, more in (((), ""), (("-k", "auto"), ", or ask for a number of components with -k")):
        told = run("fit", tmp_path / "x.npy", "--memory", "1kB", *options, code=3).stderr
        assert told.strip().endswith(f"of working memory; raise --memory{more}")


def test_warnings_speak_of_options(tmp_path):
    path, noise = tmp_path / "x.csv", np.random.default_rng(0).normal(size=(40, 5))
    np.savetxt(path, noise, delimiter=",", header="a,b,c,d,e", comments="")
    (unscaled,) = answer("fit", path, "-k", "auto")["warnings"]
    assert unscaled.endswith(
        "keep the largest variances all the same, or use --scale if large columns hide what others share"
    )
    (scaled,) = answer("fit", path, "-k", "auto", "--scale", "--force")["warnings"]
    assert scaled.endswith("ask for a number with -k to keep the largest variances all the same")
    told = answer("fit", path, "--tol", 1e-300, "--solver", "krylov", "-k", 2, "--force", code=4)["warnings"][0]
    assert told.startswith("did not converge to a tolerance of 1e-300: ")
    assert not any(word in text for text in (unscaled, scaled, told) for word in (*PYTHON, "certificate_", "choice_"))


def test_a_kernel_model_without_pre_images_says_so(tmp_path):
    data = read(write_wine(tmp_path / "wine.csv"))
    KernelPCA(2, kernel="rbf", gamma="median").fit(data).save(tmp_path / "m.safetensors")
    run("transform", tmp_path / "m.safetensors", tmp_path / "wine.csv", "-o", tmp_path / "s.csv")
    told = run("inverse", tmp_path / "m.safetensors", tmp_path / "s.csv", code=3).stderr
    assert "was fitted without pre-images" in told
    assert "fit_inverse_transform" not in told
