"""How much memory there is, how much of it a file may take, and sizes in words."""

from __future__ import annotations

import os

from ritz.errors import DataError
from ritz.runtime.wording import plural

try:
    PHYSICAL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")  # bytes of memory in this machine
except (AttributeError, ValueError, OSError):  # not every platform tells
    PHYSICAL = 8 << 30
SHARE = 0.8  # of the memory, for what is read from one file at once: the rest is for the work on it


def format_bytes(count: float) -> str:
    """Bytes for people.

    Examples
    --------
    >>> format_bytes(1), format_bytes(15_500), format_bytes(2e9)
    ('1 byte', '15.5 kB', '2.0 GB')
    """
    if count < 100:
        return f"{int(count)} {plural(int(count), 'byte')}"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 100 or unit == "GB":
            break
    return f"{count:.1f} {unit}"


def too_small(limit: int, why: str, advice: str = "raise it", code: str = "memory", purpose: str = "") -> DataError:
    """What to say where the memory that is allowed is not enough, for a `purpose` in words of Python."""
    allowed = format_bytes(limit)
    problem = f"memory_limit of {allowed} is too small{purpose}: {why}"
    return DataError(problem, advice, code, plain=f"{allowed} of memory is not enough: {why}")


def allowed() -> int:
    """Bytes that may be read from one file at once."""
    return int(SHARE * PHYSICAL)


def check_fits(needed: int, what: str) -> None:
    """Refuse what cannot be held, before any of it is allocated: a small file may claim or unpack to anything."""
    if needed > allowed():
        raise DataError(
            f"{what} would take {format_bytes(needed)} of memory, {format_bytes(allowed())} are allowed here; "
            "use a machine with more memory, or a format that is read part by part (.npy, .parquet, .h5, .zarr)"
        )
