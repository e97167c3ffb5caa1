"""A page of the reference for every name that docs/api.md lists as public, made of its docstring, in docs/reference.

The folder is made anew with every build: a name that is added to the table of docs/api.md has its page.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx

ROW = re.compile(r"^\| (`ritz\..+?) \| (.+) \|$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)")
NAME = re.compile(r"`(ritz(?:\.\w+)+)`")
RESULTS = "## What attributes hold\n"  # the part of docs/api.md on what is read, not imported
# What the tour of plots shows, in its order.
TOUR = ("scree", "errors", "spectrum_gap", "certificate", "scores", "components", "reconstruction", "convergence")
# Functions that draw, and where: the example, and which of its figures.
DRAWN = {
    **{f"ritz.plot.{name}": ("a_tour_of_plots", i + 1) for i, name in enumerate(TOUR)},
    "ritz.plot.line": ("usage_intensity", 1),
    "ritz.plot.angle": ("usage_intensity", 2),
}
# Of classes with methods that other parts of Ritz call: what is there for users.
MEMBERS = {
    "ritz.DataError": "",
    "ritz.fitting.planning.Plan": "summary",
    "ritz.rows.Rows": "opens read reduce map pairs take each normal column labels row_names put_beside",
    "ritz.spectrum.certificate.Certificate": "diagnostics verdict errors sampling_errors sampling_angles "
    "sampling_groups eigengap missed tie remarks",
    "ritz.spectrum.certify.Spectrum": "",
    "ritz.sampling.bootstrap.Bootstrap": "",
    "ritz.sampling.asymptotic.Sampling": "bias",
    "ritz.spectrum.subspace.Subspace": "encode decode error total_error deviations",
}


def public(api: str) -> dict[str, str]:
    """The names of the table, and what is said of them.

    >>> public("| name | what |\\n|---|---|\\n| `ritz.PCA`, `ritz.read` | both |\\n")
    {'ritz.PCA': 'both', 'ritz.read': 'both'}
    """
    return {name: said for names, said in ROW.findall(api) for name in NAME.findall(names)}


def above(said: str) -> str:
    """What docs/api.md says, with links that are right one folder deeper.

    >>> above("[a](cli.md), [b](#pictures), [c](https://example.org)")
    '[a](../cli.md), [b](../api.md#pictures), [c](https://example.org)'
    """
    return LINK.sub("](../", said.replace("](#", "](api.md#"))


def found(name: str) -> Any:
    """The object of that name."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for part in parts[k:]:
            thing = getattr(thing, part)
        return thing
    raise ValueError(f"docs/api.md lists {name}, which is not there")


def offered(module: ModuleType) -> list[str]:
    """What a module offers: its __all__, or the functions that it defines."""
    own = [
        name
        for name, thing in vars(module).items()
        if inspect.isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_")
    ]
    return [name for name in getattr(module, "__all__", own) if callable(getattr(module, name))]


def directive(name: str) -> str:
    """What asks autodoc for a class, a function or a value."""
    thing = found(name)
    if inspect.isclass(thing):
        chosen = f"   :members: {', '.join(members(name))}\n" if members(name) else ""  # inherited ones too
        return f".. autoclass:: {name}\n{chosen}"
    return f".. autofunction:: {name}\n" if callable(thing) else f".. py:data:: {name}\n"


def members(name: str) -> list[str]:
    """What the page of a class shows of it.

    >>> members("ritz.spectrum.subspace.Subspace")
    ['encode', 'decode', 'error', 'total_error', 'deviations']
    >>> members("ritz.KernelPCA")[-1], members("ritz.DataError")
    ('transform', [])
    """
    thing = found(name)
    own = [member for member in dir(thing) if not member.startswith("_") and shown(thing, member)]
    return MEMBERS[name].split() if name in MEMBERS else own


def shown(owner: type, member: str) -> bool:
    """Whether a member of a class is ours, and has a docstring: fields are described by the class."""
    thing = inspect.getattr_static(owner, member)
    function = getattr(thing, "__func__", None) or getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    described = callable(function) and bool(inspect.getdoc(getattr(owner, member)))
    return described and not foreign(function)


def page(name: str, names: dict[str, str]) -> str:
    """The page of a name; of a module, with what has no page of its own."""
    thing, short = found(name), name.rsplit(".", 1)[-1]
    if not isinstance(thing, ModuleType):
        asked, intro = [directive(name)], "" if callable(thing) else above(names[name]) + "\n\n"
    else:
        members = [f"{name}.{member}" for member in offered(thing)]
        asked = [directive(member) for member in members if member not in names]
        intro = names[name][0].upper() + above(names[name][1:]) + ".\n\n"
    blocks = "\n".join(f"```{{eval-rst}}\n{block}```\n" for block in asked)
    return f"# {short}\n\n{intro}{listed(inside(name, names))}{picture(name)}{blocks}"


def picture(name: str) -> str:
    """What a function draws, in the example that shows it.

    >>> print(picture("ritz.plot.scree"), end="")
    [![What it draws](../gallery/images/sphx_glr_plot_a_tour_of_plots_001.png)](../examples/plot_a_tour_of_plots.py)
    <BLANKLINE>
    >>> picture("ritz.PCA")
    ''
    """
    if name not in DRAWN:
        return ""
    example, figure = DRAWN[name]
    image = f"../gallery/images/sphx_glr_plot_{example}_{figure:03}.png"
    return f"[![What it draws]({image})](../examples/plot_{example}.py)\n\n"


def inside(module: str, names: dict[str, str]) -> dict[str, str]:
    """What belongs to a module and has a page of its own.

    >>> inside("ritz.plot", {"ritz.plot": "pictures", "ritz.plot.scree": "bars", "ritz.plan": "costs"})
    {'ritz.plot.scree': 'bars'}
    """
    return {name: said for name, said in names.items() if name.rpartition(".")[0] == module}


def listed(names: dict[str, str]) -> str:
    """A list of pages, which are entries of the navigation too."""
    lines = "\n".join(f"- [`{name}`]({name}.md): {above(said)}" for name, said in names.items())
    entries = "\n".join(f"{name.rsplit('.', 1)[-1]} <{name}>" for name in names)
    return f"{lines}\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n\n" if names else ""


def index(names: dict[str, str], results: dict[str, str]) -> str:
    """The page in front of them."""
    nested = [name for module in names for name in inside(module, names)]
    first = {name: said for name, said in names.items() if name not in nested and name not in results}
    return (
        "# Reference\n\nMade of the docstrings; [What is public](../api.md) says which names keep their meaning. "
        f"The {{ref}}`index <genindex>` has all methods too.\n\n{listed(first)}"
        f"{RESULTS}\n{listed(results)}"
    )


def write(app: Sphinx) -> None:
    """Pages whose text changed, and none of names that are gone."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    api = (Path(app.srcdir) / "api.md").read_text("utf-8")
    names, results = public(api), public(api.partition(RESULTS)[2])
    texts = {f"{name}.md": page(name, names) for name in names} | {"index.md": index(names, results)}
    for old in folder.glob("*.md"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def foreign(thing: Any) -> bool:
    """Whether a member comes from elsewhere, as `count` of a tuple does, or is a field that the docstring describes.

    >>> from ritz import PCA
    >>> from ritz.solvers import Step
    >>> [foreign(thing) for thing in (Step.count, Step.value, PCA.fit, PCA.set_params)]
    [True, True, False, True]
    """
    owner = getattr(thing, "__objclass__", None) or thing
    home = getattr(owner, "__module__", None) or ""
    field = (getattr(thing, "__doc__", None) or "").startswith("Alias for field number")
    return field or (bool(home) and home.partition(".")[0] != "ritz")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
