"""Scores of new rows beside those of the rows of the fit, with planted components."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers.counts import usually
from ritz import PCA
from ritz.errors import DataError


def planted(rng, n, d, spikes):
    X = rng.standard_normal((n, d))
    X[:, : len(spikes)] *= np.sqrt(spikes)
    return X


def test_the_factor_is_what_halves_of_the_rows_show():
    """n=200 rows of 2000 columns: the regression of the scores of new rows, and of the rows of the fit, on the planted
    coordinate, as Lee, Zou and Wright have it."""
    rng, told, seen = np.random.default_rng(0), [], []
    for _ in range(usually(6, thorough=50)):
        X = planted(rng, 400, 2000, [120.0, 60.0])
        pca = PCA(2).fit(X[:200])
        own, new = pca.transform(X[:200]), pca.transform(X[200:])
        slopes = [
            [np.abs(Y[:, i] @ Z[:, i] / (Z[:, i] @ Z[:, i])) for i in range(2)]
            for Y, Z in ((own, X[:200]), (new, X[200:]))
        ]
        seen.append(np.divide(slopes[1], slopes[0]))
        told.append(pca.sampling().shrinkage)
    np.testing.assert_allclose(np.mean(told, axis=0), np.mean(seen, axis=0), rtol=0.03)
    assert (np.mean(told, axis=0) < 0.95).all()


def test_corrected_scores_have_the_size_of_those_of_the_fit():
    rng, ratios = np.random.default_rng(1), []
    for _ in range(usually(6, thorough=50)):
        X = planted(rng, 1200, 1500, [90.0])
        pca = PCA(1).fit(X[:200])
        ratios.append(
            [
                part.std() / pca.transform(X[:200]).std()
                for part in (pca.transform(X[200:]), pca.corrected_scores(X[200:]))
            ]
        )
    plain, corrected = np.mean(ratios, axis=0)
    assert plain < 0.95
    assert corrected == pytest.approx(1, abs=0.05)


def test_many_rows_have_nothing_to_correct():
    X = planted(np.random.default_rng(0), 5000, 5, [20.0, 8.0])
    pca = PCA(2).fit(X)
    np.testing.assert_allclose(pca.corrected_scores(X), pca.transform(X), rtol=2e-3)


def test_frames_stay_frames_and_types_stay():
    X = pd.DataFrame(planted(np.random.default_rng(0), 60, 100, [90.0]).astype(np.float32))
    X.columns = [f"c{j}" for j in range(100)]
    pca = PCA(1).set_output(transform="pandas").fit(X)
    found = pca.corrected_scores(X)
    assert isinstance(found, pd.DataFrame)
    assert found.dtypes.iloc[0] == np.float32
    same = PCA(1).set_output(transform="polars").fit(X).corrected_scores(X)
    assert isinstance(same, pl.DataFrame)
    assert same.dtypes == [pl.Float32]
    np.testing.assert_allclose(same.to_numpy(), found.to_numpy(), rtol=1e-6)


def test_chunks_and_arrays_of_other_libraries_stay_what_they_are():
    import array_api_strict as xp
    import dask.array as da

    X = planted(np.random.default_rng(0), 200, 20, [90.0])
    expected = PCA(1).fit(X).corrected_scores(X)
    chunks, strict = da.from_array(X, chunks=(50, 20)), xp.asarray(X)
    lazy = PCA(1).fit(chunks).corrected_scores(chunks)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-10)
    found = PCA(1).fit(strict).corrected_scores(strict)
    assert type(found) is type(strict)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-10)


def test_noise_is_not_corrected():
    X = planted(np.random.default_rng(0), 50, 400, [90.0])
    pca = PCA(3).fit(X)
    with pytest.raises(DataError, match=r"noise alone reaches the variance of PC2, PC3 in 50 rows.*fit 1 component"):
        pca.corrected_scores(X)
