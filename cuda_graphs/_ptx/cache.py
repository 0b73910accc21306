# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Native code of translated images on disk (compiler/disk.py), so that an image is translated once a machine.

An entry is the description of the image as JSON, and the object code. Its name is the hash of everything that the code
depends on: the image, this package, LLVM, the CPU.
"""

from __future__ import annotations

import json
import os
from functools import cache

from cuda_graphs.compiler import disk
from cuda_graphs.compiler.sha256 import sha256

KIND = "image"


@cache
def package_hash() -> str:
    """Of this package's own source: what it makes of an image changes only with it. Sizes and times of files stand for
    what is in them, as for Python's bytecode."""
    found = sha256()
    for folder in (os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "ops")):
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            if entry.name.endswith(".py"):
                now = entry.stat()
                found.update(f"{entry.path} {now.st_size} {now.st_mtime_ns}\n".encode())
    return found.hexdigest()


def key(image: bytes, host: dict[str, str]) -> str:
    found = sha256(image)
    for part in (package_hash(), *host.values()):
        found.update(part.encode() + b"\0")
    return found.hexdigest()


def load(name: str) -> tuple[dict, bytes] | None:
    payload = disk.read(KIND, name)
    if payload is None:
        return None
    size = int.from_bytes(payload[:8], "little")
    return json.loads(payload[8 : 8 + size]), payload[8 + size :]


def store(name: str, description: dict, code: bytes) -> None:
    text = json.dumps(description).encode()
    disk.write(KIND, name, len(text).to_bytes(8, "little") + text + code)
