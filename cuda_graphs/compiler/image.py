# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes native images, which a driver for CPUs loads as a driver for GPUs loads PTX.

image_loader.h defines the format: a header of 64 bytes, a description as JSON, and the object file.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .artifact import TaskInfo

from .sha256 import sha256

__all__ = ["native_image"]

MAGIC = b"\x7fCGHOBJ\n"
VERSION = 1
HEAD = struct.Struct("<8sIIQII32s")
HASHED = 28  # bytes of the header that its hash covers


def native_image(code: bytes, tasks: Iterable[TaskInfo], cpu: Mapping[str, Any]) -> bytes:
    """Return the image of an object file and its entries.

    `cpu` holds the requirements of the code: {"triple", "features"}, and "made_here" if this machine is known to meet
    them (host_cpu.py).
    """
    entries = [
        {
            "name": t.entry,
            "params": [(s.offset, s.size) for s in t.slots],
            "shared": t.shared_bytes - t.dynamic_bytes,
        }
        for t in tasks
    ]
    text = json.dumps({**cpu, "entries": entries}).encode()
    body = text + code
    size, digest = HEAD.size + len(body), sha256(body).digest()
    unhashed = HEAD.pack(MAGIC, VERSION, HEAD.size, size, len(text), 0, digest)
    return HEAD.pack(MAGIC, VERSION, HEAD.size, size, len(text), fnv1a(unhashed[:HASHED]), digest) + body


def fnv1a(data: bytes) -> int:
    """Return the 32-bit FNV-1a hash."""
    found = 2166136261
    for byte in data:
        found = (found ^ byte) * 16777619 & 0xFFFFFFFF
    return found
