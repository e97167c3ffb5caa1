"""The installed program, in processes of its own: in a terminal, in pipes, interrupted, killed, on a full disk."""

import errno
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from helpers.commands import PROGRAM, program, run, wine, write_wine
from helpers.counts import usually
from ritz import PCA, load
from ritz.cli import _WithoutPandas

COMMAND = [str(PROGRAM)] if PROGRAM.exists() else [sys.executable, "-m", "ritz"]


def python(code: str, **given) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, check=False, **given)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wine")
    run("fit", write_wine(folder / "wine.csv"), "--scale", "-k", 4, "-q")
    return folder


def test_help_starts_without_anything_heavy():
    code = "import sys; from ritz.cli import main; main(['--help'], standalone_mode=False); print(sorted(sys.modules))"
    loaded = python(code).stdout.decode().splitlines()[-1]
    for heavy in ("numpy", "scipy", "sklearn", "pyarrow", "pandas", "rich", "jinja2", "safetensors"):
        assert f"'{heavy}'" not in loaded


def test_pandas_is_hidden_until_pytorch_is_there(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(ModuleNotFoundError):
        _WithoutPandas().find_spec("pandas")
    monkeypatch.setitem(sys.modules, "torch", object())
    assert _WithoutPandas().find_spec("pandas") is None


def test_info_does_without_scikit_learn(tmp_path):
    path = write_wine(tmp_path / "wine.csv")
    code = f"import sys; from ritz.cli import main; main(['info', {str(path)!r}], standalone_mode=False); "
    done = python(code + "print('sklearn' in sys.modules)")
    assert done.stdout.decode().splitlines()[-1] == "False"


def test_a_file_through_a_pipe(tmp_path):
    text = write_wine(tmp_path / "wine.csv").read_bytes()
    done = program("fit", "-", "--scale", "-k", 2, cwd=tmp_path, input=text)
    assert b"standard input (15.1 kB): 178 rows" in done.stdout
    assert load(tmp_path / "stdin-ritz" / "model.safetensors").n_features_in_ == 13
    assert (tmp_path / "stdin-ritz" / "scores.csv").exists()


def test_parquet_through_a_pipe(tmp_path):
    X, names, _ = wine()
    buffer = io.BytesIO()
    pq.write_table(pa.table(dict(zip(names, X.T, strict=True))), buffer)
    program("fit", "-", "-k", 2, "-o", "out", cwd=tmp_path, input=buffer.getvalue())
    assert np.allclose(load(tmp_path / "out" / "model.safetensors").components_, PCA(2).fit(X).components_)
    assert (tmp_path / "out" / "scores.parquet").exists()


def test_an_empty_pipe_is_bad_data():
    assert b"empty" in program("fit", "-", code=3, input=b"").stderr


def test_scores_into_a_pipe_are_arrow_and_go_back(fitted):
    model = fitted / "wine-ritz" / "model.safetensors"
    scores = program("transform", model, fitted / "wine.csv").stdout
    table = pa.ipc.open_stream(scores).read_all()
    assert table.column_names == ["bottle", "kind", "PC1", "PC2", "PC3", "PC4"]
    expected = PCA(4, scale=True).fit_transform(wine()[0])
    assert np.allclose(table["PC4"].to_numpy(), expected[:, 3])
    back = program("inverse", model, "-", "--to", "csv", input=scores).stdout
    rows = pyarrow.csv.read_csv(io.BytesIO(back))
    assert rows.num_rows == 178
    assert rows.column_names[2] == "alcohol"


def test_a_closed_pipe_is_no_failure(fitted):
    model, data = fitted / "wine-ritz" / "model.safetensors", fitted / "wine.csv"
    line = f"set -o pipefail; {' '.join(COMMAND)} transform {model} {data} --to csv | head -1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('"bottle"')
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def in_terminal(*arguments, environment=(), cwd=None, keys=None) -> tuple[int, str]:
    """The exit code, and all that a person would have seen."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env={**os.environ, "TERM": "xterm-256color", **dict(environment)},
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the other side has closed it
            break
        if not part:
            break
        shown += part
        if keys is not None:
            keys(process, shown)
    os.close(ours)
    return process.wait(60), shown.decode()


def test_a_terminal_has_colours_unless_they_are_not_wanted(tmp_path):
    path = write_wine(tmp_path / "wine.csv")
    code, shown = in_terminal("fit", path, "-k", 2)
    assert code == 0
    assert "\x1b[" in shown
    assert "PC2" in shown
    code, shown = in_terminal("info", path, environment={"NO_COLOR": "1"})
    assert code == 0
    assert "\x1b[" not in shown


def test_scores_in_a_terminal_are_text(fitted):
    code, shown = in_terminal("transform", fitted / "wine-ritz" / "model.safetensors", fitted / "wine.csv", "-q")
    assert code == 0
    assert '"W-177","cultivar 3",' in shown


def test_a_terminal_without_the_letters_gets_question_marks(fitted):
    done = program("info", fitted / "wine.csv", env={"PYTHONIOENCODING": "ascii"})
    assert b"178 rows" in done.stdout


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Rows that take some seconds."""
    path = tmp_path_factory.mktemp("large") / "large.npy"
    np.save(path, np.tile(np.random.default_rng(0).standard_normal((4_000, 700)), (10, 1)))
    return path


SLOWLY = ("-k", 20, "--solver", "svd")  # a pass of some seconds, so that there is time to press a key


class CtrlC:
    """Pressed once, when some thousand rows have been seen."""

    pressed = False

    def __call__(self, process, shown):
        if not self.pressed and re.search(rb"[1-9]\d{4}/40000", shown):
            self.pressed = True
            os.kill(process.pid, signal.SIGINT)


def test_ctrl_c_ends_with_130_and_leaves_nothing_half(large, tmp_path):
    out = tmp_path / "out"
    code, shown = in_terminal("fit", large, "-o", out, *SLOWLY, keys=CtrlC())
    assert code == 130, shown
    assert "interrupted" in shown
    assert "Traceback" not in shown
    assert not out.exists() or not any(out.iterdir())


def test_an_interrupted_fit_goes_on_from_its_checkpoint(large, tmp_path):
    check, out = tmp_path / "check", tmp_path / "out"
    arguments = ["fit", large, "-o", out, "-k", 20, "--solver", "covariance", "--checkpoint", check]
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # there is more time to press a key
    for _ in range(6):  # a quick machine may be past the pass that is kept before the key is pressed
        code, shown = in_terminal(*arguments, "--force", environment=alone, keys=CtrlC())
        if check.exists():
            break
    assert check.exists(), shown
    assert code == 130, shown
    done = program(*arguments, "--force", "--json", env=alone)
    assert json.loads(done.stdout)["exit_code"] == 0
    assert not check.exists()


def test_progress_is_told_in_a_second_even_into_a_file(large, tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "fit", str(large), "-o", str(tmp_path / "out"), "-k", "3"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert b"reading large.npy" in process.stderr.readline()
    assert process.poll() is None
    assert computed_by(process) < 5  # seconds; one where nothing else runs
    assert process.wait(120) == 0
    process.stderr.close()


def computed_by(process) -> float:
    """The seconds that a process has computed so far: unlike those on the clock, they do not count what others do."""
    stat = Path(f"/proc/{process.pid}/stat")
    if not stat.exists():
        return 0.0  # no Linux
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


# ------------------------------------------------------------------ killed, or no space left

FORKS = """
import os, pathlib, resource, shutil, signal, sys
from ritz.cli import main
here = pathlib.Path(sys.argv[1])
try:
    main(sys.argv[2:])  # what it imports and compiles is there for every child
except SystemExit as ended:
    assert not ended.code
shutil.rmtree(here / "wine-ritz")

def outcome(number, prepare):
    # How a process ended that wrote over the files of an earlier one; what it left is kept under its number.
    shutil.copytree(here / "before", here / "wine-ritz")
    if not (child := os.fork()):
        prepare(number)
        main(sys.argv[2:])
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.rename(here / "wine-ritz", here / f"after {number}")
    print(number, status, flush=True)
    return status
"""

KILLED = (
    FORKS
    + """
def deadly_at(at):
    count = 0
    def deadly(f):
        def call(*args, **kwargs):
            nonlocal count
            for moment in ("before", "after"):
                count += 1
                if count == at:
                    os.kill(os.getpid(), signal.SIGKILL)
                if moment == "before":
                    result = f(*args, **kwargs)
            return result
        return call
    for name in ("fsync", "replace", "rename", "mkdir", "chmod"):
        setattr(os, name, deadly(getattr(os, name)))

at = 1
while at < 60 and outcome(at, deadly_at):
    at += 1
"""
)


def whole_results(folder) -> list[int]:
    """How many components each file of a result knows: every one of them must be whole."""
    found = [load(folder / "model.safetensors").n_components_]
    scores = pyarrow.csv.read_csv(folder / "scores.csv")
    assert scores.num_rows == 178
    found.append(scores.num_columns - 2)
    page = (folder / "report.html").read_text()
    assert page.rstrip().endswith("</html>")
    return found


@pytest.fixture
def before(tmp_path):
    """A folder with data, and the results of a fit of them, to be written again by others."""
    path = write_wine(tmp_path / "wine.csv")
    run("fit", path, "-k", 2)
    (tmp_path / "wine-ritz").rename(tmp_path / "before")
    return tmp_path


def outcomes(folder, code) -> dict[int, int]:
    """How each of many processes ended that wrote the results of another fit, by number."""
    again = ("fit", folder / "wine.csv", "-k", 3, "--force", "-q")
    command = [sys.executable, "-c", code, *map(str, (folder, *again))]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return {int(number): int(status) for number, status in map(bytes.split, done.stdout.splitlines())}


def test_kill_9_at_every_step_of_writing_leaves_old_or_new_files(before):
    seen = outcomes(before, KILLED)
    for at in seen:
        assert set(whole_results(before / f"after {at}")) <= {2, 3}
    assert list(seen.values()) == [-signal.SIGKILL] * (len(seen) - 1) + [0]
    assert len(seen) > 12  # three files: made, synced, renamed, each before and after
    assert whole_results(before / f"after {len(seen)}") == [3, 3]


LIMITED = (
    FORKS
    + """
def limited_to(most):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

sizes = sorted(file.stat().st_size for file in (here / "before").iterdir())
for limit in dict.fromkeys((0, 10, *(size // 2 for size in sizes), *(size - 1 for size in sizes))):
    outcome(limit, limited_to)
"""
)


def test_death_in_the_middle_of_a_write_leaves_old_files(before):
    """The kernel ends the process when a file grows beyond a limit: in the middle of whatever writes it."""
    seen = outcomes(before, LIMITED)
    assert len(seen) == 8
    for limit, status in seen.items():
        assert status == -signal.SIGXFSZ
        assert set(whole_results(before / f"after {limit}")) <= {2, 3}
        assert load(before / f"after {limit}" / "model.safetensors").n_components_ == 2


@contextmanager
def small_disk(folder, size):
    """A file system with so many bytes, if this machine lets us have one."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a small disk here: {mounted.stderr.decode()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_is_an_error_and_leaves_the_old_files(tmp_path):
    path = write_wine(tmp_path / "wine.csv")
    with small_disk(tmp_path / "disk", 400_000) as disk:
        run("fit", path, "-k", 2, "-o", disk / "out")
        free = os.statvfs(disk)
        with (disk / "filling").open("wb") as file:
            file.write(b"\0" * (free.f_bavail * free.f_frsize - 8192))
        done = program("fit", path, "-k", 3, "--force", "-o", disk / "out", code=1)
        assert os.strerror(errno.ENOSPC).encode() in done.stderr
        assert b"Traceback" not in done.stderr
        assert whole_results(disk / "out") == [2, 2]
        assert sorted(os.listdir(disk / "out")) == ["model.safetensors", "report.html", "scores.csv"]
        model = disk / "out" / "model.safetensors"
        for command in (["transform", model, path, "-o", disk / "s.csv"], ["merge", model, model, "-o", disk / "m"]):
            with (disk / "more").open("wb") as file:
                free = os.statvfs(disk)
                file.write(b"\0" * (free.f_bavail * free.f_frsize))
            assert os.strerror(errno.ENOSPC) in run(*command, code=1).stderr
        assert sorted(os.listdir(disk)) == ["filling", "more", "out"]


def test_two_writers_and_a_reader(tmp_path):
    path = write_wine(tmp_path / "wine.csv")
    run("fit", path, "-k", 2)
    model = tmp_path / "wine-ritz" / "model.safetensors"
    writers = [
        subprocess.Popen([*COMMAND, "fit", str(path), "-k", str(k), "--force", "-q"], stderr=subprocess.PIPE)
        for k in (3, 4)
    ]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        seen.add(load(model).n_components_)
        time.sleep(0.005)  # the writers need the processors, too
    assert [writer.wait() for writer in writers] == [0, 0]
    assert seen <= {2, 3, 4}
    assert load(model).n_components_ in (3, 4)
    for writer in writers:
        writer.stderr.close()


# ------------------------------------------------------------------ streams that are not there


@pytest.mark.parametrize("closed", usually(["<&-", ">&- 2>&-"], thorough=["<&-", ">&-", "2>&-", ">&- 2>&-"]))
def test_closed_streams_stop_nothing(tmp_path, closed):
    write_wine(tmp_path / "wine.csv")
    line = f"{' '.join(COMMAND)} fit wine.csv -k 2 {closed}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert load(tmp_path / "wine-ritz" / "model.safetensors").n_components_ == 2


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"], ["info", "wine.csv"]])
def test_whatever_is_cut_off_is_no_failure(tmp_path, arguments):
    write_wine(tmp_path / "wine.csv")
    line = f"{' '.join([*COMMAND, *arguments])} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_room_for_help_is_one_line():
    done = subprocess.run(["bash", "-c", f"{' '.join(COMMAND)} --help > /dev/full"], capture_output=True, check=False)
    assert done.returncode == 1
    assert os.strerror(errno.ENOSPC).encode() in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("wait", usually([2.0], thorough=[2.0, 2.6, 3.2]))
def test_being_told_to_end_leaves_nothing_behind(large, tmp_path, wait):
    out = tmp_path / "here" / "out"
    out.parent.mkdir()
    process = subprocess.Popen([*COMMAND, "fit", str(large), "-k", "200", "-o", str(out), "-q", "--force"])
    time.sleep(wait)
    process.terminate()
    assert process.wait(60) in (0, 128 + signal.SIGTERM, -signal.SIGTERM)
    assert [name for name in os.listdir(out.parent) if name != "out"] == []


def test_labels_cannot_command_the_terminal(tmp_path):
    names, rng = ["\x1b[2Jx", "\x1b]0;owned\x07", "\u202e"], np.random.default_rng(0)
    table = {"\x1b[31mwho": names * 4, "a": rng.standard_normal(12), "b": rng.standard_normal(12)}
    pq.write_table(pa.table(table), tmp_path / "x.parquet")
    run("fit", tmp_path / "x.parquet", "-k", 1, "--label", "\x1b[31mwho")
    model = tmp_path / "x-ritz" / "model.safetensors"
    code, shown = in_terminal("transform", model, tmp_path / "x.parquet", "-q", environment={"NO_COLOR": "1"})
    assert code == 0
    assert "PC1" in shown
    assert not set("\x1b\x07\u202e") & set(shown)
