"""Models compared field by field, and model files changed and signed again, as whoever means harm would."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ritz.sensing.maps import Map


def differences(a, b, at="model") -> list[str]:
    """The paths at which two values differ, in type, dtype, shape or any bit of a number."""
    if isinstance(a, np.generic):  # comes back as a number of Python
        return differences(a.item(), b, at)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        same = type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
        numbers = same and a.dtype.kind == "f"
        return [] if same and np.array_equal(a, b, equal_nan=numbers) else [at]
    if sp.issparse(a):
        parts = ("data", "indices", "indptr", "shape")
        return [at] * (type(a) is not type(b)) or _all(at, {p: (getattr(a, p), getattr(b, p)) for p in parts})
    if isinstance(a, np.random.RandomState):
        return _all(at, {"state": (a.get_state(), b.get_state())})
    if isinstance(b, float) and isinstance(a, float | int) and not isinstance(a, bool):
        return [] if a == b or (np.isnan(a) and np.isnan(b)) else [at]
    if isinstance(a, Map) and type(a) is type(b):
        ways = {"apply": a.shape[1], "adjoint": a.shape[0]}
        return _all(at, {way: tuple(getattr(part, way)(np.eye(size)) for part in (a, b)) for way, size in ways.items()})
    if type(a) is not type(b):
        return [f"{at}: {type(a)} is not {type(b)}"]
    if isinstance(a, dict):
        return [f"{at}: keys {a.keys() ^ b.keys()}"] * (a.keys() != b.keys()) or _all(at, {k: (a[k], b[k]) for k in a})
    if isinstance(a, list | tuple):
        return [f"{at}: length"] * (len(a) != len(b)) or _all(at, dict(enumerate(zip(a, b, strict=True))))
    if dataclasses.is_dataclass(a):
        return _all(at, {f.name: (getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a)})
    return [] if a == b else [at]


def _all(at, pairs) -> list[str]:
    return [place for name, (a, b) in pairs.items() for place in differences(a, b, f"{at}.{name}")]


def model_differences(model, loaded) -> list[str]:
    """All that two estimators differ in, but for the notes that only a loaded one has."""
    ours, theirs = ({k: v for k, v in m.__dict__.items() if k != "notes_"} for m in (model, loaded))
    return [f"{type(loaded)}"] * (type(model) is not type(loaded)) or differences(ours, theirs)


def opened(path) -> tuple[dict, dict, bytes]:
    """The header of a model file, the tree of the model in it, and the bytes of the tensors."""
    data = Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    return header, json.loads(header["__metadata__"]["model"]), data[8 + length :]


def signed(path, header, body) -> None:
    """Write a file with this header and these tensors, and with a checksum that is right."""
    header["__metadata__"]["sha256"] = "0" * 64
    text = json.dumps(header).encode()
    data = struct.pack("<Q", len(text)) + text + body
    digest = hashlib.sha256(data).hexdigest().encode()
    Path(path).write_bytes(data.replace(b"0" * 64, digest, 1))


def with_tree(path, change) -> None:
    """Change the tree of the model in a file, and sign it again."""
    header, tree, body = opened(path)
    changed = change(tree)
    header["__metadata__"]["model"] = json.dumps(tree if changed is None else changed)
    signed(path, header, body)


def with_tensor(path, name, change) -> None:
    """Change the numbers of a tensor in a file, its dtype or its shape, and sign it again."""
    header, _, body = opened(path)
    kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "u1", "I8": "i1", "BOOL": "b1"}
    arrays = {}
    for key, entry in header.items():
        if key != "__metadata__":
            start, end = entry["data_offsets"]
            numbers = np.frombuffer(body[start:end], kinds[entry["dtype"]])
            arrays[key] = numbers.reshape(entry["shape"]).copy()
    arrays[name] = np.asarray(change(arrays[name]))
    names, parts, at = {v: k for k, v in kinds.items()}, [], 0
    for key, array in arrays.items():
        raw = array.tobytes()
        name_of = names.get(array.dtype.str.replace("|", ""), "F16")
        header[key] = {"dtype": name_of, "shape": list(array.shape), "data_offsets": [at, at + len(raw)]}
        parts.append(raw)
        at += len(raw)
    signed(path, header, b"".join(parts))
