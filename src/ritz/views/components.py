"""A table of components: what each holds, how sure that is, and which columns it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

HEAD = ("", "variance", "share", "together", "± numerical", "± sampling", "axis off by", "mostly")
MOSTLY = 3  # columns that stand for an axis
LEAST = 0.5  # of the largest entry of an axis, below which another one says little
LETTERS = 18  # of the name of a column


def component_rows(pca: Any, most: int) -> list[tuple[str, ...]]:
    """The first components of a fitted PCA, a row of text each."""
    certificate, shares = pca.certificate_, pca.explained_variance_ratio_
    together, sampling = np.cumsum(shares), certificate.sampling_errors
    rows: list[tuple[str, ...]] = []
    for i, variance in enumerate(pca.explained_variance_[:most]):
        with np.errstate(invalid="ignore"):
            numerical = np.nan_to_num(np.max(np.abs(certificate.value_bounds[i] - certificate.values[i])), nan=np.inf)
        sine = certificate.angle_bounds[i]
        rows.append(
            (
                f"PC{i + 1}",
                f"{variance:.5g}",
                f"{shares[i]:.1%}",
                f"{together[i]:.1%}",
                f"{numerical:.0e}",
                "" if sampling is None else f"{sampling[i]:.2g}",
                "undetermined" if sine >= 1 else f"{np.degrees(np.arcsin(sine)):.0e}°",
                made_of(pca, i),
            )
        )
    return rows


def made_of(pca: Any, i: int) -> str:
    """The columns with the largest entries in an axis, and their signs; nothing for columns without names."""
    names = getattr(pca, "feature_names_in_", None)
    if names is None:
        return ""
    axis = pca.components_[i]
    order = np.argsort(-np.abs(axis), kind="stable")[:MOSTLY]
    large = [j for j in order if abs(axis[j]) >= LEAST * abs(axis[order[0]])]
    return " ".join(("+" if axis[j] > 0 else "−") + _short(str(names[j])) for j in large)


def _short(name: str) -> str:
    return name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"
