"""`ritz fit`: the first word comes before anything heavy is imported."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

from ritz.cli.errors import USAGE, Failure, in_options
from ritz.cli.paths import PIPE, REPORT, bytes_of, folder_for, located, same, title
from ritz.cli.screen import Screen
from ritz.errors import MissingPackageError, ParameterError
from ritz.runtime.memory import format_bytes
from ritz.runtime.wording import visible


def fit_file(
    screen: Screen,
    file: str,
    out: str | None,
    opens: bool,
    force: bool,
    checkpoint: str | None,
    device: str | None,
    **given: Any,
) -> int:
    """Read a file, fit it, write a folder; the exit code."""
    folder = folder_for(out, file, force)
    if device is not None:
        _check_device(device)
    if checkpoint is not None and file != PIPE and same(Path(checkpoint), Path(file)):
        raise Failure(f"--checkpoint {checkpoint!r} is the file that is read; name another one", USAGE)
    if file != PIPE and Path(file).exists():
        screen.tell(f"reading {visible(title(file, Path(file)))} ({format_bytes(bytes_of(Path(file)))}) …")
    from ritz.cli.analysis import analyse
    from ritz.cli.inputs import chosen
    from ritz.cli.reading import Reading
    from ritz.estimators.pca import PCA
    from ritz.rows.formats.read import opened

    names = ("label", "drop", "keep", "transpose", "missing", "drop_constant", "header", "image", "size", "grey")
    reading = Reading(**{name: given.pop(name) for name in names})
    with located(file) as path:
        with screen.hearing():
            raw = opened(path, reading.transpose, reading.header, size=reading.size, grey=reading.grey)
            found = chosen(raw, path, file, reading)
        code = analyse(found, reading, PCA(**given), folder, screen, force, checkpoint, device)
    if opens:
        show(folder / REPORT)
    return code


def _check_device(device: str) -> None:
    """Before anything is read."""
    from ritz.rows.memory.upload import checked

    try:
        checked(device)
    except (ParameterError, MissingPackageError) as error:
        raise Failure(in_options(error), USAGE) from None


def show(page: Path) -> None:
    """The page in a browser."""
    webbrowser.open(page.resolve().as_uri())
