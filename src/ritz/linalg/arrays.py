"""Arrays of other libraries, by the array API standard: PyTorch's, CuPy's, JAX's, on whatever device they are.

A block of rows is one of three: a NumPy array, a sparse matrix of SciPy, or an array that lies on a device. Functions
of blocks look for NumPy arrays first, so that these never pay for the others. What the standard lacks is here too: how
to leave a device, its free memory, QR without Q.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError

JAX = "jax.numpy"

# In the class or the words of an error; ALLOC_FAILED is that of NVIDIA's libraries, such as CUBLAS_STATUS_ALLOC_FAILED.
OUT_OF_MEMORY = ("OutOfMemoryError", "out of memory", "OUT_OF_MEMORY", "RESOURCE_EXHAUSTED", "ALLOC_FAILED")


def is_device_array(block: Any) -> bool:
    """Whether a block is neither a NumPy array nor a sparse matrix of SciPy."""
    return not isinstance(block, np.ndarray) and hasattr(type(block), "__dlpack__")


def is_other_array(source: object) -> bool:
    """Whether an object is an array of another library that follows the standard, and holds all its numbers."""
    if isinstance(source, np.ndarray) or not hasattr(type(source), "__dlpack__"):
        return False
    import array_api_compat as compat

    lazy = compat.is_dask_array(source) or compat.is_pydata_sparse_array(source) or compat.is_ndonnx_array(source)
    return compat.is_array_api_obj(source) and not lazy


def namespace(X: Any) -> Any:
    """The functions of the standard for arrays like X."""
    import array_api_compat

    return array_api_compat.array_namespace(X)


def library_of(X: Any) -> str:
    """The name of the library of X, as its users write it."""
    return named(namespace(X).__name__)


def named(module: str) -> str:
    """The name of a library without the package that makes it follow the standard."""
    return module.removeprefix("array_api_compat.")


def functions_for(X: Any) -> Any:
    """The same, and NumPy itself for its own arrays and for sparse matrices."""
    return namespace(X) if is_device_array(X) else np


def device_of(X: Any) -> Any:
    """Where an array lies."""
    import array_api_compat

    return array_api_compat.device(X)


def is_cpu(device: Any) -> bool:
    """Whether NumPy can look at arrays there without a copy: PyTorch says "cpu", JAX "TFRT_CPU_0", the standard's own
    test library "CPU_DEVICE"."""
    return "cpu" in str(device).lower()


def in_cpu_memory(X: Any) -> bool:
    """Whether an array lies there."""
    return is_cpu(device_of(X))


def dtype_of(X: Any) -> np.dtype[Any]:
    """NumPy's type for the numbers of X; float32, which holds them all, for those of bfloat16."""
    name = str(X.dtype).rpartition(".")[2]
    return np.dtype(np.float32 if name == "bfloat16" else name)


def has_float64(X: Any) -> bool:
    """Whether the device of X computes in float64: Apple's does not, and JAX only where it is told to."""
    xp = namespace(X)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tried = xp.zeros((1,), dtype=xp.float64, device=device_of(X))
    except (TypeError, ValueError, RuntimeError, AttributeError):
        return False
    return str(tried.dtype).endswith("float64")


def on_host(X: Any) -> Any:
    """An array as NumPy's, a copy where it lies on another device; whatever else is given, itself."""
    if isinstance(X, tuple):
        return tuple(map(on_host, X))
    if not is_device_array(X):
        return X
    X = X.detach() if hasattr(X, "detach") else X
    if str(X.dtype).endswith("bfloat16"):
        X = namespace(X).astype(X, namespace(X).float32)
    for leave in (_from_torch, _from_cupy, _from_strict):
        if (found := leave(X)) is not None:
            return found
    return np.asarray(X)


def brought(X: Any) -> Any:
    """The same, to be written to: what JAX hands over is not."""
    found = on_host(X)
    if isinstance(found, tuple):
        return tuple(map(brought, found))
    return found.copy() if isinstance(found, np.ndarray) and not found.flags.writeable else found


def _from_torch(X: Any) -> NDArray[Any] | None:
    return X.numpy(force=True) if "torch" in sys.modules and hasattr(X, "resolve_conj") else None


def _from_cupy(X: Any) -> NDArray[Any] | None:
    return X.get() if type(X).__module__.partition(".")[0] == "cupy" else None


def _from_strict(X: Any) -> NDArray[Any] | None:
    """The library that tests are made with has devices that only it can leave."""
    if type(X).__module__.partition(".")[0] != "array_api_strict":
        return None
    return np.asarray(X.to_device(namespace(X).Device("CPU_DEVICE")))


def beside(A: Any, block: Any) -> Any:
    """A where `block` is: on its device, of its library. Next to NumPy arrays and sparse matrices, A itself."""
    if not isinstance(A, np.ndarray) or not is_device_array(block):
        return A
    return namespace(block).asarray(_owned(A), device=device_of(block))


def _owned(A: NDArray[Any]) -> NDArray[Any]:
    """A as other libraries take it: in order, and not to be protected from being written to.

    An axis of one entry may have any stride, which NumPy calls in order and PyTorch does not take below 0.
    """
    ready = A.flags.writeable and A.flags.c_contiguous and min(A.strides, default=0) >= 0
    return A if ready else np.array(A, order="C")


def in_type(block: Any, dtype: np.dtype[Any], copy: bool = False) -> Any:
    """The numbers of a dense block in another type; itself where it has them, unless a copy is asked for."""
    if isinstance(block, np.ndarray):
        return block.astype(dtype, copy=copy)
    xp = namespace(block)
    return xp.astype(block, getattr(xp, dtype.name), copy=copy)


def in_float64(block: Any) -> Any:
    """The numbers of a dense block in float64; itself where it has them."""
    return in_type(block, np.dtype(np.float64))


def difference(block: Any, shift: NDArray[Any] | None) -> Any:
    """block − shift on the device, in float64: of numbers in floating point in one step, which rounds once."""
    if shift is None:
        return in_float64(block)
    xp = namespace(block)
    wide = block if xp.isdtype(block.dtype, "real floating") else in_float64(block)
    return wide - beside(shift, block)


def r_of(A: Any) -> Any:
    """R of the QR factorisation of an array on a device."""
    xp = namespace(A)
    if hasattr(A, "resolve_conj"):  # PyTorch has it without Q
        return xp.linalg.qr(A, mode="r")[1]
    return xp.linalg.qr(A, mode="reduced")[1]


def stacked(blocks: list[Any]) -> Any:
    """Arrays on a device, one below the other."""
    return blocks[0] if len(blocks) == 1 else namespace(blocks[0]).concat(blocks, axis=0)


def taken(X: Any, rows: NDArray[np.integer]) -> NDArray[Any]:
    """Some rows of an array on a device, in NumPy."""
    return on_host(namespace(X).take(X, beside(np.asarray(rows, np.int64), X), axis=0))


def all_finite(values: Any) -> bool:
    """Whether no value is NaN or infinite."""
    if isinstance(values, np.ndarray):
        return bool(np.isfinite(values).all())
    xp = namespace(values)
    return bool(xp.all(xp.isfinite(values)))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a library says that its device has no more room."""
    return any(word in f"{type(error).__name__} {error}" for word in OUT_OF_MEMORY)


@contextmanager
def room_for(shape: tuple[int, ...], device: Any) -> Iterator[None]:
    """Say what to do where a device is too full for results of that shape."""
    try:
        yield
    except Exception as error:  # every library has a class of its own for full memory
        if not is_out_of_memory(error):
            raise
        size = "×".join(map(str, shape))
        advice = "free some of it, or pass a copy of the rows on the CPU"
        raise DataError(f"{device} has no memory left for results of shape {size}", advice) from error


def free_memory(X: Any) -> int | None:
    """Bytes that are free on the device of X; None where its library does not tell."""
    device = device_of(X)
    if getattr(device, "type", "") == "cuda":
        import torch

        reserved, (free, total) = int(torch.cuda.memory_reserved(device)), torch.cuda.mem_get_info(device)
        if hasattr(torch.cuda, "get_per_process_memory_fraction"):  # a limit that the program has set itself
            free = min(free, int(torch.cuda.get_per_process_memory_fraction(device) * total) - reserved)
        return max(0, int(free) + reserved - int(torch.cuda.memory_allocated(device)))
    return int(device.mem_info[0]) if hasattr(device, "mem_info") else None


def release(X: Any) -> None:
    """Give back what the library of X keeps for later arrays."""
    kind = type(X).__module__.partition(".")[0]
    if kind == "torch" and getattr(device_of(X), "type", "") == "cuda":
        sys.modules["torch"].cuda.empty_cache()
    elif kind == "cupy":
        sys.modules["cupy"].get_default_memory_pool().free_all_blocks()


@dataclass(frozen=True)
class Home:
    """Where results belong: the library and the device of the array that was given."""

    library: str
    device: Any  # a number of CuPy's, and platform and number of JAX's: these devices cannot be pickled
    wide: bool = True  # whether it has float64

    @classmethod
    def of(cls, X: Any) -> Home:
        """That of an array."""
        device, library = device_of(X), namespace(X).__name__
        if type(device).__module__.partition(".")[0] == "cupy":
            device = device.id
        elif library == JAX:
            device = f"{device.platform}:{device.id}"
        return cls(library, device, has_float64(X))

    @property
    def is_cpu(self) -> bool:
        """Whether arrays there lie in the memory of the CPU."""
        return is_cpu(self.device)

    def __call__(self, values: Any) -> Any:
        """Values there; what is no array of real numbers stays as it is."""
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
            return values
        from importlib import import_module

        xp = import_module(self.library)
        values = values.astype(np.float32) if values.dtype == np.float64 and not self.wide else values
        with room_for(values.shape, self.device):
            return xp.asarray(_owned(values), device=self._device())

    def _device(self) -> Any:
        """As its library knows it."""
        if self.library != JAX:
            return self.device
        platform, number = self.device.split(":")
        found = [one for one in sys.modules["jax"].devices(platform) if one.id == int(number)]
        if not found:
            moved = "carry the model over as a file, by save() and ritz.load"
            raise DataError(f"JAX has no device {self.device} here, where the fit was", moved)
        return found[0]

    def __str__(self) -> str:
        where = f"GPU {self.device}" if isinstance(self.device, int) else self.device
        return f"an array of {named(self.library)} on {where}"
