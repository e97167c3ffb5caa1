"""Diagnostics: facts that a reader should know before believing a result, each with a code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """One such fact. Warnings, the page and the command line each put it into words of their own.

    Attributes
    ----------
    code : for programs; docs/certificate.md lists all
    facts : its numbers, by name
    """

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)
