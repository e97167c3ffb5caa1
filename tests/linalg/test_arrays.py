"""Arrays of other libraries: where they lie and how they get there."""

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.arrays import strict, torch
from ritz.errors import DataError
from ritz.linalg import arrays
from ritz.linalg.arrays import Home, beside, brought, is_other_array, on_host

X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize("device", ["CPU_DEVICE", "device1"])
def test_there_and_back(device):
    there = strict(X, device)
    assert is_other_array(there)
    assert arrays.in_cpu_memory(there) == (device == "CPU_DEVICE")
    assert np.array_equal(on_host(there), X)
    assert np.array_equal(on_host(beside(X[:, ::2], there)), X[:, ::2])
    home = pickle.loads(pickle.dumps(Home.of(there)))
    assert home(X).device == there.device
    assert home.is_cpu == arrays.in_cpu_memory(there)
    assert home("text") == "text"


def test_what_is_not_an_array_of_another_library():
    assert not any(map(is_other_array, (X, X.tolist(), "text", None, 3)))
    assert on_host((X, 3))[0] is X
    assert beside(X, X) is X
    assert brought(X) is X
    (fixed := X.copy()).setflags(write=False)
    assert all(part.flags.writeable for part in brought((fixed, (fixed, X)))[1])


def test_an_axis_of_one_entry_may_be_walked_backwards():
    for back in (X[:1][::-1], X[:, :1].T[::-1], np.array([2.0])[::-1]):
        assert np.array_equal(Home.of(torch().zeros(1))(back), back)


def test_the_devices_of_jax_are_kept_by_number(monkeypatch):
    devices = [SimpleNamespace(platform="gpu", id=number) for number in (0, 3)]
    jax = SimpleNamespace(devices=lambda platform: devices if platform == "gpu" else [])
    monkeypatch.setitem(sys.modules, "jax", jax)
    monkeypatch.setitem(sys.modules, "jax.numpy", SimpleNamespace(asarray=lambda values, device: (values, device)))
    monkeypatch.setattr(arrays, "namespace", lambda array: SimpleNamespace(__name__="jax.numpy"))
    monkeypatch.setattr(arrays, "device_of", lambda array: devices[1])
    monkeypatch.setattr(arrays, "has_float64", lambda array: True)
    home = pickle.loads(pickle.dumps(Home.of(X)))
    assert str(home) == "an array of jax.numpy on gpu:3"
    assert home(X)[1] is devices[1]
    del devices[1]
    with pytest.raises(DataError, match=r"JAX has no device gpu:3 here.*save\(\) and ritz\.load"):
        home(X)


def test_a_device_too_full_for_results(monkeypatch):
    def full(values):
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    home = Home.of(strict(X, "device1"))
    monkeypatch.setattr(arrays, "_owned", full)
    with pytest.raises(DataError, match=r"device1.* has no memory left for results of shape 4×3; free some"):
        home(X)


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (type("OutOfMemoryError", (Exception,), {})("Out of memory allocating 8 bytes"), True),  # CuPy's
        (RuntimeError("RESOURCE_EXHAUSTED: while trying to allocate"), True),  # JAX's
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("cusolver error: CUSOLVER_STATUS_ALLOC_FAILED"), True),
        (type("CUDADriverError", (Exception,), {})("CUDA_ERROR_OUT_OF_MEMORY: out of memory"), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
    ],
)
def test_errors_that_say_that_memory_is_full(error, full):
    assert arrays.is_out_of_memory(error) == full


def test_free_memory_is_what_the_device_has_and_the_program_allows_itself(monkeypatch):
    cuda = torch().cuda
    told = {"memory_reserved": 300, "memory_allocated": 200, "mem_get_info": (600, 1000)}
    for name, value in told.items():
        monkeypatch.setattr(cuda, name, lambda device, value=value: value)
    monkeypatch.setattr(arrays, "device_of", lambda X: SimpleNamespace(type="cuda"))
    for share, free in ((1.0, 700), (0.5, 300), (0.1, 0)):
        monkeypatch.setattr(cuda, "get_per_process_memory_fraction", lambda device, share=share: share, raising=False)
        assert arrays.free_memory(X) == free
    monkeypatch.delattr(cuda, "get_per_process_memory_fraction")
    assert arrays.free_memory(X) == 700
