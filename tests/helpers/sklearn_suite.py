"""Run scikit-learn's own test file for an estimator, as shipped in its wheel, with that of Ritz in its place.

    python tests/helpers/sklearn_suite.py [pca | kernel_pca] [array_api]

This file is both the script and, imported by pytest as a plugin, the replacement.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

REPLACED = {"pca": "PCA", "kernel_pca": "KernelPCA"}  # by the name of the test file
APART = "array_api"  # tests of which there are more where more libraries are installed
TWINS = ("csr_matrix", "csc_matrix")  # tests of these are repeated for csr_array and csc_array


def outcomes(subject: str = "pca", only: str = "", without: tuple[str, ...] = ()) -> dict[str, str]:
    """Outcome by test id, of those that have this word and none of the others in it."""
    tests = Path(__file__).resolve().parent.parent
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "helpers.sklearn_suite",
        "--pyargs",
        f"sklearn.decomposition.tests.test_{subject}",
    ]
    left_out = [f"not {word}" for word in ((APART, *without) if only != APART else without)]
    command += ["-k", " and ".join([*filter(None, [only]), *left_out])]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=", "-rA", "-q", "--tb=no", "-W", "ignore"]
    paths = [str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "RITZ_REPLACES": REPLACED[subject]}
    env["OPENBLAS_NUM_THREADS"] = "1"  # small problems, while other tests use the other cores
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tests, check=False)
    found = re.findall(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS) \S*?::(.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if not found:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    return {name: outcome for outcome, name in found}


def main() -> None:
    results = outcomes(*sys.argv[1:])
    passed = sum(outcome == "PASSED" for outcome in results.values())
    print(f"{passed} of {len(results)} passed ({passed / len(results):.1%})")
    for name, outcome in results.items():
        if outcome != "PASSED":
            print(f"  {outcome} {name}")


if "RITZ_REPLACES" in os.environ:
    import sklearn.decomposition

    import ritz
    from ritz.solvers import ALIASES

    class PCA(ritz.PCA):
        """With the private attribute that tells scikit-learn's tests which solver "auto" chose, by their name."""

        @property
        def _fit_svd_solver(self) -> str:
            return {ours: theirs for theirs, ours in ALIASES.items()}[self.plan_.solver]

    ours = {"PCA": PCA, "KernelPCA": ritz.KernelPCA}
    replaced = os.environ["RITZ_REPLACES"]
    setattr(sklearn.decomposition, replaced, ours[replaced])

if __name__ == "__main__":
    main()
