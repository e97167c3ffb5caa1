"""Examples are run once in a process, and what they leave behind is what tests look at."""

import functools
import runpy
import warnings
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np

EXAMPLES = Path(__file__).parents[1] / "examples"


@functools.cache
def run(name):
    """What a script leaves behind, and its figures, drawn; an error if it warns of anything or has no figure."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        names = runpy.run_path(str(EXAMPLES / f"plot_{name}.py"))
        figures = [plt.figure(number) for number in plt.get_fignums()]
        for figure in figures:
            figure.canvas.draw()
    assert figures, f"plot_{name}.py draws nothing"
    return SimpleNamespace(**names, figures=figures)


def svd(X):
    """Mean, singular values and axes in rows, by LAPACK."""
    mean = X.mean(axis=0)
    _, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
    return mean, s, Vt


def rest(X, mean, Vt):
    """Squared distances of rows to the subspace of these axes."""
    Z = X - mean
    return np.sum((Z - Z @ Vt.T @ Vt) ** 2, axis=1)
