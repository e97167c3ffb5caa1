"""Arrays that hold no matrix of real numbers in one place: each is an error that says what to pass."""

import sys
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.arrays import strict, tensor, torch
from ritz import PCA, DataError, read
from ritz.rows.memory.plain import check_plain

X = np.arange(12.0).reshape(4, 3)


@pytest.fixture
def more_types():
    """What some packages add to the types of NumPy, where they are there."""
    with suppress(ImportError):
        import_module("ml_dtypes")


NOT_PLAIN = {
    "meta": (lambda: tensor(X).to("meta"), "device meta, which holds no numbers; pass a tensor on the CPU or a GPU"),
    "float8": (
        lambda: tensor(X).to(torch().float8_e4m3fn),
        r"no type for .*float8_e4m3fn; make them float32: X\.float",
    ),
    "complex32": (lambda: tensor(X).to(torch().complex32), r"torch\.complex32; pass X\.real and X\.imag as columns"),
    "quantized": (
        lambda: torch().quantize_per_tensor(tensor(X).float(), 0.1, 0, torch().quint8),
        r"quantized to torch\.quint8; pass X\.dequantize\(\)",
    ),
    "nested": (
        lambda: torch().nested.nested_tensor([tensor(X), tensor(X[:2])]),
        r"nested.*torch\.cat\(X\.unbind\(\)\)",
    ),
    "mkldnn": (
        lambda: tensor(X).float().to_mkldnn(),
        r"layout torch\._mkldnn is not a plain array; pass X\.to_dense\(\)$",
    ),
    "sparse": (lambda: tensor(X).to_sparse(), r"sparse_coo is not.*pass X\.to_dense\(\) or a sparse matrix of SciPy"),
}


@pytest.mark.filterwarnings("ignore")  # PyTorch calls some of them prototypes
@pytest.mark.usefixtures("more_types")
@pytest.mark.parametrize("case", NOT_PLAIN)
def test_tensors_that_are_not_plain(case):
    make, said = NOT_PLAIN[case]
    pca = PCA(1).fit(X)
    for call in (PCA(1).fit, pca.transform, read):
        with pytest.raises(DataError, match=said):
            call(make())


def test_arrays_of_jax_on_several_devices():
    with pytest.raises(DataError, match=r"on several devices: cpu:0, cpu:1; pass jax\.device_put\(X, jax\.devices"):
        check_plain(SimpleNamespace(devices=lambda: {"cpu:1", "cpu:0"}))


def test_tracers_of_jax(monkeypatch):
    tracer = type("Tracer", (), {})
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(core=SimpleNamespace(Tracer=tracer)))
    with pytest.raises(DataError, match="fit outside jit"):
        check_plain(tracer())
    check_plain(strict(X))
