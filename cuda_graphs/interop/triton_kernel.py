# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton: functions with `triton.jit`.

`JITFunction.warmup` compiles for given arguments without a launch. Its result says which arguments are
parameters of the code (`src.signature`; a "constexpr" argument, such as an int that is 1, is not). It also
has the required block and shared memory (`metadata`) and the code (`asm`). The code is loaded again here, so
that graphs can keep it. After the arguments recent versions take pointers to scratch memory for the kernel
and for a profiler.

Tested with Triton 3.6 (of PyTorch 2.11) and 3.9.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from cuda_graphs.graph.operands.parameter import Parameter
from cuda_graphs.objects.code.arguments import is_known_memory
from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.launch_config import LaunchConfig
from cuda_graphs.objects.code.object_code import ObjectCode
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.buffer import Buffer
from cuda_graphs.objects.memory.memory_resource import SynchronousMemoryResource

from .adapted import Adapted, address_of, checked_view, needs_shared

__all__ = ["triton"]


def triton(function: Any, **options: Any) -> Adapted:
    """Return a kernel of `triton.jit` for nodes and launches: ``triton(function, BLOCK=128)[grid]``.

    Args:
        function: The JITFunction.
        options: Arguments by name, mainly compile-time constants, and Triton's own options (`num_warps`,
        ...).

    The grid is an int, a tuple, or a function of a dict of the arguments, as in Triton. Triton chooses the
    block. Numbers may be named parameters of a graph: the code is valid for any value of them. Arrays may be
    of any library.

    Raises:
        TypeError: It is not a JITFunction. For an autotuned kernel, pass `.fn` and the configuration as
        options.
    """
    if not all(hasattr(function, name) for name in ("warmup", "arg_names", "fn")) or hasattr(
        function, "configs"
    ):
        raise TypeError(
            f"triton() takes a function of triton.jit, got {type(function).__name__}: for an autotuned kernel "
            "pass .fn, and the configuration as options"
        )
    return TritonKernel(function, options)


class TritonKernel(Adapted):
    library = "Triton"
    usage = "adapted[grid]"

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, function.fn.__name__)
        self.options = options
        self.loaded: dict[Any, Kernel] = {}  # keys: Triton's compiled kernels; shared by the copies with a
        # grid

    def _read_config(self, config: Any) -> Any:
        """Return the grid."""
        if isinstance(config, LaunchConfig) or not (callable(config) or isinstance(config, (int, tuple))):
            raise ValueError(
                f"{self!r} takes only a grid, as {self.usage}, and None as config: Triton chooses the block"
            )
        return config

    def _launch(self, config: Any, args: tuple[Any, ...]) -> tuple[LaunchConfig, Kernel, tuple[Any, ...]]:
        arguments = self._arguments(args)
        grid = config(arguments | self.options) if callable(config) else config
        grid = grid if isinstance(grid, tuple) else (grid,)
        compiled = self.kernel.warmup(
            *[stand_in(arguments[name], name) for name in self.kernel.arg_names], grid=grid, **self._extra()
        )
        if compiled not in self.loaded:
            self.loaded[compiled] = load(compiled)
        kernel = self.loaded[compiled]
        needs_shared(kernel, compiled.metadata.shared, compiled.metadata.shared)
        signature = compiled.src.signature
        values = [
            passed(arguments[name], name, signature[name])
            for name in self.kernel.arg_names
            if self._is_passed(name, signature[name])
        ]
        values += self._scratch(kernel.num_arguments - len(values), compiled.metadata, grid)
        return launch_config(grid, compiled.metadata), kernel, tuple(values)

    def _arguments(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """Return the arguments by name."""
        named = {name: value for name, value in self.options.items() if name in self.kernel.arg_names}
        try:
            bound = inspect.signature(self.kernel.fn).bind(*args, **named)
        except TypeError as error:
            raise TypeError(f"{self!r} takes ({', '.join(self.kernel.arg_names)}): {error}") from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def _extra(self) -> dict[str, Any]:
        """Return the options that are not arguments."""
        return {name: value for name, value in self.options.items() if name not in self.kernel.arg_names}

    def _is_passed(self, name: str, type_: Any) -> bool:
        if not isinstance(type_, str) or type_.startswith(("tensordesc", "nvTmaDesc")):
            raise TypeError(
                f"argument {name!r} of {self!r} has the Triton type {type_}: nodes take numbers and arrays"
            )
        return type_ != "constexpr"

    def _scratch(self, count: int, metadata: Any, grid: tuple[int, ...]) -> list[Any]:
        """Return the values of the parameters after the arguments: scratch memory, or 0."""
        if not 0 <= count <= len(SCRATCH):
            raise TypeError(
                f"{self!r} has {count} parameters more than arguments: this version of Triton does not pass "
                "arguments as 3.6 does, which the adapter supports; launch it on a captured stream"
            )
        blocks = math.prod(grid) * metadata.num_ctas
        sizes = [blocks * getattr(metadata, name, 0) for name in SCRATCH[:count]]
        return [SynchronousMemoryResource(Device()).allocate(size) if size else 0 for size in sizes]


# Metadata fields with the scratch bytes for each block, in the order of the parameters.
SCRATCH = ("global_scratch_size", "profile_scratch_size")


class Pointer:
    """An array for Triton's compiler: an address and the name of a type."""

    def __init__(self, address: int, dtype: str) -> None:
        self.address, self.dtype = address, dtype

    def data_ptr(self) -> int:
        return self.address


# Sample values of named parameters for compilation, of the same Triton type. They are neither 1 nor a
# multiple of 16, for which Triton specialises code.
SAMPLES = {"i32": 7, "i64": (1 << 40) + 1, "u64": (1 << 63) + 1, "f32": 0.5, "bool": True}


def stand_in(value: Any, name: str) -> Any:
    """Return the value or sample that Triton compiles for."""
    if isinstance(value, Parameter):
        if value.type not in SAMPLES:
            raise TypeError(
                f"argument {name!r} is {value!r}: for Triton a named parameter must be one of {', '.join(SAMPLES)}; "
                "code for other types is valid for some values only"
            )
        return SAMPLES[value.type]
    if isinstance(value, Buffer):
        raise TypeError(f"argument {name!r} is a Buffer, whose elements have no type: make an array of it")
    if hasattr(value, "data_ptr"):  # a tensor
        return value
    view = None if isinstance(value, (int, float)) else checked_view(value, f"argument {name!r}")
    return value if view is None else Pointer(view.address, name_of(value, view.dtype))


def name_of(array: Any, typestr: str) -> str:
    """Return Triton's name of the element type."""
    return (
        "bfloat16"
        if str(getattr(array, "dtype", "")).endswith(("bf16", "bfloat16"))
        else np.dtype(typestr).name
    )


def passed(value: Any, name: str, type_: str) -> Any:
    """Return the argument that the code receives."""
    if isinstance(value, Parameter):
        return value
    if type_ in FLOATS:  # a declared parameter, which also accepts an int
        return FLOATS[type_](value)
    if isinstance(value, (int, float)):
        return value
    if hasattr(value, "data_ptr"):  # a tensor that needs gradients has no array interface
        return address_of(checked_address(value, name), value)
    view = checked_view(value, f"argument {name!r}")
    return value if view is None else address_of(view.address, value)


FLOATS = {"fp16": np.float16, "fp32": float, "f32": float, "fp64": float, "f64": float}


def checked_address(tensor: Any, name: str) -> int:
    address = int(tensor.data_ptr())
    if not is_known_memory(address):
        raise TypeError(
            f"argument {name!r} is a {type(tensor).__name__} in memory of the host: move it to the device"
        )
    return address


def launch_config(grid: tuple[int, ...], metadata: Any) -> LaunchConfig:
    """Return the launch configuration that the code was compiled for."""
    return LaunchConfig(
        grid=grid,
        cluster=metadata.num_ctas if metadata.num_ctas > 1 else None,
        block=metadata.num_warps * metadata.warp_size,
        shmem_size=metadata.shared,
        is_cooperative=getattr(metadata, "launch_cooperative_grid", False),
    )


def load(compiled: Any) -> Kernel:
    """Load the code of a CompiledKernel."""
    arch, device = compiled.metadata.target.arch, Device()
    if arch != int(device.arch):
        raise ValueError(
            f"Triton compiled {compiled.name} for sm_{arch}, but the current {device!r} is an sm_{device.arch}"
        )
    asm = compiled.asm
    if "cubin" in asm:
        code = ObjectCode.from_cubin(asm["cubin"], name=compiled.name)
    else:
        code = ObjectCode.from_ptx(asm["ptx"].encode(), name=compiled.name)
    return code.get_kernel(compiled.name)
