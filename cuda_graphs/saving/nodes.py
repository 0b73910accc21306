# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of a saved graph: adds the rows of the table `graphs` to definitions, one function for each kind (ADDERS)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.graph.nodes.restoring import at_line, connect, following, restore_loop
from cuda_graphs.graph.operands.spans import Span
from cuda_graphs.graph.operands.stop_words import StopWord
from cuda_graphs.objects.code.arguments import RawArgument
from cuda_graphs.objects.code.launch_config import LaunchConfig

from .memory import Place, dtype_of
from .parameters import Parameters
from .schema import Row, check_index, check_int, check_list, check_type, fail

if TYPE_CHECKING:
    from .kernels import LoadedKernel
    from .memory import LoadedMemory

__all__ = ["NodeLoader"]

MOST_GRID, MOST_BLOCK = 2**31 - 1, 1024


class NodeLoader:
    """Adds the nodes of all graphs.

    Args:
        manifest: The checked manifest.
        memory, kernels, events, callbacks: The loaded rows of these tables.
        computes_sizes: Whether the sizes of launches of kernels of Python are those of another driver.
    """

    def __init__(
        self,
        manifest: Mapping[str, Any],
        memory: Sequence[LoadedMemory],
        kernels: Sequence[LoadedKernel],
        events: Sequence[Any],
        callbacks: Sequence[Any],
        computes_sizes: bool,
    ) -> None:
        self.graphs = manifest["graphs"]
        self.memory, self.kernels, self.events, self.callbacks = memory, kernels, events, callbacks
        self.rows = manifest["parameters"]
        self.configs = [read_config(row, number) for number, row in enumerate(manifest["configs"])]
        self.lines = [code_of(row, number) for number, row in enumerate(manifest["sources"])]
        self.computes_sizes = computes_sizes
        self.conditions: dict[tuple[int, int], Any] = {}
        self.allocs: list[Any] = []
        self.used: set[int] = set()

    def build(self, definition: GraphDef) -> Parameters:
        """Add all nodes to an empty definition, and return its parameters.

        Inner graphs are built by a stack of generators, because definitions may be nested deeper than Python calls.
        """
        parameters = Parameters(definition, self.rows, self.memory)
        stack = [self.graph(0, definition, parameters)]
        self.used.add(0)
        while stack:
            inner = next(stack[-1], None)
            if inner is None:
                stack.pop()
            else:
                number, graph = inner
                same = graph if isinstance(graph, Inner) else None
                stack.append(
                    self.graph(number, same.definition, same.parameters)
                    if same is not None
                    else self.graph(number, graph, Parameters(graph, self.rows, self.memory))
                )
        if len(self.used) != len(self.graphs):
            fail("the table of graphs", "has graphs that no node holds")
        return parameters

    def graph(self, number: int, definition: GraphDef, parameters: Parameters) -> Any:
        """Add the nodes of one graph. Yields each graph that must be built at this point."""
        row = Row(self.graphs[number], f"graph {number}")
        for at, condition in enumerate(row.items("conditions")):
            default, source = check_list(condition, f"condition {at} of {row.where}", 2)
            if default is not None:
                check_int(default, f"the default of condition {at} of {row.where}", 0, 2**32 - 1)
            with self.line(source, row.where):
                self.conditions[number, at] = definition.create_condition(default)
        nodes: list[Any] = []
        rows = row.items("nodes")
        before, late = read_edges(row, len(rows))
        for at, data in enumerate(rows):
            node_row = Row(data, f"node {at} of {row.where}")
            adding = Adding(
                self, node_row, definition if (first := before[at]) is None else nodes[first], parameters
            )
            add, inner = ADDERS[node_row.choice("kind", ADDERS)], self.inner(node_row, number)
            name = node_row.optional_text("name")
            child = GraphDef() if add is add_child else None
            if child is not None:
                yield inner[0], child
            adding.child, adding.count = child, len(inner)
            with self.line(node_row.get("source"), node_row.where):
                node = add(adding, node_row, name)
            nodes.append(node)
            if child is None:
                for graph, body in zip(inner, node.branches if inner else (), strict=True):
                    yield graph, Inner(body, parameters)
                    self.restore_test(node, graph)
        connect(definition, [(nodes[source], nodes[target], data) for source, target, data in late])
        self.last = nodes

    def restore_test(self, node: Any, number: int) -> None:
        """Note the kernel that sets the condition of a loop, whose body was built last."""
        row = Row(self.graphs[number], f"graph {number}")
        if row.get("test") is not None:
            test = self.last[row.index("test", self.last)]
            if node.cond_type != "while" or type(test).__name__ != "KernelNode":
                fail(f"test of {row.where}", "is no kernel of the body of a loop")
            restore_loop(node, None, test)

    def inner(self, row: Row, around: int) -> list[int]:
        """Return the numbers of the graphs inside a node. Each graph is in one node, of a graph before it."""
        numbers = [] if row.get("graphs") is None else row.items("graphs")
        for number in numbers:
            check_index(number, f"a graph in {row.where}", self.graphs)
            if number <= around or number in self.used:
                fail(f"graph {number} in {row.where}", "is in another node, or around this one")
            self.used.add(number)
        least, most = INNER.get(row.get("kind"), (0, 0))
        if not least <= len(numbers) <= most:
            fail(row.where, f"holds {len(numbers)} graphs")
        return numbers

    def line(self, source: Any, where: str) -> Any:
        """Return a context in which nodes have a source."""
        return at_line(
            self.lines[check_index(source, f"source of {where}", self.lines)]
            if source is not None
            else NOWHERE
        )


class Inner:
    """The body of a conditional node, whose parameters are those of the definition around it."""

    def __init__(self, definition: GraphDef, parameters: Parameters) -> None:
        self.definition, self.parameters = definition, parameters


class Adding:
    """The arguments of the functions of ADDERS: the tables, the place of the node, and its parameters."""

    def __init__(self, loader: NodeLoader, row: Row, place: Any, parameters: Parameters) -> None:
        self.loader, self.row, self.place, self.parameters = loader, row, place, parameters
        self.child: GraphDef | None = None
        self.count = 0  # graphs inside the node

    def argument(self, value: Any) -> Any:
        """Return an argument of a launch."""
        if type(value) is int or type(value) is float:
            return value
        if type(value) is str:
            return RawArgument(self.bytes_of(value))
        if type(value) is not list:
            check_list(value, f"an argument of {self.row.where}")
        found = self.resolve(value)
        if isinstance(found, Place):
            return RawArgument(found.address.to_bytes(8, "little"), found.owner)
        return found

    def bytes_of(self, digits: str) -> bytes:
        try:
            return bytes.fromhex(digits)
        except ValueError:
            fail(f"an argument of {self.row.where}", "has digits that are not hexadecimal")

    def resolve(self, reference: list[Any]) -> Any:
        """Return what a reference names: a Place, a Parameter, an extent of one, a Condition or a StopWord."""
        kind = reference[0] if reference else None
        resolve = RESOLVERS.get(kind) if type(kind) is str else None
        if resolve is None:
            fail(f"a reference in {self.row.where}", "names nothing")
        assert kind is not None
        if len(reference) != LENGTHS[kind] + 1:
            check_list(reference[1:], f"a reference in {self.row.where}", LENGTHS[kind])
        return resolve(self, *reference[1:])

    def memory(self, number: Any, offset: Any) -> Any:
        rows = self.loader.memory
        if type(number) is not int or not 0 <= number < len(rows):
            check_index(number, f"memory of {self.row.where}", rows)
        row = rows[number]
        place = row.place(offset, self.row.where)
        if row.parameter is None:
            return place
        if offset:
            fail(self.row.where, f"uses a part of an input or output, from byte {offset} on")
        return self.parameters.get(row.parameter)

    def alloc(self, number: Any, offset: Any = 0) -> Any:
        node = self.loader.allocs[check_index(number, f"alloc node of {self.row.where}", self.loader.allocs)]
        check_int(offset, f"the offset in {self.row.where}", 0, node.bytesize - 1)
        return Place(node.dptr + offset, node.bytesize - offset, None)

    def condition(self, graph: Any, number: Any) -> Any:
        found = None
        if type(graph) is int and type(number) is int:
            found = self.loader.conditions.get((graph, number))
        if found is None:
            fail(self.row.where, "uses a condition before the graph that has it")
        return found

    def parameter(self, number: Any) -> Any:
        check_index(number, f"parameter of {self.row.where}", self.loader.rows)
        return self.parameters.get(number)

    def extent(self, number: Any, axis: Any) -> Any:
        parameter = self.parameter(number)
        extents = getattr(parameter, "shape", ())
        return extents[check_index(axis, f"axis of {self.row.where}", extents)]

    def stop(self, condition: Any) -> Any:
        if condition is None:
            return StopWord.inside()
        reference = check_list(condition, f"condition of {self.row.where}", 3)
        if reference[0] != "c":
            fail(f"condition of {self.row.where}", "names something else")
        return StopWord.of(self.condition(*reference[1:]).handle)

    def accesses(self) -> dict[str, Any]:
        """Return the keywords `reads` and `writes`."""
        if self.row.get("reads") is None:
            return {}
        return {name: [self.span(each) for each in self.row.items(name)] for name in ("reads", "writes")}

    def span(self, span: Any) -> Span:
        if type(span) is not list or len(span) != 3 or type(span[0]) is not list or type(span[2]) is not list:
            self.check_span(span)
        reference, run, axes = span
        found = self.resolve(reference)
        start = found.address if isinstance(found, Place) else getattr(found, "name", None)
        if start is None:
            fail(f"an access of {self.row.where}", "is of no memory")
        if type(run) is not int or not 1 <= run < 2**64:
            check_int(run, f"an access of {self.row.where}", 1, 2**64 - 1)
        return Span(start, run, tuple(self.axis(axis) for axis in axes) if axes else ())

    def check_span(self, span: Any) -> None:
        where = f"an access of {self.row.where}"
        reference, _, axes = check_list(span, where, 3)
        check_list(reference, where)
        check_list(axes, where)

    def axis(self, axis: Any) -> tuple[int, int]:
        where = f"an access of {self.row.where}"
        count, stride = check_list(axis, where, 2)
        return check_int(count, where, 1), check_int(stride, where, 1)

    def operand(self, name: str) -> tuple[Any, int | None, dict[str, Any]]:
        """Return (operand, bytes behind it or None, the keyword for its owner) of a copy or fill."""
        found = self.resolve(self.row.items(name))
        if isinstance(found, Place):
            return found.address, found.size, {} if found.owner is None else {f"{name}_owner": found.owner}
        if type(found).__name__ not in ("Parameter", "ArrayParameter"):
            fail(f"{name} of {self.row.where}", "is no memory")
        return found, None, {}


RESOLVERS: dict[str, Callable[..., Any]] = {
    "m": Adding.memory,
    "a": Adding.alloc,
    "c": Adding.condition,
    "p": Adding.parameter,
    "e": Adding.extent,
    "s": Adding.stop,
}
LENGTHS = {"m": 2, "a": 2, "c": 2, "p": 1, "e": 2, "s": 1}

# Kind -> (fewest, most) graphs inside a node of it; 0 for others.
INNER = {"child": (1, 1), "if": (1, 1), "if_else": (2, 2), "while": (1, 1), "switch": (1, 2**16)}


def read_edges(row: Row, count: int) -> tuple[list[int | None], list[tuple[int, int, Any]]]:
    """Return the node after which each node is added, or None, and the edges that are added afterwards."""
    before: list[int | None] = [None] * count
    late = []
    numbers = range(count)
    where = f"an edge of {row.where}"
    for edge in row.items("edges"):
        source, target, *data = check_list(edge, where)
        check_index(source, where, numbers)
        check_index(target, where, numbers)
        if source >= target:
            fail(where, f"leads from node {source} back to node {target}")
        if data:
            for value in check_list(data, where, 3):
                check_int(value, where, 0, 255)
        elif before[target] is None:
            before[target] = source
            continue
        late.append((source, target, tuple(data) or (0, 0, 0)))
    return before, late


def read_config(row: Any, number: int) -> LaunchConfig:
    where = f"config {number}"
    values = check_list(row, where)
    if len(values) not in (8, 11):
        fail(where, "must have 8 or 11 numbers")
    for value in values:
        check_int(value, where, 0, MOST_GRID)
    *sizes, shared, cooperative = values
    cluster = tuple(sizes[6:]) or None
    return LaunchConfig(
        grid=tuple(sizes[:3]),
        block=tuple(sizes[3:6]),
        cluster=cluster,
        shmem_size=shared,
        is_cooperative=cooperative != 0,
    )


def template() -> None:
    """Stand for the lines of the program that saved a graph: only its code object is used, and never runs."""


def code_of(row: Any, number: int) -> Any:
    """Return a code object whose first line is a line of the program that saved the graph."""
    file, line = check_list(row, f"source {number}", 2)
    check_int(line, f"the line of source {number}", 0, 2**31 - 1)
    if type(file) is not str or "\0" in file:
        fail(f"the file of source {number}", "must be a text")
    return template.__code__.replace(co_filename=file, co_firstlineno=line)


NOWHERE = template.__code__.replace(co_filename="<saved graph>", co_firstlineno=0)


# ---- kinds


def add_empty(adding: Adding, row: Row, name: str | None) -> Any:
    return adding.place.join(name=name)


def add_kernel(adding: Adding, row: Row, name: str | None) -> Any:
    loaded = adding.loader.kernels[row.index("kernel", adding.loader.kernels)]
    raw = row.items("arguments", len(loaded.sizes))
    arguments = tuple([adding.argument(value) for value in raw])
    config = adding.loader.configs[row.index("config", adding.loader.configs)]
    if loaded.task is not None and row.flag("sized"):
        config = size_of(adding, loaded, raw, arguments, config)
    return adding.place.launch(config, loaded.kernel, *arguments, name=name, **adding.accesses())


def size_of(
    adding: Adding, loaded: LoadedKernel, raw: Sequence[Any], arguments: tuple[Any, ...], config: LaunchConfig
) -> LaunchConfig:
    """Return the config of a kernel of Python, whose size follows its arguments."""
    task = loaded.task
    assert task is not None
    known = {number: number_of(raw[number]) for number in task.arguments if not isinstance(raw[number], list)}
    used = [value[0] for value in raw if isinstance(value, list)]
    if "p" not in used and "e" not in used:
        return (
            task.config(loaded.kernel, known) if adding.loader.computes_sizes or task.is_resident else config
        )
    fixed = {
        number: argument.default.shape
        for number, (value, argument) in enumerate(zip(raw, arguments, strict=True))
        if isinstance(value, list) and value[0] == "m" and hasattr(argument, "default")
    }

    def follow(*given: Any) -> LaunchConfig:
        for number, shape in fixed.items():
            if given[number].shape != shape:
                raise ValueError(
                    f"an array of shape {given[number].shape} takes the place of one of shape {shape}"
                )
        late = {number: given[number] for number in task.arguments if number not in known}
        found = task.config(loaded.kernel, {**known, **late})
        return LaunchConfig(grid=found.grid, block=found.block, shmem_size=found.shmem_size)

    return following(follow, arguments, task.is_resident)


def number_of(value: Any) -> int:
    """Return the number of an argument that determines a size."""
    return (
        int.from_bytes(bytes.fromhex(value), "little", signed=True) if isinstance(value, str) else int(value)
    )


def add_alloc(adding: Adding, row: Row, name: str | None) -> Any:
    size = row.number("bytes", 1)
    peers = [check_int(each, f"peers of {row.where}", 0, 2**16) for each in row.items("peers")]
    keywords: dict[str, Any] = {
        "device": row.number("device", 0, 2**16),
        "memory_type": row.choice("memory", ("device", "host", "managed")),
        "peer_access": peers or None,
        "name": name,
    }
    if row.get("array") is None:
        node = adding.place.alloc(size, **keywords)
    else:
        data, shape = row.items("array", 2)
        kind = check_type(data, f"the type of {row.where}")
        if kind[1] < 0:
            fail(f"the type of {row.where}", "is no type of arrays")
        extents = tuple(
            check_int(each, f"shape of {row.where}", 1) for each in check_list(shape, row.where, kind[1])
        )
        node = adding.place.alloc(shape=extents, dtype=dtype_of(kind), **keywords)
    if node.bytesize != size:
        fail(row.where, f"allocates {node.bytesize} bytes instead of {size}")
    adding.loader.allocs.append(node)
    return node


def add_free(adding: Adding, row: Row, name: str | None) -> Any:
    allocs = adding.loader.allocs
    return adding.place.free(allocs[row.index("alloc", allocs)], name=name)


def add_memset(adding: Adding, row: Row, name: str | None) -> Any:
    import numpy as np

    target, size, owner = adding.operand("dst")
    width, height, pitch = row.numbers("shape", 3)
    element = row.number("element", 1, 4)
    value: Any = row.get("value")
    if isinstance(value, list):
        value = adding.resolve(value)
    else:
        bits = row.number("value", 0, 2**32 - 1).to_bytes(4, "little")
        value = np.frombuffer(bits[:element], row.choice("type", VALUES.get(element, ())))[0]
        if size is None and value.dtype != dtype_of_parameter(target):
            value = value.tobytes()
    reach = (height - 1) * pitch * (height > 1) + width * element
    if size is not None and (height < 1 or reach > size):
        fail(row.where, f"fills {reach} bytes of memory of {size}")
    count = sized(adding, row, target, width)
    if count is None:
        return adding.place.memset(target, value, height=height, pitch=pitch, name=name, **owner)
    return adding.place.memset(target, value, count, height, pitch, name=name, **owner)


# Bytes of an element -> NumPy types of its value.
VALUES = {1: ("u1", "i1"), 2: ("u2", "i2", "f2"), 4: ("u4", "i4", "f4")}


def dtype_of_parameter(parameter: Any) -> Any:
    """Return the NumPy type of the elements of an array parameter, or None."""
    import numpy as np

    if not hasattr(parameter, "_element"):
        return None
    name, _ = parameter._element()
    return (
        np.dtype("bool" if name == "bool" else f"{name[0]}{int(name[1:]) // 8}") if name != "bf16" else None
    )


def add_memcpy(adding: Adding, row: Row, name: str | None) -> Any:
    dst, dst_size, dst_owner = adding.operand("dst")
    src, src_size, src_owner = adding.operand("src")
    width, height, depth = row.numbers("shape", 3, 1)
    dst_pitch, src_pitch, dst_height, src_height = row.numbers("pitches", 4)
    owners = {**dst_owner, **src_owner, "name": name}
    for size, pitch, rows in ((dst_size, dst_pitch, dst_height), (src_size, src_pitch, src_height)):
        reach = ((depth - 1) * max(rows, height) + height - 1) * pitch + width
        if size is not None and reach > size:
            fail(row.where, f"copies {reach} bytes of memory of {size}")
    if height == depth == 1:
        count = sized(adding, row, (dst, src), width)
        return adding.place.memcpy(dst, src, count, **owners)
    return adding.place.memcpy(
        dst, src, width=width, height=height, depth=depth, dst_pitch=dst_pitch, src_pitch=src_pitch,
        dst_height=dst_height, src_height=src_height, **owners,
    )  # fmt: skip


def sized(adding: Adding, row: Row, operands: Any, count: int) -> Any:
    """Return the size of a copy or fill: a number, a Parameter, or None for all of an array parameter."""
    size = row.get("size")
    if size is None:
        return count
    if size != "bytes":
        return adding.resolve(row.items("size"))
    if not any(
        hasattr(each, "_element") for each in (operands if isinstance(operands, tuple) else (operands,))
    ):
        fail(row.where, "has the size of an array, and no array")
    return None


def add_child(adding: Adding, row: Row, name: str | None) -> Any:
    return adding.place.embed(adding.child, name=name)


def add_callback(adding: Adding, row: Row, name: str | None) -> Any:
    function = adding.loader.callbacks[row.index("callback", adding.loader.callbacks)]
    return adding.place.callback(function, name=name, **adding.accesses())


def add_record(adding: Adding, row: Row, name: str | None) -> Any:
    return adding.place.record_event(
        adding.loader.events[row.index("event", adding.loader.events)], name=name
    )


def add_wait(adding: Adding, row: Row, name: str | None) -> Any:
    return adding.place.wait_event(adding.loader.events[row.index("event", adding.loader.events)], name=name)


def add_if(adding: Adding, row: Row, name: str | None) -> Any:
    return adding.place.if_then(condition_of(adding, row), name=name)


def add_if_else(adding: Adding, row: Row, name: str | None) -> Any:
    return adding.place.if_else(condition_of(adding, row), name=name)


def add_while(adding: Adding, row: Row, name: str | None) -> Any:
    node = adding.place.while_loop(condition_of(adding, row), name=name)
    if row.get("counter") is not None:
        memory = adding.loader.memory[row.index("counter", adding.loader.memory)]
        if memory.counter is None:
            fail(f"counter of {row.where}", "is memory of another kind")
        restore_loop(node, memory.counter, None)
    return node


def add_switch(adding: Adding, row: Row, name: str | None) -> Any:
    return adding.place.switch(condition_of(adding, row), adding.count, name=name)


def condition_of(adding: Adding, row: Row) -> Any:
    reference = row.items("condition", 3)
    if reference[0] != "c":
        fail(f"condition of {row.where}", "names something else")
    return adding.condition(*reference[1:])


ADDERS: Mapping[str, Callable[[Adding, Row, str | None], Any]] = {
    "empty": add_empty,
    "kernel": add_kernel,
    "alloc": add_alloc,
    "free": add_free,
    "memset": add_memset,
    "memcpy": add_memcpy,
    "child": add_child,
    "callback": add_callback,
    "record": add_record,
    "wait": add_wait,
    "if": add_if,
    "if_else": add_if_else,
    "while": add_while,
    "switch": add_switch,
}
