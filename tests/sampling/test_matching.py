"""What is arbitrary in a resample is taken out, and nothing else."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ritz.sampling.matching import Matched, largest_sines, merged

RNG = np.random.default_rng(0)
FIT, _ = np.linalg.qr(RNG.standard_normal((7, 4)))
GROUPS = ((0, 1), (1, 3), (3, 4))


def rotated(angle):
    turn = np.diag([-1.0, 1, 1, -1])
    turn[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return turn


def matched(axes, by_entry=False):
    found = Matched(FIT, np.ones(4), GROUPS, by_entry)
    found.add(np.asarray(axes), np.ones((len(axes), 4)))
    return found


@pytest.mark.parametrize("by_entry", [True, False])
def test_signs_and_turns_within_groups_are_no_difference(by_entry):
    found = matched([FIT @ rotated(angle) for angle in (0.0, 1.0, 3.0)], by_entry)
    assert np.max(np.concatenate(found.sines)) < 1e-12
    assert np.abs(found.offsets).max() < 1e-12
    assert np.abs(found.squares).max() < 1e-12


def test_a_turn_across_groups_is_measured():
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]]
    [sines] = matched([FIT @ turn]).sines
    np.testing.assert_allclose(sines[0], [np.sin(0.3), np.sin(0.3), 0.0, 0.0], atol=1e-12)  # and the span of all


def test_a_swap_of_two_axes_is_seen():
    """Components are not put in another order until they look alike: a sample that swaps them does not tell them."""
    [sines] = matched([FIT[:, [3, 1, 2, 0]]]).sines
    np.testing.assert_allclose(sines[0], [1, 0, 1, 0], atol=1e-12)


def test_standard_errors_are_those_of_aligned_entries():
    noise = FIT + 0.1 * RNG.standard_normal((50, 7, 4))
    axes = np.stack([np.linalg.qr(A)[0] for A in noise])
    axes = axes * np.where(np.einsum("cij,ij->cj", axes, FIT) < 0, -1.0, 1.0)[:, None]
    flipped = axes * RNG.choice([-1.0, 1.0], (50, 1, 4))
    singles = Matched(FIT, np.ones(4), tuple((i, i + 1) for i in range(4)), by_entry=True)
    whole = Matched(FIT, np.ones(4), singles.groups, by_entry=False)
    for found in (singles, whole):
        found.add(flipped[:20], np.ones((20, 4)))
        found.add(flipped[20:], np.ones((30, 4)))
    for i in range(4):
        expected = np.cov(axes[:, :, i].T)
        np.testing.assert_allclose(whole.spread(i, False), expected, atol=1e-12)
        np.testing.assert_allclose(singles.spread(i, True), np.diag(expected), atol=1e-12)


def test_largest_sines_are_those_of_principal_angles():
    from scipy.linalg import subspace_angles

    others = np.stack([np.linalg.qr(RNG.standard_normal((7, 3)))[0] for _ in range(5)])
    expected = [np.sin(subspace_angles(FIT[:, :3], other).max()) for other in others]
    np.testing.assert_allclose(largest_sines(FIT[:, :3], others), expected, atol=1e-10)


edges = st.integers(1, 12).flatmap(lambda k: st.tuples(st.just(k), *[st.sets(st.integers(0, k - 1))] * 2))


@given(edges)
def test_merged_ranges_hold_whole_ranges_of_both(drawn):
    k, *starts = drawn
    both = [tuple(zip(s, [*s[1:], k], strict=True)) for s in (sorted({0, *some}) for some in starts)]
    found = merged(*both)
    assert found[0][0] == 0
    assert found[-1][1] == k
    assert all(end == start for (_, end), (start, _) in itertools.pairwise(found))
    assert all(any(s <= a and b <= e for s, e in found) for ranges in both for a, b in ranges)
