"""What Ritz raises and warns with."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Self

FILE = "\ufdd0"  # stands for the name of the file in the problem of a DataError; no text has that character


class Advised(Exception):
    """A message in parts, so that a program can word the next step, or all of it, in its own way.

    Attributes
    ----------
    problem : the message without its next step
    advice : the next step, in the words of the Python interface
    code : what the next step depends on, for programs with words of their own; "" where none need to
    plain : the problem without names of Python, such as those of parameters
    facts : what the next step needs to know, by name, for programs with words of their own
    """

    def __init__(self, problem: str = "", advice: str = "", code: str = "", plain: str = "", **facts: Any) -> None:
        super().__init__(f"{problem}; {advice}" if advice else problem)
        self.problem, self.advice, self.code, self.plain = problem, advice, code, plain or problem
        self.facts = facts


class DataError(Advised, ValueError):
    """The data cannot be decomposed; the message names the place and the next step.

    Attributes
    ----------
    problem, advice : the two parts of the message: what is wrong and where, and the next step
    code : what kind of problem it is, for programs; "" where none need to know
    plain : the problem without names of Python, such as those of parameters
    file : the file that it is about; "" where that is not known, or there is none

    Examples
    --------
    >>> from ritz import PCA, DataError
    >>> try:
    ...     PCA(1).fit([[1.0, float("nan")], [2.0, 3.0]])
    ... except DataError as error:
    ...     print(error.problem, error.advice, error.code, sep="\\n")
    Input X contains 1 NaN, first at row 0, column 1
    drop or impute those rows first
    missing
    """

    def __init__(
        self, problem: str = "", advice: str = "", code: str = "", plain: str = "", file: object = "", **facts: Any
    ) -> None:
        name = str(file) or "the file"
        super().__init__(problem.replace(FILE, name), advice, code, plain.replace(FILE, name), **facts)
        self.file, self._template = str(file), (problem, plain or problem)  # with FILE in place of its name

    def in_file(self, name: object) -> Self:
        """The same error, with that name where its problem has the file, or before the problem."""
        before = "" if FILE in self._template[0] else f"{FILE}: "
        problem, plain = (before + text for text in self._template)
        return type(self)(problem, self.advice, self.code, plain, name, **self.facts)

    def at(self, place: str) -> Self:
        """The same error, with where it was found before its problem."""
        problem, plain = (f"{place}: {text}" for text in self._template)
        return type(self)(problem, self.advice, self.code, plain, self.file, **self.facts)


class ChunkError(DataError):
    """A chunk of a Dask collection cannot be computed; `cause`, and `__cause__`, is the error of its own task."""

    cause: BaseException | None = None

    def __setstate__(self, state: Any) -> None:
        """What comes from another process has lost its cause, but for this."""
        self.__dict__.update(state)
        self.__cause__ = self.cause


class ParameterError(ValueError):
    """A parameter breaks its rule.

    Attributes
    ----------
    name, value : of the parameter
    rule : what it must be, in words that follow its name and value
    plain : the same without names of Python

    Examples
    --------
    >>> from ritz import PCA, ParameterError
    >>> try:
    ...     PCA(-1).fit([[1.0, 2.0], [3.0, 5.0]])
    ... except ParameterError as error:
    ...     print(error)
    ...     print(error.name, error.value)
    n_components=-1 must be between 1 and min(n_samples, n_features)=2
    n_components -1
    """

    def __init__(self, name: str, value: Any, rule: str, plain: str = "") -> None:
        super().__init__(name, value, rule, plain)
        self.name, self.value, self.rule, self.plain = name, value, rule, plain or rule

    def __str__(self) -> str:
        return f"{self.name}={self.value!r} {self.rule}"


class AccuracyWarning(Advised, UserWarning):
    """The answer holds, but not in the way that was asked for; the certificate says how far.

    `diagnostic` is the fact behind it, with a code for programs, where there is one.

    Examples
    --------
    >>> import warnings
    >>> from ritz import PCA, AccuracyWarning
    >>> circle = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]  # no direction is the first
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", AccuracyWarning)
    ...     pca = PCA(1).fit(circle)
    >>> print(caught[0].message)
    PC1 and the next one cannot be told apart at this accuracy, so the subspace of 1
    component is not unique; keep more, until the tie ends
    >>> caught[0].message.diagnostic
    Diagnostic(code='tie', facts={'first': 0})
    """

    diagnostic: Any = None


class ColumnWarning(Advised, UserWarning):
    """Columns that need the reader's attention: what a file has beside numbers is left out.

    Examples
    --------
    >>> import tempfile, warnings
    >>> from pathlib import Path
    >>> from ritz import ColumnWarning, read
    >>> table = Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = table.write_text("name,height,weight\\nAda,170,60\\nBen,180,75\\nCem,175,64\\n")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", ColumnWarning)
    ...     rows = read(table)
    >>> print(caught[0].message)
    columns left out: 'name' (text); only numbers are decomposed
    >>> rows.names
    ('height', 'weight')
    """


class MissingPackageError(ImportError):
    """A package that an extra of Ritz brings is not installed; the message says how to."""


class ClusterError(Advised, RuntimeError):
    """A Dask cluster is gone, lost data that nobody can make again, or lacks what a fit needs; no model was changed.

    Examples
    --------
    >>> from ritz import ClusterError
    >>> error = ClusterError("the Dask cluster at tcp://10.0.0.1:8786 has no workers", "start some")
    >>> print(error)
    the Dask cluster at tcp://10.0.0.1:8786 has no workers; start some
    >>> issubclass(ClusterError, RuntimeError)
    True
    """


class NotYetError(DataError, AttributeError):
    """What was asked for cannot be computed from the rows so far."""


def warn(warning: Warning) -> None:
    """Warn at the line of the program that called Ritz, through however many functions of ours and scikit-learn's."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("ritz", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)
