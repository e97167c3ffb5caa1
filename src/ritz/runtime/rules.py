"""Rules for parameters: what a value may be, in code and in words. Every estimator has one table of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from ritz.errors import ParameterError
from ritz.runtime.memory import PHYSICAL


@dataclass(frozen=True)
class Rule:
    """Whether a value will do, and the words that follow it in the error where it will not; after None, with more."""

    holds: Callable[[Any], bool]
    words: str
    after_none: str = ""

    def check(self, name: str, value: Any) -> None:
        if not self.holds(value):
            raise ParameterError(name, value, self.words + (self.after_none if value is None else ""))


Table = Mapping[str, Rule]


def check_all(model: Any, table: Table) -> None:
    """Every parameter of a model by its rule; defaults, which are attributes of its class, obey theirs."""
    kind = type(model)
    for name, rule in table.items():
        value = getattr(model, name)
        if value is not getattr(kind, name, model):
            rule.check(name, value)


def is_flag(value: Any) -> bool:
    """Whether it is True or False, of Python or of NumPy."""
    return isinstance(value, bool | np.bool_)


def is_integer(value: Any) -> TypeGuard[int]:
    """Whether it is an integer, and not True or False."""
    return isinstance(value, Integral) and not is_flag(value)


def is_number(value: Any) -> bool:
    """Whether it is a finite real number, and not True or False."""
    return isinstance(value, Real) and not is_flag(value) and isfinite(float(value))


def is_share(value: Any) -> bool:
    """Whether it is a number strictly between 0 and 1."""
    return is_number(value) and not isinstance(value, Integral) and 0 < float(value) < 1


FLAG = Rule(is_flag, "must be True or False")
FINITE = Rule(is_number, "must be a finite number")
FRACTION = Rule(lambda value: is_number(value) and 0 <= float(value) < 1, "must be a number from 0 to below 1")
TOL = replace(FRACTION, words="must be a number with 0 <= tol < 1")
TOL_OF_PAIRS = replace(
    TOL,
    after_none="; to stop on the change of the eigenvalue alone, as textbooks do, call ritz.eigen(matrix, k, 'power', "
    "tol=None)",
)


def integer(least: int, more: str = "") -> Rule:
    """An integer that is at least so large."""
    return Rule(lambda value: is_integer(value) and int(value) >= least, f"must be an integer >= {least}{more}")


def or_else(value: Any, rule: Rule, words: str) -> Rule:
    """One value that stands for a default, or what the rule says."""
    return Rule(lambda given: (type(given) is type(value) and given == value) or rule.holds(given), words)


COUNT_OR_NONE = or_else(None, integer(1), "must be an integer >= 1, or None")
COUNT_OR_AUTO = or_else("auto", integer(1), "must be 'auto' or an integer >= 1")


def parse_bytes(limit: Any) -> int:
    """Bytes from 2e9, "512MB" or "2 GiB"; None stands for the physical memory of this machine.

    Examples
    --------
    >>> parse_bytes("512MB")
    512000000
    """
    if limit is None:
        return PHYSICAL
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kmgt]?)(i?)b?\s*", limit.lower())
        if not match:
            raise ParameterError("memory_limit", limit, "is not a size; write for instance '512MB' or '2GiB'")
        number, prefix, binary = match.groups()
        limit = float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " ")
    count = float(limit) if is_number(limit) else 0.0
    if not count > 0:
        raise ParameterError("memory_limit", limit, "must be a positive number of bytes")
    return int(count)


def seed_of(random_state: Any) -> int:
    """An integer seed; None is a fixed one, so that the same data gives the same answer.

    Examples
    --------
    >>> seed_of(None), seed_of(7)
    (0, 7)
    """
    if random_state is None:
        return 0
    if is_integer(random_state) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(1 << 31))
    raise ParameterError("random_state", random_state, "must be an integer >= 0, a Generator, a RandomState or None")
