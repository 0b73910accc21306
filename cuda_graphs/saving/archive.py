# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The file of a saved graph: a zip with `manifest.json` and `blobs/0`, `blobs/1`, ...

A reader takes no more memory than the manifest declares, and than a file of this size can hold. It writes no files.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from .schema import FORMAT, SCHEMA, TABLES, Row, check_int, check_list, fail

__all__ = ["Archive", "write_archive"]

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
    handle, unfinished = tempfile.mkstemp(dir=folder, prefix=".unfinished-", suffix=".cgg")
    try:
        os.fchmod(handle, 0o666 & ~_umask())
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr(_entry(MANIFEST), text)
            for number, blob in enumerate(blobs):
                made.writestr(_entry(f"blobs/{number}"), blob)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)
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


class Archive:
    """A file that is open for reading. Use it as a context.

    Attributes:
        manifest: The manifest, whose tables are lists.

    Raises:
        OSError: The file cannot be read.
        SavedGraphError: It is no saved graph, or one of a later version.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 (closed by __exit__)
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            with _damage(os.fspath(path), "is no zip file"):
                self._zip = zipfile.ZipFile(self._file)
            self.manifest = self._read_manifest()
            self._blobs = self.manifest["blobs"]
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def blob(self, number: int) -> bytes:
        """Return the contents of a blob, whose number is that of a row."""
        size, digest = check_list(self._blobs[number], f"blob {number}", 2)
        check_int(size, f"the size of blob {number}")
        data = self._read(f"blobs/{number}", size)
        if hashlib.sha256(data).hexdigest() != digest:
            fail(f"blob {number}", "has other contents than were written")
        return data

    def _read_manifest(self) -> dict[str, Any]:
        text = self._read(MANIFEST, None)
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

    def _read(self, name: str, size: int | None) -> bytes:
        """Return the contents of an entry, of `size` bytes if that is known."""
        try:
            entry = self._zip.getinfo(name)
        except KeyError:
            fail(name, "is missing")
        if size is not None and entry.file_size != size:
            fail(name, f"has {entry.file_size} bytes instead of {size}")
        if entry.compress_size > self._size or entry.file_size > MOST_RATIO * max(entry.compress_size, 1):
            fail(name, "is larger than the file can hold")
        with _damage(name, "cannot be read"), self._zip.open(entry) as stream:
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
