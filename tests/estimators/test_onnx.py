"""ONNX graphs: onnxruntime, which knows nothing of Ritz, gives the scores of transform."""

import builtins
import errno
import json
import os

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz import PCA, KernelPCA
from ritz.errors import DataError
from ritz.estimators.onnx import export_onnx

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 6)) * np.geomspace(10, 0.1, 6)
NEW = RNG.standard_normal((17, 6)) * np.geomspace(10, 0.1, 6)


def scores(model, rows, tmp_path):
    path = tmp_path / "model.onnx"
    export_onnx(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found = session.run(["scores"], {"X": rows})[0]
    assert found.dtype == rows.dtype
    return found


def agree(found, expected, rtol):
    scale = np.abs(expected).max(axis=0)
    assert found.shape == expected.shape
    assert np.max(np.abs(found - expected) / scale) <= rtol


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_scores_of_pca(tmp_path, scale, whiten, center, offset):
    model = PCA(3, scale=scale, whiten=whiten, center=center).fit(X + offset)
    agree(scores(model, NEW + offset, tmp_path), model.transform(NEW + offset), 1e-9 if offset else 1e-12)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("whiten", [False, True])
def test_float32_rows_far_from_0(tmp_path, scale, whiten):
    """The truth is the model in float64, applied to the rounded rows: nothing but the last rounding is lost."""
    rows = (X + 1e4).astype(np.float32)
    model, new = PCA(3, scale=scale, whiten=whiten).fit(rows), (NEW + 1e4).astype(np.float32)
    found = scores(model, new, tmp_path)
    assert found.dtype == np.float32
    agree(found, model.transform(new.astype(np.float64)), 2e-7)
    agree(found, model.transform(new), 2e-5)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("center", [True, False])
def test_every_number_of_columns_and_components_to_rounding(tmp_path, scale, whiten, center):
    """As onnxruntime optimises by default: it fuses single numbers into products, in float32."""
    for d, k in ((1, 1), (2, 1), (6, 1), (6, 2), (6, 6)):
        rows = X[:, :d].copy()
        model = PCA(k, scale=scale, whiten=whiten, center=center).fit(rows)
        agree(scores(model, rows, tmp_path), model.transform(rows), 1e-13)
        narrow = rows.astype(np.float32)
        model = PCA(k, scale=scale, whiten=whiten, center=center).fit(narrow)
        agree(scores(model, narrow, tmp_path), model.transform(narrow), 5e-6)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_both_words_of_a_large_mean(tmp_path, scale, whiten):
    for k in (1, 2):
        rows = np.rint(100 * X) + 2.0**50
        model = PCA(k, scale=scale, whiten=whiten).fit(rows)
        agree(scores(model, rows, tmp_path), model.transform(rows), 1e-13)
        assert np.abs(scores(model, rows, tmp_path).mean(axis=0)).max() < 1e-13 * np.abs(model.transform(rows)).max()


def test_huge_numbers_and_components_without_variance(tmp_path):
    model = PCA(2, whiten=True).fit(X * 1e200)
    agree(scores(model, NEW * 1e200, tmp_path), model.transform(NEW * 1e200), 1e-12)
    flat = PCA(6, whiten=True).fit(X[:, :2] @ RNG.standard_normal((2, 6)))
    found = scores(flat, NEW, tmp_path)
    assert (found[:, 2:] == 0).all()


def test_any_number_of_rows(tmp_path):
    model = PCA(2).fit(X)
    for n in (0, 1, 1000):
        rows = np.resize(NEW, (n, 6))
        assert scores(model, rows, tmp_path).shape == (n, 2)


KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.1},
    "poly of degree 5": {"kernel": "poly", "degree": 5, "gamma": 1e-3, "coef0": 2},
    "rbf": {"kernel": "rbf", "gamma": 0.1},
    "sigmoid": {"kernel": "sigmoid", "gamma": 1e-8, "coef0": 0},
    "cosine": {"kernel": "cosine"},
    "laplacian": {"kernel": "laplacian", "gamma": 0.1},
    "landmarks": {"kernel": "rbf", "gamma": 0.01, "n_landmarks": 40},
}


def test_kernels_of_a_single_column_and_component(tmp_path):
    """gamma is no power of two, so that float32 would show."""
    for options in ({"kernel": "linear"}, {"kernel": "poly", "gamma": 0.1}, {"kernel": "rbf", "gamma": 0.1}):
        model = KernelPCA(1, **options).fit(X[:, :1])
        agree(scores(model, NEW[:, :1].copy(), tmp_path), model.transform(NEW[:, :1]), 1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", KERNELS.values(), ids=KERNELS)
def test_scores_of_kernel_pca(tmp_path, options, dtype):
    model = KernelPCA(2, **options).fit(X.astype(dtype))
    new = NEW.astype(dtype)
    found = scores(model, new, tmp_path)
    assert found.dtype == dtype
    agree(found, model.transform(new), 1e-10 if dtype is np.float64 else 1e-6)


def test_rbf_far_from_0_is_summed_from_differences(tmp_path):
    model = KernelPCA(2, kernel="rbf", gamma=1e3).fit(X + 1e6)
    assert model.embedding_.frame.exact
    new = X[:20] + 1e6 + 1e-3 * NEW[0]
    agree(scores(model, new, tmp_path), model.transform(new), 1e-9)


def test_cosine_of_a_row_of_zeros(tmp_path):
    model = KernelPCA(2, kernel="cosine").fit(X)
    new = np.vstack([np.zeros(6), NEW, 1e200 * NEW])
    agree(scores(model, new, tmp_path), model.transform(new), 1e-12)


def test_a_kernel_matrix_that_was_given(tmp_path):
    def kernel(a, b):
        return np.exp(-0.1 * np.square(a[:, None] - b).sum(axis=2))

    model = KernelPCA(2, kernel="precomputed").fit(kernel(X, X))
    agree(scores(model, kernel(NEW, X), tmp_path), model.transform(kernel(NEW, X)), 1e-10)


def test_after_partial_fit(tmp_path):
    model = PCA(2).partial_fit(X[:30]).partial_fit(X[30:])
    path = tmp_path / "m.onnx"
    export_onnx(model, path)
    assert "subspace_" in model.__dict__
    agree(scores(model, NEW, tmp_path), model.transform(NEW), 1e-12)


def test_metadata(tmp_path):
    names = ["größe", "", "a\nb", "d", "e", "🦆"]
    model, path = PCA(2).fit(pd.DataFrame(X, columns=names)), tmp_path / "m.onnx"
    export_onnx(model, path)
    made = onnx.load(path)
    onnx.checker.check_model(made, full_check=True)
    known = {entry.key: entry.value for entry in made.metadata_props}
    assert json.loads(known["columns"]) == names
    assert json.loads(known["components"]) == ["pca0", "pca1"]
    assert known["ritz_version"] == ritz.__version__
    assert known["kind"] == "PCA"
    shape = made.graph.input[0].type.tensor_type.shape.dim
    assert (shape[0].dim_param, shape[1].dim_value) == ("n", 6)


def test_what_cannot_be_exported(tmp_path, monkeypatch):
    path = tmp_path / "m.onnx"
    with pytest.raises(DataError, match="is not a formula"):
        export_onnx(KernelPCA(2, kernel=lambda x, y: x @ y).fit(X), path)
    with pytest.raises(DataError, match="sparse points; fit it on dense rows"):
        export_onnx(KernelPCA(2).fit(sp.csr_array(X)), path)
    with pytest.raises(TypeError, match="expected a PCA or a KernelPCA, got int"):
        export_onnx(5, path)
    with pytest.raises(ValueError, match="not fitted"):
        export_onnx(PCA(), path)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        export_onnx(PCA(2).fit(X), tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        export_onnx(PCA(2).fit(X), tmp_path / "nowhere" / "m.onnx")
    monkeypatch.setattr("ritz.estimators.onnx.LARGEST", 50)
    with pytest.raises(DataError, match=r"an ONNX file holds at most .* use model.save"):
        export_onnx(PCA(2).fit(X), path)
    assert os.listdir(tmp_path) == []


def test_without_the_package_the_message_names_it(tmp_path, monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r"pip install 'ritz\[onnx\]'"):
        export_onnx(PCA(2).fit(X), tmp_path / "m.onnx")


def test_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "m.onnx"
    path.write_text("old")

    def fail(*args):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space") as caught:
        export_onnx(PCA(2).fit(X), path)
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["m.onnx"]
