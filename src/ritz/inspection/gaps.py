"""Cells without a number, and columns that hardly say anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ritz.inspection.finding import ERROR, NOTE, WARNING, Finding, called, in_option
from ritz.inspection.sample import Sample

HARDLY_ANY = 0.5  # share of missing cells from which on a column is worth nothing
TOGETHER = 3  # rows with gaps in the same columns that make a pattern
NEARLY_ALL, ENOUGH = 0.99, 200  # share of a single value, and rows, from which on a column is nearly constant
SHOWN = 5


def missing(sample: Sample) -> Iterator[Finding]:
    """Missing cells, in which columns most of them are, and whether they come together."""
    gaps = np.isnan(sample.values)
    counts = gaps.sum(axis=0) if sample.known is None else sample.known.missing
    if not counts.any():
        return
    rows, total = int(gaps.any(axis=1).sum()), int(counts.sum())
    worst = [int(j) for j in np.argsort(-counts, kind="stable")[:SHOWN] if counts[j]]
    parts = ", ".join(f"{called(sample.called([j]))} ({int(counts[j]):,})" for j in worst)
    exact = sample.known is not None
    where = "" if exact else sample.where
    python, option = _treated(sample, np.flatnonzero(counts == (sample.n if exact else sample.m)))
    together = _together(sample, gaps)
    yield Finding(
        "missing",
        ERROR,
        f"{total:,} {'cell is' if total == 1 else 'cells are'} missing{where}, in {sample.of_rows(rows)}, "
        f"most in {parts}{together}",
        sample.called(np.flatnonzero(counts)),
        tuple(map(int, sample.at[np.flatnonzero(gaps.any(axis=1))[:SHOWN]])),
        {"counts": counts[counts > 0].tolist(), "rows": rows, "exact": sample.whole or exact},
        python,
        option,
    )


def _treated(sample: Sample, empty: NDArray[np.intp]) -> tuple[str, str]:
    """What would treat gaps, in Python and as options: columns without any value are left out in any case."""
    remedy, names = sample.profile.remedy, sample.called(empty)
    remedy = "drop" if remedy == "error" and not names else remedy
    python = [f"leave {called(names)} out"] * bool(names) + [f"ritz.read(…, missing={remedy!r})"] * (remedy != "error")
    option = [in_option("--drop", names)] * bool(names) + [f"--missing {remedy}"] * (remedy != "error")
    return "; ".join(python), " ".join(option)


def _together(sample: Sample, gaps: NDArray[np.bool_]) -> str:
    """The columns that are most often missing in the same rows, in words; nothing where gaps stand alone."""
    several = np.flatnonzero(gaps.sum(axis=1) > 1)
    if not len(several):
        return ""
    pattern, count = Counter(np.packbits(gaps[i]).tobytes() for i in several).most_common(1)[0]
    columns = np.flatnonzero(np.unpackbits(np.frombuffer(pattern, np.uint8), count=sample.d))
    return f"; together in {called(sample.called(columns), 3)} {count:,} times" if count >= TOGETHER else ""


def infinite(sample: Sample) -> Iterator[Finding]:
    """Infinite cells, which no fit takes."""
    endless = np.isinf(sample.values)
    counts = sample.known.infinite if sample.known is not None else endless.sum(axis=0)
    if not counts.any():
        return
    columns = np.flatnonzero(counts)
    names, total = sample.called(columns), int(counts.sum())
    where = "" if sample.known is not None else sample.where
    yield Finding(
        "infinite",
        ERROR,
        f"{total:,} {'cell is' if total == 1 else 'cells are'} infinite{where}, in {called(names)}",
        names,
        tuple(map(int, sample.at[np.flatnonzero(endless.any(axis=1))[:SHOWN]])),
        {"counts": counts[columns].tolist(), "exact": sample.whole or sample.known is not None},
        "ritz.read(…, na=[float('inf'), float('-inf')], missing='mean') takes them for missing",
        "--na inf --na -inf --missing mean",
    )


def nothing(sample: Sample) -> Iterator[Finding]:
    """Columns of which most cells are missing, and columns that never or hardly ever vary."""
    if sample.m < 2:
        return
    gaps = np.isnan(sample.values).mean(axis=0)
    hardly = np.flatnonzero(gaps > HARDLY_ANY)
    if len(hardly):
        names = sample.called(hardly)
        yield Finding(
            "nearly_empty",
            WARNING,
            f"{called(names)} {'lacks' if len(names) == 1 else 'lack'} a value in more than half of the rows"
            f"{sample.where}",
            names,
            evidence={"shares": gaps[hardly].tolist()},
            python=f"leave {called(names)} out",
            option=in_option("--drop", names),
        )
    constant = np.flatnonzero((sample.distinct == 1) & (gaps <= HARDLY_ANY) & ~np.isinf(sample.values).any(axis=0))
    if len(constant) and not sample.pictures and not sample.sparse:
        names = sample.called(constant)
        yield Finding(
            "constant",
            NOTE,
            f"{called(names)} {'does' if len(names) == 1 else 'do'} not vary{sample.where}",
            names,
            evidence={"count": len(names)},
            python="with PCA(scale=True), leave such columns out",
            option="--drop-constant",
        )
    yield from _nearly_constant(sample)


def _nearly_constant(sample: Sample) -> Iterator[Finding]:
    if sample.m < ENOUGH or sample.natural_zeros or sample.alike:
        return
    middle = sample.rank(sample.counts // 2)
    same = np.count_nonzero(sample.scaled == middle, axis=0)
    columns = np.flatnonzero((same >= NEARLY_ALL * sample.counts) & sample.varies)
    if not len(columns):
        return
    names = sample.called(columns)
    least = int((sample.counts - same)[columns].max())
    yield Finding(
        "nearly_constant",
        NOTE,
        f"{called(names)} {'has' if len(names) == 1 else 'have'} one value in nearly all rows, another one in at most "
        f"{sample.of_rows(least)}: scaling makes these rows far outliers",
        names,
        tuple(map(int, sample.at[np.flatnonzero(sample.scaled[:, columns[0]] != middle[columns[0]])[:SHOWN]])),
        {"others": (sample.counts - same)[columns].tolist()},
        f"leave {called(names)} out, or do without scale=True",
        in_option("--drop", names),
    )
