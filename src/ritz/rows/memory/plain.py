"""Arrays of other libraries that hold no matrix of real numbers in one place, and what to pass instead."""

from __future__ import annotations

import sys
from typing import Any

from ritz.errors import DataError
from ritz.linalg import arrays


def check_plain(X: Any) -> None:
    """Whether an array holds its numbers, all of them, on one device, in a type that NumPy has."""
    if "jax" in sys.modules and isinstance(X, sys.modules["jax"].core.Tracer):
        raise DataError("X is a tracer of JAX, which stands for numbers that are not known yet", "fit outside jit")
    if hasattr(X, "devices") and len(X.devices()) > 1:  # JAX's alone
        where = ", ".join(sorted(map(str, X.devices())))
        raise DataError(f"X lies on several devices: {where}", "pass jax.device_put(X, jax.devices()[0])")
    if getattr(X, "is_nested", False):
        raise DataError("X is a nested tensor, not a plain array", "make one of its parts: torch.cat(X.unbind())")
    if str(layout := getattr(X, "layout", "torch.strided")) != "torch.strided":
        scipy_s = " or a sparse matrix of SciPy" if "sparse" in str(layout) else ""
        raise DataError(f"a tensor of layout {layout} is not a plain array", f"pass X.to_dense(){scipy_s}")
    if getattr(X, "is_meta", False):
        raise DataError("X lies on the device meta, which holds no numbers", "pass a tensor on the CPU or a GPU")
    if getattr(X, "is_quantized", False):
        raise DataError(f"X is quantized to {X.dtype}", "pass X.dequantize()")
    if not _has_type(X):
        wider = "X.float()" if hasattr(X, "float") else "X.astype('float32')"
        step = "pass X.real and X.imag as columns" if "complex" in str(X.dtype) else f"make them float32: {wider}"
        raise DataError(f"NumPy has no type for numbers of {X.dtype}", step)


def _has_type(X: Any) -> bool:
    """Whether NumPy itself has the type of the numbers; packages that are imported may have added others to it."""
    try:
        return arrays.dtype_of(X).isbuiltin == 1
    except TypeError:
        return False
