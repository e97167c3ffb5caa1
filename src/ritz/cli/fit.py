"""`ritz fit`: the first word comes before anything heavy is imported."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ritz.cli.errors import USAGE, Failure, in_options
from ritz.cli.paths import PIPE, REPORT, Source, all_located, folder_for, same
from ritz.cli.screen import Screen
from ritz.errors import DataError, MissingPackageError, ParameterError
from ritz.runtime.memory import format_bytes
from ritz.runtime.wording import plural, visible

# What says how a file is read, rather than how it is fitted.
READING = (
    "label", "labels", "columns", "drop", "keep", "transpose", "na", "missing", "diff", "drop_constant", "header",
    "image", "size", "grey",
)  # fmt: skip


def fit_files(
    screen: Screen,
    files: tuple[str, ...],
    out: str | None,
    opens: bool,
    force: bool,
    checkpoint: str | None,
    dask: str | None,
    device: str | None,
    **given: Any,
) -> int:
    """Read a file or many, fit them, write a folder; the exit code."""
    folder = folder_for(out, files, force)
    if checkpoint is not None and any(file != PIPE and same(Path(checkpoint), Path(file)) for file in files):
        raise Failure(f"--checkpoint {checkpoint!r} is a file that is read; name another one", USAGE)
    if device is not None:
        _check_device(device)
    wanted = {name: given.pop(name) for name in READING}
    check_labels(wanted)
    _check_goes_with(dask, device, checkpoint, wanted)
    with all_located(files) as source:
        if files != (PIPE,):
            screen.tell(f"reading {visible(source.title)} ({format_bytes(source.bytes)}) …")
        from ritz.cli.analysis import analyse
        from ritz.cli.reading import Reading
        from ritz.estimators.pca import PCA

        reading = Reading(**wanted)
        with opened_input(screen, source, reading, dask) as found:
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


def check_labels(given: Mapping[str, Any]) -> None:
    """Labels come from one place."""
    if given["label"] is not None and given["labels"] is not None:
        raise Failure("--label and --labels both name the labels; leave one of them out", USAGE)


def _check_goes_with(dask: str | None, device: str | None, checkpoint: str | None, wanted: Mapping[str, Any]) -> None:
    """Refuse what a cluster does not do."""
    if dask is not None and device is not None:
        raise Failure("--device does not go with --dask; leave one of them out", USAGE)
    if dask is not None and checkpoint is not None:
        raise Failure("--checkpoint does not go with --dask; workers that are lost are replaced without it", USAGE)
    if dask is not None and (wanted["na"] or wanted["diff"]):
        option = "--na" if wanted["na"] else "--diff"
        raise Failure(f"{option} does not go with --dask; write corrected files, or fit without --dask", USAGE)
    if dask is not None and (missing := wanted["missing"]) != "error":
        raise Failure(f"--missing {missing} does not go with --dask; correct the files, or fit without --dask", USAGE)


@contextmanager
def opened_input(screen: Screen, source: Source, reading: Any, dask: str | None) -> Iterator[Any]:
    """What is decomposed, read here or by the workers of a cluster, which are there as long as it is needed."""
    from ritz.cli.inputs import chosen
    from ritz.rows.formats.read import opened

    if dask is None:
        with screen.hearing():
            raw = opened(source.opened, reading.transpose, reading.header, size=reading.size, grey=reading.grey)
            found = chosen(raw, source, reading)
        yield found
        return
    with _workers(screen, dask) as cluster:
        from ritz.rows.dask.files import DaskFiles, opened_by

        with screen.hearing():
            for_one = {"transpose": reading.transpose or None, "size": reading.size, "grey": reading.grey}
            found = chosen(opened_by(cluster, source.opened, reading.header, for_one), source, reading)
            found = replace(found, rows=DaskFiles(cast(Any, found.rows), cluster))
        yield found


@contextmanager
def _workers(screen: Screen, dask: str) -> Iterator[Any]:
    """The workers of a cluster, of which one line is said."""
    from ritz.rows.dask.connecting import LOCAL, connected

    screen.tell("starting workers on this machine …" if dask == LOCAL else f"connecting to {visible(dask)} …")
    try:
        with connected(dask) as cluster:
            count, threads = cluster.workers.count, cluster.workers.total_threads
            screen.tell(f"{count} {plural(count, 'worker')} with {threads} {plural(threads, 'thread')} in all")
            yield cluster
    except MissingPackageError as error:
        raise Failure(str(error), USAGE) from error
    except ParameterError as error:
        if error.name != "dask":
            raise
        raise Failure(in_options(error), USAGE) from error
    except DataError as error:
        if error.code != "missing":
            raise
        advice = "correct the files, or fit without --dask and with --missing drop or --missing mean"
        raise DataError(error.problem, advice, plain=error.plain, file=error.file) from error


def show(page: Path) -> None:
    """The page in a browser."""
    webbrowser.open(page.resolve().as_uri())
