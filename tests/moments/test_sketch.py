"""Streams too wide for moments: what a sketch lacks is positive and bounded, and every claim made from it holds."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import ritz.moments.sketch
from helpers.counts import usually
from helpers.matrices import SPECTRA, broken_claims, preprocess, random_orthonormal, sine, with_spectrum
from helpers.memory import traced
from ritz import PCA, AccuracyWarning, DataError, merge
from ritz.moments.sketch import Stream
from ritz.pca.from_moments import sketching_memory, summing_memory
from ritz.rows import as_rows
from ritz.rows.memory.computed import Transposed

SILENT = pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
RNG = np.random.default_rng(0)
EMBEDDING = random_orthonormal(110, 30, RNG).T


def sketching(k, d, room, **parameters):
    """A PCA whose memory allows a sketch of exactly that many rows."""
    limit = sketching_memory(room, k, d)
    assert limit < summing_memory(d)
    return PCA(k, memory_limit=limit, **parameters)


def streamed(X, room, cuts=(), center=True):
    stream = Stream(room, center)
    for batch in np.split(X, list(cuts)):
        stream = stream.add(as_rows(batch)) if len(batch) else stream
    return stream


def true_scatter(X, center=True):
    """S in extended precision, rounded once."""
    Z = preprocess(X, center)
    return Z.T @ Z


def lacking(sketch, X, center=True):
    """Eigenvalues of S − FᵀF, in units of the sketch."""
    F = np.concatenate([*sketch.pieces, np.zeros((1, X.shape[1]))]).astype(np.longdouble)
    return np.linalg.eigvalsh((true_scatter(X / sketch.unit, center) - F.T @ F).astype(np.float64))


def claims_broken(pca, X, unit=1.0):
    """What the certificate says of the rows that is not so; judged in a unit where nothing under- or overflows."""
    C = (true_scatter(X / unit, pca.center) / (len(X) - pca.ddof)).astype(np.float64)
    certificate = pca.certificate_.in_units(1 / unit)
    broken = broken_claims(certificate, pca.subspace_.axes, C, 1e-14 * np.trace(C))
    if certificate.values.sum() > np.trace(C) * (1 + 1e-12) + len(certificate.values) * certificate.rounding:
        broken.append(f"components have more variance than there is: {certificate.values} of {np.trace(C)}")
    return broken


@st.composite
def streams(draw, least=2):
    """Rows of many spectra, offsets and units, where they are cut, and the unit."""
    n, d = draw(st.integers(least, 90)), draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["gapped", "slow", "flat", "clustered", "rank deficient", "drift", "rare"]))
    m = max(5, min(n, d))
    X = with_spectrum(n, d, SPECTRA.get(kind, SPECTRA["slow"])(m), rng)
    if kind == "drift":
        X += np.linspace(0, 100, n)[:, None] * rng.standard_normal(d)
    if kind == "rare":
        X[rng.integers(n)] *= 1e4
    offset, unit = draw(st.sampled_from([0.0, 1.0, 1e8])), draw(st.sampled_from([1.0, 1.0, 2.0**-400, 2.0**400]))
    return (X + offset * rng.standard_normal(d)) * unit, sorted(draw(st.lists(st.integers(0, n), max_size=4))), unit


@settings(max_examples=usually(120, thorough=400), deadline=None)
@given(drawn=streams(), room=st.integers(1, 25), center=st.booleans())
def test_what_a_sketch_lacks_is_positive_and_bounded(drawn, room, center):
    X, cuts, _ = drawn
    sketch = streamed(X, room, cuts, center).whole()
    S = true_scatter(X / sketch.unit, center).astype(np.float64)
    lack, judge = lacking(sketch, X, center), 1e-16 * np.trace(S)
    assert lack[0] >= -sketch.error - judge
    assert lack[-1] <= sketch.lost + sketch.error + judge
    diagonal = sketch.moments.diagonal * (sketch.moments.unit / sketch.unit) ** 2
    np.testing.assert_allclose(diagonal, np.diagonal(S), atol=sketch.error + judge, rtol=0)
    # The bound beforehand (Ghashami et al., Theorem 1.1), whichever number of leading eigenvalues is taken out.
    tails = np.append(np.cumsum(np.linalg.eigvalsh(S))[::-1], np.zeros(room))[: room + 1]
    assert (sketch.lost <= tails / (room + 1 - np.arange(room + 1)) + sketch.error + judge).all()


@SILENT
@settings(max_examples=usually(100, thorough=300), deadline=None)
@given(
    drawn=streams(least=5), k=st.integers(1, 4), spare=st.integers(8, 12), center=st.booleans(), ddof=st.integers(0, 1)
)
def test_no_claim_is_ever_broken(drawn, k, spare, center, ddof):
    X, cuts, unit = drawn
    X = X @ EMBEDDING[: X.shape[1]]  # among so many columns that a sketch takes less than moments
    pca = sketching(k, X.shape[1], 2 * k + spare, center=center, ddof=ddof)
    for batch in np.split(X, cuts):
        if len(batch):
            pca.partial_fit(batch)
    assert pca._moments.room == 2 * k + spare
    assert not claims_broken(pca, X, unit)


@SILENT
@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_prescribed_spectra(spectrum, offset):
    X = with_spectrum(400, 160, 3 * SPECTRA[spectrum](160), np.random.default_rng(3), offset)
    pca = sketching(4, 160, 30)
    for batch in np.split(X, [7, 8, 190]):
        pca.partial_fit(batch)
    assert not claims_broken(pca, X)
    Z = preprocess(X)
    assert pca.total_variance_ == pytest.approx(float((Z**2).sum() / 399), rel=1e-12, abs=1e-300)
    np.testing.assert_allclose(pca.mean_, X.astype(np.longdouble).mean(axis=0).astype(float), rtol=1e-15, atol=1e-15)


def test_separated_components_are_told_apart_and_proved_complete():
    X = with_spectrum(2000, 200, np.r_[60.0, 45.0, 30.0, 1 / np.arange(1, 198)], np.random.default_rng(4), 3.0)
    pca, exact = sketching(3, 200, 40), PCA(3).fit(X)
    with pytest.warns(
        AccuracyWarning, match=r"did not converge to tol=1e-09: .* a sketch of 40 directions replaces 2000 rows"
    ) as caught:
        pca.set_params(tol=1e-9).partial_fit(X).components_  # noqa: B018
    assert len(caught) == 1
    certificate = pca.certificate_
    assert certificate.completeness == "proved"
    assert certificate.complete_to == 3
    assert certificate.groups == ((0, 1), (1, 2), (2, 3))
    assert (certificate.angle_bounds < 1e-5).all()
    assert 0 < certificate.missing < 1e-5 * exact.explained_variance_[0]
    for i in range(3):
        assert sine(pca.components_[[i]].T, exact.components_[[i]].T) <= certificate.angle_bounds[i]
    low, high = certificate.value_bounds.T
    assert (low <= exact.explained_variance_).all()
    assert (exact.explained_variance_ <= high).all()
    np.testing.assert_allclose(high - low, certificate.missing, rtol=1e-3)  # no wider than what is missing
    assert "sketch: no direction lacks more than" in str(certificate)


@pytest.mark.parametrize(("center", "offset"), [(True, 0.0), (True, 1e8), (False, 0.0), (False, 3.0)])
def test_streams_of_low_rank_lose_nothing(center, offset):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((900, 9)) * np.arange(9, 0, -1) @ random_orthonormal(200, 9, rng).T
    X += offset * rng.standard_normal(200)
    pca, exact = sketching(3, 200, 14, center=center), PCA(3, center=center).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch in np.split(X, [1, 333]):
            pca.partial_fit(batch)
        assert pca.certificate_.satisfied
    assert pca.certificate_.missing == 0
    assert pca.certificate_.completeness == "proved"
    assert not claims_broken(pca, X)
    largest = exact.explained_variance_[0]
    np.testing.assert_allclose(pca.explained_variance_, exact.explained_variance_, atol=1e-11 * largest)
    np.testing.assert_allclose(pca.noise_variance_, exact.noise_variance_, atol=1e-11 * largest)
    bound = float(pca.certificate_.angle_bounds.max() + exact.certificate_.angle_bounds.max())
    assert sine(pca.components_.T, exact.components_.T) <= bound


def test_few_rows_are_kept_whole():
    X = RNG.standard_normal((20, 300)) + 5
    pca = sketching(None, 300, 24).partial_fit(X[:3]).partial_fit(X[3:])
    assert pca.n_components_ == 20
    assert pca.certificate_.missing == 0
    np.testing.assert_allclose(pca.explained_variance_[:19], PCA().fit(X).explained_variance_[:19], rtol=1e-11)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), X, rtol=1e-11)


SLOW = RNG.standard_normal((500, 150)) / np.arange(1, 151) + 4.0


@SILENT
@pytest.mark.parametrize("cuts", [[250], [1, 2, 3], [13, 26, 27, 400], list(range(1, 500))], ids=len)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame, np.asfortranarray], ids=lambda f: f.__name__)
def test_how_rows_come_does_not_matter_to_the_last_bit(cuts, form):
    if len(cuts) > 10 and form is not np.asarray:
        cuts = cuts[::7]
    whole = sketching(3, 150, 16).partial_fit(SLOW)
    pca = sketching(3, 150, 16)
    for batch in np.split(SLOW, cuts):
        pca.partial_fit(form(batch))
    for name in ("components_", "explained_variance_", "mean_", "noise_variance_"):
        np.testing.assert_array_equal(getattr(pca, name), getattr(whole, name))
    assert pca.certificate_.missing == whole.certificate_.missing > 0
    assert pca.n_samples_seen_ == 500


@SILENT
def test_files_are_batches_too(tmp_path):
    np.save(tmp_path / "rows.npy", SLOW)
    table = pd.DataFrame(SLOW, columns=[f"c{j}" for j in range(150)])
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=37)
    whole = sketching(3, 150, 16).partial_fit(SLOW)
    for name in ("rows.npy", "rows.parquet"):
        pca = sketching(3, 150, 16).partial_fit(tmp_path / name)
        np.testing.assert_array_equal(pca.components_, whole.components_)


@SILENT
def test_the_same_bits_on_any_number_of_cores(blas_as_it_is):
    X = RNG.standard_normal((90, 4000)) / np.arange(1, 4001)
    many = sketching(2, 4000, 20).partial_fit(X)._moments.sketch.pieces[0]
    with threadpool_limits(1, user_api="blas"):
        one = sketching(2, 4000, 20).partial_fit(X)._moments.sketch.pieces[0]
    np.testing.assert_array_equal(one, many)


def test_single_rows_wait_for_a_block(monkeypatch):
    decomposed = []
    eigh = ritz.moments.sketch.eigh_descending
    monkeypatch.setattr(ritz.moments.sketch, "eigh_descending", lambda K: decomposed.append(len(K)) or eigh(K))
    pca = sketching(3, 150, 16)
    for row in SLOW[:100]:
        pca.partial_fit(row[None])
    assert decomposed == [33] * 5  # 100 rows are six blocks of 16; the first needs no decomposition


@SILENT
def test_axes_in_between_change_nothing():
    pca, untouched = sketching(3, 150, 16), sketching(3, 150, 16)
    for batch in np.split(SLOW, 25):
        pca.partial_fit(batch)
        _ = pca.components_
        assert not claims_broken(pca, SLOW[: pca.n_samples_seen_])
        untouched.partial_fit(batch)
    np.testing.assert_array_equal(pca.components_, untouched.components_)


ROOMS = (16, 20, 16)


@SILENT
def test_models_merge_in_any_order_and_grouping():
    parts = [
        sketching(3, 150, room).partial_fit(part) for room, part in zip(ROOMS, np.split(SLOW, [150, 155]), strict=True)
    ]
    before = [pickle.dumps(part) for part in parts]
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        whole = merge(parts[i] for i in order)
        assert whole.n_samples_seen_ == 500
        assert not claims_broken(whole, SLOW)
        stream = whole._moments
        assert stream.room == 20
        assert stream.whole().lost >= sum(part._moments.whole().lost for part in parts)
    nested = merge([merge(parts[:2]), parts[2]])
    assert not claims_broken(nested, SLOW)
    assert not claims_broken(merge([whole]).partial_fit(SLOW[:40]), np.concatenate([SLOW, SLOW[:40]]))
    assert [pickle.dumps(part) for part in parts] == before


def test_a_sketch_does_not_merge_with_moments_nor_with_rows_that_are_not_centred():
    part = sketching(3, 150, 16).partial_fit(SLOW)
    with pytest.raises(DataError, match="one model has the moments of its rows, another a sketch"):
        merge([part, PCA(3).fit(SLOW)])
    other = sketching(3, 150, 16, center=False).partial_fit(SLOW[:5])
    with pytest.raises(DataError, match="center=False"):
        merge([part, other])
    with pytest.raises(DataError, match="center was changed"):
        merge([part, other.set_params(center=True)])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (np.nan, "1 NaN, first at row 4, column 2"),
        (np.inf, r"1 infinity \(inf\), first at row 4, column 2"),
        (1e308, "divide the data"),
    ],
)
def test_bad_batches_change_nothing(row, message):
    pca = sketching(3, 150, 16).partial_fit(SLOW[:40])
    before, bad = pickle.dumps(pca), SLOW[:50].copy()
    bad[4, 2] = row
    for batch in (bad, bad[:6], sp.csr_array(bad)):
        with pytest.raises(DataError, match=message):
            pca.partial_fit(batch)
    with pytest.raises(ValueError, match="features"):
        pca.partial_fit(SLOW[:, :5])
    with pytest.raises(DataError, match="which float64 cannot hold"):
        pca.partial_fit(np.full((3, 150), 2**53 + 1))
    huge = (
        sketching(3, 150, 16).partial_fit(SLOW[:3] * 1e20).partial_fit(np.ones((20, 150), int))
    )  # floats may be large
    assert huge.n_samples_seen_ == 23
    assert pca.partial_fit(SLOW[:0]) is pca
    assert pickle.dumps(pca) == before
    fresh = sketching(3, 150, 16)
    with pytest.raises(DataError):
        fresh.partial_fit(bad)
    assert not hasattr(fresh, "n_features_in_")
    assert not hasattr(fresh, "components_")


def test_what_a_sketch_cannot_give():
    pca = sketching(3, 150, 16)
    with pytest.raises(ValueError, match="scale=True divides by deviations that are known only after the last batch"):
        clone(pca).set_params(scale=True).partial_fit(SLOW)
    with pytest.raises(ValueError, match="weighs the whole spectrum"):
        clone(pca).set_params(n_components="mle").partial_fit(SLOW)
    with pytest.raises(ValueError, match="must be between 1 and"):
        clone(pca).set_params(n_components=151).partial_fit(SLOW)
    with pytest.raises(ValueError, match=r"moments of 150 columns take .* and a sketch of 14 directions"):
        PCA(3, memory_limit="10kB").partial_fit(SLOW)
    pca.partial_fit(SLOW).set_params(scale=True)
    with pytest.raises(DataError, match="scale=True"):
        _ = pca.components_
    pca.set_params(scale=False, center=False)
    with pytest.raises(DataError, match="center was changed"):
        pca.partial_fit(SLOW)
    with pytest.raises(DataError, match="sketched with center=True"):
        _ = pca.components_
    with pytest.raises(DataError, match="at least 2 rows"):
        sketching(3, 150, 16).partial_fit(SLOW[:1]).transform(SLOW)


@SILENT
def test_how_many_components():
    pca = sketching(3, 150, 16).partial_fit(SLOW)
    for asked, components in ((17, 17), (None, 150)):
        pca.set_params(n_components=asked)
        with pytest.raises(DataError, match=f"asks for {components} components, but the sketch keeps 16 directions"):
            _ = pca.components_
    assert pca.set_params(n_components=16).n_components_ == 16
    assert not claims_broken(pca, SLOW)


@SILENT
def test_a_share_of_the_variance_is_a_proved_one():
    truth, more = np.linalg.eigvalsh(true_scatter(SLOW).astype(float))[::-1], 0
    for share in (0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.86, 0.88, 0.9):
        pca = sketching(share, 150, 20).partial_fit(SLOW)
        low = pca.certificate_.value_bounds[:, 0]
        assert np.sum(low) > share * pca.total_variance_ >= np.sum(low[:-1])
        assert np.sum(truth[: pca.n_components_]) > share * np.sum(truth)
        more += pca.n_components_ - PCA(share).fit(SLOW).n_components_
    assert more > 0  # a proof takes more components than the rows themselves would
    with pytest.raises(DataError, match=r"only a share of 0\.9\d+ is proved"):
        _ = sketching(0.999, 150, 20).partial_fit(SLOW).components_


@SILENT
def test_components_that_the_sketch_does_not_resolve():
    X = np.eye(36, 200)  # two blocks of rows that are all alike: nothing is left of them
    pca = sketching(5, 200, 18, center=False)
    with pytest.warns(AccuracyWarning, match="the sketch resolves 0 of 5 components: variances beyond are at most"):
        _ = pca.partial_fit(X).components_
    certificate = pca.certificate_
    assert certificate.rank == 0
    assert not certificate.satisfied
    assert certificate.completeness == "not excluded"
    assert (certificate.angle_bounds == 1).all()
    np.testing.assert_allclose(certificate.value_bounds, np.tile([0, 1 / 35], (5, 1)), atol=1e-12)
    assert "resolved: 0" in str(certificate)
    assert not claims_broken(pca, X)


@SILENT
def test_the_model_is_a_model_like_any_other():
    pca = sketching(3, 150, 16, whiten=True).partial_fit(SLOW)
    scores = pca.transform(SLOW)
    np.testing.assert_allclose(scores.var(axis=0, ddof=1), 1, atol=0.2)
    np.testing.assert_allclose(scores * np.sqrt(pca.explained_variance_), (SLOW - pca.mean_) @ pca.components_.T)
    projected = pca.mean_ + (SLOW - pca.mean_) @ pca.components_.T @ pca.components_
    np.testing.assert_allclose(pca.inverse_transform(scores), projected)
    rest = (pca.total_variance_ - pca.explained_variance_.sum()) / (150 - 3)
    assert pca.noise_variance_ == pytest.approx(rest)
    assert pca.score(SLOW) == pytest.approx(PCA(3).fit(SLOW).score(SLOW), abs=1.0)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(3), atol=1e-13)
    assert not hasattr(pca, "dual_components_")
    assert "a sketch of 16 directions was updated batch by batch" in str(pca.plan_)
    again = pickle.loads(pickle.dumps(pca)).partial_fit(SLOW[:33])
    np.testing.assert_array_equal(again.components_, pca.partial_fit(SLOW[:33]).components_)
    assert not hasattr(clone(pca), "n_features_in_")
    assert pca.set_params(memory_limit=None).fit(SLOW).certificate_.missing == 0  # fit forgets


@SILENT
@pytest.mark.parametrize("solver", ["svd", "covariance", "krylov"])
def test_solvers_give_way_and_the_plan_says_so(solver):
    pca = sketching(2, 150, 16, svd_solver=solver).partial_fit(SLOW)
    assert pca.plan_.solver == "gram"
    np.testing.assert_array_equal(pca.components_, sketching(2, 150, 16).partial_fit(SLOW).components_)


@SILENT
def test_precision_of_results_follows_the_data():
    narrow = sketching(3, 150, 16).partial_fit(SLOW.astype(np.float32))
    assert narrow.components_.dtype == np.float32
    assert not claims_broken(narrow, SLOW.astype(np.float32).astype(float))
    assert narrow.partial_fit(SLOW).components_.dtype == np.float64
    counts = RNG.integers(0, 200, (300, 150)).astype(np.uint8)
    assert not claims_broken(sketching(3, 150, 16).partial_fit(counts), counts.astype(float))


def test_the_size_is_decided_by_memory_and_components():
    d = 3000
    for k, room in ((2, 12), (2, 77), (40, 88)):
        assert sketching(k, d, room).partial_fit(np.ones((2, d)))._moments.room == room
    assert PCA(2, memory_limit=summing_memory(d) - 1).partial_fit(np.ones((2, d)))._moments.room == 499
    assert PCA(300, memory_limit=summing_memory(d) - 1).partial_fit(np.ones((2, d)))._moments.room == 608
    pca = sketching(2, d, 12).partial_fit(np.ones((2, d)))
    assert pca.set_params(memory_limit="10GB").partial_fit(np.ones((2, d)))._moments.room == 12


@SILENT
@pytest.mark.parametrize(("k", "room"), [(2, 40), (15, 40), (40, 90), (None, 24)])
@pytest.mark.parametrize("rows", [1, 50, 600])
@pytest.mark.parametrize("rank", [3, 10_000])
def test_memory_stays_within_the_limit(k, room, rows, rank):
    d = 12_000
    batch = RNG.standard_normal((rows, d)).astype(np.float32)
    batch = batch[np.arange(rows) % rank]  # axes without variance take more memory than others
    pca = sketching(k, d, room)
    count = room if k is None else 3 * room - 1  # the most rows that can wait, but for None, which needs them all
    with traced() as taken:
        for start in range(0, count, rows):
            pca.partial_fit(batch[: min(rows, count - start)])
        _ = pca.components_
    assert taken.peak <= sketching_memory(room, k, d)


def test_columns_of_pieces_are_the_rows_of_their_transpose():
    pieces = [RNG.standard_normal((m, 700)) for m in (3, 1, 5)]
    columns, F = Transposed(pieces), np.concatenate(pieces)
    assert columns.shape == (700, 9)
    np.testing.assert_array_equal(columns.map(lambda block: block), F.T)
    np.testing.assert_array_equal(columns.block(13, 600), F.T[13:600])
    np.testing.assert_allclose(ritz.moments.sketch.squares(columns), F @ F.T, rtol=1e-13)
