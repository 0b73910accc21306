# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels as functions of PyTorch that `torch.autograd` differentiates: `loss.backward()` calls the kernel's gradient.

A call makes the tensors that the kernel writes, and calls the kernel on PyTorch's current stream. The way back gives
`kernel.grad` tensors of the same memory, whose gradients are its own. PyTorch keeps inputs and outputs until then, and
says so where something has written to them in between.
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
    """A kernel as a function of PyTorch.

        @cg.kernel
        def wave(x: cg.types.ndarray(cg.f32, 1), y: cg.types.ndarray(cg.f32, 1)):
            for i in x:
                y[i] = cg.sin(x[i])

        sine = cg.interop.torch(wave, out={"y": "x"})
        sine(x).sum().backward()

    Args:
        kernel: A `cg.kernel`. It writes to its outputs and to nothing else.
        out: Its parameters that are outputs, and how the tensor for each is made, filled with zeros: the name of an
            input that it is like, or a function of the inputs, by name, that gives it.

    Returns:
        A function of the other parameters, in their order or by name, that gives the output, or a tuple of all of them.
        Tensors of floats among its arguments have gradients, all else is constant, members of dataclasses too.

    Raises:
        TypeError: It is no kernel, or `out` is no dict of names.
        ValueError: The kernel has no such parameter, or there are no outputs.
    """
    if not hasattr(kernel, "grad") or not hasattr(kernel, "__wrapped__"):
        raise TypeError(f"torch() takes a cg.kernel, got {kernel!r}")
    if not isinstance(out, Mapping):
        raise TypeError(f'out says what each output is like, as in out={{"y": "x"}}, got {out!r}')
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
                f"{kernel.__name__}() needs an output: {', '.join(self.names)} are its parameters"
            )
        for name, like in self.out.items():
            if name not in self.names:
                raise ValueError(f"{kernel.__name__}() has no parameter {name!r}: {', '.join(self.names)}")
            if isinstance(like, str) and like not in self.inputs:
                raise ValueError(
                    f"output {name!r} is like {like!r}, which is no input: {', '.join(self.inputs)}"
                )
            if not isinstance(like, str) and not callable(like):
                raise TypeError(
                    f"output {name!r} is like an input, by name, or made by a function, not {like!r}"
                )

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if len(args) + len(keywords) != len(self.inputs) or set(self.inputs[len(args) :]) != set(keywords):
            raise TypeError(
                f"{self.kernel.__name__}() takes {', '.join(self.inputs)}; {', '.join(self.out)} it gives"
            )
        return function_class().apply(self, *args, *(keywords[name] for name in self.inputs[len(args) :]))

    def forward(self, context: Any, given: Sequence[Any]) -> Any:
        """The outputs for these inputs."""
        values = {name: plain(value) for name, value in zip(self.inputs, given, strict=True)}
        outputs = {name: self.made(name, values) for name in self.out}
        wants = context.needs_input_grad[1:]
        tensors = {name: value for name, value in (values | outputs).items() if is_tensor(value)}
        context.names, context.owner, context.wants = list(tensors), self, dict(zip(self.inputs, wants))
        context.others = {name: value for name, value in values.items() if name not in tensors}
        if any(wants):
            self.check_writes(self.shadows(context, tensors))
        hidden = {name: each.detach() for name, each in outputs.items()}  # to a tape these are constants
        self.kernel(*self.ordered(values | hidden), **stream_of(tensors))
        context.save_for_backward(*tensors.values())
        context.mark_non_differentiable(*(each for each in outputs.values() if not each.is_floating_point()))
        found = tuple(outputs.values())
        return found[0] if len(found) == 1 else found

    def backward(self, context: Any, adjoints: Sequence[Any]) -> list[Any]:
        """The gradient of each input; None of those that want none."""
        tensors = dict(zip(context.names, context.saved_tensors, strict=True))
        shadows = self.shadows(context, tensors)
        for name, adjoint in zip(self.out, adjoints, strict=True):
            if shadows[name].requires_grad:
                shadows[name].grad = adjoint.clone(memory_format=import_module("torch").contiguous_format)
        self.kernel.grad(*self.ordered(shadows), **stream_of(tensors))
        return [shadows[name].grad if context.wants[name] else None for name in self.inputs]

    def shadows(self, context: Any, tensors: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments, with tensors of the same memory that have gradients of their own."""
        made: dict[str, Any] = {name: value.detach() for name, value in tensors.items()}
        for name, value in made.items():
            if value.is_floating_point() and (name in self.out or context.wants[name]):
                value.requires_grad_()
                value.grad = value.new_zeros(value.shape)
        made.update(context.others)
        return made

    def check_writes(self, shadows: Mapping[str, Any]) -> None:
        """Refuse a kernel whose inputs change, of which PyTorch would not know."""
        info = self.kernel.grad.info(*self.ordered(shadows))
        changed = [path for path in info.written if path in self.inputs]
        if changed:
            raise ValueError(
                f"{self.kernel.__name__}() writes {', '.join(map(repr, changed))}, no output: copy it to one"
            )

    def made(self, name: str, values: Mapping[str, Any]) -> Any:
        """A tensor for an output."""
        like = self.out[name]
        if isinstance(like, str):
            if not is_tensor(values[like]):
                raise TypeError(f"output {name!r} is like {like!r}, which is no tensor but {values[like]!r}")
            return values[like].new_zeros(values[like].shape)
        found = like(**values)
        if not is_tensor(found):
            raise TypeError(f"output {name!r} must be a tensor, and its function gives {found!r}")
        return found.detach()

    def ordered(self, values: Mapping[str, Any]) -> list[Any]:
        """As the kernel lists them."""
        return [values[name] for name in self.names]

    def __repr__(self) -> str:
        return (
            f"<{self.kernel.__name__}({', '.join(self.inputs)}) -> {', '.join(self.out)} for torch.autograd>"
        )


@cache
def function_class() -> Any:
    """The class that PyTorch wants for the two ways, made when PyTorch is here for sure."""
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


def plain(value: Any) -> Any:
    """A tensor as kernels take it: without history and gaps."""
    return value.detach().contiguous() if is_tensor(value) else value


def stream_of(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword of a call for tensors of a device: PyTorch's current stream there."""
    devices = {each.device for each in tensors.values() if each.is_cuda}
    if not devices:
        return {}
    return {"stream": import_module("torch").cuda.current_stream(devices.pop())}
