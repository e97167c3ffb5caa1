"""Arrays of other libraries, in the memory of the CPU and on devices that need no hardware, and collections of Dask.

array-api-strict has devices of its own, which NumPy cannot look at: what runs there runs on a GPU. PyTorch is large and
not among the packages of the test extra: without it its tests are skipped, unless RITZ_NEEDS_TORCH is set, as .ci/run
does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module

import array_api_strict
import dask.array as da
import numpy as np
import pytest

from ritz.linalg import arrays
from ritz.linalg.arrays import on_host
from ritz.rows.memory.device import DeviceRows


@cache
def torch():
    """PyTorch, or a test that is skipped; with one thread: several would spin for cores that other tests use."""
    found = import_module("torch") if os.environ.get("RITZ_NEEDS_TORCH") else pytest.importorskip("torch")
    found.set_num_threads(1)
    return found


def strict(X, device="CPU_DEVICE"):
    return array_api_strict.asarray(np.array(X), device=array_api_strict.Device(device))


def tensor(X):
    return torch().from_numpy(np.array(X))


def on_device(X):
    """A tensor on the CPU that is treated like one on a GPU."""
    return DeviceRows(tensor(X))


def chunked(X):
    """A dask array of uneven chunks, the first of one row."""
    n = len(X)
    return da.from_array(np.array(X), chunks=((1, n // 2, n - n // 2 - 1), -1))


def computed(X):
    """An array of NumPy, where nobody has computed it yet too."""
    return on_host(X.compute() if isinstance(X, da.Array) else X)


# How a matrix of NumPy is given to an estimator. A new library or engine is one line.
# Arrays have a device, where attributes and results are; what Dask computes is lazy, or NumPy's.
ARRAYS = {
    "torch": tensor,
    "torch, as on a GPU": on_device,
    "array-api-strict": strict,
    "array-api-strict on a device": partial(strict, device="device1"),
}
KINDS = ARRAYS | {"dask": chunked, "dask on a cluster": chunked}


@dataclass
class Traffic:
    """Numbers in every array that went to a device or came from it, and how often someone waited for a single one."""

    up: list[int] = field(default_factory=list)
    down: list[int] = field(default_factory=list)
    looks: int = 0


@contextmanager
def traffic() -> Iterator[Traffic]:
    """What travels to and from the devices of array-api-strict meanwhile."""
    seen, kind = Traffic(), type(array_api_strict.asarray(0.0))
    leave, own = arrays._from_strict, arrays._owned

    def down(array):
        seen.down.append(int(np.prod(array.shape)))
        return leave(array)

    def up(array):
        seen.up.append(array.size)
        return own(array)

    def looking(name):
        real = getattr(kind, name)

        def look(array):
            seen.looks += str(array.device) != str(array_api_strict.Device("CPU_DEVICE"))
            return real(array)

        return look

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_from_strict", down)
        patch.setattr(arrays, "_owned", up)
        for name in ("__bool__", "__int__", "__float__", "__index__"):
            patch.setattr(kind, name, looking(name))
        yield seen
