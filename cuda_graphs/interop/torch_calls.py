# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a function of PyTorch calls: a kernel with its gradient, or a graph with a graph of its gradient.

Both have `names` (all arguments in order), `types` (their types as text, for the schema of an operator), `run` and
`gradients`. Tensors are passed without history and gaps. Work runs on PyTorch's current stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from cuda_graphs.graph.executable.executable import Graph
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.memory_resource import PinnedMemoryResource

from .signatures import array_parameters, kernel_parameters

__all__ = ["GraphCall", "KernelCall", "detached", "differentiable", "is_tensor", "read_call"]

Values = Mapping[str, Any]

# The parameter of a backward graph that has the gradient of argument `x`.
GRADIENT = "grad_{}"


def read_call(code: Any, backward: Any) -> KernelCall | GraphCall:
    """Return the call of a `cg.kernel`, or of a Graph and its `backward` graph.

    Raises:
        TypeError: `code` is neither, or `backward` is not a Graph, or does not belong to a graph.
        ValueError: A parameter of a graph is a plain pointer, or belongs to no argument.
    """
    if isinstance(code, Graph):
        if backward is not None and not isinstance(backward, Graph):
            raise TypeError(f"backward must be a Graph, got {backward!r}")
        return GraphCall(code, backward)
    if not hasattr(code, "grad") or not hasattr(code, "__wrapped__"):
        raise TypeError(f"torch() takes a cg.kernel or a Graph, got {code!r}")
    if backward is not None:
        raise TypeError(
            f"backward= is the gradient of a Graph; the gradient of {code.__name__}() comes from the kernel"
        )
    return KernelCall(code)


class KernelCall:
    """A `cg.kernel` and its gradient kernels."""

    def __init__(self, kernel: Any) -> None:
        self.code = kernel
        self.name: str = kernel.__name__
        self.types = kernel_parameters(kernel)
        self.names = list(self.types)

    def run(self, values: Values, outputs: Iterable[str]) -> None:
        """Compute the outputs in place."""
        self.code(*self._ordered(values), **stream_of(values))

    def written(self, values: Values) -> list[str]:
        """Return the names of the arguments that the kernel writes."""
        return list(self.code.written(*self._ordered(values)))

    def check_gradient(self, values: Values, wanted: set[str]) -> list[str]:
        """Raise the error of a kernel that has no gradient for these values. Return what `written` returns."""
        return list(self.code.grad.info(*self._ordered(self._with_gradients(values, wanted))).written)

    def gradients(self, values: Values, adjoints: Values, wanted: set[str]) -> dict[str, Any]:
        """Return the gradients of the wanted arguments; `adjoints` has the gradient of each output of floats."""
        given = self._with_gradients(values, wanted | set(adjoints))
        for name, adjoint in adjoints.items():
            given[name].grad = adjoint.clone(memory_format=import_module("torch").contiguous_format)
        self.code.grad(*self._ordered(given), **stream_of(values))
        return {name: given[name].grad for name in wanted}

    def _with_gradients(self, values: Values, names: set[str]) -> dict[str, Any]:
        """Return the values, with tensors of the same memory that have gradients of their own."""
        made = dict(values)
        for name in names:
            made[name] = values[name].detach().requires_grad_()
            made[name].grad = values[name].new_zeros(values[name].shape)
        return made

    def _ordered(self, values: Values) -> list[Any]:
        return [values[name] for name in self.names]


class GraphCall:
    """A Graph whose named parameters are the arguments, and the Graph of its gradient.

    The parameters of the backward graph are any of the arguments, and `grad_x` for the gradient of an argument `x`:
    input for outputs, and result for inputs, filled with zeros before the launch.
    """

    name = "graph"

    def __init__(self, graph: Graph, backward: Graph | None) -> None:
        self.code, self.backward = graph, backward
        self.types = array_parameters(graph)
        self.names = list(self.types)
        self.uses = [] if backward is None else list(backward.params)
        known = {*self.names, *map(GRADIENT.format, self.names)}
        for name in self.uses:
            if name not in known:
                raise ValueError(
                    f"parameter {name!r} of the backward graph is neither an argument ({', '.join(self.names)}) nor "
                    "the gradient of one, such as grad_" + self.names[0]
                )

    def run(self, values: Values, outputs: Iterable[str]) -> None:
        launch(self.code, values, outputs)

    def written(self, values: Values) -> list[str]:
        return []  # a graph does not tell which of its parameters it writes

    def check_gradient(self, values: Values, wanted: set[str]) -> list[str]:
        """Raise an error if the backward graph computes no gradient of a wanted argument."""
        if self.backward is None:
            raise ValueError(f"{self.code!r} has no gradient: pass the graph of its gradient as backward=")
        for name in wanted:
            if GRADIENT.format(name) not in self.uses:
                raise ValueError(
                    f"the backward graph has no parameter {GRADIENT.format(name)!r}, but argument {name!r} requires a "
                    "gradient: pass it detached, or add the parameter"
                )
        return self.written(values)

    def gradients(self, values: Values, adjoints: Values, wanted: set[str]) -> dict[str, Any]:
        self.check_gradient(values, wanted)
        found = {
            GRADIENT.format(name): values[name].new_zeros(values[name].shape)
            for name in self.names
            if name not in adjoints and GRADIENT.format(name) in self.uses
        }
        given = {**values, **found, **{GRADIENT.format(n): each.contiguous() for n, each in adjoints.items()}}
        launch(self.backward, {name: given[name] for name in self.uses}, found)
        return {name: found[GRADIENT.format(name)] for name in wanted}


def launch(graph: Any, values: Values, results: Iterable[str]) -> None:
    """Launch a graph with values for its parameters, on PyTorch's current stream. Tensors of the CPU are copied to
    memory of the device, and the results back; the launch has then ended."""
    on_device = stream_of(values)
    if on_device:
        graph.launch(on_device["stream"], **values)
        return
    with mirrored(values, results) as mirrors:
        stream = Device().create_stream()
        graph.launch(stream, **mirrors)
        stream.sync()


@contextmanager
def mirrored(values: Values, results: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Give the tensors of the CPU copies in memory that graphs accept, and copy the results back at the end."""
    torch = import_module("torch")
    Device().set_current()
    mirrors = dict(values)
    for name, value in values.items():
        if is_tensor(value) and value.numel():
            buffer = PinnedMemoryResource().allocate(value.numel() * value.element_size())
            mirrors[name] = torch.from_numpy(np.from_dlpack(buffer)).view(value.dtype).view(value.shape)
            mirrors[name].copy_(value)
    yield mirrors
    for name in results:
        values[name].copy_(mirrors[name])


def is_tensor(value: Any) -> bool:
    return isinstance(value, import_module("torch").Tensor)


def detached(value: Any) -> Any:
    """Return a tensor without history and gaps, as kernels require."""
    return value.detach().contiguous() if is_tensor(value) else value


def differentiable(value: Any) -> bool:
    """Return True for a tensor of floats."""
    return is_tensor(value) and value.is_floating_point()


def stream_of(values: Values) -> dict[str, Any]:
    """Return the `stream` keyword for tensors of a device: PyTorch's current stream there."""
    devices = {each.device for each in values.values() if is_tensor(each) and each.is_cuda}
    if not devices:
        return {}
    return {"stream": import_module("torch").cuda.current_stream(devices.pop())}
