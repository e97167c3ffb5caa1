"""Points of the plane and their lines: `line` and `angle`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.linalg.dense import Array
from ritz.plot.strips import strip
from ritz.plot.style import axes, captioned, framed, harmless, headline, pyplot
from ritz.plot.subject import Subject, subject
from ritz.runtime.rules import is_number
from ritz.spectrum.subspace import FLOAT64
from ritz.views.format import number, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEGMENTS = 120  # residuals that are drawn
POINTS = 5_000  # points that are drawn
TURN = 40.0  # degrees by which the worse line is off, unless told
SEEN = 1.1  # times the range of the points and of where they go
STEPS = 361  # angles: every half degree


class Line(NamedTuple):
    """A line, and where it takes the points.

    Attributes
    ----------
    name, told : what it is, and its error in words
    through, direction : (2,), a point of the line, and along it with length one
    feet : (n, 2) where the points go
    error : mean squared length of what is left, (1/n) Σ ‖z − foot‖²
    """

    name: str
    told: str
    through: Array
    direction: Array
    feet: Array
    error: float


def line(fitted: Any, X: Any = None, *, worse: float = TURN, ax: Any = None) -> Any:
    """Points of the plane with four lines, and the mean squared error (1/n) Σ ‖z − ẑ‖² of each.

    1. The first principal axis, residuals perpendicular to it. For the rows of the fit no line has a smaller error
       than this, λ₂·(n − ddof)/n; without centring, no line through 0. Other rows may have a better line.
    2. The regression line of the rows shown, which makes their vertical residuals as small as possible.
    3. A worse line, turned away from the axis.
    4. One coordinate dropped, where that costs less: the mean of the model, or 0, takes its place.

    Parameters
    ----------
    fitted : data with two columns, or a PCA fitted to such
    X : rows to show, for a fitted PCA: those of the fit, or others
    worse : degrees by which the third line is turned
    ax : one Axes, which is divided, or four of them; a new figure otherwise

    Returns
    -------
    An array of four Axes; their titles tell the errors.

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> panels = ritz.plot.line(np.array([[0.0, 0.0], [2.0, 1.0], [4.0, 3.0], [6.0, 4.0]]))
    >>> print(panels[0].get_title())
    Principal axis
    perpendicular error 0.0335
    """
    pyplot()
    if not is_number(worse):
        raise ParameterError("worse", worse, "must be an angle in degrees")
    about = subject(fitted, X)
    model, names = about.linear("lines"), _two_columns(about)
    Z = np.asarray(about.needed("a figure of points and lines").map(model.subspace_.preprocessing(FLOAT64)))
    middle = np.zeros(2) if model.scale else np.asarray(model.mean_)
    lines = four_lines(Z, model.subspace_.axes[:, 0], float(worse), names)
    if not about.fresh:  # whose rows may be others
        lines[0] = lines[0]._replace(name="Principal axis of the model")
    panels = strip(ax, 4, 2, (3.4, 3.5))
    seen = np.concatenate([Z, *(one.feet for one in lines)])  # other rows than those of the fit may lie off the lines
    centre, reach = (seen.max(axis=0) + seen.min(axis=0)) / 2, SEEN * float(np.ptp(seen, axis=0).max()) / 2 or 1.0
    for panel, one in zip(panels.axes, lines, strict=True):
        _drawn(panel, Z, one, middle)
        for limits, at in zip((panel.set_xlim, panel.set_ylim), centre + middle, strict=True):
            limits(at - reach, at + reach)
        panel.set_aspect("equal", adjustable="box")
        panel.set(xlabel=names[0], ylabel=names[1])
        captioned(panel, one.name, one.told)
    return panels.array


def _two_columns(about: Subject) -> tuple[str, str]:
    """The names of the columns, of which there must be two."""
    found = about.found
    if found.n_columns != 2:
        raise DataError(
            f"lines are drawn in the plane, and the data has {found.n_columns} column{'s' * (found.n_columns != 1)}",
            "pass two columns, such as X[:, [0, 1]], or two scores of PCA(2).fit_transform(X)",
        )
    unit = ", scaled" if found.scale else ""
    return harmless(found.name(0)) + unit, harmless(found.name(1)) + unit


def four_lines(Z: Array, axis: Array, worse: float, names: tuple[str, str]) -> list[Line]:
    """The axis through 0, the regression line, a line turned away from the axis, and a coordinate dropped."""
    origin, turned = np.zeros(2), _turn(worse) @ axis
    mean, slope = Z.mean(axis=0), _slope(Z)
    regression = np.array([1.0, slope]) / np.hypot(1.0, slope)
    vertical = np.column_stack([Z[:, 0], mean[1] + slope * (Z[:, 0] - mean[0])])
    drop = int(np.argmin(np.mean(Z**2, axis=0)))
    kept = np.eye(2)[1 - drop]
    beside = number(_error(Z, mean + _foot(Z - mean, regression)), 3)
    across, side = "perpendicular error {}", ("horizontal", "vertical")[drop]
    found = [
        ("Principal axis", across, origin, axis, _foot(Z, axis)),
        ("Regression line", f"vertical {{}}, perpendicular {beside}", mean, regression, vertical),
        (f"A line turned by {worse:g}°", across, origin, turned, _foot(Z, turned)),
        (f"Without {names[drop]}", f"{side} error {{}}", origin, kept, _foot(Z, kept)),
    ]
    errors = [_error(Z, feet) for *_, feet in found]
    return [
        Line(name, told.format(number(error, 3)), through, direction, feet, error)
        for (name, told, through, direction, feet), error in zip(found, errors, strict=True)
    ]


def _slope(Z: Array) -> float:
    """Of the least-squares line of the second column over the first, which need not go through 0."""
    x, y = (Z - Z.mean(axis=0)).T
    return float(x @ y / (x @ x)) if (x @ x) > 0 else 0.0


def _turn(degrees: float) -> Array:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s], [s, c]])


def _foot(Z: Array, direction: Array) -> Array:
    return np.outer(Z @ direction, direction)


def _error(Z: Array, feet: Array) -> float:
    return float(np.mean(np.sum((Z - feet) ** 2, axis=1)))


def _drawn(ax: Axes, Z: Array, one: Line, middle: Array) -> None:
    """Points, their line, and residuals from one to the other: of some points where there are many."""
    from matplotlib.collections import LineCollection

    colours = framed(ax)
    some = np.unique(np.linspace(0, len(Z) - 1, SEGMENTS).astype(int))
    ends = np.stack([Z[some], one.feet[some]], axis=1) + middle
    ax.add_collection(LineCollection(list(ends), colors=colours.second, linewidths=1.0, zorder=1.5))
    through = middle + one.through
    ax.axline(through, through + one.direction, color=colours.accent, lw=1.8, zorder=2)
    shown = Z[np.unique(np.linspace(0, len(Z) - 1, POINTS).astype(int))] + middle
    size, alpha = (14, 1.0) if len(shown) <= 300 else (3, 0.5)
    ax.scatter(*shown.T, s=size, color=colours.ink, alpha=alpha, linewidths=0, zorder=2.5)


def angle(fitted: Any, *, ax: Axes | None = None) -> Axes:
    """Variance vᵀCv along the line v = (cos θ, sin θ), and the error tr C − vᵀCv, as the line turns by 180°.

    Their sum is the total variance at every angle: the line of the smallest error is that of the largest variance.

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
    model, names = about.linear("angles"), _two_columns(about)
    C, axis = covariance(model), model.subspace_.axes[:, 0]
    degrees = np.linspace(0.0, 180.0, STEPS)
    v = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    total, along = float(np.trace(C)), np.einsum("in,ij,jn->n", v, C, v)
    most, best = float(axis @ C @ axis), float(np.degrees(np.arctan2(axis[1], axis[0]))) % 180.0
    ax = axes(ax)
    colours = framed(ax, "y")
    ax.axvline(best, color=colours.soft, lw=1, ls=(0, (2, 2)))
    parts = ((np.full(STEPS, total), colours.soft), (along, colours.accent), (total - along, colours.second))
    for values, colour in parts:
        ax.plot(degrees, values, color=colour, lw=2)
    ax.plot([best, best], [most, total - most], "o", color=colours.ink, ms=5)
    ax.set(xlim=(0, 180), ylim=(0, 1.15 * total or 1.0), ylabel="variance and error")
    ax.set_xlabel(f"angle of the line to the axis of {names[0]}")
    ax.set_xticks(range(0, 181, 30), [f"{angle}°" for angle in range(0, 181, 30)])
    _labelled(ax, (best + 90.0) % 180.0, (total - most, most, total), [colour for _, colour in parts])
    said = f"Along {best:.1f}° lies the most variance, {percent(most / total) if total else ''}, and the least error"
    headline(ax, said if total else "All rows are alike: no line has variance")
    return ax


def _labelled(ax: Axes, worst: float, heights: tuple[float, float, float], colours: list[str]) -> None:
    """What the curves are, where they are farthest apart: across from the best line."""
    (least, most, total), at = heights, min(max(worst, 22.0), 158.0)
    between = most - least > 0.25 * total  # else there is space only above and below both
    places = ((total, "variance + error", 1), (least, "variance", 1 if between else -1))
    for (height, text, side), colour in zip((*places, (most, "error", -1 if between else 1)), colours, strict=True):
        how = {"va": "bottom" if side > 0 else "top", "ha": "center", "color": colour}
        ax.annotate(text, (at, height), (0, 6 * side), textcoords="offset points", **how)


def covariance(model: Any) -> Array:  # (2, 2)
    """C of two columns from the model: a second axis that was left out is perpendicular to the first."""
    subspace = model.subspace_
    u = subspace.axes[:, 0]
    w = np.array([-u[1], u[0]])
    rest = float(subspace.variances[1]) if len(subspace.variances) > 1 else subspace.left_out
    return float(subspace.variances[0]) * np.outer(u, u) + rest * np.outer(w, w)
