"""The package as it is installed: light to import, with a command that works."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from helpers.commands import run
from helpers.counts import usually
from helpers.sklearn_suite import TWINS, outcomes

ROOT = Path(__file__).parents[2]


def python(code: str, **kwargs) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **kwargs)
    return done.stdout


def test_import_is_light():
    heavy = ("sklearn", "pyarrow", "rich", "click", "jinja2", "pandas", "narwhals", "numpy", "scipy")
    loaded = json.loads(python("import ritz, sys, json; print(json.dumps(sorted(sys.modules)))"))
    assert not set(heavy) & set(loaded)


def test_numerics_do_not_import_scikit_learn():
    code = "import ritz, sys; ritz.eigen([[2.0, 0], [0, 1.0]], 1); print('sklearn' in sys.modules)"
    assert python(code).strip() == "False"


COMMANDS = """
import sys
from ritz.cli import main
for command in (
    ["fit", "x.csv", "-o", "out"],
    ["transform", "out/model.safetensors", "x.csv", "-o", "y.csv"],
    ["inverse", "out/model.safetensors", "y.csv", "-o", "z.csv"],
    ["info", "out/model.safetensors"],
    ["report", "out/model.safetensors", "x.csv", "-o", "page.html"],
):
    sys.argv = ["ritz", *command]
    try:
        main()
    except SystemExit as done:
        assert not done.code, command
print("sklearn" in sys.modules)
"""


def test_the_command_line_does_not_import_scikit_learn(tmp_path):
    rows = ["a,b,c", *(f"{i % 7},{i * i % 11},{i % 3}" for i in range(40))]
    (tmp_path / "x.csv").write_text("\n".join(rows) + "\n")
    assert python(COMMANDS, cwd=tmp_path).splitlines()[-1] == "False"


def test_public_names():
    names = "PCA, KernelPCA, eigen, solvers, read, plan, load, merge, compare, report, plot, datasets"
    assert python(f"from ritz import {names}; print(PCA.__module__)").startswith("ritz")


EXTRAS = (
    "matplotlib",
    "numba",
    "h5py",
    "zarr",
    "dask",
    "distributed",
    "pywt",
    "onnx",
    "PIL",
    "pandas",
    "polars",
    "anndata",
)
ASKING = f"""
import sys
for extra in {EXTRAS}:
    sys.modules[extra] = None  # as if it were not installed
import copy, inspect, pickle
import ritz
from ritz import plot
assert hasattr(ritz, "plot") and ritz.plot is plot
assert not any(hasattr(ritz, name) for name in ("anything", "Plot", "__wrapped__", "_pytestfixturefunction", ""))
assert dir(ritz) == sorted(ritz.__all__)
members = dict(inspect.getmembers(ritz))
assert set(members) == set(ritz.__all__)
for name, value in members.items():
    if not inspect.ismodule(value):  # which nobody can copy
        assert copy.copy(value) == value == pickle.loads(pickle.dumps(value))
names = {{}}
exec("from ritz import *", names)
assert set(ritz.__all__) <= set(names)
for name in plot.__all__:
    try:
        getattr(plot, name)([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
    except ImportError as error:
        print(error)
try:
    from ritz import anything
except ImportError as error:
    print(type(error).__name__)
"""


def test_names_can_be_asked_for_without_extras():
    *plots, unknown = python(ASKING).splitlines()
    assert plots == ['ritz.plot needs matplotlib: pip install "ritz[plot]"'] * 10
    assert unknown == "ImportError"


def demo_in_a_process(folder, arguments):
    return subprocess.run(
        [sys.executable, "-m", "ritz", "demo", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "100"},
        cwd=folder,
        check=True,
    )


def demo_in_this_process(folder, arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return run("demo", *arguments, env={"NO_COLOR": "1", "COLUMNS": "100"})


@pytest.mark.parametrize(
    ("demo", "arguments", "told"),
    [
        (demo_in_a_process, [], ""),
        (demo_in_this_process, ["-k", "3"], ""),
        (demo_in_this_process, ["-k", "64"], "rank 61"),
    ],
)
def test_demo(demo, arguments, told, tmp_path):
    done = demo(tmp_path, arguments)
    assert told in done.stderr
    assert told or done.stderr == ""
    assert "\x1b" not in done.stdout
    assert "accurate as asked" in done.stdout
    assert "179.01" in done.stdout
    assert "no larger component was missed (proved)" in done.stdout


@pytest.mark.parametrize("arguments", [["dmo"], ["demo", "-k", "0"], ["demo", "--no-such-option"]])
def test_usage_errors_exit_with_2(arguments):
    done = subprocess.run([sys.executable, "-m", "ritz", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Usage" in done.stderr
    assert done.stdout == ""


def test_a_closed_pipe_is_no_failure(tmp_path):
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {sys.executable} -m ritz demo | head -1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


OF_PCA = {
    "test_pca_score[full]",
    "test_pca_score[covariance_eigh]",
    "test_pca_score[auto]",
    "test_pca_score[arpack]",
    "test_pca_score[randomized]",
    "test_pca_score3",
    "test_pca_validation[auto-3-…-data0]",
    "test_pca_validation[auto-3-…-data1]",
    "test_pca_validation[arpack-0-…-data0]",
    "test_pca_validation[arpack-0-…-data1]",
    "test_pca_validation[arpack-2-…-data0]",
    "test_pca_validation[arpack-2-…-data1]",
    "test_n_components_none[data0-arpack-3]",
    "test_n_components_none[data1-arpack-3]",
    "test_pca_svd_solver_auto[1000-500-10-randomized]",
    "test_sparse_pca_solver_error[…]",
}
OF_KERNEL_PCA = {"test_precomputed_kernel_not_psd[randomized]"}


def test_scikit_learns_own_tests_pass_but_for_what_compat_explains():
    results = outcomes("pca", "kernel_pca", without=usually(TWINS, thorough=()))
    failed = {name for name, outcome in results.items() if outcome != "PASSED"}
    failed = {re.sub(r"-(\d)-.*-data", r"-\1-…-data", name) for name in failed}
    failed = {re.sub(r"(solver_error)\[.*", r"\1[…]", name) for name in failed}
    assert len(results) >= usually(215 + 38, thorough=386 + 39)
    assert any("csr_array" in name for name in results)
    assert failed == OF_PCA | OF_KERNEL_PCA
    explained = (ROOT / "docs" / "compat.md").read_text(encoding="utf-8")
    for name in failed:
        assert f"`{name}`" in explained


def test_every_promised_version_has_a_lowest_and_every_tested_python_is_named():
    listed = subprocess.run([sys.executable, ROOT / ".ci" / "lowest.py"], capture_output=True, text=True, check=True)
    lines = listed.stdout.split()
    assert all(re.fullmatch(r"[\w-]+(\[[\w,]+\])?==[\d.]+", line) for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {need.partition(">=")[0] for need in project["dependencies"]} <= {line.partition("==")[0] for line in lines}
    named = {text.rpartition(" ")[2] for text in project["classifiers"] if re.search(r"Python :: 3\.\d+$", text)}
    nox = (ROOT / "noxfile.py").read_text("utf-8")
    assert {f'"{version}"' for version in named} == set(re.findall(r'"3\.\d+"', nox))
    assert project["requires-python"] == f">={min(named)}"


COMMAND = """#!/usr/bin/env bash
case "$1 ${2:-}" in
    "-m venv")
        mkdir -p .venv/bin
        for name in python pip ruff mypy lint-imports ritz; do cp "$0" ".venv/bin/$name"; done;;
    ".ci/pythons.py ") printf '%s\\n' "/some pythons/bin/python3.12" "/others/bin/python3.13";;
esac
"""
CORE = """#!/usr/bin/env bash
cat >/dev/null  # as a command might that reads from the terminal
(IFS='|'; echo "$*") >>called
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_pythons_in_folders_with_blanks_are_tried_too(tmp_path):
    """The program of the checks with every command replaced by one that does nothing."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / "bin").mkdir()
    for name, text in (("bin/python3", COMMAND), ("bin/chromium", COMMAND), (".ci/core", CORE)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    path = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(
        ["bash", tmp_path / ".ci" / "run"], env=path, check=True, capture_output=True, stdin=subprocess.DEVNULL
    )
    assert (tmp_path / "called").read_text().splitlines() == [
        "/some pythons/bin/python3.12|.venvs/python3.12",
        "/others/bin/python3.13|.venvs/python3.13",
        ".venv/bin/python|.venvs/lowest|.venvs/lowest.txt",
    ]
