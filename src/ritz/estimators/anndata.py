"""What a model leaves in an AnnData object, where scanpy keeps it; other data is left alone.

``obsm["X_pca"]`` (n, k) scores, ``varm["PCs"]`` (d, k) axes, ``uns["pca"]`` variances, their ratios, the parameters and
the certificate: arrays, numbers and text only, so that the object can be written to a file.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.errors import DataError
from ritz.linalg.dense import Array
from ritz.spectrum.certificate import Certificate

if TYPE_CHECKING:
    from ritz.sensing.certificate import RecoveryCertificate


def check(X: Any) -> None:
    """Nothing can be left in a view of a file; to say so after a long fit would be late."""
    if X.is_view and X.isbacked:
        raise DataError(
            f"a view of {X.filename}, an AnnData object backed by a file, cannot be written to; pass "
            "adata[...].to_memory(), or take it in with partial_fit, which writes nothing"
        )


def note(pca: Any, X: Any, scores: Array | None = None) -> None:
    """Write the model, and scores where there are any, into an AnnData object."""
    parts = {"zero_center": bool(pca.center), "use_highly_variable": False, "scale": bool(pca.scale)}
    summary = {
        "params": parts | {"whiten": bool(pca.whiten), "ddof": int(pca.subspace_.ddof), "solver": pca.plan_.solver},
        "variance": pca.explained_variance_.copy(),
        "variance_ratio": pca.explained_variance_ratio_.copy(),
        "certificate": plain(pca.certificate_),
    }
    if scores is not None:
        X.obsm["X_pca"] = scores.copy()  # whoever changes the scores returned does not mean these
    X.varm["PCs"] = pca.components_.T.copy(order="C")
    X.uns["pca"] = summary


def plain(certificate: Certificate | RecoveryCertificate) -> dict[str, Any]:
    """A certificate as arrays, numbers and text; what is None is left out, since not every file can say that."""
    parts = {field.name: getattr(certificate, field.name) for field in fields(certificate)}
    parts["verdict"] = certificate.verdict
    if isinstance(certificate, Certificate):
        parts["groups"] = np.array(certificate.groups)
        del parts["sample"]  # from which these follow
        angles, groups = certificate.sampling_angles, certificate.sampling_groups
        parts |= {"sampling_angles": angles, "sampling_groups": None if groups is None else np.array(groups)}
    return {name: _plain(value) for name, value in parts.items() if value is not None}


def _plain(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value.item() if isinstance(value, np.generic) else value


def named(pca: Any, X: Any, scores: Array) -> Any:
    """Scores as a pandas table with the names of the cells, where `set_output` asks for pandas.

    scikit-learn, which makes the table otherwise, finds the names of rows in tables alone.
    """
    from sklearn.utils._set_output import _get_output_config

    if _get_output_config("transform", pca)["dense"] != "pandas":
        return scores
    import pandas as pd

    return pd.DataFrame(scores, index=X.obs_names)
