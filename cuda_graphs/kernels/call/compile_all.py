# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Compilation of many kernels in advance."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

from cuda_graphs.kernels.targets import current_device

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
        progress: Whether to show the progress on stderr: a bar if the package rich is installed, else lines. None shows
            it if stderr is a terminal.

    Raises:
        TypeError: An element of `calls` is not such a tuple, or its arguments do not fit the kernel.
        CompileError: A kernel cannot be compiled. The function compiles all other kernels first. It raises the error of
            the first failed call, with a note for each other error.
        KeyboardInterrupt: The user interrupted the compilation. Kernels that had not started are not compiled.
    """
    wanted = [accept(call) for call in calls]
    current_device()
    shown = sys.stderr.isatty() if progress is None else progress
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool, bar(len(wanted), shown) as advance:
        waiting: dict[Future[None], KernelFunction | BoundKernel] = {
            pool.submit(kernel.compile, *args): kernel for kernel, args in wanted
        }
        try:
            for done in as_completed(waiting):
                advance(waiting[done].__name__)
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


@contextmanager
def bar(count: int, shown: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the progress. The caller calls it with the name of each kernel that is done."""
    if not shown:
        yield lambda name: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        done = iter(range(1, count + 1))
        yield lambda name: print(f"compiled {next(done)} of {count}: {name}", file=sys.stderr)
        return
    with Progress(console=Console(stderr=True)) as display:
        task = display.add_task("compiling kernels", total=count)
        yield lambda name: display.update(task, advance=1, description=f"compiled {name}")
