"""Compressed sensing: matching pursuit beside scikit-learn's, an image without any matrix, where recovery begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.fft import dct, idct

from benchmarks import plot, report, transition
from benchmarks.contenders import RITZ
from benchmarks.harness import MEASURED, Settings, ask, demand
from benchmarks.measure import repeated
from benchmarks.transition import sparse_codes

PARTS = ("omp", "fista", "transition")
NONZERO = 1e-9  # coefficients beside the largest one; what is smaller is the rounding of a transform
ASKED_RATIO = 5.0
ASKED_GAP, ASKED_SECONDS, ASKED_IMAGES = 1e-6, 30.0, 50.0


# Matching pursuit. A contender takes the dictionary A and the sparsity; it returns what is timed, a function of the
# measurements, and what turns its answer into coefficients, one signal a row.

Pursuit = tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray]]


@dataclass(frozen=True)
class Signals:
    """n signals of so many coefficients, of which `sparsity` are other than 0."""

    n: int
    length: int
    measurements: int
    sparsity: int

    @property
    def title(self) -> str:
        return (
            f"matching pursuit: {self.n} signals of length {self.length}, {self.measurements} Gaussian measurements, "
            f"{self.sparsity} coefficients"
        )


SIGNALS, FEW_SIGNALS = Signals(1_000, 1_024, 256, 20), Signals(100, 256, 64, 5)


def ritz(A: np.ndarray, sparsity: int, fit: bool = False) -> Pursuit:
    """Signals that are sums of cosines, so that what comes back is more than the coefficients: Φ = AΨᵀ."""
    from ritz import CompressedSensing

    Phi = idct(A, norm="ortho")

    def fitted() -> Any:
        return CompressedSensing(len(Phi), measurement=Phi, sparsity=sparsity).fit(Phi)

    model = fitted()
    recover = (lambda Y: fitted().inverse_transform(Y)) if fit else model.inverse_transform
    return recover, partial(dct, norm="ortho")


def scikit_learn(A: np.ndarray, sparsity: int, precompute: bool) -> Pursuit:
    from sklearn.linear_model import orthogonal_mp

    return lambda Y: orthogonal_mp(A, Y.T, n_nonzero_coefs=sparsity, precompute=precompute), np.transpose


def by_processes(A: np.ndarray, sparsity: int) -> Pursuit:
    """scikit-learn's only way to use all cores: the signals divided among processes."""
    from sklearn.decomposition import sparse_encode

    def recover(Y: np.ndarray) -> np.ndarray:
        return sparse_encode(Y, np.ascontiguousarray(A.T), algorithm="omp", n_nonzero_coefs=sparsity, n_jobs=-1)

    return recover, np.asarray


CONTENDERS: dict[str, Callable[[np.ndarray, int], Pursuit]] = {
    RITZ: ritz,
    f"{RITZ}, with the fit": partial(ritz, fit=True),
    "scikit-learn orthogonal_mp": partial(scikit_learn, precompute=False),
    "scikit-learn, Gram precomputed": partial(scikit_learn, precompute=True),
    "scikit-learn, a process per core": by_processes,
}


def sensing_signals(folder: str, n: int, length: int, measurements: int, sparsity: int) -> None:
    """Write a Gaussian dictionary and sparse coefficients.

    Its columns have length 1, which scikit-learn takes for granted, so that everybody looks for the same ones.
    """
    rng = np.random.default_rng(0)
    A = rng.standard_normal((measurements, length))
    np.save(Path(folder) / "A.npy", A / np.linalg.norm(A, axis=0))
    np.save(Path(folder) / "codes.npy", sparse_codes(rng, n, length, sparsity))


def measure_pursuit(contender: str, folder: str, sparsity: int, repeat: int, budget: float) -> dict[str, Any]:
    """A contender on the measurements of the signals in `folder`, with its supports beside the first one's."""
    A, codes = np.load(Path(folder) / "A.npy"), np.load(Path(folder) / "codes.npy")
    Y = codes @ A.T
    recover, coefficients = CONTENDERS[contender](A, sparsity)
    recover(Y[: len(Y) // 10])  # imports, first calls and processes that have to start
    answer, cost = repeated(lambda: recover(Y), repeat, budget)
    found = coefficients(answer)
    support = np.abs(found) > NONZERO * np.abs(found).max(axis=1, keepdims=True)
    first = Path(folder) / "support.npy"
    if not first.exists():
        np.save(first, support)
    off = np.linalg.norm(found - codes, axis=1) / np.linalg.norm(codes, axis=1)
    return {
        **cost,
        "error": float(off.max()),
        "right": float(np.mean((support == (codes != 0)).all(axis=1))),
        "same": float(np.mean((support == np.load(first)).all(axis=1))),
    }


def pursuits(signals: Signals, settings: Settings) -> dict[str, Any]:
    """Measure and print the contenders, then what was asked."""
    print(f"\n{signals.title}\n{'':34}{'seconds':>9}{'× ritz':>9}{'MB beside':>11}{'coefficients':>14}", end="")
    print(f"{'supports right':>16}{'same as ritz':>14}", flush=True)
    found: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory() as folder:
        demand("sensing_signals", folder=folder, **asdict(signals))
        for name in CONTENDERS:
            asked = {"contender": name, "folder": folder, "sparsity": signals.sparsity}
            found[name] = ask("measure_pursuit", settings.limit, **asked, **_repeats(settings))
            print(_pursuit_line(name, found[name], found[RITZ].get("seconds")), flush=True)
    print(*_pursuit_verdict(found), sep="\n", flush=True)
    return {**asdict(signals), "contenders": found}


def _pursuit_line(name: str, found: dict[str, Any], ours: float | None) -> str:
    if found["status"] != MEASURED:
        return f"{name:34} {found['status']}"
    times = f"{found['seconds'] / ours:.2f}" if ours else "-"
    figures = f"{name:34}{found['seconds']:9.3f}{times:>9}{found['memory'] / 1e6:11.0f}{found['error']:14.0e}"
    return f"{figures}{found['right']:16.1%}{found['same']:14.1%}"


def _pursuit_verdict(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The fastest peer over each of ours."""
    answers = {name: of for name, of in found.items() if of["status"] == MEASURED}
    peers = [name for name in answers if not name.startswith(RITZ)]
    if not peers:
        return
    best = min(peers, key=lambda name: answers[name]["seconds"])
    for name in (name for name in answers if name.startswith(RITZ)):
        ratio = answers[best]["seconds"] / answers[name]["seconds"]
        asked = f" (asked: {ASKED_RATIO:g}×)" if name == RITZ else ""
        yield f"{name}: {ratio:.1f}× as fast as {best}{asked}, {_same(answers[best]['same'])}"


def _same(share: float) -> str:
    return "same supports" if share == 1 else f"the same support for {share:.1%} of the signals"


# An image, by FISTA


@dataclass(frozen=True)
class Picture:
    """A share of the cosine coefficients of one image, which is sparse in a basis of wavelets."""

    basis: str
    share: float = 0.3


PICTURES = (Picture("db4"), Picture("haar"))


class Stopwatch:
    """The time spent in the products of one map from now on, and their number."""

    def __init__(self, of: Any) -> None:
        self.seconds, self.count = 0.0, 0
        of.apply, of.adjoint = self._timed(of.apply), self._timed(of.adjoint)

    def _timed(self, product: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
        def timed(X: np.ndarray) -> np.ndarray:
            start = time.perf_counter()
            found = product(X)
            self.seconds += time.perf_counter() - start
            self.count += 1
            return found

        return timed


def sensing_image(folder: str, source: str | None, side: int) -> dict[str, list[int]]:
    """Write the image, of a file or a toy duck that has not begun to turn, and tell its size."""
    from ritz.datasets import rotating_object

    image = np.load(source) if source else rotating_object(1, side).reshape(side, side)
    if image.ndim != 2 or image.dtype.kind not in "buif":
        raise ValueError(f"{source} holds {image.dtype} of shape {image.shape}; give the rows and columns of one image")
    np.save(Path(folder) / "image.npy", image.astype(np.float64))
    return {"shape": list(image.shape)}


def measure_image(folder: str, basis: str, share: float, repeat: int, budget: float) -> dict[str, Any]:
    """The way there and back of the image in `folder`: the fit, the measurements, the recovery."""
    image = np.load(Path(folder) / "image.npy")
    there_and_back(np.ones((64, 64)), basis, share)  # imports and first calls, on what few wavelets make
    runs: list[tuple[np.ndarray, dict[str, Any]]] = []
    _, cost = repeated(lambda: runs.append(there_and_back(image, basis, share)), repeat, budget)
    found, notes = min(runs, key=lambda run: run[1]["recovering"])
    error, range_ = float(np.mean(np.square(found - image))), float(np.ptp(image))
    psnr = float(10 * np.log10(range_**2 / error)) if error else None
    return {**cost, "images": cost["memory"] / image.nbytes, "psnr": psnr, "notes": notes}


def there_and_back(image: np.ndarray, basis: str, share: float) -> tuple[np.ndarray, dict[str, Any]]:
    """What comes back of an image, and where the time of its recovery went."""
    from ritz import CompressedSensing

    X, asked = image.reshape(1, -1), {"basis": basis, "signal_shape": image.shape, "tol": ASKED_GAP}
    model = CompressedSensing(share, measurement="subsampled-dct", solver="fista", **asked).fit(X)
    Y = model.transform(X)
    cosines, wavelets = Stopwatch(model.measurement_), Stopwatch(model.basis_)
    start = time.perf_counter()
    found = model.inverse_transform(Y).reshape(image.shape)
    notes = {
        "recovering": time.perf_counter() - start,
        "cosines": cosines.seconds,
        "wavelets": wavelets.seconds,
        "products": cosines.count,
        "gap": float(model.certificate_.duality_gap[0]),
        "penalty": float(model.certificate_.penalty[0]),
        "iterations": model.n_iter_,
        "certificate": str(model.certificate_),
    }
    return found, notes


def pictures(data: Path | None, side: int, cases: Iterable[Picture], settings: Settings) -> list[dict[str, Any]]:
    """Measure and print the image in every basis."""
    results = []
    with TemporaryDirectory() as folder:
        source = str(data.resolve()) if data else None
        height, width = demand("sensing_image", folder=folder, source=source, side=side)["shape"]
        print(f"\nfista: one image of {height}×{width}, measured by a share of its cosine coefficients, as asked:")
        print(f"at most {ASKED_SECONDS:g} s, {ASKED_IMAGES:g} images beside the data, relative gap {ASKED_GAP:g}")
        print(f"{'':14}{'seconds':>9}{'images':>9}{'gap':>9}{'PSNR':>8}{'steps':>8}{'products':>10}  time in products")
        for case in cases:
            found = ask("measure_image", settings.limit, folder=folder, **asdict(case), **_repeats(settings))
            print(_picture_line(case, found), flush=True)
            results.append({**asdict(case), "shape": [height, width], **found})
    return results


def _picture_line(case: Picture, found: dict[str, Any]) -> str:
    name = f"{case.basis}, {case.share:.0%}"
    if found["status"] != MEASURED:
        return f"{name:14} {found['status']}"
    notes = found["notes"]
    psnr = "exact" if found["psnr"] is None else f"{found['psnr']:.1f}"
    figures = f"{name:14}{found['seconds']:9.2f}{found['images']:9.1f}{notes['gap']:9.0e}{psnr:>8}"
    if not notes["products"]:
        return f"{figures}{notes['iterations']:8}  so small that a matrix was formed"
    inside = (notes["cosines"] + notes["wavelets"]) / notes["recovering"]
    parts = f"{notes['cosines']:.2f} s cosines, {notes['wavelets']:.2f} s wavelets of {notes['recovering']:.2f} s"
    return f"{figures}{notes['iterations']:8}{notes['products']:10}  {inside:.0%}: {parts}"


def _repeats(settings: Settings) -> dict[str, float]:
    """A repeated run must not cost the result of the first."""
    return {"repeat": settings.repeat, "budget": min(settings.budget, settings.limit / 4)}


# All of it


def run(quick: bool, data: Path | None, only: Sequence[str], settings: Settings, out: Path) -> None:
    """Measure the parts that are asked for, print as it goes, keep the results as JSON and draw the transition."""
    parts = [part for part in PARTS if not only or any(word.lower() in part for word in only)]
    if not parts:
        raise SystemExit(f"--only {' '.join(only)} names no part of sensing: {', '.join(PARTS)}")
    results: dict[str, Any] = {"machine": demand("machine"), "settings": asdict(settings)}
    print(report.describe(results["machine"]))
    measures: dict[str, Callable[[], Any]] = {
        "omp": lambda: pursuits(FEW_SIGNALS if quick else SIGNALS, settings),
        "fista": lambda: pictures(data, 64 if quick else 512, PICTURES, settings),
        "transition": lambda: transition.run(transition.QUICK if quick else transition.WHOLE),
    }
    for part in parts:
        results[part] = measures[part]()
        report.save(results, out / "sensing.json")
    if "transition" in parts:
        plot.transition(results["transition"], out / "phase_transition.png")
