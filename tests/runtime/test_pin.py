"""The pin where a library has no functions of its own to get and set its threads: threadpoolctl does it instead."""

import numpy as np
import pytest

from helpers.matrices import blas_limits
from ritz import PCA
from ritz.runtime import pin
from ritz.runtime.threads import pinned, team

pytestmark = pytest.mark.usefixtures("blas_as_it_is")
ONE = [1] * len(blas_limits())


@pytest.fixture
def through_threadpoolctl(monkeypatch):
    pinned.budget()  # the libraries are known
    monkeypatch.setattr(pinned, "_native", {})


def test_blas_is_pinned_and_given_back(through_threadpoolctl):
    before = blas_limits()
    with team():
        assert blas_limits() == ONE
        with pinned.calling(large=True):
            pass
        assert blas_limits() == ONE
    assert blas_limits() == before


def test_a_fit_is_the_same(through_threadpoolctl, monkeypatch):
    X = np.random.default_rng(0).standard_normal((3000, 40))
    found = PCA(3).fit(X)
    monkeypatch.undo()
    np.testing.assert_array_equal(found.components_, PCA(3).fit(X).components_)


def test_a_library_of_another_kind_has_none():
    """As of Intel, of Apple, or an OpenBLAS that was built without threads of its own."""

    class Library:
        threading_layer = "openmp"
        dynlib = None

    assert pin._native(Library()) is None
