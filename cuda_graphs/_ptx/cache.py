# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Native code on disk, so that an image is translated once a machine.

An entry is a checksum, the description of the image as JSON, and the object code. Its name is the hash of everything
that the code depends on: the image, this package, LLVM, the CPU. A damaged entry is reported, rebuilt and never run.

CUDA_GRAPHS_CACHE=0 turns it off; CUDA_GRAPHS_CACHE_DIR says where it is.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MAGIC = b"cuda_graphs image 1\n"
LIMIT_BYTES = 256 << 20
SUFFIX = ".image"


def is_enabled() -> bool:
    return os.environ.get("CUDA_GRAPHS_CACHE", "1") != "0"


def directory() -> Path:
    chosen = os.environ.get("CUDA_GRAPHS_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cuda_graphs"


@cache
def package_hash() -> str:
    """Of this package's own source: what it makes of an image changes only with it."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def key(image: bytes, host: dict[str, str]) -> str:
    found = hashlib.sha256(image)
    for part in (package_hash(), *host.values()):
        found.update(part.encode() + b"\0")
    return found.hexdigest()


def load(name: str) -> tuple[dict, bytes] | None:
    path = _path(name)
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn(f"cannot read {path}: {error}")
        return None
    entry = _decode(data)
    if entry is None:
        _warn(f"{path} is damaged; it is built again")
        return None
    os.utime(path)  # the least recently used entries go first
    return entry


def _decode(data: bytes) -> tuple[dict, bytes] | None:
    start = len(MAGIC) + 32
    payload = data[start:]
    if data[: len(MAGIC)] != MAGIC or hashlib.sha256(payload).digest() != data[len(MAGIC) : start]:
        return None
    size = int.from_bytes(payload[:8], "little")
    return json.loads(payload[8 : 8 + size]), payload[8 + size :]


def store(name: str, description: dict, code: bytes) -> None:
    path = _path(name)
    if path is None:
        return
    text = json.dumps(description).encode()
    payload = len(text).to_bytes(8, "little") + text + code
    data = MAGIC + hashlib.sha256(payload).digest() + payload
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        trim(path.parent)
    except OSError as error:
        _warn(f"cannot write {path}: {error}")


def trim(folder: Path, limit: int | None = None) -> None:
    """Removes the least recently used entries until the rest fits."""
    limit = LIMIT_BYTES if limit is None else limit
    total = 0
    for _, size, path in sorted(_entries(folder), reverse=True):
        total += size
        if total > limit:
            path.unlink(missing_ok=True)


def _entries(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            found = path.stat()
        except FileNotFoundError:  # another process trims too
            continue
        yield found.st_mtime, found.st_size, path


def _path(name: str) -> Path | None:
    """The entry's file in a folder that only this user can write, or None where there is no such folder."""
    if not is_enabled():
        return None
    folder = directory()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        _warn(f"{folder} cannot be used: {error}")
        return None
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        _warn(f"{folder} is not used, because others could write code into it (owner or mode)")
        return None
    return folder / f"{name}{SUFFIX}"


def _warn(text: str) -> None:
    warnings.warn(f"cuda_graphs cache: {text}", RuntimeWarning, stacklevel=2)
