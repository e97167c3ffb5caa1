"""Eigenvalues and what lies between them: `spectrum_gap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.errors import ParameterError
from ritz.linalg.dense import Array
from ritz.plot.accuracy import Known, certified, marked
from ritz.plot.colours import Look
from ritz.plot.style import FEW_MARKS, axes, framed, headline, pyplot, whole_numbers
from ritz.runtime.rules import is_integer
from ritz.runtime.wording import components
from ritz.spectrum.certificate import Certificate
from ritz.views.format import least, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 30.0  # times the smallest value that the largest is, up to which a scale is linear
SEEN = 0.06  # of the height of the axes: the shortest arrow
FEW = 12  # components whose gaps are written beside them
SAME = 1e-6  # relative gaps this close are written as one number


def spectrum_gap(fitted: Any, X: Any = None, *, k: int | None = None, ax: Axes | None = None) -> Axes:
    """Eigenvalues λ_i with the bounds that the certificate proves, and relative gaps (λ_i − λ_{i+1})/λ_i between them.

    Components that cannot be told apart are joined by a band: only their span is determined. The gap after the k-th is
    marked: it decides how well the subspace of the first k is determined, and how fast an iteration finds it. After the
    last component it is what the certificate proves of the next eigenvalue. Where eigenvalues may be negative, all this
    is said of their magnitudes.

    Parameters
    ----------
    fitted : data, a fitted PCA or KernelPCA, or what `ritz.eigen` returned
    X : the rows of a fitted PCA: eigenvalues beyond those kept are computed from them, and drawn
    k : after which component; by default as many as the model keeps, and for data where the gap is largest
    ax : where to draw; a new figure otherwise

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> ax = ritz.plot.spectrum_gap(load_iris().data)
    >>> ax.get_title()
    'Gap after PC1: the variance of PC2 is 94.3% smaller'
    """
    pyplot()
    known = certified(fitted, X)
    found, beyond = known.certificate, following(known)
    at = _asked(k, known.kept, found)
    ax = axes(ax)
    colours, values = framed(ax, "y"), np.abs(found.values)
    places, few = np.arange(1.0, len(values) + 1), len(values) <= FEW_MARKS
    low, high = magnitudes_between(found.value_bounds).T
    floor = _floor(values if beyond is None else np.append(values, beyond[1]), float(low.min()))
    low, high = np.maximum(low, floor), np.maximum(high, floor)
    _bands(ax, found, colours)
    ax.vlines(places, low, np.where(np.isfinite(high), high, 2 * values.max()), color=colours.accent, lw=7, alpha=0.35)
    marked(ax, places, values, floor, "o", colours.accent, 5.0 if few else 2.5)
    if beyond is not None:
        _beyond(ax, len(values) + 1, beyond[1], floor, colours)
    count = len(values) + (beyond is not None)
    quantity = f"magnitude of the {found.quantity}" if found.by_magnitude else found.quantity
    ax.set(xlabel="component", ylabel=quantity, xlim=(0.4, count + 0.6))
    _limits(ax, floor, float(values.max(initial=0.0)) or 1.0)
    gaps = relative_gaps(values)
    if 1 < len(values) <= FEW:
        _written(ax, gaps, at, colours)
    _arrow(ax, at, values, floor, colours)
    whole_numbers(ax)
    headline(ax, _gap_title(at, gaps, known))
    return ax


def _asked(k: Any, kept: int | None, found: Certificate) -> int:
    """After which component the gap is marked."""
    count = len(found.values)
    if k is not None and not (is_integer(k) and 1 <= k <= count):
        raise ParameterError("k", k, f"must be a component between 1 and {count}")
    if k is not None or kept is not None:
        return int(k or kept or 1)
    gaps = relative_gaps(found.values)[: max(found.rank - 1, 0)]  # not where variance ends altogether
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


def magnitudes_between(intervals: Array) -> Array:  # (k, 2) -> (k, 2)
    """What |λ| lies between: from 0 on where λ may have either sign.

    Examples
    --------
    >>> magnitudes_between(np.array([[-3.0, -2.0], [-0.5, 2.0]]))
    array([[2., 3.],
           [0., 2.]])
    """
    low, high = intervals.T
    return np.column_stack([np.maximum(np.maximum(low, -high), 0.0), np.maximum(-low, high)])


def following(known: Known) -> tuple[float, float] | None:
    """What the first eigenvalue beyond those found lies between; None where that is not known, or none follows.

    By the eigengap of the certificate, λ_{k+1} = λ_k − gap, and by all that is left out.
    """
    found = known.certificate
    if known.whole or found.by_magnitude:
        return None
    (low, high), (least_gap, most_gap) = found.value_bounds[-1], (0.0, np.inf)
    if found.gap_bounds is not None:
        least_gap, most_gap = found.gap_bounds
    low, top = max(float(low - most_gap), 0.0), min(float(high - least_gap), known.rest)
    return (low, top) if top < high else None


def _floor(values: Array, lowest: float) -> float:
    """Where bars begin: at 0, or on a logarithmic scale, where it takes one, at most a decade below all marks."""
    smallest = float(np.min(values, where=values > 0, initial=np.inf))
    return float(np.clip(lowest, smallest / 10, smallest)) if WIDE * smallest <= values.max(initial=0.0) else 0.0


def _limits(ax: Axes, low: float, high: float) -> None:
    """Space below all marks, for what is written there, and a little above; logarithmic where they begin above 0."""
    if not low:
        ax.set_ylim(-0.16 * high, 1.08 * high)
        ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.08 * high])
        return
    ax.set_yscale("log")
    decades = max(np.log10(high / low), 0.3)
    ax.set_ylim(low / 10 ** (0.16 * decades), high * 10 ** (0.08 * decades))


def _bands(ax: Axes, found: Certificate, colours: Look) -> None:
    """Components with variance that cannot be told apart, joined."""
    for start, end in found.groups:
        end = min(end, found.rank)
        more = found.tie_at_k and end == len(found.values)
        if end - start > 1 or (more and end > start):
            ax.axvspan(start + 0.6, end + (0.6 if more else 0.4), color=colours.second, alpha=0.18, lw=0)
            said = f"{components(start, end)}{' and the next' * more}:\ntied"
            where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": "center", "va": "top"}
            ax.annotate(said, ((start + end + 1) / 2, 1.0), (0, -3), color=colours.second, fontsize="small", **where)


def _beyond(ax: Axes, place: int, most: float, floor: float, colours: Look) -> None:
    """The first value beyond those found: how large it is at most."""
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


def _gap_title(at: int, gaps: Array, known: Known) -> str:
    found = known.certificate
    quantity = "magnitude" if found.by_magnitude else found.quantity
    if not np.any(found.values):
        return f"{'There is no variance' if quantity == 'variance' else 'All eigenvalues are 0'}, and so no gap"
    if at > len(gaps):
        return _last_title(at, quantity, known)
    if any(start < at < end for start, end in found.groups):
        return f"PC{at} and PC{at + 1} cannot be told apart: no gap at k = {at}"
    return f"Gap after PC{at}: the {quantity} of PC{at + 1} is {percent(float(gaps[at - 1]))} smaller"


def _last_title(at: int, quantity: str, known: Known) -> str:
    """What is known of the gap after the last component."""
    found = known.certificate
    if found.tie_at_k:
        return f"{components(found.groups[-1][0], at)} and the next cannot be told apart: no gap at k = {at}"
    if known.whole:
        return f"PC{at} is the last component: none follows, and there is no gap"
    smaller = _smaller(known)
    if smaller:
        return f"Gap after PC{at}: the next {quantity} is {smaller} smaller"
    if found.by_magnitude and found.gap_bounds is not None and (found.gap_bounds != [0, np.inf]).any():
        return found.eigengap[0].upper() + found.eigengap[1:]
    more = "pass X to see it" if np.isfinite(known.rest) else "ask for one more component to see it"
    return f"The gap after PC{at}, the last, is not known; {more}"


def _smaller(known: Known) -> str:
    """By which share of λ_k the next value is surely smaller; nothing where there is no such share."""
    beyond, (low, high) = following(known), known.certificate.value_bounds[-1]
    if beyond is None or not low > beyond[1]:
        return ""
    share, most = float(1 - beyond[1] / low), float(1 - beyond[0] / high)
    return percent(share) if most - share < SAME else f"at least {least(100 * share, 3)}%"
