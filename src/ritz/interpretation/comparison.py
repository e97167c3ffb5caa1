"""Two models side by side: the angles between their subspaces, which axes belong together, what each explains."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.errors import DataError
from ritz.interpretation.column_tables import decimals
from ritz.interpretation.sides import Side, angles_between, matched
from ritz.linalg.dense import Array
from ritz.pca.angles import place_of, principal_angles
from ritz.runtime.tables import Table
from ritz.runtime.threads import cached_property, pinned
from ritz.runtime.wording import at_most, component, plain, plural

ROUNDING = float(np.radians(1e-8))  # an angle below which directions are the same but for rounding
VAGUE = float(np.radians(5.0))  # beyond this, what certificates allow says nothing about two models


class Comparison(np.ndarray[Any, np.dtype[np.float64]]):
    """Principal angles between two subspaces, in radians, ascending: an array of them that knows more.

    Parts of it, and whatever is computed from it, are plain arrays. Print it for all that is known.

    Attributes
    ----------
    relation : "equal", "a contained in b", "b contained in a", "overlapping" (more directions are shared than any
        subspaces of these sizes share, and some of each are not), "orthogonal" or "different"
    tolerance : angles up to it count as 0, in radians: rounding, and what the certificates of both models allow where
        they bound the subspaces
    shared : how many directions the subspaces share, to that tolerance
    sizes : components of both
    matches : which component of b is which of a, with the angle between them in degrees and its sign; a group names the
        components that a certificate cannot tell one from, whose axes therefore say little
    explained : of the variance of each model, the share in its own subspace and in that of the other. It is exact where
        the model knows all of its variance, as it does when it carries moments, or leaves none out; else it is bounded

    Examples
    --------
    >>> import numpy as np
    >>> import ritz
    >>> found = ritz.compare(np.eye(4)[:, :2], np.eye(4)[:, :3])
    >>> found.relation, found.shared, found.sizes
    ('a contained in b', 2, (2, 3))
    >>> float(found.max())
    0.0
    """

    _pair: tuple[Side, Side, Any] | None = None

    def __new__(cls, angles: Array, a: Side, b: Side, order: Any) -> Comparison:
        found = np.asarray(angles, dtype=np.float64).view(cls)
        found._pair = (a, b, order)
        return found

    def __array_finalize__(self, source: Any) -> None:
        self._pair = None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain_array = np.asarray(array)
        return plain_array[()] if return_scalar else plain_array

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __reduce__(self) -> Any:
        return (np.array, (np.array(self),)) if self._pair is None else (Comparison, (np.array(self), *self._pair))

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    @property
    def _sides(self) -> tuple[Side, Side, Any]:
        if self._pair is None:
            raise AttributeError("these angles are a part or a copy of a comparison; ask what ritz.compare returned")
        return self._pair

    @property
    def sizes(self) -> tuple[int, int]:
        a, b, _ = self._sides
        return a.basis.shape[1], b.basis.shape[1]

    @cached_property
    def tolerance(self) -> float:
        return ROUNDING + (self._allowed or 0.0)

    @cached_property
    def _allowed(self) -> float | None:
        """What the certificates of both allow; 0 for what has none, None where one says nothing."""
        sides = [side for side in self._sides[:2] if side.certificate is not None]
        parts = [side.off for side in sides]
        total = sum(part for part in parts if part is not None)
        return None if None in parts or total > VAGUE else float(total)

    @property
    def shared(self) -> int:
        return int(np.sum(np.asarray(self) <= self.tolerance))

    @property
    def relation(self) -> str:
        (k, m), shared = self.sizes, self.shared
        if shared == min(k, m):
            return "equal" if k == m else "a contained in b" if k < m else "b contained in a"
        if shared > self._forced:
            return "overlapping"
        return "orthogonal" if float(np.asarray(self)[0]) >= np.pi / 2 - self.tolerance else "different"

    @property
    def _forced(self) -> int:
        """Directions that any two subspaces of these sizes share, as planes do in space."""
        return max(0, sum(self.sizes) - len(self._sides[0].basis))

    @cached_property
    def matches(self) -> Table:
        a, b, order = self._sides
        theirs = b.axes if order is None else b.axes[order]
        with pinned():
            ours, other = matched(a.axes, theirs)
            A, B = a.axes[:, ours], theirs[:, other]
            between = angles_between(A, B)
            angles, sign = (
                np.degrees(np.where(between <= ROUNDING, 0.0, between)),
                np.where(np.einsum("ij,ij->j", A, B) < 0, "−", "+"),
            )
        groups = [", ".join(_groups(a, b, int(i), int(j))) for i, j in zip(ours, other, strict=True)]
        cells: dict[str, Any] = {
            "of b": [component(int(j)) for j in other],
            "angle": angles,
            "sign": sign.tolist(),
        }
        if any(groups):
            cells["group"] = groups
        return Table(
            cells,
            [component(int(i)) for i in ours],
            ("components of a, and those of b that are most like them; angles in degrees",),
            _alone(self.sizes, ours, other),
            index_name="of a",
        )

    @cached_property
    def explained(self) -> Table:
        a, b, order = self._sides
        back = None if order is None else np.argsort(order)
        cells: dict[str, list[Any]] = {"of": [], "in its own": [], "at least": [], "at most": [], "exact": []}
        with pinned():
            for name, one, other in (("a", a, b.ordered(order)), ("b", b, a.ordered(back))):
                own, found = one.captured(one.basis), one.captured(other.basis)
                if own is None or found is None:
                    continue
                exact = found[1] - found[0] <= 1e-12
                for key, value in zip(cells, (name, own[0], *found, exact), strict=True):
                    cells[key].append(value)
        of = cells.pop("of")
        notes = [] if all(cells["exact"]) else ["bounded where a model does not know the variance that it leaves out"]
        notes += self._units
        head = "variance of each in the subspace of the other, shares" if of else "no variances are known"
        names = [f"variance of {name}" for name in of]
        return Table(cells, names, (head,), notes, dict.fromkeys(("in its own", "at least", "at most"), decimals))

    @property
    def _units(self) -> list[str]:
        a, b = (side.subspace for side in self._sides[:2])
        if a is None or b is None or (a.scale is None) == (b.scale is None):
            return []
        return [
            f"{'b' if a.scale is None else 'a'} divides columns by their standard deviations and the other model does "
            "not: their axes are in different units"
        ]

    @property
    def verdict(self) -> str:
        """The relation in a sentence."""
        k, m = self.sizes
        about = f"subspaces of {k} and {m} {plural(max(k, m), 'component')}"
        within = f"to {plain(at_most(float(np.degrees(self.tolerance))))}°"
        why = ", what the certificates allow" if (self._allowed or 0.0) > ROUNDING else ", rounding"
        said = {
            "equal": f"equal ({within}{why})",
            "a contained in b": f"a is contained in b ({within}{why})",
            "b contained in a": f"b is contained in a ({within}{why})",
            "overlapping": f"{self.shared} {plural(self.shared, 'direction')} shared ({within}{why}), not all",
            "orthogonal": "orthogonal",
            "different": "no direction shared",
        }
        if self._forced and self.relation == "different":
            said["different"] = f"no direction shared beyond the {self._forced} that any such subspaces share"
        return f"{about}: {said[self.relation]}"

    def __str__(self) -> str:
        if self._pair is None:
            return str(np.asarray(self))
        first = np.where(np.asarray(self) <= ROUNDING, 0.0, np.degrees(np.asarray(self)))[:10]
        degrees = ", ".join(f"{angle:.3g}°" for angle in first)
        more = ", …" if len(self) > 10 else ""
        parts = [f"{self.verdict}\nprincipal angles: {degrees}{more}", str(self.matches)]
        return "\n\n".join(parts + ([str(self.explained)] if len(self.explained) else []))


@pinned()
def compare(a: Any, b: Any) -> Comparison:
    """Principal angles between two subspaces of the same space, in radians, ascending; and what follows from them.

    Parameters
    ----------
    a, b : fitted PCA, Subspace, Spectrum, or (d, k) arrays whose columns span the subspace; columns that both models
        know by name may stand in different orders

    Returns
    -------
    An array of angles that knows more: `relation` tells equal from contained, `matches` which axis of b is which of a,
    `explained` how much of the variance of each model lies in the subspace of the other. Print it for all that.

    Examples
    --------
    >>> import numpy as np
    >>> compare(np.eye(3)[:, :2], np.eye(3)[:, 1:]).round(3)
    array([0.   , 1.571])
    >>> from ritz import PCA
    >>> X = np.random.default_rng(0).standard_normal((300, 4)) * [4, 3, 2, 1]
    >>> found = compare(PCA(2).fit(X), PCA(3).fit(X))
    >>> found.relation
    'a contained in b'
    >>> print(found)
    subspaces of 2 and 3 components: a is contained in b (to ...°, rounding)
    principal angles: 0°, 0°
    <BLANKLINE>
    components of a, and those of b that are most like them; angles in degrees
    of a  of b  angle  sign
    PC1   PC1       0  +
    PC2   PC2       0  +
    without a partner in b: PC3
    <BLANKLINE>
    variance of each in the subspace of the other, shares
                   in its own  at least  at most  exact
    variance of a      0.8293    0.9642   0.9642    yes
    variance of b      0.9642    0.8293   0.8293    yes
    """
    one, other = Side.of(a), Side.of(b)
    if len(one.basis) != len(other.basis):
        raise DataError(
            f"the subspaces lie in {len(one.basis)} and {len(other.basis)} dimensions; compare two of the same space"
        )
    order = place_of(b, a)
    theirs = other.basis if order is None else other.basis[order]
    return Comparison(principal_angles(one.basis, theirs), one, other, order)


def _groups(a: Side, b: Side, i: int, j: int) -> list[str]:
    return [f"{name}: {text}" for name, text in (("a", a.group(i)), ("b", b.group(j))) if text]


def _alone(sizes: tuple[int, int], ours: Any, theirs: Any) -> list[str]:
    """The components that have no partner."""
    notes = []
    for name, k, taken in (("a", sizes[0], ours), ("b", sizes[1], theirs)):
        rest = [component(i) for i in range(k) if i not in set(map(int, taken))]
        if rest:
            notes.append(f"without a partner in {name}: {', '.join(rest[:10])}{', …' if len(rest) > 10 else ''}")
    return notes
