"""Whether what a rule assumes holds here, in a few words, by what was measured."""

from __future__ import annotations

import numpy as np

from ritz.ranks.checks import EQUAL
from ritz.ranks.known import Known
from ritz.ranks.marchenko_pastur import Law

FEW = 20  # rows and columns from which asymptotic laws are near enough
NOISE_OF_ONE = 1.3  # how far noise of correlations may reach above 1 for Kaiser's rule
UNCHECKED = "not checked: pass X"


def habit(known: Known) -> str:
    """A share says nothing about noise."""
    return "a habit: says nothing of noise"


def thumb(known: Known) -> str:
    """Rules of thumb."""
    return "a rule of thumb"


def kaiser(known: Known) -> str:
    """Noise of few columns and many rows has correlations near 1."""
    if not known.n:
        return "not checked: rows unknown"
    reach = Law(np.ones(known.d), known.n).edge
    return "yes" if reach <= NOISE_OF_ONE else f"no: noise alone reaches {reach:.2g}"


def white(known: Known) -> str:
    """All entries have noise of equal variance and light tails, and there are many."""
    facts = known.facts
    if facts is None:
        return _few(known)
    if not facts.alike:
        return f"no: noise differs {times(facts.columns)} by column"
    if not facts.white:
        return f"no: noise differs {times(facts.rows)} by row"
    return _tails(known) or _rows(known)


def columns(known: Known) -> str:
    """Rows have noise of equal variance; columns need not."""
    facts = known.facts
    if facts is None:
        return _few(known)
    if facts.rows > EQUAL:
        return f"no: noise differs {times(facts.rows)} by row"
    return _tails(known) or _rows(known)


def any_noise(known: Known) -> str:
    """Noise of any spectrum, in many rows and columns."""
    return _few(known) if known.facts is None else _rows(known)


def signs(known: Known) -> str:
    """Signs of noise are random: rows do not follow each other."""
    return _few(known) if known.facts is None else _rows(known)


def table(known: Known) -> str:
    """Columns of equal variance."""
    if not known.scaled and known.spread > EQUAL:
        return f"no: columns deviate {times(known.spread)}"
    return UNCHECKED if known.facts is None else _tails(known) or _rows(known)


def exchangeable(known: Known) -> str:
    """Rows and columns that are held out resemble the others."""
    if min(known.n, known.d) < FEW // 2:
        return f"no: {min(known.n, known.d)} {'columns' if known.d <= known.n else 'rows'} to hold out from"
    return UNCHECKED if known.facts is None else _rows(known)


def _few(known: Known) -> str:
    """What stands for a check that cannot be made, or that few rows or columns make a rough one."""
    least = min(known.n, known.d)
    if not known.n:
        return "not checked: rows unknown"
    if known.facts is None:
        return UNCHECKED
    return f"roughly: only {least} {'columns' if known.d <= known.n else 'rows'}" if least < FEW else ""


def _tails(known: Known) -> str:
    assert known.facts is not None
    return f"no: heavy tails, kurtosis {known.facts.tails:.2g}" if known.facts.heavy else ""


def _rows(known: Known) -> str:
    """Whether rows follow each other, as those of a time series do; and, where not, whether there are many."""
    assert known.facts is not None
    if known.facts.ordered:
        return f"doubtful: next rows are alike ({known.facts.follows:.2f})"
    return _few(known) or "yes"


def times(factor: float) -> str:
    """A factor in words.

    Examples
    --------
    >>> times(3.14), times(1234.5), times(1e7)
    ('3.1-fold', '1,234-fold', '1e+07-fold')
    """
    if factor >= 1e6:
        return f"{factor:.0e}-fold"
    return f"{factor:,.0f}-fold" if factor >= 100 else f"{factor:.2g}-fold"
