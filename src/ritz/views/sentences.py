"""A fit in words: what was decomposed, what the components are made of, and what to be careful about; and a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.fitting.rank import INDEPENDENT
from ritz.linalg.dense import Array
from ritz.pca.recognition import Recognition
from ritz.runtime.wording import at_most, at_most_degrees, component, components, sampled_degrees
from ritz.views.findings import Findings, share_asked
from ritz.views.format import asked_share, counted, least, listed, number, percent, shown, spelled

DESCRIBED = 3  # components whose columns are named
NAMED = 4  # columns named for each
PART = 0.4  # of the largest weight that a column must have to be named
ALONE = 0.9  # of the squared weights that make a component one column
SCATTERED = 0.2  # of them below which the columns named hardly matter
LEFT_OUT = "The next one was left out, and the choice between them is arbitrary"
MISSED = "A component with a larger variance than some of these may have been missed: it is not excluded."
UNLIKE = 10.0  # ratio of standard deviations from which on columns are on different scales
HEAD = (
    "", "variance", "± sampling", "share", "cumulative", "axis ± sampling", "± numerical", "axis off by", "main columns"
)  # fmt: skip
MOSTLY = 3  # columns that stand for an axis
LEAST = 0.5  # of the largest entry of an axis, below which another one says little
LETTERS = 19  # of the name of a column, and its sign


def decomposed(found: Findings) -> str:
    """What was decomposed, and into what."""
    columns = counted(found.n_columns, "column")
    what = f"The covariance of {columns}" if found.n_rows is None else f"{counted(found.n_rows, 'row')} of {columns}"
    verb = "was" if found.n_rows in (None, 1) else "were"
    into = counted(found.k, "component")
    if found.kernel is not None:
        return f"{what} {verb} decomposed into {into} in the feature space of the kernel {found.kernel}."
    return f"{what} {verb} decomposed into {into}. {_prepared(found)}"


def _prepared(found: Findings) -> str:
    if found.n_rows is None:
        return "Columns were divided by their standard deviations." if found.scale else "Columns kept their own scale."
    said = {
        (True, True): "Every column was centred and divided by its standard deviation, so all have the same weight.",
        (True, False): "Every column was centred, and kept its own scale.",
        (False, True): "Columns were not centred, and divided by their root mean square.",
        (False, False): "Columns were neither centred nor scaled: variances are about 0, not about the mean.",
    }[found.center, found.scale]
    divided = "" if found.ddof == 1 else f" Variances are sums of squares divided by {_divisor(found.ddof)}."
    return said + divided + (" Scores are whitened: each has variance 1." if found.whiten else "")


def _divisor(ddof: int) -> str:
    return "the number of rows" + (f" less {ddof}" if ddof else "")


def kept(found: Findings) -> str:
    """How much of the variance that keeps."""
    total = float(found.shares.sum())
    if total <= 0:
        return "There is no variance to keep: all rows are alike."
    one = percent(float(found.shares[0]))
    asked = "" if found.asked is None else f", where {asked_share(found.asked)} was asked for"
    if found.k == 1:
        return f"It keeps {one} of the variance{asked}."
    two = f", the first two {percent(float(found.shares[:2].sum()))}" if found.k > 2 else ""
    return f"Together they keep {percent(total)} of the variance{asked}: the first alone {one}{two}."


def chosen(found: Findings) -> str:
    """How the number of components was found, where the model says so."""
    choice = found.choice
    if choice is None:
        return ""
    above = int(choice.above)
    noise = f"what noise alone reaches: {choice.reached}, seed {choice.seed}"
    if not above:
        return f"No component stands above {noise}. One was kept all the same; it may mean nothing: {INDEPENDENT}."
    verb = "stands" if above == 1 else "stand"
    return (
        f"The number of components was chosen by the rule “{shown(choice.rule)}”: {counted(above, 'component')} {verb} "
        f"above {noise}."
    )


def recognised(found: Recognition, pictures: bool) -> str:
    """How often the nearest neighbour has the same label, and how many components it takes; begins in small letters."""
    row, columns = ("picture", "pixels") if pictures else ("row", "columns")
    one, other = (percent(right / found.asked) for right in (found.in_kept, found.in_columns))
    said = f"recognition by nearest neighbour: {one} in {counted(found.kept, 'component')}, {other} in all {columns}"
    whole = found.compared == found.rows
    if found.enough != found.kept:
        number, verb = counted(found.enough, "component"), "reaches" if found.enough == 1 else "reach"
        said += f"; {'' if whole else 'about '}{number} (-k {found.enough}) {verb} that"
    among = "" if whole else f" among {counted(found.compared, row)}"
    return f"{said} (leave-one-out{among}, axes learned from all {row}s without labels)"


def passes(found: Findings) -> str:
    """How often the data was read for the components. A plan expects that, and counts what chose their number too."""
    made = f"{found.certificate.passes:,}"
    if found.choice is None:
        return made
    compared = f"the comparison with {found.choice.compared}"
    return f"{made} for the components; those of the plan include what {compared} takes"


def composition(found: Findings) -> list[str]:
    """The columns that the first components are made of; of those that are not determined, that they are not."""
    if found.axes is None:
        return []
    said, described = [], min(DESCRIBED, found.k, found.certificate.rank)
    start = 0
    while start < described:
        end = next((e for s, e in found.groups if s <= start < e), start + 1)
        if end == start + 1:
            said.append(_one(found, found.axes[:, start], start))
        else:
            alike = f"{components(start, end)} cannot be told apart: their variances are closer than their errors."
            said.append(f"{alike} At most the space that they span together has a meaning, not their single axes.")
        start = end
    return said


def caption(found: Findings, i: int) -> str:
    """What is said below the picture of an axis."""
    head = f"{component(i)}, {percent(float(found.shares[i]))}"
    if i >= found.certificate.rank:
        return f"{component(i)}, no variance: an arbitrary axis"
    group = next(((start, end) for start, end in found.groups if start <= i < end), None)
    return head if group is None else f"{head}; any rotation within {components(*group)} is equally good"


def _one(found: Findings, axis: Array, i: int) -> str:
    order = np.argsort(-np.abs(axis), kind="stable")[:NAMED]
    order = order[np.abs(axis[order]) >= PART * np.abs(axis[order[0]])]
    head = f"{component(i)} ({percent(float(found.shares[i]))} of the variance)"
    if found.n_columns == 1:
        return f"{head} is the only column, {found.name(0)}."
    if axis[order[0]] ** 2 >= ALONE:
        return f"{head} is almost entirely the column {found.name(int(order[0]))}."
    up, down = order[axis[order] > 0], order[axis[order] < 0]
    parts = [f"rises with {_weighted(found, axis, up)}"] if len(up) else []
    parts += [f"falls with {_weighted(found, axis, down)}"] if len(down) else []
    spread = float(np.sum(axis[order] ** 2)) < SCATTERED
    return f"{head} {'is spread over many columns; it ' if spread else ''}{' and '.join(parts)}."


def _weighted(found: Findings, axis: Array, columns: Array) -> str:
    return listed([f"{found.name(int(j))} ({number(float(axis[j]), 2)})" for j in columns])


def verdict(found: Findings) -> str:
    """Whether it is as accurate as asked, in one sentence."""
    certificate = found.certificate
    word = "Accurate" if certificate.satisfied else "Not as accurate"
    link = "but" if certificate.satisfied else "and"
    missed = f", {link} a larger component may have been missed" if certificate.completeness == "not excluded" else ""
    return f"{word} as asked{missed}: {certificate.accuracy(spelled)} (asked: {certificate.asked(spelled)})."


def warnings(found: Findings, pixels: bool) -> list[str]:
    """What a reader should know before believing the charts."""
    certificate, k, rank = found.certificate, found.k, found.certificate.rank
    axes = f"axis of {components(rank, k)} is" if k - rank == 1 else f"axes of {components(rank, k)} are"
    few = f"Only {rank} of {k} components have a variance {{}}. The {axes} arbitrary."
    words = {
        "may_have_missed": MISSED,
        "unresolved": few.format("resolved by the sketch"),
        "rank_deficient": few.format("above the rounding error"),
        "tie": f"{certificate.tie}. {LEFT_OUT}: {certificate.beside_tie}.",
    }
    said = [words[one.code] for one in certificate.diagnostics() if one.code in words]
    return said if pixels or not (unlike := _unlike(found)) else [*said, unlike]


def _unlike(found: Findings) -> str:
    """Columns on very different scales, that nobody brought to one."""
    if found.spread is None or found.n_columns < 2:
        return ""
    low, high = found.spread.T
    varied = np.flatnonzero(high > 1e-12 * np.nanmax(high, initial=0.0))  # columns that are constant but for rounding
    if not len(varied) or not np.isfinite(high[varied]).all():
        return ""
    large, small = varied[np.argmax(low[varied])], varied[np.argmin(high[varied])]
    ratio = float(low[large] / high[small])
    if not ratio > UNLIKE:
        return ""
    exact = np.array_equal(low, high)
    size = f"{number(ratio, 2) if exact else 'at least ' + least(ratio, 2)} times as"
    compared = f"varies {size} much" if found.center else f"is {size} large"
    return (
        f"Columns have different scales: {found.name(int(large))} {compared} as {found.name(int(small))}. Large "
        "columns dominate the first components, whatever they mean. If columns are in different units, scale them "
        "(scale=True, or --scale on the command line)."
    )


def component_rows(pca: Any, most: int) -> list[tuple[str, ...]]:
    """The first components of a fitted PCA and the last, which tells what all of them keep, a row of text each."""
    certificate, shares = pca.certificate_, pca.explained_variance_ratio_
    together, sampling, errors = np.minimum(np.cumsum(shares), 1.0), certificate.sampling_errors, certificate.errors
    asked, last, turns = share_asked(pca), len(shares) - 1, certificate.sampling_angles
    rows: list[tuple[str, ...]] = [
        (
            component(i),
            f"{pca.explained_variance_[i]:.5g}",
            "" if sampling is None else f"{sampling[i]:.2g}",
            percent(float(shares[i])),
            percent(float(together[i]), asked),
            "" if turns is None else sampled_degrees(turns[i]),
            at_most(errors[i], 1),
            at_most_degrees(certificate.angle_bounds[i], 1),
            made_of(pca, i),
        )
        for i in [*range(min(most, last)), last]
    ]
    return [*rows[:-1], ("…", *[""] * (len(HEAD) - 1)), rows[-1]] if last > most else rows


def made_of(pca: Any, i: int) -> str:
    """The columns with the largest entries in an axis, and their signs; nothing for columns without names."""
    names = getattr(pca, "feature_names_in_", None)
    if names is None:
        return ""
    axis = pca.components_[i]
    order = np.argsort(-np.abs(axis), kind="stable")[:MOSTLY]
    large = [j for j in order if abs(axis[j]) >= LEAST * abs(axis[order[0]])]
    signed = [("+" if axis[j] > 0 else "−") + str(names[j]) for j in large]
    return " ".join(name if len(name) <= LETTERS else name[: LETTERS - 1] + "…" for name in signed)
