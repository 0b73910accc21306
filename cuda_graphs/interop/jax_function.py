# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels and graphs as functions of JAX: foreign calls on JAX's stream and buffers, also in `jax.jit`.

The outputs are filled with zeros by JAX, as inputs whose memory the outputs take. Gradients of kernels are foreign
calls, too: a function of a kernel has a rule for `jax.grad`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from cuda_graphs.graph.executable.executable import Graph
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.memory_resource import PinnedMemoryResource

from .signatures import Like, array_parameters, bind_inputs, is_array_type, kernel_parameters, read_inputs
from .xla_calls import TARGET, Buffer, Task, handler

__all__ = ["JaxFunction", "jax"]


def jax(code: Any, out: Mapping[str, Like]) -> JaxFunction:
    """Return a kernel or a graph as a function of JAX.

        @cg.kernel
        def wave(x: cg.Array1[cg.f32], y: cg.Array1[cg.f32]) -> None:
            for i in x:
                y[i] = cg.sin(x[i])

        sine = cg.interop.jax(wave, out={"y": "x"})
        jax.jit(lambda x: sine(2 * x))(x)

    Args:
        code: A `cg.kernel`, or a Graph, whose named parameters are its arguments. It writes only to its outputs.
        out: Its parameters that are outputs, each with its shape and type: the name of an input, or a function of the
            inputs, by name, that returns an object with `shape` and `dtype`. Outputs are filled with zeros before.

    Returns:
        A function of the other parameters, in their order or by name, that returns the output, or a tuple of all
        outputs. Arrays are arrays of JAX; all other arguments are constants of compiled code. `jax.grad` differentiates
        functions of kernels. Keep the function as long as compiled code calls it.

    Raises:
        TypeError: `code` is neither a cg.kernel nor a Graph, or `out` is not a mapping of names.
        ValueError: The code has no such parameter, `out` is empty, or a parameter of a graph is a plain pointer.
        ModuleNotFoundError: JAX is not installed.
    """
    if not isinstance(code, Graph) and not (hasattr(code, "grad") and hasattr(code, "__wrapped__")):
        raise TypeError(f"jax() takes a cg.kernel or a Graph, got {code!r}")
    return JaxFunction(code, out)


class JaxFunction:
    """The result of `jax`: a function of arrays of JAX.

    Attributes:
        code: The kernel or the graph.
    """

    def __init__(self, code: Any, out: Mapping[str, Like]) -> None:
        self.code, self.is_graph = code, isinstance(code, Graph)
        self.name = "graph" if self.is_graph else code.__name__
        self.types = array_parameters(code) if self.is_graph else kernel_parameters(code)
        self.inputs, self.out = read_inputs(self.name, list(self.types), out), dict(out)
        self.arrays = [name for name in self.inputs if is_array_type(self.types[name])]
        self._tasks: dict[Any, Task] = {}  # by the kind of call, and the constants
        register_target()

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        jax = import_module("jax")
        values = dict(
            zip(self.inputs, bind_inputs(self.name, self.inputs, self.out, args, keywords), strict=True)
        )
        for name, value in values.items():
            if name not in self.arrays and isinstance(value, jax.core.Tracer):
                raise TypeError(
                    f"argument {name!r} of {self.name}() must be a constant, but jax.jit traces it: pass it with "
                    "static_argnames, or declare the parameter as an array"
                )
        arrays = [jax.numpy.asarray(values[name]) for name in self.arrays]
        constants = {name: value for name, value in values.items() if name not in self.arrays}
        outputs = [self._shape_of(name, values) for name in self.out]
        if self.is_graph:
            found = self._call(jax, "run", constants, arrays, zeros(jax, outputs))
        else:
            found = self._differentiable(jax, constants, outputs)(*arrays)
        return found[0] if len(found) == 1 else tuple(found)

    def _shape_of(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return the shape and type of an output."""
        like = self.out[name]
        found = values[like] if isinstance(like, str) else like(**values)
        if not hasattr(found, "shape") or not hasattr(found, "dtype"):
            raise TypeError(f"output {name!r} needs a shape and a dtype, but is like {found!r}")
        return import_module("jax").ShapeDtypeStruct(found.shape, found.dtype)

    def _differentiable(self, jax: Any, constants: dict[str, Any], outputs: list[Any]) -> Any:
        """Return the function of the arrays, with its rule for gradients."""

        def forward(*arrays: Any) -> tuple[Any, Any]:
            found = self._call(jax, "run", constants, arrays, zeros(jax, outputs))
            return found, (arrays, found)

        def backward(kept: Any, adjoints: Any) -> tuple[Any, ...]:
            arrays, found = kept
            given = [each for each, output in zip(adjoints, found, strict=True) if is_float(output)]
            wanted = zeros(jax, [each for each in arrays if is_float(each)])
            # The gradient may change the adjoints, so they are results, too.
            results = self._call(jax, "differentiate", constants, [*arrays, *found], [*wanted, *given])
            gradients = iter(results)
            return tuple(next(gradients) if is_float(each) else None for each in arrays)

        function = jax.custom_vjp(lambda *arrays: forward(*arrays)[0])
        function.defvjp(forward, backward)
        return function

    def _call(
        self, jax: Any, kind: str, constants: dict[str, Any], arrays: Sequence[Any], results: list[Any]
    ) -> list[Any]:
        """Call the target of XLA, and return its results, which begin with the contents of `results`."""
        call = jax.ffi.ffi_call(
            TARGET,
            [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in results],
            vmap_method="sequential",
            input_output_aliases={len(arrays) + i: i for i in range(len(results))},
        )
        return list(call(*arrays, *results, call=np.int64(self._task(kind, constants).number)))

    def _task(self, kind: str, constants: dict[str, Any]) -> Task:
        try:
            key = kind, tuple((type(each), each) for each in constants.values())
            found = self._tasks.get(key)
        except TypeError as error:
            raise TypeError(f"constants of {self.name}() must be hashable: {error}") from None
        if found is None:
            run = {"run": self._run, "differentiate": self._differentiate}[kind]
            found = self._tasks[key] = Task(lambda *buffers: run(constants, *buffers))
        return found

    def _run(
        self, constants: dict[str, Any], given: list[Buffer], results: list[Buffer], stream: int | None
    ) -> None:
        values = {**constants, **dict(zip(self.arrays, given)), **dict(zip(self.out, results))}
        if self.is_graph:
            launch(self.code, values, list(self.out), stream)
        else:
            self.code(*(plain(values[name]) for name in self.types), **on(stream))

    def _differentiate(
        self, constants: dict[str, Any], given: list[Buffer], results: list[Buffer], stream: int | None
    ) -> None:
        values = dict(zip((*self.arrays, *self.out), given))
        gradients = iter(results)
        for name in (*self.arrays, *self.out):
            if is_float(values[name]):
                values[name].grad = next(gradients).detach()
        arguments = {**constants, **values}
        self.code.grad(*(with_gradient(arguments[name]) for name in self.types), **on(stream))

    def __repr__(self) -> str:
        return f"<{self.name}({', '.join(self.inputs)}) -> {', '.join(self.out)} for JAX>"


@cache
def register_target() -> tuple[Any, ...]:
    """Register the target of XLA for both platforms, once. The result keeps its C functions alive."""
    jax = import_module("jax")
    import_module("jax.ffi")
    functions = handler(is_of_host=True), handler(is_of_host=False)
    for function, platform in zip(functions, ("cpu", "CUDA")):
        address = ctypes.cast(function, ctypes.c_void_p)
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(address), platform=platform)
    return functions


class StreamHandle:
    """A stream of JAX, for `stream=`."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def on(stream: int | None) -> dict[str, Any]:
    return {} if stream is None else {"stream": StreamHandle(stream)}


def is_float(array: Any) -> bool:
    return bool(array.dtype.kind == "f" or array.dtype.name == "bfloat16")


def plain(value: Any) -> Any:
    return value.detach() if isinstance(value, Buffer) else value


def with_gradient(value: Any) -> Any:
    return plain(value) if not isinstance(value, Buffer) or value.grad is None else value


def zeros(jax: Any, like: Sequence[Any]) -> list[Any]:
    return [jax.numpy.zeros(each.shape, each.dtype) for each in like]


def launch(graph: Graph, values: Mapping[str, Any], outputs: Sequence[str], stream: int | None) -> None:
    """Launch a graph on the stream of JAX. Arrays of the CPU are copied to memory of the device, and the outputs back;
    the launch has then ended."""
    if stream is not None:
        graph.launch(StreamHandle(stream), **{name: plain(value) for name, value in values.items()})
        return
    Device().set_current()
    copies = {name: pinned_copy(value) for name, value in values.items()}
    own = Device().create_stream()
    graph.launch(own, **copies)
    own.sync()
    for name in outputs:
        plain(values[name])[...] = copies[name]


def pinned_copy(value: Any) -> Any:
    array = plain(value)
    if not isinstance(value, Buffer) or not array.size:
        return array
    buffer = PinnedMemoryResource().allocate(array.nbytes)
    copy = np.from_dlpack(buffer).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
