"""Kernel models into files."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ritz.estimators.kernel_request import chosen_kernel, requested
from ritz.estimators.saving import columns_of, output_of
from ritz.kernels.state import KernelState


def kernel_state(model: Any) -> KernelState:
    """What a KernelPCA is made of."""
    requested(clone(model), len(model.eigenvectors_))  # a copy, as this draws from random_state
    chosen_kernel(model, model.gamma_)
    return KernelState(
        dtype=model.eigenvectors_.dtype.name,
        n_features=int(model.n_features_in_),
        **columns_of(model),
        rows=model.X_fit_,
        gamma=model.gamma_,
        eigenvalues=model.eigenvalues_,
        eigenvectors=model.eigenvectors_,
        deviations=model._deviations,
        ratios=model.explained_variance_ratio_,
        ratio_bounds=model.explained_variance_ratio_bounds_,
        trace_error=model.trace_error_,
        embedding=model.embedding_,
        certificate=model.certificate_,
        plan=model.plan_,
        history=model.history_,
        preimage=model.__dict__.get("_preimage"),
        output=output_of(model),
    )
