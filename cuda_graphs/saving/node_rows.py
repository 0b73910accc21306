# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of nodes in a manifest: one function for each class of nodes (WRITERS)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuda_graphs.compiler.artifact import REPORT, STACK
from cuda_graphs.graph.display.reading import Reading
from cuda_graphs.graph.nodes import node_kinds as kinds
from cuda_graphs.graph.nodes.memory_nodes import operand_parameters
from cuda_graphs.graph.nodes.places import address_words, reading_places
from cuda_graphs.graph.nodes.restoring import counter_of, memory_of_counter
from cuda_graphs.objects.code.signature import FORMS

if TYPE_CHECKING:
    from cuda_graphs.graph.operands.spans import Span

    from .codes import SavedKernel
    from .tables import Tables

__all__ = ["NodeRows", "Table"]

INTEGERS = ("int", "uint", "integer", "word")
STOP = ".stop "  # the begin of the names of hidden parameters that end loops (graph/operands/stop_words.pyx)


def own_address(node: Any) -> int:
    """Return the address of an array whose address was read. The places of all others are read as stand-ins."""
    with reading_places(0):
        return int(node.dptr)


class Table:
    """Rows of a table, each once."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def add(self, key: Any, row: Any) -> int:
        """Return the number of a row, which equal keys share."""
        number = self._numbers.setdefault(key, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number


class NodeRows:
    """Makes the rows of the table `graphs`.

    Nodes are read in an order in which they may run, and those of inner graphs after the node that contains them: an
    address that a free node frees may belong to another alloc node afterwards.

    Args:
        tables: The other tables.
        readings: The graphs, outer ones first.
    """

    def __init__(self, tables: Tables, readings: Sequence[Reading]) -> None:
        self.tables = tables
        self.sources, self.configs = Table(), Table()
        self.events: list[dict[str, Any]] = []
        self.callbacks: dict[str, Any] = {}
        self._event_numbers: dict[int, int] = {}
        self._graphs: dict[int, dict[str, Any]] = {}  # rows, by number
        self._numbers = {id(reading): number for number, reading in enumerate(readings)}
        allocs = (node for reading in readings for node in reading.nodes if isinstance(node, kinds.AllocNode))
        self._alloc_numbers = {node: number for number, node in enumerate(allocs)}
        self._allocated: dict[int, int] = {}  # numbers of alloc nodes, by address
        self._conditions: dict[int, list[Any]] = {}  # references, by handle
        for number, reading in enumerate(readings):
            for at, handle in enumerate(reading.graph._condition_defaults()):
                self._conditions[handle] = ["c", number, at]
        for node in (each for reading in readings for each in reading.nodes):
            if isinstance(node, kinds.WhileNode) and (counter := counter_of(node)) is not None:
                tables.memory.add_counter(counter, memory_of_counter(counter))
        self._add(readings[0])

    @property
    def graphs(self) -> list[dict[str, Any]]:
        """The rows."""
        return [row for _, row in sorted(self._graphs.items())]

    def _add(self, reading: Reading) -> int:
        """Make the row of a graph, and return its number."""
        number = self._numbers[id(reading)]
        self._graphs[number] = self.graph(reading)
        return number

    def graph(self, reading: Reading) -> dict[str, Any]:
        """Return the row of a graph."""
        test = reading.graph._loop_test()
        return {
            "conditions": [
                [default, self.source(source)]
                for default, (_, _, source) in zip(
                    reading.graph._condition_defaults().values(), reading.graph._conditions(), strict=True
                )
            ],
            "nodes": [
                self.node(node, inner) for node, inner in zip(reading.nodes, reading.inner, strict=True)
            ],
            "edges": [
                [source, target, *data] if any(data) else [source, target]
                for source, target, data in reading.edges
            ],
            "test": None if test is None else reading.nodes.index(test),
        }

    def node(self, node: Any, inner: Sequence[Reading]) -> dict[str, Any]:
        """Return the row of a node."""
        kind, write = WRITERS.get(type(node), ("other", None))
        if write is None:
            self.problem(node, "is of a kind that this version cannot save")
            return {}
        row = {"kind": kind, **write(self, node)}
        name = node._given_name()
        if name is not None:
            row["name"] = name
        source = self.source(node.source)
        if source is not None:
            row["source"] = source
        if inner:
            row["graphs"] = [self._add(reading) for reading in inner]
        return row

    def problem(self, node: Any, text: str) -> None:
        self.tables.problem(f"{node._identify()} {text}")

    def find(self, node: Any, address: int) -> list[Any] | None:
        """Return the reference to the memory at an address, or None."""
        found = self.tables.memory.find(address)
        name = None if found is None else self.name_of(found)
        if found is not None and found[2] and name is not None:
            self.problem(
                node,
                f"uses a part of {name!r}, from byte {found[2]} on, and a parameter stands for a whole array: copy it "
                "to other memory in the graph, or name it in include alone",
            )
        return found

    def name_of(self, reference: list[Any]) -> str | None:
        """Return the name of the input or output that a reference names, or None."""
        number = self.tables.memory.rows[reference[1]].get("parameter") if reference[0] == "m" else None
        return None if number is None else self.tables.parameters[number]["name"]

    def source(self, text: str | None) -> int | None:
        """Return the number of a line, "/path/file.py:12"."""
        if text is None:
            return None
        file, _, line = text.rpartition(":")
        return self.sources.add(text, [file, int(line)])

    # ---- kernels

    def kernel(self, node: Any) -> dict[str, Any]:
        found = self.tables.codes.add(node.kernel)
        raw = node._raw_arguments()
        if found is None:
            self.problem(
                node, "launches a kernel of another library, whose code is unknown: load it with ObjectCode"
            )
            return {}
        if found.problem:
            self.problem(node, f"launches a kernel that {found.problem}")
        if raw is None:
            self.problem(node, "has arguments that other code packed")
            return {}
        if node._has_size_rule() and found.size is None:
            self.problem(
                node,
                "has a config that depends on parameters, by a function of Python or a rule of the file that it was "
                "loaded from: give a LaunchConfig, or copy the file",
            )
        arguments = [self.argument(node, found, number, *each) for number, each in enumerate(raw)]
        return {
            "kernel": found.number,
            "config": self.config(node.config),
            "sized": found.size is not None and is_default_size(node, found, raw),
            "arguments": arguments,
            **self.accesses(node),
        }

    def config(self, config: Any) -> int:
        row = [
            *config.grid,
            *config.block,
            *(config.cluster or ()),
            config.shmem_size,
            int(config.is_cooperative),
        ]
        return self.configs.add(tuple(row), row)

    def argument(
        self, node: Any, kernel: SavedKernel, number: int, form: int, data: bytes, parameter: Any, word: int
    ) -> Any:
        """Return an argument: a number, the bytes as hexadecimal digits, or a reference."""
        if parameter is not None:
            return self.use(parameter, word)
        slot = None if kernel.slots is None else kernel.slots[number]
        value = int.from_bytes(data, "little")
        if slot is not None and slot.kind == "pointer":
            return self.pointer(node, kernel, slot, number, value, data)
        if slot is not None and slot.kind == "condition":
            return self.condition(value) or data.hex()
        if slot is not None:
            if len(data) == 8 and self.is_address(value):
                self.problem(
                    node,
                    f"passes the address {address_words(value)} as a plain integer ({slot.path}): pass the array",
                )
            return data.hex()
        name = FORMS[form]
        if len(data) == 8 and value:
            return self.word(node, number, name, value)
        if name == "float" and len(data) > 2:
            return float_of(data)
        if name in INTEGERS and len(data) < 8:
            return int.from_bytes(data, "little", signed=name == "int")
        self.check_structure(node, number, data)
        return data.hex()

    def use(self, parameter: Any, word: int) -> Any:
        """Return the reference to a named parameter, to an extent of one, or to the word that ends a loop."""
        if parameter.name.startswith(STOP):
            handle = parameter.name.removeprefix(STOP)
            return ["s", None if handle == "inside" else self.condition(int(handle, 16))]
        number = self.tables.parameter(parameter)
        return ["e", number, word - 1] if word else ["p", number]

    def condition(self, handle: int) -> Any:
        return self._conditions.get(handle)

    def pointer(self, node: Any, kernel: SavedKernel, slot: Any, number: int, value: int, data: bytes) -> Any:
        """Return the argument of a kernel of Python that is an address."""
        if slot.path == REPORT:
            self.tables.warnings.append(
                f"{node._identify()} was compiled with debug=True: in a loaded graph its checks are made, but nothing "
                "raises their errors"
            )
        if slot.path in kernel.temps:
            return self.tables.memory.add_words(value, kernel.temps[slot.path])
        found = self.find(node, value)
        if found is None and slot.path.startswith(STACK):
            self.problem(
                node,
                "is a gradient that keeps values of a loop, in memory whose size depends on the driver: save the graph "
                "without it",
            )
        elif found is None and value:
            self.problem(
                node, f"uses the array {slot.path!r} ({address_words(value)}), which is not saved: {REMEDY}"
            )
        return found or data.hex()

    def word(self, node: Any, number: int, form: str, value: int) -> Any:
        """Return an argument of 8 bytes: a condition, an address, or a number."""
        data = value.to_bytes(8, "little")
        if form == "float":
            return float_of(data)
        if value in self._conditions and form != "pointer":
            return self._conditions[value]
        found = self.find(node, value)
        is_address = form == "pointer" or self.is_address(value)
        if form in ("int", "uint", "integer") and is_address:
            self.problem(
                node,
                f"passes the address {address_words(value)} as a plain integer (argument {number}): declare a pointer",
            )
        elif is_address and found is None:
            memory = address_words(value)
            self.problem(node, f"uses memory at {memory} (argument {number}), which is not saved: {REMEDY}")
        if found is not None:
            return found
        return int.from_bytes(data, "little", signed=form == "int") if form in INTEGERS else data.hex()

    def check_structure(self, node: Any, number: int, data: bytes) -> None:
        """Refuse addresses and conditions in a structure."""
        for at in range(0, len(data) - 7, 8):
            value = int.from_bytes(data[at : at + 8], "little")
            if value in self._conditions or self.is_address(value):
                self.problem(
                    node,
                    f"passes the address or condition {address_words(value)} in a structure (argument {number}): pass "
                    "it alone",
                )

    def is_address(self, value: int) -> bool:
        return self.tables.memory.is_address(value)

    def accesses(self, node: Any) -> dict[str, Any]:
        """Return the declared accesses of a kernel or callback, if all of them are in memory that is saved."""
        declared = node._declared()
        if declared[0] is None:
            return {}
        spans = [[self.span(span) for span in found] for found in declared]
        if any(None in found for found in spans):
            return {}
        return {"reads": spans[0], "writes": spans[1]}

    def span(self, span: Span) -> Any:
        if isinstance(span.start, str):
            number = self.tables._by_name.get(span.start)
            place = None if number is None else ["p", number]
        else:
            place = self.tables.memory.find(span.start)
            if place is not None and place[2] and self.name_of(place) is not None:
                place = None
        return None if place is None else [place, span.run, [list(axis) for axis in span.axes]]

    # ---- memory

    def place(self, node: Any, name: str, used: Mapping[str, Any], address: int) -> Any:
        """Return the operand of a copy or fill."""
        if name in used:
            return self.use(used[name], 0)
        found = self.find(node, address)
        if found is None:
            self.problem(
                node, f"uses memory at {address_words(address)} as its {name}, which is not saved: {REMEDY}"
            )
        return found

    def memcpy(self, node: Any) -> dict[str, Any]:
        used = operand_parameters(node)
        places = {
            "dst": self.place(node, "dst", used, node._destination),
            "src": self.place(node, "src", used, node._source),
        }
        for place in places.values():
            if node.height * node.depth > 1 and place is not None and place[0] == "m" and self.name_of(place):
                self.problem(
                    node,
                    f"copies rows of {self.name_of(place)!r}, and copies of parameters are contiguous: copy all of it",
                )
        return {
            **places,
            "shape": [node.width, node.height, node.depth],
            "pitches": [node.dst_pitch, node.src_pitch, node.dst_height, node.src_height],
            **self.size(used),
        }

    def memset(self, node: Any) -> dict[str, Any]:
        used = operand_parameters(node)
        value = self.use(used["value"], 0) if "value" in used else node.value
        return {
            "dst": self.place(node, "dst", used, node._address),
            "value": value,
            "element": node.element_size,
            "type": type_of_value(node),
            "shape": [node.width, node.height, node.pitch],
            **self.size(used),
        }

    def size(self, used: Mapping[str, Any]) -> dict[str, Any]:
        """Return what determines the size of a copy or fill: a parameter, or "bytes" for its array."""
        if "extent" in used:
            return {"size": self.use(used["extent"], 0)}
        return {"size": "bytes"} if "bytes" in used else {}

    def alloc(self, node: Any) -> dict[str, Any]:
        number = self._allocated[node._address] = self._alloc_numbers[node]
        self.tables.memory.add_alloc(node._address, node.bytesize, number)
        if node._place() == "own":
            self.tables.memory.add_alloc(own_address(node), node.bytesize, number)
        return {
            "bytes": node.bytesize,
            "memory": node.memory_type,
            "device": node.device_id,
            "peers": list(node.peer_access),
            "array": None
            if node.shape is None
            else [[name_of_dtype(node.dtype), len(node.shape), list(node.element_shape)], list(node.shape)],
        }

    def free(self, node: Any) -> dict[str, Any]:
        number = self._allocated.get(node._address)
        if number is None:
            self.problem(node, f"frees memory at {address_words(node._address)} of another graph")
        return {"alloc": number}

    # ---- others

    def empty(self, node: Any) -> dict[str, Any]:
        return {}

    def event(self, node: Any) -> dict[str, Any]:
        handle = node.event.handle
        if handle not in self._event_numbers:
            self._event_numbers[handle] = len(self.events)
            self.events.append(
                {"timing": node.event.is_timing_enabled, "blocking": node.event.is_blocking_sync}
            )
        return {"event": self._event_numbers[handle]}

    def callback(self, node: Any) -> dict[str, Any]:
        given, function = node._given_name(), node.callback_fn
        name = given or getattr(function, "__name__", None)
        if name is None or name == "<lambda>":
            self.problem(node, "has no name, by which the loader finds its function: add it with name=...")
            return {}
        what = node._function if function is None else function
        if self.callbacks.setdefault(name, what) != what:
            self.problem(node, f"has the name {name!r} of another callback: give them different names")
        return {"callback": list(self.callbacks).index(name), **self.accesses(node)}

    def conditional(self, node: Any) -> dict[str, Any]:
        counter = counter_of(node) if isinstance(node, kinds.WhileNode) else None
        memory = None if counter is None else self.tables.memory.find(memory_of_counter(counter).handle)
        return {
            "condition": self.condition(node.condition.handle),
            "counter": None if memory is None else memory[1],
        }


REMEDY = "name its array in inputs, outputs or include"


def is_default_size(node: Any, kernel: SavedKernel, raw: Sequence[Any]) -> bool:
    """Return whether a launch of a kernel of Python has the size that the kernel chose itself."""
    assert kernel.size is not None
    if node._has_size_rule():
        return True
    values = {}
    for number in kernel.size.arguments:
        _, data, parameter, _ = raw[number]
        if parameter is not None:
            return True
        values[number] = int.from_bytes(data, "little", signed=True)
    config = node.config
    chosen = kernel.size.config(node.kernel, values)
    return bool((chosen.grid, chosen.block) == (config.grid, config.block))


def float_of(data: bytes) -> Any:
    """Return a float as a number of JSON; its digits for infinity and what is no number."""
    value = struct.unpack("<f" if len(data) == 4 else "<d", data)[0]
    return value if value - value == 0 else data.hex()


def name_of_dtype(dtype: Any) -> str:
    """Return the name of the type of elements of an alloc node."""
    name = getattr(dtype, "__cuda_graph_type__", None)
    if name is None:
        name = "bool" if dtype.kind == "b" else f"{dtype.kind}{8 * dtype.itemsize}"
    return str(name)


def type_of_value(node: Any) -> str:
    """Return the NumPy type of the value of a fill, which pictures show; "u1" to "u4" for bits."""
    number, size = node._number(), node.element_size
    if (
        isinstance(number, float)
        and struct.pack("<f" if size == 4 else "<e", number) == node.value.to_bytes(4, "little")[:size]
    ):
        return f"f{size}"
    return f"i{size}" if isinstance(number, int) and number < 0 else f"u{size}"


Write = Callable[[NodeRows, Any], dict[str, Any]]

# Class of a node -> (its kind in the file, the method that writes the details).
WRITERS: Mapping[type, tuple[str, Write]] = {
    kinds.EmptyNode: ("empty", NodeRows.empty),
    kinds.KernelNode: ("kernel", NodeRows.kernel),
    kinds.AllocNode: ("alloc", NodeRows.alloc),
    kinds.FreeNode: ("free", NodeRows.free),
    kinds.MemsetNode: ("memset", NodeRows.memset),
    kinds.MemcpyNode: ("memcpy", NodeRows.memcpy),
    kinds.ChildGraphNode: ("child", NodeRows.empty),
    kinds.HostCallbackNode: ("callback", NodeRows.callback),
    kinds.EventRecordNode: ("record", NodeRows.event),
    kinds.EventWaitNode: ("wait", NodeRows.event),
    kinds.IfNode: ("if", NodeRows.conditional),
    kinds.IfElseNode: ("if_else", NodeRows.conditional),
    kinds.WhileNode: ("while", NodeRows.conditional),
    kinds.SwitchNode: ("switch", NodeRows.conditional),
}
