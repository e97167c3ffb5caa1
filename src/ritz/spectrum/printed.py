"""What a certificate prints below its verdict: a table of the components, and remarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ritz.runtime.wording import at_most, at_most_degrees, component, components, sampled_degrees

if TYPE_CHECKING:
    from ritz.spectrum.certificate import Certificate


LARGE = 0.05  # part of a variance from which on its bias is told


def table(of: Certificate, most: int = 12) -> list[str]:
    """Value, errors, angles and group of every component, a line each; what other rows would change comes first."""
    sampling, turns, errors = of.sampling_errors, of.sampling_angles, of.errors
    head = f"{'':>5} {of.quantity:>12}" + ("" if sampling is None else f" {'± sampling':>11}")
    head += "" if turns is None else f" {'axis ± sampling':>16}"
    lines = [head + f" {'± numerical':>12} {'axis off by':>13}  group"]
    names = {i: components(s, e) if e - s > 1 else "" for s, e in of.groups for i in range(s, e)}
    for i in range(min(most, len(of.values))):
        line = f"{component(i):>5} {of.values[i]:>12.6g}"
        line += "" if sampling is None else f" {sampling[i]:>11.1e}"
        line += "" if turns is None else f" {sampled_degrees(turns[i]):>16}"
        lines.append(f"{line} {at_most(errors[i]):>12} {at_most_degrees(of.angle_bounds[i]):>13}  {names[i]}".rstrip())
    if len(of.values) > most:
        lines.append(f"      … and {len(of.values) - most} more")
    return lines


def sampled(of: Certificate) -> list[str]:
    """What the errors of the sample rest on, and which components it cannot tell apart."""
    groups = of.sampling_groups
    if groups is None or of.rank == 0:
        return []
    scales = " and known scales" if of.sample is not None and of.sample.scaled else ""
    said = f"sampling errors: for {of.n_rows} independent normal rows{scales}, to first order"
    alike = untold(of)
    if len(of.values) > 1:
        said += f"; they {f'do not tell {alike} apart' if alike else 'tell the components apart'}"
    excess = of.sample.excess() if of.sample is not None else 0.0
    if excess <= LARGE:
        return [said]
    return [said, f"few rows for so many columns: variances too large by up to {100 * excess:.2g} %; see sampling()"]


def untold(of: Certificate, most: int = 4) -> str:
    """The groups of components that the sample cannot tell apart, of those with variance; nothing where it can."""
    groups = [components(s, min(e, of.rank)) for s, e in of.sampling_groups or () if min(e, of.rank) - s > 1]
    more = [f"{len(groups) - most} more groups"] if len(groups) > most + 1 else groups[most:]
    return ", nor ".join([*groups[:most], *more])


def trusted(of: Certificate) -> str:
    """What to make of components that the sample cannot tell apart: their span, if the rows determine that."""
    groups = [(s, min(e, of.rank)) for s, e in of.sampling_groups or () if min(e, of.rank) - s > 1]
    sure = [bool((of.sampling_angles[s:e] < 1).all()) for s, e in groups if of.sampling_angles is not None]
    if all(sure):
        return ": trust their span alone"
    return ": trust a span where its angle is determined" if any(sure) else ", and their span is not determined"


def remarks(of: Certificate) -> list[str]:
    """Completeness, ties, rank and rounding, a line each."""
    k = len(of.values)
    lines = [f"completeness: {of.missed}; {of.complete_to} of {k} surely among the top {k}"]
    if of.by_magnitude:
        lines.append("order: by magnitude, as the matrix may have eigenvalues below 0")
        lines.append(
            "signs: the j-th positive value is bounded as the j-th largest eigenvalue, the j-th negative one as the "
            "j-th lowest"
        )
    if of.tie_at_k:
        apart = of.gap_bounds is not None and of.gap_bounds[0] > 0
        equal = of.satisfied and of.tol is not None and not apart  # else more iterations may tell them apart
        lines.append(f"tie: {of.tie}{'; their span is not unique' * equal}")
    if (of.by_magnitude or of.tol is None or not of.satisfied or of.tie_at_k) and of.eigengap:
        lines.append(of.eigengap)
    if of.rank < k and not of.may_have_missed:
        word = "resolved" if of.missing else "rank"
        lines.append(f"{word}: {of.rank}; {of.quantity}s beyond it cannot be told from 0")
    if of.missing:
        lines.append(f"sketch: no direction lacks more than {at_most(of.missing)} of {of.quantity} (proved)")
    how = "audited with random probes" if of.audited else "worst case"
    what = "rounding and what is missing" if of.missing else "rounding"
    return [*lines, f"{what}: {at_most(of.rounding)} ({how}); passes over the data: {of.passes}"]
