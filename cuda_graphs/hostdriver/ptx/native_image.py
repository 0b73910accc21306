# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reads native images (native/image.py) on CPUs other than x86-64, where the driver does it
(hostdriver/loader/native_loader.cpp). Makes them from PTX for x86-64.

All of an image is checked before linking: lengths, hash, architecture, and that this CPU has every feature that the
code uses.
"""

from __future__ import annotations

from typing import Any

from cuda_graphs.native.host_cpu import made_here
from cuda_graphs.native.image import DamagedImage, UnknownVersion, pack_image, unpack_image
from cuda_graphs.native.llvm import requirements

from .errors import INVALID_IMAGE, NO_BINARY_FOR_GPU, ImageError


def read(image: bytes) -> tuple[dict[str, Any], bytes]:
    """Returns (description in the loader's form, object code). Raises ImageError."""
    try:
        found, code = unpack_image(image)
        triple, features = found["triple"], found["features"]
        if found.get("made_here") != made_here(triple, features):
            _check_cpu(triple, features)
        kernels = [_kernel(entry, int(bool(found.get("instrumented")))) for entry in found["entries"]]
    except UnknownVersion as error:
        raise ImageError(NO_BINARY_FOR_GPU, str(error)) from None
    except DamagedImage as error:
        raise _damaged(str(error)) from None
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(f"its description cannot be read ({type(error).__name__}: {error})") from None
    return {"kernels": kernels, "globals": []}, code


# Names of the description of a translated module -> those of native images.
RENAMED = {"static_shared_bytes": "shared", "is_open_ended": "open_ended"}


def pack(description: dict[str, Any], code: bytes, table: str) -> bytes:
    """Returns the image of a translated module, whose object has the services in `table`. It needs an x86-64 CPU."""
    cpu = requirements()
    entries = [
        {RENAMED.get(name, name): value for name, value in kernel.items() if name != "is_instrumented"}
        for kernel in description["kernels"]
    ]
    parts = {"entries": entries, "globals": description["globals"], "services": table}
    return pack_image({**cpu, "made_here": made_here(**cpu), **parts}, code)


def _damaged(why: str) -> ImageError:
    return ImageError(INVALID_IMAGE, f"the native image is damaged: {why}; compile it again")


def _check_cpu(triple: str, features: list[str]) -> None:
    host = requirements()
    here = host["triple"].partition("-")[0]
    if triple.partition("-")[0] != here:
        raise ImageError(NO_BINARY_FOR_GPU, f"the native image is for {triple}, this machine is {here}")
    missing = set(features) - set(host["features"])
    if missing:
        raise ImageError(
            NO_BINARY_FOR_GPU,
            f"the native image was compiled for another CPU: this one lacks {', '.join(sorted(missing))}; "
            "compile it again here",
        )


def _kernel(entry: dict[str, Any], instrumented: int) -> dict[str, Any]:
    """Returns a kernel's description in the loader's form; `instrumented`: whether it reports its accesses.

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
        "is_open_ended": int(bool(entry.get("open_ended"))),
        "is_instrumented": instrumented,
    }
