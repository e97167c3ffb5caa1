"""Rules that turn a spectrum into a number, against published tables, numerical integration and plain counting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from ritz.fitting import rank

# Gavish and Donoho 2014, tables of λ(β) and ω(β); ω to the accuracy of their numerical integration.
PUBLISHED = {0.05: (1.5066, 1.5194), 0.2: (1.7048, 1.7650), 0.5: (1.9786, 2.1711), 0.8: (2.1883, 2.5697)}


@pytest.mark.parametrize("ratio", PUBLISHED)
def test_thresholds_are_those_of_the_paper(ratio):
    known, unknown = PUBLISHED[ratio]
    assert rank.hard_threshold(ratio) == pytest.approx(known, abs=6e-5)
    median = rank.marchenko_pastur_median(ratio)
    assert rank.hard_threshold(ratio) / np.sqrt(median) == pytest.approx(unknown, abs=1e-3)


def test_square_matrices():
    assert rank.hard_threshold(1.0) == pytest.approx(4 / np.sqrt(3), rel=1e-15)
    assert rank.hard_threshold(1.0) / np.sqrt(rank.marchenko_pastur_median(1.0)) == pytest.approx(2.858, abs=5e-4)


@pytest.mark.parametrize("ratio", [1e-6, 0.01, 0.3, 0.77, 1.0])
def test_median_of_marchenko_pastur_by_integration(ratio):
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2

    def density(t):
        return np.sqrt(max((high - t) * (t - low), 0.0)) / (2 * np.pi * ratio * t)

    assert quad(density, low, rank.marchenko_pastur_median(ratio), limit=200)[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(("n", "d"), [(300, 300), (400, 100), (100, 400)])
def test_gavish_donoho_finds_what_was_planted(n, d):
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((m, 3)))[0] for m in (n, d))
    X = (U * [4, 3.5, 3]) @ V.T * 0.2 * np.sqrt(max(n, d)) + 0.2 * rng.standard_normal((n, d))
    values = np.linalg.svd(X, compute_uv=False)
    assert rank.gavish_donoho(values, n, d) == 3
    assert rank.gavish_donoho(values, n, d, noise=0.2) == 3
    assert rank.gavish_donoho(values[:5], n, d, noise=0.2) == 3
    with pytest.raises(ValueError, match=rf"5 singular values of a {n}×{d} matrix, but their median needs all"):
        rank.gavish_donoho(values[:5], n, d)


def test_gavish_donoho_needs_a_matrix():
    with pytest.raises(ValueError, match="shape 0×3 has no singular values"):
        rank.gavish_donoho(np.array([]), 0, 3)


finite = st.floats(0, 1e6)


@given(
    st.integers(1, 8).flatmap(
        lambda k: st.tuples(arrays(float, k, elements=finite), arrays(float, (19, k), elements=finite))
    )
)
def test_parallel_counts_what_exceeds_all_of_19(drawn):
    values, null = drawn
    count = 0
    while count < len(values) and all(values[count] > null[:, count]):
        count += 1
    assert rank.parallel(values, null) == count


@given(arrays(float, (7, 3), elements=finite), st.floats(0, 1))
def test_the_threshold_is_one_of_the_values_and_bounds_that_share(null, quantile):
    bar = rank.threshold(null, quantile)
    assert all(bar[j] in null[:, j] for j in range(3))
    assert ((null <= bar).mean(axis=0) >= quantile - 1e-12).all()


def test_parallel_compares_only_places_that_both_have():
    assert rank.parallel(np.array([5.0, 4.0, 3.0]), np.array([[1.0, 1.0]])) == 2
    assert rank.parallel(np.array([5.0]), np.array([[1.0, 1.0]])) == 1


def test_quantiles_are_shares():
    with pytest.raises(ValueError, match=r"quantile=1\.5 must lie between 0 and 1"):
        rank.parallel(np.ones(2), np.ones((3, 2)), 1.5)


def test_a_choice_reads_like_a_table():
    choice = rank.Choice("a rule", 3, 19, 0.95, np.array([9.0, 4.0, 1.0, 0.5]), np.full(4, 2.0), 2)
    lines = str(choice).splitlines()
    assert choice.above == 2
    assert lines[0] == "2 components kept, 2 above noise: a rule"
    assert "seed 3" in lines[1]
    assert [line.split() for line in lines[3:]] == [
        ["PC1", "9", "2", "above"],
        ["PC2", "4", "2", "above"],
        ["PC3", "1", "2", "not", "above"],
        ["PC4", "0.5", "2", "not", "above"],
    ]


@pytest.mark.parametrize(
    ("m", "k", "listed"),
    [
        (60, 40, "PC1 PC2 PC3 … PC39 PC40 PC41 PC42"),
        (60, 60, "PC1 PC2 PC3 … PC59 PC60"),
        (60, 59, "PC1 PC2 PC3 … PC58 PC59 PC60"),
        (60, 7, "PC1 PC2 PC3 … PC6 PC7 PC8 PC9"),
        (60, 6, "PC1 PC2 PC3 PC4 PC5 PC6 PC7 PC8"),
        (8, 5, "PC1 PC2 PC3 PC4 PC5 PC6 PC7"),
        (1, 1, "PC1"),
    ],
)
def test_a_choice_of_many_lists_the_first_and_those_around_the_cut(m, k, listed):
    values = np.arange(m, 0, -1.0)
    choice = rank.Choice("a rule", 0, 19, 0.95, values, np.full(m, m - k + 0.5), k)
    assert choice.above == k
    rows = [line.split() for line in str(choice).splitlines()[3:]]
    assert " ".join(row[0] for row in rows) == listed
    for place, *row in rows:
        if place != "…":
            i = int(place.removeprefix("PC"))
            assert row == [f"{values[i - 1]:g}", f"{m - k + 0.5:g}", *(["above"] if i <= k else ["not", "above"])]


def test_stages_are_told_the_first_and_the_last():
    stages = ((0, 1), (2, 1), (3, 5), (4, 1), (6, 1), (7, 19), (8, 1))
    values, null = np.arange(12, 0, -1.0), np.full(12, 4.5)
    choice = rank.Choice("a rule", 3, 29, 0.95, values, null, 8, stages=stages)
    said = "PC1–PC2 (1 copy), PC3 (1 copy), PC4 (5 copies), …, PC8 (19 copies), nothing (1 copy)"
    assert str(choice).splitlines()[2] == f"found one after the other, each without those before: {said}"
    assert choice.compared == "29 copies with random signs, of the rows and of what PC1–PC8 left"
