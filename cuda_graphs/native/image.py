# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Native images, which the host driver loads as a driver for GPUs loads PTX.

hostdriver/image_loader.h defines the format: a header of 64 bytes, a description as JSON, and the object file.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any

__all__ = ["DamagedImage", "UnknownVersion", "is_native_image", "pack_image", "unpack_image"]

MAGIC = b"\x7fCGHOBJ\n"
VERSION = 1
HEAD = struct.Struct("<8sIIQII32s")
HASHED = 28  # bytes of the header that its hash covers


class DamagedImage(Exception):
    """An image differs from what was written."""


class UnknownVersion(Exception):
    """An image has another version of the format."""


def is_native_image(data: bytes) -> bool:
    return data.startswith(MAGIC)


def pack_image(description: Mapping[str, Any], code: bytes) -> bytes:
    """Return the image of an object file."""
    text = json.dumps(description).encode()
    body = text + code
    size, digest = HEAD.size + len(body), hashlib.sha256(body).digest()
    unhashed = HEAD.pack(MAGIC, VERSION, HEAD.size, size, len(text), 0, digest)
    return HEAD.pack(MAGIC, VERSION, HEAD.size, size, len(text), fnv1a(unhashed[:HASHED]), digest) + body


def unpack_image(image: bytes) -> tuple[dict[str, Any], bytes]:
    """Return (description, object file). Raises DamagedImage or UnknownVersion.

    The driver has already checked the hash of the header (hostdriver/loader/native_image.cpp).
    """
    if len(image) < HEAD.size:
        raise DamagedImage("it ends in its head")
    _, version, head, size, text, _, wanted = HEAD.unpack_from(image)
    if version != VERSION:
        raise UnknownVersion(f"the native image has version {version}, not {VERSION}")
    if head != HEAD.size or size != len(image) or head + text > size:
        raise DamagedImage("its lengths do not agree")
    if hashlib.sha256(memoryview(image)[head:]).digest() != wanted:
        raise DamagedImage("its content is not what was written")
    try:
        description = json.loads(image[head : head + text])
    except ValueError as error:
        raise DamagedImage(f"its description is not JSON: {error}") from None
    if not isinstance(description, dict):
        raise DamagedImage("its description is not an object of JSON")
    return description, image[head + text :]


def fnv1a(data: bytes) -> int:
    """Return the 32-bit FNV-1a hash."""
    found = 2166136261
    for byte in data:
        found = (found ^ byte) * 16777619 & 0xFFFFFFFF
    return found
