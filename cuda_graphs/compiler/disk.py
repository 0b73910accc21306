# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled code on disk: entries in a folder that only this user can write, each a file with a checksum.

Without a folder (the user has no home, or the folder cannot be made) each process compiles its kernels, and one warning
says so.

A file is written beside its place and renamed, so that whoever reads sees all of an entry or none. What is damaged, or
could have been written by others, is reported and not used. The least recently used entries go when there is no room:
a process looks through all of them when it first writes, and again each time it has written a 64th part of the limit,
which it keeps free for that.

CUDA_GRAPHS_CACHE=0 turns it off; CUDA_GRAPHS_CACHE_DIR says where it is, CUDA_GRAPHS_CACHE_MIB how large it may become.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from .sha256 import sha256

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
)  # suffixes of files: compiled kernels, and images that were translated for the CPU
DEFAULT_MIB = 256
UNFINISHED = ".unfinished-"
ABANDONED_S = 3600.0  # an unfinished file that is older has no writer any more
AHEAD = 64  # this part of the limit is kept free, and written without looking through the entries

# By folder and limit: how many bytes this process may write before it looks through the entries.
_free: dict[tuple[Path, int], int] = {}
# Texts of the warnings about folders, each of which is given once.
_told: set[str] = set()


def is_enabled() -> bool:
    """Whether anything is read or written."""
    return os.environ.get("CUDA_GRAPHS_CACHE", "1") != "0"


def directory() -> Path | None:
    """The folder of the entries, which need not exist. None for a user without a home: HOME is not set, and the system
    has no entry for the user, as in containers that run as any user."""
    chosen = os.environ.get("CUDA_GRAPHS_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "cuda_graphs"
    except RuntimeError:
        return None


def limit_bytes() -> int:
    """How much all entries together may take."""
    text = os.environ.get("CUDA_GRAPHS_CACHE_MIB", "")
    return (int(text) if text.isdecimal() else DEFAULT_MIB) << 20


def read(kind: str, name: str) -> bytes | None:
    """What was written as an entry, or None where there is none that can be vouched for."""
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
            with contextlib.suppress(OSError):  # of a read-only folder, from which none go
                os.utime(file.fileno())  # the least recently used entries go first
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
    """Warn of an entry whose content cannot be understood. The next `write` of this name replaces it."""
    _warn(f"{directory()}/{name}.{kind} is damaged; it is built again")


def write(kind: str, name: str, payload: bytes) -> bool:
    """Keep an entry. False, with a warning if that is a surprise, where it cannot be kept."""
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
        _make_room(folder, len(MAGIC) + DIGEST + len(payload))
    except OSError as error:
        _warn(f"cannot write to {folder}: {error}")
        return False
    return True


def entries(folder: Path | None = None) -> Iterator[tuple[float, int, Path]]:
    """(when it was last used, bytes, file) of each."""
    folder = folder or directory()
    for path, found in () if folder is None else _files(folder):
        if path.suffix[1:] in KINDS and stat.S_ISREG(found.st_mode):
            yield found.st_mtime, found.st_size, path


def trim(folder: Path, limit: int) -> None:
    """Remove the least recently used entries until the rest fits, and what was never finished."""
    total = 0
    for _, size, path in sorted(entries(folder), reverse=True):
        total += size
        if total > limit:
            path.unlink(missing_ok=True)
    for path, found in _files(folder):
        if path.name.startswith(UNFINISHED) and time.time() - found.st_mtime > ABANDONED_S:
            path.unlink(missing_ok=True)


def remove() -> int:
    """Remove all entries. How many there were."""
    found = [path for _, _, path in entries()]
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)


def _make_room(folder: Path, written: int) -> None:
    """After so many more bytes: see to it that the entries are within the limit."""
    limit = limit_bytes()
    left = _free.get((folder, limit), 0) - written
    if left < 0:
        left = limit // AHEAD
        trim(folder, limit - left)
    _free[folder, limit] = left


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of a folder that need not exist. Other processes remove some meanwhile."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as found:
        for entry in found:
            with contextlib.suppress(FileNotFoundError):
                yield Path(entry.path), entry.stat(follow_symlinks=False)


def _digest(name: str, payload: bytes) -> bytes:
    """The checksum covers the name, so that a file under another's name is noticed."""
    return sha256(name.encode() + b"\0" + payload).digest()


def _folder() -> Path | None:
    """The folder, made if need be; None where there is none that only this user can write."""
    if not is_enabled():
        return None
    folder = directory()
    if folder is None:
        _warn_once(
            "this user has no home, so kernels are compiled again by each process; name a folder in "
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
    if text not in _told:
        _told.add(text)
        _warn(text)


def _warn(text: str) -> None:
    warnings.warn(f"cuda_graphs cache: {text}", RuntimeWarning, stacklevel=3)
