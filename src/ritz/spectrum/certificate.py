"""The certificate: how accurate a spectrum is, for programs and for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ritz.linalg.dense import Array, squared
from ritz.runtime.wording import at_least, at_most, at_most_within, component, components, plain
from ritz.spectrum.printed import remarks, sampled, table
from ritz.spectrum.sample import Sample

# What takes a bound on every value and angle, and is computed when it is first asked for.
DETAILS = frozenset({"value_bounds", "angle_bounds", "groups", "complete_to", "gap_bounds"})


@dataclass(frozen=True)
class Diagnostic:
    """A fact to know before believing a result. Warnings, the page and the command line each word it on their own.

    Attributes
    ----------
    code : for programs; docs/api.md lists all
    facts : its numbers, by name

    Examples
    --------
    >>> from ritz import eigen
    >>> eigen(np.diag([2.0, 1.0, 1.0]), 2).certificate.diagnostics()
    (Diagnostic(code='tie', facts={'first': 1}),)
    """

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Certificate:
    """How accurate a spectrum is. Every bound includes rounding.

    It speaks of the float64 model (`PCA.subspace_`); attributes delivered in float32 are that model, rounded.

    Attributes
    ----------
    values : the computed eigenvalues (variances), for reading beside their bounds
    residuals : ‖A u_i − λ_i u_i‖, but for `rounding`; from inner products of rows, and from svd, at most
    value_bounds : (k, 2), the true i-th eigenvalue lies between; inf where no upper bound is known. With `by_magnitude`
        the j-th positive value stands for the j-th largest eigenvalue, the j-th negative one for the j-th lowest
    gap_bounds : (2,), what the eigengap λ_k − λ_{k+1} lies between, from the bounds of both and, where one was
        measured, the next Ritz value; of magnitudes with `by_magnitude`; None where nothing follows, or it is not known
    angle_bounds : sine of the largest angle between a component's group and the true subspace of that group;
        1 where unknown
    groups : half-open 0-based ranges of components too close to be told apart
    tie_at_k : whether the last group goes on beyond the components kept, so that their span is not unique
    completeness : "proved", "probability" or "not excluded": whether a larger eigenvalue may have been missed
    failure_probability : of the completeness claim, 0 when proved, None when nothing is claimed
    complete_to : how many leading components surely belong to the top k
    rank : how many of the components have a variance above what rounding can fake; below k it is the rank of the data
    rounding : bound on the error of A, in the units of the eigenvalues: of rounding, and of what is missing
    missing : the most that a sketch of the rows may lack of the variance in any direction; values of a sketch
        stand in the middle of what that allows, those of landmarks at its lower end. 0 without a sketch or landmarks
    audited : whether `rounding` rests on random vectors multiplied in float64 beside float32 products (failing with
        probability 1e-6) instead of a worst case
    passes : over the data
    tol, reached, satisfied : what was asked, the largest residual plus rounding relative to λ₁, and whether it is
        within tol (for svd: whether ‖X v − σ u‖ plus rounding is within tol·σ₁). tol is None where no residual was
        asked for; `satisfied` then says whether the iteration came to its end by the solver's own rule
    by_singular_values : whether `reached` is relative to σ₁, as for svd
    by_magnitude : whether the matrix may have eigenvalues below 0, and values are ordered by magnitude; λ₁ is then the
        one of largest magnitude, and "larger" is said of magnitudes
    quantity : what the values are called
    n_rows : rows behind a covariance, None for a matrix; gives the sampling error λ√(2/n)
    sample : of the rows of a PCA, what tells how far its axes would turn if others had been drawn; None otherwise

    Examples
    --------
    >>> from ritz import eigen
    >>> certificate = eigen(np.diag([3.0, 2.0, 1.0]), 2).certificate
    >>> certificate.satisfied, certificate.completeness
    (True, 'proved')
    >>> low, high = certificate.value_bounds.T
    >>> bool((low <= [3, 2]).all() and ([3, 2] <= high).all())
    True
    """

    values: Array
    residuals: Array
    value_bounds: Array
    angle_bounds: Array
    groups: tuple[tuple[int, int], ...]
    tie_at_k: bool
    completeness: str
    failure_probability: float | None
    complete_to: int
    rank: int
    rounding: float
    audited: bool
    passes: int
    tol: float | None
    reached: float
    satisfied: bool
    n_rows: int | None = None
    missing: float = 0.0
    quantity: str = "variance"
    by_singular_values: bool = False
    gap_bounds: Array | None = field(default_factory=lambda: None)  # so that the class has no such attribute
    by_magnitude: bool = False
    sample: Sample | None = field(default=None, metadata={"stored": False})  # follows from the subspace

    @classmethod
    def of(cls, details: Callable[[], dict[str, Any]], **known: Any) -> Certificate:
        """From what is known, and a function that computes the rest when any of it is first asked for: to bound every
        value and angle of a small fit would take as long as the rest of it."""
        found = object.__new__(cls)
        found.__dict__.update(known, _details=details)
        return found

    def __getattr__(self, name: str) -> Any:
        details = self.__dict__.get("_details")
        if details is None or name not in DETAILS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__.update(details())
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def in_units(self, unit: float) -> Certificate:
        """The certificate of unit²·A."""
        if unit == 1:
            return self
        names = ("residuals", "rounding", "missing")
        parts = {name: _rounded_up(squared(getattr(self, name), unit), getattr(self, name)) for name in names}
        parts["values"] = squared(self.values, unit)
        gap = None if self.gap_bounds is None else _outwards(self.gap_bounds[None], unit)[0]
        return replace(self, value_bounds=_outwards(self.value_bounds, unit), gap_bounds=gap, **parts)

    def of_sample(self, sample: Sample | None) -> Certificate:
        """The same certificate, of rows that are this sample."""
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__, sample=sample)
        return found

    @property
    def sampling_errors(self) -> Array | None:
        """λ√(2/n): how far a variance would move if other rows had been drawn from the same normal law."""
        return None if self.n_rows is None else self.values * np.sqrt(2.0 / self.n_rows)

    @property
    def sampling_groups(self) -> tuple[tuple[int, int], ...] | None:
        """Half-open 0-based ranges of components that the rows cannot tell apart: neighbours whose variances would
        differ so much in one of 20 samples, were they equal. None where no rows are known."""
        return None if self.sample is None else self.sample.groups()

    @property
    def sampling_angles(self) -> Array | None:
        """Sine of the angle, in the root mean square, by which other rows of the same normal law would turn an axis out
        of its sampling group; 1 where the rows do not determine it, None where none are known.

        Examples
        --------
        >>> import numpy as np
        >>> from ritz import PCA
        >>> X = np.random.default_rng(0).standard_normal((400, 3)) * [3, 2, 1]
        >>> np.degrees(np.arcsin(PCA(3).fit(X).certificate_.sampling_angles)).round()
        array([3., 4., 2.])
        """
        return None if self.sample is None else self.sample.angles(self._following)

    @property
    def _following(self) -> float:
        """The least that the first value left out can be, relative to the first; 0 where nothing is known of it."""
        if self.gap_bounds is None or not len(self.values):
            return 0.0
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            found = float((self.values[-1] - self.gap_bounds[1]) / self.values[0])
        return found if 0 < found < 1 else 0.0

    @property
    def errors(self) -> Array:
        """How far each value may be from the true one: the farther of its bounds, infinite where one is unknown."""
        with np.errstate(invalid="ignore"):
            distance = np.abs(self.value_bounds - self.values[:, None]).max(axis=1)
        distance = np.nan_to_num(distance, nan=np.inf, posinf=np.inf)
        return np.where(distance > 0, np.nextafter(distance, np.inf), 0.0)  # a difference may have been rounded down

    def first(self, k: int) -> Certificate:
        """What is said of the first k components."""
        if k == len(self.values):
            return self
        names = ("values", "residuals", "value_bounds", "angle_bounds")
        parts = {name: getattr(self, name)[:k].copy() for name in names}
        groups = tuple((start, min(end, k)) for start, end in self.groups if start < k)
        split = bool(groups) and groups[-1] not in self.groups
        if split:  # what was said of a group does not hold for a part of it
            parts["angle_bounds"][groups[-1][0] :] = 1.0
        surely = min(self.complete_to, groups[-1][0] if split else k)
        (low, high), (next_low, next_high) = self.value_bounds[k - 1 : k + 1] if k else np.zeros((2, 2))
        known = k and not self.by_magnitude
        gap = np.maximum(np.nextafter([low - next_high, high - next_low], [-np.inf, np.inf]), 0.0) if known else None
        rest = replace(self, groups=groups, tie_at_k=split, complete_to=surely, rank=min(self.rank, k), gap_bounds=gap)
        return replace(rest, **parts)

    @property
    def may_have_missed(self) -> bool:
        """Whether a component larger than some of these may be absent; then nothing is known about the rank."""
        if self.completeness != "not excluded":
            return False
        k = len(self.values)
        return self.complete_to < min(k, self.rank) or (self.rank < k and not self.missing)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What a reader should know before believing the components: facts with a code, none where all is well.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> ritz.eigen(np.diag([4.0, 2.0, 2.0]), 2).certificate.diagnostics()
        (Diagnostic(code='tie', facts={'first': 1}),)
        """
        k, found = len(self.values), []
        if not self.satisfied:
            found.append(Diagnostic("not_converged", {"tol": self.tol, "reached": self.reached}))
        if self.may_have_missed:
            found.append(Diagnostic("may_have_missed", {"complete_to": self.complete_to}))
        if self.rank < k and self.missing:
            found.append(Diagnostic("unresolved", {"rank": self.rank, "missing": self.missing}))
        elif self.rank < k and not self.may_have_missed:
            found.append(Diagnostic("rank_deficient", {"rank": self.rank}))
        elif self.rank >= k and self.tie_at_k:
            found.append(Diagnostic("tie", {"first": self.groups[-1][0]}))
        return tuple(found)

    def __str__(self) -> str:
        return "\n".join([self.verdict, *table(self), *sampled(self), *self.remarks])

    @property
    def verdict(self) -> str:
        """Whether it is as accurate as asked, in one line."""
        word = "accurate as asked" if self.satisfied else "NOT as accurate as asked"
        if self.tol is None:
            word = "no accuracy was asked for" + ("" if self.satisfied else ", and the iteration did NOT converge")
        if self.completeness == "not excluded":
            word += f", {'but' if self.satisfied else 'and'} {self._larger} may have been missed"
        asked = "" if self.tol is None else f" (asked: {self.asked()})"
        return f"{word}: {self.accuracy()}{asked}"

    def accuracy(self, written: Callable[[str], str] = str) -> str:
        """`reached` in words, which name what it is relative to; numbers may be written in another way."""
        reached = written(at_most_within(self.reached, self.tol or 0.0))
        first = "singular value" if self.by_singular_values else self.quantity
        word = "the largest magnitude" if self.by_magnitude else f"the first {first}"
        return f"residual of every component at most {reached} of {word}"

    def asked(self, written: Callable[[str], str] = str) -> str:
        """`tol` in words."""
        if self.tol is None:
            return "nothing"
        return "the best the arithmetic allows" if self.tol == 0 else written(f"{self.tol:g}")

    @property
    def missed(self) -> str:
        """Whether a larger component may have been missed."""
        none = f"no {self._larger.partition(' ')[2]} was missed"
        says = {
            "proved": f"{none} (proved)",
            "probability": f"{none} (probability at least 1 − {self.failure_probability})",
            "not excluded": f"{self._larger} may have been missed: not excluded",
        }
        return says[self.completeness]

    @property
    def _larger(self) -> str:
        """What may have been missed."""
        return "a component of larger magnitude" if self.by_magnitude else "a larger component"

    @property
    def eigengap(self) -> str:
        """What is known of the eigengap after the last component, in words; nothing where nothing follows it.

        Examples
        --------
        >>> import numpy as np
        >>> import ritz
        >>> ritz.eigen(np.diag([4.0, 2.0, 1.0]), 2).certificate.eigengap
        'eigengap after PC2: eigenvalue 2 exceeds eigenvalue 3 by 0.9999 to 1.001'
        """
        if self.gap_bounds is None:
            return ""
        k, (low, high) = len(self.values), self.gap_bounds
        size = "magnitude" if self.by_magnitude else self.quantity
        most = f" to {plain(at_most(high, 4))}" if np.isfinite(high) else " or more"
        return (
            f"eigengap after {component(k - 1)}: {size} {k} exceeds {size} {k + 1} by {plain(at_least(low, 4))}{most}"
        )

    @property
    def tie(self) -> str:
        """The components that cannot be told from the next one, which was left out; nothing where there are none."""
        if not self.tie_at_k:
            return ""
        tied = components(self.groups[-1][0], len(self.values))
        return f"{tied} and the next one cannot be told apart at this accuracy"

    @property
    def beside_tie(self) -> str:
        """How many components to keep so that no tie is cut."""
        before = self.groups[-1][0]
        return f"keep {before}, or more until the tie ends" if before else "keep more, until the tie ends"

    @property
    def remarks(self) -> list[str]:
        """Completeness, ties, rank and rounding, a line each."""
        return remarks(self)


def _outwards(intervals: Array, unit: float) -> Array:  # (k, 2) -> (k, 2)
    """Intervals times unit², rounded outwards where numbers leave the range of float64.

    None reaches below 0 that did not.
    """
    low, high = squared(intervals, unit).T
    if unit != 1:
        with np.errstate(under="ignore"):
            low = np.minimum(np.nextafter(low, -np.inf), np.finfo(float).max)
            low = np.where(intervals[:, 0] >= 0, np.maximum(low, 0.0), low)
            high = np.nextafter(high, np.inf)
    return np.column_stack([low, high])


def _rounded_up(values: Any, before: Any) -> Any:
    """Errors that were brought to another unit; where that has cost them digits, no smaller than they were."""
    few = (values < np.finfo(float).tiny) & (np.asarray(before) > 0)
    with np.errstate(under="ignore"):
        up = np.where(few, np.nextafter(values, np.inf), values)
    return up if isinstance(values, np.ndarray) else float(up)
