"""What is lost without the components that are left out: `errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.linalg.dense import Array
from ritz.plot.style import FEW_MARKS, axes, framed, headline, legend, pyplot, whole_numbers
from ritz.plot.subject import Subject, subject
from ritz.rows.base import stack
from ritz.views.findings import Findings
from ritz.views.format import counted, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    dots = "o" if found.k <= FEW_MARKS else ""
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
    k = about.enough if about.fresh else about.found.k
    text = f"Error with {counted(k, 'component')}: {percent(float(left[k]) / total)} of the variance"
    return text if measured is None else f"{text}; of the rows of X: {percent(float(measured[k]) / total)}"
