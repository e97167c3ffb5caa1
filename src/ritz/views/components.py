"""A table of components: what each holds, how sure that is, and which columns it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.runtime.wording import at_most, at_most_degrees, component
from ritz.views.findings import share_asked
from ritz.views.format import percent

HEAD = ("", "variance", "share", "together", "± numerical", "± sampling", "axis off by", "mostly")
MOSTLY = 3  # columns that stand for an axis
LEAST = 0.5  # of the largest entry of an axis, below which another one says little
LETTERS = 18  # of the name of a column


def component_rows(pca: Any, most: int) -> list[tuple[str, ...]]:
    """The first components of a fitted PCA and the last, which tells what all of them keep, a row of text each."""
    certificate, shares = pca.certificate_, pca.explained_variance_ratio_
    together, sampling, errors = np.minimum(np.cumsum(shares), 1.0), certificate.sampling_errors, certificate.errors
    rows: list[tuple[str, ...]] = []
    asked = share_asked(pca)
    last = len(shares) - 1
    for i in [*range(min(most, last)), last]:
        if i > len(rows):
            rows.append(("…", *[""] * (len(HEAD) - 1)))
        rows.append(
            (
                component(i),
                f"{pca.explained_variance_[i]:.5g}",
                percent(float(shares[i])),
                percent(float(together[i]), asked),
                at_most(errors[i], 1),
                "" if sampling is None else f"{sampling[i]:.2g}",
                at_most_degrees(certificate.angle_bounds[i], 1),
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
