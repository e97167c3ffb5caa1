"""How an iteration came to its answer: `convergence`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.plot.style import Look, axes, below, framed, headline, legend, pyplot
from ritz.plot.subject import AFFORDABLE, is_model, subject
from ritz.solvers import Orthogonal, Step
from ritz.spectrum.certify import Spectrum
from ritz.views.format import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = 6  # components whose names and rates have room above their iterations
MORE = 50  # eigenvalues beyond those found, where all of them are too many
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
FLOOR = 1e-14  # relative to the first value: what is smaller is rounding, and tells no rate


class Stretch(NamedTuple):
    """Iterations on one component, or on all at once.

    Attributes
    ----------
    start : how many iterations came before
    steps : of the solver
    rate : factor by which theory has the residual fall in every iteration, NaN where it is not known
    ratio : that factor as a formula
    """

    start: int
    steps: list[Step]
    rate: float
    ratio: str

    @property
    def at(self) -> Array:
        """Numbers of the iterations."""
        return self.start + np.array([step.iteration for step in self.steps], dtype=float)


class Iteration(NamedTuple):
    """What is known of an iterative fit."""

    steps: tuple[Step, ...]
    values: Array  # eigenvalues, descending in magnitude: those found, or all of them
    tol: float | None
    solver: str  # "power", "orthogonal", or another without a law as simple
    columns: int | None  # that were iterated at once
    squared: bool  # whether the value is a Rayleigh quotient, whose error is that of the vector, squared


def convergence(
    fitted: Any, X: Any = None, *, n_components: int = 1, solver: Any = None, ax: Axes | None = None
) -> Axes:
    """Residual and change of the eigenvalue in every iteration, beside the theoretical (λ₂/λ₁)^m and (λ₂/λ₁)^(2m).

    Power iteration from v = Σ c_j u_j reaches v_m ∝ Σ c_j λ_j^m u_j. With r = |λ₂/λ₁| its residual ‖A v_m − ρ_m v_m‖
    falls like |λ₁ − λ₂||c₂/c₁| r^m, and its Rayleigh quotient ρ_m differs from λ₁ by |λ₁ − λ₂|(c₂/c₁)² r^{2m}: the
    value converges twice as fast as the vector. After deflation component i falls by λ_{i+1}/λ_i; orthogonal iteration with
    b columns makes it λ_{b+1}/λ_i. Theory fixes the slope alone: its lines are drawn through the last iterations.

    Parameters
    ----------
    fitted : data, which is fitted by an iterative solver; a PCA or KernelPCA fitted by one; or what `ritz.eigen`
        returned
    X : the rows of the fit, or the matrix given to `ritz.eigen`: its eigenvalues tell the rates that the components
        found do not tell, such as λ_{k+1}/λ_k
    n_components : of data, how many
    solver : of data, by name or as an object, "power" otherwise. Of what `ritz.eigen` returned, the one that was used:
        its history tells power iteration alone
    ax : where to draw; a new figure otherwise

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> A = np.diag([4.0, 3.0, 1.0])
    >>> ax = ritz.plot.convergence(ritz.eigen(A, 1, "power"), A)
    >>> ax.get_title()
    'Power iteration: each step multiplies the residual by λ₂/λ₁ = 0.75'
    """
    pyplot()
    known = (
        _of_spectrum(fitted, X, solver) if isinstance(fitted, Spectrum) else _of_model(fitted, X, n_components, solver)
    )
    if not known.steps:
        raise DataError(
            f"there is no history: the solver {known.solver!r} does not iterate", "fit with svd_solver='power'"
        )
    ax = axes(ax)
    colours, first, stretches = framed(ax, "y"), float(np.abs(known.values).max()) or 1.0, _stretches(known)
    for stretch in stretches:
        _draw(ax, stretch, first, known.squared, colours)
    _edges(ax, stretches, colours)
    if known.tol:
        ax.axhline(known.tol, color=colours.good, lw=1, ls=(0, (5, 2)))
    ax.set(yscale="log", xlabel="iteration", ylabel="relative residual and change")
    ax.set_xlim(0, None)
    _explained(ax, known, stretches, colours)
    headline(ax, _title(known, stretches))
    return ax


def _of_model(fitted: Any, X: Any, k: int, solver: Any) -> Iteration:
    if is_model(fitted):
        about = subject(fitted, X)
    else:
        about = subject(fitted, X, at_most=k, svd_solver="power" if solver is None else solver)
    model, rows = about.model, about.rows
    used = getattr(model, "svd_solver", getattr(model, "eigen_solver", None))
    values = np.asarray(about.found.certificate.values)
    if rows is not None and not about.found.kernel:
        how = {name: getattr(model, name) for name in ("center", "scale", "ddof")}
        values = subject(
            rows, at_most=None if min(rows.shape) <= AFFORDABLE else MORE + len(values), **how
        ).found.values
    columns = about.found.k + getattr(used, "oversample", getattr(model, "n_oversamples", Orthogonal().oversample))
    squared = getattr(used, "y", None) is None
    return Iteration(model.history_, values, model.certificate_.tol, model.plan_.solver, columns, squared)


def _of_spectrum(found: Spectrum, A: Any, solver: Any) -> Iteration:
    k, spare = len(found.values), 0 if found.spare is None else len(found.spare)
    name = solver if isinstance(solver, str) else "" if solver is None else type(solver).__name__.lower()
    alone = not spare and all(step.iteration == 1 for step in _firsts(found.history))
    values = found.values
    if A is not None:
        matrix = np.asarray(A.toarray() if hasattr(A, "toarray") else A, dtype=np.float64)
        values = np.linalg.eigvalsh(matrix)
        values = values[np.argsort(-np.abs(values), kind="stable")]
    squared = getattr(solver, "y", None) is None
    name = name or ("power" if alone else "iterative")
    return Iteration(found.history, values, found.certificate.tol, name, k + spare, squared)


def _firsts(steps: Sequence[Step]) -> list[Step]:
    """The first step on every component."""
    return [step for i, step in enumerate(steps) if i == 0 or step.component != steps[i - 1].component]


def _stretches(known: Iteration) -> list[Stretch]:
    """Iterations on one component after another, each with its rate; block solvers have one stretch."""
    if known.solver != "power":
        last = known.steps[-1].component
        rate, ratio = (
            _rate(known, last, known.columns) if known.solver == "orthogonal" and known.columns else (np.nan, "")
        )
        return [Stretch(0, list(known.steps), rate, ratio)]
    found, start = [], 0
    for i in sorted({step.component for step in known.steps}):
        steps = [step for step in known.steps if step.component == i]
        found.append(Stretch(start, steps, *_rate(known, i, i + 1)))
        start += len(steps)
    return found


def _rate(known: Iteration, i: int, j: int) -> tuple[float, str]:
    """|λ_j/λ_i|, counted from 0, and as a formula counted from 1."""
    ratio = f"λ{j + 1}/λ{i + 1}".translate(SUBSCRIPTS)
    if j >= len(known.values) or not known.values[i]:
        return np.nan, ratio
    return float(abs(known.values[j] / known.values[i])), ratio


def _draw(ax: Axes, stretch: Stretch, first: float, squared: bool, colours: Look) -> None:
    """What was measured as points, what theory says as lines of that slope."""
    kinds = (("residual", 1, colours.accent, "o"), ("change", 2 if squared else 1, colours.second, "s"))
    for name, power, colour, marker in kinds:
        measured = np.array([getattr(step, name) for step in stretch.steps]) / (first if name == "residual" else 1.0)
        measured = np.where(np.isfinite(measured) & (measured > 0), measured, np.nan)
        ax.plot(stretch.at, measured, ls="", marker=marker, ms=4.0 if len(measured) <= 60 else 2.0, color=colour)
        law = theory(stretch.at, measured, stretch.rate**power)
        law = np.where(law <= 3 * np.nanmax(measured, initial=0.0), law, np.nan)  # early on it says nothing
        ax.plot(stretch.at, law, color=colours.ink, lw=1.0, ls=(0, (4, 2)), zorder=3)


def theory(at: Array, measured: Array, rate: float) -> Array:
    """c·rate^m through the last of what was measured above rounding; NaN where the rate is not known.

    Examples
    --------
    >>> theory(np.arange(4.0), np.array([5.0, 2.0, 1.0, 0.5]), 0.5)
    array([4. , 2. , 1. , 0.5])
    """
    usable = np.flatnonzero(np.isfinite(measured) & (measured > FLOOR))
    if not 0 < rate <= 1 or not len(usable):
        return np.full(len(at), np.nan)
    late = usable[len(usable) // 2 :]
    offset = float(np.median(np.log(measured[late]) - at[late] * np.log(rate)))
    return np.exp(offset + at * np.log(rate))


def _edges(ax: Axes, stretches: list[Stretch], colours: Look) -> None:
    """Lines between components, and above each what it is."""
    if len(stretches) < 2:
        return
    end = float(stretches[-1].at[-1])
    for i, stretch in enumerate(stretches):
        low, high = stretch.start + 0.5, float(stretch.at[-1]) + 0.5
        if i:
            ax.axvline(low, color=colours.soft, lw=0.8)
        if len(stretches) <= NAMED:
            rate = f"\n{stretch.ratio} = {number(stretch.rate, 2)}" if np.isfinite(stretch.rate) else ""
            wide = high - low > 0.17 * end
            ax.annotate(
                f"PC{i + 1}{rate if wide else ''}",
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
    names = ["residual ‖Av − λv‖, relative to λ₁", "change of λ, relative to λ"]
    if any(np.isfinite(stretch.rate) for stretch in stretches):
        formula = stretches[0].ratio if len(stretches) == 1 else "λᵢ₊₁/λᵢ"
        marks.append(Line2D([], [], color=colours.ink, lw=1.0, ls=(0, (4, 2))))
        names.append(f"theory: ({formula})^m" + (f" and ({formula})^2m" if known.squared else ""))
    if known.tol:
        marks.append(Line2D([], [], color=colours.good, lw=1, ls=(0, (5, 2))))
        names.append(f"tol = {number(known.tol, 2)}")
    legend(ax, marks, names, **below(ax, 2))


def _title(known: Iteration, stretches: list[Stretch]) -> str:
    one = stretches[0]
    name = f"{known.solver.capitalize()} iteration" if known.solver != "krylov" else "Block Krylov"
    name = "Iteration" if known.solver == "iterative" else name
    if len(stretches) == 1 and np.isfinite(one.rate):
        return f"{name}: each step multiplies the residual by {one.ratio} = {number(one.rate, 3)}"
    count = f"{len(known.steps):,} iterations"
    return (
        f"{name} with deflation: {len(stretches)} components in {count}" if len(stretches) > 1 else f"{name}: {count}"
    )
