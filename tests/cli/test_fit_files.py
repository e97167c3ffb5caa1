"""`ritz fit` and others on many files, here and on a Dask cluster."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

from helpers.commands import all_said, answer, run
from helpers.files import X
from ritz.rows.dask import connecting


@pytest.fixture
def here(tmp_path, monkeypatch):
    """300 rows in three files, and in one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    lines = [",".join([f"r{i}", *map(repr, row), "uv"[i % 2]]) + "\n" for i, row in enumerate(X.tolist())]
    head = "name," + ",".join("abcdefg") + ",kind\n"
    for name, some in (
        ("parts/9", lines[:100]),
        ("parts/10", lines[100:150]),
        ("parts/11", lines[150:]),
        ("one", lines),
    ):
        (tmp_path / f"{name}.csv").write_text(head + "".join(some))
    return tmp_path


def scores(folder):
    lines = (folder / "scores.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines]
    return lines[0], [row[:2] for row in cells], np.array([row[2:] for row in cells[1:]], float)


@pytest.mark.parametrize(
    "files", [["parts/9.csv", "parts/10.csv", "parts/11.csv"], ["parts"], ["parts/*.csv"]], ids=str
)
def test_many_files_are_as_one(here, files):
    many, one = answer("fit", *files, "-k", 3, "-o", "many"), answer("fit", "one.csv", "-k", 3)
    for key in ("rows", "columns", "left_out", "label", "plan"):
        assert many[key] == one[key], key
    assert one["plan"].keys() >= {"solver", "passes", "operations", "memory", "why"}
    head, beside, numbers = scores(here / "many")
    assert (head, beside) == scores(here / "one-ritz")[:2]
    np.testing.assert_allclose(numbers, scores(here / "one-ritz")[2], atol=1e-10)
    run("transform", "many/model.safetensors", *files, "-o", "again.csv")
    assert (here / "again.csv").read_text() == (here / "many" / "scores.csv").read_text()
    assert answer("info", *files)["rows"] == 300


def test_what_is_said_of_many_files(here):
    said = all_said("fit", "parts/9.csv", "parts/10.csv", "-k", 2)
    assert "reading 9.csv and 1 more file (" in said
    assert "parts/9-ritz/model.safetensors" in said
    assert "next: ritz fit parts/9.csv parts/10.csv -o parts/9-ritz-2" in all_said(
        "info", "parts/9.csv", "parts/10.csv"
    )
    assert "standard input, which is read alone" in all_said("fit", "parts/11.csv", "-", code=2)
    assert "--transpose is for one file" in all_said("fit", "parts", "--transpose", code=3)


def test_a_cluster_gives_the_same_files(here, dask_client):
    address = dask_client.scheduler.address
    found = answer("fit", "parts", "-k", 3, "--drop-constant", "--dask", address)
    one = answer("fit", "one.csv", "-k", 3)
    assert found["rows"] == 300
    assert found["plan"]["solver"] == one["plan"]["solver"]
    head, beside, numbers = scores(here / "parts-ritz")
    assert (head, beside) == scores(here / "one-ritz")[:2]
    np.testing.assert_allclose(numbers, scores(here / "one-ritz")[2], atol=1e-10)
    assert "PC1" in (here / "parts-ritz" / "report.html").read_text("utf-8")
    assert "2 workers with 2 threads" in all_said("fit", "one.csv", "--dask", address, "--force", "-k", 2)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--dask", "nowhere"], 2, "--dask nowhere is not the address of a scheduler"),
        (["--dask", "local", "--missing", "drop"], 2, "--missing drop does not go with --dask"),
        (["--dask", "local", "--checkpoint", "x"], 2, "--checkpoint does not go with --dask"),
        (["--dask", "tcp://127.0.0.1:9"], 1, "no Dask scheduler answers at tcp://127.0.0.1:9"),
    ],
    ids=str,
)
def test_what_does_not_go(here, monkeypatch, options, code, words):
    monkeypatch.setattr(connecting, "ANSWERS", 0.2)
    assert words in all_said("fit", "parts", *options, code=code)
    assert not (here / "parts-ritz").exists()


def test_without_dask(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert 'pip install "ritz[dask]"' in all_said("fit", "parts", "--dask", "local", code=2)


def test_bad_data_on_a_cluster(here, dask_client):
    np.save("bad.npy", np.where(np.arange(300)[:, None] == 7, np.nan, X))
    said = all_said("fit", "bad.npy", "--dask", dask_client.scheduler.address, code=3)
    assert "row 7 (row 7 of bad.npy), column 0" in said


def started(*arguments):
    command = [sys.executable, "-m", "ritz", "fit", *arguments, "--dask", "local", "-k", "2"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )  # fmt: skip


def test_workers_of_this_machine(here):
    np.save("x.npy", X)
    process = started("x.npy", "--json")
    said, aside = process.communicate(timeout=120)
    assert process.returncode == 0, aside
    assert json.loads(said)["files"]["scores"] == "x-ritz/scores.parquet"
    assert pq.read_table("x-ritz/scores.parquet").num_rows == 300
    assert len(aside.splitlines()) == 3, aside  # nothing of Dask's own


@pytest.mark.skipif(sys.platform == "win32", reason="there is no Ctrl-C for a group of processes")
def test_ctrl_c_ends_the_workers_too(here):
    process = started("parts")
    while "starting" not in process.stderr.readline():
        pass
    time.sleep(0.5)

    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, aside = process.communicate(timeout=120)
    assert process.returncode == 130
    assert aside.splitlines()[-1] == "ritz: interrupted; no file was left half written"
    assert "Traceback" not in aside
    assert not (here / "parts-ritz").exists()
