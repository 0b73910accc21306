# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Artifacts on disk, so that a kernel is compiled once a machine: a warm start translates and compiles nothing, and for
a GPU does not even import llvmlite.

The name of an entry is the fingerprint of all that its code depends on (fingerprint.py), its content JSON and bytes:
nothing in it is executed to read it. disk.py says where entries are, and which are trusted.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import disk, machine, trace
from .annotations import Spec
from .artifact import Artifact, GradientInfo, Result, Slot, StackInfo, TaskInfo
from .fingerprint import Fingerprint, NoFingerprint, compiler_hash
from .frontend.captured import note
from .outside import path_value
from .types import SCALARS

if TYPE_CHECKING:
    from .target_ptx import Ptx
    from .target_x86 import X86

__all__ = ["CompileCache", "cached_compile", "compile_cache"]

KIND = "kernel"
MALFORMED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
)  # of reading content that was not written here


class Entry(NamedTuple):
    """One file. `kind`: "kernel", or "image" of PTX that was translated for the CPU. `used`: seconds since 1970."""

    name: str
    kind: str
    bytes: int
    used: float


class CompileCache:
    """The compiled kernels of this user, on disk. `hits`, `misses` and `stored` count what this process did."""

    def __init__(self) -> None:
        self.hits = self.misses = self.stored = 0

    @property
    def directory(self) -> str:
        """Where it is: CUDA_GRAPHS_CACHE_DIR, else in the user's folder for caches. "" for a user without a home."""
        return str(disk.directory() or "")

    @property
    def is_enabled(self) -> bool:
        """Whether CUDA_GRAPHS_CACHE leaves it on."""
        return disk.is_enabled()

    @property
    def bytes(self) -> int:
        """The size of all entries in bytes."""
        return sum(each.bytes for each in self.entries())

    @property
    def limit(self) -> int:
        """How many bytes they may take before the least recently used ones go."""
        return disk.limit_bytes()

    def entries(self) -> list[Entry]:
        """The entries, last used first."""
        found = sorted(disk.entries(), reverse=True)
        return [Entry(path.stem, path.suffix[1:], size, used) for used, size, path in found]

    def clear(self) -> int:
        """Remove all entries. How many there were. What is loaded stays loaded."""
        return disk.remove()

    def __repr__(self) -> str:
        found = self.entries()
        state = "" if self.is_enabled else ", off"
        place = self.directory or "without a folder"
        return (
            f"<compile_cache {place}: {len(found)} entries, {sum(e.bytes for e in found) / 2**20:.1f} MiB"
            f" of {self.limit / 2**20:.0f}{state}; hits={self.hits} misses={self.misses} stored={self.stored}>"
        )


compile_cache = CompileCache()


def cached_compile(
    function: Callable[..., Any],
    signature: Mapping[str, Spec],
    target: X86 | Ptx,
    *,
    debug: bool = False,
    graph: str | None = None,
    chain: str | None = None,
    mode: str | None = None,
    checkpoints: bool = False,
) -> Artifact:
    """`compile_kernel`, but what was compiled before, by any process of this user, comes from disk.

    A kernel that depends on something without lasting identity is compiled each time. With CUDA_GRAPHS_DEBUG from 2 on
    everything is, as the steps are to be seen.
    """
    options = debug, graph, chain, mode, checkpoints
    key = fingerprint(function, signature, target, *options) if disk.is_enabled() else None
    found = None
    if key is not None and trace.level() < trace.PASSES:
        with trace.timed("cache"):
            found = load(*key)
    if found is not None and (mode != "reverse" or found.gradient is not None):
        compile_cache.hits += 1
        return found
    machine.map_llvm()
    from .pipeline import compile_kernel  # with the frontend and all passes, which a hit needs not

    compile_cache.misses += 1
    artifact = compile_kernel(
        function, signature, target, debug=debug, graph=graph, chain=chain, mode=mode, checkpoints=checkpoints
    )
    # A name from outside that changed meanwhile may be in the code with its old or its new value.
    if key is not None and key != fingerprint(function, signature, target, *options):
        key = None
    data = None if key is None else encoded(artifact, key[1])
    if key is not None and data is not None and disk.write(KIND, key[0], data):
        compile_cache.stored += 1
    return artifact


Functions = dict[str, list[Callable[..., Any]]]


def fingerprint(
    function: Callable[..., Any], signature: Mapping[str, Spec], target: X86 | Ptx, *options: Any
) -> tuple[str, Functions] | None:
    """(name of the entry, the functions that it is made of by qualified name); None of what has no fingerprint."""
    found = Fingerprint()
    found.text(compiler_hash())
    try:
        found.add(target.depends_on(), *options, dict(signature))
        found.source(function)
        found.file(getattr(target, "libdevice", None))
    except NoFingerprint as error:
        trace.show(trace.TIMING, f"{function.__qualname__} is not kept on disk: it depends on {error}")
        return None
    return found.digest(), found.functions


def load(name: str, functions: Functions) -> Artifact | None:
    """The entry of that name, or None. An entry with a valid checksum and other content is reported."""
    data = disk.read(KIND, name)
    try:
        return None if data is None else decoded(data, functions)
    except MALFORMED:
        disk.refuse(KIND, name)
        return None


def encoded(artifact: Artifact, functions: Functions) -> bytes | None:
    """An artifact as bytes. The code is the end of the image, or all of it; of what was captured, the names.

    None where it captured names of a function that the fingerprint does not know.
    """
    try:
        captured = [(*_number(functions, each), list(names)) for each, names in artifact.captured.items()]
    except LookupError as error:
        trace.show(trace.TIMING, f"not kept on disk: it depends on {error}")
        return None
    head = {
        "target": artifact.target,
        "image": len(artifact.image),
        "code": len(artifact.code),
        "tasks": [_plain(task) for task in artifact.tasks],
        "plan": artifact.plan,
        "lowering": artifact.lowering,
        "apart": artifact.apart,
        "early": artifact.early,
        "why": artifact.why,
        "checkpoints": artifact.checkpoints,
        "temps": artifact.temps,
        "results": [(each.temp, each.type.name) for each in artifact.results],
        "captured": captured,
        "gradient": None if artifact.gradient is None else dataclasses.asdict(artifact.gradient),
    }
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + artifact.image + artifact.llvm.encode()


def _plain(task: TaskInfo) -> dict[str, Any]:
    found = {each.name: getattr(task, each.name) for each in dataclasses.fields(task)}
    slots = [dataclasses.astuple(slot) for slot in task.slots]
    inside = [_plain(each) for each in task.inside]
    sets = {"reads": sorted(task.reads), "writes": sorted(task.writes)}
    return {**found, "slots": slots, "inside": inside, **sets}


def decoded(data: bytes, functions: Functions) -> Artifact | None:
    """What `encoded` made bytes of; None where a name that was captured means nothing any more."""
    start = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:start])
    end = start + head["image"]
    image = data[start:end]
    listed = [(name, number, paths) for name, number, paths in head["captured"]]
    try:
        captured = {
            functions[name][number]: _captured(functions[name][number], paths)
            for name, number, paths in listed
        }
    except (LookupError, AttributeError):
        return None
    return Artifact(
        head["target"],
        image[len(image) - head["code"] :],
        image,
        tuple(_task(task) for task in head["tasks"]),
        _tuples(head["plan"]),
        tuple((path, size) for path, size in head["temps"]),
        tuple(Result(temp, SCALARS[type]) for temp, type in head["results"]),
        captured,
        data[end:].decode(),
        lowering=head["lowering"],
        apart=_tuples(head["apart"]),
        early=head["early"],
        why=head["why"],
        gradient=_gradient(head.get("gradient")),
        checkpoints=_tuples(head["checkpoints"]),
    )


def _gradient(found: dict[str, Any] | None) -> GradientInfo | None:
    """What is known of a gradient. An entry that lacks it, or the expressions of how large stacks become, is not taken
    for one: `cached_compile` asks."""
    if found is None or any("room" not in stack for stack in found.get("stacks", ({},))):
        return None
    stacks = tuple(
        StackInfo(**{name: _tuples(value) for name, value in each.items()}) for each in found["stacks"]
    )
    return GradientInfo(stacks, *(_tuples(found[name]) for name in ("arrays", "written", "repeats")))


def _task(found: dict[str, Any]) -> TaskInfo:
    sets = {name: frozenset(found[name]) for name in ("reads", "writes")}
    slots = tuple(Slot(*slot) for slot in found["slots"])
    parts = {"slots": slots, "inside": tuple(_task(each) for each in found["inside"])}
    return TaskInfo(**{name: _tuples(value) for name, value in found.items()} | sets | parts)


def _tuples(value: Any) -> Any:
    """JSON has lists where there were tuples."""
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


def _number(functions: Functions, function: Callable[..., Any]) -> tuple[str, int]:
    """(qualified name, number among the functions of that name), the same wherever the fingerprint is."""
    name = function.__qualname__
    for number, each in enumerate(functions.get(name, ())):
        if each is function:
            return name, number
    raise LookupError(f"the function {name}, which cg.static came to")


def _captured(function: Callable[..., Any], paths: list[str]) -> dict[str, Any]:
    """What the names of a function mean now is what they meant: the fingerprint has it."""
    names: dict[str, Any] = {}
    for path in paths:
        note(names, path, path_value(function, path))
    return names
