# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A few functions of cuda.bindings.runtime, on the driver.

The CUDA Runtime is compiled into that module. Before it does anything it asks the driver for tables that nothing
documents, one of which assures it that the driver is NVIDIA's; a stand-in has no answer to that. cuda.core calls the
driver, but for a handful of calls. Those are answered here from the driver's functions of the same meaning, as soon as
the module is imported; every other one fails, as cudaErrorSymbolNotFound.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

MODULE = "cuda.bindings.runtime"


class _Patching(importlib.abc.Loader):
    """Loads the module as ever, then replaces functions of it."""

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
    """The functions of the table below, in `runtime`."""
    from cuda.bindings import driver

    def status(answer: tuple[Any, ...]) -> tuple[Any, ...]:
        """The driver's status as the runtime's; the numbers are the same."""
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


# Functions of the runtime, and those of the driver that take and give the same.
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
