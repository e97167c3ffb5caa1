"""Variance and error along a line that turns: `angle`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.plot.lines import tied, two_columns
from ritz.plot.style import axes, framed, headline, pyplot
from ritz.plot.subject import subject
from ritz.views.format import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 361  # angles: every half degree
MARGIN = 24.0  # degrees that a name takes


def angle(fitted: Any, *, ax: Axes | None = None) -> Axes:
    """Variance vᵀCv along the line v = (cos θ, sin θ), and the error tr C − vᵀCv, as the line turns by 180°.

    Their sum is the total variance at every angle: the line of the smallest error is that of the largest variance.
    Both are divided by n − ddof, as variances are; the mean squared errors of `line` are divided by n.
    Where all directions have the same variance, no angle is marked.

    Parameters
    ----------
    fitted : data with two columns, or a PCA fitted to such
    ax : where to draw; a new figure otherwise

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> ax = ritz.plot.angle(np.array([[0.0, 0.0], [2.0, 1.0], [4.0, 3.0], [6.0, 4.0]]))
    >>> ax.get_title()
    'Along 35.2° lies the most variance, 99.6%, and the least error'
    """
    pyplot()
    about = subject(fitted)
    model, names = about.linear("an angle"), two_columns(about)
    C, axis = covariance(model), model.subspace_.axes[:, 0]
    degrees = np.linspace(0.0, 180.0, STEPS)
    v = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    total, along = float(np.trace(C)), np.einsum("in,ij,jn->n", v, C, v)
    most, best = float(axis @ C @ axis), float(np.degrees(np.arctan2(axis[1], axis[0]))) % 180.0
    ax = axes(ax)
    colours = framed(ax, "y")
    marked = bool(total) and not tied(about)
    if marked:
        ax.axvline(best, color=colours.soft, lw=1, ls=(0, (2, 2)))
    parts = ((np.full(STEPS, total), colours.soft), (along, colours.accent), (total - along, colours.second))
    for values, colour in parts:
        ax.plot(degrees, values, color=colour, lw=2)
    if marked:
        ax.plot([best, best], [most, total - most], "o", color=colours.ink, ms=5)
    ax.set(xlim=(0, 180), ylim=(0, 1.15 * total or 1.0), ylabel="variance and error")
    ax.set_xlabel(f"angle of the line to the axis of {names[0]}")
    ax.set_xticks(range(0, 181, 30), [f"{angle}°" for angle in range(0, 181, 30)])
    _labelled(ax, (best + 90.0) % 180.0, degrees, parts)
    headline(ax, _angle_title(best, most, total, marked))
    return ax


def _angle_title(best: float, most: float, total: float, marked: bool) -> str:
    if not total:
        return "All rows are alike: no line has variance"
    if not marked:
        return "A tie: every line has half of the variance, and none is the best"
    return f"Along {best:.1f}° lies the most variance, {percent(most / total)}, and the least error"


def _labelled(ax: Axes, worst: float, degrees: Array, parts: Sequence[tuple[Array, str]]) -> None:
    """What the curves are, where they are farthest apart, across from the best line; none crosses its name."""
    at, total = min(max(worst, MARGIN), 180.0 - MARGIN), float(parts[0][0][0])
    near = np.abs(degrees - at) <= MARGIN / 2
    _, variance, error = (values[near] for values, _ in parts)
    between = error.min() - variance.max() > 0.25 * total  # else there is space only above and below both
    sides = (1, 1 if between else -1, -1 if between else 1)
    for name, side, (values, colour) in zip(("variance + error", "variance", "error"), sides, parts, strict=True):
        height = float((np.max if side > 0 else np.min)(values[near]))
        how = {"va": "bottom" if side > 0 else "top", "ha": "center", "color": colour}
        ax.annotate(name, (at, height), (0, 4 * side), textcoords="offset points", **how)


def covariance(model: Any) -> Array:  # (2, 2)
    """C of two columns from the model: a second axis that was left out is perpendicular to the first."""
    subspace = model.subspace_
    u = subspace.axes[:, 0]
    w = np.array([-u[1], u[0]])
    rest = float(subspace.variances[1]) if len(subspace.variances) > 1 else subspace.left_out
    return float(subspace.variances[0]) * np.outer(u, u) + rest * np.outer(w, w)
