# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The decorator `@cg.kernel`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypedDict, TypeVar, Unpack, overload

from cuda_graphs.compiler.language.signature import is_method
from cuda_graphs.kernels.specialisation.options import Options

from .function import KernelFunction
from .kernel_factory import kernel_of

if TYPE_CHECKING:
    from cuda_graphs.kernels.graph.checkpoints import CheckpointStatus

__all__ = ["kernel"]


P = ParamSpec("P")
R = TypeVar("R")


class KernelOptions(TypedDict, total=False):
    """The keywords of `kernel` that do not change the type of a call."""

    debug: bool
    fast_math: bool
    graph: bool
    loop: Literal["auto", "conditional", "resident", "host"]
    chain: Literal["auto", "resident", "nodes"]
    default_float: Any
    default_int: Any
    strict: bool
    fuse: bool


@overload
def kernel(
    function: Callable[P, R], *, checkpoints: Literal[False] = False, **options: Unpack[KernelOptions]
) -> KernelFunction[P, R]: ...
@overload
def kernel(
    function: Callable[P, object], *, checkpoints: Literal[True], **options: Unpack[KernelOptions]
) -> KernelFunction[P, CheckpointStatus]: ...
@overload
def kernel(
    function: None = None, *, checkpoints: Literal[False] = False, **options: Unpack[KernelOptions]
) -> Callable[[Callable[P, R]], KernelFunction[P, R]]: ...
@overload
def kernel(
    function: None = None, *, checkpoints: Literal[True], **options: Unpack[KernelOptions]
) -> Callable[[Callable[P, object]], KernelFunction[P, CheckpointStatus]]: ...
def kernel(
    function: Callable[..., Any] | None = None,
    *,
    debug: bool = False,
    fast_math: bool = False,
    graph: bool = False,
    loop: str = "auto",
    chain: str = "auto",
    checkpoints: bool = False,
    default_float: Any = None,
    default_int: Any = None,
    strict: bool = False,
    fuse: bool = True,
) -> Any:
    """Decorates a function that runs on the device; the first call with new argument types compiles it.

        @cg.kernel
        def saxpy(a: cg.f32, x: cg.Array1[cg.f32], y: cg.Array1[cg.f32]) -> None:
            for i in x:
                y[i] += a * x[i]

    Each loop at the top level is a parallel task. The statements between two loops are a task of one thread. The tasks
    run in order. The first parameter of a method is `self`, without an annotation: see `data_oriented`. A class method
    (`@cg.kernel` above `@classmethod`) has `cls` there, and the class is a constant of the code.

    Args:
        debug: Compare each index with its extent, check asserts, and check that results of integer arithmetic (+, -, *,
            **, shifts) and conversions to integers fit their types.
        fast_math: Allow floats to be contracted (a * b + c rounded once) and reassociated.
        graph: Launch each call as one graph. The first call with each combination of argument types builds the graph;
            later calls set the changed values. Only graph kernels can have control flow between tasks
            (`cg.graph_do_while`). With `debug`, or with CUDA_GRAPHS_KERNEL_GRAPHS=0 in the environment, a call launches
            the tasks one by one. On GPUs, later calls of any kernel of four tasks or more launch one graph on the
            default stream, unless it draws random numbers, prints, or returns values.
        loop: The lowering of control flow between tasks. "conditional" makes conditional nodes. "resident" makes one
            cooperative launch, whose threads synchronise between tasks. "host" makes a loop on the host, which reads
            each condition back. "auto" selects "resident" if the device supports it for these tasks, then
            "conditional" (compute capability 9.0, CUDA 12.8), then "host".
        chain: The lowering of consecutive tasks. "resident" combines them in one cooperative launch. "nodes" makes a
            launch for each task. "auto" combines tasks with light iterations on a GPU, if `loop` is "auto" too.
        checkpoints: Return a CheckpointStatus from each call. The call waits for its end, and ends early if the flag of
            a `cg.checkpoint` is set; `resume` continues it. Each loop is a checkpoint; a loop outside `cg.checkpoint`
            has no label.
        default_float: The type of literals with a point, of `float` in the kernel, and of quotients of integers: cg.f32
            or cg.f64. None takes that of `cg.default_types`, or cg.f32.
        default_int: The type of literals without a point, and of `int` in the kernel: cg.i32 or cg.i64. None takes that
            of `cg.default_types`, or cg.i32.
        fuse: Run neighbouring loops as one, with one pass over memory, where that changes no result. `explain` shows
            which loops are fused, and why others are not. The additions of gradients of stencils are gathered, too.
        strict: Refuse an implicit conversion that can lose bits or range, which otherwise is a CompileWarning.

    Raises:
        TypeError: `function` is no function or class method. Or a graph kernel returns a value, or a default type is
            not one of those above.
        ValueError: `loop` or `chain` has an unknown value, the two exclude each other, or `checkpoints` is set without
            `graph`.
        CompileError: A parameter has no declaration or an unsupported one, or the final return contradicts the
            annotation. The first call reports other errors in the body.
    """
    options = Options(
        debug, fast_math, graph, loop, chain, checkpoints, default_float, default_int, strict, fuse
    )
    options = options.with_defaults()
    if function is None:
        return functools.partial(kernel, **options.keywords())
    given: Any = function
    if isinstance(given, classmethod):
        function = given.__func__
    if not hasattr(function, "__code__"):
        raise TypeError(f"@kernel takes a function, got {type(function).__name__}")
    options.check(function)
    if is_method(function):
        from .methods import KernelMethod

        return KernelMethod(function, options)
    if is_method(function, "cls"):
        from .methods import ClassKernel

        return ClassKernel(function, options)
    return kernel_of(function, options, takes_outside=True)
