"""Models that go into a file and come back: every attribute, every bit, and able to go on."""

import copy
import json
import os
import pickle
import warnings
from pathlib import Path
from types import GenericAlias, NoneType
from typing import Any, TypeVar, get_origin

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from safetensors import safe_open
from scipy.fft import idct
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import ritz
from helpers.matrices import random_array, with_spectrum
from helpers.models import differences, model_differences, opened
from ritz import PCA, CompressedSensing, KernelPCA, load, merge, solvers
from ritz.errors import AccuracyWarning, ColumnWarning, DataError
from ritz.runtime.files.decoding import _members

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")]
RNG = np.random.default_rng(0)
TALL = 3 + RNG.standard_normal((60, 6)) * np.geomspace(10, 0.1, 6)
WIDE = RNG.standard_normal((7, 30)) + 5
SOLVERS = ["auto", "covariance", "gram", "svd", "krylov", "power", "orthogonal", "full", "arpack"]


def back(model, tmp_path, **kwargs):
    path = tmp_path / "model.safetensors"
    model.save(path, **kwargs)
    return load(path)


def assert_same(model, loaded, X):
    """Attributes, the printed certificate and all that is computed from them, bit for bit."""
    assert model_differences(model, loaded) == []
    if hasattr(model, "certificate_"):
        assert str(loaded.certificate_) == str(model.certificate_)
        assert str(loaded.plan_) == str(model.plan_)
    computed = ["transform"]
    if isinstance(model, PCA):
        assert differences(model.loadings_, loaded.loadings_) == []
        assert differences(model.get_covariance(), loaded.get_covariance()) == []
        computed += ["reconstruction_error", "score_samples"]
    for name in computed:
        assert differences(getattr(model, name)(X), getattr(loaded, name)(X), name) == []
    assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "options", [{}, {"scale": True}, {"whiten": True}, {"center": False}, {"scale": True, "whiten": True, "ddof": 0}]
)
def test_every_solver_and_preprocessing(tmp_path, solver, dtype, options):
    X = TALL.astype(dtype)
    model = PCA(3, svd_solver=solver, **options).fit(X)
    loaded = back(model, tmp_path)
    assert repr(loaded) == repr(model)
    assert_same(model, loaded, X)
    Y = model.transform(X)
    assert differences(model.inverse_transform(Y), loaded.inverse_transform(Y)) == []


SHAPES = {
    "one component": (TALL, {"n_components": 1}),
    "one column": (TALL[:, :1], {}),
    "all components": (TALL, {}),
    "wide": (WIDE, {}),
    "wide, whitened": (WIDE, {"whiten": True, "n_components": 4}),
    "rank deficient": (with_spectrum(30, 8, [3.0, 2.0, 0, 0, 0, 0, 0, 0], RNG), {"n_components": 5, "whiten": True}),
    "all zeros": (np.zeros((5, 3)), {}),
    "tied": (with_spectrum(40, 6, [2.0] * 6, RNG), {"n_components": 3}),
    "huge": (TALL * 1e200, {"n_components": 4, "whiten": True}),
    "tiny": (TALL * 1e-200, {"n_components": 4, "whiten": True}),
    "at 1e300": (TALL * 1e298, {"n_components": 2, "svd_solver": "covariance"}),
    "share": (TALL, {"n_components": 0.9}),
    "mle": (TALL, {"n_components": "mle"}),
    "integers": (np.round(TALL).astype(np.int16), {"n_components": 2}),
    "float16": (TALL.astype(np.float16), {"n_components": 2}),
    "sparse": (random_array((50, 20), density=0.2, rng=RNG, format="csr"), {"n_components": 3}),
    "sparse, krylov": (random_array((80, 40), density=0.2, rng=RNG, format="csc"), {"svd_solver": "krylov"}),
    "offset": (TALL + 1e8, {"n_components": 2}),
    "many columns": (RNG.standard_normal((20, 1200)), {"n_components": 3}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_and_size(tmp_path, name):
    X, options = SHAPES[name]
    options = {"n_components": 5} | options if name == "sparse, krylov" else options
    model = PCA(**options).fit(X)
    loaded = back(model, tmp_path)
    assert model_differences(model, loaded) == []
    assert str(loaded.certificate_) == str(model.certificate_)
    assert differences(model.transform(X), loaded.transform(X)) == []
    assert differences(model.reconstruction_error(X), loaded.reconstruction_error(X)) == []


NAMES = {
    "plain": list("abcdef"),
    "unicode": ["größe", "身長", "🦆", "é", "e\u0301", "\u202eright to left"],
    "weird": ["", " ", "a\nb", 'say "x"', "\\", "\x00"],
    "lone surrogate": ["\ud800", "b", "c", "d", "e", "f"],
    "like a path": ["../x", "subspace.axes", "__metadata__", "tensor", "0" * 64, "null"],
    "long": ["x" * 100_000, "b", "c", "d", "e", "f"],
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_names_of_columns(tmp_path, names):
    table = pd.DataFrame(TALL, columns=pd.Index(names, dtype=object))  # pandas would have text as UTF-8
    model = PCA(2).fit(table)
    loaded = back(model, tmp_path)
    assert list(loaded.feature_names_in_) == names
    assert_same(model, loaded, table)
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(table.iloc[:, ::-1])


def test_repeated_names_are_told_apart_by_position_as_before(tmp_path):
    table = pd.DataFrame(TALL, columns=["a"] * 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PCA(2).fit(table)
        assert_same(model, back(model, tmp_path), table)


@pytest.mark.parametrize("kind", ["pandas", "polars", "default"])
def test_the_kind_of_output_is_kept(tmp_path, kind):
    model = PCA(2).set_output(transform=kind).fit(TALL)
    loaded = back(model, tmp_path)
    expected = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "default": np.ndarray}[kind]
    assert type(loaded.transform(TALL)) is expected
    assert model_differences(model, loaded) == []


@pytest.mark.parametrize("n_rows", [None, 50])
def test_from_a_covariance(tmp_path, n_rows):
    model = PCA.from_covariance(np.cov(TALL.T), mean=TALL.mean(axis=0), n_rows=n_rows, n_components=2)
    loaded = back(model, tmp_path)
    assert_same(model, loaded, TALL)
    assert hasattr(loaded, "singular_values_") == (n_rows is not None)


@pytest.mark.parametrize("options", [{}, {"svd_solver": "svd"}, {"scale": True}, {"center": False}])
def test_partial_fit_goes_on_as_if_nothing_had_happened(tmp_path, options):
    model = PCA(2, **options).partial_fit(TALL[:20]).partial_fit(TALL[20:30])
    loaded = back(model, tmp_path)
    assert_same(model, loaded, TALL)
    assert loaded.n_samples_seen_ == 30
    model.partial_fit(TALL[30:])
    loaded.partial_fit(TALL[30:])
    assert_same(model, loaded, TALL)
    assert np.allclose(loaded.explained_variance_, PCA(2, **options).fit(TALL).explained_variance_, rtol=1e-10)


def test_a_fit_goes_on_with_partial_fit(tmp_path):
    model = PCA(2).fit(TALL[:30])
    loaded = back(model, tmp_path)
    assert_same(model.partial_fit(TALL[30:]), loaded.partial_fit(TALL[30:]), TALL)


@pytest.mark.parametrize("rows", [3, 40, 64, 500])
def test_a_sketch_goes_on(tmp_path, rows):
    X = np.random.default_rng(1).standard_normal((700, 400)) * np.geomspace(10, 0.01, 400)
    model = PCA(3, memory_limit="4MB").partial_fit(X[:rows])
    loaded = back(model, tmp_path)
    assert type(loaded._moments).__name__ == "Stream"
    assert model_differences(model, loaded) == []
    assert_same(model.partial_fit(X[rows:]), loaded.partial_fit(X[rows:]), X)
    assert_same(merge([model, model]), merge([loaded, model]), X)


def test_one_row_alone_is_kept_too(tmp_path):
    model = PCA(2).partial_fit(TALL[:1])
    loaded = back(model, tmp_path)
    assert model_differences(model, loaded) == []
    assert not hasattr(loaded, "components_")
    assert_same(PCA(2).partial_fit(TALL[:1]).partial_fit(TALL[1:]), loaded.partial_fit(TALL[1:]), TALL)


def test_axes_that_were_not_asked_for_yet_are_in_the_file(tmp_path):
    model = PCA(2).partial_fit(TALL)
    assert "subspace_" not in model.__dict__
    assert "subspace_" in back(model, tmp_path).__dict__


@pytest.mark.parametrize("options", [{}, {"svd_solver": "svd"}])
def test_loaded_models_merge(tmp_path, options):
    parts = [PCA(3, **options).fit(part) for part in (TALL[:25], TALL[25:])]
    loaded = [back(part, tmp_path) for part in parts]
    assert_same(merge(parts), merge(loaded), TALL)


def test_the_way_there_is_kept(tmp_path):
    model = PCA(2, svd_solver="power").fit(TALL)
    loaded = back(model, tmp_path)
    assert len(loaded.history_) > 2
    assert loaded.history_ == model.history_
    assert [type(part) for part in loaded.history_[0]] == [int, int, float, float, float]


def test_saving_and_loading_draw_no_random_numbers(tmp_path):
    state = np.random.RandomState(7)
    model = PCA(2, svd_solver="krylov", random_state=state).fit(TALL)
    before = state.get_state()
    loaded = back(model, tmp_path)
    assert differences(before, state.get_state()) == []
    assert differences(before, loaded.random_state.get_state()) == []


def test_the_dual_is_kept(tmp_path):
    model = PCA(2, svd_solver="gram").fit(WIDE)
    assert differences(back(model, tmp_path).dual_components_, model.dual_components_) == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"svd_solver": solvers.Krylov(max_iter=77, start=np.ones(6))},
        {"svd_solver": solvers.Power(max_iter=5000, change=1e-12)},
        {"svd_solver": solvers.Orthogonal(start=np.eye(6)[:, :3])},
        {"svd_solver": solvers.SVD()},
        {"svd_solver": solvers.Covariance()},
        {"random_state": 7},
        {"random_state": np.random.RandomState(7)},
        {"n_components": np.int64(2), "tol": np.float32(1e-3), "center": np.bool_(True)},
        {"memory_limit": "2GB", "iterated_power": 99, "copy": False, "verbose": False},
    ],
    ids=lambda parameters: " ".join(f"{name} {type(value).__name__}" for name, value in parameters.items()),
)
def test_parameters(tmp_path, parameters):
    model = PCA(**{"n_components": 2} | parameters).fit(TALL)
    loaded = back(model, tmp_path)
    assert model_differences(model, loaded) == []
    assert_same(model.fit(TALL * 2), loaded.fit(TALL * 2), TALL)


KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.1},
    "rbf": {"kernel": "rbf", "gamma": "median"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 1e-8, "coef0": 0},
    "cosine": {"kernel": "cosine"},
    "laplacian": {"kernel": "laplacian", "gamma": 0.1},
    "landmarks": {"kernel": "rbf", "gamma": 0.1, "n_landmarks": 30},
    "krylov": {"kernel": "rbf", "gamma": 0.1, "eigen_solver": solvers.Krylov(max_iter=50)},
    "pre-images": {"kernel": "rbf", "gamma": 0.1, "fit_inverse_transform": True},
    "linear pre-images": {"kernel": "linear", "fit_inverse_transform": True},
    "all components": {"kernel": "poly", "n_components": None},
    "params": {"kernel": "rbf", "kernel_params": {"a": [1, 2.5]}},
}


@pytest.mark.parametrize("options", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("kind", ["float64", "float32", "sparse", "sparse matrix", "integers", "far", "named"])
def test_kernel_models(tmp_path, options, kind):
    X = {
        "float64": lambda: TALL,
        "float32": lambda: TALL.astype(np.float32),
        "sparse": lambda: sp.csr_array(np.where(np.abs(TALL) > 3, TALL, 0.0)),
        "sparse matrix": lambda: sp.csr_matrix(np.where(np.abs(TALL) > 3, TALL, 0.0)),
        "integers": lambda: np.round(TALL).astype(np.int32),
        "far": lambda: np.asfortranarray(TALL + 1e5),
        "named": lambda: pd.DataFrame(TALL, columns=NAMES["unicode"]),
    }[kind]()
    model = KernelPCA(**{"n_components": 3} | options).fit(X)
    loaded = back(model, tmp_path)
    assert_same(model, loaded, X)
    if "fit_inverse_transform" in options:
        Y = model.transform(X)
        assert loaded._state.preimage.embedding is loaded.embedding_
        assert differences(model.inverse_transform(Y), loaded.inverse_transform(Y)) == []


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_kernel_matrix_that_was_given(tmp_path, dtype):
    K = np.exp(-0.1 * np.square(TALL[:, None] - TALL).sum(axis=2)).astype(dtype)
    model = KernelPCA(3, kernel="precomputed").fit(K)
    assert_same(model, back(model, tmp_path), K)


def test_rows_that_are_all_alike(tmp_path):
    model = KernelPCA(kernel="rbf").fit(np.ones((5, 2)))
    loaded = back(model, tmp_path)
    assert model_differences(model, loaded) == []
    assert str(loaded.certificate_) == str(model.certificate_)


def test_notes_come_back_and_stay_until_the_next_fit(tmp_path):
    notes = {"file": "größe.csv", "missing": {"how": "drop", "rows": [1, 2]}, "share": 0.1, "none": None, "yes": True}
    for model in (PCA(2).fit(TALL), KernelPCA(2).fit(TALL)):
        assert back(model, tmp_path).notes_ == {}
        loaded = back(model, tmp_path, notes=notes)
        assert loaded.notes_ == notes
        assert back(loaded, tmp_path).notes_ == notes
        assert back(loaded, tmp_path, notes={}).notes_ == {}
        assert not hasattr(loaded.fit(TALL), "notes_")


def test_notes_can_hold_the_word_that_stands_for_the_checksum(tmp_path):
    notes = {"0" * 64: "0" * 64}
    assert back(PCA(2).fit(TALL), tmp_path, notes=notes).notes_ == notes


@pytest.mark.parametrize(
    "notes",
    [{"a": np.zeros(2)}, {"a": float("nan")}, ["a"], {"a": {1, 2}}, {"a": TALL.shape.__len__}, {(1, 2): 3}],
    ids=range(6),
)
def test_notes_that_json_does_not_have(tmp_path, notes):
    with pytest.raises(DataError, match="notes must be a mapping of what JSON has"):
        PCA(2).fit(TALL).save(tmp_path / "m", notes=notes)
    assert os.listdir(tmp_path) == []


class Mine:
    """A solver of one's own."""

    side, direct = "covariance", True

    def basis(self, A, k, *, tol, rng):
        return solvers.Covariance().basis(A, k, tol=tol, rng=rng)


class Child(PCA):
    """A model of one's own."""


def test_what_cannot_be_kept_is_said(tmp_path):
    path = tmp_path / "m.safetensors"
    with pytest.raises(DataError, match=r"svd_solver=.*Mine.* cannot be kept in a model file.*set_params"):
        PCA(2, svd_solver=Mine()).fit(TALL).save(path)
    with pytest.raises(DataError, match=r"kernel='<lambda>' is a Python function.*pickle or joblib"):
        KernelPCA(2, kernel=lambda x, y: x @ y).fit(TALL).save(path)
    with pytest.raises(DataError, match=r"random_state=Generator.* cannot be kept"):
        PCA(2, random_state=np.random.default_rng(0)).fit(TALL).save(path)
    with pytest.raises(DataError, match="Child is not a class of ritz"):
        Child(2).fit(TALL).save(path)
    with pytest.raises(ValueError, match="tol=7 must be"):
        PCA(2).fit(TALL).set_params(tol=7).save(path)
    with pytest.raises(ValueError, match=f"ddof={len(TALL)} must be below the {len(TALL)} rows of the fit"):
        PCA(2).fit(TALL).set_params(ddof=len(TALL)).save(path)
    for model in (PCA(), KernelPCA()):
        with pytest.raises(NotFittedError):
            model.save(path)
    assert os.listdir(tmp_path) == []


def test_a_header_that_no_reader_would_take(tmp_path, monkeypatch):
    monkeypatch.setattr("ritz.runtime.files.container.LARGEST_HEADER", 10_000)
    with pytest.raises(DataError, match=r"take \d+ bytes of the header, which may have 10000; shorten"):
        PCA(2).fit(TALL).save(tmp_path / "m", notes={"a": "x" * 10_000})
    assert os.listdir(tmp_path) == []


def test_places_that_are_no_files(tmp_path):
    model = PCA(2).fit(TALL)
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        model.save(tmp_path / "nowhere" / "m")
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match="missing"):
        load(tmp_path / "missing")


def test_the_same_model_gives_the_same_bytes_and_its_own_rights(tmp_path):
    model, paths = PCA(2, svd_solver="krylov").fit(TALL), [tmp_path / "a", tmp_path / "b"]
    paths[1].write_text("old")
    paths[1].chmod(0o640)
    for path in paths:
        model.save(str(path))
    assert paths[0].read_bytes() == paths[1].read_bytes()
    load(paths[0]).save(paths[1])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[1].stat().st_mode & 0o777 == 0o640


def test_any_reader_of_safetensors_finds_the_numbers(tmp_path):
    model, path = PCA(2).fit(TALL), tmp_path / "m.safetensors"
    model.save(path)
    with safe_open(path, framework="np") as file:
        names, metadata = set(file.keys()), file.metadata()
        assert np.array_equal(file.get_tensor("subspace.axes"), model.subspace_.axes)
        assert np.array_equal(file.get_tensor("subspace.mean"), model.mean_)
        assert np.array_equal(file.get_tensor("certificate.value_bounds"), model.certificate_.value_bounds)
    assert {"subspace.variances", "moments.shift", "deviations", "ratios"} <= names
    assert metadata["format_version"] == "4"
    assert metadata["ritz_version"] == ritz.__version__
    assert metadata["kind"] == "PCA"


def test_the_metadata_is_strict_json(tmp_path):
    model, path = PCA(2, svd_solver="power").fit(TALL), tmp_path / "m"
    model.save(path)
    header, _, _ = opened(path)

    def refuse(name):
        raise AssertionError(name)

    tree = json.loads(header["__metadata__"]["model"], parse_constant=refuse)
    assert tree["plan"]["seconds"] == "inf" or tree["plan"]["seconds"] >= 0
    assert tree["parameters"]["svd_solver"] == "power"


def test_a_pre_image_does_not_keep_its_embedding_twice(tmp_path):
    model, path = KernelPCA(2, kernel="rbf", gamma=0.1, fit_inverse_transform=True).fit(TALL), tmp_path / "m"
    model.save(path)
    header, tree, _ = opened(path)
    assert tree["preimage"]["embedding"] == {"same": "embedding"}
    assert not [name for name in header if name.startswith("preimage.embedding")]


def test_the_file_of_version_1_still_loads():
    here = Path(__file__).parents[1] / "data"
    model = load(here / "model_v1.safetensors")
    assert repr(model) == "PCA(n_components=2, scale=True)"
    assert list(model.feature_names_in_) == ["Murder", "Assault", "UrbanPop", "Rape"]
    # The published deviations and first axis of these data (as R's prcomp prints them).
    assert np.allclose(np.sqrt(model.explained_variance_), [1.5748783, 0.9948694], atol=5e-8)
    assert np.allclose(np.abs(model.components_[0]), [0.5358995, 0.5831836, 0.2781909, 0.5434321], atol=5e-8)
    assert model.notes_ == {"file": "usarrests.csv"}
    assert model.certificate_.satisfied
    table = pd.read_csv(here / "usarrests.csv").iloc[:, -4:]
    assert np.allclose(model.transform(table).var(axis=0, ddof=1), model.explained_variance_, rtol=1e-12)
    assert model.partial_fit(table).n_samples_seen_ == 100


@pytest.mark.parametrize("size", ["small", "large"])
def test_files_of_version_1_of_extreme_data_say_what_to_do(size):
    """They do not keep deviations whose squares leave float64."""
    with pytest.raises(
        DataError,
        match=r"expected consistent values .*: it needs .*; a file of format version 1 .*: fit the model again with",
    ):
        load(Path(__file__).parents[1] / "data" / f"model_v1_{size}.safetensors")


def test_the_kernel_model_of_version_1_still_loads():
    """Its coefficients are multiplied by the unit of the kernel's values, 512 here."""
    here = Path(__file__).parents[1] / "data"
    table = pd.read_csv(here / "usarrests.csv").iloc[:, -4:]
    loaded = load(here / "model_v1_kernel.safetensors")
    fitted = KernelPCA(2, kernel="linear", fit_inverse_transform=True).fit(table)
    scores = fitted.fit_transform(table)
    np.testing.assert_allclose(loaded.transform(table), scores, rtol=0, atol=1e-12 * np.abs(scores).max())
    np.testing.assert_allclose(loaded.inverse_transform(scores), fitted.inverse_transform(scores), rtol=1e-10)


def test_the_sensing_model_of_version_1_still_loads():
    loaded = load(Path(__file__).parents[1] / "data" / "model_v1_sensing.safetensors")
    fitted = CompressedSensing(20, basis="dct", random_state=0).fit(np.eye(3, 32))
    signals = idct(np.eye(2, 32) * 7, norm="ortho")
    np.testing.assert_array_equal(loaded.transform(signals), fitted.transform(signals))
    np.testing.assert_allclose(loaded.inverse_transform(loaded.transform(signals)), signals, atol=1e-10)


def test_the_file_of_version_2_still_loads():
    """Two words of the mean, and columns that are called by years."""
    model = load(Path(__file__).parents[1] / "data" / "model_v2.safetensors")
    assert repr(model) == "PCA(n_components=1)"
    rows = pd.DataFrame([[0.0, 5.0], [1.0, 5.0], [1.0, 6.0], [1.0, 8.0]], columns=[2001, 2002]) + 2.0**52
    assert np.array_equal(model.mean_, [2.0**52 + 1, 2.0**52 + 6])
    assert np.array_equal(model.subspace_.remainder, [-0.25, 0.0])
    assert abs(model.transform(rows).sum()) < 1e-14
    with pytest.raises(DataError, match="column 0 is 2002 instead of 2001"):
        model.transform(rows[[2002, 2001]])


def test_the_file_of_version_3_still_loads():
    """Pictures: their shape and their white."""
    model = load(Path(__file__).parents[1] / "data" / "model_v3.safetensors")
    assert (model.image_shape_, model.white_) == ((3, 2), 255.0)
    pictures = np.arange(30, dtype=np.uint8).reshape(5, 3, 2) ** 2
    np.testing.assert_allclose(model.explained_variance_, PCA(2).fit(pictures.reshape(5, 6)).explained_variance_)


def test_the_file_of_version_4_still_loads():
    """The stages of "auto"."""
    choice = load(Path(__file__).parents[1] / "data" / "model_v4.safetensors").rank_choice_
    assert (choice.k, choice.stages) == (1, ((0, 19), (1, 19)))
    assert "PC1 (19 copies), nothing (19 copies)" in str(choice)


@pytest.mark.parametrize("shape", [(6, 2), (2, 2, 3)], ids=str)
@pytest.mark.parametrize("kind", ["PCA", "KernelPCA", "moments alone"])
def test_models_of_pictures_keep_their_shape(tmp_path, kind, shape):
    pictures = RNG.integers(0, 256, (20, *shape)).astype(np.uint8)
    rows = ritz.read(pictures)
    if kind == "moments alone":
        model = PCA(2).partial_fit(rows)
    else:
        model = (PCA(2) if kind == "PCA" else KernelPCA(2, kernel="rbf", gamma="scale")).fit(rows)
    loaded = back(model, tmp_path)
    assert (loaded.image_shape_, loaded.white_) == (model.image_shape_, model.white_) == (shape, 255.0)
    other = ritz.read(pictures.reshape(20, *shape[1::-1], *shape[2:])) if shape[0] != shape[1] else None
    if other is not None:
        with pytest.raises(DataError, match=r"pictures of 2×6 numbers .* the model was learned from 6×2"):
            loaded.transform(other)
    with pytest.warns(ColumnWarning, match="white is 1 in these pictures, but 255 in those of the model"):
        loaded.transform(ritz.read(pictures / 255))


def test_models_of_parts_agree_on_pictures_or_know_none():
    a, b = (ritz.read(RNG.integers(0, 256, (9, 2, 5)).astype(np.uint8)) for _ in range(2))
    first, second = PCA(2).fit(a), PCA(2).fit(b)
    assert ritz.merge([first, second]).image_shape_ == (2, 5)
    assert ritz.merge([first, PCA(2).fit(b.block(0, 9))]).image_shape_ is None
    assert first.partial_fit(b).image_shape_ == (2, 5)
    assert first.components_.shape == (2, 10)
    assert (first.image_shape_, first.white_) == ((2, 5), 255.0)
    assert PCA(2).fit(ritz.read(a.block(0, 9))).image_shape_ is None
    assert PCA(2).fit(ritz.read(RNG.random((9, 2, 5)), columns=[0, 1, 2])).image_shape_ is None


@pytest.mark.parametrize("model", [PCA(2).fit(TALL), KernelPCA(2, kernel="rbf").fit(TALL)], ids=["PCA", "KernelPCA"])
def test_pickle_joblib_copies_and_clones_keep_working(tmp_path, model):
    loaded = back(model, tmp_path, notes={"a": 1})
    joblib.dump(loaded, tmp_path / "m.joblib")
    for copied in (pickle.loads(pickle.dumps(loaded)), joblib.load(tmp_path / "m.joblib"), copy.deepcopy(loaded)):
        assert_same(model, copied, TALL)
        assert copied.notes_ == {"a": 1}
    fresh = clone(loaded)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "notes_")
    with pytest.raises(NotFittedError):
        fresh.transform(TALL)


def test_a_warning_at_the_settling_comes_with_the_save(tmp_path):
    model = PCA(4).partial_fit(with_spectrum(30, 8, [3.0, 2.0, 0, 0, 0, 0, 0, 0], RNG))
    with pytest.warns(AccuracyWarning, match="has rank 2"):
        model.save(tmp_path / "m")


class Alias:
    """A name for a type, as `type NAME[T] = ...` makes one in newer versions of Python."""

    def __init__(self, value):
        self.__value__ = value

    def __getitem__(self, args):
        return GenericAlias(self, args)


def test_annotations_are_read_by_what_they_stand_for():
    """NumPy's NDArray is a type in some versions, and the name of one in others."""
    T = TypeVar("T")
    named, plain = Alias(np.ndarray[tuple[Any, ...], np.dtype[T]]), NDArray[np.float64] | None
    assert [get_origin(member) or member for member in _members(named[np.float64])] == [np.ndarray]
    assert [get_origin(member) or member for member in _members(plain)] == [np.ndarray, NoneType]
    assert _members(Alias(int | float | None)) == (int, float, NoneType)
    assert [get_origin(member) for member in _members(Alias(tuple[int, ...]))] == [tuple]


def test_models_at_the_limits_of_what_is_checked_load(tmp_path):
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(40):  # one component has all the variance: the total may be rounded below it, its share is 1 at most
        X = rng.standard_normal((20, 1)) * rng.standard_normal(5)
        pca = PCA(1, svd_solver="krylov").fit(X)
        pca.save(tmp_path / "one")
        shares.append(load(tmp_path / "one").explained_variance_ratio_[0])
    assert max(shares) == 1
    subnormal = PCA(1, svd_solver="gram").fit(np.ldexp(rng.standard_normal((40, 1)), -1060))
    assert np.isinf(subnormal.dual_components_).any()
    # Rounding leaves covariances where it has cancelled the variances.
    hidden = PCA(2).partial_fit(sp.csr_array(2.0**52 + rng.integers(0, 4, (32, 9))))
    # The total of sparse rows far from 0 is rounded otherwise than the variances, of which it is the sum.
    far = [sp.csr_array(offset + rng.standard_normal((4, 3))) for offset in np.geomspace(1e4, 1e9, 30)]
    sparse = [PCA(2, svd_solver="covariance").fit(rows) for rows in far]
    # Squares that overflow: an iteration deflates values below 0, where rounding (of this BLAS) happens to do so.
    spikes = (np.eye(17)[np.random.default_rng(seed).integers(0, 17, 13)] * 2.0**900 for seed in range(40))
    powers = (PCA(11, center=False, svd_solver=solvers.Power(max_iter=9)).fit(rows) for rows in spikes)
    power = next(pca for pca in powers if min(step.value for step in pca.history_) == -np.inf)
    for pca in (subnormal, hidden, *sparse, power):
        pca.save(tmp_path / "model")
        np.testing.assert_array_equal(load(tmp_path / "model").components_, pca.components_)
