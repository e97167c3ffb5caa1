"""Names that are no text, and places where nothing can be written: what people should be told, before any work."""

import gzip
import json
import os
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import ritz
from helpers.commands import answer, program, run
from helpers.files import X, table
from ritz import PCA

NAME = os.fsdecode(b"x\xff\n\x1b[1m")  # bytes that are no UTF-8, a line end, and what a terminal would obey
posix = pytest.mark.skipif(sys.platform != "linux", reason="names are bytes, and /proc is there, on Linux")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, ending):
    """A file under a name that pyarrow and NumPy would not take as text."""
    with open(path, "wb") as file:
        if ending == ".npy":
            np.save(file, X)
        elif ending == ".npz":
            np.savez(file, X)
        elif ending == ".parquet":
            pq.write_table(table(), file)
        elif ending == ".arrow":
            with ipc.new_file(file, table().schema) as writer:
                writer.write_table(table())
        else:
            content = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i % 7) for i in range(20))
            file.write(gzip.compress(content) if ending.endswith("gz") else content)
    return path


@posix
@pytest.mark.parametrize("ending", [".npy", ".npz", ".parquet", ".arrow", ".csv", ".csv.gz"])
def test_files_are_opened_by_their_true_names(here, ending):
    rows = ritz.read(write(NAME + ending, ending))
    assert PCA(1).fit(rows).n_components_ == 1
    assert rows.column(0).shape == rows.shape[:1]


@posix
@pytest.mark.parametrize("ending", [".npy", ".parquet", ".arrow", ".csv"])
def test_results_are_written_under_their_true_names(here, ending):
    os.mkdir(NAME)
    model = PCA(2).fit(X)
    model.transform(X, out=f"{NAME}/{NAME}{ending}")
    assert ritz.read(f"{NAME}/{NAME}{ending}").shape == (300, 2)
    model.save(f"{NAME}/{NAME}")
    assert ritz.load(f"{NAME}/{NAME}").n_components_ == 2
    ritz.report(model, f"{NAME}/{NAME}.html", X)
    assert sorted(os.listdir(NAME)) == sorted([NAME, f"{NAME}.html", f"{NAME}{ending}"])


@posix
def test_commands_take_names_that_are_no_text(here):
    write(f"{NAME}.csv", ".csv")
    told = answer("fit", f"{NAME}.csv", "-k", "1", "-o", NAME)
    model = told["files"]["model"]
    assert model == f"{NAME}/model.safetensors"  # the true name, escaped in JSON
    for said in (
        run("fit", f"{NAME}.csv", "-k", "1", "-o", NAME, "--force"),
        run("info", f"{NAME}.csv"),
        run("transform", model, f"{NAME}.csv", "-o", f"{NAME}-scores.parquet"),
        run("inverse", model, f"{NAME}-scores.parquet", "-o", f"{NAME}-rows.csv"),
        run("report", model, f"{NAME}.csv", "-o", f"{NAME}.html"),
        run("compare", model, model),
        run("fit", f"no{NAME}.csv", code=2),
        run("info", f"{NAME}-rows.xyz", code=2),
        run("fit", f"{NAME}.csv", "-o", NAME, code=1),
    ):
        (said.stdout + said.stderr).encode("utf-8")
        assert "\x1b[1m" not in said.stdout + said.stderr
    assert "⟨U+DCFF⟩" in (here / f"{NAME}.html").read_text(encoding="utf-8")


@posix
def test_the_program_speaks_ascii_of_such_names(here):
    write(f"{NAME}.csv", ".csv")
    done = program("fit", f"{NAME}.csv", "-k", "1", env={"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C"}.items())
    assert b"written" in done.stdout
    done = program("fit", f"no{NAME}.csv", "--json", code=2, env={"LC_ALL": "C"}.items())
    assert "there is no file" in json.loads(done.stdout)["error"]


@posix
@pytest.mark.parametrize(
    ("place", "code", "words"),
    [
        ("/dev/full", 2, "'/dev/full' is a device; -o names the folder"),
        ("/dev/null/x", 2, "'/dev/null' is a device, not a folder to make 'x' in"),
        ("/proc/x", 1, "'/proc' cannot be written to: its file system takes no new files; give another place"),
        ("file", 2, "'file' is a file; -o names the folder"),
        ("file/x", 2, "'file' is a file, not a folder to make 'x' in"),
        ("file/x/y", 2, "'file' is a file, not a folder to make 'y' in"),
        ("n" * 300, 2, "File name too long; give another name"),
        ("link", 2, "there is no folder '/nowhere' to make 'there' in; make it first"),
        ("round", 2, "Too many levels of symbolic links"),
        ("pipe", 2, "'pipe' is a pipe"),
        ("no/where", 2, "there is no folder 'no' to make 'where' in; make it first"),
    ],
)
def test_places_where_nothing_can_be_written(here, place, code, words):
    write("x.csv", ".csv")
    (here / "file").touch()
    os.symlink("/nowhere/there", "link")
    os.symlink("round", "round")
    os.mkfifo("pipe")
    before = sorted(os.listdir())
    assert words in run("fit", "x.csv", "-k", "1", "-o", place, "--force", code=code).stderr
    assert sorted(os.listdir()) == before


@posix
def test_files_where_nothing_can_be_written(here):
    write("x.csv", ".csv")
    (here / "file").touch()
    PCA(1).fit(np.arange(40.0).reshape(20, 2) ** 1.5).save("m")
    for out, code, words in (
        ("/proc/s.csv", 1, "'/proc' cannot be written to: its file system takes no new files"),
        ("/dev/null/s.csv", 2, "'/dev/null' is a device, not a folder to write into"),
        ("file/s.csv", 2, "'file' is a file, not a folder to write into"),
        (f"{'n' * 300}.csv", 2, "File name too long"),
    ):
        assert words in run("transform", "m", "x.csv", "-o", out, code=code).stderr
    assert "is a device, not a file" in run("report", "m", "-o", "/dev/full", code=2).stderr
    with pytest.raises(FileNotFoundError, match=r"'/proc/m' cannot be made .*takes no new files"):
        PCA(1).fit(X).save("/proc/m")
