"""Kernel PCA: Ritz beside scikit-learn on the same kernels, and alone where the kernel matrix fits no memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.cases import Case
from benchmarks.contenders import RITZ, Fitted
from benchmarks.harness import MEASURED, Settings, demand, measured
from benchmarks.measure import measure_fit

LANDMARKS = 1_000
LARGEST = 16e9  # bytes of a kernel matrix that a machine is expected to hold
SCIKIT_LEARN = "scikit-learn "


# Who is measured. A fit returns the eigenvalues of the centred kernel matrix, its (k, n) eigenvectors, and notes.


def ritz(X: np.ndarray, k: int, gamma: float, landmarks: int | None = None) -> Fitted:
    from ritz import KernelPCA

    few = landmarks and min(landmarks, len(X))  # the rows of a first call are fewer
    model = KernelPCA(k, kernel="rbf", gamma=gamma, n_landmarks=few, random_state=0).fit(X)
    certificate = model.certificate_
    notes = {
        "satisfied": bool(certificate.satisfied),
        "completeness": certificate.completeness,
        "reached": float(certificate.reached),
        "trace_error": float(model.trace_error_),
        "explained": float(np.sum(model.explained_variance_ratio_)),
        "plan": str(model.plan_),
        "certificate": str(certificate),
    }
    return model.eigenvalues_, model.eigenvectors_.T, notes


def scikit_learn(X: np.ndarray, k: int, gamma: float, solver: str) -> Fitted:
    from sklearn.decomposition import KernelPCA

    model = KernelPCA(k, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0).fit(X)
    return model.eigenvalues_, model.eigenvectors_.T, {}


CONTENDERS: dict[str, Callable[..., Fitted]] = {
    RITZ: ritz,
    f"{RITZ}, {LANDMARKS} landmarks": partial(ritz, landmarks=LANDMARKS),
    **{SCIKIT_LEARN + solver: partial(scikit_learn, solver=solver) for solver in ("randomized", "arpack", "auto")},
}
EXACT = tuple(name for name in CONTENDERS if "landmarks" not in name)
ALONE = tuple(name for name in CONTENDERS if name.startswith(RITZ))


# What is measured


@dataclass(frozen=True)
class KernelCase(Case):
    """k components of exp(−gamma ‖x − y‖²) between n rows; `known` where LAPACK is asked for the truth."""

    gamma: float = 0.02
    contenders: tuple[str, ...] = EXACT
    known: bool = True

    @property
    def title(self) -> str:
        return f"{super().title}, RBF kernel of gamma {self.gamma}"


CASES = [
    KernelCase(10_000, 20, "float64", 10),
    KernelCase(4_000, 20, "float64", 10),
    KernelCase(100_000, 20, "float64", 20, gamma=0.002, contenders=(*ALONE, SCIKIT_LEARN + "auto"), known=False),
]
QUICK = [replace(case, n=n) for case, n in zip(CASES, (600, 400, 1_500), strict=True)]


def kernel_data(folder: str, n: int, d: int, k: int, gamma: float, known: bool) -> None:
    """Write X.npy, normal with three columns of threefold spread, and what LAPACK finds in its kernel beside it."""
    X = np.random.default_rng(0).standard_normal((n, d))
    X[:, :3] *= 3
    np.save(Path(folder) / "X.npy", X)
    if known:
        for name, found in zip(("variances", "axes"), truth(X, k, gamma), strict=True):
            np.save(Path(folder) / f"{name}.npy", found)


def truth(X: np.ndarray, k: int, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of the centred kernel matrix and their (k, n) vectors, in float64 throughout."""
    from scipy.linalg import eigh
    from scipy.spatial.distance import cdist

    K = cdist(X, X, "sqeuclidean")
    K *= -gamma
    np.exp(K, out=K)
    mean = K.mean(axis=0)
    K -= mean
    K -= mean[:, None] - mean.mean()
    values, vectors = eigh(K, subset_by_index=[len(K) - k, len(K) - 1], overwrite_a=True, check_finite=False)
    return values[::-1], vectors[:, ::-1].T


def measure_kernel(contender: str, folder: str, k: int, gamma: float, repeat: int, budget: float) -> dict[str, Any]:
    """A contender on the kernel of the data in `folder`."""
    return measure_fit(partial(CONTENDERS[contender], gamma=gamma), Path(folder), k, repeat, budget)


# The tables


def run(cases: Sequence[KernelCase], only: Sequence[str], settings: Settings, out: Path) -> None:
    """Measure, print as it goes, and keep the results as JSON."""
    results: dict[str, Any] = {"machine": demand("machine"), "settings": asdict(settings), "cases": []}
    print(report.describe(results["machine"]))
    for case in (chosen(case, only) for case in cases):
        if case.contenders:
            with TemporaryDirectory() as folder:
                law = {"n": case.n, "d": case.d, "k": case.k, "gamma": case.gamma}
                demand("kernel_data", folder=folder, known=case.known, **law)
                found = report.compare(case.title, answers(case, folder, settings), "eigenvalues")
            if not case.known:
                print(*claims(found), sep="\n", flush=True)
            results["cases"].append({**asdict(case), "contenders": found})
            report.save(results, out / "kernel.json")


def chosen(case: KernelCase, only: Sequence[str]) -> KernelCase:
    """The case with those contenders that one of the words names, or all of them where a word names the case."""

    def named(contender: str) -> bool:
        return not only or any(word.lower() in f"{case.title} {contender}".lower() for word in only)

    return replace(case, contenders=tuple(filter(named, case.contenders)))


def answers(case: KernelCase, folder: str, settings: Settings) -> Iterator[tuple[str, dict[str, Any]]]:
    """What every contender of a case finds, one after the other."""
    size = 8.0 * case.n**2
    for name in case.contenders:
        if name.startswith(SCIKIT_LEARN) and size > LARGEST:
            yield name, {"status": f"not run: its kernel matrix takes {size / 1e9:.0f} GB"}
        else:
            yield name, measured(name, case, folder, settings, "measure_kernel", gamma=case.gamma)


def claims(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What stands in for the truth where there is none: each plan and what its certificate says."""
    for name, result in found.items():
        if result["status"] == MEASURED and "certificate" in result["notes"]:
            notes = result["notes"]
            share = f"{notes['explained']:.2%} of the trace explained"
            yield f"\n{name}: {share}, by {notes['plan']}\n{notes['certificate']}"
