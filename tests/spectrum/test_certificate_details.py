"""What a certificate computes when it is first asked for is what it would have said at once."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from ritz import PCA, KernelPCA, eigen
from ritz.spectrum.certificate import DETAILS, Certificate

X = np.random.default_rng(0).standard_normal((200, 8)) * np.arange(8, 0, -1)
FITS = {
    "svd": lambda: PCA(3).fit(X).certificate_,
    "covariance": lambda: PCA(3, svd_solver="covariance").fit(X).certificate_,
    "iteration": lambda: PCA(3, svd_solver="krylov").fit(X).certificate_,
    "kernel": lambda: KernelPCA(3, kernel="rbf").fit(X).certificate_,
    "both signs": lambda: eigen(np.diag([3.0, -2.0, 1.0, 0.5]), 2, "power").certificate,
}


def told(certificate):
    return {part.name: getattr(certificate, part.name) for part in fields(Certificate)}


def assert_alike(one, other):
    for name, value in told(one).items():
        np.testing.assert_equal(value, told(other)[name], err_msg=name)


@pytest.mark.parametrize("name", ["svd", "covariance"])
def test_a_fit_leaves_them_for_later(name):
    assert not DETAILS & FITS[name]().__dict__.keys()


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c)), replace])
@pytest.mark.parametrize("name", FITS)
def test_a_copy_made_before_or_after_says_the_same(name, way):
    before, after = FITS[name](), FITS[name]()
    text = str(after)  # asks for all
    assert_alike(way(before), after)
    assert_alike(way(after), after)
    assert str(before) == text


@pytest.mark.parametrize("name", FITS)
def test_any_may_be_the_first_to_be_asked_for(name):
    whole = FITS[name]()
    for detail in sorted(DETAILS):
        np.testing.assert_array_equal(getattr(FITS[name](), detail), getattr(whole, detail))


def test_they_are_those_of_the_rows_that_were_fitted():
    rows = X.copy()
    model, expected = PCA(3).fit(rows), PCA(3).fit(X).certificate_
    rows[:] = 0.0  # before anybody looked
    assert_alike(model.certificate_, expected)


def test_other_names_are_told_to_be_missing():
    found = FITS["svd"]()
    with pytest.raises(AttributeError, match="'Certificate' object has no attribute 'angles'"):
        _ = found.angles
    assert not hasattr(Certificate.__new__(Certificate), "value_bounds")  # as while it is unpickled
