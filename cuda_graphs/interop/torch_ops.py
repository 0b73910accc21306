# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch for functions of kernels and graphs: what `torch.compile` sees of a call.

Each function has two operators, `cuda_graphs::NAME` and `cuda_graphs::NAME_backward`, which take a gradient as an
operator too. Both have a fake version, which makes tensors and runs nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol
from weakref import ref

from .signatures import is_array_type
from .torch_calls import detached, differentiable, is_tensor

__all__ = ["make_operator"]

NAMESPACE = "cuda_graphs"
# The types of numbers, as text -> their type in the schema of an operator.
NUMBERS = {
    **dict.fromkeys(("f16", "bf16", "f32", "f64", "float"), "float"),
    **dict.fromkeys(("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "int"), "int"),
    "bool": "bool",
}
made: Counter[str] = Counter()  # operators of each name


class Function(Protocol):
    """The part of a TorchFunction that operators use."""

    out: dict[str, Any]
    inputs: list[str]

    def make_outputs(self, values: Mapping[str, Any]) -> dict[str, Any]: ...
    def compute(self, values: Mapping[str, Any], outputs: Mapping[str, Any]) -> None: ...
    def check_writes(self, values: Mapping[str, Any]) -> None: ...
    def check_gradient(self, values: Mapping[str, Any], wanted: set[str]) -> None: ...
    def differentiate(
        self, values: Mapping[str, Any], adjoints: Mapping[str, Any], wanted: set[str]
    ) -> list[Any]: ...


def make_operator(name: str, inputs: Sequence[str], types: Mapping[str, str], function: Function) -> Any:
    """Register the operators of a function. A second function of the same name gets the number 2, and so on.

    Returns:
        The operator, or None if an input is neither an array nor a number.
    """
    schema = [schema_type(types[each]) for each in inputs]
    if None in schema:
        return None
    made[name] += 1
    unique = name if made[name] == 1 else f"{name}_{made[name]}"
    return Operator(unique, ", ".join(f"{t} {each}" for t, each in zip(schema, inputs)), function).forward


def schema_type(text: str) -> str | None:
    return "Tensor" if is_array_type(text) else NUMBERS.get(text)


class Operator:
    """The two operators of one function. PyTorch keeps operators until the process ends, so they do not keep the
    function."""

    def __init__(self, name: str, arguments: str, function: Function) -> None:
        self.name, self.known = name, ref(function)
        self.checked: set[Any] = set()  # types of arguments for which the code writes no input
        one = "Tensor" if len(function.out) == 1 else f"({', '.join(['Tensor'] * len(function.out))})"
        register = import_module("torch").library.custom_op
        self.forward = register(
            f"{NAMESPACE}::{name}", self.run, mutates_args=(), schema=f"({arguments}) -> {one}"
        )
        self.backward = register(
            f"{NAMESPACE}::{name}_backward",
            self.run_backward,
            mutates_args=(),
            schema=f"({arguments}, Tensor[] outputs_, Tensor[] adjoints_, bool[] wanted_) -> Tensor[]",
        )
        self.forward.register_fake(self.fake)
        self.backward.register_fake(self.fake_backward)
        self.forward.register_autograd(self.differentiate, setup_context=self.keep)

    @property
    def function(self) -> Function:
        found = self.known()
        if found is None:
            raise ReferenceError(
                f"the function of operator {NAMESPACE}::{self.name} is gone: keep the result of cg.interop.torch"
            )
        return found

    def run(self, *given: Any) -> Any:
        values = self._named(given)
        outputs = self.function.make_outputs(values)
        kinds = tuple((each.dtype, each.dim()) if is_tensor(each) else type(each) for each in given)
        if kinds not in self.checked:
            self.function.check_writes(values | outputs)
            self.checked.add(kinds)
        self.function.compute(values, outputs)
        return plain(outputs)

    def fake(self, *given: Any) -> Any:
        return plain(self.function.make_outputs(dict(zip(self.function.inputs, given, strict=True))))

    def run_backward(self, *given: Any) -> list[Any]:
        *inputs, outputs, adjoints, wanted = given
        values = self._named(inputs) | dict(zip(self.function.out, outputs, strict=True))
        names = {name for name, wants in zip(self.function.inputs, wanted, strict=True) if wants}
        floats = {name for name, each in zip(self.function.out, outputs) if each.is_floating_point()}
        self.function.check_gradient(values, names | floats)
        found = self.function.differentiate(values, dict(zip(floats_of(self, outputs), adjoints)), names)
        return [each for each in found if each is not None]

    def fake_backward(self, *given: Any) -> list[Any]:
        *inputs, _, _, wanted = given
        return [each.new_empty(each.shape) for each, wants in zip(inputs, wanted, strict=True) if wants]

    def keep(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        outputs = (output,) if len(self.function.out) == 1 else output
        ctx.are_tensors = [is_tensor(each) for each in inputs]
        ctx.numbers = [each for each in inputs if not is_tensor(each)]
        ctx.wanted = [
            bool(needs) and differentiable(each)
            for needs, each in zip(ctx.needs_input_grad, inputs)  # PyTorch has one entry more, for itself
        ]
        ctx.save_for_backward(*(each for each in inputs if is_tensor(each)), *outputs)
        ctx.mark_non_differentiable(*(each for each in outputs if not each.is_floating_point()))

    def differentiate(self, context: Any, *adjoints: Any) -> tuple[Any, ...]:
        saved, numbers = iter(context.saved_tensors), iter(context.numbers)
        inputs = [next(saved if known else numbers) for known in context.are_tensors]
        outputs = list(saved)
        given = [
            each.new_zeros(each.shape) if adjoint is None else adjoint
            for each, adjoint in zip(outputs, adjoints, strict=True)
            if each.is_floating_point()
        ]
        found = iter(self.backward(*inputs, outputs, given, context.wanted))
        return tuple(next(found) if wants else None for wants in context.wanted)

    def _named(self, given: Sequence[Any]) -> dict[str, Any]:
        return {name: detached(value) for name, value in zip(self.function.inputs, given, strict=True)}


def floats_of(operator: Operator, outputs: Sequence[Any]) -> list[str]:
    """Return the names of the outputs that have gradients."""
    return [
        name for name, each in zip(operator.function.out, outputs, strict=True) if each.is_floating_point()
    ]


def plain(outputs: Mapping[str, Any]) -> Any:
    found = tuple(outputs.values())
    return found[0] if len(found) == 1 else found
