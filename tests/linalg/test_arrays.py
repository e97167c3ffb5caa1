"""Arrays of other libraries: where they lie, how they get there, and PyTorch's precision, which is given back."""

import pickle

import numpy as np
import pytest

from helpers.arrays import strict, tensor, torch
from ritz import PCA
from ritz.linalg import arrays
from ritz.linalg.arrays import Home, beside, brought, full_precision, is_other_array, on_host

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
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
    ],
)
def test_errors_that_say_that_memory_is_full(error, full):
    assert arrays.is_out_of_memory(error) == full


@pytest.fixture
def with_tf32():
    """PyTorch as one who asks for fast products has it."""
    before = torch().get_float32_matmul_precision()
    torch().set_float32_matmul_precision("high")
    yield torch().backends.cuda.matmul
    torch().set_float32_matmul_precision(before)


def test_tf32_is_off_inside_and_given_back(with_tf32):
    assert with_tf32.fp32_precision == "tf32"
    with full_precision():
        assert with_tf32.fp32_precision == "ieee"
        assert not torch().is_grad_enabled()
    assert with_tf32.fp32_precision == "tf32"
    assert torch().get_float32_matmul_precision() == "high"


def test_tf32_is_given_back_after_an_error(with_tf32):
    with pytest.raises(ZeroDivisionError), full_precision():
        raise ZeroDivisionError
    assert with_tf32.fp32_precision == "tf32"


def test_tf32_is_off_in_every_pass(with_tf32):
    from ritz.rows.memory.device import DeviceRows

    seen = []

    def look(block):
        seen.append(with_tf32.fp32_precision)
        return block

    rows = DeviceRows(tensor(X))
    for _ in rows.each(look):
        assert with_tf32.fp32_precision == "tf32"  # between blocks, the caller's program runs
    rows.reduce(lambda blocks: [look(block) for block in blocks] and 0, max)
    rows.pairs(lambda a, b: look(a) @ b.T)
    assert set(seen) == {"ieee"}
    PCA(1).fit(rows).transform(rows)
    assert with_tf32.fp32_precision == "tf32"
