"""Packing: plain data and arrays in one private file, whose checksum is verified on reading."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import IntegrityError
from graphveil.study.ledger import StoredFile
from graphveil.study.records.local.cache.arena import UnusableError
from graphveil.study.records.private_tables import checked
from graphveil.study.storage.folder import OWNER_ONLY_FILE
from graphveil.whole_files import write_whole

_ARRAY = "array"  # the key of the placeholder for an array in the data
_ALIGNED = 64
_LARGE = 1 << 20  # bytes that are written at once, at least


def write_packed(folder: Path, stem: str, data: Any) -> StoredFile:
    """Write data, which may contain arrays anywhere, to a file with a new name."""
    arrays: list[NDArray[Any]] = []
    head = json.dumps(_without(data, arrays)).encode()
    path, sum_of_all = folder / f"{stem}-{uuid.uuid4().hex[:16]}.kept", hashlib.sha256()

    def put(file: IO[bytes]) -> None:
        for part in _together(chain([len(head).to_bytes(8, "little"), head], map(_padded, arrays))):
            sum_of_all.update(part)
            file.write(part)

    write_whole(path, put, mode=OWNER_ONLY_FILE)
    return StoredFile(path.name, sum_of_all.hexdigest())


def read_packed(folder: Path, stored: StoredFile) -> Any:
    """The data; its arrays must not be written to."""
    try:
        content = checked(folder, stored)
    except (IntegrityError, OSError) as error:
        raise UnusableError from error
    begin = 8 + int.from_bytes(content[:8], "little")
    return _with(json.loads(content[8:begin]), memoryview(content)[begin:])


def _padded(values: NDArray[Any]) -> bytes:
    raw = np.ascontiguousarray(values).tobytes()
    return raw + bytes(-len(raw) % _ALIGNED)


def _together(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in fewer parts; large parts are not copied."""
    held: list[bytes] = []
    for part in parts:
        held.append(part)
        if sum(map(len, held)) >= _LARGE:
            yield b"".join(held)
            held = []
    yield b"".join(held)


def _without(data: Any, arrays: list[NDArray[Any]]) -> Any:
    """The data with descriptions in place of arrays, which are collected."""
    if isinstance(data, np.ndarray):
        start = sum(each.nbytes + -each.nbytes % _ALIGNED for each in arrays)
        arrays.append(data)
        return {_ARRAY: [data.dtype.str, list(data.shape), start]}
    if isinstance(data, dict):
        return {key: _without(each, arrays) for key, each in data.items()}
    return [_without(each, arrays) for each in data] if isinstance(data, list | tuple) else data


def _with(data: Any, raw: memoryview) -> Any:
    """The data with its arrays."""
    if isinstance(data, list):
        return [_with(each, raw) for each in data]
    if not isinstance(data, dict):
        return data
    if data.keys() == {_ARRAY}:
        kind, shape, start = data[_ARRAY]
        return np.frombuffer(raw, kind, int(np.prod(shape)), start).reshape(shape)
    return {key: _with(each, raw) for key, each in data.items()}
