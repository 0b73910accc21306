# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Implements a few functions of cuda.bindings.runtime with driver functions.

The CUDA Runtime is compiled into that module. Its first action is to ask the driver for undocumented tables, and one of
them verifies that the driver is NVIDIA's driver. The host driver does not have these tables. cuda.core calls the driver
except for a few Runtime functions. This module replaces those by driver functions of the same meaning when the module
is imported. All other Runtime functions return cudaErrorSymbolNotFound.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

MODULE = "cuda.bindings.runtime"


class _Patching(importlib.abc.Loader):
    """Loads the module with its own loader, then replaces functions in it."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        replace(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Patching(spec.loader)
        return spec


def install() -> None:
    """Replace the functions now, or when the module is imported."""
    if MODULE in sys.modules:
        replace(sys.modules[MODULE])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def replace(runtime: ModuleType) -> None:
    """Replace the functions of the table below in `runtime`."""
    from cuda.bindings import driver

    def status(answer: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return `answer` with the driver's status as the Runtime's; the numbers are the same."""
        return (runtime.cudaError_t(int(answer[0])), *answer[1:])

    def of_the_driver(name: str) -> Callable[..., tuple[Any, ...]]:
        def call(*arguments: Any) -> tuple[Any, ...]:
            (started,) = driver.cuInit(0)
            answer = getattr(driver, name)(*arguments)
            return status(answer if int(started) == 0 else (started, *answer[1:]))

        call.__name__ = name
        return call

    for ours, theirs in FUNCTIONS.items():
        setattr(runtime, ours, of_the_driver(theirs))


# Functions of the Runtime, and the driver functions with the same parameters and results.
FUNCTIONS = {
    "cudaDeviceSynchronize": "cuCtxSynchronize",
    "cudaDeviceGetPCIBusId": "cuDeviceGetPCIBusId",
    "cudaGetDeviceCount": "cuDeviceGetCount",
    "cudaDriverGetVersion": "cuDriverGetVersion",
    "cudaStreamSynchronize": "cuStreamSynchronize",
    "cudaStreamQuery": "cuStreamQuery",
    "cudaEventSynchronize": "cuEventSynchronize",
    "cudaEventQuery": "cuEventQuery",
}
