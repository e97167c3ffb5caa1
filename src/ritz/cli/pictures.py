"""`ritz inverse` into pictures: a PNG file for every row, named after it; all of them are written, or none."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.cli.errors import USAGE, Failure
from ritz.cli.notes import notes_of
from ritz.cli.paths import folder_to_fill, may_write
from ritz.cli.screen import Screen
from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.rows.formats.images import ENDINGS, NAME
from ritz.rows.pictures import in_words
from ritz.rows.write.png import png
from ritz.rows.write.tables import Results
from ritz.runtime.atomic import staged, writing
from ritz.runtime.wording import visible

ENDING = ".png"
BYTES = 255  # the largest number of 8 bits
SEPARATORS, FORBIDDEN = re.compile(r"[/\\]"), re.compile(r'[\x00-\x1f\x7f<>:"|?*]')  # in names of files
LONGEST = 80  # letters of a part of a name, whatever the bytes of each


def is_target(out: str | None) -> bool:
    """Whether results should become pictures: a folder, by the / at its end or because it is one, or a .png file."""
    if out is None:
        return False
    return out.endswith(("/", os.sep)) or Path(out).suffix.lower() == ENDING or Path(out).is_dir()


def check_target(out: str, sources: list[str], force: bool) -> None:
    """Refuse what would replace something, before anything is read."""
    if Path(out).suffix.lower() == ENDING and not out.endswith(("/", os.sep)):
        may_write(Path(out), sources, force)
    else:
        folder_to_fill(Path(out), force)


@dataclass(frozen=True)
class Scale:
    """How numbers become pixels: 0 is black; without a `white`, the ends of every picture are black and white."""

    shape: tuple[int, ...]
    white: float | None

    @classmethod
    def of(cls, model: Any, path: str) -> Scale:
        """That of a model of pictures; any other is an error."""
        shape = getattr(model, "image_shape_", None) or notes_of(model).image
        if shape is None:
            raise DataError(
                f"{path!r} does not know that its rows are pictures: fit a folder of pictures or a stack of them, or "
                "give --image HxW to ritz fit; or write rows as .csv, .parquet or .npy"
            )
        return cls(tuple(shape), getattr(model, "white_", None))

    @property
    def top(self) -> int:
        """White, in a file."""
        return BYTES if self.white is None or self.white <= BYTES else (1 << 16) - 1

    def pixels(self, row: Array) -> tuple[NDArray[Any], int]:
        """A row as what a file holds, and how many of its numbers are below black or above white."""
        low = float(row.min()) if self.white is None else 0.0
        span = float(row.max()) - low if self.white is None else self.white
        levels = np.rint((row - low) * (self.top / span if span > 0 else 0.0))
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
        text = f"{self.pictures} picture{'s' * (self.pictures != 1)} of {in_words(scale.shape[:2])} pixels"
        if scale.white is None:
            return f"{text}, each from black, its least value, to white, its largest"
        if not self.clipped:
            return text
        share = f"{self.clipped} of {self.numbers} values ({self.clipped / self.numbers:.2%})"
        return f"{text}; {share} outside of 0 to {scale.white:g} were clipped"

    def tell(self, screen: Screen, scale: Scale, out: str | None, code: int) -> None:
        """To people and machines."""
        screen.say(f"{self.said(scale)}; written to {visible(out)}")
        screen.emit(file=out, **vars(self), warnings=screen.warned, exit_code=code)


def write(results: Results, scale: Scale, identifier: str | None, out: str, force: bool) -> Written:
    """Every row as a picture; those without numbers have none."""
    names, written = file_names(results.beside, identifier, results.n), Written()
    with closing(results.blocks):
        if Path(out).suffix.lower() == ENDING and not out.endswith(("/", os.sep)):
            if results.n != 1:
                raise Failure(f"{results.n} rows are as many pictures; name a folder for them: -o FOLDER/", USAGE)
            with writing(out) as new:
                _write(results, scale, [new], written)
        else:
            with staged(out, force) as stage:
                _write(results, scale, [stage / name for name in names], written)
    return written


def _write(results: Results, scale: Scale, files: list[Path], written: Written) -> None:
    at = 0
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
    taken: set[str] = set()
    return [_free(_safe(str(value)) or f"row {i + 1}", taken) for i, value in enumerate(beside[key].tolist())]


def _safe(name: str) -> str:
    """A name as a path that leads nowhere but into the folder, without the ending of a picture."""
    parts = [FORBIDDEN.sub("_", part).strip(". ")[:LONGEST] for part in SEPARATORS.split(name)]
    path = "/".join(part for part in parts if part)
    return path[: -len(Path(path).suffix)] if Path(path).suffix.lower() in ENDINGS else path


def _free(name: str, taken: set[str]) -> str:
    """The name of a file that no other row has, in capital or small letters."""
    found, again = name, 2
    while found.casefold() in taken:
        found, again = f"{name}_{again}", again + 1
    taken.add(found.casefold())
    return found + ENDING
