"""PyTorch's switches for products in float32, which are those of the process: exact while anyone computes."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def full_precision() -> Iterator[None]:
    """PyTorch without TF32 and without gradients; its settings are given back."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "no_grad"):
        yield
        return
    with _switches.exact(torch), torch.no_grad():
        yield


class Switches:
    """Exact while anyone holds them: the first to enter keeps what they were, the last to leave gives it back."""

    def __init__(self) -> None:
        self._lock, self._own = threading.Lock(), threading.local()
        self._holders = 0
        self._before: list[tuple[Any, str, Any]] = []

    @contextmanager
    def exact(self, torch: Any) -> Iterator[None]:
        """Without TF32."""
        with self._lock:
            if not self._holders:
                self._before = _set_exact(torch)
            self._count(1)
        try:
            yield
        finally:
            with self._lock:
                self._count(-1)
                if not self._holders:
                    self._restore()

    def _count(self, more: int) -> None:
        self._holders += more
        self._own.count = getattr(self._own, "count", 0) + more

    def _restore(self) -> None:
        for switch, name, value in self._before:
            setattr(switch, name, value)
        self._before = []

    def after_fork_in_child(self) -> None:
        """Of all threads the one that forked goes on: the others hold nothing any more, nor the lock."""
        self._lock, self._holders = threading.Lock(), getattr(self._own, "count", 0)
        if not self._holders:
            self._restore()


def _set_exact(torch: Any) -> list[tuple[Any, str, Any]]:
    """Switch to exact products; every switch, its name and what it was."""
    before = []
    for kind in ("cuda", "mkldnn"):
        switch = getattr(getattr(torch.backends, kind, None), "matmul", None)
        # Since 2.9 there is a finer one; to ask for the older one may then be an error.
        name, exact = ("fp32_precision", "ieee") if hasattr(switch, "fp32_precision") else ("allow_tf32", False)
        if hasattr(switch, name):
            before.append((switch, name, getattr(switch, name)))
            setattr(switch, name, exact)
    return before


_switches = Switches()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_switches.after_fork_in_child)
