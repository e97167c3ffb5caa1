"""Small fits and transforms are a few hundred calls of Python's functions: a clock would not tell so surely."""

import sys
from pathlib import Path

import numpy as np
import pytest

import ritz
from ritz import PCA, KernelPCA

HOME = str(Path(ritz.__file__).parent)
X = np.random.default_rng(0).standard_normal((150, 4)) * [4, 3, 2, 1] + 3


def calls(work):
    """How many functions of Ritz the work calls, generators that go on included."""
    work()  # what is imported, read and compiled once
    counted = 0

    def count(frame, event, argument):
        nonlocal counted
        counted += event == "call" and frame.f_code.co_filename.startswith(HOME)

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


TALL = np.random.default_rng(1).standard_normal((1000, 20)) + 3
MODEL = PCA(2).fit(X)
SCORES = MODEL.transform(X)
WORK = {
    "fit": (lambda: PCA(2).fit(X), 290),
    "fit by covariance": (lambda: PCA(2, svd_solver="covariance").fit(X), 355),
    "fit of tall rows": (lambda: PCA(5).fit(TALL), 315),
    "transform": (lambda: MODEL.transform(X), 92),
    "inverse_transform": (lambda: MODEL.inverse_transform(SCORES), 78),
    "score": (lambda: MODEL.score(X), 135),
    "kernel": (lambda: KernelPCA(2, kernel="rbf").fit(X), 550),
}


@pytest.mark.parametrize("name", WORK)
def test_calls_are_few(name):
    work, most = WORK[name]
    assert calls(work) <= most
