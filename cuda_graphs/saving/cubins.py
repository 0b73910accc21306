# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cubins from PTX, by nvJitLink. It runs on machines without a GPU too.

A driver that gets PTX compiles it when it loads it. A cubin is loaded as it is, by GPUs of its major version from its
minor version on (CUDA Programming Guide, "Binary Compatibility").
"""

from __future__ import annotations

from typing import Any

__all__ = ["accept_architectures", "cubin_of", "is_architecture"]

MISSING = (
    "cubins are made by nvJitLink, which is not installed ({problem}). Install it with "
    "`pip install 'cuda-graphs[cubins]'`, or leave `architectures` out: GPUs load the PTX of the file"
)


def accept_architectures(given: Any) -> tuple[str, ...]:
    """Return names of architectures, such as "sm_90", each once.

    Raises:
        TypeError: It is no list or tuple of str.
        ValueError: One is no name, or is for one GPU alone ("sm_90a").
        RuntimeError: There are names, and nvJitLink is not installed.
    """
    if not isinstance(given, list | tuple):
        raise TypeError(f"architectures must be a list of names, got {type(given).__name__}")
    for each in given:
        if not isinstance(each, str):
            raise TypeError(f"architectures must be a list of str, got {type(each).__name__}")
        if not is_architecture(each):
            raise ValueError(f'architectures must be names such as "sm_90", got {each!r}')
    if given:
        nvjitlink()
    return tuple(dict.fromkeys(given))


def is_architecture(name: str) -> bool:
    return name[:3] == "sm_" and name[3:].isdigit()


def nvjitlink() -> Any:
    """Return cuda.bindings.nvjitlink, after a check that its library is installed."""
    from cuda import pathfinder

    try:
        from cuda.bindings import nvjitlink

        nvjitlink.version()
    except (ImportError, RuntimeError, pathfinder.DynamicLibNotFoundError) as error:
        raise RuntimeError(MISSING.format(problem=str(error).splitlines()[0])) from error
    return nvjitlink


def cubin_of(ptx: bytes, architecture: str) -> bytes:
    """Return the cubin of PTX for an architecture.

    Raises:
        RuntimeError: nvJitLink refuses the PTX or the architecture.
    """
    api = nvjitlink()
    try:
        linker = api.create(1, [f"-arch={architecture}"])
    except api.nvJitLinkError as error:
        raise RuntimeError(f"nvJitLink does not know {architecture}: {error}") from error
    try:
        api.add_data(linker, api.InputType.PTX, ptx, len(ptx), "code of a saved graph")
        api.complete(linker)
        cubin = bytearray(api.get_linked_cubin_size(linker))
        api.get_linked_cubin(linker, cubin)
    except api.nvJitLinkError as error:
        raise RuntimeError(
            f"nvJitLink cannot compile it for {architecture}: {log_of(api, linker) or error}"
        ) from error
    finally:
        api.destroy(linker)
    return bytes(cubin)


def log_of(api: Any, linker: int) -> str:
    """Return the first line of the linker's errors."""
    text = bytearray(api.get_error_log_size(linker))
    if text:
        api.get_error_log(linker, text)
    return text.rstrip(b"\0").decode(errors="replace").strip().partition("\n")[0]
