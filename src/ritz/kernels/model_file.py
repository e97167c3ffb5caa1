"""What may appear in the file of a KernelPCA model, and how its parts must fit together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.kernels import Linear, Points, Precomputed, Rbf
from ritz.kernels.base import Frame
from ritz.kernels.distances import Laplacian
from ritz.kernels.embedding import Embedding
from ritz.kernels.preimage import PreImage
from ritz.kernels.products import Cosine, Polynomial, Sigmoid
from ritz.kernels.state import KernelState
from ritz.linalg.dense import orthogonality_defect
from ritz.pca import model_file
from ritz.pca.model_file import RESULTS, require
from ritz.runtime.files.container import DTYPES
from ritz.runtime.files.decoding import Form

ORTHOGONAL = 1e-4  # departure from orthonormality, per vector, that vectors rounded to float32 may have


def _check_kernel_pca(state: KernelState) -> None:
    model_file.check_results(state.dtype, state.output, state.n_features, state.columns)
    n, k = state.eigenvectors.shape
    require(state.rows.shape == (n, state.n_features), f"rows of shape {(n, state.n_features)}")
    values, narrow = state.eigenvalues, {state.eigenvectors.dtype.name, state.ratios.dtype.name}
    require(narrow == {state.dtype} and values.dtype.name in (state.dtype, "float64"), "dtype")
    require((values >= 0).all() and (values[1:] <= values[:-1]).all(), "eigenvalues >= 0 and descending")
    defect = orthogonality_defect(state.eigenvectors.astype(np.float64))
    require(defect <= ORTHOGONAL * max(1, k), "orthonormal eigenvectors")
    require((state.deviations >= 0).all(), "deviations >= 0")
    require(model_file.squares_of(state.deviations, values), "eigenvalues are squares of deviations")
    _check_ratios(state)
    require(state.gamma >= 0 and state.trace_error >= 0, "gamma and trace_error >= 0")
    require(len(state.certificate.values) == k, f"a certificate for {k} components")
    with np.errstate(over="ignore", under="ignore"):  # the dtype of results may have a smaller range
        certified = state.certificate.values.astype(values.dtype)
    require(model_file.agree(certified, values), "a certificate of these eigenvalues")
    embedding = state.embedding
    require(embedding.n_components == k, f"an embedding with {k} components")
    points = embedding.points
    if isinstance(embedding.kernel, Precomputed):
        places = points.sizes
        require(points.Z.shape[1] == 0, "no values beside the numbers of the points")
        require(len(places) and np.isin(places, np.arange(n)).all(), f"numbers of points below {n}")
    else:
        require(points.Z.shape[1] == state.n_features, f"points of {state.n_features} columns")
    if state.preimage is not None:
        _check_way_back(state.preimage, embedding, state.n_features)


def _check_ratios(state: KernelState) -> None:
    """Shares of a total that may be known to lie between bounds alone: they stand for its middle."""
    model_file.check_shares(state.ratios, 2)
    low, high = state.ratio_bounds.T
    require((low <= high).all() and (high <= 1).all(), "bounds on ratios in order, and of 1 at most")


def _check_way_back(preimage: PreImage, embedding: Embedding, d: int) -> None:
    require(preimage.embedding is embedding, "pre-images of the scores of this embedding")
    require(preimage.points.Z.shape[1] == embedding.n_components, f"points of {embedding.n_components} scores")
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
    left = preimage.remainder
    require(
        left is None or (preimage.mean + left == preimage.mean).all(), "a remainder of the mean below its last digit"
    )


def _check_points(points: Points, frame: Frame) -> None:
    require(points.Z.ndim == 2 and len(points.sizes) == len(points), f"sizes of {len(points)} points")
    require(frame.origin is None or len(frame.origin) == points.Z.shape[1], "an origin among the points")
    require(frame.origin is None or isinstance(points.Z, np.ndarray), "no origin of sparse rows")


def _check_frame(frame: Frame) -> None:
    require(frame.weight >= 0 and frame.unit > 0 and frame.terms >= 0 and frame.grain >= 0, "units > 0 and errors >= 0")
    require(frame.factor >= 0, "a factor >= 0")


def _check_kernel(kernel: Any) -> None:
    require(kernel.gamma >= 0 and getattr(kernel, "degree", 0) >= 0, "gamma and degree >= 0")


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
    **dict.fromkeys((Linear, Cosine, Precomputed), Form()),
    **dict.fromkeys((Polynomial, Sigmoid, Rbf, Laplacian), Form(check=_check_kernel)),
}
