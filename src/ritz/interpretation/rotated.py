"""Rotated loadings: what a rotation came to, and the scores that belong to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.interpretation.column_tables import by_component, percent
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import Array
from ritz.pca.fitted import rows_of, subspace_of
from ritz.rows.base import stack
from ritz.runtime.tables import Table, Tabled
from ritz.runtime.wording import plural

SAME = 1e-7  # of a criterion: starts that end so near to each other have found the same
OBLIQUE = ("oblimin", "promax")  # methods whose components are correlated


@dataclass(frozen=True, eq=False)
class Rotation(Tabled):
    """Rotated loadings L. Components are in descending order of variance again, RC1, RC2, …

    Attributes
    ----------
    method : "varimax", "quartimax", "oblimin" or "promax"
    loadings : (d, k), L = A M for loadings A = U√λ; for an oblique rotation the pattern: weights of components in a
        column, which are not correlations
    rotation : (k, k) M: orthogonal, or T⁻ᵀ with unit columns of T
    phi : (k, k) correlations of the rotated components, TᵀT; the identity for orthogonal rotations
    variances : (k,) diagonal of Φ LᵀL; they add up to the variance of what was rotated
    shares : of the whole variance; None for a matrix without a model
    criterion : what was made smallest, of the loadings as they were rotated; for promax that of its varimax
    converged : whether the best start did
    starts : criterion that every start has reached
    kaiser : whether rows were normalised to length 1 while they were rotated
    names : of the columns

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> rotated = ritz.PCA(2, scale=True).fit(load_iris().data).rotate("oblimin")
    >>> rotated.converged, rotated.loadings.shape, rotated.phi.round(2)
    (True, (4, 2), array([[ 1.  , -0.27],
           [-0.27,  1.  ]]))
    """

    method: str
    loadings: Array
    rotation: Array
    phi: Array
    variances: Array
    shares: Array | None
    criterion: float
    converged: bool
    starts: Array
    kaiser: bool
    names: tuple[str, ...]
    _model: Any = field(default=None, repr=False)

    @property
    def oblique(self) -> bool:
        """Whether components are correlated."""
        return self.method in OBLIQUE

    @property
    def table(self) -> Table:
        """The loadings."""
        found = by_component(self.loadings, self.names, self._head, self._notes, index_name="column")
        return Table(
            {f"R{name[1:]}": values for name, values in found.columns.items()},
            found.index,
            found.head,
            found.notes,
            index_name="column",
        )

    @property
    def components(self) -> Table:
        """Variances of the rotated components, and their correlations where the rotation is oblique."""
        names = rotated_names(len(self.variances))
        cells: dict[str, Any] = {"variance": self.variances}
        if self.shares is not None:
            cells |= {"share": self.shares, "cumulative": np.cumsum(self.shares)}
        if self.oblique:
            cells |= dict(zip(names, self.phi.T, strict=True))
        formats = {"share": percent, "cumulative": percent}
        return Table(cells, names, ("rotated components",), (), formats)

    def scores(self, X: Any) -> Array:  # (n, d) -> (n, k)
        """Scores of rows on the rotated components, with variance 1 over the rows of the fit: F = (y/√λ) T, for which
        z ≈ L f. Those of an oblique rotation have the correlations Φ.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> rotated = ritz.PCA(3, scale=True).fit(X).rotate("oblimin")
        >>> bool(np.allclose(np.cov(rotated.scores(X).T), rotated.phi))
        True
        """
        if self._model is None:
            raise DataError("this rotation is of a matrix, which has no rows", "rotate a fitted model: model.rotate()")
        subspace, rows = subspace_of(self._model, "scores"), rows_of(self._model, X)
        T = np.linalg.inv(self.rotation).T
        k = len(T)
        blocks = (on_host(block)[:, :k] @ T for block in subspace.codes(rows, np.float64, whiten=True))
        return stack(blocks, rows.shape[0])

    @property
    def _head(self) -> str:
        normal = ", rows normalised (Kaiser)" if self.kaiser else ""
        return f"{self.method} rotation of {len(self.phi)} {plural(len(self.phi), 'component')}{normal}: loadings"

    @property
    def _notes(self) -> list[str]:
        names, of = rotated_names(len(self.variances)), self.shares
        told = [
            f"{name} {value:.4g}" + ("" if of is None else f" ({percent(of[i])})")
            for i, (name, value) in enumerate(zip(names, self.variances, strict=True))
        ]
        notes = [f"variances: {', '.join(told)}"]
        if self.oblique and len(self.phi) > 1:
            largest = np.abs(self.phi - np.eye(len(self.phi))).max()
            notes.append(f"components are correlated, by at most {largest:.3f}: see phi")
        if not self.converged:
            notes.append("did not converge: more starts or fewer components may help")
        same = int(np.sum(self.starts <= self.starts.min() + SAME * max(1.0, abs(self.starts.min()))))
        if same < len(self.starts):
            notes.append(f"{same} of {len(self.starts)} starts ended at this rotation, the others at worse ones")
        return notes


def rotated_names(k: int) -> list[str]:
    """What rotated components are called."""
    return [f"RC{i + 1}" for i in range(k)]
