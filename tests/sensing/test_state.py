"""Models of compressed sensing that go into a file and come back: measuring and recovering to the last bit."""

import copy
import pickle
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from safetensors.numpy import load_file
from scipy.fft import idct
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from helpers.commands import answer, run
from helpers.models import differences, model_differences, opened, with_tensor, with_tree
from ritz import PCA, CompressedSensing, KernelPCA, load
from ritz.errors import DataError

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")]
RNG = np.random.default_rng(0)
N, M = 64, 24
CODES = np.zeros((6, N))
for row in CODES:
    row[RNG.choice(N, 3, replace=False)] = RNG.standard_normal(3)
X = idct(CODES, norm="ortho")
WIDE = RNG.standard_normal((M, N))
TURN = np.linalg.qr(RNG.standard_normal((N, N)))[0]

MEASUREMENTS = {
    "gaussian": "gaussian",
    "bernoulli": "bernoulli",
    "subsampled-dct": "subsampled-dct",
    "array": WIDE,
    "float32": WIDE.astype(np.float32),
    "integers": np.sign(WIDE).astype(np.int8),
    "by columns": np.asfortranarray(WIDE),
    "sparse": sp.csr_array(np.where(WIDE > 0.5, WIDE, 0.0)),
    "sparse matrix": sp.csr_matrix(np.where(WIDE > 0.5, WIDE, 0.0)),
}
BASES = {
    "dct": {"basis": "dct"},
    "dct of images": {"basis": "dct", "signal_shape": (8, 8)},
    "haar": {"basis": "haar", "signal_shape": N},
    "db4 of images": {"basis": "db4", "signal_shape": (8, 8)},
    "biorthogonal": {"basis": "bior2.2"},
    "array": {"basis": TURN},
    "by columns": {"basis": np.asfortranarray(TURN[:, :40])},
    "sparse": {"basis": sp.csr_array(np.where(np.abs(TURN) > 0.05, TURN, 0.0))},
}


def back(model, tmp_path, **kwargs):
    path = tmp_path / "model.safetensors"
    model.save(path, **kwargs)
    return load(path)


def recovered(**options):
    """A model whose certificate speaks of signals."""
    model = CompressedSensing(**{"n_measurements": M} | options).fit(X)
    model.inverse_transform(model.transform(X))
    return model


def assert_same(model, loaded):
    """Attributes, parameters, maps, and what is measured and recovered, bit for bit."""
    assert model_differences(model, loaded) == []
    assert str(loaded.certificate_) == str(model.certificate_)
    Y = model.transform(X)
    assert differences(Y, loaded.transform(X)) == []
    ours, theirs = model.recover(Y), loaded.recover(Y)
    assert differences(ours, theirs) == []


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("measurement", MEASUREMENTS.values(), ids=MEASUREMENTS)
def test_every_measurement_and_basis(tmp_path, measurement, basis):
    model = recovered(measurement=measurement, **basis)
    assert_same(model, back(model, tmp_path))


@pytest.mark.parametrize("solver", ["omp", "fista", "basis-pursuit"])
def test_every_solver(tmp_path, solver):
    model = recovered(solver=solver, max_iter=1000, random_state=3)
    assert_same(model, back(model, tmp_path))


def test_a_model_that_has_recovered_nothing_yet(tmp_path):
    model = CompressedSensing(0.5, sparsity=4, noise=0.01, tol=1e-4, verbose=False).fit(X)
    loaded = back(model, tmp_path)
    assert_same(model, loaded)
    assert loaded.n_iter_ == 1
    assert loaded.get_params() == model.get_params()


def test_signals_that_were_not_recovered(tmp_path):
    """Gaps that are infinite, and a certificate that says no."""
    model = recovered(solver="fista", max_iter=1, n_measurements=4)
    assert not model.certificate_.satisfied
    assert_same(model, back(model, tmp_path))


def test_numbers_near_the_ends_of_float64(tmp_path):
    for size in (1e-300, 1e300):
        model = CompressedSensing(M, measurement=size * WIDE, basis=TURN).fit(X)
        model.inverse_transform(model.transform(X[:2] * 1e-5))
        loaded = back(model, tmp_path)
        assert differences(model.certificate_, loaded.certificate_) == []


def test_nothing_is_drawn_again(tmp_path):
    """Another seed in the file changes what the next fit draws, and nothing else."""
    path = tmp_path / "m"
    for measurement in ("gaussian", "bernoulli", "subsampled-dct"):
        model = recovered(measurement=measurement, random_state=5)
        model.save(path)
        with_tree(path, lambda tree: tree["parameters"].update(random_state=99))
        loaded = load(path)
        assert differences(model.transform(X), loaded.transform(X)) == []
        assert not np.array_equal(loaded.fit(X).transform(X), model.transform(X))


def test_the_file_is_what_measures(tmp_path):
    path, model = tmp_path / "m", recovered()
    model.save(path)
    with_tensor(path, "measurement.entries", lambda entries: 2 * entries)
    assert np.array_equal(load(path).transform(X), 2 * model.transform(X))


def test_generators_are_kept_and_not_drawn_from(tmp_path):
    state = np.random.RandomState(7)
    model = CompressedSensing(M, random_state=state).fit(X)
    before = state.get_state()
    loaded = back(model, tmp_path)
    assert differences(before, state.get_state()) == []
    assert differences(before, loaded.random_state.get_state()) == []
    assert_same(model.fit(X), loaded.fit(X))


def test_matrices_that_are_parameters_are_stored_once(tmp_path):
    path = tmp_path / "m"
    for measurement in (WIDE, WIDE.astype(np.float32), MEASUREMENTS["sparse"]):
        recovered(measurement=measurement, basis=TURN).save(path)
        header, tree, _ = opened(path)
        assert tree["measurement"] is None
        assert tree["basis"] is None
        assert not [name for name in header if name.startswith(("measurement.", "basis."))]


def test_parameters_that_were_changed_after_the_fit(tmp_path):
    given = WIDE.copy()
    model = recovered(measurement=given, basis=TURN)
    Y = model.transform(X)
    given *= 2
    assert differences(Y, back(model, tmp_path).transform(X)) == []
    model.set_params(measurement="gaussian", basis="dct", n_measurements=7)
    loaded = back(model, tmp_path)
    assert differences(Y, loaded.transform(X)) == []
    assert loaded.measurement == "gaussian"
    assert loaded.n_measurements_ == M
    assert loaded.fit(X).n_measurements_ == 7


@pytest.mark.parametrize(
    "given",
    [sp.coo_array(WIDE), sp.csc_matrix(WIDE), pd.DataFrame(WIDE), WIDE.tolist(), WIDE[:, ::-1], np.asmatrix(WIDE)],
    ids=["coo", "csc", "frame", "lists", "backwards", "matrix"],
)
def test_matrices_of_any_kind_come_back_as_csr_or_arrays(tmp_path, given):
    model = recovered(measurement=given)
    loaded = back(model, tmp_path)
    dense = given.toarray() if sp.issparse(given) else np.asarray(given)
    assert np.array_equal(loaded.measurement.toarray() if sp.issparse(given) else loaded.measurement, dense)
    assert differences(model.measurement_, loaded.measurement_) == []
    assert differences(model.recover(model.transform(X)), loaded.recover(model.transform(X))) == []


def test_a_shape_in_a_list_comes_back_as_a_tuple(tmp_path):
    loaded = back(recovered(signal_shape=[8, 8]), tmp_path)
    assert loaded.signal_shape == loaded.signal_shape_ == (8, 8)


def test_names_output_and_notes(tmp_path):
    table = pd.DataFrame(X, columns=[f"größe {j}" for j in range(N)])
    model = CompressedSensing(M).set_output(transform="pandas").fit(table)
    loaded = back(model, tmp_path, notes={"units": "cm"})
    assert list(loaded.feature_names_in_) == list(table)
    assert type(loaded.transform(table)) is pd.DataFrame
    assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(table.iloc[:, ::-1])
    assert back(loaded, tmp_path).notes_ == {"units": "cm"}
    assert not hasattr(loaded.fit(table), "notes_")


def test_the_same_model_gives_the_same_bytes(tmp_path):
    paths = tmp_path / "a", tmp_path / "b"
    for options in ({}, {"measurement": "subsampled-dct", "basis": "haar"}, {"measurement": np.asfortranarray(WIDE)}):
        recovered(**options).save(paths[0])
        load(paths[0]).save(paths[1])
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_signs_and_places_take_little_room(tmp_path):
    """A byte for every entry of a signal and eight for every measurement, beside the header."""
    path, n, m = tmp_path / "m", 1 << 14, 1 << 10
    CompressedSensing(m, measurement="subsampled-dct").fit(np.zeros((1, n))).save(path)
    assert path.stat().st_size < n + 8 * m + 4000


def test_what_cannot_be_kept_is_said(tmp_path):
    path = tmp_path / "m"
    blind = LinearOperator((M, N), matvec=lambda x: WIDE @ x.ravel(), rmatvec=lambda y: WIDE.T @ y.ravel())
    for options in ({"measurement": blind}, {"basis": aslinearoperator(TURN)}):
        name = next(iter(options))
        with pytest.raises(DataError, match=f"{name}=.*known by its products alone.*pickle or joblib"):
            recovered(**options).save(path)
    with pytest.raises(DataError, match="known by its products alone"):
        recovered(basis=aslinearoperator(TURN)).set_params(basis="dct").save(path)
    with pytest.raises(DataError, match=r"random_state=Generator.* cannot be kept"):
        recovered(random_state=np.random.default_rng(0)).save(path)
    with pytest.raises(ValueError, match="solver='krylov' is not known"):
        recovered().set_params(solver="krylov").save(path)
    with pytest.raises(ValueError, match="measurement='magic' is not known"):
        recovered().set_params(measurement="magic").save(path)
    with pytest.raises(NotFittedError):
        CompressedSensing(M).save(path)
    assert not path.exists()


def test_wavelets_without_their_package_name_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "m.safetensors"
    recovered(basis="haar").save(path)
    monkeypatch.setitem(sys.modules, "pywt", None)
    with pytest.raises(ImportError, match=r"pip install 'ritz\[sensing\]'"):
        load(path)
    said = run("info", path, code=1).stderr
    assert "ritz[sensing]" in said
    assert said.count("\n") == 1
    recovered(basis="dct").save(path)
    assert load(path).basis == "dct"


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("measurement", ["gaussian", "subsampled-dct"])
def test_pickle_joblib_copies_and_clones(tmp_path, measurement, basis):
    model = recovered(measurement=measurement, **basis)
    joblib.dump(model, tmp_path / "m")
    for copied in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "m"), copy.deepcopy(model)):
        assert_same(model, copied)
    fresh = clone(back(model, tmp_path))
    assert differences(fresh.get_params(), model.get_params()) == []
    assert_same(model, recovered(**fresh.get_params()))


def test_operators_pickle(tmp_path):
    model = recovered(measurement=aslinearoperator(WIDE))
    copied = pickle.loads(pickle.dumps(model))
    assert differences(model.recover(model.transform(X)), copied.recover(copied.transform(X))) == []


@pytest.fixture
def folder(tmp_path):
    """A table of signals with names, and a model of them."""
    table = pd.DataFrame(X, columns=[f"t{j}" for j in range(N)])
    CompressedSensing(M).fit(table).save(tmp_path / "m.safetensors")
    PCA(2).fit(table).save(tmp_path / "pca.safetensors")
    table.insert(0, "name", list("abcdef"))
    table.to_csv(tmp_path / "x.csv", index=False)
    return tmp_path


def test_the_command_line_measures_and_recovers(folder):
    run("transform", folder / "m.safetensors", folder / "x.csv", "-o", folder / "y.csv")
    measured = pd.read_csv(folder / "y.csv")
    assert list(measured) == ["name", *(f"y{i + 1}" for i in range(M))]
    assert np.allclose(measured.iloc[:, 1:], load(folder / "m.safetensors").transform(X), rtol=1e-12)
    shuffled = measured.iloc[:, [3, 0, *range(1, 3), *range(4, M + 1)]]
    shuffled.to_csv(folder / "y.csv", index=False)
    said = run("inverse", folder / "m.safetensors", folder / "y.csv", "-o", folder / "z.csv").stderr
    assert "recovered as asked: 6 signals" in said
    found = pd.read_csv(folder / "z.csv")
    assert list(found) == ["name", *(f"t{j}" for j in range(N))]
    assert list(found["name"]) == list("abcdef")
    assert np.abs(found.iloc[:, 1:].to_numpy() - X).max() < 1e-10


def test_what_was_not_recovered_ends_with_4_and_is_written(folder):
    noise = pd.DataFrame(RNG.standard_normal((3, M)))
    noise.to_csv(folder / "y.csv", index=False)
    told = answer("inverse", folder / "m.safetensors", folder / "y.csv", "-o", folder / "z.csv", code=4)
    assert told["exit_code"] == 4
    assert any("too few for the sparsity" in word for word in told["warnings"])
    assert len(pd.read_csv(folder / "z.csv")) == 3


def test_info_shows_a_model_of_compressed_sensing(folder):
    said = run("info", folder / "m.safetensors").output
    assert f"a model of {N} columns" in said
    assert f"{M} measurements of {N} coefficients; no signal recovered yet" in said
    CompressedSensing(M, measurement=WIDE).fit(X).save(folder / "own.safetensors")
    told = answer("info", folder / "own.safetensors")
    assert told["model"] == "CompressedSensing"
    assert told["measurements"] == M
    assert told["parameters"]["measurement"] == f"a matrix of {M} by {N} numbers"
    assert told["certificate"]["n_coefficients"] == N


@pytest.mark.parametrize(
    "command",
    [
        ("report", "m.safetensors", "-o", "out.html"),
        ("report", "m.safetensors", "x.csv", "-o", "out.html"),
        ("compare", "m.safetensors", "pca.safetensors"),
        ("compare", "pca.safetensors", "m.safetensors"),
        ("merge", "pca.safetensors", "m.safetensors", "-o", "out.safetensors"),
        ("merge", "m.safetensors", "m.safetensors", "-o", "out.safetensors"),
        ("export", "m.safetensors", "out.onnx"),
        ("inverse", "m.safetensors", "x.csv", "-o", "out.csv"),
    ],
    ids=" ".join,
)
def test_what_has_no_components_is_refused_in_one_line(folder, command):
    arguments = [folder / part if "." in part else part for part in command]
    said = run(*arguments, code=3).stderr
    assert said.count("\n") == 1
    assert "CompressedSensing" in said or "but the model has 24: y1 to y24" in said
    assert not list(folder.glob("out*"))


def test_kernel_models_are_still_told_apart(folder):
    KernelPCA(2, kernel="rbf").fit(X).save(folder / "k.safetensors")
    assert "kernel model" in run("compare", folder / "k.safetensors", folder / "k.safetensors", code=3).stderr


def test_a_solver_that_is_to_be_told_when_to_stop(tmp_path):
    long = np.ones((1, 40_000))
    model = CompressedSensing(100, measurement="subsampled-dct").fit(long)
    loaded = back(model, tmp_path).set_params(sparsity=1)
    np.testing.assert_allclose(loaded.inverse_transform(model.transform(long)), long)


def test_what_no_signal_has_yet_is_kept_once_for_every_kind_of_number(tmp_path):
    model = CompressedSensing(3).fit(np.random.default_rng(1).standard_normal((60, 5)))
    model.save(tmp_path / "m")
    assert sum(name.startswith("certificate.") for name in load_file(tmp_path / "m")) == 3
