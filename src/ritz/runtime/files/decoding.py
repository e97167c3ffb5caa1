"""From a tree of JSON and named tensors back to immutable objects, each field checked against what it may hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from ritz.errors import DataError
from ritz.runtime.files.container import Tensors, brief
from ritz.runtime.files.encoding import LARGEST_INTEGER, stored_fields
from ritz.runtime.memory import check_fits

INFINITIES = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
SPARSE = ("csr_array", "csr_matrix")
WORDS = {
    NoneType: "null", float: "a number", int: "an integer", bool: "true or false", str: "text",
    np.ndarray: "a tensor", tuple: "a list",
}  # fmt: skip
_hints = cache(get_type_hints)


@dataclasses.dataclass(frozen=True)
class Form:
    """What the fields of a class may hold, beyond their annotations.

    Attributes
    ----------
    shapes : a letter or a number for every dimension of an array, such as "d k"; equal letters stand for equal sizes,
        and "d|d d" for either
    dtypes : names of dtypes that an array may have, "float64" unless said otherwise
    infinite, unknown : names of fields whose numbers may be inf, though never -inf, or NaN
    signed : names of those that may be -inf too
    sparse : names of fields that may hold a sparse matrix
    check : raises an error where parts do not fit together
    """

    shapes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    dtypes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    infinite: str = ""
    unknown: str = ""
    sparse: str = ""
    signed: str = ""
    check: Callable[[Any], None] = lambda made: None

    def place(self, path: str, hint: Any, name: str) -> Place:
        """Where the field of this name stands, and what may be there."""
        dtypes = tuple(self.dtypes.get(name, "float64").split())
        flags = [name in names.split() for names in (self.infinite, self.unknown, self.sparse, self.signed)]
        return Place(path, _members(hint), dtypes, *flags)


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a value stands in the tree, and what may be there."""

    path: str
    members: tuple[Any, ...]
    dtypes: tuple[str, ...] = ("float64",)
    infinite: bool = False
    unknown: bool = False
    sparse: bool = False
    signed: bool = False

    def beyond(self, hint: Any, part: object, *dtypes: str) -> Place:
        """A part of it, which may have other dtypes."""
        path, dtypes = f"{self.path}.{part}", dtypes or self.dtypes
        return dataclasses.replace(self, path=path, members=_members(hint), dtypes=dtypes)

    def wrong(self, found: object) -> DataError:
        """The error that says what was expected here."""
        words = (WORDS.get(get_origin(m) or m, getattr(m, "__name__", str(m))) for m in self.members)
        return DataError(f"expected {' or '.join(dict.fromkeys(words))} for {self.path}, found {brief(found)}")


class Decoder:
    """Objects of the kinds in a table, which is all that a file can ask for."""

    def __init__(self, forms: Mapping[type, Form], tensors: Tensors) -> None:
        self._forms, self._tensors = forms, tensors
        self._kinds = {kind.__name__: kind for kind in forms}
        self._objects: dict[str, Any] = {}
        self._arrays: dict[tuple[str, bool], NDArray[Any]] = {}

    def decoded(self, node: Any, hint: Any, path: str = "") -> Any:
        """The value that a node stands for."""
        return self._value(node, Place(path, _members(hint)))

    def check_all_used(self) -> None:
        """A tensor that nothing asks for is an error."""
        if left := sorted(self._tensors.keys() - {name for name, _ in self._arrays}):
            raise DataError(f"expected no tensor that the model does not name, found {brief(left[0])!r}")

    def _value(self, node: Any, place: Place) -> Any:
        if node is None and NoneType in place.members:
            return None
        if isinstance(node, dict):
            return self._made(node, place)
        if isinstance(node, list):
            return self._listed(node, place)
        if type(node) in (bool, int, str) and type(node) in place.members:
            if type(node) is int and not -LARGEST_INTEGER <= node < LARGEST_INTEGER:
                raise place.wrong(node)
            return node
        if float in place.members and (type(node) in (int, float) or node in INFINITIES):
            return _number(node, place)
        raise place.wrong(node)

    def _made(self, node: dict[str, Any], place: Place) -> Any:
        arrays = any(get_origin(member) is np.ndarray for member in place.members)
        if "tensor" in node and arrays:
            return self._array(node, place)
        if "sparse" in node and place.sparse:
            return self._sparse(node, place)
        if "table" in node:
            return self._table(node["table"], place)
        kinds = tuple(member for member in place.members if isinstance(member, type))
        same, name = node.get("same"), node.get("kind")
        known = self._objects.get(same) if isinstance(same, str) else None
        if known is not None and isinstance(known, kinds):
            return known
        kind = self._kinds.get(name) if isinstance(name, str) else None
        if kind is None or not issubclass(kind, kinds):
            raise place.wrong(node)
        return self._object(node, kind, place.path)

    def _object(self, node: dict[str, Any], kind: type, path: str) -> Any:
        """Fields that a file lacks take their defaults: it was written when they did not exist yet."""
        form, hints = self._forms[kind], _hints(kind)
        fields = {field.name: field for field in stored_fields(kind)}
        values = {}
        for name, field in fields.items():
            at = f"{path}.{name}" if path else name
            if name in node:
                values[name] = self._value(node[name], form.place(at, hints[name], name))
            elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                raise DataError(f"expected {at}, found nothing")
        if extra := sorted(node.keys() - fields.keys() - {"kind"}):
            where = path or "the model"
            raise DataError(f"expected the fields of {kind.__name__} in {where}, found {brief(extra[0])!r}")
        _check_shapes(values, form.shapes, path)
        try:
            made = kind(**values)
            form.check(made)
        except ValueError as error:  # what the class itself finds wrong
            raise DataError(f"expected consistent values in {path or 'the model'}: {error}") from None
        self._objects[path] = made
        return made

    def _array(self, node: dict[str, Any], place: Place) -> NDArray[Any]:
        name = node["tensor"]
        if not isinstance(name, str) or name not in self._tensors:
            raise DataError(f"expected tensor {brief(name)!r} for {place.path}, found none of that name")
        array = self._tensors[name]
        if array.dtype.name not in place.dtypes:
            dtypes = " or ".join(place.dtypes)
            raise DataError(f"expected numbers of type {dtypes} for {place.path}, found {array.dtype}")
        _check_numbers(array, place)
        columns = node.get("order") == "F" and array.ndim == 2
        return self._arrays.setdefault((name, columns), np.asfortranarray(array) if columns else array)

    def _sparse(self, node: dict[str, Any], place: Place) -> Any:
        import scipy.sparse

        shape, name = node.get("shape", []), node["sparse"]
        pair = isinstance(shape, list) and [type(n) for n in shape] == [int, int] and min(shape) >= 0
        if name not in SPARSE or not pair:
            raise place.wrong(node)
        check_fits(8 * sum(shape), f"{place.path}, a sparse matrix of shape {tuple(shape)},")
        dtypes = {"data": place.dtypes, "indices": ("int32", "int64"), "indptr": ("int32", "int64")}
        places = {part: place.beyond(NDArray[Any], part, *kinds) for part, kinds in dtypes.items()}
        parts = tuple(self._value(node.get(part), at) for part, at in places.items())
        try:
            matrix = getattr(scipy.sparse, name)(parts, shape=tuple(shape))
            matrix.check_format(full_check=True)
        except (ValueError, TypeError) as error:
            raise DataError(f"expected a sparse matrix for {place.path}, found that {brief(error)}") from None
        return matrix

    def _table(self, node: Any, place: Place) -> tuple[Any, ...]:
        """Named tuples, from a tensor for every one of their fields."""
        kind: Any = next((get_args(m)[0] for m in place.members if get_origin(m) is tuple), None)
        if not isinstance(node, dict) or not hasattr(kind, "_fields") or set(node) != set(kind._fields):
            raise place.wrong(node)
        columns = [
            self._value(node[name], place.beyond(NDArray[Any], name, "int64" if hint is int else "float64"))
            for name, hint in get_type_hints(kind).items()
        ]
        if any(column.ndim != 1 or len(column) != len(columns[0]) for column in columns):
            raise DataError(f"expected columns of equal length for {place.path}, found {[c.shape for c in columns]}")
        return tuple(kind(*row) for row in zip(*(column.tolist() for column in columns), strict=True))

    def _listed(self, node: list[Any], place: Place) -> tuple[Any, ...]:
        hint = next((member for member in place.members if get_origin(member) is tuple), None)
        if hint is None:
            raise place.wrong(node)
        hints = get_args(hint)
        hints = hints[:1] * len(node) if hints[-1] is Ellipsis else hints
        if len(hints) != len(node):
            raise place.wrong(node)
        return tuple(self._value(part, place.beyond(h, i)) for i, (part, h) in enumerate(zip(node, hints, strict=True)))


def _members(hint: Any) -> tuple[Any, ...]:
    """What a union may be, or the one thing that is not a union; aliases are what they stand for."""
    while hasattr(hint, "__value__"):  # as of NDArray, which is a type in some versions of NumPy, an alias in others
        value, given = hint.__value__, get_args(hint)
        hint = value[given] if given else value
    if get_origin(hint) not in (Union, UnionType):
        return (hint,)
    return tuple(member for part in get_args(hint) for member in _members(part))


def _number(node: Any, place: Place) -> float:
    try:
        value = INFINITIES[node] if isinstance(node, str) else float(node)
    except OverflowError:
        raise place.wrong(node) from None
    if (math.isinf(value) and not (place.infinite and value > 0)) or (math.isnan(value) and not place.unknown):
        raise DataError(f"expected a finite number for {place.path}, found {value}")
    return value


def _check_numbers(array: NDArray[Any], place: Place) -> None:
    if array.dtype.kind != "f":
        return
    if not place.infinite and not np.isfinite(array).all():
        raise DataError(f"expected finite numbers for {place.path}, found NaN or infinity")
    if not place.signed and (array == -np.inf).any():
        raise DataError(f"expected numbers above -inf for {place.path}, found -inf")
    if not place.unknown and np.isnan(array).any():
        raise DataError(f"expected numbers for {place.path}, found NaN")


def _check_shapes(values: Mapping[str, Any], shapes: Mapping[str, str], path: str) -> None:
    """Equal letters, equal sizes."""
    known: dict[str, int] = {}
    for name, written in shapes.items():
        if values.get(name) is None:
            continue
        found = values[name].shape
        wanted = [dims.split() for dims in written.split("|") if len(dims.split()) == len(found)]
        at = f"{path}.{name}" if path else name
        if not wanted:
            raise DataError(f"expected an array of shape ({written}) for {at}, found {found}")
        for dim, size in zip(wanted[0], found, strict=True):
            expected = int(dim) if dim.isdigit() else known.setdefault(dim, size)
            if size != expected:
                raise DataError(f"expected {dim}={expected} in the shape ({written}) of {at}, found {found}")
