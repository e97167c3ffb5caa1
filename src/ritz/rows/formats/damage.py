"""What libraries say of bytes that make no sense, as errors in the data that name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ritz.errors import DataError
from ritz.rows.file_changes import Files


@contextmanager
def damage(
    what: str, kinds: type[Exception] | tuple[type[Exception], ...] = Exception, file: object = "", advice: str = ""
) -> Iterator[None]:
    """Whatever a library says of bytes that make no sense, in errors of many kinds or of these, as one in the data.

    A `file` is named where nobody else would, because it was opened before.
    """
    try:
        yield
    except DataError as error:
        if error.file or not file:
            raise
        raise error.in_file(file) from error
    except kinds as error:
        raise DataError(f"{what}: {error}", advice, file=file) from error


@contextmanager
def naming(path: Path, files: Files) -> Iterator[None]:
    """Errors in the data name the file, also those that only know its contents; one that changes is not damaged."""
    try:
        yield
    except (DataError, OSError) as error:
        files.check(error)
        if isinstance(error, OSError) or error.file:
            raise
        raise error.in_file(path) from error
