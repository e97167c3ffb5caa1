"""What a fit is: the subspace in the units of the data; and how fitted attributes follow from a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from ritz.fitting.planning import Plan
from ritz.fitting.rank import Choice
from ritz.linalg.dense import Array, squared
from ritz.moments.moments import Moments
from ritz.moments.sketch import Stream
from ritz.spectrum.certificate import Certificate
from ritz.spectrum.certify import Spectrum
from ritz.spectrum.subspace import Subspace

Table = Mapping[str, Callable[[Any], Any]]
ABSENT = object()  # what this fit does not have


@dataclass(frozen=True, eq=False)
class Units:
    """From data to what was decomposed: z = (x − mean)/scale, in units of `unit`, of n_rows rows.

    `remainder` is what the rounding of the mean left over, in `unit`.
    """

    unit: float = 1.0
    mean: Array | None = None
    scale: Array | None = None
    remainder: Array | None = None
    n_rows: int | None = None
    ddof: int = 1


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A fit: the subspace, how it was found and how good it is."""

    subspace: Subspace
    spectrum: Spectrum  # in units of `unit`, where nothing overflows
    certificate: Certificate  # in the units of the data
    plan: Plan
    total: float  # trace, in units of `unit`
    unit: float
    left_out_seen: bool = True  # whether the variance left out stands above rounding
    enough: bool = True  # whether the components reach the share of variance asked for
    moments: Moments | Stream | None = None  # of the rows, where they are whole, or their sketch: what merging needs
    choice: Choice | None = None  # what decided how many components, where that was left to the rows

    @classmethod
    def of(cls, found: Spectrum, total: float, units: Units, plan: Plan, **known: Any) -> Decomposition:
        """From a spectrum and its trace, which are in units of `unit`, and what else is known of the fit."""
        d, unit, n, kept = len(found.vectors), units.unit, units.n_rows, float(found.values.sum())
        # Computed in another way than the values, the total may fall below their sum, but by rounding alone.
        rounding = (len(found.values) + 1) * found.certificate.rounding
        total = kept if total < kept <= total + rounding else total
        left_out, seen = _left_out(found, total, d if n is None else min(n, d))
        variances, rest = squared(found.values, unit), float(squared(left_out, unit))
        exact: dict[str, Any] = {}
        if unit != 1:
            exact = {"unit": unit, "roots": np.sqrt(found.values), "beyond": float(np.sqrt(left_out))}
        if units.remainder is not None and units.remainder.any():
            exact["remainder"] = units.remainder
        about = (units.mean, units.scale, rest, n, units.ddof)
        subspace = Subspace(found.vectors, variances, *about, checked=True, **exact)
        certificate = found.certificate.in_units(unit).of_sample(subspace.sample)
        return cls(subspace, found, certificate, plan, total, unit, seen, **known)


def _left_out(found: Spectrum, total: float, bound: int) -> tuple[float, bool]:
    """Σ of the values left out, and whether it stands above rounding: summed where all are known, else by the trace.

    So many Ritz values as there can be eigenvalues are not yet these; if they are, they add up to the trace.
    """
    certificate, k = found.certificate, len(found.values)
    rest = max(total - float(found.values.sum()), 0.0)
    if found.spare is not None and k + len(found.spare) >= bound:
        summed = float(found.spare[: bound - k].sum())
        if rest - summed <= (bound + 1) * (certificate.rounding + certificate.missing):
            return summed, certificate.by_singular_values or summed > (k + 1) * certificate.rounding
    return rest, rest > (k + 1) * certificate.rounding


def optional(name: str) -> Callable[[Any], Any]:
    """A part of the state that not every fit has."""
    part = attrgetter(name)
    return lambda state: ABSENT if (value := part(state)) is None else value


def attributes(table: Table, state: Any) -> dict[str, Any]:
    """All attributes that this fit has."""
    with np.errstate(over="ignore", under="ignore"):
        return {name: part for name, value in table.items() if (part := value(state)) is not ABSENT}


def as_result(values: Array, dtype: str | np.dtype[Any]) -> Array:
    """Values in that type, or in float64 where it has no room for them, or not for all their digits."""
    if dtype == "float64":
        return values.astype(np.float64)
    sizes, limits = np.abs(values), np.finfo(dtype)
    outside = ((sizes > limits.max) & (sizes < np.inf)) | ((sizes < limits.tiny) & (sizes > 0))
    return values.astype(np.float64 if outside.any() else dtype)
