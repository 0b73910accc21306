# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels and graphs as functions of PyTorch that `torch.autograd` differentiates and `torch.compile` compiles.

A call creates the tensors of the outputs, and runs the code on PyTorch's current stream. The backward pass runs the
gradient with tensors of the same memory that have their own gradients. PyTorch keeps inputs and outputs until then, and
raises an error when they were written to in between. In code of `torch.compile` the call is an operator (torch_ops.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from .signatures import Like, bind_inputs, read_inputs
from .torch_calls import GraphCall, KernelCall, detached, differentiable, is_tensor, read_call
from .torch_ops import make_operator

__all__ = ["TorchFunction", "torch"]


def torch(code: Any, out: Mapping[str, Like], backward: Any = None) -> TorchFunction:
    """Return a kernel or a graph as a function of PyTorch.

        @cg.kernel
        def wave(x: cg.Array1[cg.f32], y: cg.Array1[cg.f32]) -> None:
            for i in x:
                y[i] = cg.sin(x[i])

        sine = cg.interop.torch(wave, out={"y": "x"})
        sine(x).sum().backward()

    Args:
        code: A `cg.kernel`, or a Graph, whose named parameters are its arguments. It writes only to its outputs.
        out: Its parameters that are outputs, each with the way to create its tensor, which is filled with zeros: the
            name of an input of the same shape and type, or a function of the inputs, by name, that returns a tensor.
        backward: The Graph of the gradient, if `code` is a Graph. Its parameters are arguments of `code`, and `grad_x`
            for the gradient of an argument `x`: given for outputs, and computed for inputs, with zeros before.

    Returns:
        A function of the other parameters, in their order or by name, that returns the output, or a tuple of all
        outputs. Tensors of floats among its arguments have gradients. All other arguments are constants, including
        members of dataclasses. If all parameters are arrays and numbers, `torch.compile` takes calls without a graph
        break.

    Raises:
        TypeError: `code` is neither a cg.kernel nor a Graph, or `out` is not a mapping of names.
        ValueError: The code has no such parameter, `out` is empty, or a parameter of a graph is a plain pointer.
        ModuleNotFoundError: PyTorch is not installed.
    """
    return TorchFunction(read_call(code, backward), out)


class TorchFunction:
    """The result of `torch`: a function of tensors that `torch.autograd` can differentiate.

    Attributes:
        code: The kernel or the graph.
        op: The operator that `torch.compile` sees, for example ``torch.ops.cuda_graphs.wave``; None if a parameter is
            neither an array nor a number.
    """

    def __init__(self, call: KernelCall | GraphCall, out: Mapping[str, Like]) -> None:
        self.inputs = read_inputs(call.name, call.names, out)
        self.call, self.out, self.code = call, dict(out), call.code
        self.is_compiling = import_module("torch").compiler.is_compiling  # torch.compile evaluates it itself
        self.op = make_operator(call.name, self.inputs, call.types, self)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        given = bind_inputs(self.call.name, self.inputs, self.out, args, keywords)
        if self.op is not None and self.is_compiling():
            return self.op(*given)
        return function_class().apply(self, *given)

    def make_outputs(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tensors of the outputs, with zeros."""
        return {name: self.make_output(name, values) for name in self.out}

    def compute(self, values: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Compute the outputs in place."""
        hidden = {name: each.detach() for name, each in outputs.items()}  # constants to a tape
        self.call.run({**values, **hidden}, self.out)

    def differentiate(
        self, values: Mapping[str, Any], adjoints: Mapping[str, Any], wanted: set[str]
    ) -> list[Any]:
        """Return the gradient of each input, or None for an input without one. `values` has the outputs too."""
        given = {
            name: each for name, each in adjoints.items() if each is not None and differentiable(values[name])
        }
        found = self.call.gradients(values, given, wanted)
        return [found.get(name) for name in self.inputs]

    def check_gradient(self, values: Mapping[str, Any], wanted: set[str]) -> None:
        """Refuse code without a gradient, and code that changes its inputs."""
        self._check_written(self.call.check_gradient(values, wanted))

    def check_writes(self, values: Mapping[str, Any]) -> None:
        """Refuse code that changes its inputs, since PyTorch would not know of the change."""
        self._check_written(self.call.written(values))

    def _check_written(self, names: Iterable[str]) -> None:
        changed = [name for name in names if name in self.inputs]
        if changed:
            raise ValueError(
                f"{self.call.name}() writes {', '.join(map(repr, changed))}, which is not an output: write to an output"
            )

    def make_output(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return a tensor for an output."""
        like = self.out[name]
        if isinstance(like, str):
            if not is_tensor(values[like]):
                raise TypeError(
                    f"output {name!r} is like {like!r}, which is not a tensor but {values[like]!r}"
                )
            return values[like].new_zeros(values[like].shape)
        found = like(**values)
        if not is_tensor(found):
            raise TypeError(f"output {name!r} must be a tensor, but its function returned {found!r}")
        return found.detach()

    def __repr__(self) -> str:
        return f"<{self.call.name}({', '.join(self.inputs)}) -> {', '.join(self.out)} for torch.autograd>"


@cache
def function_class() -> Any:
    """Return the subclass of torch.autograd.Function with both passes. Created at first use, when PyTorch is
    installed."""
    autograd = import_module("torch.autograd")
    ways = {
        "forward": staticmethod(forward),
        "backward": staticmethod(autograd.function.once_differentiable(backward)),
    }
    return type("KernelCall", (autograd.Function,), ways)


def forward(context: Any, owner: TorchFunction, *given: Any) -> Any:
    """Return the outputs for these inputs."""
    values = {name: detached(value) for name, value in zip(owner.inputs, given, strict=True)}
    outputs = owner.make_outputs(values)
    tensors = {name: value for name, value in (values | outputs).items() if is_tensor(value)}
    context.names, context.owner = list(tensors), owner
    context.others = {name: value for name, value in values.items() if name not in tensors}
    context.wanted = {
        name for name, wants in zip(owner.inputs, context.needs_input_grad[1:], strict=True) if wants
    }
    if context.wanted:
        floats = {name for name, each in outputs.items() if each.is_floating_point()}
        owner.check_gradient(values | outputs, context.wanted | floats)
    owner.compute(values, outputs)
    context.save_for_backward(*tensors.values())
    context.mark_non_differentiable(*(each for each in outputs.values() if not each.is_floating_point()))
    found = tuple(outputs.values())
    return found[0] if len(found) == 1 else found


def backward(context: Any, *adjoints: Any) -> tuple[Any, ...]:
    saved = {name: each.detach() for name, each in zip(context.names, context.saved_tensors, strict=True)}
    given = dict(zip(context.owner.out, adjoints, strict=True))
    return None, *context.owner.differentiate({**saved, **context.others}, given, context.wanted)
