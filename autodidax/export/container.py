"""The file of a program: a fixed head with a checksum, a table in JSON, and the bytes of arrays.

The head is the same in all versions of the format: the line `MAGIC`, the version (4 bytes, little-endian), and the
SHA-256 of the version and all that follows. Behind it stand, in version 1, the length of the table (8 bytes), the
table, and the entries of the arrays one after the other; the table says dtype, shape, order and place of each. Reading
one runs no code of the file: no pickle is in it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from autodidax import errors
from autodidax.core.avals import float0

MAGIC = b"autodidax program\n"
VERSION = 1
_HEAD = len(MAGIC) + 4 + 32


def damaged(reason: str) -> errors.ExportError:
    """The error of a file that does not hold what its writer put there, or that no writer of this package made."""
    return errors.ExportError(
        f"the program cannot be loaded, its file is damaged: {reason}",
        mend="export the function again, and copy the file as binary data",
    )


def pack(table: dict[str, Any], arrays: Sequence[np.ndarray]) -> bytes:
    """The bytes of a file with this table and these arrays."""
    entries, chunks, offset = [], [], 0
    for a in arrays:
        order: Literal["C", "F"] = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
        chunk = b"" if a.dtype == float0 else a.tobytes(order)
        entries.append({"dtype": dtype_text(a.dtype), "shape": list(a.shape), "order": order, "offset": offset})
        chunks.append(chunk)
        offset += len(chunk)
    text = json.dumps(table | {"arrays": entries}, separators=(",", ":"), allow_nan=False).encode()
    rest = b"".join([VERSION.to_bytes(4, "little"), len(text).to_bytes(8, "little"), text, *chunks])
    version, body = rest[:4], rest[4:]
    return b"".join([MAGIC, version, hashlib.sha256(rest).digest(), body])


def unpack(data: Any) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Table and arrays of a file; the arrays are not writeable.

    Raises ExportError for what is no such file, is damaged or of a newer version.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise errors.ExportError(
            f"a program is loaded from bytes, got {type(data).__name__}",
            mend="give what serialize() returned; load(path) takes the name of a file",
        )
    data = bytes(data)
    if not data.startswith(MAGIC):
        raise errors.ExportError(
            "this is no program of autodidax: its first bytes are others",
            mend="give a file that Exported.save wrote, or the bytes that serialize() returned",
        )
    if len(data) < _HEAD:
        raise damaged("it ends within its head")
    start = len(MAGIC)
    version, digest, body = data[start : start + 4], data[start + 4 : _HEAD], data[_HEAD:]
    if hashlib.sha256(version + body).digest() != digest:
        raise damaged("its checksum is not that of its contents")
    number = int.from_bytes(version, "little")
    if number > VERSION:
        raise errors.ExportError(
            f"the program is stored in version {number} of the format, this autodidax reads versions up to {VERSION}",
            mend="load it with the newer autodidax that wrote it, or export it again with this one",
        )
    length = int.from_bytes(body[:8], "little")
    if number < 1 or len(body) < 8 + length:
        raise damaged("its table is not whole")
    table = json.loads(body[8 : 8 + length])
    if type(table) is not dict:
        raise damaged("its table is none")
    blob = memoryview(body)[8 + length :]
    return table, [_array(entry, blob) for entry in table["arrays"]]


def _array(entry: dict[str, Any], blob: memoryview) -> np.ndarray:
    dtype, shape, offset = dtype_of_text(entry["dtype"]), tuple(map(natural, entry["shape"])), natural(entry["offset"])
    if dtype == float0:
        array = np.zeros(shape, float0)
    else:
        chunk = blob[offset : offset + math.prod(shape) * dtype.itemsize]
        # a copy, which is aligned; the right size and order are for NumPy to see to
        array = np.frombuffer(bytearray(chunk), dtype).reshape(shape, order=entry["order"])
    array.flags.writeable = False
    return array


def natural(n: Any) -> int:
    """A size, or the number of an entry."""
    if type(n) is not int or n < 0:
        raise ValueError(f"{n!r} is no size")
    return n


def dtype_text(dtype: np.dtype) -> str:
    """A dtype as the file has it: its kind and size, with the order of its bytes."""
    if dtype == float0:
        return "float0"
    if dtype.kind not in "biufc":
        raise TypeError(f"dtype {dtype}")
    return dtype.str


def dtype_of_text(text: Any) -> np.dtype:
    """The dtype of its text."""
    if text == "float0":
        return float0
    dtype = None
    if type(text) is str and text[1:2] in set("biufc"):
        with suppress(TypeError):
            dtype = np.dtype(text)
    if dtype is None or dtype.str != text:
        raise ValueError(f"{text!r} is no dtype of this machine")
    return dtype
