# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The compiler target of each driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.core.driver.choice import driver_info, wants_instrumented_code
from cuda_graphs.objects.device.device import Device

from .shapes import Shape, shape_of_driver

__all__ = ["CODE_TYPES", "is_early_target", "other_target", "target_named", "target_of"]

# Code type of ObjectCode for each target.
CODE_TYPES = {"ptx": "ptx", "x86": "native"}


def ptx_of_device(fast_math: bool) -> Ptx:
    """Return the PTX target for the current device, in a PTX version that its driver supports."""
    from cuda.pathfinder import find_bitcode_lib

    return Ptx(fast_math, f"sm_{Device().arch}", isa_of(driver_info().version), find_bitcode_lib("device"))


# PTX ISA version of each CUDA version (PTX ISA, "Release Notes"), up to the newest version that LLVM 22 supports.
ISA = {
    (11, 8): 78,
    **{(12, minor): 80 + minor for minor in range(6)},
    **{(12, minor): 79 + minor for minor in range(7, 10)},
}


def isa_of(version: tuple[int, int]) -> int:
    """Return the newest PTX version that a driver of this CUDA version supports."""
    return max((isa for since, isa in ISA.items() if since <= version), default=min(ISA.values()))


def x86_of_driver(fast_math: bool) -> X86:
    """Return the target for this CPU, with instrumented code if the host driver checks memory accesses."""
    return X86(fast_math, wants_instrumented_code())


# Target by the kind of the driver.
TARGETS: dict[str, Callable[[bool], Any]] = {"cuda": ptx_of_device, "host": x86_of_driver}


OLDEST = "sm_80"  # the architecture of code that is compiled on a machine without a GPU
PTX_VERSION = 80  # of that code: drivers of CUDA 12.0 and later load it


def other_target(fast_math: bool, architecture: str | None) -> Any:
    """Return the target of the driver that this process does not use: PTX for GPUs from `architecture` on, or this CPU.

    Raises:
        RuntimeError: The library of device functions is missing.
    """
    if driver_info().kind == "cuda":
        return X86(fast_math)
    from cuda.pathfinder import find_bitcode_lib

    return Ptx(fast_math, architecture or OLDEST, PTX_VERSION, find_bitcode_lib("device"))


def target_of(fast_math: bool) -> tuple[Any, Shape]:
    """Return the compiler target and the Shape for the driver of this process."""
    return TARGETS[driver_info().kind](fast_math), shape_of_driver()


def target_named(name: str | None, fast_math: bool) -> Any:
    """Return the target with the name "x86" or "ptx"; None returns the target of the driver of this process.

    Raises:
        ValueError: `name` is neither "x86" nor "ptx".
    """
    if name is None:
        return target_of(fast_math)[0]
    if name not in CODE_TYPES:
        raise ValueError(f"target must be one of {', '.join(CODE_TYPES)}, got {name!r}")
    return ptx_of_device(fast_math) if name == "ptx" else X86(fast_math)


def is_early_target(name: str, fast_math: bool) -> bool:
    """Return whether code of a target may begin before the kernels that it follows have ended.

    The host driver takes every edge as a full one, so any code may.
    """
    return name != "ptx" or bool(ptx_of_device(fast_math).has_grid_control)
