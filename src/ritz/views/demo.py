"""`ritz demo`: the main job on embedded data, from rows to a certified answer."""

from __future__ import annotations

import os
import sys
import time
import warnings

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

from ritz.certificate import Certificate
from ritz.errors import AccuracyWarning
from ritz.estimators import PCA


class Quiet(Console):
    """A console that takes a closed pipe, as in `ritz demo | head`, for a wish and not for a failure."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0)


def show(components: int) -> None:
    """Fit the digits and print the components, the certificate and what it means."""
    console = Quiet(highlight=False)
    digits = load_digits()
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # the certificate below says the same in its own words
        pca = PCA(components).fit(digits.data)
    seconds = time.perf_counter() - start
    n, d = digits.data.shape
    console.print(f"[bold]Handwritten digits[/]: {n} images of 8×8 pixels, {d} columns (bundled with scikit-learn)")
    console.print(f"[dim]plan:[/] {str(pca.plan_).splitlines()[0]}")
    console.print(f"[dim]why:[/]  {pca.plan_.why}\n")
    console.print(components_table(pca))
    console.print(
        f"[bold]{components} of {d} numbers per image keep {pca.explained_variance_ratio_.sum():.1%} of the variance[/]"
    )
    console.print(f"[dim]fitted in {1000 * seconds:.0f} ms[/]\n")
    console.print(certificate_lines(pca.certificate_))
    console.print("\nThe same in Python:\n  [cyan]from ritz import PCA[/]")
    console.print(f"  [cyan]pca = PCA(n_components={components}).fit(X); print(pca.certificate_)[/]")


def components_table(pca: PCA) -> Table:
    """One row per component: what it holds and how sure that is."""
    table = Table(box=None, pad_edge=False)
    for name in ("component", "variance", "share", "together", "± numerical", "± sampling", "axis off by"):
        table.add_column(name, justify="right")
    certificate = pca.certificate_
    together = np.cumsum(pca.explained_variance_ratio_)
    sampling = certificate.sampling_errors
    for i, variance in enumerate(pca.explained_variance_):
        numerical = float(np.max(np.abs(certificate.value_bounds[i] - variance)))
        sine = certificate.angle_bounds[i]
        table.add_row(
            str(i + 1),
            f"{variance:.4f}",
            f"{pca.explained_variance_ratio_[i]:.1%}",
            f"{together[i]:.1%}",
            f"{numerical:.0e}",
            "" if sampling is None else f"{sampling[i]:.1f}",
            "undetermined" if sine >= 1 else f"{np.degrees(np.arcsin(sine)):.0e}°",
        )
    return table


def certificate_lines(certificate: Certificate) -> str:
    """The certificate in words."""
    return "[bold green]Certificate[/] " + "\n  ".join([certificate.verdict, *certificate.remarks])
