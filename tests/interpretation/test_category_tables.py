"""Categories against brute force, permutations and an analysis of variance."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from helpers.counts import usually
from ritz import PCA, interpret


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    labels = np.array(["a", "b", "c", "d"])[rng.choice(4, 120, p=[0.5, 0.25, 0.15, 0.1])]
    X = rng.standard_normal((120, 5)) * [5, 4, 3, 2, 1]
    X[labels == "b"] += [2, -1, 0, 0, 0.5]
    return X, labels


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"center": False}, {"ddof": 0}, {"whiten": True}])
def test_tables_are_their_definitions(groups, options):
    X, labels = groups
    pca = PCA(3, **options).fit(X + (10 if options == {"center": False} else 0))
    X = X + (10 if options == {"center": False} else 0)
    found = interpret(pca, X, labels=pd.Series(labels, name="group")).categories
    Z = (X - pca.mean_) / (1 if pca.scale_ is None else pca.scale_)
    Y = Z @ pca.components_.T
    n = len(X)
    for row, name in enumerate("abcd"):
        some = labels == name
        m, mean = some.sum(), Y[some].mean(axis=0)
        assert list(found.groups["rows"])[row] == m
        for i, title in enumerate(("PC1", "PC2", "PC3")):
            assert found.coordinates[title][row] == pytest.approx(mean[i], abs=1e-9)
            error = Y[:, i].std(ddof=1) * np.sqrt((n - m) / (n * m))  # of a mean without replacement
            v = (mean[i] - Y[:, i].mean()) / error
            assert found.v_tests[title][row] == pytest.approx(v, abs=1e-9)
            assert found.p_values[title][row] == pytest.approx(2 * stats.norm.sf(abs(v)), rel=1e-9)
            size = np.linalg.norm(Z[some].mean(axis=0))
            assert found.cos2[title][row] == pytest.approx(mean[i] ** 2 / size**2, abs=1e-12)
            assert found.distances["distance"][row] == pytest.approx(size)
    for i, title in enumerate(("PC1", "PC2", "PC3")):
        F, p = stats.f_oneway(*(Y[labels == name, i] for name in "abcd"))
        assert found.eta2_p_values[title][0] == pytest.approx(p, rel=1e-8)
        assert found.eta2[title][0] == pytest.approx(3 * F / (3 * F + n - 4), rel=1e-9)


def test_labels_at_random_have_v_tests_of_variance_1():
    """Over random labels the v-test of a category has mean 0 and variance 1 exactly: that is how it is divided."""
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, (30, 3))
    pca = PCA(1).fit(X)
    labels = np.array(["few"] * 6 + ["many"] * 24)
    tries = usually(1500, thorough=20_000)
    v = [interpret(pca, X, labels=rng.permutation(labels)).categories.v_tests["PC1"][0] for _ in range(tries)]
    assert abs(np.mean(v)) < 4 / np.sqrt(tries)
    assert np.var(v) == pytest.approx(1.0, abs=6 / np.sqrt(tries))


def test_labels_with_gaps_are_a_group_of_their_own(groups):
    X, labels = groups
    given = labels.astype(object)
    given[labels == "c"] = None
    given[np.flatnonzero(labels == "c")[0]] = np.nan
    given[labels == "d"] = "missing"  # a name that means nothing special
    found = interpret(PCA(2).fit(X), X, labels=given).categories
    assert list(found.coordinates.index) == ["label=a", "label=b", "label=missing", "label (missing)"]
    assert list(found.groups["missing"]) == [False, False, False, True]
    assert list(found.groups["rows"]) == [(labels == name).sum() for name in "abdc"]
    plain = interpret(PCA(2).fit(X), X, labels=labels).categories
    assert np.allclose(found.coordinates["PC1"], plain.coordinates["PC1"][[0, 1, 3, 2]])


def test_the_same_name_in_two_columns_is_two_categories(groups):
    X, labels = groups
    table = pd.DataFrame({"first": labels, "second": labels[::-1], "flag": labels == "a"})
    found = interpret(PCA(2).fit(X), X, supplementary=table, labels=pd.Series(labels, name="first")).categories
    assert len(set(found.coordinates.index)) == len(found.coordinates.index) == 4 + 4 + 2 + 4
    assert "second=a" in found.coordinates.index
    assert list(found.eta2.index) == ["first", "second", "flag", "first_2"]
    frame = found.coordinates.to_frame()
    assert np.allclose(frame.loc["first=b"], frame.loc["first_2=b"])
    # Two columns of which one contains the sign between a column and its category:
    odd = interpret(PCA(1).fit(X), X, supplementary={"a=b": ["c", "d"] * 60, "a": ["b=c", "x"] * 60}).categories
    assert len(set(odd.coordinates.index)) == 4


def test_one_category_for_all_rows_is_no_news(groups):
    X, _ = groups
    found = interpret(PCA(2).fit(X), X, labels=["all"] * len(X)).categories
    assert found.v_tests["PC1"][0] == 0
    assert found.p_values["PC1"][0] == 1
    assert found.eta2["PC1"][0] == pytest.approx(0, abs=1e-12)
    assert found.eta2_p_values["PC1"][0] == 1


def test_a_category_for_every_row(groups):
    X, _ = groups
    found = interpret(PCA(2).fit(X), X, labels=np.arange(len(X))).categories
    assert np.allclose(found.coordinates["PC1"], PCA(2).fit_transform(X)[:, 0])
    assert found.eta2["PC1"][0] == pytest.approx(1.0)
    assert found.eta2_p_values["PC1"][0] == 1  # nothing is left to test against
    assert np.allclose(found.cos2["PC1"], interpret(PCA(2).fit(X), X).rows.cos2["PC1"])


def test_sparse_rows_far_from_the_origin_are_centred_before_they_are_summed():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 4)) * [1, 0.5, 0.2, 0.1] + 1e7
    labels = rng.integers(0, 3, 300)
    dense, thin = (interpret(PCA(3).fit(rows), rows, labels=labels).categories for rows in (X, sparse.csr_array(X)))
    assert np.allclose(thin.distances["distance"], dense.distances["distance"], rtol=1e-6)
    assert np.allclose(thin.v_tests["PC3"], dense.v_tests["PC3"], atol=1e-5)
