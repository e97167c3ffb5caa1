"""Stacks of pictures: in memory and in files they are the rows of the array that is reshaped."""

import h5py
import numpy as np
import pytest
import zarr

from ritz import PCA, DataError, ParameterError, read
from ritz.rows import as_rows
from ritz.rows.pictures import checked, pictured, white_of

RNG = np.random.default_rng(0)
GREY = RNG.random((9, 6, 5))
COLOUR = RNG.integers(0, 256, (9, 6, 5, 3)).astype(np.uint8)


def in_hdf5(path, X):
    with h5py.File(path, "w") as file:
        file["pictures"] = X


WRITE = {
    "memory": None,
    "list": None,
    "x.npy": np.save,
    "fortran.npy": lambda path, X: np.save(path, np.asfortranarray(X)),
    "x.npz": np.savez,
    "x.h5": in_hdf5,
    "x.zarr": lambda path, X: zarr.create_array(str(path), data=X, chunks=(2, *X.shape[1:])),
}


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize(("X", "white"), [(GREY, 1.0), (COLOUR, 255.0)], ids=["grey", "colour"])
def test_a_stack_is_flattened(tmp_path, name, X, white):
    for turned in (False, True):
        given = np.moveaxis(X, 0, -1).copy() if turned else X
        source = given.tolist() if name == "list" else given
        if WRITE[name] is not None:
            source = tmp_path / f"{int(turned)}{name}"
            WRITE[name](source, given)
        rows = read(source, transpose=turned)
        np.testing.assert_array_equal(rows.block(0, 9), X.reshape(9, -1))
        assert (rows.image_shape, rows.white) == (X.shape[1:], white)
        assert f"9 pictures{' in colour' * (X.ndim == 4)} of 6×5 pixels (height×width), each flattened" in repr(rows)
    pca = PCA(2).fit(rows)
    np.testing.assert_array_equal(pca.explained_variance_, PCA(2).fit(X.reshape(9, -1)).explained_variance_)
    assert pca.image_shape_ == X.shape[1:]


def test_a_stack_in_memory_is_not_copied():
    assert np.shares_memory(read(GREY).block(0, 9), GREY)
    last = np.moveaxis(GREY, 0, -1).copy()
    assert np.shares_memory(read(last, transpose=True).block(0, 9), last)


@pytest.mark.parametrize(
    ("shape", "each"), [((9, 6, 5, 1), (6, 5)), ((9, 1, 6, 5), (6, 5)), ((9, 6, 1), None), ((9, 3, 3), (3, 3))], ids=str
)
def test_axes_of_one(shape, each):
    assert read(np.ones(shape)).image_shape == each


@pytest.mark.parametrize(
    ("shape", "advice"),
    [
        ((9, 6, 3), r"may be one picture in colour or 9 of 6×3 pixels.*\(n, h, w, 3\)"),
        ((9, 6, 4), r"may be one picture in colour"),
        ((9, 3, 6, 5), r"colours come last: np\.moveaxis\(X, 1, -1\)"),
        ((9, 6, 5, 4), r"X\[\.\.\., :3\]"),
        ((9, 6, 5, 2), r"; X\.reshape\(len\(X\), -1\) makes a row of every X\[i\]$"),
        ((9, 2, 2, 2, 2), r"; X\.reshape\(len\(X\), -1\) makes a row of every X\[i\]$"),
        ((0, 6, 5), "0 sample"),
    ],
    ids=str,
)
def test_axes_that_may_mean_something_else(shape, advice):
    with pytest.raises(DataError, match=advice):
        read(np.ones(shape))


@pytest.mark.parametrize(
    ("values", "white"),
    [
        (np.array([[False, True]]), 1.0),
        (np.array([[0, 9]], np.uint8), 255.0),
        (np.array([[0, 9]], np.uint16), 65535.0),
        ([[0.0, 0.7]], 1.0),
        ([[0, 200]], 255.0),
        ([[0.0, 40000.0]], 65535.0),
        ([[0.0, 16.0]], 16.0),
        ([[-1.0, 1.0]], None),
        ([[0.0, 0.0]], None),
    ],
)
def test_what_white_is(values, white):
    assert white_of(read(values)) == white


def test_shapes_that_are_asked_for():
    assert checked([2, 3], 6) == (2, 3)
    assert checked((2, 3), 18) == checked((2, 3, 3), 18) == (2, 3, 3)
    for image in (5, (2, 3, 4), (2, 0), (2.0, 3), "23", (True, 6)):
        with pytest.raises(ParameterError, match=r"^shape=.* two numbers of pixels"):
            checked(image, 6, "shape")
    with pytest.raises(DataError, match="image=2×3 has 6 pixels, but there are 7 columns"):
        checked((2, 3), 7)
    with pytest.raises(DataError, match="image=2×3×3 has 18 numbers, but there are 7 columns"):
        checked((2, 3, 3), 7)


def test_rows_that_become_pictures_are_others():
    rows = as_rows(GREY.reshape(9, 30))
    made = pictured(rows, (6, 5))
    assert (made.image_shape, made.white, rows.image_shape, rows.white, rows.about) == ((6, 5), 1.0, None, None, "")
    assert np.shares_memory(made.block(0, 9), GREY)
