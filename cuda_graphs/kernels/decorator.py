# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`@cg.kernel`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

from cuda_graphs.compiler.signature import is_method
from cuda_graphs.kernels.function import KernelFunction, kernel_of
from cuda_graphs.kernels.options import Options

__all__ = ["kernel"]


@overload
def kernel(
    function: Callable[..., Any],
    *,
    debug: bool = False,
    fast_math: bool = False,
    graph: bool = False,
    loop: str = "auto",
    chain: str = "auto",
    checkpoints: bool = False,
) -> KernelFunction: ...
@overload
def kernel(
    function: None = None,
    *,
    debug: bool = False,
    fast_math: bool = False,
    graph: bool = False,
    loop: str = "auto",
    chain: str = "auto",
    checkpoints: bool = False,
) -> Callable[[Callable[..., Any]], KernelFunction]: ...


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    debug: bool = False,
    fast_math: bool = False,
    graph: bool = False,
    loop: str = "auto",
    chain: str = "auto",
    checkpoints: bool = False,
) -> Any:
    """A function that runs on the device, compiled for the types of its arguments in the first call with them.

        @cg.kernel
        def saxpy(a: cg.f32, x: cg.types.ndarray(cg.f32, ndim=1), y: cg.types.ndarray(cg.f32, ndim=1)):
            for i in x:
                y[i] += a * x[i]

    Each loop at the top level is a parallel task, what is between loops runs on one thread; tasks run one after the
    other. The first parameter of a method is `self`, and has no annotation: see `data_oriented`.

    Args:
        debug: Compare each index with its extent, and check asserts.
        fast_math: Allow floats to be contracted (a * b + c rounded once) and reassociated.
        graph: Have a call launch one graph, which the first call with arguments of their types builds; later ones set
            what has changed. Only such kernels have control flow between tasks (`cg.graph_do_while`). With `debug`, or
            CUDA_GRAPHS_KERNEL_GRAPHS=0 in the environment, the tasks are launched one by one.
        loop: What that control flow becomes: "conditional" nodes; "resident" for one cooperative launch, whose threads
            wait for each other between tasks; "host" for a loop on the host that reads each condition back; "auto" for
            resident on a GPU where that can be, else nodes where it has them (compute capability 9.0, CUDA 12.8), else
            host.
        chain: "resident" for one such launch of tasks that follow each other; "nodes" for a launch each; "auto" for
            resident on a GPU where `loop` is "auto" too, of tasks whose iterations are light.
        checkpoints: Have a call return a CheckpointStatus when it is done, and end early where the flag of a
            `cg.checkpoint` says so; `resume` goes on. Each loop is a checkpoint, those outside of `cg.checkpoint`
            without a label.

    Raises:
        TypeError: `function` is not a function, or a graph kernel returns something.
        ValueError: There is no such `loop` or `chain`, or they do not go together; checkpoints without `graph`.
        CompileError: A parameter is not declared, or as what kernels do not take, or a final return and the annotation
            do not agree. What is wrong in the body else is raised by the first call.
    """
    options = Options(debug, fast_math, graph, loop, chain, checkpoints)
    if function is None:
        return functools.partial(kernel, **options._asdict())
    if not hasattr(function, "__code__"):
        raise TypeError(f"@kernel takes a function, got {type(function).__name__}")
    options.check(function)
    if is_method(function):
        from cuda_graphs.kernels.methods import KernelMethod

        return KernelMethod(function, options)
    return kernel_of(function, options)
