"""What a mistake is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ritz.exercises.case import Case

Undo = Callable[[Case], Iterator[Case]]


@dataclass(frozen=True)
class Mistake:
    """A typical mistake, known by undoing it.

    Attributes
    ----------
    code : for programs
    family : "problem", "values", "form", "lengths" or "general"; two mistakes that are made together are of different
        families
    undo : the cases in which the answer would be right, had this mistake been made
    text, advice : what happened, and what to do next
    """

    code: str
    family: str
    undo: Undo
    text: str
    advice: str
