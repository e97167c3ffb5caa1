"""Run scikit-learn's own test file for an estimator, as shipped in its wheel, with that of Ritz in its place.

    python tests/helpers/sklearn_suite.py [pca | kernel_pca] [array_api]

This file is both the script and, imported by pytest as a plugin, the replacement.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

REPLACED = {"pca": "PCA", "kernel_pca": "KernelPCA"}  # by the name of the test file
APART = "array_api"  # tests of which there are more where more libraries are installed
# Tests of matrices are repeated for arrays; one of them has a hundred cases, half of them by columns.
TWINS = ("csr_matrix", "csc_matrix", "(test_pca_sparse and csc_array)")


def outcomes(*subjects: str, only: str = "", without: tuple[str, ...] = ()) -> dict[str, str]:
    """Outcome by test id, of those that have this word and none of the others in it; all in one process."""
    tests = Path(__file__).resolve().parent.parent
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "helpers.sklearn_suite",
        "--pyargs",
        *(f"sklearn.decomposition.tests.test_{subject}" for subject in subjects),
    ]
    left_out = [f"not {word}" for word in ((APART, *without) if only != APART else without)]
    command += ["-k", " and ".join([*filter(None, [only]), *left_out])]
    command += ["-p", "no:cacheprovider", "-o", "addopts=", "-rA", "-q", "--tb=no", "-W", "ignore"]
    paths = [str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env["OPENBLAS_NUM_THREADS"] = "1"  # small problems, while other tests use the other cores
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tests, check=False)
    found = re.findall(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS) \S*?::(.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if not found:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    return {name: outcome for outcome, name in found}


def main() -> None:
    subject, *only = sys.argv[1:] or ["pca"]
    results = outcomes(subject, only="".join(only))
    passed = sum(outcome == "PASSED" for outcome in results.values())
    print(f"{passed} of {len(results)} passed ({passed / len(results):.1%})")
    for name, outcome in results.items():
        if outcome != "PASSED":
            print(f"  {outcome} {name}")


@cache
def ours(name: str) -> type:
    """The estimator of Ritz of this name."""
    import ritz
    from ritz.solvers import ALIASES

    class PCA(ritz.PCA):
        """With the private attribute that tells scikit-learn's tests which solver "auto" chose, by their name."""

        @property
        def _fit_svd_solver(self) -> str:
            return {ours: theirs for theirs, ours in ALIASES.items()}[self.plan_.solver]

    return {"PCA": PCA, "KernelPCA": ritz.KernelPCA}[name]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """A test file is imported here, with the estimator of Ritz in place of the one it is about, and of no other."""
    name = REPLACED.get(collector.path.stem.removeprefix("test_"))
    if name is None or not isinstance(collector, pytest.Module):
        return (yield)
    import sklearn.decomposition

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn.decomposition, name, ours(name))
        return (yield)


if __name__ == "__main__":
    main()
