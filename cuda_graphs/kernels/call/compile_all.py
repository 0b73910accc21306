# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Compilation of many kernels in advance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from typing import Any

from cuda_graphs.objects.device.device import current_device
from cuda_graphs.objects.progress import display, is_seen

from .function import KernelFunction
from .methods import BoundKernel

__all__ = ["compile_all"]


def compile_all(
    calls: Iterable[KernelFunction | BoundKernel | Sequence[Any]],
    *,
    threads: int | None = None,
    progress: bool | None = None,
) -> None:
    """Compile kernels in several threads for the arguments of later calls, without running the kernels.

        cg.compile_all([(saxpy, 2.0, x, y), (normalise, y)])

    Args:
        calls: Tuples of a kernel and the arguments of a call; a kernel without parameters can stand alone.
        threads: Number of threads; None for the number of CPUs. LLVM itself runs in one thread at a time.
        progress: Whether to show the progress on stderr: a bar if the package rich or tqdm is installed, else lines.
            None shows it on a terminal and in a notebook.

    Raises:
        TypeError: An element of `calls` is not such a tuple, or its arguments do not fit the kernel.
        CompileError: A kernel cannot be compiled. The function compiles all other kernels first. It raises the error of
            the first failed call, with a note for each other error.
        KeyboardInterrupt: The user interrupted the compilation. Kernels that had not started are not compiled.
    """
    wanted = [accept(call) for call in calls]
    current_device()
    shown = is_seen() if progress is None else progress
    with (
        display() if shown else nullcontext() as bars,
        ThreadPoolExecutor(threads or os.cpu_count()) as pool,
    ):
        waiting: dict[Future[None], KernelFunction | BoundKernel] = {
            pool.submit(kernel.compile, *args): kernel for kernel, args in wanted
        }
        try:
            for count, done in enumerate(as_completed(waiting), 1):
                if bars is not None:
                    bars.show("compiling kernels", count, len(wanted), f"compiled {waiting[done].__name__}")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    errors = [(waiting[done].__name__, error) for done in waiting if (error := done.exception()) is not None]
    if errors:
        (_, first), *others = errors
        for name, error in others:
            first.add_note(f"{name} cannot be compiled either: {type(error).__name__}: {error}")
        raise first


def accept(
    call: KernelFunction | BoundKernel | Sequence[Any],
) -> tuple[KernelFunction | BoundKernel, tuple[Any, ...]]:
    parts = tuple(call) if isinstance(call, (tuple, list)) else (call,)
    if not parts or not isinstance(parts[0], (KernelFunction, BoundKernel)):
        raise TypeError(f"compile_all takes tuples of a kernel and its arguments, got {call!r}")
    return parts[0], parts[1:]
