# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled code on disk: entries in a folder that only this user can write, each a file with a checksum.

Without a folder (the user has no home, or the folder cannot be made) each process compiles its kernels and warns once.

A file is written under a temporary name and renamed, so that readers see a whole entry or none. An entry that is
damaged, or that others could have written, is reported and not used.

Above the size limit, the least recently used entries are removed. A process scans all entries at its first write, and
again each time it has written 1/64 of the limit. It keeps that part of the limit free.

CUDA_GRAPHS_CACHE=0 turns the cache off. CUDA_GRAPHS_CACHE_DIR sets the folder, CUDA_GRAPHS_CACHE_MIB the limit in MiB.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

__all__ = [
    "KINDS",
    "directory",
    "entries",
    "is_enabled",
    "limit_bytes",
    "read",
    "refuse",
    "remove",
    "trim",
    "write",
]

MAGIC = b"cuda_graphs entry 1\n"
DIGEST = 32
KINDS = (
    "kernel",
    "image",
    "unit",
    "syntax",
)  # suffixes of files: compiled kernels, images that were translated to the CPU, parts of kernels (units.py), and the
# names in the functions of a source file (cache/syntax.py)
DEFAULT_MIB = 256
UNFINISHED = ".unfinished-"
ABANDONED_S = 3600.0  # age in seconds at which an unfinished file is taken to have no writer
PARTS = 64  # 1/PARTS of the limit is kept free, and written without a scan of the entries

# (folder, limit) -> bytes that this process may write before it scans the entries.
_free: dict[tuple[Path, int], int] = {}
# Warnings about folders that were given; each is given once.
_warned: set[str] = set()


def is_enabled() -> bool:
    """Return whether the cache reads and writes files."""
    return os.environ.get("CUDA_GRAPHS_CACHE", "1") != "0"


def directory() -> Path | None:
    """Return the folder of the entries, which need not exist, or None for a user without a home.

    Such a user has no HOME and no entry in the system, as in containers that run under any user id.
    """
    chosen = os.environ.get("CUDA_GRAPHS_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "cuda_graphs"
    except RuntimeError:
        return None


def limit_bytes() -> int:
    """Return the size limit of all entries together, in bytes."""
    text = os.environ.get("CUDA_GRAPHS_CACHE_MIB", "")
    return (int(text) if text.isdecimal() else DEFAULT_MIB) << 20


def read(kind: str, name: str) -> bytes | None:
    """Return the content of an entry, or None if there is no trusted one."""
    folder = _folder()
    if folder is None:
        return None
    path = folder / f"{name}.{kind}"
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                _warn(f"{path} is not used, because it is not a regular file")
                return None
            if not _is_private(found):
                _warn(f"{path} is not used, because others could have written it (owner or mode)")
                return None
            data = file.read()
            with contextlib.suppress(OSError):  # a read-only folder never removes entries
                os.utime(file.fileno())  # marks the entry as recently used
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn(f"cannot read {path}: {error}")
        return None
    start = len(MAGIC) + DIGEST
    payload = data[start:]
    if data[: len(MAGIC)] != MAGIC or _digest(name, payload) != data[len(MAGIC) : start]:
        refuse(kind, name)
        return None
    return payload


def refuse(kind: str, name: str) -> None:
    """Warn of an entry with malformed content. The next `write` of this name replaces it."""
    _warn(f"{directory()}/{name}.{kind} is damaged and will be built again")


def write(kind: str, name: str, payload: bytes, *, warns: bool = True) -> bool:
    """Store an entry; return False if that is impossible, with a warning unless the cache is off.

    `warns` is False for parts of an entry that is written next.
    """
    folder = _folder()
    if folder is None:
        return False
    try:
        handle, temporary = tempfile.mkstemp(prefix=UNFINISHED, dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + _digest(name, payload) + payload)
            os.replace(temporary, folder / f"{name}.{kind}")
        except BaseException:
            os.unlink(temporary)
            raise
        _trim_if_full(folder, len(MAGIC) + DIGEST + len(payload))
    except OSError as error:
        if warns:
            _warn(f"cannot write to {folder}: {error}")
        return False
    return True


def entries(folder: Path | None = None) -> Iterator[tuple[float, int, Path]]:
    """Yield (time of the last use, bytes, file) for each entry."""
    folder = folder or directory()
    for path, found in () if folder is None else _files(folder):
        if path.suffix[1:] in KINDS and stat.S_ISREG(found.st_mode):
            yield found.st_mtime, found.st_size, path


def trim(folder: Path, limit: int) -> None:
    """Remove the least recently used entries until the rest fits. Remove abandoned unfinished files."""
    total = 0
    for _, size, path in sorted(entries(folder), reverse=True):
        total += size
        if total > limit:
            path.unlink(missing_ok=True)
    for path, found in _files(folder):
        if path.name.startswith(UNFINISHED) and time.time() - found.st_mtime > ABANDONED_S:
            path.unlink(missing_ok=True)


def remove() -> int:
    """Remove all entries and return their number."""
    found = [path for _, _, path in entries()]
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)


def _trim_if_full(folder: Path, written: int) -> None:
    """Count `written` bytes, and trim the entries if the free part of the limit is used up."""
    limit = limit_bytes()
    left = _free.get((folder, limit), 0) - written
    if left < 0:
        left = limit // PARTS
        trim(folder, limit - left)
    _free[folder, limit] = left


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files of a folder that need not exist. Ignore files that other processes remove meanwhile."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as found:
        for entry in found:
            with contextlib.suppress(FileNotFoundError):
                yield Path(entry.path), entry.stat(follow_symlinks=False)


def _digest(name: str, payload: bytes) -> bytes:
    """Return the checksum. It covers the name, so that a file under another name is detected."""
    return hashlib.sha256(name.encode() + b"\0" + payload).digest()


def _folder() -> Path | None:
    """Return the folder, created on demand, or None if no folder is writable by this user alone."""
    if not is_enabled():
        return None
    folder = directory()
    if folder is None:
        _warn_once(
            "this user has no home, so each process compiles its kernels again; name a folder in "
            "CUDA_GRAPHS_CACHE_DIR, or set CUDA_GRAPHS_CACHE=0"
        )
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        _warn_once(f"{folder} cannot be used: {error}")
        return None
    if not stat.S_ISDIR(found.st_mode) or not _is_private(found):
        _warn_once(f"{folder} is not used, because others could write code into it (owner or mode)")
        return None
    return folder


def _is_private(found: os.stat_result) -> bool:
    return found.st_uid == os.getuid() and not found.st_mode & 0o022


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        _warn(text)


def _warn(text: str) -> None:
    warnings.warn(f"cuda_graphs cache: {text}", RuntimeWarning, stacklevel=3)
