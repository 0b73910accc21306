# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The file of a saved graph: a zip with `manifest.json` and `blobs/0`, `blobs/1`, ...

The loader (loader/) reads a whole file. Here the manifest alone is read, for a file in words. Neither takes more memory
than the manifest declares, and than a file of this size can hold.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from .schema import FORMAT, SCHEMA, TABLES, Row, fail

__all__ = ["read_manifest", "write_archive"]

MANIFEST = "manifest.json"
DATE = (1980, 1, 1, 0, 0, 0)  # of all entries, so that equal definitions give equal files
MOST_RATIO = 1032  # of bytes to compressed bytes: what deflate can reach
# Errors of zipfile for damaged files, of all its versions.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error,
    OverflowError, LookupError,
)  # fmt: skip


def write_archive(path: str | os.PathLike[str], manifest: Mapping[str, Any], blobs: Sequence[bytes]) -> None:
    """Write a file in one step: readers of `path` see the old file or the new one.

    Raises:
        OSError: The file cannot be written.
    """
    text = json.dumps(manifest, separators=(",", ":"), allow_nan=False)
    folder = os.path.dirname(os.path.abspath(path))
    unfinished = None
    try:
        handle, unfinished = tempfile.mkstemp(dir=folder, prefix=".unfinished-", suffix=".cgg")
        os.fchmod(handle, 0o666 & ~_umask())
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr(_entry(MANIFEST), text)
            for number, blob in enumerate(blobs):
                made.writestr(_entry(f"blobs/{number}"), blob)
        os.replace(unfinished, path)
    except BaseException as error:
        if unfinished is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(unfinished)
        if isinstance(error, OSError):
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
        raise


def _umask() -> int:
    """Return the mask of permissions of this process, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the manifest of a file. Each of TABLES in it is a list.

    Raises:
        OSError: The file cannot be read.
        SavedGraphError: It is no saved graph, or one of a later version.
    """
    with open(path, "rb") as file:
        with _damage(os.fspath(path), "is no zip file"):
            archive = zipfile.ZipFile(file)
        text = _read(archive, MANIFEST, os.fstat(file.fileno()).st_size)
    try:
        found = Row(json.loads(text.decode(), parse_constant=_refuse_constant), "the manifest")
    except (ValueError, RecursionError) as error:
        fail("the manifest", f"is not JSON ({type(error).__name__}: {error})")
    if found.get("format") != FORMAT:
        fail("the manifest", f"must have the format {FORMAT!r}")
    schema = found.number("schema", 1)
    if schema > SCHEMA:
        fail(
            "the schema",
            f"is {schema}; this version of cuda_graphs reads up to {SCHEMA}: use a later version",
        )
    for table in TABLES:
        found.items(table)
    return found.data


def _read(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Return the contents of an entry of a file of `most` bytes."""
    try:
        entry = archive.getinfo(name)
    except KeyError:
        fail(name, "is missing")
    if entry.compress_size > most or entry.file_size > MOST_RATIO * max(entry.compress_size, 1):
        fail(name, "is larger than the file can hold")
    with _damage(name, "cannot be read"), archive.open(entry) as stream:
        data = stream.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        fail(name, f"has {len(data)} bytes instead of {entry.file_size}")
    return data


@contextlib.contextmanager
def _damage(where: str, why: str) -> Iterator[None]:
    """Make errors of zipfile, also of a seek to an impossible place, SavedGraphErrors."""
    try:
        yield
    except DAMAGE as error:
        fail(where, f"{why} ({error})")
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        fail(where, f"{why} ({error})")


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")
