"""Rows rebuilt from ever more components: `reconstruction`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ritz.errors import ParameterError
from ritz.linalg.dense import UNIT, Array
from ritz.plot.images import MEAN, data_image, panel_size, shape_for, show, white_for
from ritz.plot.strips import Strip, strip
from ritz.plot.style import captioned, framed, pyplot, whole_numbers
from ritz.plot.subject import Subject, subject
from ritz.plot.weights import DOTTED, scale_of
from ritz.rows import as_rows
from ritz.rows.base import dense
from ritz.rows.pictures import Shape
from ritz.runtime.rules import is_integer
from ritz.runtime.wording import plural
from ritz.spectrum.subspace import FLOAT64
from ritz.views.format import percent

ROUNDING = 1e-5  # relative errors that nobody sees
BACK = "with fit_inverse_transform=True, model.inverse_transform(model.transform(X)) are rows that come near X"
ROUND = (1, 2, 5)  # components that rows are rebuilt from: these, ten times these, …


def reconstruction(
    fitted: Any,
    X: Any = None,
    row: int = 0,
    *,
    counts: Sequence[int] | int | None = None,
    shape: Any = None,
    ax: Any = None,
) -> Any:
    """One row rebuilt from 0, 1, 2, 5, … k components, x̂ = mean + scale ⊙ Σ_{i≤j} y_i u_i, beside itself.

    Under each is its relative error ‖z − ẑ‖/‖z‖ with z = (x − mean)/scale: 100% for the mean, 0% for the row itself.

    Parameters
    ----------
    fitted : data, or a fitted PCA
    X : rows, or a single one as a vector, for a fitted PCA
    row : which of them, counted from 0
    counts : numbers of components to show, instead of 1, 2, 5, …; or one of them
    shape : (height, width) or (height, width, 3) where columns are pixels; a model of images knows it
    ax : one Axes, which is divided, or one for every panel; a new figure otherwise

    Returns
    -------
    An array of Axes: the mean, each number of components, the row itself.

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits().data
    >>> panels = ritz.plot.reconstruction(ritz.PCA(20).fit(X), X, row=3, shape=(8, 8))
    >>> [panel.get_xlabel() for panel in panels]
    ['error 100%', 'error 85.8%', 'error 85.1%', 'error 64.4%', 'error 48.1%', 'error 36.5%', '']
    """
    pyplot()
    about = subject(fitted, as_rows(np.asarray(X)[None]) if np.ndim(X) == 1 else X)
    model, rows = about.linear("a row rebuilt", BACK), about.needed("a figure of a row rebuilt")
    if not is_integer(row) or not -rows.shape[0] <= row < rows.shape[0]:
        raise ParameterError("row", row, f"must be one of the {rows.shape[0]} rows, counted from 0")
    number = int(row) % rows.shape[0]
    x = np.asarray(dense(rows.take(np.array([number]))), dtype=np.float64)
    kept = _counts(counts, about)
    rebuilt, errors = stages(model, x, kept)
    shape = shape_for(model, shape)
    several, titles = [*rebuilt, x[0]], [_stage(model, j) for j in kept] + ["the row itself"]
    captions = [f"error {percent(error) if error >= ROUNDING or not error else 'below 0.001%'}" for error in errors]
    panels = _side_by_side(about, several, shape, ax)
    for panel, title, caption in zip(panels.axes, titles, [*captions, ""], strict=True):
        captioned(panel, title)
        panel.set_xlabel(caption)
    panels.headline(f"Row {number} from ever more components")
    return panels.array


def _counts(counts: Any, about: Subject) -> list[int]:
    """0, then numbers of components, in order."""
    if counts is None:
        return round_numbers(about.found.k)
    wanted = list(counts) if np.iterable(counts) else [counts]
    given = [int(j) for j in wanted if is_integer(j) and 0 <= j <= about.found.k]
    if len(given) < len(wanted) or not given:
        raise ParameterError("counts", counts, f"must be numbers of components between 0 and {about.limit}")
    return sorted({0, *given})


def round_numbers(k: int) -> list[int]:
    """0, 1, 2, 5, 10, … and k.

    Examples
    --------
    >>> round_numbers(7)
    [0, 1, 2, 5, 7]
    """
    return [0, *(j for j in (a * 10**b for b in range(7) for a in ROUND) if j < k), k]


def _stage(model: Any, j: int) -> str:
    if not j:
        return MEAN if model.center else "0 components"
    return f"{j} {plural(j, 'component')}"


def stages(model: Any, x: Array, counts: Sequence[int]) -> tuple[Array, Array]:
    """x̂ of one row for each number of components, and the relative errors ‖z − ẑ‖/‖z‖, from z − ẑ itself."""
    subspace = model.subspace_
    y = subspace.encode(x, np.float64)[0]
    Y = np.where(np.arange(len(y)) < np.array(counts)[:, None], y, 0.0)
    rebuilt = subspace.decode(Y)
    z, given = subspace.preprocessing(FLOAT64)(x)[0], x[0] if subspace.scale is None else x[0] / subspace.scale
    unit = float(np.abs([z, given]).max()) or 1.0  # squares of very large or small numbers leave the range of float64
    size, rounding = np.linalg.norm(z / unit), UNIT * np.linalg.norm(given / unit)
    left = np.linalg.norm((z - Y @ subspace.axes.T) / unit, axis=1)
    return rebuilt, left / size if size > rounding else np.zeros(len(counts))  # the mean, when rounded, has no error


def _side_by_side(about: Subject, several: list[Array], shape: Shape | None, ax: Any) -> Strip:
    """Images on one scale, or curves over the row itself."""
    count = len(several)
    columns = count if count <= 7 else -(-count // 2)
    if shape is not None:
        panels, white = strip(ax, count, columns, panel_size(shape, 1.45, 0.75)), white_for(about, shape)
        for panel, values in zip(panels.axes, several, strict=True):
            show(panel, *data_image(values, shape, several[-1], white))
        return panels
    columns = -(-count // -(-count // 4))
    panels = strip(ax, count, columns, (2.3, 2.0))
    prepare = about.model.subspace_.preprocessing(FLOAT64)
    drawn = list(prepare(np.array(several))) if about.found.scale else several
    scale = scale_of(about.model, about.found.n_columns, None)
    at = np.arange(len(drawn[0])) if scale is None else scale
    low, high = min(values.min() for values in drawn), max(values.max() for values in drawn)
    margin = 0.06 * (high - low) or 1.0
    for i, (panel, values) in enumerate(zip(panels.axes, drawn, strict=True)):
        colours, last = framed(panel), i == count - 1
        dots = "o" if len(at) <= DOTTED else ""
        if not last:
            panel.plot(at, drawn[-1], color=colours.faint, lw=2.5)
        panel.plot(at, values, color=colours.ink if last else colours.accent, marker=dots, ms=3, lw=1.2)
        panel.set(ylim=(low - margin, high + margin))
        panel.tick_params(labelleft=i % columns == 0)
        if scale is None:
            whole_numbers(panel)
    return panels
