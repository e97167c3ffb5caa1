"""Eigenvalues and what lies between them: `spectrum_gap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.errors import ParameterError
from ritz.linalg.dense import Array
from ritz.plot.accuracy import BARS, certified, floor_of, marked
from ritz.plot.colours import Look
from ritz.plot.style import axes, framed, headline, pyplot, whole_numbers
from ritz.runtime.rules import is_integer
from ritz.runtime.wording import components
from ritz.spectrum.certificate import Certificate
from ritz.views.format import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 30.0  # times the smallest value that the largest is, up to which a scale is linear
SEEN = 0.06  # of the height of the axes: the shortest arrow
FEW = 12  # components whose gaps are written beside them


def spectrum_gap(fitted: Any, X: Any = None, *, k: int | None = None, ax: Axes | None = None) -> Axes:
    """Eigenvalues λ_i with the bounds that the certificate proves, and relative gaps (λ_i − λ_{i+1})/λ_i between them.

    Components that cannot be told apart are joined by a band: only their span is determined. The gap after the k-th is
    marked: it decides how well the subspace of the first k is determined, and how fast an iteration finds it.

    Parameters
    ----------
    fitted : data, a fitted PCA or KernelPCA, or what `ritz.eigen` returned
    X : the rows of a fitted PCA: eigenvalues beyond those kept are computed from them, so that the gap at k is known
    k : after which component; by default as many as the model keeps, and for data where the gap is largest
    ax : where to draw; a new figure otherwise

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> ax = ritz.plot.spectrum_gap(load_iris().data)
    >>> ax.get_title()
    'Gap after PC1: PC2 has 94.3% less variance'
    """
    pyplot()
    found, kept, rest = certified(fitted, X)
    at = _asked(k, kept, found)
    ax = axes(ax)
    colours, values, signed = framed(ax, "y"), np.abs(found.values), bool((found.values < 0).any())
    floor = floor_of(values if rest is None else np.append(values, rest))
    places, few = np.arange(1.0, len(values) + 1), len(values) <= BARS
    low, high = np.maximum(np.sort(np.abs(found.value_bounds), axis=1).T, floor)
    _bands(ax, found, values, floor, colours)
    ax.vlines(places, low, np.where(np.isfinite(high), high, 2 * values.max()), color=colours.accent, lw=7, alpha=0.35)
    marked(ax, places, values, floor, "o", colours.accent, 5.0 if few else 2.5)
    if rest is not None:
        _beyond(ax, len(values) + 1, min(rest, float(values[-1])), floor, colours)
    count = len(values) + (rest is not None)
    quantity = f"magnitude of the {found.quantity}" if signed else found.quantity
    ax.set(xlabel="component", ylabel=quantity, xlim=(0.4, count + 0.6))
    _limits(ax, floor, float(values.max(initial=0.0)) or 1.0)
    gaps = relative_gaps(values)
    if 1 < len(values) <= FEW:
        _written(ax, gaps, at, colours)
    _arrow(ax, at, values, floor, colours)
    whole_numbers(ax)
    headline(ax, _gap_title(at, gaps, found, rest))
    return ax


def _asked(k: Any, kept: int | None, found: Certificate) -> int:
    """After which component the gap is marked."""
    count = len(found.values)
    if k is not None and not (is_integer(k) and 1 <= k <= count):
        raise ParameterError("k", k, f"must be a component between 1 and {count}")
    if k is not None or kept is not None:
        return int(k or kept or 1)
    gaps = relative_gaps(np.asarray(found.values))[: max(found.rank - 1, 0)]  # not where variance ends altogether
    return int(np.argmax(gaps)) + 1 if len(gaps) else 1


def relative_gaps(values: Array) -> Array:  # (k,) -> (k - 1,)
    """(λ_i − λ_{i+1})/λ_i; 0 between zeros.

    Examples
    --------
    >>> relative_gaps(np.array([4.0, 1.0, 0.0, 0.0]))
    array([0.75, 1.  , 0.  ])
    """
    above = np.abs(values[:-1])
    return np.divide(above - np.abs(values[1:]), above, out=np.zeros(len(above)), where=above > 0)


def _limits(ax: Axes, low: float, high: float) -> None:
    """Room below all marks, for what is written there, and a little above; a logarithmic scale where it takes one."""
    if high < WIDE * low:
        ax.set_ylim(-0.16 * high, 1.08 * high)
        ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.08 * high])
        return
    ax.set_yscale("log")
    decades = max(np.log10(high / low), 0.3)
    ax.set_ylim(low / 10 ** (0.16 * decades), high * 10 ** (0.08 * decades))


def _bands(ax: Axes, found: Certificate, values: Array, floor: float, colours: Look) -> None:
    """Components with variance that cannot be told apart, joined."""
    for start, end in found.groups:
        end = min(end, found.rank)
        more = found.tie_at_k and end == len(values)
        if end - start > 1 or (more and end > start):
            ax.axvspan(start + 0.6, end + (0.6 if more else 0.4), color=colours.second, alpha=0.18, lw=0)
            said = f"{components(start, end)}{' and the next' * more}:\ntied"
            where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": "center", "va": "top"}
            ax.annotate(said, ((start + end + 1) / 2, 1.0), (0, -3), color=colours.second, fontsize="small", **where)


def _beyond(ax: Axes, place: int, most: float, floor: float, colours: Look) -> None:
    """The first value that was left out: no larger than all of them together."""
    ax.vlines([place], [floor], [most], color=colours.faint, lw=7, alpha=0.6)
    ax.plot([place], [most], "v", color=colours.faint, ms=6)
    how = {"textcoords": "offset points", "ha": "center", "color": colours.soft, "fontsize": "small"}
    ax.annotate("at most", (place, most), (0, 7), **how)


def _written(ax: Axes, gaps: Array, at: int, colours: Look) -> None:
    """Every gap, between its components, in one line below."""
    ax.text(0.03, 0.03, "gap", transform=ax.transAxes, color=colours.soft, fontsize="small")
    for i, gap in enumerate(gaps):
        text = f"{100 * gap:.0f}%" if gap >= 0.01 else "<1%" if gap > 0 else "0"
        how = {"weight": "bold", "color": colours.second} if i == at - 1 else {"color": colours.soft}
        ax.text(i + 1.5, 0.03, text, transform=ax.get_xaxis_transform(), ha="center", fontsize="small", **how)


def _arrow(ax: Axes, at: int, values: Array, floor: float, colours: Look) -> None:
    """From λ_k down to λ_{k+1}, where that is long enough to be seen."""
    ax.axvline(at + 0.5, 0.1, 0.87, color=colours.second, lw=1, ls=(0, (2, 2)))  # what is written stays free
    if at >= len(values):
        return
    ends = [(at + 0.5, max(float(value), floor)) for value in values[at - 1 : at + 1]]
    (_, top), (_, foot) = ax.transData.transform(ends)
    if top - foot > SEEN * ax.get_window_extent().height:
        how = {"arrowstyle": "<->", "color": colours.second, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", *ends, arrowprops=how)


def _gap_title(at: int, gaps: Array, found: Certificate, rest: float | None) -> str:
    if not np.any(np.asarray(found.values) > 0):
        return "There is no variance, and no gap"
    if at <= len(gaps):
        alike = any(start < at < end for start, end in found.groups)
        tied = f"PC{at} and PC{at + 1} cannot be told apart: no gap at k = {at}"
        return (
            tied if alike else f"Gap after PC{at}: PC{at + 1} has {percent(float(gaps[at - 1]))} less {found.quantity}"
        )
    last = float(found.values[-1])
    if found.tie_at_k:
        return f"{components(found.groups[-1][0], at)} and the next cannot be told apart: no gap at k = {at}"
    if rest is not None and rest < last:
        return f"Gap after PC{at}: the next has at least {percent(1 - rest / last)} less {found.quantity}"
    return f"The gap after PC{at}, the last, is not known" + ("" if rest is None else "; pass X to see it")
