"""What Ritz adds: the share of a fit that its certificate takes, and the time of its import."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.harness import demand, with_data


def run(cases: Iterable[Case], repeat: int) -> None:
    """Print both."""
    for case, folder in with_data(cases, truth=False):
        share = demand("certificate_share", folder=folder, k=case.k, repeat=repeat)["answer"]
        print(f"{case.title}: the certificate takes {share:.1%} of the Ritz fit")
    print(f"import ritz takes {import_ratio():.2f} of the time of import numpy, scipy.linalg")


def certificate_share(folder: str, k: int, repeat: int) -> float:
    """The part of a fit that goes into residuals, bounds and the proof of completeness; the best of several."""
    import ritz.fitting.solve as path
    from ritz import PCA

    X, spent, shares, certify = np.load(Path(folder) / "X.npy"), [0.0], [], path.certify

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        found = certify(*args, **kwargs)
        spent[0] += time.perf_counter() - start
        return found

    path.certify = timed
    for _ in range(repeat):
        spent[0], start = 0.0, time.perf_counter()
        PCA(k).fit(X)
        shares.append(spent[0] / (time.perf_counter() - start))
    path.certify = certify
    return min(shares)


def import_ratio(repeat: int = 7) -> float:
    """Time of `import ritz` relative to `import numpy, scipy.linalg`, each in a fresh process."""

    def best(code: str) -> float:
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    return best("import ritz") / best("import numpy, scipy.linalg")
