"""IDX files: by name or by how they begin, packed or not, with the labels beside them."""

import gzip

import numpy as np
import pytest

from helpers.files import write_idx
from helpers.memory import traced
from ritz import PCA, ColumnWarning, DataError, read
from ritz.rows.formats.idx import open_idx
from ritz.rows.formats.read import ending_of

RNG = np.random.default_rng(0)
DIGITS = RNG.integers(0, 256, (50, 6, 5)).astype(np.uint8)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "float32", "float64"])
@pytest.mark.parametrize("opens", [open, gzip.open])
def test_every_type_of_numbers(tmp_path, dtype, opens):
    matrix = RNG.integers(-100, 100, (7, 3)).astype(dtype)
    path = write_idx(tmp_path / f"x-idx2-any{'.gz' * (opens is gzip.open)}", matrix, opens)
    rows = read(path)
    np.testing.assert_array_equal(rows.block(0, 7), matrix)
    assert (rows.shape, rows.image_shape) == ((7, 3), None)


@pytest.mark.parametrize(
    "name",
    ["t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte", "x.idx3", "t10k-images-idx3-ubyte.gz", "digits", "x.gz"],
)
def test_pictures_by_name_and_by_magic_number(tmp_path, name):
    path = write_idx(tmp_path / name, DIGITS, gzip.open if name.endswith(".gz") else open)
    rows = read(path)
    np.testing.assert_array_equal(rows.map(np.copy), DIGITS.reshape(50, 30))
    assert (rows.image_shape, rows.white, rows.labels) == ((6, 5), 255.0, None)
    assert rows.block(3, 5).dtype == np.uint8
    np.testing.assert_array_equal(rows.take(np.array([49, 0])), DIGITS.reshape(50, 30)[[49, 0]])
    assert ending_of(path)[-3:] in ("yte", "dx3", ".gz", "idx")
    assert PCA(2).fit(path).image_shape_ == (6, 5)


def test_labels_are_those_of_the_file_beside(tmp_path):
    images = write_idx(tmp_path / "train-images-idx3-ubyte.gz", DIGITS, gzip.open)
    kinds = np.arange(50, dtype=np.uint8) % 10
    for name, opens in (("train-labels-idx1-ubyte", open), ("train-labels-idx1-ubyte.gz", gzip.open)):
        labels = write_idx(tmp_path / name, kinds, opens)
        rows = read(images)
        np.testing.assert_array_equal(rows.labels, kinds)
        assert str(labels) in rows.paths
        labels.unlink()
    write_idx(labels, kinds[:7], gzip.open)
    with pytest.warns(ColumnWarning, match=r"train-labels.*was not used: it should hold 50 labels, .* \(7,\)"):
        assert read(images).labels is None
    labels.write_bytes(b"not one of them")
    with pytest.warns(ColumnWarning, match=r"train-labels.*was not used: it is not a valid IDX file$"):
        assert read(images).labels is None


def test_what_is_damaged(tmp_path):
    path = write_idx(tmp_path / "x-idx3-ubyte", DIGITS)
    whole = path.read_bytes()
    for size, what in ((1000, "truncated"), (1600, "damaged")):
        path.write_bytes((whole + bytes(200))[:size])
        with pytest.raises(
            DataError, match=rf"{what}: a uint8 array of shape \(50, 6, 5\) takes 1516 bytes, found {size}"
        ):
            read(path)
        packed = tmp_path / "y-idx3-ubyte.gz"
        packed.write_bytes(gzip.compress((whole + bytes(200))[:size]))
        found = min(size, 1517)  # no more is unpacked than is needed to know
        with pytest.raises(DataError, match=rf"{what}: .* takes 1516 bytes, found {found}"):
            read(packed)
    packed.write_bytes(gzip.compress(whole)[:-500])
    with pytest.raises(DataError, match=r"truncated: .* takes 1516 bytes, found"):
        read(packed)
    for content, words in ((b"\0\0\x08", "begins with the bytes 00 00 08"), (b"\0\0\x08\3\0\0\0\1", "3 axes take 12")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=words):
            read(path)
    path.write_bytes(b"\0\0\x0e\3" + b"\xff" * 12)  # claims more than any memory
    with pytest.raises(DataError, match="truncated"):
        read(path)
    packed.write_bytes(gzip.compress(b"\0\0\x0e\3" + b"\xff" * 12))
    with pytest.raises(DataError, match="would take"):
        read(packed)
    many = bytes([0, 0, 8, 100]) + b"\0\0\0\1" * 100 + b"x"
    path.write_bytes(many)
    packed.write_bytes(gzip.compress(many))
    for file in (path, packed):
        with pytest.raises(DataError, match="says that it has 100 axes; at most 32 can be read"):
            read(file)


@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_file_of_labels_leads_to_its_images(tmp_path, end):
    path = write_idx(tmp_path / "t10k-labels-idx1-ubyte", np.arange(5, dtype=np.uint8))
    with pytest.raises(
        DataError, match=r"has one axis of 5 numbers, as IDX files of labels have.*pass the file of images"
    ):
        read(path)
    images = write_idx(tmp_path / f"t10k-images-idx3-ubyte{end}", DIGITS, gzip.open if end else open)
    with pytest.raises(DataError, match=f"; pass {images}: the labels beside it"):
        read(path)


@pytest.mark.parametrize("opens", [open, gzip.open])
def test_the_first_axis_counts_pictures_of_any_size(tmp_path, opens):
    narrow = DIGITS[:5, :4, :3]  # an array of this shape may be one picture in colour
    rows = read(write_idx(tmp_path / f"x-idx3-ubyte{'.gz' * (opens is gzip.open)}", narrow.copy(), opens))
    assert (rows.shape, rows.image_shape) == ((5, 12), (4, 3))
    np.testing.assert_array_equal(rows.block(0, 5), narrow.reshape(5, 12))


def test_a_packed_file_is_unpacked_once(tmp_path):
    path = write_idx(tmp_path / "x-idx2-ubyte.gz", np.zeros((4000, 1000), np.uint8), gzip.open)
    with traced() as taken:
        assert open_idx(path).shape == (4000, 1000)
    assert taken.peak < 1.5 * 4e6  # with a copy it would be more than 2
