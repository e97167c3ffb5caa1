"""What components are made of: `components`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.plot.images import MEAN, axis_image, data_image, panel_size, shape_for, show, white_for
from ritz.plot.strips import strip
from ritz.plot.style import captioned, framed, harmless_names, pyplot
from ritz.plot.subject import Subject, axis_name, subject
from ritz.rows.columns import model_columns
from ritz.rows.pictures import Shape
from ritz.views.findings import Findings

IMAGES, CURVES, CHARTS = 11, 4, 3  # components that are shown unless told
WEIGHTS = 10  # columns in a chart of weights
WIDE, TALL = 4, 6  # charts beside each other, and curves below each other, at most
NAME = 20  # characters of the name of a column
DOTTED = 40  # columns up to which a curve has a point for every one
EVEN = 1e-6  # how exactly steps between names must agree, relative to them, to be a scale


def components(
    fitted: Any, n: int | None = None, *, shape: Any = None, ordered: bool | None = None, ax: Any = None
) -> Any:
    """The axes u_i, as what the columns make them: images, curves, or bars of the largest weights.

    Parameters
    ----------
    fitted : data, or a fitted PCA
    n : how many components, of those that there are; as many as there is space for otherwise
    shape : (height, width) or (height, width, 3) where columns are pixels; a model of images knows it. The mean is
        shown first, then the axes: blue below 0, grey at 0, brown above; in colour, what grey plus the axis looks like
    ordered : whether the columns are points along a scale, such as times: axes are curves then. None decides by the
        names: numbers in equal steps
    ax : one Axes, which is divided, or one for every panel; a new figure otherwise

    Returns
    -------
    An array of Axes, one for every panel.

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_digits
    >>> panels = ritz.plot.components(load_digits().data, 3, shape=(8, 8))
    >>> [panel.get_title() for panel in panels]
    ['mean', 'PC1 (14.9%)', 'PC2 (13.6%)', 'PC3 (11.8%)']
    """
    pyplot()
    about = subject(fitted, at_most=IMAGES if n is None else n)
    model, found = about.linear("an axis"), about.found
    U, shape = model.subspace_.axes, shape_for(model, shape)
    scale = scale_of(model, found.n_columns, ordered)
    usual = IMAGES if shape is not None else CHARTS if scale is None else CURVES
    k = min(found.k, usual) if n is None else about.within("n", n)
    if shape is not None:
        return _as_images(about, U[:, :k], shape, ax)
    return _as_bars(found, U[:, :k], ax) if scale is None else _as_curves(found, U[:, :k], scale, ax)


def scale_of(model: Any, d: int, ordered: bool | None) -> Array | None:
    """Where the columns stand along a scale, if they do: numbers in equal steps as names say so."""
    names = model_columns(model)
    try:
        places = np.array([float(name) for name in names or ()])
    except ValueError:
        places = np.empty(0)
    steps = np.diff(places)
    even = len(places) == d >= 3 and np.isfinite(places).all() and bool(np.ptp(steps) <= EVEN * abs(steps[0]) > 0)
    counting = even and places[0] == 0 and steps[0] == 1  # as columns without names are called
    if ordered is False or (ordered is None and (not even or counting)):
        return None
    return places if even else np.arange(d, dtype=np.float64)


def _as_images(about: Subject, U: Array, shape: Shape, ax: Any) -> Any:
    found = about.found
    mean = [] if found.mean is None or not found.mean.any() else [found.mean]
    count = len(mean) + U.shape[1]
    panels = strip(ax, count, min(count, 4 if count <= 12 else 6), panel_size(shape, 1.7, 0.3))
    for panel, values in zip(panels.axes, mean, strict=False):
        show(panel, *data_image(values, shape, values, white_for(about, shape)))
        captioned(panel, MEAN)
    for i, panel in enumerate(panels.axes[len(mean) :]):
        show(panel, *axis_image(U[:, i], shape))
        captioned(panel, *_caption(found, i))
    return panels.array


def _as_curves(found: Findings, U: Array, scale: Array, ax: Any) -> Any:
    k = U.shape[1]
    columns = 1 if k <= TALL else 2
    down = -(-k // columns)
    panels = strip(ax, k, columns, (6.4 if columns == 1 else 4.6, max(1.5, 4.8 / down)))
    reach = 1.08 * float(np.abs(U).max())
    for i, panel in enumerate(panels.axes):
        colours = framed(panel)
        panel.axhline(0, color=colours.rule, lw=0.8)
        panel.plot(scale, U[:, i], color=colours.accent, marker="o" if len(scale) <= DOTTED else "", ms=3)
        panel.set(ylim=(-reach, reach), ylabel="weight" if i % columns == 0 else "")
        captioned(panel, *_caption(found, i))
        last = i >= k - columns
        panel.tick_params(labelbottom=last, labelleft=i % columns == 0)
        panel.set_xlabel("column" if last else "")
    return panels.array


def _as_bars(found: Findings, U: Array, ax: Any) -> Any:
    shown = min(WEIGHTS, found.n_columns)
    k = U.shape[1]
    columns = min(k, WIDE)
    panels = strip(ax, k, columns, (3.2, max(2.0, 0.28 * shown + 1.1)))
    reach = 1.1 * float(np.abs(U).max())
    orders = np.argsort(-np.abs(U), axis=0, kind="stable")[:shown][::-1]
    names = _names(found, np.unique(orders).tolist())
    for i, (panel, order) in enumerate(zip(panels.axes, orders.T, strict=True)):
        colours = framed(panel, "x")
        weights = U[order, i]
        panel.barh(range(shown), weights, 0.72, color=np.where(weights < 0, colours.second, colours.accent))
        panel.axvline(0, color=colours.ink, lw=0.8)
        panel.set(xlim=(-reach, reach), xlabel="weight")
        panel.set_yticks(range(shown), [names[j] for j in order.tolist()])
        captioned(panel, *_caption(found, i))
        if shown < found.n_columns and i % columns == 0:
            panel.set_ylabel(f"{shown} largest of {found.n_columns:,} columns")
    return panels.array


def _names(found: Findings, columns: list[int]) -> dict[int, str]:
    """Columns by position, with names that can be told apart."""
    whole = [f"x{j}" if found.names is None else found.names[j] for j in columns]
    return dict(zip(columns, harmless_names(whole, NAME), strict=True))


def _caption(found: Findings, i: int) -> list[str]:
    """A component with its share; one without variance is any of many vectors."""
    return [axis_name(found, i)] + ["no variance, so any axis"] * (i >= found.certificate.rank)
