"""Properties that are computed when they are first asked for, and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:
        """As in functools, without a lock.

        Python 3.11 has one for all objects of a class: fits in two threads would take turns, and the child of a fork
        during a fit would wait for a thread that it does not have. Threads that ask at the same time may both compute;
        all are given the value that was there first.
        """

        def __init__(self, compute: Any) -> None:
            self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            known = instance.__dict__
            return known[self.name] if self.name in known else known.setdefault(self.name, self.compute(instance))


__all__ = ["cached_property"]
