"""Rows as points in the plane of two components: `scores`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.linalg.dense import Array
from ritz.plot.clouds import Cloud, bar, counted_cells, ends, legend_of_missing, mean_cells, named, shades_of
from ritz.plot.colours import Look
from ritz.plot.style import axes, framed, headline, pyplot
from ritz.plot.subject import Subject, axis_name, is_model, subject
from ritz.rows import read
from ritz.rows.base import dense
from ritz.rows.columns import model_columns
from ritz.runtime.rules import is_integer
from ritz.views.classes import MISSING, MOST_CLASSES, Classes, classified_by_type
from ritz.views.format import counted, listed, ordinal, percent
from ritz.views.scatter import MOST_POINTS, First

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLAT = 15.0  # times as long as wide, up to which both axes have the same unit
ROUNDING = 1e-12  # times as wide as long, up to which rows lie on a line
BARS = 40  # of a histogram, at most
SIZES = ((300, 26.0), (3_000, 12.0), (MOST_POINTS, 5.0))  # points up to which they are drawn so large


def scores(
    fitted: Any, X: Any = None, labels: Any = None, *, components: Sequence[int] = (1, 2), ax: Axes | None = None
) -> Axes:
    """Every row at its scores y = Uᵀ(x − mean)/scale on two components; of one component a histogram.

    Labels colour the rows: names as classes (the ten most frequent, then all others together), more than ten different
    numbers or dates along a scale; text is a name, also where it consists of digits. Beyond 20,000 rows cells show how
    many there are, on a logarithmic scale, and by their colour which class most of them have, or the mean of their
    numbers. Both axes have the same unit, unless the rows lie so close to one of them that nothing could be seen.

    Parameters
    ----------
    fitted : data, or a fitted PCA or KernelPCA
    X : rows to show, for a fitted model; a KernelPCA knows those of its fit
    labels : one for every row, such as a column of text or numbers; or the name of a column of the data, which is kept
        aside unless the model was fitted to it. Those of ``ritz.read(…, label=…)`` are known
    components : two different ones, or one, counted from 1
    ax : where to draw; a new figure otherwise

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> ax = ritz.plot.scores(iris.data, labels=iris.target_names[iris.target])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('PC1 (92.5%)', 'PC2 (5.3%)')
    """
    pyplot()
    numbers, called = _checked(components), labels if isinstance(labels, str) else getattr(labels, "name", None)
    if isinstance(labels, str):
        fitted, X, labels = _with_column(fitted, X, labels)
    about = subject(fitted, X, at_most=max(numbers))
    chosen = _within(numbers, about)
    passed = _passed(about, chosen)
    if labels is None and about.rows is not None:
        labels = about.rows.labels
    cloud = _cloud(passed, labels, called or "")
    ax = axes(ax)
    names = [axis_name(about.found, i) for i in chosen]
    alike = (_histogram if len(chosen) == 1 else _plane)(ax, cloud, names)
    rows = counted(passed.rows, "row") if passed.step == 1 else f"every {ordinal(passed.step)} of {passed.rows:,} rows"
    share = percent(float(np.sum(about.found.shares[chosen])))
    title = f"{rows} on {listed([f'PC{i + 1}' for i in chosen])}: {share} of the variance"
    title = title if about.found.certificate.rank else "All rows are alike: there is no variance"
    headline(ax, title if alike else f"{title}; each axis has its own unit")
    return ax


def _with_column(fitted: Any, X: Any, name: str) -> tuple[Any, Any, Any]:
    """What is fitted, and rows, without a column that is their labels; and that column where the model needs it too."""
    if not is_model(fitted):
        return read(fitted, label=name), X, None
    if X is None:
        raise DataError(
            f"labels={name!r} is a column of rows", "pass X, a table with that column, as the second argument"
        )
    if name in (model_columns(fitted) or ()):
        return fitted, X, np.asarray(read(X, columns=[name]).map(dense))[:, 0]
    return fitted, read(X, label=name), None


def _checked(components: Any) -> list[int]:
    numbers = list(components) if isinstance(components, Sequence | np.ndarray) else [components]
    if not (1 <= len(set(numbers)) == len(numbers) <= 2 and all(is_integer(i) and i >= 1 for i in numbers)):
        rule = "must be two different components, such as (1, 2), or one, such as 1; they are counted from 1"
        raise ParameterError("components", components, rule)
    return [int(i) for i in numbers]


def _within(numbers: list[int], about: Subject) -> list[int]:
    """Positions of these components; the first alone where two are the default and there is one."""
    if about.found.k == 1 and numbers == [1, 2]:
        return [0]
    if max(numbers) > about.found.k:
        raise ParameterError("components", tuple(numbers), f"must lie between 1 and {about.limit}")
    return [i - 1 for i in numbers]


def _passed(about: Subject, chosen: list[int]) -> First:
    """The scores of all rows, or of every 2nd, 4th, …, where there are more than can be remembered."""
    first = First()
    if about.rows is None and about.found.kernel:
        first.add(about.model._state.scores[:, chosen])
        return first
    for block in about.model._codes(about.needed("a figure of scores")):
        first.add(block[:, chosen])
    return first


def _cloud(passed: First, labels: Any, called: str) -> Cloud:
    values = None if labels is None else np.asarray(labels)
    values = values[:, 0] if values is not None and values.shape == (passed.rows, 1) else values
    if values is not None and values.shape != (passed.rows,):
        raise DataError(
            f"labels have the shape {values.shape}, but there are {passed.rows} rows: one for each is needed"
        )
    dates = values is not None and values.dtype.kind == "M"
    values = None if values is None else (_days(values) if dates else values)[:: passed.step]
    at = np.asarray(passed.scores, dtype=np.float64)
    classes, finite = classified_by_type(values, len(at)), np.isfinite(at).all(axis=1)
    numbers = None
    if values is not None and classes.scale:
        known = np.array([kind != MISSING for kind in classes.kinds])[classes.codes]
        numbers = np.full(len(at), np.nan)
        numbers[known] = values[known].astype(np.float64)
        classes = replace(classes, names=_spans(classes, numbers)) if dates else classes
        numbers = numbers[finite]
    return Cloud(at[finite], classes.codes[finite], classes, numbers, called, dates)


def _days(dates: NDArray[Any]) -> NDArray[Any]:
    """Dates as days since 1970, as matplotlib counts them; a few different ones as text, for they are classes."""
    if len(np.unique(dates[~np.isnat(dates)])) <= MOST_CLASSES:
        day = dates.astype("datetime64[D]")
        text = np.datetime_as_string(day if (day == dates)[~np.isnat(dates)].all() else dates.astype("datetime64[s]"))
        return np.where(np.isnat(dates), "", text)
    days = dates.astype("datetime64[us]").astype(np.float64) / 86_400e6
    return np.where(np.isnat(dates), np.nan, days)


def _spans(classes: Classes, days: Array) -> tuple[str, ...]:
    """The steps of a scale of dates: from the first day in each to the last."""
    known = np.nan_to_num(days).astype("datetime64[D]")
    spans = ((known[classes.codes == i], name) for i, name in enumerate(classes.names))
    return tuple(name if name == MISSING or not len(span) else f"{span.min()} to {span.max()}" for span, name in spans)


def _plane(ax: Axes, cloud: Cloud, names: list[str]) -> bool:
    """Points or cells, between lines through the mean; whether both axes have the same unit."""
    colours = framed(ax)
    ax.axhline(0, color=colours.rule, lw=0.8, zorder=0.5)
    ax.axvline(0, color=colours.rule, lw=0.8, zorder=0.5)
    ax.set(xlabel=names[0], ylabel=names[1])
    reach = np.ptp(cloud.at, axis=0) if len(cloud.at) else np.ones(2)
    # A spread that is rounding needs no unit of its own: it would be drawn as a pattern.
    alike = bool(reach.min() * FLAT >= reach.max() or reach.min() <= ROUNDING * reach.max())
    many = len(cloud.at) > MOST_POINTS
    draw: Any = _scale if cloud.numbers is not None else _points
    if many:
        draw = mean_cells if cloud.numbers is not None else partial(counted_cells, alike=alike)
    draw(ax, cloud, colours)
    if alike:
        shared = all(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
        ax.set_aspect("equal", adjustable="box" if shared else "datalim")
    return alike


def _points(ax: Axes, cloud: Cloud, colours: Look) -> None:
    """In a random order, so that no class hides another; what is left over or missing lies below."""
    order = np.random.default_rng(0).permutation(len(cloud.at))
    coloured = np.array([kind[0] in "cq" for kind in cloud.classes.kinds])[cloud.codes[order]]
    order = order[np.argsort(coloured, kind="stable")]
    shades = np.array(shades_of(cloud, colours))[cloud.codes[order]]
    ax.scatter(*cloud.at[order].T, c=shades, **_dot(len(order), colours))
    named(ax, cloud, colours)


def _dot(count: int, colours: Look) -> dict[str, Any]:
    size = next((size for most, size in SIZES if count <= most), SIZES[-1][1])
    edge = {"edgecolors": colours.paper, "linewidths": 0.4} if size > 10 else {"linewidths": 0}
    return {"s": size, "alpha": 0.9 if size > 10 else 0.6, **edge}


def _scale(ax: Axes, cloud: Cloud, colours: Look) -> None:
    numbers = np.asarray(cloud.numbers)
    known, dot = np.isfinite(numbers), _dot(len(numbers), colours)
    if not known.all():
        ax.scatter(*cloud.at[~known].T, color=colours.faint, **dot)
    shown = ax.scatter(*cloud.at[known].T, c=numbers[known], cmap=colours.scale, **ends(numbers[known]), **dot)
    bar(ax, shown, cloud)
    if not known.all():
        legend_of_missing(ax, colours, int(np.count_nonzero(~known)))


def _histogram(ax: Axes, cloud: Cloud, names: list[str]) -> bool:
    """How many rows have which score, classes one on top of the other."""
    colours = framed(ax, "y")
    parts = [cloud.at[cloud.codes == i, 0] for i in range(len(cloud.classes.names))]
    bars = min(BARS, max(5, int(1.5 * np.sqrt(len(cloud.at)))))
    ax.hist(parts, bars, stacked=True, color=shades_of(cloud, colours), edgecolor=colours.paper, linewidth=0.5)
    ax.set(xlabel=names[0], ylabel="rows")
    named(ax, cloud, colours)
    return True
