"""Lists, patterns and folders of tables: which files they mean, and in which order."""

import numpy as np
import pytest

import ritz
from ritz.errors import DataError
from ritz.rows.formats.several import is_list, several


@pytest.fixture
def folder(tmp_path):
    """Parts 1 to 11, with a row each that holds the number of its part."""
    for i in range(1, 12):
        np.save(tmp_path / f"part-{i}.npy", [[float(i), 0.0]])
    return tmp_path


def test_a_folder_and_a_pattern_are_in_natural_order(folder):
    (folder / ".hidden.csv").write_text("x")
    (folder / "part-ritz").mkdir()
    for source in (folder, str(folder / "part-*.npy")):
        assert ritz.read(source).read(0, 11)[:, 0].tolist() == list(range(1, 12))


def test_a_list_is_in_the_order_in_which_it_is_given(folder):
    paths = [folder / f"part-{i}.npy" for i in (10, 2, 7)]
    assert ritz.read(paths).read(0, 3)[:, 0].tolist() == [10, 2, 7]
    assert ritz.read(tuple(map(str, paths))).shape == (3, 2)
    assert ritz.read([paths[0], str(folder / "part-1?.npy")]).read(0, 3)[:, 0].tolist() == [10, 10, 11]


def test_a_name_that_looks_like_a_pattern_is_a_file_if_there_is_one(tmp_path):
    np.save(tmp_path / "x[1].npy", np.eye(3))
    np.save(tmp_path / "x1.npy", np.ones((2, 2)))
    assert several(tmp_path / "x[1].npy") is None
    assert ritz.read(tmp_path / "x[1].npy").shape == (3, 3)


def test_lists_of_rows_stay_rows():
    assert ritz.read([[1.0, 2.0], [3.0, 4.0]]).shape == (2, 2)
    assert not is_list([])


def test_what_is_not_there(folder):
    for source in (str(folder / "*.csv"), [folder / "part-12.npy"]):
        with pytest.raises(FileNotFoundError, match="there is no file"):
            ritz.read(source)


def test_a_folder_of_several_formats_is_not_guessed_at(folder):
    (folder / "notes.txt").write_text("1 2\n3 4\n")
    with pytest.raises(DataError, match=r"holds 11 \.npy, 1 \.txt"):
        ritz.read(folder)


def test_any_estimator_takes_a_list(folder):
    paths = [str(folder / f"part-{i}.npy") for i in (1, 3, 5)]
    assert ritz.PCA(1).fit(paths).mean_.tolist() == [3.0, 0.0]
