# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes native images: what a driver for CPUs loads as one for GPUs loads PTX. The format is that of image_loader.h:
a head of 64 bytes, a description as JSON, the object file."""

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
HASHED = 28  # bytes of the head that its hash covers


def native_image(code: bytes, tasks: Iterable[TaskInfo], cpu: Mapping[str, Any]) -> bytes:
    """The image of an object file and its entries. `cpu` says what the code needs: {"triple", "features"}, and by
    "made_here" where that is known to be so (this_cpu.py)."""
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
    """The 32-bit hash of that name."""
    found = 2166136261
    for byte in data:
        found = (found ^ byte) * 16777619 & 0xFFFFFFFF
    return found
