"""Every mistake is told by its own code and no other, and only where it explains all that was handed in."""

import re
from pathlib import Path

import numpy as np
import pytest

from helpers.mistakes import CASES, slope
from helpers.students import Student, data
from ritz import check
from ritz.exercises import problem
from ritz.exercises.check import ADVICE
from ritz.exercises.diagnose import CODES, GENERAL, MISTAKES

pytestmark = pytest.mark.usefixtures("one_thread")


def checked(case):
    """The verdict; an answer in a dict says what it is."""
    name, answer, options = case
    if isinstance(answer, dict):
        [(what, answer)] = answer.items()
        options = {**options, "what": what}
    return check(data(name), answer, **options)


def test_every_mistake_has_three_instances():
    assert set(CASES) == set(CODES)
    assert min(map(len, CASES.values())) >= 3


@pytest.mark.parametrize("code", CASES)
def test_a_mistake_is_told_by_its_own_code(code):
    for case in CASES[code]:
        verdict = checked(case)
        assert verdict.codes == (code,), str(verdict)
        assert not verdict.right
        assert str(verdict).startswith("Not yet: ")


def test_the_page_lists_every_code():
    page = (Path(__file__).parents[2] / "docs" / "exercises.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    told = {mistake.code: mistake.text.rstrip(".") for mistake in reversed((*MISTAKES, *GENERAL))}
    assert dict(listed) == dict(listed) | told
    assert len(listed) == len(dict(listed))


def test_the_page_lists_what_is_checked_and_what_is_refused():
    page = (Path(__file__).parents[2] / "docs" / "exercises.md").read_text("utf-8")
    listed = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| `.*` \|", page, re.MULTILINE))))
    s = Student("tied")
    answers = [s.V[:, :2], (s.values, s.V), np.ones((6, 2)), s.V[:, :2].round(3), lambda A: A.fill(0), np.linalg.eigh]
    seen = {finding.code for answer in answers for finding in check(s.X, answer).findings}
    assert len(seen) > 15
    assert seen | set(ADVICE) <= listed


def test_what_many_vectors_would_be_explains_nothing():
    """The vector of ones has no variance in rows that were centred by their own means."""
    assert check(data("iris"), np.ones(4) / 2).code == "unexplained"


def test_two_mistakes_of_layout_and_order():
    values, vectors = np.linalg.eigh(Student("iris").C)
    pairs = list(zip(values, vectors, strict=True))  # runs over rows
    assert set(check(data("iris"), pairs).codes) == {"transposed", "ascending_order"}


def test_a_regression_line_explains_both_columns_and_the_values():
    s = Student("hot plane")
    line, other = np.array([1.0, slope(s.X)]), np.array([slope(s.X[:, ::-1]), 1.0])
    assert check(s.X, np.column_stack([line, other])).codes == ("regression_line",)
    assert check(s.X, np.column_stack([line, [1.0, 0.0]])).codes != ("regression_line",)
    u = line[:, None] / np.linalg.norm(line)
    assert check(s.X, ((u.T @ s.C @ u).ravel(), u)).codes == ("regression_line",)
    assert check(s.X, ([123.0], u)).codes != ("regression_line",)


def test_the_exercise_is_certified_and_what_mistakes_are_compared_with_is_solved_once(monkeypatch):
    solved = {"PCA": 0, "svd": 0}

    def counting(name, real):
        def counted(*args, **options):
            solved[name] += 1
            return real(*args, **options)

        return counted

    for name in solved:
        monkeypatch.setattr(problem, name, counting(name, getattr(problem, name)))
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 2)))[0]
    assert check(data("gapped"), U).code == "unexplained"
    # Not centred, scaled, and centred by one mean, by rows or by both; columns for rows have no axes of 5 entries.
    assert solved == {"PCA": 1, "svd": 5}
