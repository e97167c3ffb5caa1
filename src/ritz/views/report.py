"""The report: a fitted model as one page of HTML that needs nothing else, runs no script and trusts no name."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

import ritz
from ritz.errors import DataError
from ritz.estimators.base import in_numpy
from ritz.estimators.results import files_of
from ritz.linalg.arrays import is_other_array
from ritz.linalg.dense import Array
from ritz.pca.recognition import Recognition
from ritz.rows import Rows, as_rows
from ritz.rows.pictures import checked
from ritz.rows.write.tables import check_target
from ritz.runtime.atomic import replacing
from ritz.runtime.wording import component, components, sampled_degrees
from ritz.views import charts, images, sentences
from ritz.views.classes import classified
from ritz.views.findings import Findings, findings
from ritz.views.format import angle, between, bound, figure, number, ordinal, percent, shown
from ritz.views.glossary import explained
from ritz.views.scatter import First, Scores, scores_chart

MOST_ROWS = 50  # of the table of components, and the last
MOST_PICTURES = 12
MOST_CHARTS = 3  # of weights
LONGEST_TITLE, LONGEST_FACT, LONGEST_DOUBT = 120, 400, 1000  # characters


def report(
    model: Any,
    path: str | os.PathLike[str] = "report.html",
    X: Any = None,
    *,
    labels: Any = None,
    image: tuple[int, ...] | None = None,
    title: str | None = None,
) -> Path:
    """Write a report of a fitted PCA or KernelPCA as one HTML file, and return its path.

    It holds the components with their errors, charts, what the components are made of, and the certificate explained.
    The page is self-contained: it loads nothing and runs no script.

    Parameters
    ----------
    path : of the file; it is written whole or not at all
    X : rows whose scores are shown, as `transform` takes them; without it there is no chart of scores
    labels : one for every row of X, to colour the scores by; those of ``ritz.read(…, label=…)`` are known
    image : (height, width), or (height, width, 3), if the columns are the pixels of pictures; components are then shown
        as such. None is what the model knows: ``image_shape_``
    title : of the page

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report(ritz.PCA(2).fit(X), f"{folder}/iris.html", X, labels=y).read_text(encoding="utf-8")
    >>> "150 rows of 4 columns were decomposed into 2 components" in page
    True
    """
    path, about, model = Path(path), "", in_numpy(model)
    if is_other_array(X):
        X = as_rows(X).on_cpu()
    if isinstance(X, str | os.PathLike):
        X, about = as_rows(X), f" of {Path(X).name}"
    check_target(path, () if X is None else files_of(X, as_rows(X)))
    labels = X.labels if labels is None and isinstance(X, Rows) else labels
    first = None if X is None else First()
    if first is not None:
        findings(model)  # models that have no report, and models without a fit, are told apart from bad data
        model.transform(X, out=first.add)  # block by block: not all scores are held in memory
    title = f"Principal components{about}" if title is None else title
    page = render(model, title=title, scores=first, labels=labels, image=image)
    with replacing(path) as new:
        new.write_text(page, encoding="utf-8")
    return path


def render(
    model: Any,
    *,
    title: str,
    scores: Array | First | None = None,
    labels: Any = None,
    facts: Iterable[tuple[str, str]] = (),
    image: tuple[int, ...] | None = None,
    recognition: Recognition | None = None,
    doubts: Iterable[str] = (),
    unlike: bool = True,
) -> str:
    """The page, as text.

    Parameters
    ----------
    scores : (n, 1 or more), of which the first two columns are drawn; or what is remembered of so many rows that
        only every 2nd, 4th, … is
    labels : (n,) of anything, for all rows; None, NaN and empty text are missing
    facts : terms and descriptions: of the data, and of how it was read
    image : (height, width), or (height, width, 3), if the columns are the pixels of pictures; None is what the model
        knows
    recognition : what the nearest neighbours tell of the labels
    doubts : what looks wrong in the data
    unlike : whether to say that columns have different scales, where they have
    """
    found = findings(model)
    image = found.image if image is None else image
    if isinstance(scores, First) and scores.step > 1:
        labels = None if labels is None else labels[:: scores.step]
        facts = (*facts, ("scores shown", f"every {ordinal(scores.step)} row of {scores.rows:,}"))
    return _template().render(
        title=shown(title, LONGEST_TITLE),
        found=found,
        summary=[sentences.decomposed(found), sentences.kept(found)],
        chosen=sentences.chosen(found),
        composition=[] if image is not None else sentences.composition(found),
        verdict=sentences.verdict(found),
        doubts=[shown(text, LONGEST_DOUBT) for text in doubts],
        warnings=sentences.warnings(found, image is not None or not unlike),
        rows=_table(found),
        scree=_scree(found),
        scores=_scores(found, scores, labels),
        recognised=_recognised(recognition, image is not None),
        pictures=_pictures(model, found, image),
        in_colour=image is not None and len(checked(image, found.n_columns)) == 3,
        weights=() if image is not None else _weights(found),
        explained=explained(found),
        certificate=str(found.certificate),
        facts=[(shown(term), shown(text, LONGEST_FACT)) for term, text in facts],
        plan=_plan(found),
    )


def _table(found: Findings) -> list[dict[str, str]]:
    """A line for every component: what it holds and how sure that is."""
    certificate, sampling = found.certificate, found.certificate.sampling_errors
    turns = certificate.sampling_angles
    together, errors = np.minimum(np.cumsum(found.shares), 1.0), found.certificate.errors
    groups = {i: components(start, end) for start, end in found.groups for i in range(start, end)}
    listed = [*range(min(found.k, MOST_ROWS)), *([found.k - 1] if found.k > MOST_ROWS else [])]
    return [
        {
            "name": component(i),
            "skipped": str(i - MOST_ROWS) if i > MOST_ROWS else "",
            "exact": repr(float(found.values[i])),
            "value": figure(float(found.values[i]), float(errors[i])),
            "share": percent(float(found.shares[i])),
            "between": "" if found.share_bounds is None else between(*map(float, found.share_bounds[i])),
            "together": percent(float(together[i]), found.asked),
            "numerical": bound(float(errors[i])),
            "sampling": "" if sampling is None else number(float(sampling[i]), 2, full=True),
            "turn": "" if turns is None else sampled_degrees(float(turns[i])).rstrip("°"),
            "angle": angle(float(certificate.angle_bounds[i])),
            "group": groups.get(i, ""),
        }
        for i in listed
    ]


def _scree(found: Findings) -> list[charts.Chart]:
    """The variances as bars and summed up; a single one needs no chart, unless more could have been."""
    drawn = ((charts.scree, found.choice), (charts.together, found.asked))
    return [chart(found) for chart, reason in drawn if found.k > 1 or reason is not None]


def _scores(found: Findings, scores: Any, labels: Any) -> Scores | None:
    """The chart of scores, once they are known to be some, and to have as many labels."""
    if scores is None:
        if labels is not None:
            raise DataError("labels colour the scores, but there are no scores; pass the rows too")
        return None
    step, rows = (scores.step, scores.rows) if isinstance(scores, First) else (1, len(scores))
    scores = np.asarray(scores.scores if isinstance(scores, First) else scores)
    if scores.ndim != 2 or not scores.shape[0] or not scores.shape[1]:
        raise DataError(f"scores have the shape {scores.shape}; rows and at least one component are needed")
    return scores_chart(scores[:, : found.k], classified(labels, len(scores)), found.shares, step, rows)


def _recognised(found: Recognition | None, pictures: bool) -> str:
    """What the nearest neighbours tell of the labels, as a sentence."""
    if found is None:
        return ""
    said = sentences.recognised(found, pictures)
    return f"{said[0].upper()}{said[1:]}."


def _pictures(model: Any, found: Findings, image: Any) -> list[images.Picture]:
    """The mean and the first axes, as images."""
    if image is None:
        return []
    if found.axes is None:
        raise DataError("image= shows axes as pictures, and kernel PCA has its axes in feature space; leave it out")
    shape = checked(image, found.n_columns)
    return _mean(model, found, shape) + [
        images.diverging(found.axes[:, i], shape, sentences.caption(found, i))
        for i in range(min(found.k, MOST_PICTURES))
    ]


def _mean(model: Any, found: Findings, shape: tuple[int, ...]) -> list[images.Picture]:
    """The mean on the scale of all pictures of the model; on its own, where the model knows of none."""
    if found.mean is None or not found.mean.any():
        return []
    ends = (found.mean.min(), found.mean.max()) if found.image is None else images.shades(model)
    return [images.grey(found.mean, shape, "mean", ends)]


def _weights(found: Findings) -> list[dict[str, Any]]:
    """The first axes as bars."""
    if found.axes is None:
        return []
    return [
        {"chart": charts.weights(found, found.axes[:, i], i), "caption": sentences.caption(found, i)}
        for i in range(min(found.k, MOST_CHARTS))
    ]


def _plan(found: Findings) -> Sequence[tuple[str, str]]:
    """What was expected of the computation, and what it took."""
    plan = found.plan
    if plan is None:
        return ()
    return (("Plan", plan.summary), ("Why", plan.why), ("Passes over the data", sentences.passes(found)))


@cache
def _template() -> Template:
    """The page, with what is the same in all of them."""
    loader = PackageLoader("ritz.views")
    pages = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    style = (Path(__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
    pages.globals.update(
        style=Markup(style),  # our own file, and the only text that is not escaped
        style_hash=b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii"),
        version=ritz.__version__,
    )
    return pages.get_template("report.html")
