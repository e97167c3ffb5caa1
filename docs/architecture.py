"""Draws the packages of src/ritz from their real imports, into docs/architecture.svg.

    python docs/architecture.py

A row for every package, what it is for, and a dot for every package that it imports: the larger, the more modules do.
Imports point only down, so that all dots lie on one side. `tests/system/test_architecture.py` fails when the file is
stale.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from html import escape
from math import sqrt
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ritz"
TARGET = ROOT / "docs" / "architecture.svg"
STRIPES = "#f4f6f8", "#fff"
STEP, NAMES, MATRIX, TOP = 30, 20, 590, 110  # pixels: of a row, and where names, dots and rows begin


def packages() -> list[str]:
    """The packages and loose modules, from the right of the data flow to the left, as the import contract has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [name.strip().removeprefix("ritz.") for layer in layers for name in layer.split("|")]
    return [name for name in names if name != "__main__"]


def purpose(package: str) -> str:
    """The first sentence of its docstring."""
    file = SOURCE / package / "__init__.py" if (SOURCE / package).is_dir() else SOURCE / f"{package}.py"
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    sentence = text.split("\n\n")[0].replace("\n", " ").partition(". ")[0].rstrip(".")
    head, _, tail = sentence.partition(": ")
    return tail if tail and " " not in head else sentence


def modules(package: str) -> list[Path]:
    """The files of a package."""
    return sorted((SOURCE / package).rglob("*.py")) if (SOURCE / package).is_dir() else [SOURCE / f"{package}.py"]


def imports() -> Counter[tuple[str, str]]:
    """How many modules of one package import another."""
    known, found = packages(), Counter[tuple[str, str]]()
    for package in known:
        for file in modules(package):
            tree = ast.parse(file.read_text("utf-8"))
            froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
            names = {node.module or "" for node in froms}
            names |= {f"ritz.{alias.name}" for node in froms if node.module == "ritz" for alias in node.names}
            used = {name.split(".")[1] for name in names if name.startswith("ritz.")}
            found.update((package, other) for other in used & set(known) - {package})
    return found


def drawing() -> str:
    """The picture, the same in every run."""
    known, found = packages(), imports()
    width, height = MATRIX + STEP * len(known) + 20, TOP + STEP * len(known) + 20
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        "<title>The packages of Ritz and their imports</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{NAMES}" y="30" font-size="17" font-weight="bold">Packages, and what they import</text>',
        f'<text x="{NAMES}" y="52" font-size="12" fill="#555">A dot: the package of the row imports that of the column.'
        " The area counts modules.</text>",
    ]
    for i, package in enumerate(known):
        y, x = TOP + STEP * i + STEP // 2, MATRIX + STEP * i + STEP // 2
        about = shortened(purpose(package))
        lines += [
            f'<rect x="{NAMES - 8}" y="{y - 13}" width="{width - NAMES}" height="26" fill="{STRIPES[i % 2]}"/>',
            f'<text x="{NAMES}" y="{y + 4}" font-size="13" font-weight="bold">{escape(package)}</text>',
            f'<text x="{NAMES + 90}" y="{y + 4}" font-size="11" fill="#444">{escape(about)}</text>',
            f'<text transform="translate({x + 4},{TOP - 6}) rotate(-60)" font-size="11">{escape(package)}</text>',
        ]
    for i, package in enumerate(known):
        y = TOP + STEP * i + STEP // 2
        lines.append(f'<rect x="{MATRIX + STEP * i + 11}" y="{y - 4}" width="8" height="8" fill="#bbb"/>')
        for j, other in enumerate(known):
            if count := found[package, other]:
                x, said = MATRIX + STEP * j + STEP // 2, f"{package} imports {other} in {count} modules"
                lines.append(
                    f'<circle cx="{x}" cy="{y}" r="{radius(count):.1f}" fill="#2a6fb0"><title>{said}</title></circle>'
                )
    return "\n".join([*lines, "</svg>", ""])


def radius(count: int) -> float:
    """Of a dot; areas count, up to what fits."""
    return min(12.0, 2.5 * sqrt(count))


def shortened(text: str, most: int = 80) -> str:
    """So that it fits beside the dots."""
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0].rstrip(",;:") + " …"


if __name__ == "__main__":
    TARGET.write_text(drawing(), encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)} written")
