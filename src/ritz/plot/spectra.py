"""Variances, and how many of them are enough: `scree`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.plot.colours import Look, look
from ritz.plot.style import FEW_MARKS, axes, framed, headline, legend, lettered, outlined, pyplot, whole_numbers
from ritz.plot.subject import Subject, subject
from ritz.views.findings import Findings
from ritz.views.format import asked_share, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = 8  # components whose names and shares stand below their bars
LARGE = 0.3  # share of the first component from which bars and their sums are drawn on one scale


def scree(fitted: Any, *, ax: Axes | None = None) -> Axes:
    """The variance λ_i of every component as a bar, with its share λ_i/Σλ and the cumulative share as a line.

    What decided the number of components is drawn with them: the share that was asked for, or what noise alone reaches
    after ``n_components="auto"``.

    Parameters
    ----------
    fitted : data, of which all components are computed (100 where there are over 1,000), or a fitted PCA or KernelPCA
    ax : where to draw; a new figure otherwise

    Returns
    -------
    The Axes of the bars. The line has an axis of its own on the right.

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> ax = ritz.plot.scree(load_iris().data)
    >>> ax.get_title()
    'PC1 holds 92.5% of the variance, 2 components hold 97.8%'
    """
    pyplot()
    about = subject(fitted)
    found = about.found
    ax = axes(ax)
    colours = framed(ax, "y")
    values, kept, unit = _heights(found)
    wide, places = 0.72 if len(values) <= FEW_MARKS else 1.0, np.arange(1, len(values) + 1)
    marks = {"variance": ax.bar(places[:kept], values[:kept], wide, color=colours.accent)}
    if kept < len(values):
        marks["variance, left out"] = ax.bar(places[kept:], values[kept:], wide, color=colours.faint)
    null = _noise(found, len(values))
    if len(null):
        steps = np.arange(len(null) + 2), np.r_[null[0], null, null[-1]]
        marks["what noise alone reaches"] = ax.step(*steps, color=colours.bad, where="mid", ls=(0, (4, 2)))[0]
    sums = _sums(ax, found, values, colours)
    if found.asked is not None:
        marks[f"{asked_share(found.asked)} asked for"] = sums.axhline(
            found.asked, color=colours.second, lw=1.2, ls=(0, (2, 2))
        )
    ax.set_ylabel(unit)
    _numbered(ax, found, len(values))
    _scaled(ax, values, null, found)
    if len(marks) > 1:
        _explained(ax, sums, marks)
    headline(ax, _scree_title(about, found))
    lettered(sums)
    return ax


def _heights(found: Findings) -> tuple[Array, int, str]:
    """What bars show, how many components are kept, and the unit: shares where variances leave the range of float64."""
    values = found.values if found.choice is None else np.asarray(found.choice.values, dtype=float)
    word = "eigenvalue of the centred kernel matrix" if found.kernel else "variance"
    if found.out_of_range or not np.isfinite(values).all():
        return found.shares, found.k, f"share of the {word}"
    return values, min(found.k, len(values)), word


def _noise(found: Findings, most: int) -> Array:
    """What noise reaches at every place, up to where it is known."""
    if found.choice is None or found.out_of_range:
        return np.empty(0)
    null = np.asarray(found.choice.null, dtype=float)[:most]
    return null[: int(np.argmin(np.append(np.isfinite(null), False)))]


def _sums(ax: Axes, found: Findings, values: Array, colours: Look) -> Axes:
    """The line of the cumulative share, of all that is drawn, on an axis of its own."""
    from matplotlib.ticker import PercentFormatter

    shares = found.shares if len(values) == found.k else values * (found.shares[0] / (values[0] or 1.0))
    together = np.minimum(np.cumsum(shares), 1.0)
    twin, colour = ax.twinx(), look(ax, outside=True).second
    dots = {"marker": "o" if len(together) <= FEW_MARKS else "", "ms": 4}
    twin.plot(
        np.arange(1, len(together) + 1), together, color=colours.second, lw=1.5, path_effects=outlined(colours), **dots
    )
    twin.set(ylim=(0, 1.03))
    twin.grid(False)
    twin.spines[["top", "left", "bottom"]].set_visible(False)
    twin.spines["right"].set_visible(True)
    twin.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    twin.set_ylabel("cumulative share", color=colour)
    twin.tick_params(axis="y", colors=colour)
    return twin


def _scaled(ax: Axes, values: Array, null: Array, found: Findings) -> None:
    """One scale for bars and sums where the first bar is large enough to be seen so."""
    top, share = float(max(values.max(), null.max(initial=0.0))), float(found.shares[0])
    if share >= LARGE and found.choice is None:
        top = float(values[0]) / share
    ax.set_ylim(0, 1.03 * top or 1.0)


def _explained(ax: Axes, sums: Axes, marks: dict[str, Any]) -> None:
    """What marks mean, above them all: where variances fall slowly, no other space is left."""
    seen = ax.get_window_extent()
    for columns in (len(marks), 1):
        made = legend(sums, [*marks.values()], [*marks], loc="upper center", ncols=columns, fontsize="small")
        taken = made.get_window_extent()
        if taken.width <= seen.width:
            break
    left = max(1 - taken.height / seen.height, 0.5)
    for one in (ax, sums):
        top = one.get_ylim()[1]
        one.set_yticks([tick for tick in one.get_yticks() if tick <= top])  # no line of the grid behind the names
        one.set_ylim(0, top / left)


def _numbered(ax: Axes, found: Findings, count: int) -> None:
    """Names and shares below a few bars, numbers below many."""
    margin = max(0.0, (4 - count) / 2)  # so that a single bar does not fill the axes
    ax.set_xlim(0.4 - margin, count + 0.6 + margin)
    if count > NAMED:
        whole_numbers(ax)
        ax.set_xlabel("component")
        return
    shares = [f"\n{percent(float(share))}" for share in found.shares[:count]] + [""] * (count - found.k)
    ax.set_xticks(range(1, count + 1), [f"PC{i + 1}{share}" for i, share in enumerate(shares)])


def _scree_title(about: Subject, found: Findings) -> str:
    together, what = np.cumsum(found.shares), "variance" + " in feature space" * (found.kernel is not None)
    if not found.shares.any():
        return "All rows are alike: there is no variance"
    if not about.fresh:
        first = "PC1 keeps" if found.k == 1 else f"{found.k} components keep"
        return f"{first} {percent(float(together[-1]), found.asked)} of the {what}"
    enough, first = about.enough, f"PC1 holds {percent(float(together[0]))} of the {what}"
    return first if enough == 1 else f"{first}, {enough} components hold {percent(float(together[enough - 1]))}"
