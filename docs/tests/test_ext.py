"""The extensions of Sphinx in docs/_ext: their examples, and formulas that must not pass."""

from __future__ import annotations

import doctest
import inspect
import re
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
    assert "text-align: left" in mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "block")


THIN = '<mspace width="0.167em" />'


@pytest.mark.parametrize(
    ("latex", "part"),
    [
        (r"\tan\theta", f"<mi>tan</mi>{THIN}<mi>θ</mi>"),
        (r"\sin^2 \varphi_m", f"</msup>{THIN}<msub>"),
        (r"\sin\angle(u)", f"<mi>sin</mi>{THIN}<mi>∠</mi><mo"),
        (r"2\operatorname{tr} C", f"<mn>2</mn>{THIN}<mi>tr</mi>{THIN}<mi>C</mi>"),
        (r"\lambda / \operatorname{tr} C", f'<mo lspace="0" rspace="0">/</mo><mi>tr</mi>{THIN}'),
        (r"a b + \tan(x)", "<mo>+</mo><mi>tan</mi><mo"),
        (r"(-1)", '<mo form="prefix">−</mo><mn>1</mn>'),
        (r"(a) - b", "<mo>−</mo>"),
        (r"a_1 + \dots + a_k", "<mo>+</mo><mi>…</mi><mo>+</mo>"),
        (r"M^{-\top}", "<mo>−</mo><mi>⊤</mi>"),
        (r"\hat C", '<mover accent="true"><mi>C</mi><mo>ˆ</mo></mover>'),
        (r"\tilde K", '<mover accent="true"><mi>K</mi><mo stretchy="false">˜</mo></mover>'),
        (r"\sqrt\kappa", '<msqrt><mi>κ</mi><mspace height="0.7em" depth="0.1em" /></msqrt>'),
    ],
)
def test_signs_of_formulas(latex: str, part: str) -> None:
    assert part in import_module("mathml").mathml(latex, "inline")


def test_bars_are_of_one_height() -> None:
    """Both or none grow: a browser stretches a bar in a row, but not the base of an exponent."""
    mathml = import_module("mathml").mathml
    for latex in (r"\lVert x \rVert^2", r"\|x\|_F^2", r"|c_j| - \lvert c_i \rvert"):
        bars = re.findall(r"<mo([^>]*)>[|‖]</mo>", mathml(latex, "block"))
        forms = ["prefix", "postfix"] * (len(bars) // 2)
        assert [f'form="{form}"' in bar for form, bar in zip(forms, bars, strict=True)] == [True] * len(bars)
        assert all(bar.count('stretchy="false"') == 1 and 'lspace="0"' in bar for bar in bars)
    grown = mathml(r"\left| \frac{a}{b} \right|^m", "block")
    assert grown.count('stretchy="true"') == 2


@pytest.mark.parametrize("around", [r"\left( % \right)", r"\underbrace{ % }_{x}", "%"])
def test_limits_stand_above_and_below(around: str) -> None:
    mathml = import_module("mathml").mathml
    assert "<munderover><mo>∑</mo>" in mathml(around.replace("%", r"\sum_{i=2}^{d} c_i"), "block")
    assert "munderover" not in mathml(around.replace("%", r"\sum_{i=2}^{d} c_i"), "inline")


def classes() -> list[str]:
    """Every class that has a page, or a place on the page of its module."""
    reference = import_module("reference")
    names = reference.public((EXTENSIONS.parent / "api.md").read_text("utf-8"))
    modules = {name: thing for name in names if inspect.ismodule(thing := reference.found(name))}
    inside = [f"{name}.{member}" for name, module in modules.items() for member in reference.offered(module)]
    return sorted(name for name in {*names, *inside} if inspect.isclass(reference.found(name)))


def test_every_method_has_an_example() -> None:
    """Also what a class inherits, where its page shows it; the examples run with all docstrings."""
    reference, methods = import_module("reference"), []
    for name in classes():
        owner = reference.found(name)
        methods += [(f"{name}.{one}", getattr(owner, one)) for one in reference.members(name)]
    methods = [(name, method) for name, method in methods if callable(method)]
    assert {"ritz.PCA.transform", "ritz.KernelPCA.fit", "ritz.CompressedSensing.recover"} <= dict(methods).keys()
    assert [name for name, method in methods if ">>> " not in (inspect.getdoc(method) or "")] == []


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
