"""Ritz on a GPU beside scikit-learn on the same tensors: time, its ratio to what is compared with, error, peak memory.

    python -m benchmarks gpu                             one data-centre GPU, in less than ten minutes
    python -m benchmarks gpu --only kernel --only file   some of its parts
    python -m benchmarks gpu --device cpu --scale 0.001  the same, small, to see that it works

The parts are product, krylov, narrow, kernel and file. One that fails is told, and the next one begins. Every case is
made on the device, once. Times are the best of several fits, with the device waited for before and after. The truth is
a float64 covariance of the same rows, shifted by their mean and summed block by block on the device; LAPACK decomposes
it, or orthogonal iteration on the device where it is large. Errors are the largest relative error of a variance and the
sine of the largest angle between the subspaces. scikit-learn takes tensors where SCIPY_ARRAY_API=1 was set before SciPy
was imported, so the program begins again with it.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Settings
from ritz import AccuracyWarning
from ritz.errors import MissingPackageError, ParameterError
from ritz.rows.memory.upload import LEFT_OUT, checked

DENSE = 2048  # columns up to which the truth is LAPACK's
ROUNDING = 1e-13  # residual at which it is not improved any more where they are more
BLOCK = 1 << 27  # entries that are made or summed at a time


@dataclass(frozen=True)
class Tall:
    """n rows of d columns in float32, whose deviations decay like 1/√i, at an offset."""

    n: int
    d: int
    k: int
    asked: str = ""

    def scaled(self, scale: float) -> Tall:
        """A smaller one of the same kind: rows and columns shrink alike."""
        if scale == 1:
            return self
        root = scale**0.5
        d = max(2 * self.k, round(self.d * root))
        return Tall(max(4 * d, round(self.n * root)), d, self.k, "not judged at this scale")

    @property
    def title(self) -> str:
        return f"{self.n:,}×{self.d:,} float32, k={self.k}"


CASES = {
    "product": Tall(1_000_000, 1024, 50, "at most 1.3 times a bare X.T @ X in float64, at 1e-10"),
    "krylov": Tall(200_000, 8192, 50, "at most 1/8 of scikit-learn's time, at 1e-5"),
    "narrow": Tall(4_000_000, 256, 10, "at most 1.2 times scikit-learn's time, at 1e-8"),
}
KERNEL, LANDMARKS, WIDTH = Tall(100_000, 50, 10), 500, 0.02
SET_ASIDE = 4 << 30  # bytes of the device for a file that is twice as large


class Run(NamedTuple):
    """The best of several runs: seconds, the most bytes of the device beside the data, and what the last one gave."""

    seconds: float
    memory: int
    result: Any


def run(device: str, scale: float, only: list[str], settings: Settings) -> None:
    """Print all parts, or those with one of these words in their names."""
    check(device, scale)
    begin_with_array_api()
    warnings.simplefilter("ignore", AccuracyWarning)  # what was reached is printed
    say(described(device))
    parts: dict[str, Callable[[], None]] = {
        name: partial(compare, case.scaled(scale), device, settings) for name, case in CASES.items()
    }
    parts["kernel"] = partial(kernel, device, scale, settings)
    parts["file"] = partial(file, device, scale, settings)
    failed = [name for name, part in parts.items() if _is_asked(name, only) and not survived(name, part)]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def check(device: str, scale: float) -> None:
    """Stop with one line where nothing can be measured."""
    if not scale > 0:
        raise SystemExit(f"--scale {scale:g} must be above 0, such as 0.001")
    try:
        checked(device)
    except ParameterError as error:
        rule = error.rule.replace(LEFT_OUT, "try --device cpu --scale 0.001")
        raise SystemExit(f"--device {device} {rule}") from None
    except MissingPackageError as error:
        raise SystemExit(str(error)) from None


def begin_with_array_api() -> None:
    """The same program with SCIPY_ARRAY_API=1, unless it has that."""
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        os.environ["SCIPY_ARRAY_API"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _is_asked(name: str, only: list[str]) -> bool:
    return not only or any(word in name for word in only)


def survived(name: str, work: Callable[[], Any]) -> bool:
    """Whether a piece of work was done; what stopped it is told, and what it left on the device is given back."""
    try:
        work()
    except Exception:  # whatever it is, the other parts go on
        say(f"  {name} failed: {traceback.format_exc(limit=-3)}")
        return False
    finally:
        release()
    return True


def compare(case: Tall, device: str, settings: Settings) -> None:
    """Bare products, scikit-learn and Ritz on the same tensor."""
    say(f"\n{case.title} on {device} ({case.asked})")
    X = made(case, device)
    say("  made; the truth is computed")
    variances, axes = truth(X, case.k)
    heading("÷ bare", "error")
    bare: list[float] = []

    def product() -> None:
        W = X.double()
        bare.append(row("bare X.T @ X, float64", best(lambda: W.T @ W, device, settings)))

    def fit(name: str, how: Callable[[Any, int], Any]) -> None:
        found = best(lambda: how(X, case.k), device, settings)
        values, V = (np.asarray(part, np.float64) for part in _answer(found.result))
        error = float(np.max(np.abs(values / variances - 1)))
        sine = float(np.linalg.norm(V.T - axes @ (axes.T @ V.T), 2))
        row(name, found, bare[:1], f"variances {error:.0e}, sine {sine:.0e}")
        if name == "ritz":
            plan, certificate = found.result.plan_, found.result.certificate_
            say(f"    {plan.summary}; {certificate.passes} passes, reached {certificate.reached:.0e}")

    contenders = {
        "bare float64": product,
        "bare float32": lambda: row("bare X.T @ X, float32", best(lambda: X.T @ X, device, settings), bare[:1]),
        "ritz": partial(fit, "ritz", _ritz),
        "its pass": lambda: row("the first pass of it", best(lambda: _first_pass(X), device, settings), bare[:1]),
        "scikit-learn": partial(fit, "scikit-learn", _scikit_learn),
    }
    if failed := [name for name, work in contenders.items() if not survived(name, work)]:
        raise RuntimeError(f"failed: {', '.join(failed)}")


def _scikit_learn(X: Any, k: int) -> Any:
    """On the tensor, by the array API; covariance_eigh is what "auto" takes for tall data."""
    import sklearn
    from sklearn.decomposition import PCA

    solver = "covariance_eigh" if X.shape[1] <= 1024 else "randomized"
    how = {"power_iteration_normalizer": "QR", "random_state": 0} if solver == "randomized" else {}
    with sklearn.config_context(array_api_dispatch=True):
        return PCA(k, svd_solver=solver, **how).fit(X)


def _rows(X: Any) -> Any:
    """A tensor on the CPU takes the way of one on a GPU, so that the way is seen to work."""
    from ritz.rows.memory.device import DeviceRows

    return X if X.is_cuda else DeviceRows(X)


def _ritz(X: Any, k: int) -> Any:
    import ritz

    return ritz.PCA(k).fit(_rows(X))


def _first_pass(X: Any) -> Any:
    """What a fit does before it decomposes: means, and the scatter or, for many columns, its diagonal."""
    from ritz.moments.accumulate import Scatter
    from ritz.moments.moments import moments
    from ritz.rows import as_rows

    return moments(as_rows(_rows(X)), scatter=Scatter.FLOAT64 if X.shape[1] <= DENSE else Scatter.DIAGONAL)


def _answer(model: Any) -> tuple[Any, Any]:
    """Variances and axes; in float64, where the model has them."""
    if hasattr(model, "subspace_"):
        return model.subspace_.variances, model.subspace_.axes.T
    return model.explained_variance_.cpu(), model.components_.cpu()


def kernel(device: str, scale: float, settings: Settings) -> None:
    """KernelPCA by landmarks, on the device and on a copy on the CPU."""
    import ritz

    n = max(400, round(KERNEL.n * scale))
    X, count = made(Tall(n, KERNEL.d, KERNEL.k), device), min(LANDMARKS, n // 4)
    say(f"\nKernelPCA(10, kernel='rbf') of {n:,}×{KERNEL.d} by {count} landmarks")

    def fit(rows: Any) -> Any:
        return ritz.KernelPCA(KERNEL.k, kernel="rbf", gamma=WIDTH, n_landmarks=count).fit(rows)

    heading("÷ first", "accuracy")
    there = best(lambda: fit(_rows(X)), device, settings)
    model = there.result
    row(f"ritz on {device}", there, more=f"lacks {model.trace_error_:.0e}, reached {model.certificate_.reached:.0e}")
    row("its scores", best(lambda: model.transform(_rows(X)), device, settings), [there.seconds])
    once = Settings(1, settings.budget, settings.limit)
    row("ritz on the CPU", best(lambda: fit(X.cpu()), device, once, warm=False), [there.seconds])


def file(device: str, scale: float, settings: Settings) -> None:
    """A file of twice the memory that is set aside on the device, streamed."""
    import ritz

    d = 1024 if scale == 1 else 64
    case = Tall(max(1000, round(2 * SET_ASIDE * scale / (4 * d))), d, 10)
    once = Settings(min(2, settings.repeat), settings.budget, settings.limit)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        out = np.lib.format.open_memmap(path, "w+", np.float32, (case.n, d))
        for start, block in blocks(case, device):
            out[start : start + len(block)] = block.cpu().numpy()
        out.flush()
        say(f"\na file of {case.n:,}×{d} float32, {path.stat().st_size / 1e9:.2f} GB, twice what the device may use")
        heading("÷ first", "accuracy")
        with limited(device, path.stat().st_size // 2):
            there = best(lambda: ritz.PCA(10).fit(ritz.read(path, device=device)), device, once)
        row(f"ritz on {device}", there, more=f"reached {there.result.certificate_.reached:.0e}")
        row("ritz on the CPU", best(lambda: ritz.PCA(10).fit(path), device, once), [there.seconds])


@contextmanager
def limited(device: str, most: int) -> Iterator[None]:
    """PyTorch with so many bytes of the device; on the CPU, as if there were no room to keep a file."""
    import torch

    from ritz.rows.memory import upload

    if device.startswith("cuda"):
        release()
        torch.cuda.set_per_process_memory_fraction(most / torch.cuda.get_device_properties(device).total_memory)
        try:
            yield
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
    else:
        kept, upload.KEPT_ON_CPU = upload.KEPT_ON_CPU, 0
        try:
            yield
        finally:
            upload.KEPT_ON_CPU = kept


def made(case: Tall, device: str) -> Any:
    """The rows, on the device."""
    import torch

    X = torch.empty((case.n, case.d), dtype=torch.float32, device=device)
    for start, block in blocks(case, device):
        X[start : start + len(block)] = block
    return X


def blocks(case: Tall, device: str) -> Iterator[tuple[int, Any]]:
    import torch

    generator = torch.Generator(device).manual_seed(0)
    spread = 1 / torch.arange(1, case.d + 1, device=device) ** 0.5
    step = max(1, BLOCK // case.d)
    for start in range(0, case.n, step):
        rows = min(step, case.n - start)
        yield start, torch.randn((rows, case.d), generator=generator, device=device) * spread + 3


def truth(X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Variances and axes of the rows as they are, in float64."""
    n, d = X.shape
    step, mean, C = max(1, BLOCK // d), 0.0, 0.0
    for start in range(0, n, step):
        mean = mean + X[start : start + step].double().sum(dim=0) / n
    for start in range(0, n, step):
        Z = X[start : start + step].double() - mean
        C = C + Z.T @ Z / (n - 1)
    if d > DENSE:
        return iterated(C, k)
    values, vectors = np.linalg.eigh(np.asarray(C.cpu()))
    return values[::-1][:k], vectors[:, ::-1][:, :k]


def iterated(C: Any, k: int, most: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs by orthogonal iteration with many more vectors than are asked for, until residuals end at rounding."""
    import torch

    CV = torch.randn((len(C), min(len(C), 4 * k)), dtype=C.dtype, device=C.device)
    for _ in range(most):
        V = torch.linalg.qr(CV)[0]
        CV = C @ V
        values, turn = np.linalg.eigh(np.asarray((V.T @ CV).cpu()))
        values, turn = values[::-1][:k].copy(), torch.from_numpy(turn[:, ::-1][:, :k].copy()).to(C.device)
        U = V @ turn
        residual = float((CV @ turn - U * torch.from_numpy(values).to(C.device)).norm()) / float(values[0])
        if residual < ROUNDING:
            break
    say(f"  the truth has a residual of {residual:.0e} of the first variance")
    return values, np.asarray(U.cpu())


def best(work: Callable[[], Any], device: str, settings: Settings, warm: bool = True) -> Run:
    """The best of several runs, after a first one that does not count."""
    import torch

    on_gpu = device.startswith("cuda")
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    release()  # before the run that does not count, so that those which do find memory as they need it
    if warm:
        work()
    held = 0
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    times: list[float] = []
    while len(times) < settings.repeat and sum(times) <= settings.budget:
        wait()
        start = time.perf_counter()
        result = work()
        wait()
        times.append(time.perf_counter() - start)
    return Run(min(times), torch.cuda.max_memory_allocated() - held if on_gpu else 0, result)


def release() -> None:
    """Give back what PyTorch keeps of the device for later."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def described(device: str) -> str:
    """The device and the versions."""
    import sklearn
    import torch

    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else "the CPU"
    return f"{name}, PyTorch {torch.__version__}, scikit-learn {sklearn.__version__}"


def heading(beside: str, more: str) -> None:
    """What stands in the columns: the ratio is to the first line, or to a bare product."""
    say(f"  {'':22} {'time':>13}  {beside:>8}  {'memory':>9}  {more}")


def row(name: str, found: Run, beside: list[float] | None = None, more: str = "") -> float:
    """Print a line of the table; its seconds."""
    used = f"{found.memory / 1e9:6.2f} GB" if found.memory else "        —"
    ratio = f"{found.seconds / beside[0]:7.2f}×" if beside else "        "
    say(f"  {name:22} {1000 * found.seconds:10.1f} ms  {ratio}  {used}  {more}")
    return found.seconds


def say(text: str) -> None:
    """At once, so that whoever waits sees how far it is."""
    print(text, flush=True)
