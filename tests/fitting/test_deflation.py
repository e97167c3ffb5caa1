"""Components that are subtracted before signs are flipped: by dense matrices, and by simulation with planted ones."""

import numpy as np
import pytest

from helpers import flips
from helpers.counts import usually
from ritz import PCA
from ritz.fitting import signflip_plans
from ritz.fitting.deflation import Deflation

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.filterwarnings("ignore:no component stands")]

NOISE = {
    "equal": lambda rng, n, d: rng.standard_normal((n, d)),
    "unequal columns": lambda rng, n, d: rng.standard_normal((n, d)) * np.geomspace(1, 5, d),
    "unequal rows": lambda rng, n, d: rng.standard_normal((n, d)) * np.geomspace(1, 5, n)[:, None],
    "t, 5 degrees of freedom": lambda rng, n, d: rng.standard_t(5, (n, d)),
    "rare events": lambda rng, n, d: (rng.random((n, d)) < 0.05).astype(float),
}


def shadowed(rng, n, d, noise, sizes):
    """Components of these variances, as multiples of the largest of the noise."""
    E = NOISE[noise](rng, n, d)
    edge = np.linalg.norm(E - E.mean(axis=0), 2)
    scores, axes = (np.linalg.qr(rng.standard_normal((m, len(sizes))))[0] for m in (n, d))
    return E + edge * scores * np.sqrt(sizes) @ axes.T


def subtracted(n, d, r, center):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, d)) + 30 * np.outer(rng.standard_normal(n), np.ones(d))
    Z -= center * Z.mean(axis=0)
    U, sizes, Vt = np.linalg.svd(Z, full_matrices=False)
    return Z, U[:, :r], sizes[:r] ** 2, Vt[:r].T


@pytest.mark.parametrize("center", [True, False])
def test_what_is_left_is_as_noisy_as_the_rows(center):
    n, d, r = 40, 9, 2
    Z, U, levels, V = subtracted(n, d, r, center)
    rest, taken = Z - U @ (U.T @ Z), 1 - center / n - np.sum(U**2, axis=1)
    noisy = rest * np.sqrt((1 - center / n) / taken)[:, None] / np.sqrt(1 - np.sum(V**2, axis=1))
    by_rows, by_columns = Deflation(V, levels, 0.0, center / n), Deflation(U, levels, center / n, 0.0)
    for lines, without, left, truth in ((Z, by_rows, rest, noisy), (Z.T, by_columns, rest.T, noisy.T)):
        found = lines.copy()
        parts = without.rest(found)
        assert np.allclose(found, left)
        without.compensate(found, parts)
        assert np.allclose(found, truth)


def test_components_that_come_later_are_orthogonal_to_those_before():
    Z, _, levels, V = subtracted(40, 9, 3, True)
    slanted = V[:, 1:] + 1e-6 * V[:, :1]
    both = Deflation(V[:, :1], levels[:1]).further(slanted, levels[1:])
    assert np.allclose(both.axes.T @ both.axes, np.eye(3), atol=1e-14)
    assert np.allclose(both.axes @ both.axes.T, V @ V.T)
    lines = Z.copy()
    both.rest(lines)
    assert np.allclose(lines, Z - Z @ V @ V.T)


@pytest.mark.parametrize("kind", ["scatter", "gram", "krylov"])
def test_every_route_finds_what_dense_matrices_find(kind, monkeypatch):
    shape = (60, 400) if kind == "gram" else (400, 60)
    route = signflip_plans._krylov if kind == "krylov" else lambda *how: signflip_plans.by_matrices(kind, *how)
    monkeypatch.setattr(signflip_plans, "route", route)
    X = shadowed(np.random.default_rng(0), *shape, "unequal columns", [1e8, 1e4, 30.0, 3.0])
    truth, choice = flips.stages(X), PCA("auto").fit(X).rank_choice_
    assert choice.above == truth[-1][0] == 4
    for (removed, values, copies), (before, made) in zip(truth, choice.stages, strict=True):
        assert removed == before
        assert np.allclose(choice.values[removed], values[0], rtol=1e-4)
        assert choice.null[removed] == pytest.approx(copies[:made].max(), rel=5e-3)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (100, 100)])
@pytest.mark.parametrize(
    ("ratio", "dtype"),  # beyond 1e6 float32 data has no digits left for the smaller ones
    [*((ratio, np.float64) for ratio in (1e1, 1e3, 1e6, 1e9)), *((ratio, np.float32) for ratio in (1e1, 1e3, 1e6))],
)
def test_a_component_in_the_shadow_of_larger_ones_is_found(ratio, shape, dtype):
    found = []
    for seed in range(usually(5, thorough=50)):
        X = shadowed(np.random.default_rng(seed), *shape, "equal", [3 * ratio, 3.0])
        found.append(PCA("auto", random_state=seed).fit(X.astype(dtype)).n_components_)
    assert found.count(2) >= 0.95 * len(found)


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("shape", [(100, 20), (30, 90)])
def test_noise_behind_components_stands_above_it_no_more_than_once_in_twenty_times(noise, shape):
    trials, most = usually((60, 9), thorough=(400, 35))
    counts = [
        PCA("auto", random_state=seed)
        .fit(shadowed(np.random.default_rng(seed), *shape, noise, [1e5, 30.0, 6.0]))
        .n_components_
        for seed in range(trials)
    ]
    # At 5 %, more than 9 of 60 happen once in a thousand times, as more than 35 of 400 do.
    assert sum(count > 3 for count in counts) <= most
    assert sum(count < 3 for count in counts) <= most


@pytest.mark.parametrize("shape", [(200, 30), (5000, 30)])
def test_a_factor_of_one_column_or_one_row_is_noise_also_in_the_shadow(shape):
    rng = np.random.default_rng(0)
    X = shadowed(rng, *shape, "equal", [1e4])
    column, row = X.copy(), X.copy()
    column[:, 3] += 20 * rng.standard_normal(shape[0])
    row[7] += 20 * rng.standard_normal(shape[1])
    assert [PCA("auto").fit(data).n_components_ for data in (X, column, row)] == [1, 1, 1]


def test_groups_of_noisy_columns_are_noise_also_in_the_shadow():
    rng = np.random.default_rng(0)
    E = rng.standard_normal((3000, 60)) * np.r_[np.full(12, 8.0), np.ones(48)]
    X = E + 300 * np.outer(rng.standard_normal(3000), np.ones(60) / np.sqrt(60))
    assert PCA("auto").fit(X).n_components_ == 1


def test_nothing_is_left_of_data_of_low_rank():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) * [1e3, 30, 1] @ rng.standard_normal((3, 20))
    assert PCA("auto").fit(X).n_components_ <= 3
