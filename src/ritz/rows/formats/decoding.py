"""One picture at a time, by Pillow: what its header tells, and its pixels, upright and of the kind asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ritz.errors import FILE, DataError, MissingPackageError
from ritz.rows.formats.damage import damage
from ritz.rows.pictures import in_words
from ritz.runtime import threads

FORMATS = ("PNG", "JPEG", "PPM", "TIFF", "BMP")  # as Pillow calls them; no other decoder is ever tried
GREY, COLOUR = ("1", "L", "LA", "La"), ("RGB", "RGBX", "RGBA", "RGBa", "CMYK", "YCbCr", "HSV")
PALETTE, ALPHA = ("P", "PA"), ("LA", "La", "PA", "RGBA", "RGBa")
ORIENTATION = 0x0112  # the tag of EXIF that says how the camera was held
# Values of it and the method of Pillow that makes such a picture upright; from 5 on, height and width change places.
TURNS = {
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270", 7: "TRANSVERSE",
    8: "ROTATE_90",
}  # fmt: skip
LYING = 5
TIFF_SIDES = (257, 256)  # tags of a TIFF file: its height and width as they are stored
BATCH = 64  # files whose headers a thread reads at a time


class Head(NamedTuple):
    """What is known of a picture before its pixels are."""

    height: int
    width: int
    colour: bool
    deep: bool  # whether it has 16 bits per pixel
    alpha: bool  # whether it may have transparent pixels
    rounded: bool  # whether Pillow reads fewer bits per colour than there are


def heads(files: Sequence[Path]) -> list[Head]:
    """The headers of files, read by all cores. What would unpack to more than Pillow allows is refused."""
    batches = [files[i : i + BATCH] for i in range(0, len(files), BATCH)]
    _pillow()
    found = threads.ordered(lambda some: [_head(file) for file in some], batches, threads.pinned.budget())
    return [head for some in found for head in some]


def decoded(file: Path, shape: tuple[int, ...], resized: bool, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The pixels of a picture, (h, w) or (h, w, 3), as the shape says, to which it may be resized."""
    height, width = shape[:2]
    with _opened(file) as picture:
        picture.load()
        upright = _upright(picture)
        if resized and dtype != np.uint8:
            upright = _pillow().fromarray(np.asarray(upright).astype(np.float32))
        elif dtype == np.uint8:
            upright = _plain(upright, "RGB" if len(shape) == 3 else "L")
        if resized and upright.size != (width, height):
            upright = upright.resize((width, height), _pillow().Resampling.LANCZOS)
        found = np.asarray(upright)
    if found.shape != shape:
        problem = f"{FILE} has {in_words(found.shape)} pixels once it is upright, and its header says {in_words(shape)}"
        raise DataError(problem, "save it again, or remove it", file=file)
    if found.dtype.kind == "f":
        found = np.clip(np.rint(found), 0, np.iinfo(dtype).max)
    return found.astype(dtype, copy=False)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingPackageError('reading pictures needs Pillow: pip install "ritz[images]"') from error
    return Image


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """A picture; whatever Pillow says of its bytes is an error that names the file."""
    from PIL import Image, UnidentifiedImageError

    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)  # the second where filters make it an error
    with damage(f"{FILE} is a damaged or truncated picture", file=file, advice="replace or remove it"):
        try:
            # Not by its name: Pillow would map it into memory, and a file that became shorter would end the process.
            with file.open("rb") as stream, Image.open(stream, formats=FORMATS) as picture:
                _check_pixels(picture)
                yield picture
        except UnidentifiedImageError:
            kinds = "PNG, JPEG, PGM, PPM, TIFF or BMP"
            raise DataError(
                f"{FILE} is not a picture ({kinds}), although it is named like one", "remove or rename it"
            ) from None
        except bombs as error:
            limit = "it has more pixels than PIL.Image.MAX_IMAGE_PIXELS allows, and may be made to fill the memory"
            raise DataError(f"{FILE} is refused: {limit}", "make it smaller, or raise that limit") from error
        except FileNotFoundError:
            raise DataError(f"{FILE} cannot be read: it is a link to nothing, or it is gone", "remove it") from None


def _check_pixels(picture: Any) -> None:
    """Refuse more than Pillow's limit. Up to twice that it warns, and all threads share the filters of warnings."""
    most = _pillow().MAX_IMAGE_PIXELS
    if most is not None and picture.width * picture.height > most:
        raise _pillow().DecompressionBombError


def _head(file: Path) -> Head:
    with _opened(file) as picture:
        if getattr(picture, "n_frames", 1) > 1 and picture.format != "MPO":  # some cameras keep previews there
            pages = f"{FILE} holds {picture.n_frames} pictures"
            raise DataError(f"{pages}, and a row is one of them", "save each in a file of its own")
        mode, alpha = picture.mode, picture.mode in ALPHA or "transparency" in picture.info
        deep = mode.startswith("I;16") or (mode == "I" and picture.format in ("PPM", "PNG"))
        if (deep and alpha) or not (deep or mode in (*GREY, *COLOUR, *PALETTE)):
            kind = "16 bits per pixel with transparency" if deep else f"pixels of the kind {mode!r}"
            told = f"{FILE} has {kind}, not grey or colour of 8 bits or grey of 16"
            raise DataError(told, "convert it, or pass an array of its numbers")
        sides = picture.size[::-1]
        if picture.format == "TIFF":  # some versions of Pillow give the sides as they will be, others as they are
            sides = tuple(picture.tag_v2[tag] for tag in TIFF_SIDES)
        height, width = sides[::-1] if _orientation(picture) >= LYING else sides
        colour = mode in COLOUR or (mode in PALETTE and not _grey_palette(picture))
        return Head(int(height), int(width), colour, deep, alpha, not deep and _is_rounded(picture))


def _orientation(picture: Any) -> int:
    """How the camera was held; of a PNG whose tag stands behind the pixels, only once they are decoded."""
    if picture.format == "PNG" and "exif" not in picture.info and picture.tile:
        return 1
    found = picture.getexif().get(ORIENTATION, 1)
    return found if found in TURNS else 1


def _upright(picture: Any) -> Any:
    """A picture that is decoded; Pillow has made one of TIFF upright already."""
    turn = None if picture.format == "TIFF" else TURNS.get(_orientation(picture))
    return picture if turn is None else picture.transpose(getattr(_pillow().Transpose, turn))


def _plain(picture: Any, mode: str) -> Any:
    """A picture of 8 bits as "L" or "RGB"; what is transparent shows white below it."""
    if picture.mode in ALPHA or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        ground = _pillow().new("RGBA", picture.size, "white")
        picture = _pillow().alpha_composite(ground, picture).convert("RGB")
    return picture if picture.mode == mode else picture.convert(mode)


def _grey_palette(picture: Any) -> bool:
    """Whether all colours of a palette are grey."""
    kind, data = picture.palette.getdata()
    colours = np.frombuffer(data, np.uint8) if kind == "RGB" else np.array(picture.getpalette(), np.uint8)
    colours = colours[: len(colours) // 3 * 3].reshape(-1, 3)
    return bool((colours == colours[:, :1]).all())


def _is_rounded(picture: Any) -> bool:
    """Whether colours have more than 8 bits: Pillow names the layout of the bytes that it unpacks."""
    layouts = [tile[3] for tile in picture.tile]
    words = [str(part) for layout in layouts for part in (layout if isinstance(layout, tuple) else (layout,))]
    return any(";16" in word or (picture.format == "PPM" and word.isdecimal() and int(word) > 255) for word in words)
