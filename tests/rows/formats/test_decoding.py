"""Pictures one by one: every kind of pixels, upright; files that are damaged, or made to fill the memory, are named."""

import io
import os
import struct
import warnings
import zlib

import numpy as np
import pytest

from helpers.files import put_pictures as put
from ritz import PCA, DataError, read
from ritz.rows.formats.decoding import heads
from ritz.rows.write.png import png

RNG = np.random.default_rng(0)
FACES = RNG.integers(0, 256, (24, 5, 4)).astype(np.uint8)


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
    assert ("1 of them with transparent pixels, which are laid on white" in rows.about) == (kind in ("LA", "RGBA"))


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
    assert "1 of them with 16 bits per colour, of which 8 are read" in read(tmp_path).about


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


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def test_bad_files_are_named(tmp_path):
    good = png(FACES[0])
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 8, 0, 0, 0, 0))
    bomb += chunk(b"IDAT", b"")
    bad = {
        "text": (b"hello", r"2\.png is not a picture \(PNG, .*although it is named like one; remove or rename it"),
        "empty": (b"", r"2\.png is not a picture"),
        "cut": (good[:60], r"2\.png is a damaged or truncated picture: .*; replace or remove it"),
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


def test_a_picture_may_come_by_any_name(tmp_path):
    from PIL import Image

    data = io.BytesIO()
    Image.fromarray(FACES[0]).save(data, "PPM")
    (tmp_path / "x.jpg").write_bytes(data.getvalue())  # by what it holds, not by its ending
    os.chmod(tmp_path / "x.jpg", 0o400)
    np.testing.assert_array_equal(read(tmp_path).block(0, 1)[0], FACES[0].ravel())


@pytest.mark.parametrize("filters", ["ignore", "default", "error"])
def test_too_many_pixels_are_refused_whatever_becomes_of_warnings(tmp_path, monkeypatch, filters):
    """Pillow refuses twice as many as its limit, and warns below that; filters of warnings belong to all threads."""
    from PIL import Image

    rows = read(put(tmp_path, FACES[:2]))
    with warnings.catch_warnings():
        warnings.simplefilter(filters)
        before = list(warnings.filters)
        for most, refused in ((20, False), (19, True), (9, True), (None, False)):
            monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", most)
            for look in (lambda: read(tmp_path), lambda: rows.block(0, 2)):
                if refused:
                    with pytest.raises(DataError, match=r"1\.png is refused: it has more pixels than PIL\.Image\.MAX"):
                        look()
                else:
                    look()
        assert list(warnings.filters) == before


def test_headers_are_read_without_a_change_of_the_filters_of_warnings(tmp_path, monkeypatch):
    put(tmp_path, FACES[:2])
    with monkeypatch.context() as patched:
        patched.setattr(warnings, "catch_warnings", None)  # its use would change what other threads see, and fails
        assert len(heads(sorted(tmp_path.iterdir()))) == 2
