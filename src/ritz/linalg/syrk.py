"""The one product of BLAS that neither NumPy nor SciPy offers to threads: C += ZᵀZ in place, half of it.

NumPy's product allocates, mirrors and must then be added; SciPy's wrapper holds the interpreter's lock. The functions
that SciPy exports to Cython do neither.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.runtime.pinning import pinned

_ROUTINES = {np.dtype(np.float32): ("ssyrk", ctypes.c_float), np.dtype(np.float64): ("dsyrk", ctypes.c_double)}


def add_upper_squares(Z: NDArray[Any], total: NDArray[Any], keep: bool) -> None:  # (m, d) -> (d, d)
    """total += ZᵀZ on and above the diagonal, or total = ZᵀZ there; what lies below is nobody's."""
    alike = Z.ndim == 2 and Z.dtype == total.dtype and Z.dtype in _ROUTINES and total.shape == (Z.shape[1],) * 2
    if not (alike and Z.flags.c_contiguous and total.flags.c_contiguous and total.flags.writeable):
        raise ValueError(f"cannot add squares of {Z.dtype} {Z.shape} to {total.dtype} {total.shape} in place")
    name, real = _ROUTINES[Z.dtype]
    syrk = _routine(name)
    if syrk is None:
        np.add(total if keep else 0.0, Z.T @ Z, out=total)
        return
    m, d = (ctypes.byref(ctypes.c_int(size)) for size in Z.shape)
    alpha, beta = ctypes.byref(real(1.0)), ctypes.byref(real(float(keep)))
    # To BLAS, which counts by columns, Z is its transpose and the upper triangle is the lower one.
    with pinned.calling():
        syrk(b"L", b"N", d, m, alpha, Z.ctypes.data, d, beta, total.ctypes.data, d)


@cache
def _routine(name: str) -> Callable[..., None] | None:
    """A routine from the table that scipy.linalg.cython_blas exports, None where it is not what we know it to be.

    ctypes releases the interpreter's lock around it.
    """
    from scipy.linalg import cython_blas

    capsule = getattr(cython_blas, "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    signature_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    signature = signature_of(capsule)
    if not signature.startswith(b"void (char *, char *, int *, int *, "):  # integers of another width, for instance
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(pointer_of(capsule, signature))
