"""The examples in groups, as the notes come to their subjects: each group names the sections that it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

GROUPS = {
    "The problem: sections 1 and 4": ("usage_intensity", "decorrelation", "a_tour_of_plots"),
    "Solvers: section 3": ("power_iteration", "which_solver", "dual_components"),
    "Beyond linear: section 5": ("rotating_object", "curved_data", "is_it_linear"),
    "What it is for: sections 6 and 7": ("eigenfaces", "image_compression", "denoising", "clustering", "retrieval"),
}
ORDER = tuple(name for names in GROUPS.values() for name in names)
RAW = ".. raw:: html\n\n    "
OPEN, CLOSE, ONE = (
    f'{RAW}<div class="sphx-glr-thumbnails">\n\n',
    f"{RAW}</div>\n\n",
    f'{RAW}<div class="sphx-glr-thumbcontainer"',
)


class Order:
    """Sphinx-Gallery's key of an example: its place. An example without one is an error of the build.

    >>> Order("examples")("plot_decorrelation.py")
    1
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        stem = Path(name).stem.removeprefix("plot_")
        if stem not in ORDER:
            raise ValueError(f"docs/examples/{name} has no place in GROUPS of docs/_ext/gallery.py: give it one")
        return ORDER.index(stem)

    def __repr__(self) -> str:  # Sphinx builds anew when the configuration looks different
        return f"Order({', '.join(ORDER)})"


def grouped(index: str) -> str:
    """The page that Sphinx-Gallery writes of all examples, with a heading before each group of its pictures."""
    before, *examples = index.split(ONE)
    if len(examples) != len(ORDER):
        raise ValueError(
            f"the gallery shows {len(examples)} examples, and GROUPS of docs/_ext/gallery.py has {len(ORDER)}"
        )
    headings = {names[0]: f"{title}\n{'-' * len(title)}\n\n" for title, names in GROUPS.items()}
    made = [before.replace(OPEN, headings[ORDER[0]] + OPEN)]
    for i, (name, example) in enumerate(zip(ORDER, examples, strict=True)):
        made += [CLOSE, headings[name], OPEN] if i and name in headings else []
        made += [ONE, example]
    return "".join(made)


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    if docname == "gallery/index":
        source[0] = grouped(source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
