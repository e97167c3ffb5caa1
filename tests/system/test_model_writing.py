"""A model file is the old one or the new one: killed at any point, on a full disk, with many writers and readers."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from helpers.counts import usually
from ritz import PCA, load
from ritz.runtime.atomic import replacing

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and mounts of POSIX systems")
RNG = np.random.default_rng(0)
OLD, NEW = (PCA(3).fit(RNG.standard_normal((300, 40))) for _ in range(2))

FORKS = """
import os, pathlib, resource, shutil, signal, sys
from ritz.estimators.loading import load  # without scikit-learn, which takes long to import

folder = pathlib.Path(sys.argv[1])
path, model = folder / "out" / "m.safetensors", load(folder / "new")
OLD, NEW = ((folder / name).read_bytes() for name in ("old", "new"))

def outcome(action):
    # How a child ended that replaced the old file, and which file it left.
    shutil.copy(folder / "old", path)
    for stray in set(os.listdir(path.parent)) - {path.name}:  # which the next one would remove
        (path.parent / stray).unlink()
    if not (child := os.fork()):
        action()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = path.read_bytes()
    return status, "old" if found == OLD else "new" if found == NEW else "neither"
"""

KILLED = (
    FORKS
    + """
count = 0

def reached(moment, deadline):
    if deadline == f"{moment} {count}":
        os.kill(os.getpid(), signal.SIGKILL)

def deadly(function, deadline):
    def call(*args, **kwargs):
        global count
        count += 1
        reached("before", deadline)
        result = function(*args, **kwargs)
        reached("after", deadline)
        return result
    return call

class Deadly:
    # A file that dies before a write, or in the middle of it.
    def __init__(self, file, deadline): self.file, self.deadline = file, deadline
    def __enter__(self): return self
    def __exit__(self, *error): return self.file.__exit__(*error)
    def write(self, data):
        global count
        count += 1
        reached("before", self.deadline)
        data = memoryview(data).cast("B")
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        reached("after", self.deadline)
        self.file.write(data[len(data) // 2 :])

POINTS = {"temporary": (os, "open"), "open": (pathlib.Path, "open"), "write": (pathlib.Path, "open"),
          "fsync": (os, "fsync"), "chmod": (pathlib.Path, "chmod"), "replace": (os, "replace"), "close": (os, "close")}

def save(point, deadline):
    owner, name = POINTS[point]
    original = getattr(owner, name)
    if point == "write":
        pathlib.Path.open = lambda self, mode: Deadly(original(self, mode), deadline) if "w" in mode else original(
            self, mode)
    else:
        setattr(owner, name, deadly(original, deadline))
    model.save(path)

for point in POINTS:
    deaths, n = [], 0
    while not deaths or deaths[-1][0] == -signal.SIGKILL:
        n += 1
        deaths += [outcome(lambda: save(point, f"{moment} {n}")) for moment in ("before", "after")]
    print(point, n - 1, *(found for _, found in deaths))
"""
)


def python(code, *arguments, **kwargs):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)


@pytest.fixture
def folder(tmp_path):
    """A folder with an old file, and a new one beside it, to be written in its place."""
    (tmp_path / "out").mkdir()
    OLD.save(tmp_path / "out" / "m.safetensors")
    OLD.save(tmp_path / "old")
    NEW.save(tmp_path / "new")
    return tmp_path


def whole(folder) -> str:
    """Which of the two files is there, whole."""
    found = (folder / "out" / "m.safetensors").read_bytes()
    load(folder / "out" / "m.safetensors")
    return next(name for name in ("old", "new") if (folder / name).read_bytes() == found)


def test_killed_at_every_point(folder):
    """Before and after every call, and in the middle of every write; the last attempt is past all of them."""
    done = python(KILLED, folder)
    assert done.returncode == 0, done.stderr
    lines = {point: (int(calls), left) for point, calls, *left in map(str.split, done.stdout.splitlines())}
    expected = {"temporary": 3, "open": 2, "fsync": 2, "chmod": 1, "replace": 1, "close": 3}
    assert {point: calls for point, (calls, _) in lines.items() if point != "write"} == expected
    assert lines["write"][0] > 10  # the header and every tensor
    for point, (calls, left) in lines.items():
        assert left[-2:] == ["new", "new"]
        # Only what comes after the new name has taken its place finds the new file.
        late = {"replace": 1, "fsync": 2, "close": 4, "temporary": 2}.get(point, 0)
        assert left[: 2 * calls - late] == ["old"] * (2 * calls - late), point
        assert set(left[2 * calls - late : 2 * calls]) <= {"new"}, point


LIMITED = (
    FORKS
    + """
def save(limit, action):
    signal.signal(signal.SIGXFSZ, action)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        model.save(path)
    except OSError as error:
        os._exit(error.errno if error.filename == str(path) and os.listdir(path.parent) == [path.name] else 1)

for limit in range(0, len(NEW) + 1, max(1, len(NEW) // int(sys.argv[2]))):
    print(*outcome(lambda: save(limit, signal.SIG_DFL)))
    for stray in set(os.listdir(path.parent)) - {path.name}:
        (path.parent / stray).unlink()
    print(*outcome(lambda: save(limit, signal.SIG_IGN)))
for action in (signal.SIG_DFL, signal.SIG_IGN):
    print(*outcome(lambda: save(len(NEW), action)))
"""
)


def test_ended_by_the_system_in_the_middle_of_a_write(folder):
    """Killed by it, or told that there is no more room, at many sizes; the last one is enough to the byte."""
    done = python(LIMITED, folder, sizes := usually(15, thorough=40))
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) >= 2 * sizes
    assert lines[-2:] == [["0", "new"]] * 2
    for killed, told in zip(lines[:-2:2], lines[1:-2:2], strict=True):
        assert killed == [str(-signal.SIGXFSZ), "old"] or killed == ["0", "new"]
        assert told == [str(errno.EFBIG), "old"] or told == ["0", "new"]
    assert sum(line == ["0", "new"] for line in lines) <= 4


FULL = """
import os, pathlib, subprocess, sys
from ritz.estimators.loading import load
folder, old, new, size = pathlib.Path(sys.argv[1]), load(sys.argv[2]), load(sys.argv[3]), sys.argv[4]
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
path = folder / "m.safetensors"
old.save(path)
before = path.read_bytes()
for filled in range(0, int(size), 4096):
    (folder / "filler").write_bytes(b"x" * filled)
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    if free < len(before):
        break
try:
    new.save(path)
except OSError as error:
    print(error.errno, error.filename == str(path), path.read_bytes() == before, sorted(os.listdir(folder)))
(folder / "filler").unlink()
new.save(path)
print(load(path).certificate_.satisfied)
"""


def mounting() -> list[str] | None:
    """A command under which a file system can be mounted that nobody else sees."""
    for command in (["unshare", "-m"], ["unshare", "-rm"]):
        if shutil.which("unshare") and not subprocess.run([*command, "true"], check=False).returncode:
            return command
    return None


def test_a_full_disk(folder):
    command = mounting()
    if command is None:
        pytest.skip("neither root nor a user namespace may mount a file system here")
    (folder / "small").mkdir()
    arguments = [folder / "small", folder / "old", folder / "new", 8 * (folder / "new").stat().st_size]
    full = [*command, sys.executable, "-c", FULL, *map(str, arguments)]
    done = subprocess.run(full, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{errno.ENOSPC} True True ['filler', 'm.safetensors']", "True"]
    assert os.listdir(folder / "small") == []


WRITER = """
import sys, threading
from ritz.estimators.loading import load
models = [load(path) for path in sys.argv[2:4]]
print("ready", flush=True)
told_to_end = threading.Thread(target=sys.stdin.read)  # which ends when the other side is closed
told_to_end.start()
while told_to_end.is_alive():
    for model in models:
        model.save(sys.argv[1])
"""


def test_two_writers_and_a_reader(folder):
    path, contents = folder / "out" / "m.safetensors", {(folder / name).read_bytes() for name in ("old", "new")}
    command = [sys.executable, "-c", WRITER, path, folder / "old", folder / "new"]
    writers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        writer.stdout.readline()
    seen, enough = set(), usually(100, thorough=1000)
    for reads in range(1, 100 * enough):
        load(path)
        seen.add(path.read_bytes())
        if reads >= enough and seen >= contents:
            break
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert seen == contents
    assert os.listdir(path.parent) == [path.name]


def test_a_failure_leaves_no_stray_file(folder, monkeypatch):
    path = folder / "out" / "m.safetensors"
    for name, failure in (("replace", OSError(errno.EIO, "I/O error")), ("fsync", KeyboardInterrupt())):
        with monkeypatch.context() as patch:

            def fail(*args, failure=failure, **kwargs):
                raise failure

            patch.setattr(os, name, fail)
            with pytest.raises(type(failure)) as caught:
                NEW.save(path)
        assert getattr(caught.value, "filename", str(path)) == str(path)
        assert whole(folder) == "old"
        assert os.listdir(path.parent) == [path.name]


def test_a_link_is_followed(folder):
    (folder / "link").symlink_to(folder / "out" / "m.safetensors")
    NEW.save(folder / "link")
    assert (folder / "link").is_symlink()
    assert whole(folder) == "new"


def test_a_folder_that_cannot_be_synced_does_no_harm(tmp_path, monkeypatch):
    real = os.fsync

    def files_only(handle):
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(handle)

    monkeypatch.setattr(os, "fsync", files_only)
    with replacing(tmp_path / "x") as new:
        new.write_text("whole")
    assert Path(tmp_path / "x").read_text() == "whole"


def test_the_new_name_is_synced_too(tmp_path, monkeypatch):
    real, order = {name: getattr(os, name) for name in ("fsync", "replace")}, []

    def fsync(handle):
        order.append("folder" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")
        real["fsync"](handle)

    def replace(*args):
        order.append("name")
        real["replace"](*args)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    NEW.save(tmp_path / "m")
    assert order == ["file", "name", "folder"]
