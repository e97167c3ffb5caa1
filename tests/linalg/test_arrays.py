"""Arrays of other libraries: where they lie and how they get there."""

import pickle

import numpy as np
import pytest

from helpers.arrays import strict
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
