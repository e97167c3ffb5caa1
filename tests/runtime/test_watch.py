"""Passes that are watched: interrupted ones resume bitwise, shown ones say how far they are, Ctrl-C is clean."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from helpers.counts import usually
from helpers.matrices import random_array
from ritz import PCA, read
from ritz.errors import DataError
from ritz.runtime import checkpoint, watch


class Stop(BaseException):
    """An interruption."""


@pytest.fixture
def often(monkeypatch):
    """Every state is written."""
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)


def data(n=6000, d=40):
    return 3 + np.random.default_rng(0).standard_normal((n, d)) * np.geomspace(1, 0.01, d)


def interrupted(monkeypatch, every, fit):
    """The result of a fit that is stopped after every so many states, and how often that was."""
    seen = [0]

    def stopping(name):
        original = getattr(checkpoint.Checkpoint, name)

        def stopped(self, *args):
            original(self, *args)
            seen[0] += 1
            if seen[0] % every == 0:
                raise Stop

        monkeypatch.setattr(checkpoint.Checkpoint, name, stopped)

    stopping("keep")
    stopping("finish")
    for stops in range(500):
        try:
            return fit(), stops
        except Stop:
            continue
    raise AssertionError("it never comes to an end")


CASES = {
    "covariance": (data, {}),
    "svd": (data, {"svd_solver": "svd"}),
    "gram": (lambda: data(300, 700), {"svd_solver": "gram"}),
    "krylov on rows": (
        lambda: data(*usually((1000, 200), thorough=(30_000, 400))),
        {"svd_solver": "krylov", "memory_limit": usually("2MB", thorough="7MB")},
    ),
    "orthogonal": (data, {"svd_solver": "orthogonal"}),
    "float32": (lambda: data(60_000, 80).astype(np.float32), {}),
    "scaled": (data, {"scale": True}),
    "overflowing": (lambda: data() * 1e200, {}),
    "sparse": (
        lambda: scipy.sparse.random(*usually((1500, 1000), thorough=(3000, 2000)), 0.01, random_state=0, format="csr"),
        {"svd_solver": "krylov", "tol": 1e-3, "memory_limit": usually("4MB", thorough=None)},
    ),
}


@pytest.mark.filterwarnings("ignore::ritz.errors.AccuracyWarning")
@pytest.mark.parametrize("every", usually([1, 10], thorough=[1, 3, 10]))
@pytest.mark.parametrize("case", CASES)
def test_an_interrupted_fit_resumes_bitwise(tmp_path, monkeypatch, often, case, every):
    make, options = CASES[case]
    X = make()
    whole = PCA(4, **options).fit(X)
    assert whole.certificate_.passes > 10 or options.get("svd_solver") != "krylov"  # it reads rows again and again
    path = tmp_path / "fit.checkpoint"
    model, stops = interrupted(monkeypatch, every, lambda: PCA(4, **options).fit(X, checkpoint=path))
    assert stops >= (2 if every == 1 else 0)
    assert np.array_equal(model.components_, whole.components_)
    assert np.array_equal(model.explained_variance_, whole.explained_variance_)
    assert str(model.certificate_) == str(whole.certificate_)
    assert os.listdir(tmp_path) == []


def test_a_file_resumes_in_the_middle_of_a_pass(tmp_path, monkeypatch, often):
    X, path = data(), tmp_path / "x.parquet"
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), path, row_group_size=500)
    walked = []
    rows = read(path)
    stream = type(rows).stream
    monkeypatch.setattr(type(rows), "stream", lambda self, part, step: walked.append(part) or stream(self, part, step))
    whole = PCA(4).fit(path)
    parts = len(walked)
    walked.clear()
    model, stops = interrupted(monkeypatch, 5, lambda: PCA(4).fit(path, checkpoint=tmp_path / "c"))
    assert stops >= 1
    assert len(walked) < parts + 6 * stops + 3  # nothing is walked again but what was under way
    assert np.array_equal(model.components_, whole.components_)


def test_a_fit_that_was_killed(tmp_path):
    script = textwrap.dedent(
        """
        import sys, time
        import numpy as np
        from ritz import PCA
        from ritz.runtime import checkpoint
        from ritz.rows.memory.array import ArrayRows
        checkpoint.INTERVAL = checkpoint.SHARE = 0.0
        read = ArrayRows.read
        ArrayRows.read = lambda self, start, stop: time.sleep(0.004) or read(self, start, stop)
        X = np.load(sys.argv[1])
        model = PCA(3).fit(X, checkpoint=sys.argv[2])
        np.save(sys.argv[3], model.components_)
        """
    )
    np.save(tmp_path / "x.npy", data(200_000, 30))
    names = [str(tmp_path / name) for name in ("x.npy", "fit.checkpoint", "u.npy")]
    command = [sys.executable, "-c", script, *names]
    process = subprocess.Popen(command)
    while not os.path.exists(names[1]) and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert os.path.exists(names[1])
    assert not os.path.exists(names[2])
    subprocess.run(command, check=True, timeout=120)
    assert np.array_equal(np.load(names[2]), PCA(3).fit(data(200_000, 30)).components_)
    assert not os.path.exists(names[1])


def stopped_at(path, X, monkeypatch, **options):
    """A checkpoint of a fit that was interrupted."""
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Checkpoint, "finish", lambda self, result: (_ for _ in ()).throw(Stop))
        with pytest.raises(Stop):
            PCA(2, **options).fit(X, checkpoint=path)
    return path


def test_a_checkpoint_of_another_fit_is_refused(tmp_path, monkeypatch, often):
    X = data()
    path = stopped_at(tmp_path / "c", X, monkeypatch)
    before = path.read_bytes()
    for other, options in ((X + 1, {}), (X, {"scale": True}), (X[:-1], {})):
        with pytest.raises(DataError, match="belongs to a fit of other data"):
            PCA(2, **options).fit(other, checkpoint=path)
    assert path.read_bytes() == before
    assert np.array_equal(PCA(2).fit(X, checkpoint=path).components_, PCA(2).fit(X).components_)


def test_a_damaged_checkpoint_is_an_error(tmp_path, monkeypatch, often):
    X = data()
    whole = stopped_at(tmp_path / "c", X, monkeypatch).read_bytes()
    rng = np.random.default_rng(0)
    for size in rng.integers(0, len(whole), 20):
        (tmp_path / "c").write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"not a valid checkpoint|belongs to"):
            PCA(2).fit(X, checkpoint=tmp_path / "c")
    np.save(tmp_path / "objects.npy", np.array([{}], object))
    with pytest.raises(DataError, match="not a valid checkpoint"):
        PCA(2).fit(X, checkpoint=tmp_path / "objects.npy")


def test_a_full_disk_costs_the_checkpoint_but_not_the_fit(tmp_path, monkeypatch, often):
    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning, match="no checkpoint was written.*No space left"):
        model = PCA(2).fit(data(), checkpoint=tmp_path / "c")
    assert np.array_equal(model.components_, PCA(2).fit(data()).components_)
    assert os.listdir(tmp_path) == []


def test_progress_is_shown_when_asked_for(capsys, monkeypatch):
    monkeypatch.setattr(watch, "FIRST", 0.0)
    monkeypatch.setattr(watch, "NEXT", 0.0)
    X = data(30_000, 40)
    PCA(2).fit(X)
    assert capsys.readouterr() == ("", "")
    PCA(2, verbose=True).fit(X)
    out, shown = capsys.readouterr()
    assert out == ""
    assert "<ArrayRows: 30000 rows, 40 columns, float64>" in shown
    assert "pass 1: 100% of 30000 rows" in shown
    assert "1 pass" in shown


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(watch.time, "monotonic", lambda: self.now)


def test_nothing_is_said_of_short_work_however_late_it_begins(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with watch.Progress() as shown:
        clock.now += 60  # reading, importing, …
        for _ in range(3):
            shown.begin(420)
            for _ in range(16):
                clock.now += 0.05
                shown.advance(26)
            shown.advance(4)
    assert capsys.readouterr() == ("", "")


def test_what_is_said_of_long_work_ends_with_all_of_it(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with watch.Progress() as shown:
        for _ in range(2):
            shown.begin(1000)
            for _ in range(100):
                clock.now += 0.2
                shown.advance(10)
    lines = capsys.readouterr().err.splitlines()
    first, second = ([line for line in lines if line.startswith(f"pass {i}: ")] for i in (1, 2))
    assert len(lines) == len(first) + len(second)
    for said in (first, second):
        assert 3 <= len(said) <= 6
        assert said[0].endswith("s left")
        assert re.fullmatch(r"pass \d: 100% of 1000 rows in 20 s", said[-1])


def test_many_short_passes_are_told_of_when_they_are_done(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with watch.Progress() as shown:
        for _ in range(60):
            shown.begin(100)
            for _ in range(2):
                clock.now += 0.25
                shown.advance(50)
    lines = capsys.readouterr().err.splitlines()
    assert 4 <= len(lines) <= 6
    assert all("100% of 100 rows" in line for line in lines)


def test_a_pass_that_needs_no_more_is_done(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with watch.Progress() as shown:
        for _ in range(2):
            shown.begin(1000, what="landmarks")
            for _ in range(4):
                clock.now += 1.0
                shown.advance(95)
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "left" not in line] == [
        f"pass {i}: done with 380 of 1000 landmarks in 4 s" for i in (1, 2)
    ]


def test_a_pass_that_fails_is_not_done(capsys, monkeypatch):
    clock = Clock(monkeypatch)

    def failing():
        with watch.Progress() as shown:
            shown.begin(1000)
            clock.now += 2.0
            shown.advance(10)
            raise Stop

    with pytest.raises(Stop):
        failing()
    assert "done" not in capsys.readouterr().err


def terminal(*command, stdout=False) -> tuple[bytes, list[str]]:
    """What a program writes to a terminal, and the lines that are left there in the end."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    known = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, stderr=theirs, stdout=theirs if stdout else subprocess.DEVNULL, env=known)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 1 << 16)
        except OSError:  # the other side has closed it
            break
    assert process.wait(60) == 0
    lines, place = [""], 0
    for code, text in re.findall(r"\x1b\[([0-9;?]*[A-Za-z])|([^\x1b])", shown.decode(), re.DOTALL):
        if code.endswith("A"):
            place -= int(code[:-1] or 1)
        elif code == "2K" or text == "\r":
            lines[place] = "" if code else lines[place]
        elif text == "\n":
            place += 1
            lines += [""] * (place == len(lines))
        else:
            lines[place] += text
    return shown, [line for line in lines if line]


def test_progress_in_a_terminal_is_a_bar_that_goes():
    script = "import numpy as np; from ritz import PCA; PCA(2, verbose=True).fit(np.eye(200_000, 50))"
    shown, left = terminal(sys.executable, "-c", script)
    assert b"pass 1, rows" in shown
    assert b"200000/200000" in shown
    assert left[0].startswith("<ArrayRows: 200000 rows")
    assert not any("pass 1" in line and "200000/" in line for line in left)


def test_rows_that_appear_in_the_terminal_are_not_mixed_with_a_bar(tmp_path):
    X = data(3000, 4)
    np.save(tmp_path / "x.npy", X)
    PCA(2).fit(X).save(tmp_path / "m.safetensors")
    command = (sys.executable, "-m", "ritz", "transform", str(tmp_path / "m.safetensors"), str(tmp_path / "x.npy"))
    _, left = terminal(*command, stdout=True)
    assert len(left) == 3002
    assert left[0] == '"PC1","PC2"'
    assert "3000 rows, PC1 to PC2, to standard output" in left[-1]
    assert all(re.fullmatch(r"[-\d.e]+,[-\d.e]+", line) for line in left[1:-1])


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals are sent in another way there")
def test_ctrl_c_keeps_the_old_state_and_leaves_nothing_behind(monkeypatch):
    model = PCA(2, memory_limit="1MB").fit(data())  # by many small blocks
    before = {name: id(value) for name, value in vars(model).items()}
    main = threading.get_ident()
    press = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
    blocks: list[int] = []
    others = set(threading.enumerate())

    def meanwhile():
        blocks.append(1)
        return press.ident or press.start()

    rows = read_slowly(monkeypatch, meanwhile)
    before_it = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(rows)
    finally:
        signal.signal(signal.SIGINT, before_it)
    assert len(blocks) <= 10 * os.cpu_count()  # five seconds' worth, of a minute and a half on one core
    assert {name: id(value) for name, value in vars(model).items()} == before
    for thread in set(threading.enumerate()) - others:
        if thread.name.startswith("ritz"):  # caught while it was being started
            thread.join(5)
            assert not thread.is_alive()


def read_slowly(monkeypatch, meanwhile):
    """Rows whose blocks take their time; what happens meanwhile starts with the first of them."""
    from ritz.rows.memory.array import ArrayRows

    rows = ArrayRows(data(200_000, 30))
    read, one = ArrayRows.read, threading.Lock()

    def slowly(self, start, stop):
        with one:
            meanwhile()
        time.sleep(0.5)
        return read(self, start, stop)

    monkeypatch.setattr(ArrayRows, "read", slowly)
    return rows


def test_rows_that_changed_are_another_fit_wherever_they_changed(tmp_path, monkeypatch, often):
    X = data(20_000, 20)
    path = stopped_at(tmp_path / "c", X, monkeypatch)
    changed = X.copy()
    changed[1234, 5] += 1e-9
    with pytest.raises(DataError, match="belongs to a fit of other data"):
        PCA(2).fit(changed, checkpoint=path)
    np.save(tmp_path / "x.npy", X)
    path = stopped_at(tmp_path / "d", tmp_path / "x.npy", monkeypatch)
    np.save(tmp_path / "x.npy", changed)
    with pytest.raises(DataError, match="belongs to a fit of other data"):
        PCA(2).fit(tmp_path / "x.npy", checkpoint=path)


def test_data_that_was_wrong_leaves_no_checkpoint(tmp_path, often):
    X = data()
    X[5, 5] = np.nan
    with pytest.raises(DataError, match="1 NaN"):
        PCA(2).fit(X, checkpoint=tmp_path / "c")
    assert os.listdir(tmp_path) == []


def test_two_fits_do_not_share_a_checkpoint(tmp_path, often, monkeypatch):
    """Whoever comes second notices, and goes on without."""
    path, (X, Y) = tmp_path / "c", (data(), 2 * data())
    kept = checkpoint.Checkpoint.keep

    def disturbed(self, *state):
        monkeypatch.setattr(checkpoint.Checkpoint, "keep", kept)
        stopped_at(path, Y, monkeypatch)
        kept(self, *state)

    monkeypatch.setattr(checkpoint.Checkpoint, "keep", disturbed)
    with pytest.warns(UserWarning, match="another fit has written or removed"):
        model = PCA(2).fit(X, checkpoint=path)
    assert np.array_equal(model.components_, PCA(2).fit(X).components_)
    assert np.array_equal(PCA(2).fit(Y, checkpoint=path).components_, PCA(2).fit(Y).components_)


def test_a_disk_that_was_full_once_leaves_no_half_truth(tmp_path, often, monkeypatch):
    """A result that could not be written belongs to the fit, which changes it; it must not be written later."""
    X = data(400, 900)
    monkeypatch.setattr(checkpoint, "HELD", 0)
    fsync, failures = os.fsync, [OSError(28, "No space left on device")]
    monkeypatch.setattr(os, "fsync", lambda file: (_ for _ in ()).throw(failures.pop()) if failures else fsync(file))
    finish, seen = checkpoint.Checkpoint.finish, []

    def stopping(self, result):
        finish(self, result)
        seen.append(1)
        if len(seen) == 2:
            raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Checkpoint, "finish", stopping)
        with pytest.warns(UserWarning, match="no checkpoint was written"), pytest.raises(Stop):
            PCA(2, scale=True, svd_solver="gram").fit(X, checkpoint=tmp_path / "c")
    model = PCA(2, scale=True, svd_solver="gram").fit(X, checkpoint=tmp_path / "c")
    assert np.array_equal(model.components_, PCA(2, scale=True, svd_solver="gram").fit(X).components_)


def test_a_request_that_cannot_be_met_leaves_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="n_components=200"):
        PCA(200).fit(data(), checkpoint=tmp_path / "c")
    assert os.listdir(tmp_path) == []


def test_a_checkpoint_needs_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .* to keep the checkpoint 'c'"):
        PCA(2).fit(data(), checkpoint=tmp_path / "no" / "c")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        PCA(2).fit(data(), checkpoint=tmp_path)


def test_progress_of_sparse_rows_is_shown(capfd):
    X = random_array((300, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
    PCA(2, verbose=True).fit(X)
    assert "accurate as asked" in capfd.readouterr().err


def test_the_file_that_is_read_is_no_checkpoint(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).standard_normal((20, 3)))
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is the file that is read; give another name"):
        PCA(2).fit(path, checkpoint=path)
    assert path.read_bytes() == before
