"""Gathers the exercises of the theory pages into docs/theory/exercises.md.

    python docs/exercise_list.py

The pages stand in the order of docs/theory/index.md. `docs/tests/test_theory.py` fails when the list is stale.
"""

from __future__ import annotations

import re
from pathlib import Path

THEORY = Path(__file__).parent / "theory"
TARGET = THEORY / "exercises.md"
HAND_IN = "*To hand in:* "
INTRODUCTION = """\
# Exercises

All {count} exercises of the theory pages, in their order. The solutions stand at the end of each page, hidden until
they are opened. Try each exercise before you look.

Answers to exercises marked *to hand in* are judged by `ritz.check`: it tells you whether an answer is right and, if
not, which mistake it looks like. [Check an answer](../exercises.md) shows how, and what else can be handed in. These
are:

{marked}
"""


def order(index: str) -> list[str]:
    """The names of the pages, as the table of contents has them.

    >>> order("```{toctree}\\n:hidden:\\n\\nproblem\\nrotation\\n```\\n")
    ['problem', 'rotation']
    """
    return re.findall(r"^(\w+)$", index.partition("```{toctree}")[2], re.MULTILINE)


def exercises(page: str) -> list[str]:
    """The exercises of a page, without their numbers.

    >>> exercises("# A\\n\\n## Exercises\\n\\n1. One\\n   more.\\n2. Two.\\n\\n<details>")
    ['One\\n   more.', 'Two.']
    """
    asked = page.partition("\n## Exercises\n")[2].partition("\n<details>")[0]
    return [text.strip() for text in re.split(r"^\d\. ", asked, flags=re.MULTILINE)[1:]]


def listed() -> str:
    """The page."""
    count, marked, parts = 0, [], []
    for name in order((THEORY / "index.md").read_text("utf-8")):
        page = (THEORY / f"{name}.md").read_text("utf-8")
        title, found = page.partition("\n")[0].removeprefix("# "), exercises(page)
        link = f"[{title}]({name}.md#exercises)"
        count += len(found)
        marked += [f"- {link}, exercise {i}" for i, text in enumerate(found, 1) if text.startswith(HAND_IN)]
        parts.append(f"\n## {link}\n\n" + "".join(f"{i}. {text}\n" for i, text in enumerate(found, 1)))
    head = INTRODUCTION.format(count=count, marked="\n".join(marked))
    return "".join([head, *parts, "\nBack to [the map](index.md).\n"])


if __name__ == "__main__":
    TARGET.write_text(listed(), "utf-8")
