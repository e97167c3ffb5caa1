"""What a model says of itself without its rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from ritz import PCA, ParameterError, load, merge

WINE = load_wine(as_frame=True).data


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"ddof": 0}, {"svd_solver": "svd"}])
def test_components_are_those_of_the_rows(options):
    pca = PCA(3, **options).fit(WINE)
    found = pca.summary(2)
    assert list(found.components) == ["PC1", "PC2"]
    Y = pca.transform(WINE)
    for i, table in enumerate(found.components.values()):
        frame = table.to_frame()
        for name in WINE:
            r = np.corrcoef(WINE[name], Y[:, i])[0, 1]
            assert frame.loc[name, "correlation"] == pytest.approx(r, abs=1e-8)
            assert frame.loc[name, "cos²"] == pytest.approx(r**2, abs=1e-8)
        assert (np.diff(frame["contribution %"]) <= 0).all()
        assert frame["contribution %"].sum() == pytest.approx(100)
        assert np.allclose(
            frame["contribution %"], 100 * pca.components_[i, [list(WINE).index(c) for c in frame.index]] ** 2
        )
    loadings = found.loadings.to_frame()
    assert list(loadings.index) == list(WINE.columns)
    assert np.allclose(loadings, pca.loadings_)
    shares = found.eigenvalues.to_frame()
    assert np.allclose(shares["share"], pca.explained_variance_ratio_)
    assert np.allclose(shares["cumulative"], np.cumsum(pca.explained_variance_ratio_))


def test_models_of_parts_and_of_files_know_the_same(tmp_path):
    whole = PCA(2).fit(WINE)
    whole.save(tmp_path / "m.safetensors")
    parts = [PCA(2).fit(WINE[:90]), PCA(2).fit(WINE[90:])]
    for model in (load(tmp_path / "m.safetensors"), merge(parts)):
        for name, table in whole.summary().components.items():
            assert np.allclose(model.summary().components[name].to_frame(), table.to_frame(), atol=1e-7)


@pytest.mark.filterwarnings("ignore:a component with larger variance")
def test_what_is_not_known_is_said():
    X = np.random.default_rng(0).standard_normal((1500, 1200))
    X[:, 0] *= 20
    pca = PCA(1, svd_solver="krylov").fit(X)
    assert pca._moments is None
    found = pca.summary().components["PC1"]
    assert list(found.columns) == ["loading", "contribution %"]
    assert "ritz.interpret(model, X) computes the correlations" in str(found)
    scaled = PCA(1, scale=True, svd_solver="krylov").fit(X).summary().components["PC1"]
    assert "correlation" in scaled.columns


def test_all_of_the_variance_of_a_wide_table_is_known():
    X = np.random.default_rng(1).standard_normal((8, 40))
    pca = PCA(svd_solver="gram").fit(X)
    frame = pca.summary(1).components["PC1"].to_frame()
    r = np.corrcoef(X.T, pca.transform(X)[:, 0])[-1, :-1]
    assert np.allclose(frame.loc[[f"x{j}" for j in range(40)], "correlation"], r, atol=1e-7)


def test_rows_that_were_not_centred_have_cosines():
    X = WINE.to_numpy()
    pca = PCA(1, center=False).fit(X)
    frame = pca.summary().components["PC1"].to_frame()
    y = pca.transform(X)[:, 0]
    cosine = X.T @ y / np.linalg.norm(X, axis=0) / np.linalg.norm(y)
    assert np.allclose(frame.loc[[f"x{j}" for j in range(13)], "correlation"], cosine)
    assert "cosines about the origin" in str(pca.summary())


def test_it_prints_the_first_lines_and_becomes_frames():
    wide = pd.DataFrame(np.random.default_rng(2).standard_normal((50, 30)))
    found = PCA(5).fit(wide).summary()
    assert "… and 20 more rows" in str(found)
    assert set(found.to_frames()) == {"eigenvalues", "loadings", "PC1", "PC2", "PC3"}
    assert list(PCA(2).fit(wide).summary(9).components) == ["PC1", "PC2"]
    with pytest.raises(ParameterError, match="n=0 must be an integer >= 1"):
        PCA(2).fit(wide).summary(0)
    with pytest.raises(Exception, match="not fitted"):
        PCA(2).summary()
