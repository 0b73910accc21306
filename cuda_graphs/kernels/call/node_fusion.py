# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of neighbouring nodes that run as one launch, for `instantiate(optimize=True)`.

Two nodes are neighbours if an edge leads from one to the other, the first has no other successor, and the second no
other predecessor. The kernels of a chain of neighbours are called, one after another, by a kernel whose source is made
here. The compiler fuses the tasks of this kernel (compiler/passes/fuse_tasks.py). If one task is left, its launch takes
the place of the nodes. Fused nodes follow the rules of fused loops, and give the same bits.

Arguments that are one array become one parameter. The arguments of fused nodes are fixed. Therefore conditions on
arrays, such as that two of them do not overlap, are tested here once.
"""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.language.intrinsics import func
from cuda_graphs.graph.executable.fused_nodes import Group, Refused
from cuda_graphs.graph.nodes.node_call import NO_CALL
from cuda_graphs.graph.nodes.node_kinds import KernelNode
from cuda_graphs.graph.operands.edge_data import EdgeData

from .call_parts import CallParts, listed_graphs
from .kernel_factory import kernel_of

if TYPE_CHECKING:
    from .function import KernelFunction

__all__ = ["Found", "find_groups"]

FULL = (0, 0, 0)
NAMED = 3  # kernels that the name of a launch names


class Found(NamedTuple):
    """The groups of a definition, and the neighbours that stay apart."""

    groups: list[Group]
    refused: list[Refused]


def find_groups(
    definition: Any, is_enabled: Callable[[KernelNode], bool], early: Collection[KernelNode] = ()
) -> Found:
    """Return what can be fused in a definition and in the bodies of its nodes.

    `is_enabled`: returns False for a node that the executable skips. `early`: the nodes at early edges.
    """
    finder = Finder(is_enabled, early)
    for _, edges in listed_graphs(definition):
        for nodes in finder.chains(edges):
            finder.add_chain(nodes)
    return Found(finder.groups, finder.refused)


class Finder:
    """Collects groups. A kernel is made once for the functions and parameters that it needs."""

    def __init__(self, is_enabled: Callable[[KernelNode], bool], early: Collection[KernelNode]) -> None:
        self.is_enabled, self.early = is_enabled, early
        self.groups: list[Group] = []
        self.refused: list[Refused] = []
        self.parts: dict[KernelNode, CallParts | str] = {}
        self.kernels: dict[Any, KernelFunction] = {}

    def chains(self, edges: Sequence[tuple[Any, Any, tuple[int, int, int]]]) -> Iterator[list[KernelNode]]:
        """Yield the chains of neighbours of one graph, each with two nodes or more, and note why others end."""
        after: dict[Any, list[Any]] = {}
        before: dict[Any, list[Any]] = {}
        for source, target, _ in edges:
            after.setdefault(source, []).append(target)
            before.setdefault(target, []).append(source)
        following: dict[KernelNode, KernelNode] = {}
        for source, target, data in edges:
            if not (isinstance(source, KernelNode) and isinstance(target, KernelNode)):
                continue
            why = why_apart(data, len(after[source]), len(before[target]))
            why = why or self.why_alone(source) or self.why_alone(target)
            if why:
                self.refused.append(Refused((source, target), why))
            else:
                following[source] = target
        inner = set(following.values())
        for node in following:
            if node not in inner:
                found = [node]
                while found[-1] in following:
                    found.append(following[found[-1]])
                yield found

    def why_alone(self, node: KernelNode) -> str:
        """Return the reason why a node shares its launch with no other, or ""."""
        if node not in self.parts:
            call = node._call()
            self.parts[node] = NO_CALL if call is None else call.parts()
            if not self.is_enabled(node):
                self.parts[node] = "is disabled"
            elif node in self.early:
                self.parts[node] = "has an early edge"
        found = self.parts[node]
        return f"{node.name} {found}" if isinstance(found, str) else ""

    def add_chain(self, nodes: Sequence[KernelNode]) -> None:
        """Divide a chain into groups: all of it if possible, else from its beginning on."""
        whole = self.fused(nodes)
        if isinstance(whole, Group):
            self.groups.append(whole)
            return
        group, found = list(nodes[:1]), None
        for node in nodes[1:]:
            joined = whole if len(group) + 1 == len(nodes) else self.fused([*group, node])
            if isinstance(joined, Group):
                group, found = [*group, node], joined
                continue
            self.refused.append(Refused((group[-1], node), joined))
            self.groups += [] if found is None else [found]
            group, found = [node], None
        self.groups += [] if found is None else [found]

    def fused(self, nodes: Sequence[KernelNode]) -> Group | str:
        """Return the nodes as a group, or the reason why one launch cannot do their work."""
        parts: list[Any] = [self.parts[node] for node in nodes]
        if any(each.options != parts[0].options for each in parts):
            return "the options of their kernels differ"
        if share_memory_with_other_types([place for each in parts for place in each.places]):
            return "their arrays of different types share memory"
        written = Parameters()
        names = [written.add(each) for each in parts]
        try:
            found = self.kernel(parts, names, written).launch_of_all(written.args)
        except CompileError as error:
            return f"their kernels cannot be compiled together: {error}"
        return found if isinstance(found, str) else Group(tuple(nodes), found[0], found[1], tuple(found[2]))

    def kernel(
        self, parts: Sequence[CallParts], names: Sequence[Sequence[str]], written: Parameters
    ) -> KernelFunction:
        """Return the kernel that calls the functions of all parts."""
        key = (*(each.function for each in parts), *map(tuple, names))
        if key not in self.kernels:
            function = calling(written.names, [each.function for each in parts], names)
            self.kernels[key] = kernel_of(function, parts[0].options, written.annotations)
        return self.kernels[key]


def share_memory_with_other_types(places: Iterable[Any]) -> bool:
    """Return whether arrays of different types overlap.

    The code of one kernel relies on such arrays to lie apart (compiler/passes/alias_classes.py). The kernels of two
    nodes may each get one of them.
    """
    known = sorted(range_of(place) for place in set(places) if isinstance(place, tuple))
    end, kind = 0, None
    for first, last, each in known:
        if first < end and each != kind:
            return True
        if last > end:
            end, kind = last, each
    return False


def range_of(place: Any) -> tuple[int, int, Any]:
    """Return the first address of an array, the one behind its last, and its type."""
    address, dtype, is_bfloat16, shape, strides = place
    if 0 in shape:
        return address, address, (dtype, is_bfloat16)
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    first = address + sum(step for step in steps if step < 0)
    last = address + sum(step for step in steps if step > 0)
    return first, last + (2 if is_bfloat16 else int(dtype[2:])), (dtype, is_bfloat16)


def why_apart(data: tuple[int, int, int], after: int, before: int) -> str:
    """Return the reason why two nodes with an edge are no neighbours, or "".

    `after`: successors of the first node. `before`: predecessors of the second one.
    """
    if data != FULL:
        return f"their edge has the data {EdgeData(*data)!r}"
    if after > 1:
        return "other nodes follow the first one too"
    return "the second one follows other nodes too" if before > 1 else ""


class Parameters:
    """The parameters of the kernel that calls others: one for each array and for each number.

    Attributes:
        annotations: By name.
        args: The arguments.
    """

    def __init__(self) -> None:
        self.annotations: dict[str, Any] = {}
        self.args: list[Any] = []
        self.of_array: dict[Any, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.annotations)

    def add(self, parts: CallParts) -> list[str]:
        """Return the names of the parameters that the arguments of a call get."""
        return [
            self.name(*each)
            for each in zip(parts.names, parts.annotations, parts.args, parts.places, strict=True)
        ]

    def name(self, name: str, annotation: Any, value: Any, place: Any) -> str:
        if place is not None and place in self.of_array:
            return self.of_array[place]
        numbered = (f"{name}_{i}" for i in count(2))
        free = next(each for each in chain([name], numbered) if each not in self.annotations)
        self.annotations[free] = annotation
        self.args.append(value)
        if place is not None:
            self.of_array[place] = free
        return free


def calling(parameters: Sequence[str], functions: Sequence[Any], names: Sequence[Sequence[str]]) -> Any:
    """Return a function that calls the functions one after another, with these parameters."""
    called = list(dict.fromkeys(function.__name__ for function in functions))
    name = "_".join(called[:NAMED]) + (f"_and_{len(called) - NAMED}_more" if len(called) > NAMED else "")
    bound = {f"_cuda_graphs_call_{i}": func(function) for i, function in enumerate(functions)}
    lines = [f"    {call}({', '.join(given)})\n" for call, given in zip(bound, names, strict=True)]
    text = "".join([f"def {name}({', '.join(parameters)}):\n", *lines])
    file = f"<fused nodes {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": __name__, **bound}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]
