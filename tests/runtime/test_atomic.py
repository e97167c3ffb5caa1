"""What a killed process leaves behind is removed by the next one that writes there; what a live one writes is not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ritz import PCA
from ritz.runtime.atomic import MARK, replacing, staged, sweep, temporary
from ritz.runtime.checkpoint import Checkpoint

KILLED = """
import os, signal, sys
from pathlib import Path
from ritz.runtime.atomic import replacing, staged, temporary
place = Path(sys.argv[2])
with {"file": replacing, "stage": staged, "folder": temporary}[sys.argv[1]](place) as new:
    (new if sys.argv[1] == "file" else new / "x").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def kill(kind, place):
    done = subprocess.run([sys.executable, "-c", KILLED, kind, str(place)], check=False)
    assert done.returncode == -signal.SIGKILL


def left_in(folder):
    return [name for name in os.listdir(folder) if name.startswith(MARK)]


@pytest.mark.parametrize("kind", ["file", "stage", "folder"])
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path, kind):
    for _ in range(2):
        kill(kind, tmp_path if kind == "folder" else tmp_path / "out")
        assert len(left_in(tmp_path)) == 1
    with replacing(tmp_path / "model"):
        assert len(left_in(tmp_path)) == 1  # its own
    assert os.listdir(tmp_path) == ["model"]


def test_every_writer_removes_it(tmp_path):
    pca = PCA(2).fit(np.random.default_rng(0).standard_normal((20, 4)))
    writers = (
        lambda: pca.save(tmp_path / "m.safetensors"),
        lambda: pca.transform(np.ones((3, 4)), out=tmp_path / "scores.parquet"),
        lambda: staged(tmp_path / "out").__enter__() and None,
        lambda: _keep(Checkpoint(tmp_path / "kept", "me")),
    )
    for write in writers:
        kill("file", tmp_path / "x")
        (before,) = left_in(tmp_path)
        write()
        assert before not in os.listdir(tmp_path)
        sweep(tmp_path)


def _keep(checkpoint):
    checkpoint.finish(np.ones(3))
    checkpoint.write_or_warn()


def test_a_stage_that_was_begun_beside_its_folder(tmp_path):
    kill("stage", tmp_path / "out")
    (tmp_path / "out").mkdir()
    with staged(tmp_path / "out") as stage:
        (stage / "x").write_text("whole")
    assert os.listdir(tmp_path) == ["out"]
    assert os.listdir(tmp_path / "out") == ["x"]


def test_live_writers_are_left_alone(tmp_path):
    with replacing(tmp_path / "a") as a, staged(tmp_path / "b") as b, temporary(tmp_path) as c:
        a.write_text("whole")
        (b / "x").write_text("whole")
        sweep(tmp_path)
        other = subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from ritz.runtime.atomic import sweep; sweep(sys.argv[1])",
                str(tmp_path),
            ],
            check=False,
        )
        assert other.returncode == 0
        assert a.exists()
        assert b.exists()
        assert c.exists()
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_what_is_not_surely_ours_is_left_alone(tmp_path):
    mine = Path(left_behind(tmp_path))
    others = [
        tmp_path / f"{mine.name}.txt",
        tmp_path / mine.name[1:],
        tmp_path / f"{MARK}00000000-{'0' * 16}",  # of another machine
        tmp_path / f"{mine.name[:-1]}z",
    ]
    for path in others:
        path.write_text("somebody's")
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / f"{mine.name[:-16]}{'a' * 16}").symlink_to(target)
    sweep(tmp_path)
    assert not mine.exists()
    assert all(path.exists() for path in others)
    assert target.exists()


def left_behind(folder):
    kill("file", folder / "x")
    (name,) = left_in(folder)
    return folder / name


def test_long_names_leave_room_for_a_temporary_one(tmp_path):
    path = tmp_path / ("x" * 240 + ".safetensors")
    PCA(1).fit(np.eye(3)).save(path)
    assert os.listdir(tmp_path) == [path.name]


def test_nothing_is_replaced_where_something_cannot_be(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("a", "c"):
        (tmp_path / name).write_text("old")

    def write(*names, instead_of=()):
        with staged(tmp_path, force=True, instead_of=instead_of) as stage:
            for name in names:
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                (stage / name).write_text("new")

    with pytest.raises(IsADirectoryError, match="b' is a folder, and a file should be there; nothing was replaced"):
        write("a", "b")
    with pytest.raises(NotADirectoryError, match="c' is a file, and a folder should be there; nothing was replaced"):
        write("a", "c/d")
    with pytest.raises(IsADirectoryError, match="b' is a folder"):
        write("a", instead_of=("b",))
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]
    assert (tmp_path / "a").read_text() == "old"
    write("a", "b/x/y", instead_of=("c",))
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert (tmp_path / "a").read_text() == (tmp_path / "b" / "x" / "y").read_text() == "new"


def test_what_replaces_a_file_is_synced_and_so_are_all_folders(tmp_path, monkeypatch):
    synced, real = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino) or real(handle))
    (tmp_path / "old").write_text("old")
    with staged(tmp_path, force=True) as stage:
        (stage / "deep" / "er").mkdir(parents=True)
        for name in ("old", "deep/er/new"):
            (stage / name).write_text("new")
    for name in ("old", "deep/er", "deep", "."):
        assert (tmp_path / name).stat().st_ino in synced
