"""The verdict: what a student reads, and what a teacher's program asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ritz.spectrum.certificate import Certificate


@dataclass(frozen=True)
class Finding:
    """One thing that was checked, or a mistake that explains what is wrong.

    Attributes
    ----------
    code : for programs; docs/exercises.md lists all
    text : one sentence
    kind : "check" for what was measured, "mistake" for a cause, "note" for what is good to know
    right : whether that part is right; None for a mere fact
    numbers : what was measured, by name
    advice : what to do next, for a mistake
    """

    code: str
    text: str
    kind: str = "check"
    right: bool | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        plain = {"code": self.code, "kind": self.kind, "right": self.right, "text": self.text}
        more = {"numbers": dict(self.numbers), "advice": self.advice}
        return plain | {name: part for name, part in more.items() if part}


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """Whether an answer is right, what was checked, the likely mistake and the next step. Print it.

    Attributes
    ----------
    right : bool
    code : "right", the code of the mistake, or "unexplained"
    headline : the first line, without "Right" or "Not yet"
    findings : what was checked, then the mistakes
    certificate : of the solution that the answer was compared with; None where no solution was needed

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import check
    >>> X = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 6.0], [7.0, 3.0]])
    >>> verdict = check(X, np.linalg.svd(X)[2][:1].T)
    >>> verdict.right, verdict.code
    (False, 'not_centred')
    """

    right: bool
    headline: str
    findings: tuple[Finding, ...] = ()
    certificate: Certificate | None = None

    @property
    def mistakes(self) -> tuple[Finding, ...]:
        """The causes that explain the answer."""
        return tuple(finding for finding in self.findings if finding.kind == "mistake")

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all mistakes that were made."""
        return tuple(finding.code for finding in self.mistakes)

    @property
    def code(self) -> str:
        """The first of them; "right" for a right answer, "unexplained" where no mistake was recognised."""
        if self.right:
            return "right"
        return self.codes[0] if self.codes else "unexplained"

    def __getitem__(self, code: str) -> Finding:
        """The finding with that code."""
        found = [finding for finding in self.findings if finding.code == code]
        if not found:
            known = ", ".join(finding.code for finding in self.findings)
            raise KeyError(f"no finding {code!r}; there are {known}")
        return found[0]

    def __bool__(self) -> bool:
        return self.right

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain numbers and texts, for JSON.

        Examples
        --------
        >>> import json
        >>> import numpy as np
        >>> import ritz
        >>> X, answer = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.5]]), np.array([[1.0], [0.0]])
        >>> verdict = ritz.check(X, answer)
        >>> sorted(json.loads(json.dumps(verdict.to_dict())))
        ['code', 'findings', 'headline', 'right']
        """
        findings = [finding.to_dict() for finding in self.findings]
        return {"right": self.right, "code": self.code, "headline": self.headline, "findings": findings}

    def __str__(self) -> str:
        lines = [f"{'Right' if self.right else 'Not yet'}: {self.headline}"]
        lines += [f"- {finding.text}" for finding in self.findings if finding.kind != "mistake"]
        for finding in self.mistakes:
            lines += [f"Likely cause: {finding.text}", f"Next: {finding.advice}"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)  # so that it is read where nobody prints it
