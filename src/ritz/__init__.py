"""Ritz: certified principal subspaces, at any scale.

Names are resolved when they are first used, so that ``import ritz`` stays light. A new public name is one line in
`_HOMES` and one in `__all__` below, and one in docs/api.md.

Where words live: an error is worded where it is raised (`errors` has its classes alone), a warning in
`estimators.diagnostics`, the certificate in `spectrum.certificate`, the page in `views.sentences` and
`views.glossary`, the advice that the command line adds to an error in the tables of `cli.errors`.

Tests mirror this tree: tests/<package>/test_<module>.py, or test_<module>_<aspect>.py. What every solver, source,
kernel or certificate must satisfy is in tests/contracts, the program, its processes and the docs in tests/system.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ritz import datasets, plot, solvers
    from ritz.estimators.partial_fit import merge
    from ritz.estimators.scikit_learn import PCA, CompressedSensing, KernelPCA, load
    from ritz.exercises.check import check
    from ritz.fitting.planning import plan
    from ritz.inspection.inspection import inspect
    from ritz.interpretation.comparison import compare
    from ritz.interpretation.meaning import interpret
    from ritz.ranks.choose import choose_rank
    from ritz.rows import read
    from ritz.sampling.bootstrap import bootstrap
    from ritz.spectrum.eigen_pairs import eigen
    from ritz.views.report import report

__version__ = "0.1.0"

_HOMES = {
    "PCA": "ritz.estimators.scikit_learn",
    "KernelPCA": "ritz.estimators.scikit_learn",
    "CompressedSensing": "ritz.estimators.scikit_learn",
    "merge": "ritz.estimators.partial_fit",
    "load": "ritz.estimators.scikit_learn",
    "eigen": "ritz.spectrum.eigen_pairs",
    "plan": "ritz.fitting.planning",
    "read": "ritz.rows",
    "compare": "ritz.interpretation.comparison",
    "interpret": "ritz.interpretation.meaning",
    "inspect": "ritz.inspection.inspection",
    "choose_rank": "ritz.ranks.choose",
    "check": "ritz.exercises.check",
    "bootstrap": "ritz.sampling.bootstrap",
    "report": "ritz.views.report",
    "AccuracyWarning": "ritz.errors",
    "ColumnWarning": "ritz.errors",
    "ClusterError": "ritz.errors",
    "DataError": "ritz.errors",
    "ParameterError": "ritz.errors",
}

_MODULES = ("datasets", "plot", "solvers")

__all__ = [
    "PCA",
    "AccuracyWarning",
    "ClusterError",
    "ColumnWarning",
    "CompressedSensing",
    "DataError",
    "KernelPCA",
    "ParameterError",
    "__version__",
    "bootstrap",
    "check",
    "choose_rank",
    "compare",
    "datasets",
    "eigen",
    "inspect",
    "interpret",
    "load",
    "merge",
    "plan",
    "plot",
    "read",
    "report",
    "solvers",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"ritz.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ritz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
