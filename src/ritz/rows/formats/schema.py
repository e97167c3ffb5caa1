"""What the schema of a table in Arrow's terms says: which columns hold numbers or vectors, and in which type."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.errors import DataError

TEXT = "string"  # as Arrow calls it


@dataclass(frozen=True)
class Selection:
    """Columns that are decomposed: all that hold numbers, or else the only one whose cells are vectors of numbers.

    Attributes
    ----------
    names : of these columns
    vectors : whether it is one column of vectors
    left_out : the other columns, and what they hold
    text : those of them that hold text
    """

    names: tuple[str, ...]
    vectors: bool
    left_out: dict[str, str]
    text: tuple[str, ...]


def select_numbers(schema: Any) -> Selection:
    """The columns of numbers, or of vectors, unless there are none or nobody can tell them apart."""
    names = schema.names
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise DataError(f"column names appear more than once: {', '.join(map(repr, repeated[:5]))}; rename them")
    vectors = [field.name for field in schema if _is_vector(field.type)]
    if len(vectors) > 1:
        raise DataError(f"several columns hold vectors ({', '.join(map(repr, vectors))}); keep one of them in the file")
    picked = vectors or [field.name for field in schema if _is_number(field.type)]
    if not picked:
        raise DataError(f"no column holds numbers; there are {', '.join(map(repr, names[:8])) or 'no columns'}")
    chosen = set(picked)
    kinds = {field.name: _told(field.type) for field in schema if field.name not in chosen}
    if vectors:
        return Selection(tuple(picked), True, dict.fromkeys(kinds, "beside vectors"), ())
    return Selection(tuple(picked), False, kinds, tuple(name for name, kind in kinds.items() if kind == TEXT))


def common_dtype(schema: Any, selection: Selection) -> np.dtype[Any]:
    """float32 where no column holds more digits, integers where all are; else float64."""
    kinds = [schema.field(name).type for name in selection.names]
    kinds = [kind.value_type for kind in kinds] if selection.vectors else kinds
    if all(str(kind).startswith(("int", "uint")) for kind in kinds) and not selection.vectors:
        return np.result_type(*(kind.to_pandas_dtype() for kind in kinds))
    return np.dtype(np.float32 if all(str(kind) in ("float", "halffloat") for kind in kinds) else np.float64)


def index_columns(schema: Any) -> tuple[str, ...]:
    """Columns that were the index of a table of pandas, which says so beside the schema."""
    try:
        told = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return tuple(name for name in told.get("index_columns", ()) if isinstance(name, str))
    except (ValueError, AttributeError, TypeError):  # whoever wrote it meant something else
        return ()


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_kind(kind) for is_kind in kinds)


def _is_vector(kind: Any) -> bool:
    import pyarrow.types as types

    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_kind(kind) for is_kind in lists) and _is_number(kind.value_type)


def _told(kind: Any) -> str:
    """What a column without numbers holds; text is text, however it is stored."""
    import pyarrow.types as types

    value = kind.value_type if types.is_dictionary(kind) else kind
    return TEXT if str(value) in (TEXT, "large_string", "string_view") else str(kind)
