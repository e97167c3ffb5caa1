"""Arrays of other libraries, in the memory of the CPU and on devices that need no hardware, and collections of Dask.

array-api-strict has devices of its own, which NumPy cannot look at: what runs there runs on a GPU. PyTorch is large and
not among the packages of the test extra: without it its tests are skipped, unless RITZ_NEEDS_TORCH is set, as .ci/run
does.
"""

from __future__ import annotations

import os
from functools import cache, partial
from importlib import import_module

import array_api_strict
import dask.array as da
import numpy as np
import pytest

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
