# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Native images (format: `hostdriver/image_loader.h`): object code compiled for this or another CPU. All of an image
is checked before linking: lengths, hash, architecture, and that this CPU has every feature that the code uses."""

from __future__ import annotations

import json
from typing import Any

from cuda_graphs.compiler.codegen.x86.host_cpu import made_here
from cuda_graphs.compiler.image import HEAD, MAGIC, VERSION
from cuda_graphs.compiler.sha256 import sha256

from . import native
from .errors import INVALID_IMAGE, NO_BINARY_FOR_GPU, ImageError


def is_native(image: bytes) -> bool:
    return image.startswith(MAGIC)


def read(image: bytes) -> tuple[dict[str, Any], bytes]:
    """Returns (description in the loader's form, object code). Raises ImageError."""
    if len(image) < HEAD.size:
        raise _damaged("it ends in its head")
    _, version, head, size, text, _, wanted = HEAD.unpack_from(image)
    if version != VERSION:
        raise ImageError(NO_BINARY_FOR_GPU, f"the native image has version {version}, not {VERSION}")
    if head != HEAD.size or size != len(image) or head + text > size:
        raise _damaged("its lengths do not agree")
    if sha256(memoryview(image)[head:]).digest() != wanted:
        raise _damaged("its content is not what was written")
    try:
        found = json.loads(image[head : head + text])
        triple, features = found["triple"], found["features"]
        if found.get("made_here") != made_here(triple, features):
            _check_cpu(triple, features)
        kernels = [_kernel(entry, int(bool(found.get("tells")))) for entry in found["entries"]]
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(f"its description cannot be read ({type(error).__name__}: {error})") from None
    return {"kernels": kernels, "globals": []}, image[head + text :]


def _damaged(why: str) -> ImageError:
    return ImageError(INVALID_IMAGE, f"the native image is damaged: {why}; compile it again")


def _check_cpu(triple: str, features: list[str]) -> None:
    host = native.host()
    here = host["triple"].partition("-")[0]
    if triple.partition("-")[0] != here:
        raise ImageError(NO_BINARY_FOR_GPU, f"the native image is for {triple}, this machine is {here}")
    missing = set(features) - {name[1:] for name in host["features"].split(",") if name.startswith("+")}
    if missing:
        raise ImageError(
            NO_BINARY_FOR_GPU,
            f"the native image was compiled for another CPU: this one lacks {', '.join(sorted(missing))}; "
            "compile it again here",
        )


def _kernel(entry: dict[str, Any], tells: int) -> dict[str, Any]:
    """Returns a kernel's description in the loader's form; `tells`: whether it reports its accesses.

    A block is a piece of a loop, without barriers.
    """
    params = [(int(offset), int(size)) for offset, size in entry["params"]]
    if any(offset < 0 or size <= 0 for offset, size in params):
        raise ValueError("a parameter has a negative offset or no size")
    shared = int(entry["shared"])
    if shared < 0:
        raise ValueError("the shared memory has a negative size")
    return {
        "name": str(entry["name"]),
        "symbol": str(entry["name"]),
        "params": params,
        "param_bytes": max((offset + size for offset, size in params), default=0),
        "static_shared_bytes": shared,
        "local_bytes": 0,
        "const_bytes": 0,
        "registers": 1,
        "max_threads_per_block": 1024,
        "required_block": (0, 0, 0),
        "uses_barrier": 0,
        "uses_cluster": 0,
        "required_cluster": (0, 0, 0),
        "ptx_version": 90,
        "binary_version": 90,
        "tells_accesses": tells,
    }
