"""What Ritz raises and warns with."""

from __future__ import annotations

import sys
import warnings
from typing import Any


class DataError(ValueError):
    """The data cannot be decomposed; the message names the place and the next step.

    Attributes
    ----------
    problem : the message without its next step
    advice : the next step, in the words of the Python interface
    code : which rule was broken, for programs that word the next step in their own way; "" where none need to
    """

    advice: str = ""
    code: str = ""

    def __init__(self, problem: str = "", advice: str = "", code: str = "") -> None:
        super().__init__(f"{problem}; {advice}" if advice else problem)
        self.advice, self.code = advice, code

    @property
    def problem(self) -> str:
        return str(self).removesuffix(f"; {self.advice}")

    def about(self, problem: str) -> DataError:
        """The same error, whose problem is told in other words, such as another name of the file."""
        error = type(self)(f"{problem}; {self.advice}" if self.advice else problem)
        vars(error).update(vars(self))
        return error


class ParameterError(ValueError):
    """A parameter breaks its rule.

    Attributes
    ----------
    name, value : of the parameter
    rule : what it must be, in words that follow its name and value
    """

    def __init__(self, name: str, value: Any, rule: str) -> None:
        super().__init__(name, value, rule)
        self.name, self.value, self.rule = name, value, rule

    def __str__(self) -> str:
        return f"{self.name}={self.value!r} {self.rule}"


class AccuracyWarning(UserWarning):
    """The answer holds, but not in the way that was asked for; the certificate says how far.

    `diagnostic` is the fact behind it, with a code for programs, where there is one.
    """

    diagnostic: Any = None


class ColumnWarning(UserWarning):
    """Column names that need the reader's attention."""


class NotYetError(AttributeError, DataError):
    """What was asked for cannot be computed from the rows so far."""


def warn(warning: Warning) -> None:
    """Warn at the line of the program that called Ritz, through however many functions of ours and scikit-learn's."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("ritz", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)
