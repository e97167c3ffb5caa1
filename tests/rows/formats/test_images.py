"""Folders of pictures: every one is a row, whatever its kind; what is not one is named."""

import sys

import numpy as np
import pytest

from helpers.files import put_pictures as put
from ritz import PCA, DataError, KernelPCA, ParameterError, read
from ritz.rows import as_rows
from ritz.rows.formats.images import natural

RNG = np.random.default_rng(0)
FACES = RNG.integers(0, 256, (24, 5, 4)).astype(np.uint8)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Twelve pictures of each of two."""
    folder = tmp_path_factory.mktemp("data") / "people"
    put(folder / "bob", FACES[12:])
    return put(folder / "ann", FACES[:12]).parent


def test_every_picture_is_a_row(people):
    rows = read(people)
    X = FACES.reshape(24, 20)
    assert (rows.shape, rows.dtype, rows.image_shape, rows.white) == ((24, 20), np.uint8, (5, 4), 255.0)
    np.testing.assert_array_equal(rows.block(0, 24), X)
    np.testing.assert_array_equal(rows.map(np.copy), X)
    np.testing.assert_array_equal(rows.take(np.array([23, 0, 7])), X[[23, 0, 7]])
    np.testing.assert_array_equal(np.concatenate(rows.reduce(list, list.__add__)), X)
    assert rows.sample(5).shape == (5, 20)
    assert list(rows.labels) == ["ann"] * 12 + ["bob"] * 12
    assert list(rows.row_names[:3]) == ["ann/1.png", "ann/2.png", "ann/3.png"]
    assert rows.row_names[9] == "ann/10.png"
    assert "24 pictures of 5×4 pixels (height×width), each flattened into a row of 20 numbers" in repr(rows)
    assert len(rows.edges) - 1 > 8  # parts for all cores


def test_a_fit_agrees_with_lapack_and_knows_the_shape(people):
    Z = FACES.reshape(24, 20) - FACES.reshape(24, 20).mean(axis=0)
    expected = np.linalg.svd(Z, compute_uv=False)[:3] ** 2 / 23
    for source in (people, read(people), str(people)):
        pca = PCA(3).fit(source)
        np.testing.assert_allclose(pca.explained_variance_, expected, rtol=1e-10)
        assert (pca.image_shape_, pca.white_) == ((5, 4), 255.0)
    np.testing.assert_allclose(
        pca.transform(people) ** 2 @ np.ones(3), (pca.transform(FACES.reshape(24, 20)) ** 2).sum(1)
    )
    kernel = KernelPCA(2, kernel="rbf", gamma="scale", fit_inverse_transform=True).fit(people)
    assert (kernel.image_shape_, kernel.white_) == ((5, 4), 255.0)


def test_names_are_in_their_natural_order():
    names = ["b10.png", "b9.png", "B1.png", "a.png", "b٣.png", "b01.png", "b1.png3"]
    assert sorted(names, key=natural) == ["a.png", "B1.png", "b01.png", "b1.png3", "b9.png", "b10.png", "b٣.png"]


def test_grey_and_colour(tmp_path):
    colour = RNG.integers(0, 256, (3, 5, 4, 3)).astype(np.uint8)
    put(tmp_path / "x", colour, ".bmp")
    assert read(tmp_path / "x").image_shape == (5, 4, 3)
    np.testing.assert_array_equal(read(tmp_path / "x").block(0, 3), colour.reshape(3, 60))
    put(tmp_path / "x", FACES[:1], ".pgm")  # 1.bmp, 1.pgm, 2.bmp, 3.bmp
    mixed = read(tmp_path / "x")
    assert "3 of them in colour, and so all are read in colour" in mixed.about
    np.testing.assert_array_equal(mixed.block(1, 2)[0], np.repeat(FACES[0].ravel(), 3))
    grey = read(tmp_path / "x", grey=True)
    assert (grey.image_shape, "3 of them in colour, read as grey" in grey.about) == ((5, 4), True)
    np.testing.assert_array_equal(grey.block(1, 2)[0], FACES[0].ravel())
    luma = colour.reshape(3, 20, 3) @ [0.299, 0.587, 0.114]  # ITU-R 601
    np.testing.assert_allclose(grey.take(np.array([0, 2, 3])), luma, atol=0.51)


def test_one_size_or_resized(tmp_path):
    put(tmp_path / "a", [np.full((6, 8), 40, np.uint8)] * 2)
    put(tmp_path / "b", [np.full((3, 8), 200, np.uint8)], ".jpg", quality=100)
    words = r"2 of 3 have 6×8 pixels, as 'a/1\.png', but 'b/1\.jpg' has 3×8; size=\(6, 8\) resizes all"
    with pytest.raises(DataError, match=words):
        read(tmp_path)
    rows = read(tmp_path, size=(4, 5))
    assert (rows.shape, rows.image_shape) == ((3, 20), (4, 5))
    assert "3 of them resized to 4×5" in rows.about
    np.testing.assert_array_equal(rows.block(0, 3), np.repeat([[40], [40], [200]], 20, axis=1))
    halves = np.repeat([[0, 60000]], 4, axis=1).repeat(8, axis=0).astype(np.uint16)  # 8×8, a step
    small = read(put(tmp_path / "deep", [halves]), size=(2, 2))
    assert small.dtype == np.uint16
    np.testing.assert_allclose(small.block(0, 1), [[0, 60000, 0, 60000]], atol=6000)
    for size in ((4,), (4, 0), 4, (4.0, 5)):
        with pytest.raises(ParameterError, match="two numbers of pixels"):
            read(tmp_path, size=size)
    with pytest.raises(ParameterError, match="must be True or False"):
        read(tmp_path, grey="yes")
    with pytest.raises(DataError, match="a row already"):
        read(tmp_path, transpose=True)


def test_what_lies_beside_pictures(tmp_path, people):
    one, folder = (people / "ann" / "1.png").read_bytes(), tmp_path / "x"
    for name in ("a.png", "deep/b.PNG", "x-ritz/no.png", ".hidden.png", ".git/no.png", "__MACOSX/no.png", "._a.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(one)
    for name in ("Thumbs.db", "desktop.ini", "notes.txt"):
        (folder / name).write_bytes(b"1,2")
    (folder / "more").symlink_to(people / "bob")
    (folder / "again").symlink_to(folder)  # round in circles
    rows = read(folder)
    assert list(rows.row_names[:3]) == ["a.png", "deep/b.PNG", "more/1.png"]
    assert (rows.shape[0], rows.labels[0], set(rows.labels[1:])) == (14, None, {"deep", "more"})
    assert rows.about.endswith("; 1 other file ignored (.txt)")
    assert read(people / "ann").labels is None
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="it is empty; put files into it, or pass another folder"):
        read(tmp_path / "none")
    for name in ("a.csv", "b.csv", "c.csv", "d.csv"):
        (folder / name).write_text("1,2\n3,5\n")
    (folder / "more").unlink()
    with pytest.raises(DataError, match="Pass one file of it"):  # tables with a few pictures among them
        read(folder)


def test_without_pillow_the_extra_is_named(people, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r'pip install "ritz\[images\]"'):
        as_rows(people)


def test_new_pictures_must_be_like_those_of_the_fit(people, tmp_path):
    pca = PCA(2).fit(people)
    put(tmp_path / "turned", FACES[:3].transpose(0, 2, 1))
    with pytest.raises(DataError, match=r"pictures of 4×5 numbers .* learned from 5×4; .*size=\(5, 4\)"):
        pca.transform(tmp_path / "turned")
    put(tmp_path / "colour", np.stack([FACES[:3]] * 3, axis=-1))
    with pytest.raises(DataError, match=r"pictures of 5×4×3 numbers .* learned from 5×4; .*grey=True"):
        pca.transform(tmp_path / "colour")
    expected = pca.transform(FACES[:3].reshape(3, 20))
    np.testing.assert_allclose(pca.transform(read(tmp_path / "colour", grey=True)), expected)
    colours = PCA(1).fit(tmp_path / "colour")
    assert colours.transform(people).shape == (24, 1)  # grey ones are pictures in colour too


def test_headers_alone_are_read_before_a_pass(people, monkeypatch):
    from PIL import PngImagePlugin

    def refuse(self):
        raise AssertionError("decoded")

    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load", refuse)
    assert read(people).shape == (24, 20)


def test_files_are_looked_at_after_a_pass_and_not_after_every_block(people, monkeypatch):
    rows = read(people)
    held = PCA(2).fit(rows) and as_rows(rows.block(0, 24))
    held.files = rows.files
    looks = []
    monkeypatch.setattr(type(rows.files), "check", lambda files, cause=None: looks.append(cause))
    for source in (rows, held):
        looks.clear()
        blocks = source.limited(8 * 20).reduce(list, list.__add__)  # a row at a time
        assert len(blocks) == 24
        assert len(looks) == 1
