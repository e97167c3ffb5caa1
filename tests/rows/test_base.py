"""What reads rows: a source gives `read`, and every verb uses it; files are looked at after a pass, not every block."""

from functools import wraps

import numpy as np
import pytest

from ritz import read
from ritz.rows.memory.array import ArrayRows
from ritz.rows.memory.computed import Scaled, choose

X = np.random.default_rng(0).standard_normal((700, 3))
VERBS = {
    "block": lambda rows: rows.block(0, 700),
    "map": lambda rows: rows.map(np.copy),
    "reduce": lambda rows: np.concatenate(rows.reduce(list, list.__add__)),
    "pairs": lambda rows: rows.pairs(lambda A, B: A @ B.T),
    "each": lambda rows: np.concatenate(list(rows.each(np.copy))),
}


def doubled(method):
    @wraps(method)
    def twice(*args):
        return 2 * method(*args)

    return twice


class Doubled(ArrayRows):
    """Rows whose `read` is decorated."""

    read = doubled(ArrayRows.read)


@pytest.mark.parametrize("verb", VERBS)
def test_a_decorated_read_and_that_of_an_object_are_used(verb):
    object_alone = ArrayRows(X)
    object_alone.read = doubled(object_alone.read)
    expected = VERBS[verb](ArrayRows(2 * X))
    for rows in (Doubled(X), object_alone):
        np.testing.assert_array_equal(VERBS[verb](rows), expected)


@pytest.mark.parametrize("verb", VERBS)
def test_files_are_not_looked_at_after_every_block_of_rows_of_rows(tmp_path, monkeypatch, verb):
    np.save(tmp_path / "x.npy", X)
    rows = read(tmp_path / "x.npy")
    looks = []
    monkeypatch.setattr(type(rows.files), "check", lambda files, cause=None: looks.append(cause))
    for source, expected in (
        (Scaled(rows, None, 2.0), 2 * X),
        (choose(rows, [2, 0], [], "error"), X[:, [2, 0]]),
    ):
        looks.clear()
        found = VERBS[verb](source.limited(8 * 3 * 100))  # seven blocks
        np.testing.assert_array_equal(found, VERBS[verb](ArrayRows(expected)))
        assert 1 <= len(looks) <= 2


def test_where_rows_come_from(tmp_path):
    np.save(tmp_path / "x.npy", X)
    origin = read(tmp_path / "x.npy", columns=[0, 2], missing="drop").origin
    assert (origin.columns, origin.missing, origin.size, origin.grey) == ([0, 2], "drop", None, None)
    assert [path for path, *_ in origin.files] == [str((tmp_path / "x.npy").resolve())]
    assert ArrayRows(X).origin is None
