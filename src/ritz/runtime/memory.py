"""How much memory there is, how much of it a file may take, and sizes in words."""

from __future__ import annotations

import os
import re
from numbers import Real
from typing import Any

from ritz.errors import DataError, ParameterError

SHARE = 0.8  # of the memory, for what is read from one file at once: the rest is for the work on it


def parse_bytes(limit: Any) -> int:
    """Bytes from 2e9, "512MB" or "2 GiB"; None stands for the physical memory of this machine.

    Examples
    --------
    >>> parse_bytes("512MB")
    512000000
    """
    if limit is None:
        return physical()
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*", limit.lower())
        if not match:
            raise ParameterError("memory_limit", limit, "is not a size; write for instance '512MB' or '2GiB'")
        number, prefix, binary = match.groups()
        limit = float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " ")
    count = float(limit) if isinstance(limit, Real) and not isinstance(limit, bool) else 0.0
    if not count > 0:
        raise ParameterError("memory_limit", limit, "must be a positive number of bytes")
    return int(count)


def format_bytes(count: float) -> str:
    """Bytes for people."""
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


def physical() -> int:
    """Bytes of memory in this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every platform tells
        return 8 << 30


def allowed() -> int:
    """Bytes that may be read from one file at once."""
    return int(SHARE * physical())


def check_fits(needed: int, what: str) -> None:
    """Refuse what cannot be held, before any of it is allocated: a small file may claim or unpack to anything."""
    if needed > allowed():
        raise DataError(
            f"{what} would take {format_bytes(needed)} of memory, {format_bytes(allowed())} are allowed here; "
            "use a machine with more memory, or a format that is read part by part (.npy, .parquet, .h5, .zarr)"
        )
