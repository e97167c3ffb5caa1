"""Columns of which a few rows have most of the variance, or a single one: that decides a component."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ritz.inspection.codes import code_cells
from ritz.inspection.far_cells import Cell, cell_of, cells_beyond, told
from ritz.inspection.finding import NOTE, WARNING, Finding, called
from ritz.inspection.sample import Sample
from ritz.linalg.dense import Array

HEAVY, TOP, ENOUGH = 0.5, 0.01, 200  # share of the variance in so small a share of the rows that makes tails heavy
FEWEST, DIFFERENT = 8, 8  # values, and different ones, of a column in which a single cell may weigh too much
MANY = 50  # values of which half a variance is too much for one
ALONE, OF_FEW = 0.9, 0.99  # share of the variance of a cell beside which nothing else matters; the same of few values
MARGIN = 1e-6  # for rounding
LISTED = 8


def heavy_tails(sample: Sample) -> Iterator[Finding]:
    """Columns of which single cells, and then of which a few rows, have most of the variance."""
    if sample.alike or sample.natural_zeros:
        return
    cells = sample.once("heavy", heavy_cells)
    if cells:
        yield _of_cells(sample, cells)
    if sample.m >= ENOUGH:
        yield from _of_tails(sample, [cell.j for cell in cells])


def heavy_cells(sample: Sample) -> list[Cell]:
    """The cells that have most of the variance of their column, but for those that are told of as mistakes."""
    if sample.alike or sample.natural_zeros or sample.m < FEWEST:
        return []
    aside = {j for j, _ in code_cells(sample)} | {cell.j for cell in sample.once("far", cells_beyond)}
    worth = (sample.counts >= FEWEST) & (sample.distinct >= DIFFERENT)
    worth[list(aside)] = False
    low, high = _limits(sample)
    if sample.known is None:
        with np.errstate(invalid="ignore"):
            rows, columns = np.nonzero(worth & ((sample.scaled < low) | (sample.scaled > high)))
        places = list(zip(sample.at[rows].tolist(), columns.tolist(), sample.values[rows, columns], strict=True))
    else:
        low, high = np.where(worth, low, -np.inf), np.where(worth, high, np.inf)
        places = sample.known.beyond(low * sample.unit, high * sample.unit)
    found = [cell_of(sample, row, j, float(value)) for row, j, value in places]
    found = [cell for cell in found if cell.share > (HEAVY if sample.counts[cell.j] >= MANY else OF_FEW)]
    return sorted(found, key=lambda cell: -cell.share)


def _limits(sample: Sample) -> tuple[Array, Array]:  # (d,), (d,)
    """What a cell with more of the variance than all others is beyond: its square is more than the sum of theirs."""
    away = np.where(sample.finite, sample.scaled - sample.median, 0.0)
    away[np.argmax(np.abs(away), axis=0), np.arange(sample.d)] = 0.0
    others = np.maximum(sample.counts - 1, 1)
    squares = np.square(away).sum(axis=0) - np.square(away.sum(axis=0)) / others
    times = 1.0 if sample.known is None else sample.n / sample.m
    least = (1 - MARGIN) * np.sqrt(times * np.maximum(squares, 0.0))
    return sample.median - least, sample.median + least


def _of_cells(sample: Sample, cells: list[Cell]) -> Finding:
    one = len(cells) == 1
    where = "its column, and may decide a component" if one else "their columns, and may decide components"
    remedy = _remedy(sample, np.array([cell.j for cell in cells]))
    listed = "; ".join(told(sample, cell) for cell in cells[:LISTED])
    rest = f"; and {len(cells) - LISTED} more" if len(cells) > LISTED else ""
    return Finding(
        "heavy_cell",
        WARNING if cells[0].share >= ALONE else NOTE,
        f"{len(cells)} {'cell has' if one else 'cells have'} more than half of the variance of {where}: {listed}{rest}"
        + ("" if sample.known is not None else sample.where),
        sample.called(dict.fromkeys(cell.j for cell in cells)),
        tuple(dict.fromkeys(cell.row for cell in cells)),
        {
            "cells": [[cell.row, sample.names[cell.j], cell.value] for cell in cells],
            "shares": [cell.share for cell in cells],
        },
        f"look at {'this row' if one else 'these rows'}, since components may show nothing else; where right, {remedy}",
    )


def _remedy(sample: Sample, columns: NDArray[np.intp]) -> str:
    """What lets all rows count."""
    positive = bool((sample.rank(np.zeros(sample.d))[columns] > 0).all())
    return "take logarithms: np.log(X)" if positive else "take ranks, or cut far values off, to let all rows count"


def _of_tails(sample: Sample, aside: list[int]) -> Iterator[Finding]:
    """Columns of which a few rows have most of the variance."""
    squares = np.sort(np.where(sample.finite, np.square(sample.scaled - sample.mean), 0.0), axis=0)
    top = max(3, int(TOP * sample.m))
    total = squares.sum(axis=0)
    share = np.divide(squares[-top:].sum(axis=0), total, out=np.zeros(sample.d), where=total > 0)
    told_of = [j for j, _ in code_cells(sample)] + [cell.j for cell in sample.once("far", cells_beyond)] + aside
    columns = np.flatnonzero((share > HEAVY) & (sample.distinct > sample.counts // 4))
    columns = np.setdiff1d(columns, told_of)
    if not len(columns):
        return
    names = sample.called(columns)
    yield Finding(
        "heavy_tails",
        NOTE,
        f"{TOP:.0%} of the rows have {share[columns].min():.0%} or more of the variance of {called(names)}"
        f"{sample.where}",
        names,
        evidence={"shares": share[columns].tolist()},
        python=_remedy(sample, columns),
    )
