# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/names.md from the docstrings: `python -m docs.names_page`. A test compares the two.

The page has one line for each public name, and for each member that its class does not inherit from another public
class. The line is the first sentence of the docstring.
"""

import dataclasses
import enum
import inspect
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import cuda_graphs as cg

HEAD = """\
# Names

*Written by `docs/names_page.py` from the docstrings; change the docstrings, not this page.*

This page lists every public name of `cuda_graphs` with one sentence. The docstrings describe arguments, results and
errors: `help(cg.GraphDef.launch)`.
"""

GROUPS = {
    "Definitions and nodes": (
        "GraphDef",
        "GraphNode",
        "EmptyNode",
        "KernelNode",
        "MemcpyNode",
        "MemsetNode",
        "AllocNode",
        "FreeNode",
        "ChildGraphNode",
        "HostCallbackNode",
        "EventRecordNode",
        "EventWaitNode",
        "ConditionalNode",
        "IfNode",
        "IfElseNode",
        "WhileNode",
        "SwitchNode",
        "Condition",
        "EdgeData",
        "Parameter",
        "GraphNodeType",
        "GraphAllocOptions",
        "GraphDebugPrintOptions",
        "CheckReport",
        "Finding",
        "GraphDifference",
        "NodeChange",
        "Span",
    ),
    "Capture": ("GraphBuilder",),
    "Executables": (
        "Graph",
        "GraphCompleteOptions",
        "ExecutableGraphNode",
        "ExecutableKernelNode",
        "ExecutableMemcpyNode",
        "ExecutableMemsetNode",
        "ExecutableChildGraphNode",
        "ExecutableHostCallbackNode",
        "ExecutableEventRecordNode",
        "ExecutableEventWaitNode",
    ),
    "Devices, streams, events": (
        "Device",
        "DeviceProperties",
        "ComputeCapability",
        "Context",
        "Stream",
        "StreamOptions",
        "LEGACY_DEFAULT_STREAM",
        "PER_THREAD_DEFAULT_STREAM",
        "Event",
        "EventOptions",
    ),
    "Memory": (
        "Buffer",
        "MemoryResource",
        "DeviceMemoryResource",
        "DeviceMemoryResourceOptions",
        "PinnedMemoryResource",
        "ManagedMemoryResource",
        "SynchronousMemoryResource",
        "GraphMemoryResource",
        "GraphMemoryResourceAttributes",
    ),
    "Code": (
        "Program",
        "ProgramOptions",
        "get_include",
        "ObjectCode",
        "Kernel",
        "KernelAttributes",
        "KernelOccupancy",
        "LaunchConfig",
        "launch",
        "CompileCache",
        "compile_cache",
    ),
    "Drivers": ("use_driver", "driver_info", "DriverInfo"),
    "Types of named parameters": (
        *(
            "bool_",
            "i8",
            "i16",
            "i32",
            "i64",
            "u8",
            "u16",
            "u32",
            "u64",
            "f16",
            "bf16",
            "f32",
            "f64",
            "pointer",
        ),
    ),
}


# Those whose names are listed; what is in the others is in the language reference.
MODULES = ("ad", "interop")

SIGNATURE = re.compile(r"^[\w.]+\((.*)\)( -> .*)?$")


def split(thing: object) -> tuple[str | None, str]:
    """The signature that Cython puts on top of a docstring, and what follows."""
    text = inspect.getdoc(thing) or ""
    first, _, rest = text.partition("\n")
    found = SIGNATURE.match(first)
    return (found[1], rest) if found else (None, text)


def sentence(thing: object) -> str:
    """Return the first sentence of the docstring, in one line."""
    text = " ".join(split(thing)[1].strip().partition("\n\n")[0].split())
    return re.split(r"(?<=[.:;])\s+(?=[A-Z`(])", text, maxsplit=1)[0].rstrip(".:;")


def call(value: object) -> str:
    """Return the signature of a function or class, such as "(size, *, stream=None)"."""
    arguments, _ = split(value)
    if arguments is None:
        bare = [p.replace(annotation=p.empty) for p in inspect.signature(value).parameters.values()]
        arguments = str(inspect.Signature(bare))[1:-1]
    arguments = arguments.removeprefix("self, /, ")  # of a method of C
    words = [word for word in arguments.split(", ") if word not in ("self", "cls")]
    return f"({', '.join(words)})"


def members(name: str, cls: type) -> Iterator[tuple[str, str]]:
    """Yield the members of `cls` that no public base class has, each with its line."""
    if issubclass(cls, enum.Enum) or name == "DeviceProperties":
        return
    fields = set(cls._fields) if issubclass(cls, tuple) else set()
    if dataclasses.is_dataclass(cls):
        fields = {field.name for field in dataclasses.fields(cls)}
    public = {getattr(cg, each) for each in cg.__all__ if isinstance(getattr(cg, each), type)}
    own = itertools.takewhile(
        lambda base: base is cls or (base not in public and base.__module__ != "builtins"), cls.__mro__
    )
    for member in sorted({*fields, *(member for base in own for member in vars(base))}):
        if member.startswith("_"):
            continue
        if member in fields:
            yield member, f"  * `{member}`"
            continue
        value = getattr(cls, member)
        yield member, f"  * `{member}{call(value) if callable(value) else ''}`: {sentence(value)}"


def groups() -> dict[str, tuple[str, ...]]:
    """Return GROUPS, and a group "More" with all other names."""
    known = {name for names in GROUPS.values() for name in names} | set(errors())
    return GROUPS | {"More": tuple(sorted(set(cg.__all__) - known))}


def names_page() -> str:
    """Return the text of docs/names.md."""
    lines = [HEAD]
    for group, names in groups().items():
        lines += [f"## {group}", ""]
        for name in names:
            thing = getattr(cg, name)
            lines.append(f"* **`{name}`**: {about(thing)}")
            if isinstance(thing, type):
                lines += [line for _, line in members(name, thing)]
            if name in MODULES:
                lines += [f"  * `{each}`: {sentence(getattr(thing, each))}" for each in thing.__all__]
        lines.append("")
    where = "See [Errors](errors.md), and for those of the compiler [the language](language.md#errors): "
    lines += ["## Errors", "", where + ", ".join(f"`{n}`" for n in errors()) + ".", ""]
    return "\n".join(lines)


def about(thing: object) -> str:
    if isinstance(thing, type) or callable(thing):
        return sentence(thing) or inspect.getdoc(thing)
    return sentence(thing) if isinstance(thing, ModuleType) else f"a `{type(thing).__name__}`"


def errors() -> list[str]:
    return [
        n
        for n in sorted(cg.__all__)
        if isinstance(getattr(cg, n), type) and issubclass(getattr(cg, n), Exception)
    ]


if __name__ == "__main__":
    Path(__file__).with_name("names.md").write_text(names_page())
