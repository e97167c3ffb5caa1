"""Odd rows in the feature space of a kernel, against the linear kernel, whose features are the rows."""

import numpy as np
import pytest

import ritz
from ritz import PCA, DataError, KernelPCA, ParameterError

RNG = np.random.default_rng(0)
DATA = RNG.standard_normal((60, 6)) * [5, 4, 2, 1, 1, 1]
NEW = RNG.standard_normal((20, 6)) * [5, 4, 2, 1, 1, 1]


@pytest.mark.parametrize("k", [None, 1])
def test_a_linear_kernel_is_pca(k):
    kernel, pca = KernelPCA(2, kernel="linear").fit(DATA), PCA(2).fit(DATA)
    for rows in (DATA, NEW):
        a, b = kernel.monitor(rows, k=k), pca.monitor(rows, k=k, limits="moments", reference=pca.monitor(DATA, k=k))
        assert a.of_fit == b.of_fit
        assert np.allclose(a.t2, b.t2)
        assert np.allclose(a.spe, b.spe, atol=1e-9)
        assert np.allclose(a.limits["limit"], b.limits["limit"])
        assert np.array_equal(a.flags, b.flags)


def test_a_row_off_the_ring_is_odd():
    angles = RNG.uniform(0, 2 * np.pi, 150)
    ring = np.column_stack([np.cos(angles), np.sin(angles)]) + 0.05 * RNG.standard_normal((150, 2))
    model = KernelPCA(6, kernel="rbf", gamma=1.0).fit(ring)
    assert model.monitor([[0.0, 0.0], [1.0, 0.0]]).spe_flags.tolist() == [2, 0]
    assert np.mean(model.monitor(ring).spe_flags == 2) < 0.05


def test_limits_say_what_they_assume_and_survive_a_file(tmp_path):
    model = KernelPCA(3, kernel="rbf", gamma=0.05).fit(DATA)
    found = model.monitor(NEW)
    assert all("taken as normal" in why for why in found.limits["why"][:2])
    assert "scores in feature space taken as normal" in found.notes
    assert any("new rows are farther out" in note for note in found.notes)
    assert not any("new rows" in note for note in model.monitor(DATA).notes)
    model.save(tmp_path / "k.safetensors")
    again = ritz.load(tmp_path / "k.safetensors").monitor(NEW)
    assert np.allclose(again.limits["limit"], found.limits["limit"])
    assert np.array_equal(again.flags, found.flags)


def test_quantiles_of_the_fit():
    model = KernelPCA(3, kernel="rbf", gamma=0.05).fit(DATA)
    fit = model.monitor(DATA, limits="empirical", alpha=0.1)
    assert fit.notes == () != model.monitor(NEW, limits="empirical").notes
    assert fit.of_fit
    assert fit.spe_flags.sum() == fit.t2_flags.sum() == 6
    assert model.monitor(NEW, limits="empirical", alpha=0.1).limits["limit"] == fit.limits["limit"]
    assert model.monitor(NEW, alpha=0.1, reference=fit).limits["limit"] == pytest.approx(
        model.monitor(NEW, alpha=0.1).limits["limit"]
    )


def test_a_precomputed_kernel_needs_the_diagonal():
    K, K_new = DATA @ DATA.T, NEW @ DATA.T
    model = KernelPCA(2, kernel="precomputed").fit(K)
    found = model.monitor(K_new, diagonal=(NEW**2).sum(axis=1))
    plain = KernelPCA(2, kernel="linear").fit(DATA).monitor(NEW)
    assert np.allclose(found.spe, plain.spe)
    assert np.allclose(found.limits["limit"], plain.limits["limit"])
    with pytest.raises(ValueError, match="diagonal"):
        model.monitor(K_new)


def test_landmarks_are_monitored_too():
    model = KernelPCA(2, kernel="rbf", gamma=0.01, n_landmarks=25, random_state=0).fit(DATA)
    found = model.monitor(NEW)
    assert np.isfinite(found.limits["limit"]).all()
    assert np.allclose(found.spe, np.maximum(model.feature_error(NEW), 0.0))


def test_columns_have_no_part_in_features():
    found = KernelPCA(2, kernel="rbf").fit(DATA).monitor(NEW * 9)
    assert "columns to blame" not in found.odd.columns
    with pytest.raises(DataError, match="components of a kernel have none"):
        found.contributions()


def test_limits_of_normal_rows_are_not_for_kernels():
    with pytest.raises(ParameterError, match="limits='jm' must be one of 'auto', 'empirical'"):
        KernelPCA(2, kernel="rbf").fit(DATA).monitor(NEW, limits="jm")


def test_a_line_per_row_goes_to_a_file(tmp_path):
    model = KernelPCA(2, kernel="rbf").fit(DATA)
    model.monitor(NEW, out=tmp_path / "odd.npy")
    assert np.load(tmp_path / "odd.npy").shape == (20, 5)


def test_a_model_without_the_rows_of_its_fit_needs_a_reference():
    """As one of a dask collection, whose rows stay where they are."""
    model = KernelPCA(2, kernel="rbf", gamma=0.05).fit(DATA)
    lean = model._lean()
    with pytest.raises(DataError, match="does not know how many rows"):
        lean.monitor(NEW)
    fit = lean.monitor(DATA, rows="fit")
    assert lean.monitor(NEW, reference=fit).limits["limit"] == pytest.approx(model.monitor(NEW).limits["limit"])
    assert lean.monitor(DATA, reference=fit).of_fit


def test_all_components_leave_nothing_but_rounding():
    model = KernelPCA(6, kernel="linear").fit(DATA)
    found = model.monitor(DATA)
    assert not found.spe_flags.any()
    assert found.limits["method"][2:] == ["rounding"] * 2
