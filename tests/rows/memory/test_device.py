"""Rows on a device: what travels, what happens when its memory is full, devices without float64, and bad arrays."""

import array_api_strict
import numpy as np
import pytest

from helpers.arrays import strict, tensor, torch
from ritz import PCA, CompressedSensing, KernelPCA, eigen, plan, read
from ritz.errors import DataError, ParameterError
from ritz.linalg import arrays
from ritz.rows import as_rows, base
from ritz.rows.memory import device
from ritz.rows.memory.device import DeviceRows, Downloaded, Viewed

X = np.random.default_rng(0).standard_normal((60, 8)) * np.arange(8, 0, -1) + 3
GPU, NARROW = "device1", "no_float64"


def on_gpu(data=X):
    return strict(data, GPU)


@pytest.fixture
def travelled(monkeypatch):
    """The sizes of all arrays that come from the device."""
    sizes = []

    def leave(array):
        sizes.append(int(np.prod(array.shape)))
        return array.to_device(array_api_strict.Device("CPU_DEVICE"))._array

    monkeypatch.setattr(arrays, "_from_strict", leave)
    return sizes


def test_where_an_array_lies_decides_how_it_is_read():
    assert type(as_rows(strict(X))) is Viewed
    assert type(as_rows(on_gpu())) is DeviceRows
    assert type(as_rows(strict(X.astype(np.float32), NARROW))) is Downloaded
    assert np.shares_memory(as_rows(given := strict(X)).read(0, 60), np.asarray(given))


@pytest.mark.parametrize("svd_solver", ["covariance", "krylov", "svd"])
def test_the_data_stays_on_its_device(svd_solver, travelled):
    data = np.random.default_rng(0).standard_normal((3000, 10))
    pca = PCA(3, svd_solver=svd_solver).fit(given := on_gpu(data))
    scores = pca.transform(given)
    assert 0 < max(travelled) <= 1024 * 10  # the sample for the provisional mean
    travelled.clear()
    pca.inverse_transform(scores)
    assert not travelled


def test_few_rows_are_numpy_s():
    rows = as_rows(on_gpu())
    assert np.array_equal(rows.take(np.array([3, 1])), X[[3, 1]])
    assert np.array_equal(rows.block(2, 5), X[2:5])
    assert isinstance(rows.sample(5), np.ndarray)
    assert np.array_equal(rows.map(lambda block: block), X)
    assert np.allclose(rows.pairs(lambda a, b: a @ b.T), X @ X.T)


class Full(Exception):
    """CUDA out of memory. Tried to allocate 20.00 MiB."""

    def __str__(self):
        return str(self.__doc__)


def full_beyond(limit, monkeypatch):
    """A device that has no room for blocks of more rows; the rows of those that it had."""
    seen, real = [], arrays.in_float64

    def crowded(block, *given):
        if block.shape[0] > limit:
            raise Full
        seen.append(block.shape[0])
        return real(block)

    monkeypatch.setattr(arrays, "in_float64", crowded)
    return seen


@pytest.mark.parametrize("svd_solver", ["covariance", "svd", "gram"])
def test_out_of_memory_halves_the_blocks(svd_solver, monkeypatch):
    data = np.round(X)  # integers, which are made float64 block by block
    expected = PCA(2, svd_solver=svd_solver).fit(data)
    seen = full_beyond(9, monkeypatch)
    pca = PCA(2, svd_solver=svd_solver).fit(given := on_gpu(data.astype(np.int32)))
    assert max(seen) <= 9
    assert np.allclose(arrays.on_host(pca.explained_variance_), expected.explained_variance_, rtol=1e-13)
    assert np.allclose(arrays.on_host(pca.transform(given)), expected.transform(data), rtol=1e-12, atol=1e-12)


def test_an_error_says_so_where_not_even_one_row_fits(monkeypatch):
    full_beyond(0, monkeypatch)
    with pytest.raises(
        DataError, match=r"no memory left for one row of 8 columns.*free some of it, or pass a copy on the CPU"
    ):
        PCA(2).fit(on_gpu(np.round(X).astype(np.int32)))


def test_few_rows_are_taken_in_parts_where_memory_is_full(monkeypatch):
    rows, places, real, limit = as_rows(on_gpu()), np.arange(50, 0, -7), arrays.taken, 3

    def crowded(array, indices):
        if len(indices) > limit:
            raise Full
        return real(array, indices)

    monkeypatch.setattr(arrays, "taken", crowded)
    assert np.array_equal(rows.take(places), X[places])
    assert rows.take(places[:0]).shape == (0, 8)
    limit = 0
    with pytest.raises(DataError, match=r"no memory left for one row of 8 columns.*free some of it"):
        rows.take(places)


def test_an_error_says_so_where_results_do_not_fit(monkeypatch):
    def full(blocks):
        raise Full

    pca = PCA(2).fit(given := on_gpu())
    monkeypatch.setattr(base, "stacked", full)
    monkeypatch.setattr(device, "MOST_ROWS", 20)
    with pytest.raises(DataError, match="no memory left for results of shape 60×2; free some of it"):
        pca.transform(given)


def test_other_errors_are_not_taken_for_it(monkeypatch):
    def broken(block):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        as_rows(on_gpu()).map(broken)
    with pytest.raises(ZeroDivisionError):
        as_rows(on_gpu()).reduce(lambda blocks: [broken(block) for block in blocks], max)


def test_a_device_without_float64_is_computed_on_the_cpu():
    data = X.astype(np.float32)
    pca, expected = PCA(3, svd_solver="covariance").fit(given := strict(data, NARROW)), PCA(3, svd_solver="covariance")
    said = "has no float64, so blocks are computed on the CPU"
    assert said in pca.plan_.why
    assert said in plan(given, 3).why
    scores = pca.transform(given)
    assert str(scores.device) == str(given.device)
    assert np.array_equal(arrays.on_host(pca.components_), expected.fit(data).components_)
    assert np.array_equal(arrays.on_host(scores), expected.transform(data))


def test_a_plan_says_what_is_copied_to_the_cpu():
    wide = np.random.default_rng(1).standard_normal((30, 80))
    assert "30 rows are copied to the CPU" in PCA(2, svd_solver="svd").fit(on_gpu(wide)).plan_.why
    assert "signs are flipped on the CPU" in PCA("auto").fit(on_gpu(X[:, :1] + 0.1 * X)).plan_.why
    assert "CPU" not in PCA(2).fit(on_gpu()).plan_.why


def test_a_model_of_the_cpu_says_so():
    model = CompressedSensing(4)
    with pytest.raises(DataError, match=r"CompressedSensing computes on the CPU; pass a copy there, such as X\.cpu"):
        model.fit(on_gpu())
    scores = model.fit_transform(strict(X))
    assert np.array_equal(np.asarray(scores), CompressedSensing(4).fit_transform(X))
    with pytest.raises(DataError, match="computes on the CPU"):
        model.transform(on_gpu())


BAD = {
    "one axis": (lambda: on_gpu(X[0]), "Expected 2D array"),
    "no rows": (lambda: on_gpu(X[:0]), r"0 sample\(s\)"),
    "complex": (lambda: on_gpu(X + 1j), "Complex data not supported"),
    "NaN": (lambda: on_gpu(np.where(X[4, 2] == X, np.nan, X)), "1 NaN, first at row 4, column 2"),
    "infinity": (lambda: on_gpu(np.where(X[4, 2] == X, np.inf, X)), r"1 infinity \(inf\), first at row 4, column 2"),
    "large integer": (lambda: on_gpu(np.array([[1, 2**60 + 1], [3, 4]])), "column 1 holds 1152921504606846977"),
    "two devices": (lambda: [on_gpu(X[0]), strict(X[1])], "lie on different devices: .*device1.*CPU_DEVICE.*copy"),
    "two others": (
        lambda: [on_gpu(X[0]), strict(X[1], "device2")],
        "device1.*device2.*copy",
    ),
    "infinities": (lambda: on_gpu(np.where(X[4] == X, np.inf, X)), r"8 infinities \(inf\), first at row 4, column 0"),
    "a list of arrays": (lambda: [on_gpu(X[0]), on_gpu(X[1])], r"2 arrays.*make one of them.*array_api_strict\.stack"),
    "batches": (lambda: [on_gpu(), on_gpu()], r"2 arrays.*make one of them, such as array_api_strict\.concat\(X\)"),
    "tensors": (lambda: [tensor(X), tensor(X)[:5]], r"2 arrays on cpu; make one of them, such as torch\.cat\(X\)"),
    "pictures": (lambda: on_gpu(X.reshape(60, 4, 2)), r"X\.reshape\(len\(X\), -1\) makes a row of every X\[i\]$"),
    "a list of both": (lambda: [X[0], on_gpu(X[1])], "X holds 1 array on .*device1.*make one of them"),
    "lists of lists": (lambda: [[1.0, on_gpu(X)[0, 0]], [2.0, 3.0]], "X holds 1 array on .*device1"),
}


@pytest.mark.parametrize("transpose", [False, True])
def test_pictures_on_a_device_are_made_rows_by_whoever_has_them(transpose):
    with pytest.raises(DataError, match=r"makes a row of every X\[i\]$"):
        read(on_gpu(X.reshape(60, 4, 2)), transpose=transpose)


@pytest.mark.parametrize("case", BAD)
def test_bad_arrays(case):
    make, said = BAD[case]
    with pytest.raises(DataError, match=said):
        PCA(1).fit(make())


def test_points_in_columns():
    found, expected = (PCA(2).fit(read(data, transpose=True)) for data in (on_gpu(X.T), X.T))
    assert np.allclose(arrays.on_host(found.components_), expected.components_, atol=1e-13)


def test_tensors_of_gradients_sparse_ones_and_bfloat16():
    given = tensor(X)
    assert np.array_equal(PCA(2).fit(given.clone().requires_grad_()).components_, PCA(2).fit(X).components_)
    assert not PCA(2).fit(given.requires_grad_()).transform(given).requires_grad
    with pytest.raises(DataError, match="to_dense"):
        PCA(2).fit(torch().eye(4).to_sparse())
    halves = tensor(np.round(X)).to(torch().bfloat16)
    assert PCA(2).fit_transform(halves).dtype == torch().float32
    assert np.allclose(PCA(2).fit(halves).mean_, np.round(X).mean(axis=0))
    assert KernelPCA(2).fit_transform(halves).dtype == torch().float32


def test_blocks_are_a_share_of_the_free_memory(monkeypatch):
    monkeypatch.setattr(arrays, "free_memory", lambda like: 8 * 8 * 10 * device.SHARE)
    assert as_rows(on_gpu()).block_rows == 10


def test_eigenpairs_of_a_matrix_on_a_device():
    C = np.cov(X.T)
    assert np.array_equal(eigen(strict(C, GPU), 2).values, eigen(C, 2).values)


@pytest.mark.parametrize("how", [{"columns": [0, 1]}, {"label": 3}, {"missing": "drop"}, {"missing": "mean"}], ids=str)
def test_what_is_chosen_on_the_cpu_alone(how):
    with pytest.raises(ParameterError, match="is for data on the CPU"):
        read(on_gpu(), **how)


def test_a_checkpoint_and_progress(tmp_path, capsys):
    pca = PCA(2, verbose=True).fit(on_gpu(), checkpoint=tmp_path / "checkpoint")
    assert "<DeviceRows: 60 rows, 8 columns, float64>" in capsys.readouterr().err
    assert np.array_equal(arrays.on_host(pca.components_), arrays.on_host(PCA(2).fit(on_gpu()).components_))
