"""What may appear in the file of a PCA model, and how its parts must fit together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.fitting.planning import Plan
from ritz.fitting.rank import Choice
from ritz.linalg.dense import Array
from ritz.linalg.exponents import times_power
from ritz.moments.moments import Moments
from ritz.moments.sketch import Sketch, Stream
from ritz.pca.state import PCAState
from ritz.rows.pictures import is_shape
from ritz.runtime.files.decoding import Form
from ritz.solvers import SVD, Covariance, Gram, Krylov, LowRank, Orthogonal, Power
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.subspace import Subspace

RESULTS = "float64 float32"  # dtypes of results
QUANTITIES = ("variance", "eigenvalue")
CLAIMS = ("proved", "probability", "not excluded")
AGREE = 1e-6  # relative difference of numbers that say the same
HUGE = 1e290  # variance beyond which errors and sums of variances may leave the range of float64
FEW_DIGITS = 1e-317  # numbers below have fewer than those that must agree
SQUARES = 1e120  # the same of squares in units in which they are of ordinary size


@dataclass(frozen=True, eq=False)
class Twister:
    """The state of a NumPy RandomState."""

    key: NDArray[np.uint32]
    position: int
    has_gauss: int
    gauss: float


Parameter = (
    None | bool | int | float | str | Covariance | Gram | SVD | Power | Orthogonal | Krylov | LowRank | Twister
)  # what a parameter of an estimator may be


def require(holds: object, what: str) -> None:
    """An error that says what must hold."""
    if not holds:
        raise DataError(f"it needs {what}")


def check_results(dtype: str, output: str | None, n_features: int, columns: tuple[str, ...] | None) -> None:
    """What models that learn have."""
    require(dtype in RESULTS.split(), f"dtype in {RESULTS!r}")
    check_columns(output, n_features, columns)


def check_columns(output: str | None, n_features: int, columns: tuple[str, ...] | None) -> None:
    """What all models have."""
    require(output in (None, "default", "pandas", "polars"), "output is 'default', 'pandas' or 'polars'")
    require(n_features >= 1, "n_features >= 1")
    require(columns is None or len(columns) == n_features, f"a name for each of {n_features} columns")


def check_pictures(shape: tuple[int, ...] | None, white: float | None, n_features: int) -> None:
    """What models of pictures have."""
    require(shape is None or is_shape(shape), "image_shape is (h, w) or (h, w, 3)")
    require(shape is None or math.prod(shape) == n_features, f"pictures of {n_features} numbers")
    require(white is None or (shape is not None and white > 0), "white > 0, of pictures alone")


def _check_pca(state: PCAState) -> None:
    check_results(state.dtype, state.output, state.n_features, state.columns)
    check_pictures(state.image_shape, state.white, state.n_features)
    found = state.moments
    if isinstance(found, Moments):
        require(len(found.mean) == state.n_features, f"moments of {state.n_features} columns")
        require(found.triangle is not None or found.scatter.ndim == 2, "moments with a scatter or a triangle")
    if isinstance(found, Stream):
        require(found.shape[1] == state.n_features, f"a sketch of {state.n_features} columns")
    learned = (state.subspace, state.deviations, state.ratios, state.total_variance, state.certificate, state.plan)
    if state.subspace is None:
        require(found is not None, "a model has a subspace, or moments")
        require(all(part is None for part in learned) and state.dual is None, "nothing is learned without a subspace")
        return
    require(all(part is not None for part in learned), "a subspace comes with certificate, plan and variances")
    _check_learned(state)


def _check_learned(state: Any) -> None:
    """A state with a subspace, and all that comes with it."""
    subspace, certificate, n = state.subspace, state.certificate, state.subspace.n_rows
    d, k = subspace.axes.shape
    require(d == state.n_features, f"axes in {state.n_features} columns")
    require(k >= 1 and len(state.deviations) == len(state.ratios) == k, f"{k} deviations and ratios, one per axis")
    require(len(certificate.values) == k, f"a certificate for {k} components")
    require(state.ratios.dtype == state.dtype, f"ratios in {state.dtype}")
    total, rounding = state.total_variance, certificate.rounding
    known = total and np.isfinite([total, rounding]).all()
    check_shares(state.ratios, 1, doubt=rounding / total if known else 0.0)
    require((state.deviations >= 0).all(), "deviations >= 0")
    require(squares_of(state.deviations, subspace.variances), "variances are squares of deviations")
    own = times_power(subspace.deviations, subspace.power)
    # Files of version 1 do not keep what is beyond the range of variances: such a model has to be fitted again.
    require(agree(own, state.deviations, least=FEW_DIGITS), "a subspace whose deviations are these")
    require(agree(certificate.values, subspace.variances), "a certificate of these variances")
    _check_total(total, subspace, (k + 1) * rounding)
    require(n is None or n > subspace.ddof, "more rows than ddof")
    require(state.moments is None or state.moments.count == n, "moments of as many rows as the subspace is of")
    require(state.dual is None or state.dual.shape == (n, k), f"a dual of shape {(n, k)}")
    if state.choice is not None:
        require(state.choice.k == k, f"a choice of {k} components")
        compared = np.concatenate([state.choice.values, state.choice.null])
        require(subspace.variances[0] > HUGE or np.isfinite(compared).all(), "a choice among finite variances")


def _check_total(total: float, subspace: Subspace, doubt: float) -> None:
    """The total is that of the variances kept and left out, as far as they are in range."""
    kept, left_out, tiny = subspace.variances, subspace.left_out, np.finfo(float).tiny
    require(total >= 0, "total_variance >= 0")
    with np.errstate(over="ignore"):
        most = 2 * float(np.sum(kept)) + 2 * left_out + tiny + doubt
        both = max(float(kept[0]), left_out) <= 2 * total + tiny
    require(both and total <= most, "total_variance is that kept and left out")


def check_shares(ratios: Array, most: float, doubt: float = 0.0) -> None:
    """Shares of the variance, with some doubt about each of them."""
    require((ratios >= 0).all(), "ratios >= 0")
    single, added = most * (1 + AGREE) + 2 * doubt, most + 1e-3 + (len(ratios) + 1) * doubt
    fits = (ratios <= single).all() and float(np.sum(ratios)) <= added
    require(fits, f"ratios that add up to {most:g} at most")


def squares_of(deviations: Array, variances: Array) -> bool:
    """Whether these are the squares of those, as far as they are in range."""
    with np.errstate(over="ignore", under="ignore"):
        return agree((deviations**2).astype(variances.dtype), variances)


def agree(a: Array, b: Array, least: float | None = None) -> bool:
    """Whether numbers are the same but for rounding, and for what is below the `least`; where they overflow, both
    do."""
    least = float(np.finfo(np.asarray(b).dtype).tiny) / AGREE if least is None else least
    with np.errstate(invalid="ignore"):
        close = np.abs(a - b) <= AGREE * np.maximum(a, b) + least
    return bool(np.where(np.isinf(a) | np.isinf(b), a == b, close).all())


def _check_subspace(subspace: Subspace) -> None:
    require(subspace.left_out >= 0 and subspace.ddof >= 0, "left_out and ddof >= 0")
    require(subspace.unit > 0 and np.frexp(subspace.unit)[0] == 0.5, "a unit that is a power of two")
    given = [part is not None for part in (subspace.roots, subspace.beyond)]
    require(given == [subspace.unit != 1] * 2, "roots and beyond in a unit, and only there")
    roots = np.append(subspace.deviations, subspace.outside)
    if any(given):
        require(((roots >= 0) & (roots <= np.sqrt(SQUARES))).all(), f"roots from 0 to {np.sqrt(SQUARES):g}")
    variances = np.append(subspace.variances, subspace.left_out)
    require(squares_of(times_power(roots, subspace.power), variances), "variances are squares of the roots")


def _check_certificate(certificate: Certificate) -> None:
    k = len(certificate.values)
    require(certificate.completeness in CLAIMS, f"completeness in {CLAIMS}")
    require(certificate.quantity in QUANTITIES, f"a quantity in {QUANTITIES}")
    edges = [edge for group in certificate.groups for edge in group]
    tiled = edges[::2] == [0, *edges[1:-1:2]] and edges[-1:] == [k] if edges else k == 0
    require(tiled and all(s < e for s, e in certificate.groups), f"groups that tile the {k} components")
    require(certificate.groups or not certificate.tie_at_k, "a tie is one of a group")
    require(0 <= certificate.rank <= k and 0 <= certificate.complete_to <= k, f"rank and complete_to from 0 to {k}")
    low, high = certificate.value_bounds.T
    require((certificate.values >= 0).all() and (certificate.residuals >= 0).all(), "values and residuals >= 0")
    require((low <= high).all() and np.isfinite(low).all(), "bounds in order, and lower ones that are finite")
    angles = certificate.angle_bounds
    require(((angles >= 0) & (angles <= 1)).all(), "sines from 0 to 1")
    require(not certificate.by_magnitude and certificate.tol is not None, "a tol, and values that are in order of size")
    gap = np.zeros(2) if certificate.gap_bounds is None else certificate.gap_bounds
    require(0 <= gap[0] <= gap[1], "bounds of the eigengap in order, and >= 0")
    errors = (certificate.rounding, certificate.missing, certificate.reached, certificate.passes)
    require(
        min(*errors, certificate.tol or 0.0) >= 0 and (certificate.n_rows is None or certificate.n_rows > 0),
        "errors and counts >= 0",
    )
    beyond = np.append(certificate.residuals, [certificate.rounding, certificate.missing])
    overflows = (certificate.values > HUGE).any()
    require(overflows or np.isfinite(beyond).all(), f"finite errors of {certificate.quantity}s in range")
    chance = certificate.failure_probability
    require(chance is None or 0 <= chance <= 1, "a failure_probability from 0 to 1")


def _check_choice(choice: Choice) -> None:
    require(0 < choice.quantile < 1 and choice.flips >= 1, "a quantile inside (0, 1) of one flip or more")
    require(1 <= choice.k <= len(choice.values), "a choice among the values that were compared")
    require(choice.count is None or max(1, choice.count) == choice.k, "as many components as stand above noise")
    require(choice.count is None or choice.count >= 0, "a count >= 0")
    require((choice.values >= 0).all() and (choice.null >= 0).all(), "variances >= 0, also those of noise")
    removed = [before for before, _ in choice.stages]
    require(removed == sorted(set(removed)) and removed[:1] in ([], [0]), "stages that subtract more and more")
    require(not removed or removed[-1] <= choice.k, "no more components subtracted than kept")
    made = [flips for _, flips in choice.stages]
    require(all(flips >= 1 for flips in made), "a copy or more in every stage")
    require(not made or sum(made) == choice.flips, "as many copies as those of all stages")


def _check_plan(plan: Plan) -> None:
    counts = (plan.memory, plan.passes or 0, plan.operations or 0.0, plan.seconds, plan.columns or 0, plan.threads or 0)
    require(min(counts) >= 0, "costs >= 0")


def _check_moments(found: Moments) -> None:
    require(found.count >= 1 and len(found.unit) >= 1, "at least one row and one column")
    require((found.unit > 0).all() and (found.sizes >= 0).all(), "units > 0 and sizes >= 0")
    require((found.diagonal >= 0).all(), "a diagonal of the scatter >= 0")
    require((np.maximum(found.diagonal, found.sizes) <= SQUARES).all(), f"squares of {SQUARES:g} at most")
    with np.errstate(over="ignore"):
        spread = np.sqrt(found.diagonal / max(1, found.count - 1)) * found.unit
        mean = found.mean
    require(np.isfinite(spread).all() and np.isfinite(mean).all(), "finite means and deviations of columns")
    require(0 <= found.rounding <= 1 and found.audit >= 0, "errors >= 0, those of rounding relative")
    if found.triangle is not None:
        require(found.scatter.ndim == 1, "a diagonal alone beside an R factor")
        require((np.abs(found.triangle) <= np.sqrt(found.scatter) * (1 + AGREE)).all(), "an R factor of the scatter")
    elif found.scatter.ndim == 2:
        # Rounding leaves entries beside a diagonal that it has cancelled.
        largest = float(np.max(found.diagonal)) + found.rounding * float(np.sum(found.sizes))
        require((np.abs(found.scatter) <= (1 + AGREE) * largest).all(), "no entry above the diagonal's")
        require((np.abs(found.scatter - found.scatter.T) <= AGREE * largest).all(), "a symmetric scatter")


def _check_sketch(sketch: Sketch) -> None:
    d = len(sketch.moments.mean)
    require(sketch.moments.scatter.ndim == 1 and sketch.moments.triangle is None, "a diagonal alone in a sketch")
    require(all(piece.ndim == 2 and piece.shape[1] == d for piece in sketch.pieces), f"pieces of {d} columns")
    require(all((np.abs(piece) <= np.sqrt(SQUARES)).all() for piece in sketch.pieces), "pieces of ordinary size")
    require(0 <= sketch.lost <= SQUARES and 0 <= sketch.rounding <= SQUARES, f"errors from 0 to {SQUARES:g}")


def _check_stream(stream: Stream) -> None:
    shapes = {piece.shape[1:] for piece in stream.waiting}
    if stream.sketch is not None:
        require(stream.sketch.moments.centred == stream.center, "a sketch about the mean, or about 0, as its rows")
        shapes.add(stream.sketch.moments.shift.shape)
    require(len(shapes) == 1 and len(next(iter(shapes))) == 1, "rows of equal length")
    require(0 <= stream.waiting_rows < stream.room and stream.count >= 1, f"fewer than {stream.room} rows wait")
    require(all(len(piece) for piece in stream.waiting), "no empty piece waits")


def _check_twister(state: Twister) -> None:
    require(state.key.shape == (624,) and 0 <= state.position <= 624, "624 numbers and a position among them")
    require(state.has_gauss in (0, 1), "has_gauss is 0 or 1")


START = Form({"start": "d|d b", "y": "d"})
FORMS: dict[type[Any], Form] = {
    PCAState: Form(
        {"deviations": "k", "ratios": "k", "dual": "n k"},
        {"ratios": RESULTS},
        infinite="total_variance deviations history dual",
        signed="dual history",
        check=_check_pca,
    ),
    Subspace: Form(
        {"axes": "d k", "variances": "k", "mean": "d", "scale": "d", "remainder": "d", "roots": "k"},
        infinite="variances left_out",
        check=_check_subspace,
    ),
    Certificate: Form(
        {"values": "k", "residuals": "k", "value_bounds": "k 2", "angle_bounds": "k", "gap_bounds": "2"},
        infinite="values residuals value_bounds rounding missing reached gap_bounds",
        check=_check_certificate,
    ),
    Choice: Form({"values": "m", "null": "m"}, infinite="values null", check=_check_choice),
    Plan: Form(infinite="operations seconds", check=_check_plan),
    Moments: Form(
        {"shift": "d", "delta": "d", "scatter": "d|d d", "unit": "d", "sizes": "d", "triangle": "p d"},
        check=_check_moments,
    ),
    Sketch: Form(check=_check_sketch),
    Stream: Form(check=_check_stream),
    Twister: Form({"key": "n"}, {"key": "uint32"}, check=_check_twister),
    **dict.fromkeys((Covariance, Gram, SVD, LowRank), Form()),
    **dict.fromkeys((Power, Orthogonal, Krylov), START),
}
