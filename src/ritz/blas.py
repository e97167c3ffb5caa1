"""The one product of BLAS that neither NumPy nor SciPy offers to threads: C += ZᵀZ in place, half of it.

NumPy's product allocates, mirrors and must then be added; SciPy's wrapper holds the interpreter's lock. The functions
that SciPy exports to Cython do neither.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {np.dtype(np.float32): ("ssyrk", ctypes.c_float), np.dtype(np.float64): ("dsyrk", ctypes.c_double)}


def add_upper_squares(Z: NDArray[Any], total: NDArray[Any], keep: bool) -> None:  # (m, d) -> (d, d)
    """total += ZᵀZ on and above the diagonal, or total = ZᵀZ there; what lies below is not touched."""
    alike = Z.dtype == total.dtype and total.shape == (Z.shape[1], Z.shape[1])
    if not (alike and Z.flags.c_contiguous and total.flags.c_contiguous and total.flags.writeable):
        raise ValueError(f"cannot add squares of {Z.dtype} {Z.shape} to {total.dtype} {total.shape} in place")
    name, real = _TYPES[Z.dtype]
    m, d = (ctypes.c_int(size) for size in Z.shape)
    one, beta = real(1.0), real(float(keep))
    # To BLAS, which counts by columns, Z is its transpose and the upper triangle is the lower one.
    numbers = [ctypes.byref(number) for number in (d, m, one, d, beta, d)]
    rank, terms, alpha, width, scale, height = numbers
    _function(name)(b"L", b"N", rank, terms, alpha, Z.ctypes.data, width, scale, total.ctypes.data, height)


@cache
def _function(name: str) -> Any:
    """A BLAS routine from the table that scipy.linalg.cython_blas exports; ctypes releases the lock around it."""
    from scipy.linalg import cython_blas

    capsule = cython_blas.__pyx_capi__[name]
    signature_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    signature_of.restype, signature_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer_of(capsule, signature_of(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(address)
