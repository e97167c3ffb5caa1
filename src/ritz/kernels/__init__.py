"""Kernel PCA without scikit-learn: kernels by name, the centred kernel matrix, its components, pre-images.

Comes in: rows and a kernel. Goes out: an `Embedding` with its certificate, and its state as a model file keeps it.
A new kernel is one class, in `products` if it is a function of inner products, in `distances` if of distances, and
one line in the table `KERNELS` below. A new solver needs a cost in `plans` to be chosen here. A new fitted attribute
is one line in `state`. The estimator with its parameters is `estimators.kernel_pca`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ritz.kernels.base import Frame, Kernel, Points
from ritz.kernels.custom import Custom, Precomputed
from ritz.kernels.distances import Laplacian, Rbf
from ritz.kernels.products import Cosine, Linear, Polynomial, Sigmoid

KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": Rbf,
    "sigmoid": Sigmoid,
    "laplacian": Laplacian,
    "cosine": Cosine,
    "precomputed": Precomputed,
}


def kernel_named(name: str | Callable[..., Any], params: Mapping[str, Any] | None = None, **known: float) -> Kernel:
    """The kernel of that name, with those of the known parameters that it has; or one made from a function.

    Examples
    --------
    >>> kernel_named("rbf", gamma=0.5, degree=3)
    Rbf(gamma=0.5)
    """
    if callable(name):
        return Custom(name, dict(params or {}))
    if name not in KERNELS:
        names = ", ".join(map(repr, KERNELS))
        raise ValueError(f"kernel={name!r} is not one of {names}, nor a function of two rows")
    fields = getattr(KERNELS[name], "__dataclass_fields__", {})
    return KERNELS[name](**{key: value for key, value in known.items() if key in fields})


__all__ = ["KERNELS", "Custom", "Frame", "Kernel", "Linear", "Points", "Precomputed", "Rbf", "kernel_named"]
