"""Everyday work beside scikit-learn: small fits, transforms, scores, "auto", sparse cells, files.

    python -m benchmarks everyday                      all of it: some minutes, and 6 GB of disk for the files
    python -m benchmarks everyday --only fit           one group: fit, transform, inverse, kernel, hand, dense, auto,
                                                       sparse, files
    python -m benchmarks everyday --data t10k-images-idx3-ubyte.gz       real data: images, or a sparse matrix of cells

All contenders of a line run in turns in one process, so that a clock that drifts, drifts for all: a turn is a few calls
one after the other, and begins when no thread of the one before is busy any more. The best time of each counts. The
ratio is that of the fastest accurate peer
over Ritz, or of the fastest where none is: bold. An answer is off by its largest difference from what LAPACK, or the
formula written out in float64, says, relative to the largest number in it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks import commands, sources
from benchmarks.files import read
from benchmarks.harness import MEASURED, Settings, ask
from benchmarks.measure import peak_of
from benchmarks.report import ACCURATE

RITZ, SCIKIT_LEARN, INTELEX, BY_HAND = "Ritz", "scikit-learn", "intelex", "NumPy by hand"
TURNS, TURN = 40, 0.03  # turns of each contender, however quick it is, and seconds of one
# Threads of OpenBLAS wait busily for more work after every call, up to 0.1 s, on a core that the next contender needs:
# it begins when the process has been idle for a moment, and after some seconds in any case.
MOMENT, IDLE, PATIENCE = 0.005, 0.1, 3.0

Answer = Callable[[], np.ndarray]


class Work(NamedTuple):
    """What is compared: the contenders, Ritz first, each of which answers in numbers, and the truth about them."""

    contenders: dict[str, Answer]
    truth: np.ndarray


@dataclass(frozen=True)
class Line:
    """A line of the table. `make` is called in the process that measures."""

    group: str
    title: str
    make: Callable[[], Work]


# Data, and the truth about it


def bundled(name: str) -> np.ndarray:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")().data


def synthetic(n: int, d: int, dtype: str = "float64") -> np.ndarray:
    """Normal rows with standard deviations i^-0.5, at an offset of 3."""
    rng, deviations = np.random.default_rng(0), np.arange(1, d + 1) ** -0.5
    X = np.empty((n, d), dtype)
    for start in range(0, n, 1 << 14):
        part = X[start : start + (1 << 14)]
        part[:] = rng.standard_normal(part.shape) * deviations + 3.0
    return X


def exact(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, the k leading variances and the (k, d) axes, by LAPACK in float64."""
    mean, n, d = X.mean(axis=0, dtype=np.float64), *X.shape
    if n <= d:
        _, sigma, axes = np.linalg.svd(X - mean, full_matrices=False)
        return mean, sigma[:k] ** 2 / (n - 1), axes[:k]
    scatter = sum((Z := X[i : i + (1 << 14)] - mean).T @ Z for i in range(0, n, 1 << 14))
    values, vectors = np.linalg.eigh(scatter / (n - 1))
    return mean, values[: -k - 1 : -1], vectors[:, : -k - 1 : -1].T


def scores(X: np.ndarray, k: int) -> np.ndarray:
    mean, _, axes = exact(X, k)
    return np.abs((X - mean) @ axes.T)  # whatever their signs


# What is compared


def fits(X: np.ndarray, k: int, peers: Sequence[str] = (SCIKIT_LEARN,)) -> Work:
    from ritz import PCA

    contenders: dict[str, Answer] = {RITZ: lambda: PCA(k).fit(X).explained_variance_}
    contenders |= {name: peer_fit(name, X, k) for name in peers}
    return Work(contenders, exact(X, k)[1])


def peer_fit(name: str, X: np.ndarray, k: int) -> Answer:
    """Of scikit-learn or scikit-learn-intelex, by the solver that is named behind it."""
    package, _, solver = name.partition(" ")
    if package == INTELEX:
        from sklearnex.decomposition import PCA
    else:
        from sklearn.decomposition import PCA
    return lambda: PCA(k, svd_solver=solver or "auto", random_state=0).fit(X).explained_variance_


def transforms(X: np.ndarray, k: int = 10) -> Work:
    from sklearn.decomposition import PCA as Peer

    from ritz import PCA

    ours, peer = (
        PCA(k).fit(X),
        Peer(k, random_state=0, svd_solver="covariance_eigh" if len(X) > 2000 else "auto").fit(X),
    )
    contenders: dict[str, Answer] = {RITZ: lambda: ours.transform(X), SCIKIT_LEARN: lambda: peer.transform(X)}
    return Work(contenders, scores(X, k))


def inverses(X: np.ndarray, k: int = 10) -> Work:
    from sklearn.decomposition import PCA as Peer

    from ritz import PCA

    ours, peer = PCA(k).fit(X), Peer(k, svd_solver="full").fit(X)
    Y, Z = ours.transform(X), peer.transform(X)
    mean, _, axes = exact(X, k)
    back = {RITZ: lambda: ours.inverse_transform(Y), SCIKIT_LEARN: lambda: peer.inverse_transform(Z)}
    return Work(back, (X - mean) @ axes.T @ axes + mean)


def kernel_fits(n: int, and_transform: bool) -> Work:
    from sklearn.decomposition import KernelPCA as Peer

    from benchmarks.kernel import truth
    from ritz import KernelPCA

    X = synthetic(n, 10)

    def answer(model: Any) -> Answer:
        if and_transform:
            return lambda: (model.fit_transform(X) ** 2).sum(axis=0)
        return lambda: model.fit(X).eigenvalues_

    models = {RITZ: KernelPCA(5, kernel="rbf"), SCIKIT_LEARN: Peer(5, kernel="rbf")}
    return Work({name: answer(model) for name, model in models.items()}, truth(X, 5, 1 / 10)[0])


def automatic(X: np.ndarray) -> Work:
    """ "auto" beside one fit; the answer is what both of them know: the first variance."""
    from ritz import PCA

    many, one = PCA("auto", random_state=0), PCA(10)
    times = {
        RITZ: lambda: many.fit(X).explained_variance_[:1],
        "one fit, k=10": lambda: one.fit(X).explained_variance_[:1],
    }
    return Work(times, exact(X, 1)[1])


def errors_by_hand(X: np.ndarray, k: int = 10) -> Work:
    from ritz import PCA

    model = PCA(k).fit(X)

    def by_hand() -> np.ndarray:
        Z = X - model.mean_
        return np.square(Z - Z @ model.components_.T @ model.components_).sum(axis=1)

    return Work({RITZ: lambda: model.reconstruction_error(X), BY_HAND: by_hand}, by_hand())


def score_by_hand(X: np.ndarray, k: int = 10) -> Work:
    """The mean log-likelihood of rows under the probabilistic model, as the textbook has it."""
    from ritz import PCA

    model = PCA(k).fit(X)

    def by_hand() -> np.ndarray:
        covariance = model.get_covariance()
        Z = X - model.mean_
        squares = np.einsum("ij,ij->i", Z @ np.linalg.inv(covariance), Z)
        constant = X.shape[1] * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1]
        return np.array([-0.5 * (squares + constant).mean()])

    return Work({RITZ: lambda: np.array([model.score(X)]), BY_HAND: by_hand}, by_hand())


def sparse_by_hand(n: int, d: int, k: int = 50) -> Work:
    import scipy.sparse

    from ritz import PCA

    X = scipy.sparse.random(n, d, 0.03, format="csr", random_state=0)
    model = PCA(k).fit(X)
    W = model.components_.T.copy()

    def by_hand() -> np.ndarray:
        return X @ W - model.mean_ @ W

    return Work({RITZ: lambda: model.transform(X), BY_HAND: by_hand}, by_hand())


def mapped_by_hand(folder: Path, n: int, d: int, k: int = 10) -> Work:
    """Rows in a file, scores into another one."""
    from ritz import PCA

    path, out = str(folder / "X.npy"), folder / "Y.npy"
    np.save(path, synthetic(n, d))
    X = np.load(path, mmap_mode="r")
    model = PCA(k).fit(X[:5000])

    def by_hand() -> np.ndarray:
        Y = np.lib.format.open_memmap(out, "w+", float, (n, k))
        for i in range(0, n, 1 << 13):
            Y[i : i + (1 << 13)] = (X[i : i + (1 << 13)] - model.mean_) @ model.components_.T
        return Y

    def ours() -> np.ndarray:
        model.transform(path, out=out)
        return np.load(out, mmap_mode="r")

    return Work({RITZ: ours, BY_HAND: by_hand}, np.array(by_hand()))


def lines(folder: Path, data: str | None) -> Iterator[Line]:
    """All of them; the images in `data`, if any, are among the dense ones and those of "auto"."""
    bundles = {(150, 4): "iris", (178, 13): "wine", (1797, 64): "digits"}

    def rows(n: int, d: int, dtype: str = "float64") -> np.ndarray:
        return bundled(bundles[n, d]) if (n, d) in bundles else synthetic(n, d, dtype)

    def line(
        group: str, what: str, make: Callable[..., Work], n: int, d: int, *more: Any, dtype: str = "float64"
    ) -> Line:
        tail = "" if dtype == "float64" else f" {dtype}"
        return Line(group, f"{what} {n}×{d}{tail}", lambda: make(rows(n, d, dtype), *more))

    for n, d, k in ((150, 4, 2), (178, 13, 3), (1000, 20, 5), (1797, 64, 10), (5000, 50, 10), (10_000, 100, 10)):
        yield line("fit", f"fit, k={k}:", fits, n, d, k)
    for n, d in ((1797, 64), (10_000, 100), (400, 4096)):
        yield line("transform", "transform", transforms, n, d)
    yield line("transform", "transform", transforms, 1_000_000, 100, dtype="float32")
    for n, d in ((1000, 20), (1797, 64), (200, 2000)):
        yield line("inverse", "inverse_transform", inverses, n, d)
    yield Line("kernel", "KernelPCA fit 300×10", lambda: kernel_fits(300, False))
    yield Line("kernel", "KernelPCA fit_transform 1000×10", lambda: kernel_fits(1000, True))
    yield line("hand", "reconstruction_error", errors_by_hand, 10_000, 100)
    yield line("hand", "score", score_by_hand, 10_000, 100)
    yield Line("hand", "transform of sparse rows 20000×5000", lambda: sparse_by_hand(20_000, 5000))
    yield Line("hand", "transform of a file 400000×100", lambda: mapped_by_hand(folder, 400_000, 100))
    solvers = (f"{SCIKIT_LEARN} covariance_eigh", f"{INTELEX} auto")
    yield line("dense", "fit, k=50:", fits, 100_000, 784, 50, solvers)
    yield line("dense", "fit, k=256:", fits, 100_000, 768, 256, solvers, dtype="float32")
    yield line("dense", "fit, k=50:", fits, 20_000, 2000, 50, solvers)
    for n, d in ((1797, 64), (1000, 20), (5000, 50), (10_000, 100), (200_000, 100), (500, 20_000), (4000, 5000)):
        yield line("auto", '"auto":', automatic, n, d)
    if data is not None:
        path, peers = Path(data), (SCIKIT_LEARN, *solvers)
        yield Line("dense", f"fit, k=50: {path.name}", lambda: fits(read(path, "float64"), 50, peers))
        yield Line("auto", f'"auto": {path.name}', lambda: automatic(read(path, "float64")))


# How it is measured


def measure_line(group: str, title: str, data: str | None, budget: float) -> dict[str, Any]:
    """Best times of the contenders of a line, which take turns; memory beside the data, and how far they are off."""
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        made = next(line for line in lines(Path(folder), data) if (line.group, line.title) == (group, title))
        contenders, truth = made.make()
        off = {name: _off(answer(), truth) for name, answer in contenders.items()}
        memory = {name: peak_of(answer) for name, answer in contenders.items()}
        times = dict.fromkeys(contenders, np.inf)
        end, turns = time.perf_counter() + budget, 0
        while turns < 3 or (turns < TURNS and time.perf_counter() < end):
            for name, answer in contenders.items():
                rest()
                times[name] = min(times[name], best_of_turn(answer))
            turns += 1
    return {"contenders": [(name, times[name], memory[name], off[name]) for name in contenders]}


def rest() -> None:
    """Wait until no thread of this process is at work."""
    end = time.perf_counter() + PATIENCE
    busy = True
    while busy and time.perf_counter() < end:
        before = time.process_time()
        time.sleep(MOMENT)
        busy = time.process_time() - before > IDLE * MOMENT


def best_of_turn(answer: Answer) -> float:
    """Seconds of the quickest of some calls, two at least."""
    end, times = time.perf_counter() + TURN, list[float]()
    while len(times) < 2 or time.perf_counter() < end:
        begun = time.perf_counter()
        answer()
        times.append(time.perf_counter() - begun)
    return min(times)


def _off(answer: np.ndarray, truth: np.ndarray) -> float:
    return float(np.max(np.abs(np.abs(answer) - np.abs(truth))) / np.max(np.abs(truth)))


# The table


def run(gigabytes: float, data: Path | None, only: list[str], settings: Settings) -> None:
    """Print all of it, or the groups that are asked for; of a sparse matrix in `data`, only that."""
    if data is not None and data.suffix == ".npz":
        return sources.run(gigabytes, data, only, settings)
    images = None if data is None else str(data.resolve())
    print(f"| work | {RITZ} | off by | memory beside | fastest accurate peer | off by | memory beside | ratio |")
    print("|" + "---|" * 8, flush=True)
    for line in lines(Path(), images):
        if not only or line.group in only:
            about = {"group": line.group, "title": line.title, "data": images, "budget": settings.budget / 4}
            print(_row(line.title, ask("measure_line", settings.limit, **about)), flush=True)
    if not only or "sparse" in only:
        sources.run(gigabytes, None, ["sparse"], settings)
    if not only or "files" in only:
        sources.run(gigabytes, None, [".parquet"], settings)
        commands.run(min(gigabytes, 1.0), min(settings.repeat, 3))
    return None


def _row(title: str, found: dict[str, Any]) -> str:
    if found["status"] != MEASURED:
        return f"| {title} | {found['status']} |"
    (_, ours, memory, off), *peers = found["contenders"]
    start = f"| {title} | {_time(ours)} | {off:.0e} | {memory / 1e6:.1f} MB"
    right = [peer for peer in peers if peer[3] <= ACCURATE]
    name, seconds, beside, apart = min(right or peers, key=lambda peer: peer[1])
    wrong = f"{apart:.0e}" if right else f"**{apart:.0e}**"
    return f"{start} | {_time(seconds)} ({name}) | {wrong} | {beside / 1e6:.1f} MB | {seconds / ours:.2f} |"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds < 0.1 else f"{seconds:.3g} s"
