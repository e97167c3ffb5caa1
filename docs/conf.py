"""The site: `python -m sphinx -W -b html docs docs/_build`, then open docs/_build/index.html.

Pages are Markdown that GitHub shows too. Nothing is fetched when a page is read: formulas become MathML when the
site is built (_ext/mathml.py), in a font that is part of it; other fonts are those of the system. What is public has a
page each, made of its docstring (_ext/reference.py, _ext/docstrings.py), and a name in a text becomes a link to it
(_ext/names.py).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]
os.environ["COLUMNS"] = "100"  # what examples print has to fit a page

import ritz  # noqa: E402

project = "Ritz"
author = "The Ritz developers"
copyright = author
version = release = ritz.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "mathml",
    "outputs",
    "docstrings",
    "reference",
    "names",
    "repository",
]
exclude_patterns = ["_build", "_ext", "tests", "examples", "lessons/README.md"]
templates_path: list[str] = []
default_role = "literal"
highlight_language = "text"
smartquotes = False  # "auto" is a value
suppress_warnings = ["config.cache"]  # sphinx-gallery's configuration holds functions

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "Ritz"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # summaries are fetched, which a page opened from a file may not do
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5ea8", "color-brand-content": "#0b5ea8"},
    "dark_css_variables": {"color-brand-primary": "#7cb8f0", "color-brand-content": "#7cb8f0"},
}
pygments_style = "default"  # its colours can be read
pygments_dark_style = "github-dark"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

if any((HERE / "examples").glob("plot_*.py")):
    extensions += ["sphinx_gallery.gen_gallery", "gallery"]
    sphinx_gallery_conf = {
        "examples_dirs": "examples",
        "gallery_dirs": "gallery",
        "filename_pattern": r"plot_\w+\.py$",
        "within_subsection_order": "gallery.Order",
        "abort_on_example_error": True,
        "download_all_examples": False,
        "show_memory": False,
        "show_signature": False,
        "write_computation_times": False,  # a page that loads scripts from elsewhere
        "matplotlib_animations": False,
        "nested_sections": False,
    }
