"""Shapes, sizes and kinds of data at the edge: a right answer, or a clear error."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from helpers.monitoring import by_definition
from ritz import PCA, DataError
from ritz.monitoring.reading import Farthest

RNG = np.random.default_rng(0)
DATA = RNG.standard_normal((90, 2)) @ RNG.standard_normal((2, 7)) * 3 + RNG.standard_normal((90, 7))
NEW = DATA[:20] + RNG.standard_normal((20, 7))
DATA_32, NEW_32 = DATA.astype(np.float32), NEW.astype(np.float32)


def flags(pca, fit, new):
    return [pca.monitor(rows).flags.tolist() for rows in (fit, new)]


PLAIN = flags(PCA(2).fit(DATA), DATA, NEW)


@pytest.mark.parametrize("factor", [1e-200, 1e-160, 1e-30, 1e30, 1e150, 1e200])
def test_units_change_nothing(factor):
    pca = PCA(2).fit(DATA * factor)
    assert flags(pca, DATA * factor, NEW * factor) == PLAIN
    found, plain = pca.monitor(NEW * factor), PCA(2).fit(DATA).monitor(NEW)
    assert np.allclose(found.t2, plain.t2, rtol=1e-8)
    assert np.allclose(np.array(found.limits["limit"])[:2], np.array(plain.limits["limit"])[:2], rtol=1e-8)
    assert pca.monitor(DATA * factor).of_fit
    if 1e-150 < factor < 1e150:
        assert np.allclose(found.spe / factor**2, plain.spe, rtol=1e-8)
    parts = found.contributions([3]).t2_values.sum()
    assert parts == pytest.approx(found.t2[3], rel=1e-8)


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_offsets_change_nothing(offset):
    X, Y = DATA + offset, NEW + offset
    pca = PCA(2).fit(X)
    assert flags(pca, X, Y) == PLAIN
    assert pca.monitor(X).of_fit
    t2, spe = by_definition(X - offset, 2, rows=Y - offset)  # the same rows, as they were rounded
    found = pca.monitor(Y)
    assert np.allclose(found.t2, t2, rtol=1e-5)
    assert np.allclose(found.spe, spe, rtol=1e-5)


@pytest.mark.parametrize(
    ("fit", "new"),
    [
        (DATA_32, NEW_32),
        (sp.csr_array(DATA), sp.csr_array(NEW)),
        (sp.csc_array(DATA), sp.csr_array(NEW)),
        (np.asfortranarray(DATA), NEW[::1]),
        (DATA.tolist(), NEW.tolist()),
        (pd.DataFrame(DATA), pd.DataFrame(NEW)),
    ],
)
def test_every_kind_of_rows_gives_the_same(fit, new):
    pca = PCA(2).fit(fit)
    assert pca.monitor(fit).of_fit
    assert flags(pca, fit, new) == PLAIN
    listed = pca.monitor(new)
    assert np.allclose(listed.contributions([5]).t2_values.sum(), listed.t2[5], rtol=1e-4)


def test_files_in_blocks_give_the_same(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50_000, 7)) * [5, 4, 1, 1, 1, 1, 1]
    X[31_234] *= 30
    np.save(tmp_path / "x.npy", X)
    pd.DataFrame(X[:3000], columns=list("abcdefg")).to_parquet(tmp_path / "x.parquet")
    pca = PCA(2).fit(X)
    whole = pca.monitor(X)
    for rows in (tmp_path / "x.npy", np.load(tmp_path / "x.npy", mmap_mode="r")):
        found = pca.monitor(rows)
        assert found.of_fit
        assert list(found.odd.index) == list(whole.odd.index)
        assert found.odd["columns to blame"] == whole.odd["columns to blame"]
        assert np.allclose(found.spe, whole.spe)
    assert whole.odd.index[0] == 31_234
    assert pca.monitor(ritz.read(tmp_path / "x.parquet")).t2.shape == (3000,)


def test_rows_are_read_once():
    class Counted(ritz.rows.Rows):
        dtype, shape = np.dtype(float), DATA.shape
        seen = 0

        def read(self, start, stop):
            type(self).seen += stop - start
            return DATA[start:stop]

    pca = PCA(2).fit(DATA)
    found = pca.monitor(Counted())
    assert Counted.seen == len(DATA)
    found.contributions()  # of listed rows, whose numbers are kept
    assert Counted.seen == len(DATA)
    assert found.n_passes == 1


def test_dask_collections_and_their_chunks():
    da = pytest.importorskip("dask.array")
    pca = PCA(2).fit(DATA)
    found = pca.monitor(da.from_array(DATA, chunks=(25, 7)))
    assert found.of_fit
    assert np.allclose(found.t2, pca.monitor(DATA).t2)
    assert list(found.odd.index) == list(pca.monitor(DATA).odd.index)


def test_columns_of_a_table_are_compared_by_name():
    table = pd.DataFrame(DATA, columns=list("abcdefg"))
    pca = PCA(2).fit(table)
    assert "a" in pca.monitor(table).contributions([0]).t2.index
    with pytest.raises(ValueError, match="feature names"):
        pca.monitor(table[list("gfedcba")])
    with pytest.raises(ValueError, match="7 features"):
        pca.monitor(DATA[:, :5])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_missing_is_named(bad):
    table = pd.DataFrame(DATA.copy(), columns=list("abcdefg"))
    table.loc[13, "c"] = bad
    with pytest.raises(DataError, match=r"row 13.*'c'|'c'.*row 13"):
        PCA(2).fit(pd.DataFrame(DATA, columns=list("abcdefg"))).monitor(table)


@pytest.mark.parametrize(
    ("n", "d", "k"), [(2, 1, 1), (2, 5, 1), (3, 2, 2), (3, 9, 2), (4, 4, 3), (12, 40, 11), (5, 1, 1)]
)
@pytest.mark.parametrize("center", [True, False])
def test_components_that_leave_nothing_flag_no_row_of_the_fit(n, d, k, center):
    """T² of rows of the fit is then the same for all, and SPE is rounding: neither is beyond a limit."""
    X = np.random.default_rng(n).standard_normal((n, d)) * 7 + 100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pca = PCA(k, center=center).fit(X)
    for method in ("auto", "jm", "box", "moments", "pls_toolbox"):
        found = pca.monitor(X, limits=method, rows="fit")
        assert not np.isnan(found.limits["limit"]).any()
        if len(X) - center == k or d == k:
            assert not found.spe_flags.any()
        if len(X) - center == k and method != "pls_toolbox":
            assert not found.t2_flags.any()
    away = X[:1] + np.eye(d)[:1] * 50
    new = pca.monitor(away, rows="new")
    assert np.isfinite(new.t2).all()
    if d > k:
        assert new.spe[0] > 0


def test_a_row_off_a_plane_that_holds_all_others_is_odd():
    X = RNG.standard_normal((40, 2)) @ RNG.standard_normal((2, 6)) + 50
    pca = PCA(2).fit(X)
    assert not pca.monitor(X).spe_flags.any()
    found = pca.monitor(X[:1] + 1e-3)
    assert found.limits["method"][2:] == ["rounding"] * 2
    assert found.spe_flags[0] == 2


def test_components_without_variance_are_left_out_and_told():
    X = RNG.standard_normal((30, 2)) @ RNG.standard_normal((2, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PCA(4, svd_solver="svd").fit(X).monitor(X)
    assert found.k == 2
    assert "PC3–PC4 have no variance" in found.notes[0]
    assert found.t2.sum() == pytest.approx(29 * 2)


def test_rows_that_are_all_alike():
    X = np.full((6, 3), 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pca = PCA(1).fit(X)
    found = pca.monitor(X)
    assert found.k == 0
    assert not found.flags.any()
    assert pca.monitor(X + 1).spe_flags.tolist() == [2] * 6


def test_constant_columns_and_ties():
    X = np.column_stack([DATA, np.full(90, 3.0)])
    pca = PCA(2).fit(X)
    assert pca.monitor(X).flags.tolist() == PLAIN[0]
    moved = X[:1].copy()
    moved[0, -1] = 4.0  # a column that never changed has
    found = pca.monitor(moved)
    assert found.contributions([0]).residual_values[0, -1] == pytest.approx(1.0)
    tied = np.vstack([np.eye(4), -np.eye(4)] * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PCA(2).fit(tied).monitor(tied)
    assert not np.isnan(found.limits["limit"]).any()


def test_a_covariance_without_rows_gives_the_limits_of_known_axes():
    C = np.cov(DATA.T)
    found = PCA.from_covariance(C, mean=DATA.mean(axis=0), n_components=2).monitor(NEW)
    assert found.limits["method"][:2] == ["χ²", "χ²"]
    assert found.limits["limit"][0] == pytest.approx(5.9915, abs=1e-4)
    assert "n_rows is unknown" in found.limits["why"][0]
    assert found.leverage is None
    assert np.allclose(found.t2, PCA(2).fit(DATA).monitor(NEW).t2)
    assert "leverage" not in found.to_frame().columns


def test_partial_fits_and_merged_models_are_monitored_too():
    batches = PCA(2)
    for start in range(0, 90, 30):
        batches.partial_fit(DATA[start : start + 30])
    assert flags(batches, DATA, NEW) == PLAIN
    halves = [PCA(2).fit(DATA[:45]), PCA(2).fit(DATA[45:])]
    assert flags(ritz.merge(halves), DATA, NEW) == PLAIN


def test_what_is_kept_of_a_pass_is_bounded():
    kept = Farthest(5, 0.0, 0.0)
    for start in range(0, 1000, 50):
        t2, spe = RNG.random(50), RNG.random(50)
        some = kept.among(t2, spe)
        kept.add(some + start, t2[some], spe[some], t2[some, None])
        assert len(kept.rows) <= 4 * 5 + 10


def test_two_numbers_and_two_flags_are_kept_of_a_row(tmp_path):
    """Rows may be more than fit into memory."""
    pca = PCA(2).fit(np.random.default_rng(0).standard_normal((500, 4)))

    def least(n):
        """The least peak of some runs: how many blocks are in memory at once is a matter of threads."""
        np.save(tmp_path / "rows.npy", np.random.default_rng(1).standard_normal((n, 4)))
        return min(peak() for _ in range(4))

    def peak():
        tracemalloc.start()
        pca.monitor(tmp_path / "rows.npy", out=tmp_path / "odd.npy")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert (least(900_000) - least(300_000)) / 600_000 < 22


def test_limits_of_smaller_levels_are_not_below_those_of_larger_ones():
    X = np.random.default_rng(2).standard_normal((4, 9))
    found = PCA(1, center=False).fit(X).monitor(X[:2], rows="new", alpha=(0.1, 0.05, 0.01, 0.001))
    assert (np.diff(np.reshape(found.limits["limit"], (2, 4)), axis=1) >= 0).all()
