"""The axes of one model as they look most like those of another, as far as PCA leaves them free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError, ParameterError
from ritz.interpretation.sides import Side, angles_between, matched
from ritz.linalg.arrays import on_host
from ritz.linalg.dense import Array
from ritz.linalg.exponents import times_power
from ritz.pca.angles import place_of
from ritz.pca.fitted import column_names, rows_of, subspace_of
from ritz.rows.base import stack
from ritz.runtime.rules import is_integer
from ritz.runtime.tables import Table, Tabled
from ritz.runtime.threads import pinned
from ritz.runtime.wording import component, components

MODES = ("signs", "procrustes")
Groups = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Aligned(Tabled):
    """Axes of a model, aligned with those of a reference.

    Attributes
    ----------
    axes : (d, k) aligned axes, orthonormal columns
    rotation : (k, k) orthogonal, axes = U·rotation; signs and places alone with mode="signs"
    variances : (k,) along the aligned axes, in their order
    partners : (k,) component of the reference that each axis is most like, −1 where there is none left
    angles : (k,) to these, in radians; NaN where there is none
    groups : ranges of components within which axes were reordered or rotated
    mode : "signs" or "procrustes"
    names : of the columns

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> pca = ritz.PCA.from_covariance(np.diag([4.0, 2.0, 2.0, 1.0]), n_components=3)
    >>> c, s = np.cos(0.5), np.sin(0.5)
    >>> turned = np.array([[-1.0, 0, 0], [0, c, -s], [0, s, c], [0, 0, 0]])
    >>> aligned = pca.align_to(turned, mode="procrustes")  # a sign, and a tie, are free
    >>> bool(np.allclose(aligned.axes, turned)), aligned.groups
    (True, ((0, 1), (1, 3)))
    """

    axes: Array
    rotation: Array
    variances: Array
    partners: NDArray[np.intp]
    angles: Array
    groups: Groups
    mode: str
    names: tuple[str, ...]
    _model: Any = field(default=None, repr=False)

    @property
    def signs(self) -> Array:
        """(k,) the sign that every aligned axis got, with mode="signs"; that of its largest part otherwise."""
        largest = np.argmax(np.abs(self.rotation), axis=0)
        return np.sign(self.rotation[largest, np.arange(len(self.rotation))])

    @property
    def table(self) -> Table:
        """Which axis became which, one line each."""
        k = len(self.rotation)
        made = [self._made_of(i) for i in range(k)]
        partners = ["" if j < 0 else component(int(j)) for j in self.partners]
        cells: dict[str, Any] = {"made of": made, "like": partners, "angle": np.degrees(self.angles)}
        cells["variance"] = self.variances
        head = f"axes aligned by {'signs' if self.mode == 'signs' else 'rotation within groups'}; angles in degrees"
        free = [components(a, b) for a, b in self.groups if b - a > 1]
        notes = (
            [f"free to be reordered{'' if self.mode == 'signs' else ' and rotated'}: {', '.join(free)}"] if free else []
        )
        return Table(cells, [f"axis {i + 1}" for i in range(k)], (head,), notes)

    def scores(self, X: Any) -> Array:  # (n, d) -> (n, k)
        """Scores of rows on the aligned axes; whitened where those of the model are.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> X = np.random.default_rng(0).standard_normal((300, 4)) * [4, 3, 2, 1]
        >>> pca = ritz.PCA(2).fit(X)
        >>> aligned = pca.align_to(-pca.subspace_.axes)
        >>> bool(np.allclose(aligned.scores(X), -pca.transform(X)))
        True
        """
        subspace, rows = subspace_of(self._model, "scores"), rows_of(self._model, X)
        whiten = bool(getattr(self._model, "whiten", False))
        blocks = (on_host(block) @ self.rotation for block in subspace.codes(rows, np.float64, whiten=whiten))
        return stack(blocks, rows.shape[0])

    def _made_of(self, i: int) -> str:
        parts = np.flatnonzero(np.abs(self.rotation[:, i]) > 1e-12)
        if len(parts) == 1:
            sign = "−" if self.rotation[parts[0], i] < 0 else ""
            return f"{sign}{component(int(parts[0]))}"
        return components(int(parts[0]), int(parts[-1]) + 1)


@pinned()
def align(model: Any, reference: Any, mode: str, groups: Any) -> Aligned:
    """The axes of a fitted PCA aligned with those of a reference; the rules are those of `PCA.align_to`."""
    if mode not in MODES:
        raise ParameterError("mode", mode, "must be 'signs' or 'procrustes'")
    subspace, certificate = subspace_of(model, "align_to"), getattr(model, "certificate_", None)
    other = Side.of(reference)
    if len(subspace.axes) != len(other.axes):
        raise DataError(
            f"the reference lies in {len(other.axes)} dimensions, the model in {len(subspace.axes)}",
            "align two models of the same columns",
        )
    U, R = subspace.axes, other.ordered(place_of(reference, model)).axes
    k = U.shape[1]
    if groups is None:
        groups = () if certificate is None else certificate.groups
    free = _ranges(groups, k)
    ours, theirs = matched(U, R)
    partner = np.full(k, -1, np.intp)
    partner[ours] = theirs
    turn = np.zeros((k, k))
    placed = np.full(k, -1, np.intp)
    for start, stop in free:
        members = np.arange(start, stop)
        with_partner = sorted(members[partner[members] >= 0], key=lambda i: int(partner[i]))
        order = [*with_partner, *members[partner[members] < 0]]
        T, found = R[:, partner[with_partner]], partner[order]
        turn[start:stop, start:stop] = (
            _signed(U, T, order, start) if mode == "signs" else _procrustes(U, T, start, stop)
        )
        placed[start:stop] = found
    axes = U @ turn
    angles = np.full(k, np.nan)
    known = placed >= 0
    angles[known] = angles_between(axes[:, known], R[:, placed[known]])
    roots = subspace.deviations[:, None] * turn
    variances = times_power(np.einsum("ij,ij->j", roots, roots), 2 * subspace.power)
    return Aligned(axes, turn, variances, placed, angles, free, mode, tuple(column_names(model)), model)


def _signed(U: Array, T: Array, order: Sequence[Any], start: int) -> Array:  # (m, m)
    """Every axis of a group at its place, with the sign of its partner."""
    found = np.zeros((len(order), len(order)))
    for place, i in enumerate(order):
        along = float(U[:, i] @ T[:, place]) if place < T.shape[1] else 1.0
        found[i - start, place] = -1.0 if along < 0 else 1.0
    return found


def _procrustes(U: Array, T: Array, start: int, stop: int) -> Array:  # (m, m)
    """The orthogonal Q that makes U_g Q nearest to the partners T (Schönemann 1966); what is left over, behind them."""
    W, _, V = np.linalg.svd(U[:, start:stop].T @ T, full_matrices=True)
    few = T.shape[1]
    found = W.copy()
    found[:, :few] = W[:, :few] @ V
    return found


def _ranges(groups: Any, k: int) -> Groups:
    """Half-open ranges that cover all components in order: those given, and single ones between them."""
    found: list[tuple[int, int]] = []
    at, rule = 0, f"must be half-open ranges of the {k} components, such as [(0, 2)], which do not overlap"
    try:
        pairs = sorted((tuple(group) for group in groups), key=lambda pair: pair[:1])
    except TypeError:  # no ranges at all, or of what has no order
        raise ParameterError("groups", groups, rule) from None
    for group in pairs:
        if not (len(group) == 2 and all(map(is_integer, group)) and at <= group[0] < group[1] <= k):
            raise ParameterError("groups", groups, rule)
        found += [(i, i + 1) for i in range(at, int(group[0]))] + [(int(group[0]), int(group[1]))]
        at = int(group[1])
    return (*found, *((i, i + 1) for i in range(at, k)))
