"""The certificate for people who never heard of one: what each of its numbers means, with the numbers of this model."""

from __future__ import annotations

import numpy as np

from ritz.runtime.wording import component, components, sampled_degrees
from ritz.spectrum.printed import untold
from ritz.views.findings import Findings
from ritz.views.format import angle, bound, counted, figure, least, listed, number, percent, spelled

MOST_GROUPS = 5  # that are listed


def explained(found: Findings) -> list[tuple[str, str]]:
    """Headings and what is to be said under them."""
    said = [
        ("Sampling error", _sampling(found)),
        ("Residuals", _residuals(found)),
        ("Numerical error", _numerical(found)),
        ("Direction of the axes", _directions(found)),
        ("Is anything missed?", _completeness(found)),
        ("Components that belong together", _groups(found)),
        ("What is not resolved", _rank(found)),
        ("What is missing", _sketch(found)),
        ("Rounding", _rounding(found)),
    ]
    return [(heading, text) for heading, text in said if text]


def _residuals(found: Findings) -> str:
    matrix = "covariance" if found.kernel is None else "kernel matrix"
    equation, rest = f"A u = λ u, A being the {matrix}", "A u − λ u"
    if found.certificate.by_singular_values:
        equation, rest = "X v = σ u, X being the prepared rows", "X v − σ u"
    return (
        f"Exact components solve {equation}. The residual of a computed one is the length of {rest}, rounding included."
    )


def _numerical(found: Findings) -> str:
    quantity, first, error = found.certificate.quantity, float(found.values[0]), float(found.certificate.errors[0])
    meaning = (
        f"± numerical is how far {_article(quantity)} may be from the exact answer for these very rows, because "
        "computers round and iterations stop"
    )
    if found.out_of_range:
        return (
            f"The {quantity}s are beyond the range of floating-point numbers and shown as {number(first)}. Their "
            f"shares of the whole are known; {found.certificate.accuracy(spelled)}."
        )
    if not np.isfinite(error):
        low = least(float(found.certificate.value_bounds[0, 0]))
        return f"{meaning}. For the first one, {number(first)}, no upper bound is known: it is at least {low}."
    return f"{meaning}. The first one is {figure(first, error)}, known to within {bound(error)}."


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _sampling(found: Findings) -> str:
    certificate, errors = found.certificate, found.certificate.sampling_errors
    if found.kernel is not None:
        return ""
    if errors is None or certificate.n_rows is None:
        return "How many rows there were is not known, so nothing can be said of how much other rows would differ."
    sampling, numerical = float(errors[0]), float(found.certificate.errors[0])
    relative = percent(float(np.sqrt(2.0 / certificate.n_rows)))
    said = (
        f"± sampling is what another draw of {counted(certificate.n_rows, 'row')} from the same source would change, "
        f"if rows are independent and normally distributed: about {relative} of every variance"
    )
    if not np.isfinite(sampling) or not sampling > 0:
        return said + "."
    said += f", {number(sampling, 2, full=True)} for the first. {_turned(found)}More rows make both smaller"
    if np.isfinite(numerical) and sampling > numerical:
        return said + "; a finer computation does not, because numerical errors are smaller still."
    return said + "; here the numerical error is the larger one."


def _turned(found: Findings) -> str:
    """How far other rows would turn the axes."""
    turns = found.certificate.sampling_angles
    if turns is None:
        return ""
    known, alike = np.flatnonzero(turns < 1), untold(found.certificate)
    said = "“Axis ± sampling” is how far an axis would turn, by the same reckoning"
    if len(known):
        i = int(known[0])
        said += f": about {sampled_degrees(float(turns[i])).replace('°', ' degrees')} for {component(i)}"
    if len(known) < found.k:
        said += "; where it says “not determined”, other rows may give another axis altogether"
    if alike:
        said += (
            f". The rows do not tell {alike} apart: the angle is that between an axis and the space that "
            "they span together"
        )
    return f"{said}. "


def _directions(found: Findings) -> str:
    bounds = found.certificate.angle_bounds
    known = np.flatnonzero(bounds < 1)
    head = "“Axis off by” is the largest angle between a component's axis and the exact one"
    if not len(known):
        return f"{head}. It is undetermined for all of them: no bound holds."
    worst = int(known[np.argmax(bounds[known])])
    if bounds[0] < 1:
        said = f"{head}: at most {angle(float(bounds[0]))} degrees for {component(0)}"
        said += f", {angle(float(bounds[worst]))} for {component(worst)}" if worst else ""
    else:
        said = f"{head}: at most {angle(float(bounds[worst]))} degrees for those that are determined"
    if len(known) == found.k:
        return said + "."
    return f"{said}. Of {found.k} axes, {found.k - len(known)} are undetermined."


def _completeness(found: Findings) -> str:
    certificate, k = found.certificate, found.k
    quantity = certificate.quantity
    surely = f" {certificate.complete_to} of {k} surely belong to the largest {k}." if k > 1 else ""
    if certificate.completeness == "proved":
        return f"No. It is proved that no direction with a larger {quantity} was overlooked.{surely}"
    if certificate.completeness == "probability":
        chance = bound(float(certificate.failure_probability or 0.0))
        return (
            f"Almost surely not. Random probes would have found a larger {quantity} with probability at least "
            f"1 − {chance}.{surely}"
        )
    return (
        f"Possibly. What was computed does not exclude a direction with a larger {quantity}. A solver "
        f"that forms the whole matrix would exclude it.{surely}"
    )


def _groups(found: Findings) -> str:
    groups = found.groups
    said = ""
    if groups:
        names = listed([components(start, end) for start, end in groups[:MOST_GROUPS]])
        more = f", and {len(groups) - MOST_GROUPS:,} groups more" if len(groups) > MOST_GROUPS else ""
        said = (
            f"{names}{more} cannot be told apart: their {found.certificate.quantity}s are closer than their "
            "errors, so any rotation of their axes among themselves is an equally good answer. The angle given for "
            "them is that of the whole group."
        )
    if found.certificate.tie_at_k and found.certificate.rank >= found.k:
        said += f" The last group goes on beyond {component(found.k - 1)}: what was kept of it is not unique."
    return said.strip()


def _rank(found: Findings) -> str:
    certificate = found.certificate
    if certificate.rank >= found.k:
        return ""
    return (
        f"{certificate.rank} of {found.k} components have {_article(certificate.quantity)} that differs from 0 by more "
        "than its error. The others are there because they were asked for; their directions mean nothing."
    )


def _sketch(found: Findings) -> str:
    missing, quantity = found.certificate.missing, found.certificate.quantity
    if found.lacking:
        return (
            f"A few columns of the kernel matrix stand for all of it, and lack {bound(found.lacking)} of its trace. "
            "This is included in every error above."
        )
    if not missing:
        return ""
    return (
        f"Not all of the data was kept: no direction lacks more than {bound(missing)} of {quantity}, which is proved "
        "and included in every error above."
    )


def _rounding(found: Findings) -> str:
    certificate = found.certificate
    how = "measured with random probes in higher precision" if certificate.audited else "a worst case"
    if not np.isfinite(certificate.rounding):
        return ""
    what = "Rounding and what is missing change" if certificate.missing else "Rounding changes"
    return (
        f"{what} the matrix that was decomposed by at most {bound(certificate.rounding)} ({how}). This is included in "
        "every error above."
    )
