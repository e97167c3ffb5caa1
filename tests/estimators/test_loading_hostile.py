"""Model files that are damaged, or made to deceive: one error in one line that names the file, and nothing else."""

import contextlib
import json
import os
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from helpers.counts import usually
from helpers.models import model_differences, opened, signed, with_tensor, with_tree
from ritz import PCA, CompressedSensing, KernelPCA, compare, load, merge, report, solvers
from ritz.errors import DataError

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")]
RNG = np.random.default_rng(0)
X = 3 + RNG.standard_normal((20, 4)) * [4.0, 3.0, 2.0, 1.0]
WIDE = RNG.standard_normal((300, 400)) * np.geomspace(10, 0.01, 400)


def recovered(model):
    """A model of compressed sensing that has recovered something."""
    model.fit(X).inverse_transform(model.transform(X))
    return model


MODELS = {
    "pca": lambda: PCA(2, scale=True).fit(X),
    "covariance": lambda: PCA(2, svd_solver="covariance").fit(X),
    "power": lambda: PCA(2, svd_solver=solvers.Power(start=np.ones(4)), random_state=np.random.RandomState(0)).fit(X),
    "gram": lambda: PCA(2, svd_solver="gram").fit(X),
    "auto": lambda: PCA("auto").fit(X),
    "sketch": lambda: PCA(2, memory_limit="4MB").partial_fit(WIDE),
    "huge": lambda: PCA(2, whiten=True).fit(1e200 * X),
    "faint": lambda: PCA(2, whiten=True).fit(1e-310 * X),
    "one row": lambda: PCA(2).partial_fit(X[:1]),
    "rbf": lambda: KernelPCA(2, kernel="rbf", gamma=0.1, fit_inverse_transform=True).fit(X),
    "sparse": lambda: KernelPCA(2, kernel="poly").fit(sp.csr_array(np.where(np.abs(X) > 3, X, 0.0))),
    "precomputed": lambda: KernelPCA(2, kernel="precomputed").fit(X @ X.T),
    "landmarks": lambda: KernelPCA(2, kernel="rbf", gamma=0.1, n_landmarks=8).fit(X),
    "sensing": lambda: recovered(CompressedSensing(3, random_state=7)),
    "cosines": lambda: recovered(
        CompressedSensing(3, measurement="subsampled-dct", basis="haar", signal_shape=(2, 2), solver="fista")
    ),
    "explained": lambda: recovered(CompressedSensing(3, basis=np.linalg.svd(X)[2].T[:, :3], solver="fista")),
    "own matrices": lambda: recovered(
        CompressedSensing(2, measurement=sp.csr_array(X[:2]), basis=np.eye(4), random_state=np.random.RandomState(0))
    ),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The bytes of a file of every kind of model."""
    folder, found = tmp_path_factory.mktemp("models"), {}
    for name, make in MODELS.items():
        make().save(folder / name)
        found[name] = (folder / name).read_bytes()
    return found


@pytest.fixture
def written(files, tmp_path):
    """A file of some kind of model, to be changed."""

    def write(name="pca"):
        path = tmp_path / f"{name}.safetensors"
        path.write_bytes(files[name])
        return path

    return write


def refused(path, match=""):
    """The file is refused with one error, in one line that names it."""
    with pytest.raises(DataError, match=match) as caught:
        load(path)
    assert type(caught.value) is DataError
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


OFTEN = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


def test_truncated_anywhere(files, tmp_path):
    path, data = tmp_path / "m", files["pca"]
    for length in range(0, len(data), usually(3, thorough=1)):
        path.write_bytes(data[:length])
        refused(path, r"expected .*, found")


def test_something_added(files, tmp_path):
    path = tmp_path / "m"
    for more in (b"\0", b"x" * 8, files["pca"]):
        path.write_bytes(files["pca"] + more)
        refused(path, r"expected \d+ bytes, found \d+")


@settings(max_examples=usually(150, thorough=400), **OFTEN)
@given(at=st.integers(0, 1 << 30), new=st.integers(1, 255), name=st.sampled_from(sorted(MODELS)))
def test_any_byte_changed(files, tmp_path, at, new, name):
    data = bytearray(files[name])
    data[at % len(data)] ^= new
    path = tmp_path / "m"
    path.write_bytes(data)
    refused(path)


@settings(max_examples=usually(100, thorough=200), **OFTEN)
@given(data=st.binary(max_size=300))
def test_any_bytes(tmp_path, data):
    path = tmp_path / "m"
    path.write_bytes(data)
    refused(path, "expected")


def test_what_is_no_model_at_all(tmp_path):
    path = tmp_path / "m"
    deep = b"[" * 100_000
    cases = {
        "empty": b"",
        "text": b"a,b\n1,2\n" * 100,
        "zeros": bytes(1000),
        "huge header": struct.pack("<Q", 1 << 63) + b"{}",
        "header of a gigabyte": struct.pack("<Q", 1 << 30) + b"{}" * 100,
        "header is a list": struct.pack("<Q", 2) + b"[]",
        "deep header": struct.pack("<Q", len(deep)) + deep,
        "header in no encoding": struct.pack("<Q", 4) + b'{"\xff"',
        "no metadata": struct.pack("<Q", 2) + b"{}",
        "pickle": b"\x80\x04\x95" + bytes(50),
        "zip": b"PK\x03\x04" + bytes(50),
    }
    for content in cases.values():
        path.write_bytes(content)
        refused(path, "expected")


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        refused(path, "found a pipe or a device")


def test_a_file_that_shrinks_while_it_is_read(written, monkeypatch):
    path, real = written(), os.fstat

    def shrinking(handle):
        status = real(handle)
        os.truncate(path, 4000)
        return status

    assert path.stat().st_size > 4000
    monkeypatch.setattr(os, "fstat", shrinking)
    refused(path, "expected")


def test_messages_hold_nothing_that_a_terminal_would_obey(written):
    path = written()
    for text in ("\x1b[2J\ud800\n", "x" * 100_000):
        for place in (("subspace", "kind"), ("parameters", "svd_solver"), ("certificate", "completeness"), ("dtype",)):
            path = written()
            with_tree(path, change(*place, to=text))
            with pytest.raises(DataError) as caught:
                load(path)
            str(caught.value).encode()
            assert str(caught.value).isprintable()
            assert len(str(caught.value)) < 500


def test_a_foreign_safetensors_file_is_no_ritz_model(tmp_path):
    for metadata in (None, {"format": "pt"}):
        save_file({"weight": np.zeros((2, 2))}, tmp_path / "m", metadata)
        refused(tmp_path / "m", "expected a Ritz model, found a safetensors file")


def test_a_newer_version_says_to_upgrade(written):
    path = written()
    header, _, body = opened(path)
    header["__metadata__"] |= {"format_version": "7", "ritz_version": "9.1"}
    signed(path, header, body)
    refused(path, r"expected format version 4 at most, found 7, written by ritz 9.1; upgrade ritz")


@pytest.mark.parametrize("version", ["", "0", "-1", "1.5", "x", "²", "9" * 5000])
def test_a_version_that_is_none(written, version):
    path = written()
    header, _, body = opened(path)
    header["__metadata__"]["format_version"] = version
    signed(path, header, body)
    refused(path, "expected")


@pytest.mark.parametrize("name", ["sha256", "kind", "model", "format_version", "ritz_version"])
def test_metadata_that_is_missing_or_no_text(written, name):
    for value in (None, 5, {"a": "b"}):
        path = written()
        header, _, body = opened(path)
        header["__metadata__"][name] = value
        if value is None:
            del header["__metadata__"][name]
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + body)
        refused(path, f"found no {name}")


def test_fields_that_a_file_lacks_take_their_defaults(written):
    path = written()
    whole = load(path)
    for part, name in DEFAULTS:
        with_tree(path, change(part, name, to=MISSING))
    older = load(path)
    assert older.plan_.refined is False
    assert older.certificate_.quantity == "variance"
    assert np.array_equal(older.transform(X), whole.transform(X))
    with_tree(path, change("parameters", "verbose", to=MISSING))
    assert load(path).verbose is False


DEFAULTS = [("plan", "refined"), ("certificate", "quantity"), ("certificate", "missing"), ("moments", "rough")]


def change(*path, to):
    """A change of one place in the tree."""

    def apply(tree):
        for part in path[:-1]:
            tree = tree[part]
        if to is MISSING:
            del tree[path[-1]]
        else:
            tree[path[-1]] = to

    return apply


def held_without_rbf(tree):
    """An iteration that only rbf has, for another kernel."""
    tree["preimage"]["held"], tree["embedding"]["kernel"] = 0.3, {"kind": "Linear"}


MISSING = object()
DEEP = json.loads("[" * 70 + "]" * 70)
TREES = {
    "not a table": ("pca", lambda tree: [tree]),
    "unknown field": ("pca", change("colour", to=1)),
    "unknown field inside": ("pca", change("plan", "colour", to=1)),
    "another kind": ("pca", change("subspace", "kind", to="Plan")),
    "a kind that is no class of ours": ("pca", change("subspace", "kind", to="os.system")),
    "a kind that is no text": ("pca", change("subspace", "kind", to=["Subspace"])),
    "no subspace": ("pca", change("subspace", to=None)),
    "no axes": ("pca", change("subspace", "axes", to=MISSING)),
    "axes are a number": ("pca", change("subspace", "axes", to=5)),
    "axes are a list": ("pca", change("subspace", "axes", to=[[1.0, 0.0]])),
    "tensor of no such name": ("pca", change("subspace", "axes", "tensor", to="nowhere")),
    "tensor without a name": ("pca", change("subspace", "axes", "tensor", to=[1])),
    "tensor that is left over": ("pca", change("subspace", "scale", to=None)),
    "another tensor": ("pca", change("subspace", "variances", "tensor", to="subspace.mean")),
    "nothing but moments": ("pca", change("certificate", to=None)),
    "dtype": ("pca", change("dtype", to="object")),
    "number of columns": ("pca", change("n_features", to=5)),
    "no columns": ("pca", change("n_features", to=0)),
    "too few names": ("pca", change("columns", to=["a"])),
    "names that are numbers": ("pca", change("columns", to=[1, 2, 3, 4])),
    "output": ("pca", change("output", to="os")),
    "fraction of a row": ("pca", change("subspace", "n_rows", to=20.5)),
    "one row": ("pca", change("subspace", "n_rows", to=1)),
    "negative ddof": ("pca", change("subspace", "ddof", to=-1)),
    "a truth value as a number": ("pca", change("subspace", "ddof", to=True)),
    "infinite rounding of moments": ("pca", change("moments", "rounding", to="inf")),
    "NaN left out": ("pca", change("subspace", "left_out", to="nan")),
    "negative variance left out": ("pca", change("subspace", "left_out", to=-1.0)),
    "integer beyond 64 bits": ("pca", change("plan", "memory", to=10**400)),
    "number beyond float64": ("pca", change("plan", "operations", to=10**400)),
    "negative memory": ("pca", change("plan", "memory", to=-1)),
    "completeness": ("pca", change("certificate", "completeness", to="surely")),
    "groups with a gap": ("pca", change("certificate", "groups", to=[[1, 2]])),
    "groups beyond": ("pca", change("certificate", "groups", to=[[0, 5]])),
    "groups overlap": ("pca", change("certificate", "groups", to=[[0, 2], [1, 2]])),
    "groups backwards": ("pca", change("certificate", "groups", to=[[0, 3], [3, 2]])),
    "groups of three": ("pca", change("certificate", "groups", to=[[0, 1, 2]])),
    "rank beyond k": ("pca", change("certificate", "rank", to=3)),
    "no rows in the certificate": ("pca", change("certificate", "n_rows", to=0)),
    "moments of no rows": ("pca", change("moments", "count", to=0)),
    "triangle beside moments": ("pca", change("moments", "triangle", to=None)),
    "deep notes": ("pca", change("notes", to={"a": DEEP})),
    "notes are a list": ("pca", change("notes", to=[])),
    "parameters are a list": ("pca", change("parameters", to=[])),
    "unknown parameter": ("pca", change("parameters", "colour", to=1)),
    "solver of no such name": ("pca", change("parameters", "svd_solver", to="magic")),
    "tol beyond 1": ("pca", change("parameters", "tol", to=7.0)),
    "whiten is text": ("pca", change("parameters", "whiten", to="yes")),
    "parameter is a table": ("pca", change("parameters", "tol", to={"a": 1})),
    "parameter is a subspace": ("pca", change("parameters", "tol", to={"same": "subspace"})),
    "negative ddof asked": ("pca", change("parameters", "ddof", to=-3)),
    "ddof asked of as many rows": ("pca", change("parameters", "ddof", to=20)),
    "ddof asked beyond all rows": ("pca", change("parameters", "ddof", to=10**6)),
    "moments of other rows": ("pca", change("moments", "count", to=19)),
    "moments of one row": ("covariance", change("moments", "count", to=1)),
    "iterations": ("power", change("parameters", "svd_solver", "max_iter", to=0)),
    "iterations in text": ("power", change("parameters", "svd_solver", "max_iter", to="many")),
    "solver of another class": ("power", change("parameters", "svd_solver", "kind", to="Twister")),
    "position of a generator": ("power", change("parameters", "random_state", "position", to=9999)),
    "history lacks a column": ("power", change("history", "table", "value", to=MISSING)),
    "history is text": ("power", change("history", to="none")),
    "history of integers": ("power", change("history", "table", "value", "tensor", to="history.iteration")),
    "history of another length": ("power", change("history", "table", "value", "tensor", to="deviations")),
    "sketch of no room": ("sketch", change("moments", "room", to=0)),
    "sketch about another center": ("sketch", change("moments", "center", to=False)),
    "sketch without moments": ("sketch", change("moments", "sketch", "moments", to=None)),
    "negative loss": ("sketch", change("moments", "sketch", "lost", to=-1.0)),
    "moments in place of a sketch": ("one row", change("moments", to=None)),
    "certificate without axes": ("one row", change("total_variance", to=1.0)),
    "kernel of no such name": ("rbf", change("embedding", "kernel", "kind", to="Custom")),
    "kernel is a frame": ("rbf", change("embedding", "kernel", to={"kind": "Frame"})),
    "negative gamma": ("rbf", change("embedding", "kernel", "gamma", to=-1.0)),
    "kernel parameter": ("rbf", change("parameters", "kernel", to="magic")),
    "kernel that is a function": ("rbf", change("parameters", "kernel", to=None)),
    "unit 0": ("rbf", change("embedding", "frame", "unit", to=0.0)),
    "another embedding": ("rbf", change("preimage", "embedding", "same", to="nowhere")),
    "embedding of another class": ("rbf", change("preimage", "embedding", "same", to="plan")),
    "hold 0": ("rbf", change("preimage", "held", to=0.0)),
    "hold without rbf": ("rbf", held_without_rbf),
    "weight 0": ("rbf", change("embedding", "frame", "weight", to=-1.0)),
    "kernel that is misspelt": ("rbf", change("parameters", "kernel", to="rfb")),
    "sparse of another class": ("sparse", change("rows", "sparse", to="dia_matrix")),
    "sparse of another shape": ("sparse", change("rows", "shape", to=[20, 3])),
    "sparse of a huge shape": ("sparse", change("rows", "shape", to=[20, 1 << 60])),
    "sparse of a negative shape": ("sparse", change("rows", "shape", to=[-1, 4])),
    "sparse of three dimensions": ("sparse", change("rows", "shape", to=[20, 4, 1])),
    "sparse without indices": ("sparse", change("rows", "indices", to=MISSING)),
    "sparse with indices for numbers": ("sparse", change("rows", "indices", "tensor", to="rows.indptr")),
    "signals of another length": ("sensing", change("signal_shape", to=[5])),
    "signals of no length": ("sensing", change("signal_shape", to=[])),
    "signals in three dimensions": ("sensing", change("signal_shape", to=[2, 2, 1])),
    "signals of negative sizes": ("sensing", change("signal_shape", to=[-2, -2])),
    "names of other signals": ("sensing", change("columns", to=["a"])),
    "basis of no such name": ("sensing", change("basis", to="magic")),
    "basis of a wavelet that is not discrete": ("sensing", change("basis", to="mexh")),
    "basis that is nowhere": ("sensing", change("basis", to=None)),
    "measurement that is nowhere": ("sensing", change("measurement", to=None)),
    "measurement by name": ("sensing", change("measurement", to="gaussian")),
    "measurement that is a certificate": ("sensing", change("measurement", to={"same": "certificate"})),
    "wavelets too long for the signals": ("cosines", change("basis", to="db20")),
    "places without signs": ("cosines", change("measurement", "signs", to=MISSING)),
    "no parameters": ("sensing", change("parameters", to={})),
    "no measurements asked": ("sensing", change("parameters", "n_measurements", to=0)),
    "more measurements than entries asked": ("sensing", change("parameters", "n_measurements", to=5)),
    "number of measurements is text": ("sensing", change("parameters", "n_measurements", to="many")),
    "measurement parameter": ("sensing", change("parameters", "measurement", to="magic")),
    "measurement parameter that is none": ("sensing", change("parameters", "measurement", to=None)),
    "basis parameter": ("sensing", change("parameters", "basis", to="magic")),
    "shape parameter": ("sensing", change("parameters", "signal_shape", to=[3])),
    "sensing solver": ("sensing", change("parameters", "solver", to="krylov")),
    "sensing tol": ("sensing", change("parameters", "tol", to=1.0)),
    "sparsity 0": ("sensing", change("parameters", "sparsity", to=0)),
    "negative noise": ("sensing", change("parameters", "noise", to=-1.0)),
    "negative iterations": ("sensing", change("parameters", "max_iter", to=-1)),
    "seed in text": ("sensing", change("parameters", "random_state", to="seven")),
    "a solver object of PCA": ("sensing", change("parameters", "solver", to={"kind": "Power"})),
    "fewer measurements than rows of a matrix": ("own matrices", change("parameters", "n_measurements", to=1)),
    "a matrix of another class": ("own matrices", change("parameters", "measurement", "kind", to="CosinesState")),
    "a matrix of another shape": ("own matrices", change("parameters", "measurement", "entries", "shape", to=[2, 5])),
    "certificate of another solver": ("sensing", change("certificate", "solver", to="magic")),
    "certificate of another tol": ("sensing", change("certificate", "tol", to=2.0)),
    "certificate of negative noise": ("sensing", change("certificate", "noise", to=-1.0)),
    "certificate of other measurements": ("sensing", change("certificate", "n_measurements", to=2)),
    "certificate of other coefficients": ("sensing", change("certificate", "n_coefficients", to=7)),
    "coherence below 0": ("sensing", change("certificate", "coherence", to=-1.0)),
    "coherence above the root of n": ("sensing", change("certificate", "coherence", to=2.1)),
    "coherence NaN": ("sensing", change("certificate", "coherence", to="nan")),
    "columns more than alike": ("sensing", change("certificate", "mutual_coherence", to=1.5)),
    "a guarantee without a reason": ("sensing", change("certificate", "guaranteed", to=3)),
    "a guarantee below 0": ("sensing", change("certificate", "guaranteed", to=-1)),
    "a rank beyond the measurements": ("sensing", change("certificate", "rank", to=4)),
    "a rank below 0": ("sensing", change("certificate", "rank", to=-1)),
    "exact by a number": ("sensing", change("certificate", "coherence_exact", to=1)),
    "certificate of a fit": ("sensing", change("certificate", "kind", to="Certificate")),
    "a unit without roots": ("pca", change("subspace", "unit", to=2.0**-1000)),
    "a unit that is no power of two": ("huge", change("subspace", "unit", to=3.0)),
    "another unit": ("huge", change("subspace", "unit", to=2.0**-1000)),
    "no unit of roots": ("huge", change("subspace", "unit", to=1.0)),
    "something beyond that is not left out": ("pca", change("subspace", "beyond", to=1.0)),
    "a huge loss": ("sketch", change("moments", "sketch", "lost", to=1e300)),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_that_was_changed_and_signed_again(written, name):
    kind, apply = TREES[name]
    path = written(kind)
    load(path)
    with_tree(path, apply)
    refused(path, "expected|allowed")


def put(value, *at):
    """The same numbers but for one."""

    def apply(array):
        array[at or (0,) * array.ndim] = value
        return array

    return apply


TENSORS = {
    "axes with NaN": ("pca", "subspace.axes", put(np.nan)),
    "axes not orthonormal": ("pca", "subspace.axes", lambda U: 2 * U),
    "axes of zeros": ("pca", "subspace.axes", np.zeros_like),
    "axes that are equal": ("pca", "subspace.axes", lambda U: U[:, [0, 0]]),
    "axes transposed": ("pca", "subspace.axes", lambda U: U.T),
    "axes flattened": ("pca", "subspace.axes", np.ravel),
    "axes of no component": ("pca", "subspace.axes", lambda U: U[:, :0]),
    "axes with more dimensions": ("pca", "subspace.axes", lambda U: U.reshape((4, 2) + (1,) * 60)),
    "axes in float32": ("pca", "subspace.axes", lambda U: U.astype(np.float32)),
    "axes in float16": ("pca", "subspace.axes", lambda U: U.astype(np.float16)),
    "axes in integers": ("pca", "subspace.axes", lambda U: U.astype(np.int64)),
    "variances ascending": ("pca", "subspace.variances", lambda v: v[::-1].copy()),
    "variances negative": ("pca", "subspace.variances", put(-1.0, 1)),
    "variances NaN": ("pca", "subspace.variances", put(np.nan, 1)),
    "variances of others": ("pca", "subspace.variances", lambda v: 2 * v),
    "variances infinite beside finite deviations": ("pca", "subspace.variances", put(np.inf)),
    "deviations negative": ("pca", "deviations", lambda v: -v),
    "ratios negative": ("pca", "ratios", lambda v: -v),
    "ratios in another dtype": ("pca", "ratios", lambda v: v.astype(np.float32)),
    "mean infinite": ("pca", "subspace.mean", put(np.inf)),
    "mean of another length": ("pca", "subspace.mean", lambda m: m[:3]),
    "remainder of another mean": ("pca", "subspace.remainder", put(1.0)),
    "remainder NaN": ("pca", "subspace.remainder", put(np.nan)),
    "remainder of another length": ("pca", "subspace.remainder", lambda m: m[:3]),
    "scale 0": ("pca", "subspace.scale", put(0.0)),
    "scale negative": ("pca", "subspace.scale", put(-1.0)),
    "residuals negative": ("pca", "certificate.residuals", put(-1.0)),
    "bounds the wrong way round": ("pca", "certificate.value_bounds", lambda b: np.add(b[:, ::-1], [[1.0, 0.0]])),
    "bounds NaN": ("pca", "certificate.value_bounds", put(np.nan)),
    "bounds of one number": ("pca", "certificate.value_bounds", lambda b: b[:, :1]),
    "sine above 1": ("pca", "certificate.angle_bounds", put(2.0)),
    "one angle too many": ("pca", "certificate.angle_bounds", lambda a: np.zeros(3)),
    "triangle of another width": ("pca", "moments.triangle", lambda R: R[:, :3]),
    "triangle NaN": ("pca", "moments.triangle", put(np.nan)),
    "unit 0 of moments": ("pca", "moments.unit", put(0.0)),
    "unit negative": ("pca", "moments.unit", put(-1.0)),
    "sizes negative": ("pca", "moments.sizes", put(-1.0)),
    "diagonal negative": ("pca", "moments.scatter", put(-1.0)),
    "shift infinite": ("pca", "moments.shift", put(np.inf)),
    "scatter not symmetric": ("covariance", "moments.scatter", put(1e9, 0, 1)),
    "scatter of a diagonal alone": ("covariance", "moments.scatter", lambda S: np.diagonal(S).copy()),
    "scatter infinite": ("covariance", "moments.scatter", put(np.inf)),
    "dual of other rows": ("gram", "dual", lambda a: a[:5]),
    "dual NaN": ("gram", "dual", put(np.nan)),
    "start of a solver": ("power", "parameters.svd_solver.start", lambda v: v.reshape(2, 2, 1)),
    "start NaN": ("power", "parameters.svd_solver.start", put(np.nan)),
    "key of a generator": ("power", "parameters.random_state.key", lambda key: key[:100]),
    "history in another shape": ("power", "history.value", lambda v: v.reshape(-1, 1)),
    "history NaN": ("power", "history.value", put(np.nan)),
    "pieces of another width": ("sketch", "moments.sketch.pieces.0", lambda P: P[:, :7]),
    "pieces NaN": ("sketch", "moments.sketch.pieces.0", put(np.nan)),
    "pieces flattened": ("sketch", "moments.sketch.pieces.0", np.ravel),
    "eigenvectors not orthonormal": ("rbf", "eigenvectors", lambda U: 2 * U),
    "eigenvectors of other rows": ("rbf", "eigenvectors", lambda U: U[:5]),
    "eigenvalues ascending": ("rbf", "eigenvalues", lambda v: v[::-1].copy()),
    "coefficients of other points": ("rbf", "embedding.coefficients", lambda B: B[:5]),
    "coefficients NaN": ("rbf", "embedding.coefficients", put(np.nan)),
    "offset of other components": ("rbf", "embedding.offset", lambda o: o[:1]),
    "points of other columns": ("rbf", "embedding.points.Z", lambda Z: Z[:, :2]),
    "points NaN": ("rbf", "embedding.points.Z", put(np.nan)),
    "points flattened": ("rbf", "embedding.points.Z", np.ravel),
    "sizes of other points": ("rbf", "embedding.points.sizes", lambda s: s[:4]),
    "origin of another length": ("rbf", "embedding.frame.origin", lambda o: o[:2]),
    "rows of other columns": ("rbf", "rows", lambda r: r[:, :2]),
    "rows NaN": ("rbf", "rows", put(np.nan)),
    "dual of another length": ("rbf", "preimage.dual", lambda a: a[:3]),
    "dual of other columns": ("rbf", "preimage.dual", lambda a: a[:, :2]),
    "remainder of another mean of pre-images": ("rbf", "preimage.remainder", put(1.0)),
    "remainder of pre-images of another length": ("rbf", "preimage.remainder", lambda m: m[:2]),
    "places of a matrix beyond it": ("precomputed", "embedding.points.sizes", put(1e6)),
    "places of a matrix below 0": ("precomputed", "embedding.points.sizes", put(-1.0)),
    "places between columns": ("precomputed", "embedding.points.sizes", put(0.5)),
    "sparse places beyond": ("sparse", "rows.indices", put(99)),
    "sparse places below 0": ("sparse", "rows.indices", put(-1)),
    "sparse rows that run backwards": ("sparse", "rows.indptr", put(10**6, 3)),
    "sparse points beyond": ("sparse", "embedding.points.Z.indices", put(99)),
    "measurement NaN": ("sensing", "measurement.entries", put(np.nan)),
    "measurement transposed": ("sensing", "measurement.entries", lambda A: A.T),
    "measurement flattened": ("sensing", "measurement.entries", np.ravel),
    "measurement of fewer rows": ("sensing", "measurement.entries", lambda A: A[:2]),
    "measurement of no rows": ("sensing", "measurement.entries", lambda A: A[:0]),
    "measurement of more rows than columns": ("sensing", "measurement.entries", lambda A: np.vstack([A, A])),
    "places descending": ("cosines", "measurement.kept", lambda kept: kept[::-1].copy()),
    "places so far apart that their difference overflows": (
        "cosines",
        "measurement.kept",
        lambda kept: np.array([0, 2**63 - 1, -(2**63)]),
    ),
    "places twice": ("cosines", "measurement.kept", lambda kept: kept[[0, 0, 1]]),
    "places below 0": ("cosines", "measurement.kept", put(-1)),
    "places beyond": ("cosines", "measurement.kept", put(4, 2)),
    "places as fractions": ("cosines", "measurement.kept", lambda kept: kept.astype(np.float64)),
    "no places": ("cosines", "measurement.kept", lambda kept: kept[:0]),
    "more places": ("cosines", "measurement.kept", lambda kept: np.arange(4)),
    "sign 0": ("cosines", "measurement.signs", put(0)),
    "sign 2": ("cosines", "measurement.signs", put(2)),
    "signs of another length": ("cosines", "measurement.signs", lambda signs: signs[:3]),
    "signs as fractions": ("cosines", "measurement.signs", lambda signs: signs.astype(np.float64)),
    "own measurement NaN": ("own matrices", "parameters.measurement.entries.data", put(np.nan)),
    "own measurement beyond": ("own matrices", "parameters.measurement.entries.indices", put(9)),
    "own basis of other rows": ("own matrices", "parameters.basis.entries", lambda B: B[:3]),
    "own basis infinite": ("own matrices", "parameters.basis.entries", put(np.inf)),
    "own basis of more columns": ("own matrices", "parameters.basis.entries", lambda B: np.hstack([B, B])),
    "residual negative": ("sensing", "certificate.residual", put(-1.0)),
    "residual NaN": ("cosines", "certificate.residual", put(np.nan)),
    "gap negative": ("sensing", "certificate.duality_gap", put(-1.0)),
    "penalty negative": ("cosines", "certificate.penalty", put(-1.0)),
    "exact recovery negative": ("sensing", "certificate.exact_recovery", put(-1.0)),
    "iterations below 0": ("sensing", "certificate.iterations", put(-1)),
    "support beyond the coefficients": ("sensing", "certificate.support_size", put(5)),
    "sparsity beyond the support": ("sensing", "certificate.sparsity", put(5)),
    "sparsity negative": ("sensing", "certificate.sparsity", put(-1)),
    "sparsity in fractions": ("sensing", "certificate.sparsity", lambda s: s.astype(np.float64)),
    "explained without hope": ("explained", "certificate.hopeless", np.ones_like),
    "one signal less": ("sensing", "certificate.converged", lambda c: c[1:]),
    "convergence as numbers": ("sensing", "certificate.converged", lambda c: c.astype(np.int64)),
    "truth that is 2": ("sensing", "certificate.hopeless", lambda h: np.full(len(h), 2, np.uint8).view(bool)),
}


TENSORS |= {
    f"{tensor} {value} in {kind}": (kind, tensor, put(value))
    for kind, tensor in [
        ("pca", "certificate.values"),
        ("pca", "certificate.residuals"),
        ("pca", "certificate.value_bounds"),
        ("pca", "ratios"),
        ("auto", "choice.values"),
        ("auto", "choice.null"),
        ("rbf", "ratio_bounds"),
        ("rbf", "certificate.values"),
        ("rbf", "eigenvalues"),
        ("rbf", "deviations"),
        ("precomputed", "ratio_bounds"),
        ("covariance", "moments.scatter"),
        ("covariance", "moments.sizes"),
        ("pca", "moments.triangle"),
    ]
    for value in (np.inf, -np.inf, np.nan)
}
TENSORS |= {
    "ratio above 1": ("pca", "ratios", lambda r: r + 1),
    "ratio bound above 1": ("rbf", "ratio_bounds", lambda b: b + 1),
    "ratio bounds backwards": ("rbf", "ratio_bounds", lambda b: b[:, ::-1].copy()),
    "certificate of other variances": ("pca", "certificate.values", lambda v: 2 * v),
    "certificate of other eigenvalues": ("rbf", "certificate.values", lambda v: 2 * v),
    "deviations of other eigenvalues": ("rbf", "deviations", lambda v: 2 * v),
    "negative variance compared": ("auto", "choice.values", put(-1.0)),
    "negative noise": ("auto", "choice.null", put(-1.0)),
    "huge scatter": ("covariance", "moments.scatter", put(1e308)),
    "huge sizes": ("covariance", "moments.sizes", put(1e308)),
    "huge triangle": ("pca", "moments.triangle", put(1e308)),
    "scatter whose squares overflow": ("covariance", "moments.scatter", lambda S: np.full_like(S, 1e160)),
    "mean that overflows": ("huge", "moments.delta", put(-1e308)),
    "roots whose squares overflow": ("huge", "subspace.roots", put(1e308)),
    "roots of other deviations": ("huge", "subspace.roots", lambda r: 2 * r),
    "roots that are 0": ("faint", "subspace.roots", np.zeros_like),
    "pieces whose squares overflow": ("sketch", "moments.sketch.pieces.0", put(1e300)),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_that_was_changed_and_signed_again(written, name):
    kind, tensor, apply = TENSORS[name]
    path = written(kind)
    with_tensor(path, tensor, apply)
    refused(path, "expected")


def test_the_helpers_leave_a_model_alone(written):
    for name in MODELS:
        path = written(name)
        before = load(path)
        with_tree(path, lambda tree: None)
        first = next(key for key in opened(path)[0] if key != "__metadata__")
        with_tensor(path, first, lambda array: array)
        assert model_differences(before, load(path)) == []


def numbers_in(tree, at=()):
    """The places of all numbers in a tree, also of those that JSON has no sign for."""
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for name, part in parts:
        yield from numbers_in(part, (*at, name))
    if (type(tree) in (int, float) or tree in ("inf", "nan")) and at[0] != "notes":
        yield at


@pytest.mark.parametrize("name", ["pca", "covariance", "auto", "huge", "faint", "rbf", "landmarks", "sensing"])
def test_any_number_anywhere_is_refused_or_harmless(written, tmp_path, name):
    """NaN, infinities and what is too large, in every field: an error in one line, or a model that can be used.

    A default run puts half of them into every field, by turns.
    """
    path = written(name)
    data, known = path.read_bytes(), load(path)
    header, tree, _ = opened(path)
    places = [*numbers_in(tree)], [key for key, e in header.items() if e.get("dtype") in ("F64", "F32")]
    step = usually(2, thorough=1)
    for turn, value in enumerate((np.inf, -np.inf, np.nan, 1e308, -1e308, 2.0**-1000)):
        for place in places[0][turn % step :: step]:
            path.write_bytes(data)
            with_tree(path, change(*place, to=value if np.isfinite(value) else str(value)))
            used_or_refused(path, known, tmp_path)
        for tensor in places[1][turn % step :: step]:
            path.write_bytes(data)
            with np.errstate(over="ignore"):
                with_tensor(path, tensor, put(value))
            used_or_refused(path, known, tmp_path)


def used_or_refused(path, known, folder):
    """Whatever loads can be printed, shown, compared, merged and applied; what cannot be says why."""
    try:
        model = load(path)
    except DataError as error:
        assert "\n" not in str(error)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        str([repr(model), model.certificate_, getattr(model, "plan_", ""), getattr(model, "rank_choice_", "")])
        uses = [lambda: model.transform(X), lambda: model.save(folder / "again.safetensors")]
        if not isinstance(model, KernelPCA) or model.fit_inverse_transform:
            uses.append(lambda: model.inverse_transform(known.transform(X)))
        if not isinstance(model, CompressedSensing):
            uses.append(lambda: report(model, folder / "page.html"))
        if isinstance(model, PCA):
            uses += [lambda: compare(model, known), lambda: model.n_components == "auto" or merge([model, known])]
            uses += [lambda: model.score(X), model.get_covariance, model.get_precision]
        for use in uses:
            with contextlib.suppress(DataError):
                use()


PLACES = {
    "overlapping": lambda header, names: header[names[1]].update(data_offsets=header[names[0]]["data_offsets"]),
    "beyond the file": lambda header, names: header[names[0]].update(data_offsets=[0, 1 << 40]),
    "backwards": lambda header, names: header[names[0]].update(data_offsets=[8, 0]),
    "not numbers": lambda header, names: header[names[0]].update(data_offsets=["a", "b"]),
    "one place": lambda header, names: header[names[0]].update(data_offsets=[0]),
    "a larger shape": lambda header, names: header[names[0]].update(shape=[1 << 40]),
    "a shape that overflows": lambda header, names: header[names[0]].update(shape=[1 << 62, 1 << 62]),
    "a negative shape": lambda header, names: header[names[0]].update(shape=[-2]),
    "an unknown dtype": lambda header, names: header[names[0]].update(dtype="F63"),
    "a dtype that NumPy has not": lambda header, names: header[names[0]].update(dtype="BF16", shape=[8]),
    "another tensor": lambda header, names: header.update(more={"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}),
    "a huge empty tensor": lambda header, names: header.update(
        more={"dtype": "F64", "shape": [0, 1 << 62], "data_offsets": [0, 0]}
    ),
    "a tensor that is gone": lambda header, names: header.pop(names[-1]),
    "a tensor that is a list": lambda header, names: header.update({names[0]: []}),
}


@pytest.mark.parametrize("name", PLACES)
def test_places_of_tensors(written, name):
    path = written()
    header, _, body = opened(path)
    PLACES[name](header, [key for key in header if key != "__metadata__"])
    signed(path, header, body)
    refused(path, "expected")


def test_a_model_of_another_kind(written):
    for kind in ("KernelPCA", "os.system", ""):
        path = written()
        header, _, body = opened(path)
        header["__metadata__"]["kind"] = kind
        signed(path, header, body)
        refused(path, "expected")


NODES = st.sampled_from(
    [None, True, 0, -1, 1 << 70, 0.5, "inf", "nan", "x", [], [[0, 1]], {}, {"tensor": "ratios"}, {"same": "plan"}]
)


def paths_in(tree, at=()):
    """Every place in a tree."""
    if isinstance(tree, dict):
        for name, part in tree.items():
            yield (*at, name)
            yield from paths_in(part, (*at, name))


@settings(max_examples=usually(200, thorough=600), **OFTEN)
@given(name=st.sampled_from(sorted(MODELS)), at=st.integers(0, 10_000), node=NODES)
def test_anything_anywhere_is_refused_or_harmless(written, name, at, node):
    """Whatever is put into a place and signed: an error in one line, or a model that prints, and works or refuses rows.

    Another degree or gamma makes another kernel, which is a model like any other: it may have no value for these rows.
    """
    path = written(name)
    _, tree, _ = opened(path)
    places = sorted(paths_in(tree), key=str)
    with_tree(path, change(*places[at % len(places)], to=node))
    try:
        model = load(path)
    except DataError as error:
        assert str(path) in str(error)
        assert "\n" not in str(error)
        return
    rows = {"sketch": WIDE, "precomputed": X @ X.T}.get(name, X)
    repr(model)
    if hasattr(model, "certificate_"):
        str(model.certificate_)
        str(getattr(model, "plan_", ""))
        try:
            with np.errstate(all="ignore"):
                assert len(model.transform(rows)) == len(rows)
        except DataError as error:
            assert "no finite value for some of these rows" in str(error)
            assert "\n" not in str(error)


def test_nothing_in_a_file_is_run(written, tmp_path):
    """A pickle in every text of the file is text."""
    path, trap = written("power"), tmp_path / "trap"
    evil = f"cposix\nsystem\n(S'touch {trap}'\ntR."
    with_tree(path, change("notes", to={"a": evil, "b": f"__import__('os').system('touch {trap}')"}))
    assert load(path).notes_["a"] == evil
    assert not Path(trap).exists()
