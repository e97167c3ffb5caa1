"""Published numbers come out, and every table is what brute force makes of the definition."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from helpers.counts import usually
from ritz import PCA, DataError, KernelPCA, ParameterError, interpret, read

DATA = Path(__file__).parents[1] / "data"
EVENTS = pd.read_csv(DATA / "decathlon.csv", index_col=0)
RESULTS = pd.read_csv(DATA / "decathlon_results.csv", index_col=0)


@pytest.fixture(scope="module")
def decathlon():
    pca = PCA(5, scale=True, ddof=0).fit(EVENTS)
    return interpret(pca, EVENTS, supplementary=RESULTS)


def array(table):
    """The columns of components of a table."""
    return np.column_stack([table[name] for name in table.columns if name.startswith("PC")])


def as_printed(found, published):
    """Equal up to the sign of every component, to the digits that were printed."""
    found, published = np.atleast_2d(found), np.atleast_2d(published)
    sign = np.sign(np.einsum("ij,ij->j", found, published))
    return np.abs(found * sign - published).max() < 1.01e-6


# What FactoMineR prints of the decathlon (Husson, Lê and Pagès), 41 × 10, scaled, divided by n.
COORDINATES = """
-.774720 .187142 -.184407  .741900 -.345421 .182211  .622503 .598303 -.023378  .571945 .350294 -.259512
-.679610 .569438 .131470  -.746245 .228793 -.092637  .552467 .606313 .042952  .050342 -.180357 .691757
.277111 .316989 -.389655  -.058077 .474224 .782143
"""
CONTRIBUTIONS = {
    "PC1": [18.3438, 16.8225, 11.8435, 9.9979, 14.1162, 17.0201, 9.3285, 0.0775, 2.3470, 0.1031],
    "PC2": [2.0161, 6.8686, 20.6068, 7.0637, 18.6664, 3.0134, 21.1622, 1.8725, 5.7844, 12.9460],
}


def test_decathlon_columns(decathlon):
    published = np.array(COORDINATES.split(), dtype=float).reshape(10, 3)
    assert as_printed(array(decathlon.columns.coordinates)[:, :3], published)
    assert as_printed(array(decathlon.columns.correlations)[:, :3], published)  # columns were scaled
    assert np.allclose(array(decathlon.columns.cos2)[:, :3], published**2, atol=2e-6)
    for name, values in CONTRIBUTIONS.items():
        assert np.abs(decathlon.columns.contributions[name] - values).max() < 5.1e-5
    assert list(decathlon.columns.cos2.index) == list(EVENTS.columns)


def test_decathlon_supplementary_columns(decathlon):
    beside = decathlon.supplementary_columns
    published = [
        [-0.670510, 0.051398, -0.058343, 0.161408, -0.350026],
        [0.956154, -0.016516, -0.066352, -0.236008, 0.113626],
    ]
    assert beside.correlations.index == ["rank", "points"]
    assert as_printed(array(beside.correlations), published)
    assert as_printed(array(beside.coordinates), published)
    assert np.allclose(array(beside.cos2), np.square(published), atol=2e-6)


def test_decathlon_categories(decathlon):
    kinds = decathlon.categories
    assert list(kinds.coordinates.index) == ["competition=Decastar", "competition=OlympicG"]
    assert list(kinds.groups["rows"]) == [13, 28]
    decastar, olympic = array(kinds.coordinates)
    assert as_printed(decastar, [-0.600121, -0.037655, 0.288904, 0.139558, 0.401371])
    assert as_printed(olympic[:2], [0.278628, 0.017483])
    v = array(kinds.v_tests)
    assert as_printed(v[0], [-1.429753, -0.123120, 1.050392, 0.585018, 2.090235])
    assert np.allclose(v[0], -v[1], atol=1e-12)  # two groups are off by the same chance, in opposite directions


def test_decathlon_rows(decathlon):
    assert as_printed(array(decathlon.rows.coordinates)[0, :3], [4.038449, 1.365826, -0.289957])
    assert as_printed(array(decathlon.rows.contributions)[0, :3], [12.157506, 2.619234, 0.145959])
    assert as_printed(array(decathlon.rows.cos2)[0, :3], [0.695410, 0.079543, 0.003585])
    assert decathlon.rows.coordinates.index[0] == "Sebrle"


def test_decathlon_description(decathlon):
    """dimdesc: columns that are correlated with a component at the level of 5 percent, with their p-values."""
    found = decathlon.describe()["PC1 columns"].to_frame()
    r, p = stats.pearsonr(RESULTS["points"], array(decathlon.rows.coordinates)[:, 0])
    assert found.loc["points (supplementary)", "p"] == pytest.approx(p, rel=1e-6)
    assert found.loc["points (supplementary)", "correlation"] == pytest.approx(r)
    assert set(found.index) & {"pole vault", "javelin", "1500m"} == set()
    assert (np.diff(found["correlation"]) <= 0).all()
    assert "PC5 categories" in decathlon.describe().tables
    assert "PC1 categories" not in decathlon.describe().tables


def brute(X, ddof, scale, center, k):
    """Everything from an SVD of the preprocessed rows."""
    n = len(X)
    Z = X - X.mean(axis=0) if center else X.copy()
    if scale:
        Z = Z / np.sqrt((Z**2).sum(axis=0) / (n - ddof))
    _, _, V = np.linalg.svd(Z, full_matrices=False)
    return Z, V[:k].T


@settings(max_examples=usually(25, thorough=400), deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(4, 40),
    d=st.integers(1, 8),
    ddof=st.integers(0, 1),
    scale=st.booleans(),
    center=st.booleans(),
    whiten=st.booleans(),
)
def test_every_table_is_its_definition(seed, n, d, ddof, scale, center, whiten):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)
    k = int(rng.integers(1, min(n - 1, d) + 1))
    pca = PCA(k, scale=scale, center=center, ddof=ddof, whiten=whiten, svd_solver="svd").fit(X)
    beside = rng.standard_normal((n, 2))
    found = interpret(pca, X, supplementary=beside)
    Z, V = brute(X, ddof, scale, center, k)
    Y = Z @ (V * np.sign(np.einsum("ij,ij->j", V, pca.components_.T)))

    def cosines(S):
        S = S - S.mean(axis=0) if center else S
        return (S.T @ Y) / np.outer(np.linalg.norm(S, axis=0), np.linalg.norm(Y, axis=0))

    assert np.allclose(array(found.rows.coordinates), Y, atol=1e-9 * np.abs(Y).max())
    assert np.allclose(found.rows.distances["distance"], np.linalg.norm(Z, axis=1))
    assert np.allclose(array(found.rows.contributions), 100 * Y**2 / (Y**2).sum(axis=0), atol=1e-8)
    assert np.allclose(array(found.rows.cos2), Y**2 / (Z**2).sum(axis=1)[:, None], atol=1e-9)
    assert np.allclose(array(found.columns.correlations), cosines(Z), atol=1e-8)
    assert np.allclose(array(found.columns.contributions).sum(axis=0), 100)
    assert (array(found.columns.cos2).sum(axis=1) <= 1 + 1e-9).all()
    S, r = found.supplementary_columns, cosines(beside)
    assert np.allclose(array(S.correlations), r, atol=1e-8)
    about = beside - beside.mean(axis=0) if center else beside
    sizes = np.ones(2) if scale else np.sqrt((about**2).sum(axis=0) / (n - ddof))
    assert np.allclose(array(S.coordinates), r * sizes[:, None], atol=1e-8)
    if center:  # no factor of √n, or of anything else, between this and the plain correlation
        plain = np.corrcoef(beside.T, Y.T)[:2, 2:]
        assert np.allclose(array(S.correlations), plain, atol=1e-8)


@pytest.mark.parametrize("solver", ["covariance", "gram", "svd", "krylov"])
def test_correlations_are_known_after_every_solver(solver):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 30)) * np.linspace(5, 1, 30) + 3
    pca = PCA(3, svd_solver=solver, tol=1e-9).fit(X)
    plain = np.corrcoef(X.T, pca.transform(X).T)[:30, 30:]
    assert np.allclose(array(interpret(pca, X).columns.correlations), plain, atol=1e-6)


def test_a_sample_far_from_the_origin_and_of_any_size():
    rng = np.random.default_rng(2)
    X, beside = rng.standard_normal((60, 4)) * [4, 3, 2, 1], rng.standard_normal(60)
    plain = interpret(PCA(2).fit(X), X, supplementary=beside, labels=beside > 0)
    for factor, offset in ((1e-200, 0.0), (1e200, 0.0), (1e-300, 0.0), (1.0, 1e8)):
        far = X * factor + offset
        other = interpret(PCA(2).fit(far), far, supplementary=beside * factor + offset, labels=beside > 0)
        close = {"rtol": 1e-5, "atol": 1e-6}
        for part in ("correlations", "contributions", "cos2"):
            assert np.allclose(array(getattr(other.columns, part)), array(getattr(plain.columns, part)), **close), part
        for part in ("contributions", "cos2"):
            assert np.allclose(array(getattr(other.rows, part)), array(getattr(plain.rows, part)), **close), part
        for part in ("v_tests", "eta2", "cos2"):
            assert np.allclose(array(getattr(other.categories, part)), array(getattr(plain.categories, part)), **close)
        assert np.allclose(
            array(other.supplementary_columns.correlations), array(plain.supplementary_columns.correlations), **close
        )


def test_rows_of_any_kind_say_the_same(tmp_path):
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 6)) * np.arange(6, 0, -1)
    X[X < 0.3] = 0
    labels = np.array(list("abc"))[rng.integers(0, 3, 90)]
    np.save(tmp_path / "x.npy", X)
    pca = PCA(2).fit(X)
    plain = interpret(pca, X, supplementary={"s": X[:, 0] ** 2}, labels=labels)
    sources = [
        sparse.csr_array(X),
        tmp_path / "x.npy",
        da.from_array(X, chunks=(40, 6)),
        X.astype(np.float32),
        pl.DataFrame(X, schema=[f"x{j}" for j in range(6)]),
    ]
    for source in sources:
        found = interpret(PCA(2).fit(source), source, supplementary={"s": X[:, 0] ** 2}, labels=labels)
        close = {"rtol": 1e-4, "atol": 1e-4}
        assert np.allclose(array(found.columns.correlations), array(plain.columns.correlations), **close)
        assert np.allclose(array(found.rows.cos2), array(plain.rows.cos2), **close)
        assert np.allclose(array(found.categories.cos2), array(plain.categories.cos2), **close)
        assert np.allclose(array(found.categories.v_tests), array(plain.categories.v_tests), **close)
        assert np.allclose(
            array(found.supplementary_columns.correlations), array(plain.supplementary_columns.correlations), **close
        )


@pytest.mark.filterwarnings("ignore::ritz.ColumnWarning")
def test_columns_of_the_same_file(tmp_path):
    path = tmp_path / "decathlon.csv"
    EVENTS.join(RESULTS).to_csv(path)
    rows = read(path, columns=list(EVENTS.columns))
    pca = PCA(2, scale=True, ddof=0).fit(rows)
    found = interpret(pca, path, supplementary=["points", "rank"], labels="competition")
    published = [[0.956154, -0.016516], [-0.670510, 0.051398]]
    assert as_printed(array(found.supplementary_columns.correlations), published)
    assert list(found.categories.coordinates.index) == ["competition=Decastar", "competition=OlympicG"]
    with pytest.raises(DataError, match=r"'points' names a column of a file.*pass the values"):
        interpret(pca, EVENTS, supplementary="points")


def test_rows_beside_the_fit():
    pca = PCA(3, scale=True).fit(EVENTS[:30])
    found = interpret(pca, EVENTS[:30], supplementary_rows=EVENTS[30:]).supplementary_rows
    Z = ((EVENTS[30:] - pca.mean_) / pca.scale_).to_numpy()
    assert np.allclose(array(found.coordinates), pca.transform(EVENTS[30:]))
    assert np.allclose(array(found.cos2), (Z @ pca.components_.T) ** 2 / (Z**2).sum(axis=1)[:, None])
    assert list(found.distances.index) == list(EVENTS.index[30:])
    with pytest.raises(DataError, match="not part of the fit"):
        found.contributions  # noqa: B018
    assert set(found.to_frames()) == {"coordinates", "distances", "cos2"}


def test_rows_that_are_not_those_of_the_fit_are_refused():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50, 4)) * [4, 3, 2, 1]
    pca = PCA(2).fit(X)
    with pytest.raises(DataError, match=r"X has 40 rows.*fitted to 50.*supplementary_rows"):
        interpret(pca, X[:40])
    others = interpret(pca, rng.standard_normal((50, 4)))
    with pytest.raises(DataError, match=r"not those of the fit.*supplementary_rows"):
        others.rows.coordinates  # noqa: B018
    with pytest.raises(DataError, match="not those of the fit"):
        interpret(pca, X + 1.0, labels=np.arange(50) % 2)
    with pytest.raises(DataError, match="not those of the fit"):
        list(others.rows.blocks())


def test_what_cannot_be_interpreted():
    X = np.random.default_rng(5).standard_normal((20, 3))
    with pytest.raises(DataError, match=r"takes a fitted ritz\.PCA"):
        interpret(KernelPCA(1).fit(X), X)
    pca = PCA(1).fit(X)
    with pytest.raises(DataError, match=r"'points' has 19 values, but X has 20 rows"):
        interpret(pca, X, supplementary={"points": np.arange(19.0)})
    with pytest.raises(DataError, match=r"'label' has 21 values, but X has 20 rows"):
        interpret(pca, X, labels=["a"] * 21)
    with pytest.raises(DataError, match=r"'s' is infinite at row 3"):
        interpret(pca, X, supplementary={"s": [0.0, 1.0, 2.0, np.inf] * 5})
    with pytest.raises(DataError, match=r"'s' has no value at all"):
        interpret(pca, X, supplementary={"s": np.full(20, np.nan)})
    with pytest.raises(DataError, match=r"'day' holds dates"):
        interpret(pca, X, supplementary=pd.DataFrame({"day": pd.date_range("2020", periods=20)}))
    with pytest.raises(ParameterError, match="level=2"):
        interpret(pca, X).describe(2)


@pytest.mark.parametrize("shape", [(2, 1), (2, 5), (3, 1)])
def test_the_smallest_samples(shape):
    X = np.random.default_rng(6).standard_normal(shape)
    found = interpret(PCA(1).fit(X), X, supplementary={"s": X[:, 0]}, labels=["a"] * (len(X) - 1) + ["b"])
    frames = found.to_frames()
    assert not any(frame.isna().any().any() for frame in frames.values())
    assert np.allclose(frames["rows.contributions"].sum(), 100)
    if len(X) == 2:  # a line goes through any two points: nothing can be tested
        assert (frames["supplementary_columns.p_values"] == 1).all().all()
    assert str(found)
    assert str(found.describe(1.0))


def test_columns_and_axes_that_do_not_vary():
    X = np.random.default_rng(7).standard_normal((30, 4))
    X[:, 1] = 5.0
    X[:, 3] = X[:, 0] - X[:, 2]  # two directions have no variance
    with pytest.warns(UserWarning, match="rank"):
        pca = PCA(4).fit(X)
    found = interpret(pca, X, supplementary={"flat": np.full(30, 0.1), "s": X[:, 0]})
    frames = found.to_frames()
    assert not any(frame.isna().any().any() for frame in frames.values())
    for name in ("columns.contributions", "rows.contributions", "columns.correlations"):
        assert (frames[name][["PC3", "PC4"]] == 0).all().all(), name
    assert (frames["columns.correlations"].loc["x1"] == 0).all()
    assert (frames["supplementary_columns.correlations"].loc["flat"] == 0).all()
    assert "without variance, so 0: 'x1'" in str(found.columns.correlations)
    assert "constant, so 0: 'flat'" in str(found.supplementary_columns.correlations)


def test_gaps_in_supplementary_columns():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((50, 3)) * [3, 2, 1]
    s = X @ [1, 1, 0] + rng.standard_normal(50)
    s[[3, 7, 20]] = np.nan
    pca = PCA(2).fit(X)
    found = interpret(pca, X, supplementary=pd.DataFrame({"s": s, "t": np.arange(50)})).supplementary_columns
    there = ~np.isnan(s)
    Y = pca.transform(X)
    r, p = stats.pearsonr(s[there], Y[there, 0])
    assert found.correlations["PC1"][0] == pytest.approx(r, abs=1e-12)
    assert found.p_values["PC1"][0] == pytest.approx(p)
    assert list(found.counts["rows"]) == [47, 50]
    assert "'s' 47 of 50" in str(found.correlations)
    assert found.correlations["PC2"][1] == pytest.approx(np.corrcoef(np.arange(50), Y[:, 1])[0, 1], abs=1e-12)


def test_names_from_the_data_are_shown_harmlessly():
    X = pd.DataFrame(np.random.default_rng(9).standard_normal((20, 2)), columns=["\x1b[31mred", "a\u202eb"])
    X.index = [f"row\n{i}" for i in range(20)]
    pca = PCA(2).fit(X)
    labels = pd.Series(["\x1b]0;x\x07", "b"] * 10, name="k\nind")
    found = interpret(pca, X, supplementary={"\x07": np.arange(20.0)}, labels=labels)
    text = "\n".join([str(found), str(found.rows), str(found.categories), str(found.describe(1.0)), str(pca.summary())])
    text += str(pca.rotate()) + "".join(map(str, found.rows.leading().values()))
    assert not any(bad in text for bad in ("\x1b", "\u202e", "\x07", "k\nind", "row\n1"))


def test_a_model_of_a_covariance_and_its_rows():
    X = np.random.default_rng(10).standard_normal((40, 3)) * [3, 2, 1]
    pca = PCA.from_covariance(np.cov(X.T), mean=X.mean(axis=0))
    plain = interpret(PCA(3).fit(X), X)
    found = interpret(pca, X)
    assert np.allclose(array(found.rows.contributions), array(plain.rows.contributions))
    assert np.allclose(array(found.columns.correlations), array(plain.columns.correlations))


def test_tables_of_dask_and_of_pandas_name_their_rows():
    dd = pytest.importorskip("dask.dataframe")
    table = EVENTS.rename(columns=str).astype(float)
    pca = PCA(2, scale=True).fit(table)
    assert list(interpret(pca, table).rows.coordinates.index) == list(EVENTS.index)
    lazy = dd.from_pandas(table, npartitions=3)
    found = interpret(PCA(2, scale=True).fit(lazy), lazy)
    assert list(found.rows.coordinates.index) == list(range(41))
