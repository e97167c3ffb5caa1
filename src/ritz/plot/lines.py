"""Points of the plane and their lines: `line`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ritz.errors import DataError, ParameterError
from ritz.linalg.dense import UNIT, Array
from ritz.plot.strips import strip
from ritz.plot.style import captioned, framed, harmless, pyplot
from ritz.plot.subject import Subject, subject
from ritz.runtime.rules import is_number
from ritz.spectrum.subspace import FLOAT64
from ritz.views.format import counted, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEGMENTS = 120  # residuals that are drawn
POINTS = 5_000  # points that are drawn
TURN = 40.0  # degrees by which the worse line is off, unless told
SEEN = 1.1  # times the range of the points and of where they go
FAR = 4.0  # times the range of the points, beyond which where they go is not shown: they would become one dot
ROUNDING = (8 * UNIT) ** 2  # squared errors, relative to the squared lengths of the points, that are 0


class Line(NamedTuple):
    """A line, and where it takes the points.

    Attributes
    ----------
    name, told : what it is, and its error in words
    through, direction : (2,), a point of the line, and along it with length one, or 0 where there is no line
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
       Where both variances are the same, any other line is as good, and the title says so.
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
    model, names = about.linear("a line"), two_columns(about)
    Z = np.asarray(about.needed("a figure of points and lines").map(model.subspace_.preprocessing(FLOAT64)))
    middle = np.zeros(2) if model.scale else np.asarray(model.mean_)
    lines = four_lines(Z, model.subspace_.axes[:, 0], float(worse), names)
    whose = "" if about.fresh else " of the model"  # the rows may be others
    first = "A tie: no axis is the first" if tied(about) else "Principal axis"
    lines[0] = lines[0]._replace(name=first + whose)
    panels = strip(ax, 4, 2, (3.4, 3.5))
    centre, reach = view(Z, lines)
    for panel, one in zip(panels.axes, lines, strict=True):
        _drawn(panel, Z, one, middle)
        for limits, at in zip((panel.set_xlim, panel.set_ylim), centre + middle, strict=True):
            limits(at - reach, at + reach)
        panel.set_aspect("equal", adjustable="box")
        panel.set(xlabel=names[0], ylabel=names[1])
        captioned(panel, one.name, one.told)
    return panels.array


def tied(about: Subject) -> bool:
    """Whether all directions of the plane have the same variance, as far as the certificate can tell."""
    found = about.found.certificate
    return bool(found.rank) and (found.tie_at_k if about.found.k == 1 else (0, 2) in about.found.groups)


def view(Z: Array, lines: list[Line]) -> tuple[Array, float]:
    """The middle of what is shown, and how far it reaches: all points, and where they go unless that is far away."""
    seen, most = Z, FAR * float(np.ptp(Z, axis=0).max())
    for one in lines:  # other rows than those of the fit may lie off the lines, and all do far from 0 without centring
        both = np.concatenate([seen, one.feet])
        seen = both if np.ptp(both, axis=0).max() <= most else seen
    return (seen.max(axis=0) + seen.min(axis=0)) / 2, SEEN * float(np.ptp(seen, axis=0).max()) / 2 or 1.0


def two_columns(about: Subject) -> tuple[str, str]:
    """The names of the columns, of which there must be two."""
    found = about.in_range
    if found.n_columns != 2:
        raise DataError(
            f"lines are drawn in the plane, and the data has {counted(found.n_columns, 'column')}",
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
    upright = not np.ptp(Z[:, 0])  # no line over the first column is better than another one
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
    lines = [
        Line(name, told.format(number(error, 3)), through, direction, feet, error)
        for (name, told, through, direction, feet), error in zip(found, errors, strict=True)
    ]
    if upright:
        lines[1] = Line("No regression line", f"{names[0]} does not vary", mean, origin, Z, np.nan)
    return lines


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
    error = float(np.mean(np.sum((Z - feet) ** 2, axis=1)))
    return error if error > ROUNDING * float(np.mean(np.sum(Z**2, axis=1))) else 0.0


def _drawn(ax: Axes, Z: Array, one: Line, middle: Array) -> None:
    """Points, their line, and residuals from one to the other: of some points where there are many."""
    from matplotlib.collections import LineCollection

    colours = framed(ax)
    some = np.unique(np.linspace(0, len(Z) - 1, SEGMENTS).astype(int))
    ends = np.stack([Z[some], one.feet[some]], axis=1) + middle
    ax.add_collection(LineCollection(list(ends), colors=colours.second, linewidths=1.0, zorder=1.5))
    through = middle + one.through
    if one.direction.any():
        ax.axline(through, through + one.direction, color=colours.accent, lw=1.8, zorder=2)
    shown = Z[np.unique(np.linspace(0, len(Z) - 1, POINTS).astype(int))] + middle
    size, alpha = (14, 1.0) if len(shown) <= 300 else (3, 0.5)
    ax.scatter(*shown.T, s=size, color=colours.ink, alpha=alpha, linewidths=0, zorder=2.5)
