"""Folders of pictures: PNG, JPEG, PGM and its relatives, TIFF, BMP. Every picture is a row, decoded when needed."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.rows.base import Block, Rows
from ritz.rows.formats.decoding import Head, decoded, heads
from ritz.rows.formats.streamed import Streamed
from ritz.rows.pictures import COLOURS, about, as_option, in_words
from ritz.rows.transpose import first
from ritz.runtime.rules import FLAG, integer
from ritz.runtime.wording import plural

ENDINGS = (".png", ".jpg", ".jpeg", ".jpe", ".pgm", ".ppm", ".pbm", ".pnm", ".tif", ".tiff", ".bmp")
JUNK = ("thumbs.db", "desktop.ini", "__macosx")  # what systems leave between pictures, in small letters
DIGITS = re.compile(r"([0-9]+)")
PART_BYTES, PARTS = 1 << 22, 16  # of pixels that a thread decodes at a time; in more parts than that if there are few
NAME, FOLDER = "file", "folder"  # what the columns with the names of the rows and with their labels are called
WORKING = 12  # bytes of memory for a pixel while it is decoded, made upright, converted and resized
NAMED = 3  # kinds of other files that are named
NO_LABEL = "."  # the folder itself


class Images(Streamed):
    """The pictures of a folder and of those in it, in the natural order of their names.

    They have one size, or are resized to the one that is asked for. All are grey, or all are in colour. `expected` is
    the size of the pictures of a model, which those of different sizes should be resized to.
    """

    def __init__(
        self,
        path: Path,
        size: tuple[int, int] | None = None,
        grey: bool | None = None,
        transpose: bool = False,
        expected: tuple[int, ...] | None = None,
    ) -> None:
        _check_asked(size, grey, transpose)
        everything = list(files_in(path))
        self._files, self._path = _sorted(path, everything), path
        found = heads(self._files)
        self._colour = not grey if grey is not None else any(head.colour for head in found)
        deep = self._check_depth(found)
        sides = size or self._common_size(found, expected)
        self._resized, self.resizable = size is not None, True
        self.image_shape = (*map(int, sides), COLOURS) if self._colour else (int(sides[0]), int(sides[1]))
        self.shape = (len(found), int(np.prod(self.image_shape)))
        self.dtype, self.white = (np.dtype(np.uint16), 65535.0) if deep else (np.dtype(np.uint8), 255.0)
        self._largest = max(head.height * head.width for head in found)
        rows = max(1, min(PART_BYTES // (self.shape[1] * self.dtype.itemsize), -(-len(found) // PARTS)))
        self.edges = np.append(np.arange(0, len(found), rows), len(found)).astype(np.int64)
        self._put_names()
        self.about = self._described(found, size, [file for file in everything if not _is_picture(file)])

    def _put_names(self) -> None:
        names = [file.relative_to(self._path) for file in self._files]
        folders = [None if str(name.parent) == NO_LABEL else name.parent.as_posix() for name in names]
        labels = [(FOLDER, partial(first, folders))] if len(set(folders)) > 1 else []
        self.put_beside(labels, (NAME, partial(first, [name.as_posix() for name in names])))
        self.labelled_by = FOLDER if labels else None

    def stream(self, part: int, step: int) -> Iterator[Block]:
        return self._blocks(int(self.edges[part]), int(self.edges[part + 1]), step)

    def read(self, start: int, stop: int) -> Block:
        return self._decoded(range(start, stop))

    def take(self, indices: NDArray[np.integer]) -> Block:
        return self._decoded(indices)

    def sample(self, size: int) -> Block:
        return Rows.sample(self, size)

    def spread(self, size: int) -> Block:
        return Rows.sample(self, size)

    def glimpse(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Block]:
        return Rows.glimpse(self, size, rng)

    @property
    def reading(self) -> int:
        """A picture as it is decoded."""
        return WORKING * self._largest

    def _blocks(self, start: int, stop: int, step: int) -> Iterator[Block]:
        """Only these, without a look at all files after each: whoever reads a whole pass looks at its end."""
        for i in range(start, stop, step):
            yield self._decoded(range(i, min(i + step, stop)))

    def _decoded(self, indices: Iterable[Any]) -> Block:
        places = [int(i) for i in indices]
        out = np.empty((len(places), self.shape[1]), self.dtype)
        for row, i in zip(out, places, strict=True):
            row[:] = decoded(self._files[i], self.image_shape or (), self._resized, self.dtype).ravel()
        return out

    def _name(self, i: int) -> str:
        return repr(self._files[i].relative_to(self._path).as_posix())

    def _check_depth(self, found: Sequence[Head]) -> bool:
        """Whether numbers of 16 bits are needed: if all are of so many."""
        deep = [head.deep for head in found]
        if any(deep) and (self._colour or not all(deep)):
            one, other = deep.index(True), (deep.index(False) if False in deep else 0)
            beside = f"{self._name(other)} has 8" if False in deep else "in colour it would have 8"
            raise DataError(
                f"{self._name(one)} has 16 bits per pixel, but {beside}: their numbers cannot be compared",
                "convert them to one kind first",
            )
        return any(deep)

    def _common_size(self, found: Sequence[Head], expected: tuple[int, ...] | None) -> tuple[int, int]:
        counts = Counter((head.height, head.width) for head in found)
        (usual, count), *others = counts.most_common()
        if others:
            sizes = [(head.height, head.width) for head in found]
            one, other = sizes.index(usual), next(i for i, size in enumerate(sizes) if size != usual)
            wanted = usual if expected is None else expected
            raise DataError(
                f"pictures differ in size (height×width): {count} of {len(found)} have {in_words(usual)} pixels, as "
                f"{self._name(one)}, but {self._name(other)} has {in_words(sizes[other])}",
                f"size={wanted} resizes all of them",
                "picture_size",
                size=as_option(wanted),
            )
        return usual

    def _described(self, found: Sequence[Head], size: tuple[int, int] | None, others: Sequence[Path]) -> str:
        """What people should know of what became of the pictures."""
        n, shape = len(found), self.image_shape or ()
        colours = sum(head.colour for head in found)
        resized = 0 if size is None else sum((head.height, head.width) != size for head in found)
        counts = {
            f"resized to {in_words(shape[:2])}": resized,
            "in colour, and so all are read in colour": colours if self._colour and colours < n else 0,
            "in colour, read as grey": 0 if self._colour else colours,
            "with transparent pixels, which are laid on white": sum(head.alpha for head in found),
            "with 16 bits per colour, of which 8 are read": sum(head.rounded for head in found),
        }
        said = [f"{count} of them {what}" for what, count in counts.items() if count]
        if others:
            ends = ", ".join(sorted({file.suffix.lower() or file.name for file in others})[:NAMED])
            said.append(f"{len(others)} other {plural(len(others), 'file')} ignored ({ends})")
        return "; ".join([about(n, shape), *said])


def listed(path: Path) -> list[Path]:
    """The pictures in a folder and in those in it, by their names; what systems hide between them is none."""
    return _sorted(path, files_in(path))


def _sorted(path: Path, files: Iterable[Path]) -> list[Path]:
    return sorted(filter(_is_picture, files), key=lambda file: [natural(part) for part in file.relative_to(path).parts])


def _is_picture(file: Path) -> bool:
    """By its name."""
    return file.suffix.lower() in ENDINGS


def natural(name: str) -> tuple[Any, ...]:
    """A key that puts 2.png before 10.png.

    Examples
    --------
    >>> sorted(["b10", "b9", "A2"], key=natural)
    ['A2', 'b9', 'b10']
    """
    parts = enumerate(DIGITS.split(name))
    return tuple(int(part) if i % 2 else part.casefold() for i, part in parts), name


def files_in(folder: Path, above: frozenset[str] = frozenset()) -> Iterator[Path]:
    """All files but hidden ones and results of `ritz fit`; links to folders are followed, but not in circles."""
    above |= {os.path.realpath(folder)}
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith(".") or entry.name.lower() in JUNK:
                continue
            if not entry.is_dir():
                yield Path(entry.path)
            elif not entry.name.endswith("-ritz") and os.path.realpath(entry.path) not in above:
                yield from files_in(Path(entry.path), above)


def _check_asked(size: Any, grey: Any, transpose: bool) -> None:
    sides = tuple(size) if isinstance(size, tuple | list) else ()
    if size is not None and (len(sides) != 2 or not all(map(integer(1).holds, sides))):
        raise ParameterError("size", size, "must be (height, width), two numbers of pixels, or None")
    if grey is not None:
        FLAG.check("grey", grey)
    if transpose:
        raise DataError("every picture of a folder is a row already, so its columns cannot be turned into rows")
