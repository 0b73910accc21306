# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Compiling many kernels before they are needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

from cuda_graphs.kernels.function import KernelFunction
from cuda_graphs.kernels.methods import BoundKernel
from cuda_graphs.kernels.targets import current_device

__all__ = ["compile_all"]


def compile_all(
    calls: Iterable[KernelFunction | BoundKernel | Sequence[Any]],
    *,
    threads: int | None = None,
    progress: bool | None = None,
) -> None:
    """Compile kernels for the arguments of calls to come, in several threads. Nothing runs.

        cg.compile_all([(saxpy, 2.0, x, y), (normalise, y)])

    Args:
        calls: Tuples of a kernel and the arguments of a call; a kernel alone if it has no parameters.
        threads: How many compile at a time; None for as many as there are CPUs. LLVM itself runs one at a time.
        progress: Whether to show a bar on stderr, with the package rich if it is there; None: if that is a terminal.

    Raises:
        TypeError: What is no such tuple, or arguments that a kernel does not take.
        CompileError: A kernel cannot be compiled. The others are, first; of several errors it is that of the first
            call, with a note that names the others.
        KeyboardInterrupt: What had not begun is not compiled.
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
            first.add_note(f"Neither can {name} be compiled: {type(error).__name__}: {error}")
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
    """To be called with the name of each that is done: shows how many of `count` are; plain lines without rich."""
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
