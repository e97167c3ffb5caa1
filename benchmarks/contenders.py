"""Who is measured: Ritz with its defaults, its peers, and the bare product that no exact method can avoid.

Peers keep their defaults too; where a call departs from them, a comment says why. A fit returns the variances, the
(k, d) axes and what else there is to note about it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

Fitted = tuple[np.ndarray, np.ndarray, dict[str, Any]]
Fit = Callable[[np.ndarray, int], Fitted]

BARE = "bare X.T @ X, eigh"
RITZ = "ritz"
LARGEST_COVARIANCE = 10_000  # columns; beyond it the d×d matrix and its eigenproblem take gigabytes and many minutes


@dataclass(frozen=True)
class Contender:
    """A name, the library behind it and how to fit."""

    name: str
    library: str
    module: str
    fit: Fit
    tall_only: bool = False
    forms_covariance: bool = False

    def excuse(self, n: int, d: int) -> str:
        """Why this contender does not run on n×d data; empty when it does."""
        if find_spec(self.module) is None:
            return "not installed"
        if self.tall_only and n < d:
            return "only where n >= d"
        if self.forms_covariance and d > LARGEST_COVARIANCE:
            return f"skipped: forms a {d}×{d} matrix"
        return ""


def bare(X: np.ndarray, k: int) -> Fitted:
    """A product and a small eigenproblem; the centring is left out, so the answer is wrong."""
    import scipy.linalg

    d = X.shape[1]
    values, vectors = scipy.linalg.eigh(X.T @ X / (len(X) - 1), subset_by_index=[d - k, d - 1])
    return values[::-1], vectors[:, ::-1].T, {}


def ritz(solver: str = "auto") -> Fit:
    def fit(X: np.ndarray, k: int) -> Fitted:
        from ritz import PCA

        pca = PCA(k, svd_solver=solver).fit(X)
        certificate = pca.certificate_
        notes = {
            "solver": pca.plan_.solver,
            "operations": pca.plan_.operations,
            "precision": pca.plan_.precision,
            "passes": int(certificate.passes),
            "satisfied": bool(certificate.satisfied),
            "completeness": certificate.completeness,
        }
        return pca.explained_variance_, pca.components_, notes

    return fit


def scikit_learn(solver: str) -> Fit:
    def fit(X: np.ndarray, k: int) -> Fitted:
        from sklearn.decomposition import PCA

        pca = PCA(k, svd_solver=solver, random_state=0).fit(X)
        return pca.explained_variance_, pca.components_, {"solver": pca._fit_svd_solver}

    return fit


def intelex(solver: str) -> Fit:
    def fit(X: np.ndarray, k: int) -> Fitted:
        from sklearnex.decomposition import PCA

        pca = PCA(k, svd_solver=solver, random_state=0).fit(X)
        accelerated = hasattr(pca, "_onedal_estimator")  # otherwise it was passed on to scikit-learn
        return pca.explained_variance_, pca.components_, {"solver": pca._fit_svd_solver, "accelerated": accelerated}

    return fit


def fbpca(X: np.ndarray, k: int) -> Fitted:
    import fbpca

    np.random.seed(0)  # noqa: NPY002  fbpca draws from numpy's global generator
    _, s, axes = fbpca.pca(X, k)
    return s**2 / (len(X) - 1), axes, {}


def prince(engine: str) -> Fit:
    def fit(X: np.ndarray, k: int) -> Fitted:
        import pandas as pd
        import prince

        # By default prince scales columns to unit variance, which is another problem than the others solve.
        pca = prince.PCA(n_components=k, rescale_with_std=False, engine=engine, random_state=0)
        pca.fit(pd.DataFrame(X, copy=False))
        return pca.eigenvalues_ * len(X) / (len(X) - 1), pca.svd_.V, {}  # it divides by n, the others by n - 1

    return fit


def torch_lowrank(X: np.ndarray, k: int) -> Fitted:
    import torch

    torch.set_num_threads(cores())
    torch.manual_seed(0)
    q = min(k + 10, *X.shape)  # asks for "a slightly overestimated rank"; as many more as scikit-learn takes
    _, s, V = torch.pca_lowrank(torch.from_numpy(X), q=q, center=True, niter=2)
    return s[:k].numpy() ** 2 / (len(X) - 1), V[:, :k].T.numpy(), {}


CONTENDERS = [
    Contender(BARE, "bare", "scipy", bare, tall_only=True),
    Contender(RITZ, "Ritz", "ritz", ritz()),
    Contender("scikit-learn auto", "scikit-learn", "sklearn", scikit_learn("auto")),
    Contender(
        "scikit-learn covariance_eigh",
        "scikit-learn",
        "sklearn",
        scikit_learn("covariance_eigh"),
        forms_covariance=True,
    ),
    Contender("scikit-learn full", "scikit-learn", "sklearn", scikit_learn("full")),
    Contender("scikit-learn arpack", "scikit-learn", "sklearn", scikit_learn("arpack")),
    Contender("scikit-learn randomized", "scikit-learn", "sklearn", scikit_learn("randomized")),
    Contender("intelex auto", "scikit-learn-intelex", "sklearnex", intelex("auto")),
    Contender(
        "intelex covariance_eigh",
        "scikit-learn-intelex",
        "sklearnex",
        intelex("covariance_eigh"),
        forms_covariance=True,
    ),
    Contender("intelex full", "scikit-learn-intelex", "sklearnex", intelex("full")),
    Contender("fbpca", "fbpca", "fbpca", fbpca),
    Contender("prince sklearn", "prince", "prince", prince("sklearn")),
    Contender("prince scipy", "prince", "prince", prince("scipy")),
    Contender("torch.pca_lowrank", "torch", "torch", torch_lowrank),
]


def by_name(name: str) -> Contender:
    """A contender of the table, or `ritz SOLVER`."""
    known = {contender.name: contender for contender in CONTENDERS}
    if name not in known and name.startswith(f"{RITZ} "):
        return Contender(name, "Ritz", "ritz", ritz(name.removeprefix(f"{RITZ} ")))
    return known[name]


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
