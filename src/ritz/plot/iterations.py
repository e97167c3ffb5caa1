"""How an iteration came to its answer: `convergence`."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.plot.colours import Look
from ritz.plot.histories import FLOOR, Iteration, Stretch, of_model, of_spectrum, stretches_of, symbol, theory
from ritz.plot.style import FEW_MARKS, UNBROKEN, axes, below, framed, headline, legend, pyplot, whole_numbers
from ritz.plot.subject import is_model
from ritz.spectrum.certify import Spectrum
from ritz.views.format import counted, listed, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = 6  # components whose names and rates have space above their iterations


def convergence(
    fitted: Any, X: Any = None, *, n_components: int = 1, solver: Any = None, ax: Axes | None = None
) -> Axes:
    """Residual and change of the eigenvalue in every iteration, beside the theoretical |λ₂/λ₁|^m and |λ₂/λ₁|^(2m).

    Power iteration from v = Σ c_j u_j reaches v_m ∝ Σ c_j λ_j^m u_j. With r = |λ₂/λ₁| its residual ‖A v_m − ρ_m v_m‖
    falls like |λ₁ − λ₂||c₂/c₁| r^m, and its Rayleigh quotient ρ_m differs from λ₁ by |λ₁ − λ₂|(c₂/c₁)² r^{2m}: the
    value converges twice as fast as the vector. After deflation component i falls by λ_{i+1}/λ_i; orthogonal iteration
    with b columns makes it λ_{b+1}/λ_i. With λ₁ = λ₂ any vector of a plane is an eigenvector, and r = |λ₃/λ₁|; from a
    start orthogonal to u₁ the iteration finds λ₂, with r = |λ₃/λ₂|. The title tells both, where eigenvalues are known.
    Theory fixes the slope alone: the height of its lines is the median over the second half of the iterations. What is
    below 10⁻¹⁴ is rounding: an empty mark at that height.

    Parameters
    ----------
    fitted : data, which is fitted by an iterative solver; a PCA or KernelPCA fitted by one; or what `ritz.eigen`
        returned
    X : the rows of the fit, or the matrix given to `ritz.eigen`: its eigenvalues tell the rates that the components
        found do not tell, such as λ_{k+1}/λ_k
    n_components : of data, how many
    solver : of data, by name or as an object, "power" otherwise. What is fitted already knows its own
    ax : where to draw; a new figure otherwise

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> A = np.diag([4.0, 3.0, 1.0])
    >>> ax = ritz.plot.convergence(ritz.eigen(A, 1, "power"), A)
    >>> print(ax.get_title())
    Power iteration: each step multiplies
    the residual by λ₂/λ₁ = 0.75
    """
    pyplot()
    known = of_spectrum(fitted, X) if isinstance(fitted, Spectrum) else of_model(fitted, X, n_components, solver)
    if not known.steps:
        raise DataError(f"there is no history: the solver {known.solver!r} does not iterate", _iterating(fitted))
    ax = axes(ax)
    colours, stretches = framed(ax, "y"), stretches_of(known)
    _draw(ax, stretches, known, colours)
    _edges(ax, stretches, colours)
    if known.tol:
        ax.axhline(known.tol, color=colours.good, lw=1, ls=(0, (5, 2)))
    ax.set(yscale="log", xlabel="iteration", ylabel="relative residual and change")
    ax.set_xlim(0, 1.01 * stretches[-1].at[-1] + 0.5)
    whole_numbers(ax)
    if 1 < len(stretches) <= NAMED:
        low, high = ax.get_ylim()
        ax.set_ylim(top=high * (high / low) ** 0.12)  # for the names
    _explained(ax, known, stretches, colours)
    headline(ax, _title(known, stretches))
    return ax


def _iterating(fitted: Any) -> str:
    """How to get a history, in the words of what was called."""
    if isinstance(fitted, Spectrum):
        return "call ritz.eigen(A, k, 'power'), or 'orthogonal' or 'krylov'"
    if not is_model(fitted):
        return "pass solver='power', or 'orthogonal' or 'krylov'"
    return f"fit with {'eigen_solver' if hasattr(fitted, 'eigen_solver') else 'svd_solver'}='power'"


def _draw(ax: Axes, stretches: list[Stretch], known: Iteration, colours: Look) -> None:
    """What was measured as points, what theory says as lines of that slope; what is rounding as empty points."""
    kinds = (("residual", 1, colours.accent, "o"), ("change", 2 if known.squared else 1, colours.second, "s"))
    below: list[tuple[Array, dict[str, Any]]] = []
    for stretch, (name, power, colour, marker) in product(stretches, kinds):
        measured = np.array([getattr(step, name) for step in stretch.steps])
        measured /= known.first if name == "residual" else 1.0
        how = {"ls": "", "marker": marker, "ms": 4.0 if len(measured) <= FEW_MARKS else 2.0, "color": colour}
        seen = np.where(np.isfinite(measured) & (measured > FLOOR), measured, np.nan)
        ax.plot(stretch.at, seen, **how)
        law = theory(stretch.at, seen, stretch.rate**power)
        top = 3 * np.nanmax(seen, initial=0.0)  # early on it says nothing, nor of what is rounding
        law = np.where((law >= FLOOR) & (law <= top), law, np.nan)
        ax.plot(stretch.at, law, color=colours.ink, lw=1.0, ls=(0, (4, 2)), zorder=3)
        below.append((stretch.at[measured <= FLOOR], how))
    for at, how in below:
        if len(at):
            ax.plot(at, np.full(len(at), FLOOR), mfc="none", **how)


def _edges(ax: Axes, stretches: list[Stretch], colours: Look) -> None:
    """Lines between components, and above each what it is."""
    if len(stretches) < 2:
        return
    end, order = float(stretches[-1].at[-1]), sorted(stretch.found[0] for stretch in stretches)
    for i, stretch in enumerate(stretches):
        low, high = stretch.start + 0.5, float(stretch.at[-1]) + 0.5
        if i:
            ax.axvline(low, color=colours.soft, lw=0.8)
        if len(stretches) <= NAMED:
            rate = f"\n{stretch.ratio} = {number(stretch.rate, 2)}" if np.isfinite(stretch.rate) else ""
            wide = high - low > 0.17 * end
            ax.annotate(
                f"PC{order.index(stretch.found[0]) + 1}{rate if wide else ''}",
                ((low + high) / 2, 1.0),
                (0, -3),
                ("data", "axes fraction"),
                "offset points",
                ha="center",
                va="top",
                fontsize="small",
                color=colours.ink,
            )


def _explained(ax: Axes, known: Iteration, stretches: list[Stretch], colours: Look) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], ls="", marker="o", color=colours.accent),
        Line2D([], [], ls="", marker="s", color=colours.second),
    ]
    first = "|λ₁|" if known.values.min() < 0 else "λ₁"
    names = [f"residual ‖Av − λv‖, relative to {first}", "change of λ, relative to λ"]
    if any(stretch.falls for stretch in stretches):
        formula, where = _common(stretches)
        marks.append(Line2D([], [], color=colours.ink, lw=1.0, ls=(0, (4, 2))))
        names.append(f"theory: {formula}ᵐ" + f" and {formula}²ᵐ" * known.squared + where)
    if known.tol:
        marks.append(Line2D([], [], color=colours.good, lw=1, ls=(0, (5, 2))))
        names.append(f"tol = {number(known.tol, 2)}")
    if any(line.get_markerfacecolor() == "none" for line in ax.lines):
        marks.append(Line2D([], [], ls="", marker="o", color=colours.ink, mfc="none"))
        names.append(f"rounding: below {number(FLOOR)}")
    legend(ax, marks, names, **below(ax, 2))


def _common(stretches: list[Stretch]) -> tuple[str, str]:
    """The ratio of every stretch in one formula, and what has to be said with it."""
    plain = all(one.following in (None, one.found[0] + 1) for one in stretches)
    formula, where = ("λᵢ₊₁/λᵢ", "") if plain else ("λⱼ/λᵢ", ", λⱼ the next other value")
    if len(stretches) == 1:
        formula, where = stretches[0].ratio.strip("|"), ""
    return (f"|{formula}|" if any(one.opposite for one in stretches) else f"({formula})"), where


def _title(known: Iteration, stretches: list[Stretch]) -> str:
    names = {"krylov": "Block Krylov"}
    name = names.get(known.solver, f"{known.solver.capitalize()} iteration") + " with deflation" * (len(stretches) > 1)
    name += _unexpected([i for stretch in stretches for i in stretch.found])
    if not known.values.any():
        return f"{name}: all eigenvalues are 0"
    count = counted(len(known.steps), "iteration")
    if len(stretches) > 1:
        return f"{name}: {len(stretches)} components in {count}"
    return f"{name}: {count}" if np.isnan(stretches[0].rate) else f"{name}{_law(known, stretches[0])}"


def _law(known: Iteration, one: Stretch) -> str:
    """What theory says of the residual."""
    if one.rate <= FLOOR:
        return f": {symbol(one.following or 0)} is 0, and one step is enough"
    if not one.falls:
        return f": {one.ratio.strip('|')} = −1, and the residual does not fall"
    tied = range(one.found[0], one.following or 0) if known.solver == "power" else ()
    equal = f", {UNBROKEN.join(' = '.join(map(symbol, tied)).split())}" if len(tied) > 1 else ""
    factor = f"{one.ratio} = {number(one.rate, 3)}".replace(" ", UNBROKEN)
    return f"{equal}: each step multiplies the residual by {factor}"


def _unexpected(found: list[int]) -> str:
    """That eigenvalues were found which are not the first, or not in their order."""
    missed = sorted(set(range(max(found))) - set(found))
    if missed:
        return f" found {listed([symbol(i) for i in found])}, not {listed([symbol(i) for i in missed])}"
    return f" found {listed([symbol(i) for i in found])} in this order" if found != sorted(found) else ""
