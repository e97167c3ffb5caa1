"""The extensions of Sphinx in docs/_ext: their examples, and formulas that must not pass."""

from __future__ import annotations

import doctest
import sys
from importlib import import_module
from pathlib import Path
from xml.etree.ElementTree import ParseError

import pytest
from latex2mathml.exceptions import NoAvailableTokensError

EXTENSIONS = Path(__file__).parents[1] / "_ext"
sys.path.insert(0, str(EXTENSIONS))


@pytest.mark.parametrize("name", sorted(path.stem for path in EXTENSIONS.glob("*.py")))
def test_examples(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted
    assert not result.failed


def test_a_formula_that_cannot_be_read_is_an_error() -> None:
    mathml = import_module("mathml").mathml
    assert "<munder>" in mathml(r"\min_{U} \lVert U \rVert", "block")
    assert "<munder>" not in mathml(r"\min_{U} \lVert U \rVert", "inline")
    with pytest.raises(ValueError, match=r"\\notacommand is not known"):
        mathml(r"\notacommand x", "inline")
    for broken, error in (
        (r"\frac{1}{", NoAvailableTokensError),
        (r"\begin{gathered} a & b \end{gathered}", ParseError),
    ):
        with pytest.raises(error):
            mathml(broken, "inline")
    assert "<mi>tan</mi><mspace" in mathml(r"\tan\theta", "inline")
    assert "<mspace" not in mathml(r"a b + \tan(x)", "inline")
    assert "text-align: left" in mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "block")


def test_docstrings_have_both_forms_of_an_entry() -> None:
    converted = import_module("docstrings").converted
    text = """What it is: |x| and y_.

    Parameters
    ----------
    tol : float
        The accuracy.
    k : how many
    start : a long text that goes on, so that its first line was broken where the line of the source was full, with
        Gaussian columns

    Examples
    --------
    >>> 1 + 1
    2
    """
    lines = converted([line.removeprefix("    ") for line in text.splitlines()])
    assert lines[0] == r"What it is: \|x\| and y\_."
    assert "**tol** : float" in lines
    assert "**k**" in lines
    assert "    how many" in lines
    assert "**start**" in lines
    assert ".. rubric:: Examples" in lines
    assert ">>> 1 + 1" in lines
