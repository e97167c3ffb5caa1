"""How far a spectrum can be trusted: `certificate`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.plot.colours import Look, look
from ritz.plot.style import FEW_MARKS, axes, below, framed, headline, legend, pyplot, whole_numbers
from ritz.plot.subject import subject
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.certify import Spectrum
from ritz.views.format import spelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POWER = re.compile(r"\d[\d.]*e[+-]\d+")  # a number with a power of ten


def certificate(fitted: Any, *, ax: Axes | None = None) -> Axes:
    """The certificate as a figure: how far every variance may be off, by arithmetic and by the sample, and every axis.

    All on one logarithmic scale, relative to the first variance, or to the largest magnitude: the numerical error that
    the certificate proves, the sampling error λ_i√(2/n) that other rows would make, and the sine of the largest angle
    between a component and the true one, in degrees on the right. The line of `tol` is what was asked of the residuals.
    What is 0 is drawn as an empty mark at the bottom, what is not known at the top. The title is the verdict of the
    certificate.

    Parameters
    ----------
    fitted : data, a fitted PCA or KernelPCA, what `ritz.eigen` returned, or a certificate
    ax : where to draw; a new figure otherwise

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> ax = ritz.plot.certificate(ritz.PCA(2).fit(load_iris().data))
    >>> print(ax.get_title().split(":")[0])
    Accurate as asked
    """
    pyplot()
    found = certified(fitted, None).certificate
    ax = axes(ax)
    colours, first = framed(ax, "y"), float(np.abs(found.values).max(initial=0.0)) or 1.0
    series = {f"{found.quantity}: numerical error": (np.asarray(found.errors) / first, "o", colours.accent)}
    if found.sampling_errors is not None:
        series[f"{found.quantity}: sampling error"] = (np.abs(found.sampling_errors) / first, "s", colours.second)
    series["axis: angle"] = (np.asarray(found.angle_bounds), "^", colours.good)
    levels = [level for level in (found.tol, found.reached) if level and np.isfinite(level)]
    floor = floor_of(np.concatenate([*(values for values, *_ in series.values()), levels]))
    places, size = np.arange(1.0, len(found.values) + 1), 5.5 if len(found.values) <= FEW_MARKS else 2.5
    marks = {
        name: _seen(ax, places, values, floor, marker, colour, size)
        for name, (values, marker, colour) in series.items()
    }
    for name, level, style in (("tol", found.tol, (0, (5, 2))), ("residual reached", found.reached, (0, (1, 1.5)))):
        if level and np.isfinite(level):
            marks[name] = ax.axhline(level, color=colours.soft, lw=1.2, ls=style)
    ax.set(yscale="log", xlabel="component", xlim=(0.4, len(places) + 0.6))
    first_one = "largest magnitude" if found.by_magnitude else f"first {found.quantity}"
    ax.set_ylabel(f"off by at most, relative to the {first_one}")
    ax.set_ylim(floor / 3, 3.0)
    _degrees(ax)
    whole_numbers(ax)
    legend(ax, [*marks.values()], [*marks], **below(ax, 3))
    headline(ax, _verdict(found))
    ax.title.set_color(_shade(found, look(ax, outside=True)))
    return ax


def _seen(ax: Axes, x: Array, values: Array, floor: float, marker: str, colour: str, size: float) -> Any:
    """Marks at these heights: at 1 where nothing is known."""
    known = np.isfinite(values) & (values < 1)
    if not known.all():
        ax.plot(x[~known], np.ones(int((~known).sum())), ls="", marker=marker, ms=size, color=colour, mfc="none")
    return marked(ax, x[known], values[known], floor, marker, colour, size)


def _degrees(ax: Axes) -> None:
    """The angle of a sine, on the right."""
    right = ax.secondary_yaxis(
        "right",
        functions=(lambda sine: np.degrees(np.arcsin(np.minimum(sine, 1.0))), lambda angle: np.sin(np.radians(angle))),
    )
    colour = look(ax, outside=True).good
    right.set_ylabel("angle of an axis, degrees", color=colour)
    right.tick_params(axis="y", which="both", colors=colour)


def _verdict(found: Certificate) -> str:
    """The words of the certificate itself, with powers of ten as people write them."""
    said = POWER.sub(lambda part: spelled(part[0]), found.verdict)
    return said[0].upper() + said[1:]


def _shade(found: Certificate, colours: Look) -> str:
    """Green for what was asked for and is so, red for what is not, or may have been missed."""
    if not found.satisfied or found.completeness == "not excluded":
        return colours.bad
    return colours.ink if found.tol is None else colours.good


class Known(NamedTuple):
    """A certificate, and what is known beside it.

    Attributes
    ----------
    kept : how many components a model keeps; None for data
    rest : an upper bound of all that lies beyond the components together; infinite where it is not known
    whole : whether no component can follow
    """

    certificate: Certificate
    kept: int | None
    rest: float = np.inf
    whole: bool = False


def certified(fitted: Any, X: Any) -> Known:
    """The certificate of whatever has one; for a model with its rows, that of all their components."""
    if isinstance(fitted, Certificate | Spectrum):
        certificate = fitted if isinstance(fitted, Certificate) else fitted.certificate
        if not np.isfinite(certificate.values).all():
            raise DataError("the values leave the range of float64", "multiply the matrix by a power of ten first")
        k = len(certificate.values)
        return Known(certificate, k, whole=isinstance(fitted, Spectrum) and k == len(fitted.vectors))
    about = subject(fitted, X)
    found, kept = about.in_range, None if about.fresh else about.found.k
    if found.kernel:
        return Known(found.certificate, kept)
    if about.rows is not None and not about.fresh:
        about = about.refitted()
    certificate, subspace = about.found.certificate, about.model.subspace_
    # Σλ is known; the variances that are kept may be smaller than they were found by as much as their errors.
    rest = float(subspace.left_out + np.sum(certificate.errors))
    return Known(certificate, kept, rest, subspace.spare <= 0)


def floor_of(values: Array) -> float:
    """Where 0 is drawn on a logarithmic scale: a decade below all that is seen."""
    seen = values[np.isfinite(values) & (values > 0)]
    return float(seen.min()) / (10.0 if len(seen) < len(values) else 1.0) if len(seen) else 0.1


def marked(ax: Axes, x: Array, values: Array, floor: float, marker: str, colour: str, size: float) -> Any:
    """Marks at these heights; empty ones at the floor for 0."""
    nothing = ~(values > 0)
    how = {"ls": "", "marker": marker, "ms": size, "color": colour}
    full = ax.plot(x[~nothing], values[~nothing], **how)
    ax.plot(x[nothing], np.full(int(nothing.sum()), floor), mfc="none", **how)
    return full[0]
