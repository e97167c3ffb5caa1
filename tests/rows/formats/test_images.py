"""Folders of pictures: every one is a row, whatever its kind; what is not one is named."""

import io
import os
import struct
import sys
import zlib

import numpy as np
import pytest

from ritz import PCA, DataError, KernelPCA, ParameterError, read
from ritz.rows import as_rows
from ritz.rows.formats.images import natural
from ritz.rows.write.png import png

RNG = np.random.default_rng(0)
FACES = RNG.integers(0, 256, (24, 5, 4)).astype(np.uint8)


def put(folder, pictures, ending=".png", **how):
    """Pictures that Pillow writes, by the names 1, 2, …, 10, …"""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for i, picture in enumerate(pictures):
        Image.fromarray(picture).save(folder / f"{i + 1}{ending}", **how)
    return folder


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
    assert "3 of them are in colour, and so all are read" in mixed.about
    np.testing.assert_array_equal(mixed.block(1, 2)[0], np.repeat(FACES[0].ravel(), 3))
    grey = read(tmp_path / "x", grey=True)
    assert (grey.image_shape, "3 of them are in colour, and read as grey" in grey.about) == ((5, 4), True)
    np.testing.assert_array_equal(grey.block(1, 2)[0], FACES[0].ravel())
    luma = colour.reshape(3, 20, 3) @ [0.299, 0.587, 0.114]  # ITU-R 601
    np.testing.assert_allclose(grey.take(np.array([0, 2, 3])), luma, atol=0.51)


def palette(colours):
    from PIL import Image

    picture = Image.fromarray(FACES[0] % 4).convert("P")
    picture.putpalette(np.repeat(np.asarray(colours, np.uint8), 64, axis=0).ravel().tolist())
    return picture


def kinds():
    """Pictures of every kind, and the numbers that they stand for by the definition of the kind."""
    from PIL import Image

    first, alpha = FACES[0], FACES[1]
    grey, blue = np.repeat([[7], [90], [150], [255]], 3, axis=1), [[0, 0, 255]] * 4
    over = first * (alpha / 255.0) + 255 * (1 - alpha / 255.0)
    wide = (first.astype(np.uint16) * 256 + 3).astype(np.uint16)
    return {
        "L": (Image.fromarray(first), first),
        "1": (Image.fromarray(first > 100), np.where(first > 100, 255, 0)),
        "grey palette": (palette(grey), np.full((5, 4), 7)),
        "colour palette": (palette(blue), np.broadcast_to([0, 0, 255], (5, 4, 3))),
        "LA": (Image.merge("LA", [Image.fromarray(first), Image.fromarray(alpha)]), over),
        "RGBA": (Image.merge("RGBA", [Image.fromarray(part) for part in (first, first, first, alpha)]), over),
        "16 bits": (Image.fromarray(wide), wide),
        "CMYK": (Image.new("CMYK", (4, 5), (255, 0, 0, 0)), np.broadcast_to([0, 255, 255], (5, 4, 3))),
    }


@pytest.mark.parametrize("kind", ["L", "1", "grey palette", "colour palette", "LA", "RGBA", "16 bits", "CMYK"])
def test_kinds_of_pixels(tmp_path, kind):
    picture, truth = kinds()[kind]
    picture.save(tmp_path / f"x.{'tif' if kind == 'CMYK' else 'png'}")
    rows = read(tmp_path)
    found = rows.block(0, 1).reshape(rows.image_shape).astype(float)
    if kind == "RGBA":
        found = found[..., 0]
    np.testing.assert_allclose(found, truth, atol=1 if kind in ("LA", "RGBA") else 0)
    assert (rows.dtype, rows.white) == ((np.uint16, 65535.0) if kind == "16 bits" else (np.uint8, 255.0))
    assert ("1 of them have transparent pixels, which are laid on white" in rows.about) == (kind in ("LA", "RGBA"))


def test_other_kinds_are_refused_by_name(tmp_path):
    from PIL import Image

    Image.fromarray(FACES[0].astype(np.float32)).save(tmp_path / "a.tif")
    with pytest.raises(DataError, match=r"a\.tif has pixels of the kind 'F', not grey or colour of 8 bits"):
        read(tmp_path)
    frames = [Image.fromarray(face) for face in FACES[:3]]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    with pytest.raises(DataError, match=r"a\.tif holds 3 pictures, and a row is one of them"):
        read(tmp_path)
    Image.fromarray(FACES[0].astype(np.uint16)).save(tmp_path / "a.tif")
    Image.fromarray(FACES[0]).save(tmp_path / "b.png")
    with pytest.raises(DataError, match=r"'a\.tif' has 16 bits per pixel, but 'b\.png' has 8"):
        read(tmp_path)


def test_colours_of_16_bits_are_said_to_be_rounded(tmp_path):
    (tmp_path / "a.png").write_bytes(png(RNG.integers(0, 1 << 16, (5, 4, 3)).astype(np.uint16)))
    assert "1 of them have 16 bits per colour, of which 8 are read" in read(tmp_path).about


UPRIGHT = {  # what EXIF says of a stored picture A, and how the one that was seen follows from it
    1: lambda A: A,
    2: np.fliplr,
    3: lambda A: A[::-1, ::-1],
    4: np.flipud,
    5: np.transpose,
    6: lambda A: np.rot90(A, -1),
    7: lambda A: A[::-1, ::-1].T,
    8: np.rot90,
}


@pytest.mark.parametrize("packed", [None, "tiff_lzw", "png"])
def test_pictures_are_made_upright(tmp_path, packed):
    from PIL import Image

    for tag, upright in UPRIGHT.items():
        exif = Image.Exif()
        exif[0x0112] = tag
        how = {"exif": exif} if packed in (None, "png") else {"exif": exif, "compression": packed}
        Image.fromarray(FACES[0]).save(tmp_path / f"x.{'png' if packed == 'png' else 'tif'}", **how)
        rows, truth = read(tmp_path), upright(FACES[0])
        assert rows.image_shape == truth.shape, tag
        np.testing.assert_array_equal(rows.block(0, 1).reshape(truth.shape), truth)


def test_one_size_or_resized(tmp_path):
    put(tmp_path / "a", [np.full((6, 8), 40, np.uint8)] * 2)
    put(tmp_path / "b", [np.full((3, 8), 200, np.uint8)], ".jpg", quality=100)
    words = r"2 of 3 have 6×8 pixels, as 'a/1\.png', but 'b/1\.jpg' has 3×8; size=\(6, 8\) resizes all"
    with pytest.raises(DataError, match=words):
        read(tmp_path)
    rows = read(tmp_path, size=(4, 5))
    assert (rows.shape, rows.image_shape) == ((3, 20), (4, 5))
    assert "3 of them were resized to 4×5" in rows.about
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


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def test_bad_files_are_named(tmp_path, people):
    good = (people / "ann" / "1.png").read_bytes()
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 8, 0, 0, 0, 0))
    bomb += chunk(b"IDAT", b"")
    bad = {
        "text": (b"hello", r"2\.png is not a picture \(PNG, .*although it is named like one; remove it"),
        "empty": (b"", r"2\.png is not a picture"),
        "cut": (good[:60], r"2\.png is a damaged or truncated picture: "),
        "bomb": (bomb, r"2\.png is refused: it has more pixels than PIL\.Image\.MAX_IMAGE_PIXELS"),
    }
    (tmp_path / "1.png").write_bytes(good)
    for content, words in bad.values():
        (tmp_path / "2.png").write_bytes(content)
        with pytest.raises(DataError, match=words):
            PCA(1).fit(tmp_path)
    (tmp_path / "2.png").unlink()
    (tmp_path / "2.png").symlink_to(tmp_path / "nothing.png")
    with pytest.raises(DataError, match=r"2\.png cannot be read: it is a link to nothing"):
        read(tmp_path)


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
    assert rows.about.endswith("; 1 other file ignored")
    assert read(people / "ann").labels is None
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="it is empty"):
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


def test_a_picture_may_come_by_any_name(tmp_path):
    from PIL import Image

    data = io.BytesIO()
    Image.fromarray(FACES[0]).save(data, "PPM")
    (tmp_path / "x.jpg").write_bytes(data.getvalue())  # by what it holds, not by its ending
    os.chmod(tmp_path / "x.jpg", 0o400)
    np.testing.assert_array_equal(read(tmp_path).block(0, 1)[0], FACES[0].ravel())


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
