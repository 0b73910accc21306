# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels as functions of PyTorch that `torch.autograd` differentiates: `loss.backward()` calls the kernel's gradient.

A call creates the tensors that the kernel writes, and calls the kernel on PyTorch's current stream. The
backward pass calls `kernel.grad` with tensors of the same memory that have their own gradients. PyTorch keeps
inputs and outputs until then, and raises an error when they were written to in between.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["TorchFunction", "torch"]

Like = str | Callable[..., Any]


def torch(kernel: Any, out: Mapping[str, Like]) -> TorchFunction:
    """Return a kernel as a function of PyTorch.

        @cg.kernel
        def wave(x: cg.Array1[cg.f32], y: cg.Array1[cg.f32]) -> None:
            for i in x:
                y[i] = cg.sin(x[i])

        sine = cg.interop.torch(wave, out={"y": "x"})
        sine(x).sum().backward()

    Args:
        kernel: A `cg.kernel`. It writes only to its outputs.
        out: Its parameters that are outputs, each with the way to create its tensor, which is filled with zeros: the
            name of an input of the same shape and type, or a function of the inputs, by name, that returns a tensor.

    Returns:
        A function of the other parameters, in their order or by name, that returns the output, or a tuple of all
        outputs. Tensors of floats among its arguments have gradients. All other arguments are constants, including
        members of dataclasses.

    Raises:
        TypeError: `kernel` is not a cg.kernel, or `out` is not a mapping of names.
        ValueError: The kernel has no such parameter, or `out` is empty.
    """
    if not hasattr(kernel, "grad") or not hasattr(kernel, "__wrapped__"):
        raise TypeError(f"torch() takes a cg.kernel, got {kernel!r}")
    if not isinstance(out, Mapping):
        raise TypeError(
            f'out must map each output to the input that it is like, as in out={{"y": "x"}}, got {out!r}'
        )
    return TorchFunction(kernel, out)


class TorchFunction:
    """The result of `torch`: a function of tensors that `torch.autograd` can differentiate.

    Attributes:
        kernel: The kernel.
    """

    def __init__(self, kernel: Any, out: Mapping[str, Like]) -> None:
        self.kernel, self.out = kernel, dict(out)
        self.names = list(inspect.signature(kernel.__wrapped__).parameters)
        self.inputs = [name for name in self.names if name not in self.out]
        if not self.out:
            raise ValueError(
                f"{kernel.__name__}() needs an output; its parameters are {', '.join(self.names)}"
            )
        for name, like in self.out.items():
            if name not in self.names:
                raise ValueError(f"{kernel.__name__}() has no parameter {name!r}: {', '.join(self.names)}")
            if isinstance(like, str) and like not in self.inputs:
                raise ValueError(
                    f"output {name!r} is like {like!r}, which is not an input; the inputs are {', '.join(self.inputs)}"
                )
            if not isinstance(like, str) and not callable(like):
                raise TypeError(f"output {name!r} must name an input or give a function, got {like!r}")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if len(args) + len(keywords) != len(self.inputs) or set(self.inputs[len(args) :]) != set(keywords):
            raise TypeError(
                f"{self.kernel.__name__}() takes {', '.join(self.inputs)} and returns {', '.join(self.out)}"
            )
        return function_class().apply(self, *args, *(keywords[name] for name in self.inputs[len(args) :]))

    def forward(self, context: Any, given: Sequence[Any]) -> Any:
        """Return the outputs for these inputs."""
        values = {name: detached(value) for name, value in zip(self.inputs, given, strict=True)}
        outputs = {name: self.make_output(name, values) for name in self.out}
        wants = context.needs_input_grad[1:]
        tensors = {name: value for name, value in (values | outputs).items() if is_tensor(value)}
        context.names, context.owner, context.wants = list(tensors), self, dict(zip(self.inputs, wants))
        context.others = {name: value for name, value in values.items() if name not in tensors}
        if any(wants):
            self.check_writes(self.detached_arguments(context, tensors))
        hidden = {name: each.detach() for name, each in outputs.items()}  # constants to a tape
        self.kernel(*self.ordered(values | hidden), **stream_of(tensors))
        context.save_for_backward(*tensors.values())
        context.mark_non_differentiable(*(each for each in outputs.values() if not each.is_floating_point()))
        found = tuple(outputs.values())
        return found[0] if len(found) == 1 else found

    def backward(self, context: Any, adjoints: Sequence[Any]) -> list[Any]:
        """Return the gradient of each input, or None for an input without one."""
        tensors = dict(zip(context.names, context.saved_tensors, strict=True))
        detached_arguments = self.detached_arguments(context, tensors)
        for name, adjoint in zip(self.out, adjoints, strict=True):
            if detached_arguments[name].requires_grad:
                detached_arguments[name].grad = adjoint.clone(
                    memory_format=import_module("torch").contiguous_format
                )
        self.kernel.grad(*self.ordered(detached_arguments), **stream_of(tensors))
        return [detached_arguments[name].grad if context.wants[name] else None for name in self.inputs]

    def detached_arguments(self, context: Any, tensors: Mapping[str, Any]) -> dict[str, Any]:
        """Return all arguments, with tensors of the same memory that have gradients of their own."""
        made: dict[str, Any] = {name: value.detach() for name, value in tensors.items()}
        for name, value in made.items():
            if value.is_floating_point() and (name in self.out or context.wants[name]):
                value.requires_grad_()
                value.grad = value.new_zeros(value.shape)
        made.update(context.others)
        return made

    def check_writes(self, detached_arguments: Mapping[str, Any]) -> None:
        """Refuse a kernel that changes its inputs, since PyTorch would not know of the change."""
        info = self.kernel.grad.info(*self.ordered(detached_arguments))
        changed = [path for path in info.written if path in self.inputs]
        if changed:
            raise ValueError(
                f"{self.kernel.__name__}() writes {', '.join(map(repr, changed))}, which is not an output: "
                "write to an output"
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

    def ordered(self, values: Mapping[str, Any]) -> list[Any]:
        """Return the values in the order of the kernel's parameters."""
        return [values[name] for name in self.names]

    def __repr__(self) -> str:
        return (
            f"<{self.kernel.__name__}({', '.join(self.inputs)}) -> {', '.join(self.out)} for torch.autograd>"
        )


@cache
def function_class() -> Any:
    """Return the subclass of torch.autograd.Function with both passes. Created at first use, when PyTorch is
    installed."""
    autograd = import_module("torch.autograd")

    def forward(context: Any, owner: TorchFunction, *values: Any) -> Any:
        return owner.forward(context, values)

    def backward(context: Any, *adjoints: Any) -> tuple[Any, ...]:
        return None, *context.owner.backward(context, adjoints)

    ways = {
        "forward": staticmethod(forward),
        "backward": staticmethod(autograd.function.once_differentiable(backward)),
    }
    return type("KernelCall", (autograd.Function,), ways)


def is_tensor(value: Any) -> bool:
    return isinstance(value, import_module("torch").Tensor)


def detached(value: Any) -> Any:
    """Return a tensor without history and gaps, as kernels require."""
    return value.detach().contiguous() if is_tensor(value) else value


def stream_of(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `stream` keyword for tensors of a device: PyTorch's current stream there."""
    devices = {each.device for each in tensors.values() if each.is_cuda}
    if not devices:
        return {}
    return {"stream": import_module("torch").cuda.current_stream(devices.pop())}
