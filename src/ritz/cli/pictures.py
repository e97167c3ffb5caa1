"""`ritz inverse` into pictures: a PNG file for every row, named after it.

A new folder appears with all of them, or not at all. A folder that exists gets them one after another, once all are
made and every place was found free, or to hold a file that may be replaced.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ritz.cli.errors import USAGE, Failure
from ritz.cli.notes import notes_of
from ritz.cli.paths import PIPE, check_not_fitted, folder_to_fill, may_write
from ritz.cli.screen import Screen
from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.rows.formats.images import ENDINGS, NAME
from ritz.rows.pictures import in_words
from ritz.rows.write.png import png
from ritz.rows.write.tables import Results
from ritz.runtime.atomic import staged, writing
from ritz.runtime.wording import plural, visible
from ritz.views.images import shades

ENDING = ".png"
BYTES = 255  # the largest number of 8 bits
SEPARATORS, FORBIDDEN = re.compile(r"[/\\]"), re.compile(r'[\x00-\x1f\x7f<>:"|?*]')  # in names of files
LONGEST = 120  # bytes of a part of a name; systems allow 143 at least, of which an ending and a number take some
DEEPEST = 8  # parts of a name
# Names that Windows gives to devices, whatever follows a dot.
DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)", re.IGNORECASE)


def is_target(out: str | None) -> TypeGuard[str]:
    """Whether results should become pictures: in a folder, whose name has no ending or / behind it, or a .png file."""
    if out is None or out == PIPE:
        return False
    name = Path(out).name
    return out.endswith(("/", os.sep)) or "." not in name or Path(out).suffix.lower() == ENDING or Path(out).is_dir()


def check_target(out: str, to: str | None, scores: str, model: str, force: bool) -> None:
    """Refuse what would replace something, or what was not meant so, before anything is read."""
    if to is not None:
        raise Failure(f"--to {to} is for standard output, and pictures are written as PNG files; leave it out", USAGE)
    if _is_single(out):
        may_write(Path(out), [scores, model], force)
    else:
        folder_to_fill(Path(out), scores, force)


def _is_single(out: str) -> bool:
    """Whether it is the name of one file."""
    return Path(out).suffix.lower() == ENDING and not out.endswith(("/", os.sep))


@dataclass(frozen=True)
class Scale:
    """How numbers become pixels: which of them are black and white, in all pictures of a model."""

    shape: tuple[int, ...]
    black: float
    white: float

    @property
    def top(self) -> int:
        """White, in a file: of 16 bits where the data may have as many."""
        return BYTES if self.black or self.white <= BYTES else (1 << 16) - 1

    def pixels(self, row: Array) -> tuple[NDArray[Any], int]:
        """A row as what a file holds, and how many of its numbers are below black or above white."""
        span = self.white / 2 - self.black / 2  # halves, whose difference every float can hold
        levels = np.rint((row / 2 - self.black / 2) * (self.top / span if span > 0 else 0.0))
        outside = int(np.count_nonzero((levels < 0) | (levels > self.top)))
        kind = np.uint8 if self.top == BYTES else np.uint16
        return np.clip(levels, 0, self.top).astype(kind).reshape(self.shape), outside


@dataclass
class Written:
    """What was written, and how many numbers were clipped."""

    pictures: int = 0
    clipped: int = 0
    numbers: int = 0

    def said(self, scale: Scale) -> str:
        """In words."""
        text = f"{self.pictures} {plural(self.pictures, 'picture')} of {in_words(scale.shape[:2])} pixels"
        text += f"; black is {scale.black:.3g} and white {scale.white:.3g} in all of them" if scale.black else ""
        if not self.clipped:
            return text
        share = f"{self.clipped} of {self.numbers} values ({self.clipped / self.numbers:.2%})"
        return f"{text}; {share} outside of {scale.black:.3g} to {scale.white:.5g} were clipped"

    def tell(self, screen: Screen, target: Target, code: int) -> None:
        """To people and machines."""
        screen.say(f"{self.said(target.scale)}; written to {visible(target.out)}")
        screen.emit(file=target.out, **vars(self), warnings=screen.warned, exit_code=code)


@dataclass(frozen=True)
class Target:
    """Where pictures go, and how they are made; `identifier` is the column that names them."""

    out: str
    scale: Scale
    identifier: str | None = None
    force: bool = False

    @classmethod
    def of(cls, model: Any, path: str, out: str, force: bool) -> Target:
        """That of a model of pictures; any other is an error, and so is the folder that it was fitted to."""
        notes = notes_of(model)
        shape = getattr(model, "image_shape_", None) or notes.image
        if shape is None:
            raise DataError(
                f"{out!r} would hold pictures, but {path!r} does not know that its rows are pictures: fit "
                "a folder or a stack of them, or give --image HxW to ritz fit; or write rows as .csv, .parquet or .npy"
            )
        if notes.identifier == NAME and not _is_single(out):  # the files of a folder
            check_not_fitted(Path(out), path)
        return cls(out, Scale(tuple(shape), *shades(model)), notes.identifier, force)

    def write(self, results: Results) -> Written:
        """Every row as a picture; those without numbers have none. Where all are so, nothing is written."""
        with closing(results.blocks):
            if _is_single(self.out):
                if results.n != 1:
                    told = f"{self.out!r} is one picture, but there are {results.n} rows"
                    raise Failure(f"{told}; give a folder for them: -o FOLDER/", USAGE)
                with writing(self.out) as new:
                    return _write(results, self.scale, [new])
            names = file_names(results.beside, self.identifier, results.n)
            with staged(self.out, self.force) as stage:
                return _write(results, self.scale, [stage / name for name in names])


def _write(results: Results, scale: Scale, files: list[Path]) -> Written:
    at, written = 0, Written()
    for block in results.blocks:
        for row, file in zip(block, files[at : at + len(block)], strict=True):
            if np.isnan(row).any():
                continue
            pixels, outside = scale.pixels(np.asarray(row, np.float64))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(png(pixels))
            written.pictures, written.clipped = written.pictures + 1, written.clipped + outside
            written.numbers += row.size
        at += len(block)
    if not written.pictures:  # inside of what writes: nothing is replaced
        problem = f"0 of {results.n} rows have scores, so there is no picture to write"
        raise DataError(problem, "fill in the scores of one row or more")
    return written


def file_names(beside: Mapping[Any, NDArray[Any]], identifier: str | None, n: int) -> list[str]:
    """Where every picture goes inside the folder: by the names of the rows, or else by their numbers.

    Examples
    --------
    >>> file_names({"file": np.array(["ann/1.jpg", "../x"], object)}, None, 2)
    ['ann/1.png', 'x.png']
    >>> file_names({}, None, 2)
    ['1.png', '2.png']
    """
    keys = [key for key in (identifier, NAME, *beside) if key in beside]
    unique = (key for key in keys if len(set(map(str, beside[key].tolist()))) == n)
    key = next(unique, None)
    if key is None:
        return [f"{i + 1:0{len(str(n))}}{ENDING}" for i in range(n)]
    taken: dict[str, int] = {}
    return [_free(_safe(str(value)) or f"row {i + 1}", taken) for i, value in enumerate(beside[key].tolist())]


def _safe(name: str) -> str:
    """A name as a path that stays inside the folder, without the ending of a picture; "" if nothing of it is left."""
    text = FORBIDDEN.sub("_", name.encode("utf-8", "replace").decode())
    parts = [part for part in (part.strip(". ") for part in SEPARATORS.split(text)) if part]
    if not parts:
        return ""
    stem, dot, ending = parts[-1].rpartition(".")
    parts[-1] = stem if stem and dot + ending.lower() in ENDINGS else parts[-1]
    *folders, file = [*parts[: DEEPEST - 1], "_".join(parts[DEEPEST - 1 :])] if len(parts) > DEEPEST else parts
    return "/".join([*map(_folder, folders), _part(file)])


def _part(name: str) -> str:
    """A part of a path that every system takes."""
    cut = name.encode()[:LONGEST].decode(errors="ignore").rstrip(". ")
    return f"_{cut}" if DEVICES.match(cut) else cut


def _folder(name: str) -> str:
    """The same for a folder, which no file can have the name of: those end as pictures do."""
    part = _part(name)
    return f"{part}_" if part.casefold().endswith(ENDING) else part


def _free(name: str, taken: dict[str, int]) -> str:
    """The name of a file that no other row has; `taken` has how often every name was asked for."""
    base, found, count = _alike(name), name, taken.get(_alike(name), 0)
    while _alike(found) in taken:
        count += 1
        found = f"{name}_{count}"
    taken[_alike(found)], taken[base] = 1, max(count, 1)
    return found + ENDING


def _alike(name: str) -> str:
    """The same text for names that some system takes for the same: by capitals, or by how accents are composed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
