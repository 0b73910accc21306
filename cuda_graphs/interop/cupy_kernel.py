# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of CuPy: `cupy.RawKernel`, and the result of `cupy.RawModule.get_function`.

CuPy loads modules, so its kernel is a CUfunction. Arguments need no conversion: arrays are pointers, and
numbers are passed by value. CuPy passes a Python int as 8 bytes and a float as a double, whatever the
parameter is; this adapter passes them with the width of the parameter.
"""

from __future__ import annotations

from typing import Any

from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.launch_config import LaunchConfig

from .adapted import Adapted, cooperative, needs_shared

__all__ = ["cupy"]


def cupy(kernel: Any) -> Adapted:
    """Return a `cupy.RawKernel` for nodes and launches.

    Raises:
        TypeError: It is not a RawKernel. Elementwise and reduction kernels are several kernels: capture a
        call of them.
    """
    if not all(hasattr(kernel, name) for name in ("kernel", "name", "enable_cooperative_groups")):
        raise TypeError(
            f"cupy() takes a cupy.RawKernel, got {type(kernel).__name__}: use a stream capture for other calls of CuPy"
        )
    return CupyKernel(kernel, kernel.name)


class CupyKernel(Adapted):
    library = "CuPy"

    def _launch(
        self, config: LaunchConfig, args: tuple[Any, ...]
    ) -> tuple[LaunchConfig, Kernel, tuple[Any, ...]]:
        function = self.kernel.kernel  # of the current device; compiled at first use
        kernel = Kernel.from_function(int(function.ptr), owner=function)  # the function keeps its module
        if self.kernel.enable_cooperative_groups:
            config = cooperative(config)
        needs_shared(kernel, config.shmem_size, self.kernel.max_dynamic_shared_size_bytes)
        return config, kernel, args
