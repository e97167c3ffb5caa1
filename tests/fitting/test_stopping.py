"""Copies that are not made would not change the count: against all 19, by dense matrices and one table of signs."""

import numpy as np
import pytest

from helpers import flips
from helpers.counts import usually
from ritz import PCA
from ritz.fitting.rank import FLIPS
from ritz.fitting.signflip_plans import LITTLE
from ritz.fitting.stopping import LEAST, PLACES, Comparison

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.filterwarnings("ignore:no component stands")]

NOISE = {
    "equal": lambda rng, n, d: rng.standard_normal((n, d)),
    "unequal columns": lambda rng, n, d: rng.standard_normal((n, d)) * np.geomspace(1, 5, d),
    "one large column": lambda rng, n, d: rng.standard_normal((n, d)) * np.r_[4.0, np.ones(d - 1)],
    "unequal rows": lambda rng, n, d: rng.standard_normal((n, d)) * np.geomspace(1, 5, n)[:, None],
    "t, 5 degrees of freedom": lambda rng, n, d: rng.standard_t(5, (n, d)),
    "t, 2 degrees of freedom": lambda rng, n, d: rng.standard_t(2, (n, d)),
    "counts": lambda rng, n, d: rng.poisson(0.3, (n, d)).astype(float),
}


@pytest.mark.parametrize("shape", [(400, 50), (50, 400), (1500, 50)])
@pytest.mark.parametrize("noise", NOISE)
def test_the_count_is_that_of_all_copies(noise, shape):
    stopped = 0
    for seed in range(usually(10, thorough=100)):
        rng = np.random.default_rng(seed)
        E = NOISE[noise](rng, *shape)
        edge = np.linalg.norm(E - E.mean(axis=0), 2) ** 2
        # Components around the edge of the noise, where they are hard to tell from it, and far above.
        axes = np.linalg.qr(rng.standard_normal((shape[1], 4)))[0]
        scores = np.linalg.qr(rng.standard_normal((shape[0], 4)))[0]
        X = E + scores * np.sqrt(edge * np.array([9.0, 1.5, 0.6, 0.3])) @ axes.T
        truth = flips.stages(X)
        choice = PCA("auto").fit(X).rank_choice_
        assert choice.above == truth[-1][0]
        assert {copies for _, copies in choice.stages} <= {1, LEAST, 10, 15, FLIPS}
        last, copies = choice.stages[-1][1], truth[-1][2]
        assert np.allclose(choice.null[choice.above :], copies[:last].max(), rtol=1e-4)
        stopped += choice.flips < FLIPS * len(truth)
    assert stopped or noise in ("one large column", "t, 2 degrees of freedom")


@pytest.mark.parametrize("noise", NOISE)
def test_noise_stands_above_it_once_in_twenty_times(noise):
    trials, most = usually((60, 9), thorough=(150, 17))
    found = [PCA("auto").fit(NOISE[noise](np.random.default_rng(seed), 400, 50)).rank_choice_ for seed in range(trials)]
    # 60 trials at 5 %: more than 9 happen once in a thousand times, as more than 17 of 150 do.
    assert np.count_nonzero([choice.above for choice in found]) <= most
    # The largest value of noise may have any place among those of the copies: mostly an early one exceeds it.
    assert np.mean([choice.flips for choice in found]) < FLIPS / 2


def test_copies_that_were_not_made_are_not_claimed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 40)) + 5 * rng.standard_normal((2000, 1)) @ np.full((1, 40), 0.3)
    pca = PCA("auto").fit(X)
    choice = pca.rank_choice_
    assert (choice.k, choice.flips, choice.stages) == (1, 2, ((0, 1), (1, 1)))
    lines = str(choice).splitlines()
    said = "2 copies with random signs, of the rows and of what PC1 left"
    assert lines[1] == f"null: the largest variance in {said}, which settle the count (seed 0)"
    assert lines[2] == "found one after the other, each without those before: PC1 (1 copy), nothing (1 copy)"
    assert pca.plan_.why.endswith(f"1 component stood above the noise of {said}")
    little = PCA("auto").fit(X[: LITTLE // 40])
    assert little.rank_choice_.stages == ((0, FLIPS), (1, FLIPS))
    nothing = PCA("auto").fit(rng.standard_normal((LITTLE // 40, 40)))
    assert nothing.rank_choice_.stages == ((0, FLIPS),)
    assert "quantile of the largest variance in 19 copies" in str(nothing.rank_choice_)


def test_no_value_above_settles_it_at_once():
    seen = Comparison(values=np.array([1.0, 0.5]))
    assert not seen.settled
    seen.add(np.full(PLACES, 0.9))
    assert (seen.above, seen.settled) == (1, False)
    seen.add(np.full(PLACES, 1.1))
    assert (seen.above, seen.settled, seen.count) == (0, True, 2)


def test_a_value_must_be_out_of_reach_of_the_next_copies():
    top = np.array([2.0, 1.9, 1.8, 1.7, 1.6])  # 0.4 between the first and the last
    for value, settled in ((2.4, False), (2.6, True)):
        seen = Comparison(values=np.array([9.0, value, 1.5]))
        for count in range(1, LEAST + 1):
            seen.add(top)
            assert seen.settled == (settled and count == LEAST)
        seen.add(None)  # one that does not exceed them
        assert (seen.count, seen.bar, seen.above) == (LEAST + 1, 2.0, 2)


def test_few_eigenvalues_do_not_tell_how_far_copies_reach():
    seen = Comparison(values=np.array([9.0, 1.0]))
    for _ in range(FLIPS):
        seen.add(np.array([2.0, 1.0]))
        assert not seen.settled


def test_copies_are_raised_by_what_centring_took():
    seen = Comparison(1.5, 0.01, np.array([4.0, 3.02]))
    seen.add(np.full(PLACES, 2.0))
    assert seen.bar == pytest.approx(3.04)
    assert seen.above == 1


def test_a_guess_goes_ahead_as_far_as_the_bar_sinks():
    values = np.array([100.0, 50.0, 3.0, 2.0, 1.5, *np.full(95, 1.0)])
    seen = Comparison(values=values)
    seen.add(np.linspace(2.4, 2.3, PLACES))  # in reach of later copies are 2.4 + 1.5 · 1.25 · 0.1 = 2.59
    assert seen.clear == 3
    # Without the three, 98.5 of 251.5 is left: more than a guess may go ahead by.
    assert seen.ahead(3, 10**9, 10**9) == 3
    flat = Comparison(values=np.array([3.0, 2.58, 2.55, *np.full(97, 1.0)]))
    flat.add(np.linspace(2.4, 2.3, PLACES))
    # Without the first, 1.02 · 2.59 · 102.13 / 105.13 = 2.56; without two, 2.50.
    assert (flat.clear, flat.ahead(1, 10**9, 10**9)) == (1, 3)
    assert flat.ahead(1, 100, 100) == 1  # of few rows and columns, every component takes noise along
