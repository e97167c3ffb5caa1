"""`choose_rank`: how many components, by all rules beside each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ritz.errors import DataError, ParameterError
from ritz.fitting.request import Request
from ritz.pca.fitted import is_pca, rows_of
from ritz.ranks.known import Known, of_kernel, of_model, of_rows
from ritz.ranks.panel import RULES, RankPanel, panel_of
from ritz.ranks.rules import Asked
from ritz.rows import Rows, as_rows
from ritz.runtime.rules import FLAG, Rule, integer, is_share, parse_bytes, seed_of

FEWEST = 3  # rows
DDOF = integer(0)
LEVEL = Rule(is_share, "must be a number strictly between 0 and 1")


def choose_rank(
    X_or_model: Any,
    X: Any = None,
    *,
    center: bool = True,
    scale: bool = False,
    ddof: int = 1,
    random_state: Any = None,
    level: float = 0.05,
    memory_limit: Any = None,
    rules: Iterable[str] | None = None,
) -> RankPanel:
    """How many components to keep: what every rule says, its threshold, what it assumes, and whether that holds here.

    Parameters
    ----------
    X_or_model : data of any kind that PCA takes, or a fitted PCA or KernelPCA
    X : with a fitted PCA, the rows that it is asked about. Without them, rules that need rows have no answer; the
        spectrum is that of the model's moments, or what it kept
    center, scale, ddof : as PCA does it; a model has its own
    random_state : where signs and halves come from; None is a fixed seed
    level : probability with which one component of noise may pass parallel analysis and random tables, of which there
        are 59, so that it is 1/60 at least; sign flips are a test at 5 %
    memory_limit : bytes of working memory, or a text such as "2GB"
    rules : names of those in the table; all of them by default

    Returns
    -------
    RankPanel
        It prints as a table. `k` is recommended, for the reason in `recommendation`.

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_wine
    >>> panel = ritz.choose_rank(load_wine().data, scale=True, rules=["Kaiser", "sign flips"])
    >>> print(panel.table.lines()[2])
    sign flips  3  0.9798     noise with random signs             doubtful: next rows are alike (0.26)
    """
    names = _names(rules)
    LEVEL.check("level", level)
    asked = Asked(float(level), seed_of(random_state))
    if is_pca(X_or_model) or _is_kernel(X_or_model):
        return panel_of(_of_fitted(X_or_model, X, asked.seed, memory_limit), asked, names)
    if hasattr(X_or_model, "get_params"):
        kind = f"{type(X_or_model).__module__.split('.')[0]}.{type(X_or_model).__name__}"
        raise DataError(
            f"choose_rank takes data, or a fitted ritz.PCA or ritz.KernelPCA, not this {kind}",
            "fit it first, or pass the data" if kind.startswith("ritz.") else "pass the data",
        )
    if X is not None:
        raise DataError("choose_rank takes X beside a fitted PCA alone; pass the data as its only argument")
    for name, flag in (("center", center), ("scale", scale)):
        FLAG.check(name, flag)
    DDOF.check("ddof", ddof)
    request = Request("auto", bool(center), bool(scale), int(ddof), limit=parse_bytes(memory_limit), seed=asked.seed)
    return panel_of(_of_rows(as_rows(X_or_model), request), asked, names)


def _is_kernel(model: Any) -> bool:
    """Whether it is a fitted kernel model, which has the spectrum of a kernel and no columns."""
    return hasattr(model, "explained_variance_ratio_") and hasattr(model, "eigenvalues_")


def _of_fitted(model: Any, X: Any, seed: int, memory_limit: Any) -> Known:
    if not is_pca(model):
        if X is not None:
            raise DataError("choose_rank of a KernelPCA needs its spectrum alone; leave X out")
        known = of_kernel(model)
    else:
        model._check_fitted()
        limit = parse_bytes(model.memory_limit if memory_limit is None else memory_limit)
        request = Request("auto", model.center, model.scale, model.ddof, limit=limit, seed=seed)
        if X is not None:
            return _of_rows(rows_of(model, X), request)
        known = of_model(model, request)
    if not known.total > 0:
        raise DataError("no component has any variance: there is nothing to choose")
    return known


def _of_rows(rows: Rows, request: Request) -> Known:
    n, d = rows.shape
    if n < FEWEST:
        raise DataError(f"{n} rows span at most {max(1, n - 1)} component; give at least {FEWEST} rows")
    if d < 2:
        raise DataError("one column has one component: there is nothing to choose")
    known: Known = rows.near(of_rows, request)
    if not known.total > 0:
        raise DataError("all columns are constant: no component has any variance, and there is nothing to choose")
    return known


def _names(rules: Iterable[str] | None) -> tuple[str, ...]:
    if rules is None:
        return tuple(RULES)
    asked = (rules,) if isinstance(rules, str) else tuple(rules)
    for name in asked:
        if name not in RULES:
            raise ParameterError("rules", name, f"must be among {', '.join(map(repr, RULES))}")
    return asked
