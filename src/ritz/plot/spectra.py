"""Variances and what is lost without them: `scree` and `errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.fitting.rank import for_share
from ritz.linalg.dense import Array
from ritz.plot.colours import Look, look
from ritz.plot.style import axes, framed, headline, legend, lettered, outlined, pyplot, whole_numbers
from ritz.plot.subject import Subject, subject
from ritz.rows.base import stack
from ritz.views.findings import Findings
from ritz.views.format import asked_share, counted, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = 8  # components whose names and shares stand below their bars
BARS = 60  # components up to which bars have space between them, and points are drawn one by one
LARGE = 0.3  # share of the first component from which bars and their sums are drawn on one scale
MOST = 0.95  # share of the variance that a title tells the number of components for


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
    wide, places = 0.72 if len(values) <= BARS else 1.0, np.arange(1, len(values) + 1)
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
    dots = {"marker": "o" if len(together) <= BARS else "", "ms": 4}
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
    enough = min(for_share(found.shares, 1.0, MOST), found.k)
    first = f"PC1 holds {percent(float(together[0]))} of the {what}"
    return first if enough == 1 else f"{first}, {enough} components hold {percent(float(together[enough - 1]))}"


def errors(fitted: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """The mean squared error (1/n) Σ ‖z − ẑ‖² that k components leave, (n − ddof)/n · Σ_{i>k} λ_i, for every k.

    On the right the same as a share of the variance, on top how many numbers are kept: k scores for each of n rows, and
    k axes and the mean of d numbers each.

    Parameters
    ----------
    fitted : data, or a fitted PCA or KernelPCA
    X : rows, such as some held out: their own mean squared error is measured and drawn beside the curve
    ax : where to draw; a new figure otherwise

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> ax = ritz.plot.errors(ritz.PCA(3).fit(X[::2]), X[1::2])
    >>> print(ax.get_title())
    Error with 3 components: 0.4% of the
    variance; of the rows of X: 0.6%
    """
    pyplot()
    about = subject(fitted, X)
    found = about.found
    left, total = left_out(about)
    measured = None if about.fresh or about.rows is None else measured_errors(about)
    ax = axes(ax)
    colours, counts = framed(ax, "y"), np.arange(found.k + 1)
    dots = "o" if found.k <= BARS else ""
    curve = ax.plot(counts, left, color=colours.accent, marker=dots, ms=4)
    handles, names = [curve[0]], ["rows of the fit" if found.n_rows else "by the covariance"]
    if measured is not None:
        handles += ax.plot(counts, measured, color=colours.second, marker=dots and "s", ms=4, ls=(0, (4, 2)))
        legend(ax, handles, [*names, "rows of X, measured"], loc="upper right")
    top = float(max(left.max(), 0.0 if measured is None else measured.max()))
    space = " in feature space" if found.kernel else ", columns scaled" if found.scale else ""
    ax.set(xlabel="components kept, k", ylabel=f"mean squared error{space}", ylim=(0, 1.05 * top or 1.0))
    ax.set_xlim(-0.02 * found.k, 1.02 * found.k)
    whole_numbers(ax)
    _beside(ax, found, total)
    headline(ax, _errors_title(about, left, measured, total), pad=10)
    return ax


def left_out(about: Subject) -> tuple[Array, float]:  # (k + 1,)
    """Mean squared errors of 0, 1, …, k components, and what they are shares of."""
    found = about.in_range
    if found.kernel:
        share, factor = float(found.shares[0]), 1.0 / (found.n_rows or 1)
        total = float(found.values[0]) / share if share > 0 else 0.0
        rest = max(1.0 - float(np.sum(found.shares)), 0.0) * total
    else:
        n, subspace = found.n_rows, about.model.subspace_
        factor = 1.0 if n is None else (n - subspace.ddof) / n
        rest, total = subspace.left_out, float(about.model.total_variance_)
    # Summed from the last one upwards: differences from the total would lose the digits of small errors.
    return factor * (rest + np.append(np.cumsum(found.values[::-1])[::-1], 0.0)), factor * total


def measured_errors(about: Subject) -> Array:  # (k + 1,)
    """The same of the rows at hand: ‖z‖² − ‖y‖² with all components, and y² added for each one taken away."""
    model, rows = about.model, about.needed("errors")
    error = model.feature_error if about.found.kernel else model.reconstruction_error
    Y = np.asarray(stack(model._codes(rows), rows.shape[0]), dtype=np.float64)
    if getattr(model, "whiten", False):
        Y = Y * model.subspace_.deviations * model.subspace_.unit
    squares = np.mean(Y**2, axis=0)
    return float(np.mean(error(rows))) + np.append(np.cumsum(squares[::-1])[::-1], 0.0)


def _beside(ax: Axes, found: Findings, total: float) -> None:
    """The error as a share on the right, and numbers kept on top; both are the same lines in other units."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

    if total > 0:
        right = ax.secondary_yaxis("right", functions=(lambda e: e / total, lambda s: s * total))
        right.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        right.set_ylabel("share of the variance")
    n, d = found.n_rows, found.n_columns
    if n is None or found.kernel:
        return
    top = ax.secondary_xaxis("top", functions=(lambda k: k * (n + d) + d, lambda kept: (kept - d) / (n + d)))
    top.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    top.xaxis.set_major_formatter(FuncFormatter(lambda kept, _: f"{kept:,.0f}"))
    top.set_xlabel(f"numbers kept, instead of {n:,} × {d:,} = {n * d:,}")


def _errors_title(about: Subject, left: Array, measured: Array | None, total: float) -> str:
    if not total > 0:
        return "All rows are alike: there is no error"
    k = about.found.k
    if about.fresh:  # the first number of components that is enough, for nobody has asked for one
        k = min(for_share(about.found.shares, 1.0, MOST), k)
    text = f"Error with {counted(k, 'component')}: {percent(float(left[k]) / total)} of the variance"
    return text if measured is None else f"{text}; of the rows of X: {percent(float(measured[k]) / total)}"
