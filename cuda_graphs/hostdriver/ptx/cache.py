# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The disk cache of native code of translated images (native/disk_cache.py): each machine translates an image once.

An entry holds the description of the image as JSON, and the object code. Its name is the hash of everything that the
code depends on: the image, this package, Python, LLVM, the CPU.
"""

from __future__ import annotations

import hashlib
import json
import os

from cuda_graphs.native import disk_cache
from cuda_graphs.native.versions import FOLDER, interpreter, tree_hash

KIND = "image"
PARTS = ("kernels", "globals")  # lists of a description


# The folders whose files decide the code, and their hash as this process loaded them. A change invalidates all entries.
FOLDERS = (os.path.dirname(__file__), FOLDER)
SOURCE = tree_hash(*FOLDERS)


def key(image: bytes, host: dict[str, str]) -> str:
    found = hashlib.sha256(image)
    for part in (SOURCE, interpreter(), *host.values()):
        found.update(part.encode() + b"\0")
    return found.hexdigest()


def load(name: str) -> tuple[dict, bytes] | None:
    """Returns the description and the object code, or None. A damaged entry is reported and counts as missing."""
    payload = disk_cache.read(KIND, name)
    if payload is None:
        return None
    size = int.from_bytes(payload[:8], "little")
    try:
        description = json.loads(payload[8 : 8 + size])
        valid = isinstance(description, dict) and all(isinstance(description[each], list) for each in PARTS)
    except (ValueError, LookupError):
        valid = False
    if not valid:
        disk_cache.refuse(KIND, name)
        return None
    return description, payload[8 + size :]


def store(name: str, description: dict, code: bytes) -> None:
    text = json.dumps(description).encode()
    disk_cache.write(KIND, name, len(text).to_bytes(8, "little") + text + code)
