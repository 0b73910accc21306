# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of host objects between the tasks of a kernel, with the arguments of one call of the kernel.

The compiler gives such a call as a step of the plan: ("call", object, method, arguments, line). Its arguments refer to
inputs: (kind, path, detail). A specialisation reads the value of each input from the arguments of the kernel's call.

    ("object", path, None)    the object itself
    ("array", path, axes)     (address, extent of each axis)
    ("extent", path, axis)    an int
    ("scalar", path, type)    an int
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

from cuda_graphs.compiler.ir.host_calls import number_of, resolved
from cuda_graphs.compiler.ir.types import SCALARS, ScalarType
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.graph.nodes.places import reading_places
from cuda_graphs.kernels.arrays.ndarray import FIELD, find_field
from cuda_graphs.objects.code.arguments import is_known_memory
from cuda_graphs.objects.memory.buffer import Buffer

__all__ = ["BodyRefusal", "BoundCall", "ExchangeRefusal", "HostCalls", "Input", "Owner", "condition_at"]

Input = tuple[str, str, Any]


class BodyRefusal(RuntimeError):
    """A host object cannot add its nodes to a body of a conditional node. The host then runs the control flow of graph
    kernels, if their option `loop` is "auto".
    """


class ExchangeRefusal(RuntimeError):
    """A resident launch cannot do the work of a call of a host object. The call then becomes a node again."""


class BoundCall(NamedTuple):
    """A call of a host object with its arguments.

    Attributes:
        method: The method of the object.
        args: Its arguments.
        place: Its place in the source, for errors.
    """

    method: Any
    args: tuple[Any, ...]
    place: str

    def check(self) -> None:
        """Raise the exception of wrong arguments."""
        self.noting(self.method.__cuda_graph_check__, self.args)

    def check_exchange(self) -> None:
        """Raise ExchangeRefusal if a resident launch cannot do the work of the call."""
        refusal = self.noting(self.method.__cuda_graph_exchange__, self.args)
        if refusal is not None:
            raise ExchangeRefusal(refusal)

    def emit(self, node: Any) -> Any:
        """Add the nodes of the call after `node`, and return the last of them."""
        with reading_places(0):  # the method may keep addresses
            return self.noting(self.method.__cuda_graph_emit__, node, self.args)

    def run(self, stream: Any) -> None:
        """Call the method, which starts its work on a stream."""
        self.noting(self.method, *self.args, stream=stream)

    def run_if(self, condition: Any, stream: Any) -> None:
        """Call the method, whose results are kept if `condition`, a u32 of the device, is not 0 then."""
        self.noting(self.method.__cuda_graph_run_if__, self.args, condition, stream)

    def noting(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except Exception as error:
            error.add_note(f"in {self.place}")
            raise


class HostCalls:
    """The calls of host objects in the code of a kernel.

    Args:
        steps: The steps of the plan, in the order of the source.
        file: The file of the kernel.

    Attributes:
        inputs: What they depend on.
        arrays: The paths of their arrays.
    """

    def __init__(self, steps: Iterable[tuple[Any, ...]], file: str) -> None:
        self.steps, self.file = tuple(steps), file
        self.inputs: tuple[Input, ...] = tuple(
            dict.fromkeys(each for step in self.steps for each in inputs_of(step))
        )
        self.arrays = frozenset(path for kind, path, _ in self.inputs if kind == "array")

    def __len__(self) -> int:
        return len(self.steps)

    def bound(
        self, values: Sequence[Any], given: Callable[[str], Any] = lambda path: None
    ) -> list[BoundCall]:
        """Return the calls with their arguments.

        Args:
            values: The value of each input.
            given: Returns the array argument of a path, or None for an array without an owner, at the address of the
                input.
        """
        known = dict(zip(self.inputs, values, strict=True))
        return [self.bound_step(step, known, given) for step in self.steps]

    def bound_step(
        self, step: tuple[Any, ...], known: Mapping[Input, Any], given: Callable[[str], Any]
    ) -> BoundCall:
        _, path, name, args, line = step
        owner = known["object", path, None]

        def array(path: str, kind: str, ndim: int, inner: tuple[int, ...]) -> Any:
            if path.startswith(FIELD):
                return find_field(path)
            found = given(path)
            address, *shape = known["array", path, ndim - len(inner)]
            return borrowed(path, address, SCALARS[kind], inner, shape) if found is None else found

        number = partial(
            number_of,
            extent=lambda path, axis: known["extent", path, axis],
            scalar=lambda path, kind: known["scalar", path, kind],
        )
        values = tuple(resolved(each, array, number, partial(getattr, owner)) for each in args)
        return BoundCall(getattr(owner, name), values, f"{self.file}:{line}: {path}.{name}")


class Owner:
    """The graphs of one kernel, which never run at the same time if host objects add nodes to them."""


def inputs_of(step: tuple[Any, ...]) -> Iterator[Input]:
    """Yield the inputs of one call."""
    _, path, _, args, _ = step
    yield "object", path, None
    for each in args:
        yield from inputs_of_argument(each)


def inputs_of_argument(argument: tuple[Any, ...]) -> Iterator[Input]:
    kind, *rest = argument
    if kind == "array" and not rest[0].startswith(FIELD):
        path, _, ndim, inner = rest
        yield "array", path, ndim - len(inner)
    elif kind == "number":
        yield from inputs_of_bound(rest[0])
    elif kind == "tuple":
        for each in rest[0]:
            yield from inputs_of_argument(each)


def inputs_of_bound(bound: Any) -> Iterator[Input]:
    if isinstance(bound, int):
        return
    kind, first, second = bound
    if kind in ("extent", "scalar"):
        yield kind, first, second
    else:
        yield from inputs_of_bound(first)
        yield from inputs_of_bound(second)


def condition_at(address: int) -> Any:
    """Return the u32 of a condition in memory, as an array without dimensions."""
    return Buffer.from_handle(address, 4).view(SCALARS["u32"], ())


def borrowed(
    path: str, address: int, element: ScalarType, inner: tuple[int, ...], shape: Sequence[int]
) -> Any:
    """Return an array of memory that the caller of the kernel keeps alive.

    Raises:
        TypeError: It is memory of the host.
    """
    if not is_known_memory(address):
        raise TypeError(
            f"parameter {path!r} is an array in memory of the host, and a call between tasks needs an array of the "
            "device, such as cuda_graphs.array(...)"
        )
    memory = Buffer.from_handle(address, element.size * prod(inner) * prod(shape))
    return memory.view(VectorType(element, inner) if inner else element, tuple(shape))
