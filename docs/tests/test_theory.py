"""The theory pages: formulas that every renderer reads, exercises with solutions, a map that leads to each page."""

import re
import runpy
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[1] / "theory").glob("*.md"))
LESSONS = [page for page in PAGES if page.name not in ("index.md", "exercises.md")]
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
WIDTH = 88  # characters that a browser shows beside the navigation
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+(?:\n[^$\n]+)?)\$", re.DOTALL)


def formulas(page: Path) -> list[str]:
    """What stands between dollars, outside of code."""
    prose = CODE.sub("", page.read_text(encoding="utf-8"))
    found = [block or inline for block, inline in FORMULA.findall(prose)]
    assert "$" not in FORMULA.sub("", prose), "a dollar without its partner"
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_formulas_become_mathml(page):
    """A command that the converter does not know is left in its output with its backslash."""
    convert = pytest.importorskip("latex2mathml.converter").convert
    found = formulas(page)
    assert found
    unknown = [formula for formula in found if "\\" in convert(formula)]
    assert not unknown, unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_formulas_survive_markdown(page):
    """A backslash before punctuation is an escape on GitHub, and `\\,` would lose it before it is read as a formula."""
    escaped = [formula for formula in formulas(page) if re.search(r"\\[^A-Za-z]", formula)]
    assert not escaped, escaped


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_every_exercise_has_a_hidden_solution(page):
    text = page.read_text(encoding="utf-8")
    exercises = re.findall(r"^(\d)\. ", text.partition("\n## Exercises\n")[2], re.MULTILINE)
    solutions = re.findall(
        r"^<details><summary>Solution (\d)</summary>\n\n.+?\n\n</details>$", text, re.MULTILINE | re.DOTALL
    )
    assert 2 <= len(exercises) <= 4
    assert solutions == exercises


def test_the_list_of_exercises_has_all():
    made = runpy.run_path(str(PAGES[0].parents[1] / "exercise_list.py"))["listed"]()
    kept = (PAGES[0].parent / "exercises.md").read_text(encoding="utf-8")
    assert made == kept, "run python docs/exercise_list.py"
    numbers = [len(re.findall(r"^<details>", page.read_text(encoding="utf-8"), re.MULTILINE)) for page in LESSONS]
    assert len(re.findall(r"^\d\. ", kept, re.MULTILINE)) == sum(numbers)


def test_the_map_leads_to_every_page():
    text = (PAGES[0].parent / "index.md").read_text(encoding="utf-8")
    table, _, tree = text.partition("```{toctree}")
    assert {page.name for page in LESSONS} <= set(re.findall(r"\]\((\w+\.md)", table))
    assert sorted(re.findall(r"^(\w+)$", tree, re.MULTILINE)) == [page.stem for page in LESSONS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_fits_the_width_of_a_page(page):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    wide = [line for block in blocks for line in block.splitlines() if len(line) > WIDTH]
    assert not wide, wide


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_every_page_leads_to_an_example(page):
    assert re.search(r"\]\(\.\./examples/plot_\w+\.py\)", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_every_example_leads_back_to_the_theory(script):
    docstring = script.read_text(encoding="utf-8").split('"""')[1]
    names = re.findall(r":doc:`/theory/(\w+)`", docstring)
    assert names
    assert set(names) <= {page.stem for page in LESSONS}
