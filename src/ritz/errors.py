"""What Ritz raises and warns with."""

from __future__ import annotations

import sys
import warnings
from typing import Any


class Advised(Exception):
    """A message in parts, so that a program can word the next step, or all of it, in its own way.

    Attributes
    ----------
    problem : the message without its next step
    advice : the next step, in the words of the Python interface
    code : what the next step depends on, for programs with words of their own; "" where none need to
    plain : the problem without names of Python, such as those of parameters
    """

    advice: str = ""
    code: str = ""
    _plain: str = ""

    def __init__(self, problem: str = "", advice: str = "", code: str = "", plain: str = "") -> None:
        super().__init__(f"{problem}; {advice}" if advice else problem)
        self.advice, self.code, self._plain = advice, code, plain

    @property
    def problem(self) -> str:
        return str(self).removesuffix(f"; {self.advice}")

    @property
    def plain(self) -> str:
        return self._plain or self.problem


class DataError(Advised, ValueError):
    """The data cannot be decomposed; the message names the place and the next step."""

    def about(self, problem: str, plain: str = "") -> DataError:
        """The same error, whose problem is told in other words, such as another name of the file."""
        error = type(self)(f"{problem}; {self.advice}" if self.advice else problem)
        vars(error).update(vars(self), _plain=plain)
        return error


class ParameterError(ValueError):
    """A parameter breaks its rule.

    Attributes
    ----------
    name, value : of the parameter
    rule : what it must be, in words that follow its name and value
    plain : the same without names of Python
    """

    def __init__(self, name: str, value: Any, rule: str, plain: str = "") -> None:
        super().__init__(name, value, rule, plain)
        self.name, self.value, self.rule, self.plain = name, value, rule, plain or rule

    def __str__(self) -> str:
        return f"{self.name}={self.value!r} {self.rule}"


class AccuracyWarning(Advised, UserWarning):
    """The answer holds, but not in the way that was asked for; the certificate says how far.

    `diagnostic` is the fact behind it, with a code for programs, where there is one.
    """

    diagnostic: Any = None


class ColumnWarning(Advised, UserWarning):
    """Columns that need the reader's attention."""


class MissingPackageError(ImportError):
    """A package that an extra of Ritz brings is not installed; the message says how to."""


class NotYetError(AttributeError, DataError):
    """What was asked for cannot be computed from the rows so far."""


def warn(warning: Warning) -> None:
    """Warn at the line of the program that called Ritz, through however many functions of ours and scikit-learn's."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("ritz", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)
