"""Rows of a file on a device: copied there block by block, the same answer; and devices that are not there."""

import builtins

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.arrays import strict, torch
from helpers.commands import run
from ritz import PCA, load, read
from ritz.errors import DataError, MissingPackageError, ParameterError
from ritz.rows.memory import upload
from ritz.rows.memory.upload import Uploaded

X = np.random.default_rng(0).standard_normal((500, 7)) * np.arange(7, 0, -1) + 3
torch()


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c,d,e,f,g", comments="", fmt="%.17g")
    return tmp_path


@pytest.mark.parametrize("kept", [True, False], ids=["kept there", "read again"])
@pytest.mark.parametrize("svd_solver", ["covariance", "svd", "krylov", "gram"])
@pytest.mark.parametrize("name", ["x.npy", "x.csv"])
def test_a_file_on_a_device(files, name, svd_solver, kept, monkeypatch):
    monkeypatch.setattr(upload, "KEPT_ON_CPU", X.nbytes if kept else 0)
    monkeypatch.setattr("ritz.rows.memory.device.MOST_ROWS", 128)
    rows = read(files / name, device="cpu")
    found, expected = PCA(3, svd_solver=svd_solver).fit(rows), PCA(3, svd_solver=svd_solver).fit(X)
    np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-6 if svd_solver == "krylov" else 1e-12)
    assert isinstance(found.components_, torch().Tensor)
    np.testing.assert_allclose(found.transform(rows), expected.transform(X), atol=1e-5)


def test_blocks_stack_to_the_file_whatever_their_size(files):
    rows = read(files / "x.npy", device="cpu")
    for step in (1, 30, 499, 500, 10_000):
        blocks = list(rows._blocks(0, 500, step))
        assert max(map(len, blocks)) <= step
        assert np.array_equal(np.concatenate([block.numpy() for block in blocks]), X)
        part = np.concatenate([block.numpy() for block in rows._blocks(33, 457, step)])
        assert np.array_equal(part, X[33:457])
    assert np.array_equal(rows.take(np.array([7, 3])), X[[7, 3]])


def test_no_more_than_a_few_blocks_are_on_their_way(files, monkeypatch):
    sent, done = [], []

    class Mark:
        def synchronize(self):
            done.append(self)

    monkeypatch.setattr(Uploaded, "_mark", lambda self: sent.append(Mark()) or sent[-1])
    for i, _ in enumerate(read(files / "x.npy", device="cpu")._blocks(0, 500, 20)):
        assert i - upload.AHEAD <= len(done) <= i  # the device has done with all blocks but the last ones
    assert done == sent[: len(done)]  # the oldest first


def test_a_device_that_is_full_when_a_block_comes_is_sent_smaller_ones(files, monkeypatch):
    up, sizes = Uploaded._up, []

    def crowded(self, block):
        sizes.append(len(block))
        if len(block) > 50:
            raise torch().OutOfMemoryError("CUDA out of memory")
        return up(self, block)

    monkeypatch.setattr(Uploaded, "_up", crowded)
    monkeypatch.setattr(upload, "KEPT_ON_CPU", 0)
    rows, expected = read(files / "x.npy", device="cpu"), PCA(2).fit(X)
    np.testing.assert_allclose(expected.transform(rows), expected.transform(X), atol=1e-12)
    assert len([size for size in sizes if size > 50]) == 4  # 500, 250, 125, 63, and no block twice
    np.testing.assert_allclose(PCA(2).fit(rows).explained_variance_, expected.explained_variance_, rtol=1e-12)


def test_names_and_labels_come_along(files):
    assert list(PCA(2).fit(read(files / "x.csv", device="cpu")).feature_names_in_) == list("abcdefg")
    assert np.array_equal(read(files / "x.csv", label="g", device="cpu").labels, X[:, 6])


def test_data_in_memory_is_uploaded_too():
    assert np.allclose(PCA(2).fit(read(X, device="cpu")).components_, PCA(2).fit(X).components_)
    with pytest.raises(DataError, match="device='cpu' is for dense rows, and these are sparse; leave it out"):
        read(sp.csr_array(X), device="cpu")


def test_rows_that_lie_on_a_device_are_not_uploaded():
    with pytest.raises(ParameterError, match="is for rows on the CPU, and X is an array of array_api_strict on"):
        read(strict(X, "device1"), device="cpu")


def test_workers_have_no_device(files):
    with pytest.raises(ParameterError, match="device='cuda' does not go with dask; leave one of them out"):
        read(files / "x.npy", device="cuda", dask="local")


NOT_THERE = {
    "cuda": "cannot be used: PyTorch finds no GPU",
    "toaster": "must be a device that PyTorch knows, such as 'cuda' or 'cpu'",
    "hpu": "cannot be used: PyTorch says: No module named 'torch.hpu'",
    "meta": "holds no numbers",
}


@pytest.mark.parametrize("device", NOT_THERE)
def test_a_device_that_is_not_there(files, device, monkeypatch):
    monkeypatch.setattr(torch().cuda, "is_available", lambda: False)
    said = f"{NOT_THERE[device]}; leave it out to compute on the CPU"
    if device == "cuda" and torch().cuda.device_count():
        device = "cuda:99"
    with pytest.raises(ParameterError, match=said):
        read(files / "x.npy", device=device)
    assert run("fit", files / "x.npy", "--device", device, code=2).stderr.startswith(f"ritz: --device {device} {said}")


def test_without_pytorch(files, monkeypatch):
    real = builtins.__import__

    def without(name, *given, **more):
        if name == "torch":
            raise ImportError(name)
        return real(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPackageError, match="needs PyTorch, which"):
        read(files / "x.npy", device="cuda")
    assert "needs PyTorch" in run("fit", files / "x.npy", "--device", "cuda", code=2).stderr


def test_the_command_line_writes_the_same_model(files):
    for name, how in (("gpu", ["--device", "cpu"]), ("cpu", [])):
        run("fit", files / "x.csv", "-k", "3", "-o", files / name, *how)
    gpu, cpu = (load(files / name / "model.safetensors") for name in ("gpu", "cpu"))
    assert isinstance(gpu.components_, np.ndarray)
    np.testing.assert_allclose(gpu.components_, cpu.components_, atol=1e-13)
    scores = [np.loadtxt(files / name / "scores.csv", delimiter=",", skiprows=1) for name in ("gpu", "cpu")]
    np.testing.assert_allclose(*scores, atol=1e-12)


def test_the_device_computes(files, monkeypatch):
    seen = []
    up = Uploaded._up
    monkeypatch.setattr(Uploaded, "_up", lambda self, block: seen.append(len(block)) or up(self, block))
    run("fit", files / "x.csv", "-k", "3", "-o", files / "out", "--device", "cpu")
    assert sum(seen) >= 500
