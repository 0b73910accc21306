# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of CuPy: `cupy.RawKernel`, and what `cupy.RawModule.get_function` gives.

CuPy loads modules, so of a kernel it has a CUfunction. Arguments need no work: arrays are pointers, numbers are passed
by value. Where CuPy passes a Python int as 8 bytes and a float as a double, whatever the parameter is, here the width
is the parameter's.
"""

from __future__ import annotations

from typing import Any

from cuda_graphs._objects.kernel import Kernel
from cuda_graphs._objects.launch_config import LaunchConfig
from cuda_graphs.interop.adapted import Adapted, cooperative, needs_shared

__all__ = ["cupy"]


def cupy(kernel: Any) -> Adapted:
    """A `cupy.RawKernel` as nodes and launches take it.

    Raises:
        TypeError: It is no RawKernel. Elementwise and reduction kernels are several kernels: capture a call of them.
    """
    if not all(hasattr(kernel, name) for name in ("kernel", "name", "enable_cooperative_groups")):
        raise TypeError(
            f"cupy() takes a cupy.RawKernel, got {type(kernel).__name__}: capture other calls of CuPy"
        )
    return CupyKernel(kernel, kernel.name)


class CupyKernel(Adapted):
    library = "CuPy"

    def _launch(
        self, config: LaunchConfig, args: tuple[Any, ...]
    ) -> tuple[LaunchConfig, Kernel, tuple[Any, ...]]:
        function = self.kernel.kernel  # of the current device; compiled when it is asked for first
        kernel = Kernel.from_function(int(function.ptr), owner=function)  # which keeps its module
        if self.kernel.enable_cooperative_groups:
            config = cooperative(config)
        needs_shared(kernel, config.shmem_size, self.kernel.max_dynamic_shared_size_bytes)
        return config, kernel, args
