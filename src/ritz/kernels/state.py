"""The state of a KernelPCA model: what a fit leaves, what a file keeps, and the attributes that follow from it.

A new fitted attribute is one line in `ATTRIBUTES`; if it does not follow from what is there, one field of `KernelState`
too. `FORMS` says what may appear in a file, and how its parts must fit together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from ritz.fitting.planning import Plan
from ritz.fitting.result import ABSENT, Table, as_result
from ritz.kernels import KERNELS, Frame, Points, Precomputed, Rbf
from ritz.kernels.decompose import KernelFit
from ritz.kernels.embedding import Embedding
from ritz.kernels.preimage import PreImage
from ritz.linalg.dense import Array, orthogonality_defect, squared
from ritz.pca import model_file
from ritz.pca.model_file import RESULTS, require
from ritz.rows.base import Block
from ritz.runtime.files.container import DTYPES
from ritz.runtime.files.decoding import Form
from ritz.solvers import Step
from ritz.spectrum.certificate import Certificate

ORTHOGONAL = 1e-4  # departure from orthonormality, per vector, that vectors rounded to float32 may have


@dataclass(frozen=True, eq=False)
class KernelState:
    """A fit of KernelPCA: all that is learned, but for what follows from it."""

    dtype: str  # of the results
    n_features: int  # d
    gamma: float
    rows: Block  # (n, d) of the fit, dense or sparse; none of scattered ones, whose number no array tells
    eigenvalues: Array  # (k,) of the centred kernel matrix
    eigenvectors: Array  # (n, k)
    deviations: Array  # (k,) roots of the eigenvalues, finite even where those overflow
    ratios: Array  # (k,) shares of the variance
    ratio_bounds: Array  # (k, 2) what they lie between
    trace_error: float
    embedding: Embedding
    certificate: Certificate
    plan: Plan
    history: tuple[Step, ...] = ()
    columns: tuple[str, ...] | None = None  # their names, if they have any
    preimage: PreImage | None = None
    output: str | None = None  # what `set_output` was told about `transform`
    textual: bool = True  # whether the names of columns are text where they come from, and not numbers
    image_shape: tuple[int, ...] | None = None  # (h, w) or (h, w, 3), where the rows are pictures
    white: float | None = None  # the number that stands for white in them, where that is known

    @property
    def scores(self) -> Array:  # (n, k)
        """Of the rows of the fit."""
        return self.eigenvectors * self.deviations


def state_of(fitted: KernelFit, rows: Block, gamma: float, dtype: np.dtype[Any], drop: bool) -> KernelState:
    """What is kept of a finished fit; without the components that have no variance, if so asked."""
    found, unit, total = fitted.spectrum, fitted.embedding.frame.unit, sum(fitted.total) / 2
    bounds, shares = _ratio_bounds(fitted), found.values / total if total > 0 else np.zeros(len(found.values))
    k = int(np.count_nonzero(found.values > 0)) if drop else len(found.values)
    return KernelState(
        dtype=dtype.name,
        n_features=rows.shape[1],
        gamma=gamma,
        rows=rows,
        eigenvalues=as_result(squared(found.values[:k], unit), dtype),
        eigenvectors=np.array(found.vectors[:, :k], dtype=dtype, order="C"),
        deviations=np.sqrt(found.values[:k]) * unit,
        ratios=np.clip(shares, *bounds.T)[:k].astype(dtype),
        ratio_bounds=bounds[:k],
        trace_error=fitted.trace_error,
        embedding=fitted.embedding.first(k),
        certificate=fitted.certificate.first(k),
        plan=fitted.plan,
        history=found.history_in_units(unit),
    )


def without_rows(state: KernelState) -> KernelState:
    """The same without what has a row for every row of the fit: all that transform needs."""
    return replace(state, rows=state.rows[:0], eigenvectors=state.eigenvectors[:0])


def _ratio_bounds(fitted: KernelFit) -> Array:  # (k, 2)
    """The lower bound of a value over the most that the total can be, and the other way round; 1 at most."""
    low, high = fitted.spectrum.certificate.value_bounds.T
    least, most = fitted.total
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.maximum(low, 0.0) if fitted.embedding.kernel.positive else low
        lower, upper = np.nan_to_num(low / most), np.nan_to_num(high / least, nan=1.0)
    return np.column_stack([np.minimum(lower, 1.0), np.minimum(upper, 1.0)])


# How every attribute that a fit learns follows from its state.
ATTRIBUTES: Table = {
    "_n_features_out": lambda state: len(state.eigenvalues),
    "X_fit_": lambda state: state.rows if state.rows.shape[0] else ABSENT,
    "gamma_": attrgetter("gamma"),
    "eigenvalues_": attrgetter("eigenvalues"),
    "eigenvectors_": lambda state: state.eigenvectors if state.rows.shape[0] else ABSENT,
    "explained_variance_ratio_": attrgetter("ratios"),
    "explained_variance_ratio_bounds_": attrgetter("ratio_bounds"),
    "trace_error_": attrgetter("trace_error"),
    "embedding_": attrgetter("embedding"),
    "certificate_": attrgetter("certificate"),
    "plan_": attrgetter("plan"),
    "history_": attrgetter("history"),
    "image_shape_": attrgetter("image_shape"),
    "white_": attrgetter("white"),
    "dual_coef_": lambda state: ABSENT if state.preimage is None else state.preimage.dual,
    "X_transformed_fit_": lambda state: ABSENT if state.preimage is None else state.scores,
    "preimage_error_": lambda state: ABSENT if state.preimage is None else state.preimage.error,
}


def _check_kernel_pca(state: KernelState) -> None:
    model_file.check_results(state.dtype, state.output, state.n_features, state.columns)
    model_file.check_pictures(state.image_shape, state.white, state.n_features)
    n, k = state.eigenvectors.shape
    require(state.rows.shape == (n, state.n_features), f"rows of shape {(n, state.n_features)}")
    values, narrow = state.eigenvalues, {state.eigenvectors.dtype.name, state.ratios.dtype.name}
    require(narrow == {state.dtype} and values.dtype.name in (state.dtype, "float64"), "dtype")
    require((values >= 0).all() and (values[1:] <= values[:-1]).all(), "eigenvalues >= 0 and descending")
    defect = orthogonality_defect(state.eigenvectors.astype(np.float64))
    require(n == 0 or defect <= ORTHOGONAL * max(1, k), "orthonormal eigenvectors")
    require((state.deviations >= 0).all(), "deviations >= 0")
    require(model_file.squares_of(state.deviations, values), "eigenvalues are squares of deviations")
    model_file.check_shares(state.ratios, 2)  # of a total that may be known to lie between bounds alone: of its middle
    low, high = state.ratio_bounds.T
    require((low <= high).all() and (high <= 1).all(), "bounds on ratios in order, and of 1 at most")
    require(state.gamma >= 0 and state.trace_error >= 0, "gamma and trace_error >= 0")
    require(len(state.certificate.values) == k, f"a certificate for {k} components")
    with np.errstate(over="ignore", under="ignore"):  # the dtype of results may have a smaller range
        certified = state.certificate.values.astype(values.dtype)
    require(model_file.agree(certified, values), "a certificate of these eigenvalues")
    _check_mappings(state)


def _check_mappings(state: KernelState) -> None:
    """From rows to scores, and back."""
    embedding, points, preimage = state.embedding, state.embedding.points, state.preimage
    (n, d), k = state.rows.shape, len(state.eigenvalues)
    require(embedding.n_components == k, f"an embedding with {k} components")
    if isinstance(embedding.kernel, Precomputed):
        require(points.Z.shape[1] == 0, "no values apart from the numbers of the points")
        require(len(points) and np.isin(points.sizes, np.arange(n)).all(), f"numbers of points below {n}")
    else:
        require(points.Z.shape[1] == d, f"points of {d} columns")
    if preimage is None:
        return
    require(preimage.embedding is embedding, "pre-images of the scores of this embedding")
    require(preimage.points.Z.shape[1] == k, f"points of {k} scores")
    require(len(preimage.mean) == d, f"pre-images of {d} columns")
    require(not isinstance(preimage.kernel, Precomputed), "pre-images by a kernel of scores")
    if preimage.held is not None:
        require(preimage.held > 0 and isinstance(embedding.kernel, Rbf), "an iteration for rbf, held by more than 0")
        require(embedding.frame.weight > 0, "points that are rows in other units")


def _check_embedding(embedding: Embedding) -> None:
    p = len(embedding.points)
    require(p >= 1 and len(embedding.coefficients) == p, f"coefficients of {p} points")
    _check_points(embedding.points, embedding.frame)


def _check_preimage(preimage: PreImage) -> None:
    require(len(preimage.dual) == len(preimage.points), f"a row of the dual for each of {len(preimage.points)} points")
    _check_points(preimage.points, preimage.frame)
    left = 0.0 if preimage.remainder is None else preimage.remainder
    require((preimage.mean + left == preimage.mean).all(), "a remainder of the mean below its last digit")


def _check_points(points: Points, frame: Frame) -> None:
    require(points.Z.ndim == 2 and len(points.sizes) == len(points), f"sizes of {len(points)} points")
    require(frame.origin is None or len(frame.origin) == points.Z.shape[1], "an origin among the points")
    require(frame.origin is None or isinstance(points.Z, np.ndarray), "no origin of sparse rows")


def _check_frame(frame: Frame) -> None:
    require(frame.weight >= 0 and frame.unit > 0 and frame.terms >= 0 and frame.grain >= 0, "units > 0 and errors >= 0")
    require(frame.factor >= 0, "a factor >= 0")


def _check_kernel(kernel: Any) -> None:
    require(getattr(kernel, "gamma", 0) >= 0 and getattr(kernel, "degree", 0) >= 0, "gamma and degree >= 0")


FORMS: dict[type[Any], Form] = {
    **model_file.FORMS,
    KernelState: Form(
        {"eigenvectors": "n k", "eigenvalues": "k", "deviations": "k", "ratios": "k", "ratio_bounds": "k 2"},
        {
            "rows": " ".join(dtype.name for dtype in DTYPES.values()),
            **dict.fromkeys(("eigenvalues", "eigenvectors", "ratios"), RESULTS),
        },
        infinite="eigenvalues deviations history",
        sparse="rows",
        check=_check_kernel_pca,
    ),
    Embedding: Form({"coefficients": "p k", "offset": "k", "mean": "p"}, check=_check_embedding),
    Points: Form({"sizes": "p"}, infinite="sizes", sparse="Z"),
    Frame: Form({"origin": "d"}, infinite="terms factor", check=_check_frame),
    PreImage: Form(
        {"dual": "p d", "mean": "d", "remainder": "d"}, infinite="error", unknown="error", check=_check_preimage
    ),
    **dict.fromkeys(KERNELS.values(), Form(check=_check_kernel)),
}
