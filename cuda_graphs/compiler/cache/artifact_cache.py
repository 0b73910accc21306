# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Artifacts on disk, so that each machine compiles a kernel once.

A warm start translates and compiles nothing. For a GPU it does not even import llvmlite.

The name of an entry is the fingerprint of everything that its code depends on (fingerprint.py). Its content is JSON and
bytes: reading it executes nothing. native/disk_cache.py decides where entries are and which are trusted.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda_graphs.compiler.artifact import Artifact, GradientInfo, Result, Slot, StackInfo, TaskInfo
from cuda_graphs.compiler.frontend import definitions, free_values
from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.compiler.language.annotations import Spec
from cuda_graphs.compiler.language.free_names import path_value
from cuda_graphs.compiler.language.number_rules import USUAL, NumberRules
from cuda_graphs.native import disk_cache, llvm, trace

from . import syntax
from .fingerprint import Fingerprint, NoFingerprint, compiler_hash
from .paused_collection import paused_collection

if TYPE_CHECKING:
    from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
    from cuda_graphs.compiler.codegen.x86.x86_target import X86

__all__ = ["CompileCache", "cached_compile", "compile_cache"]

KIND = "kernel"
MALFORMED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
)  # errors from reading content that this version did not write


class Entry(NamedTuple):
    """One file. `used`: seconds since 1970.

    `kind`: "kernel", "unit" for the code of one task, "image" for PTX that was translated to the CPU, or "syntax" for
    the names in the functions of a source file.
    """

    name: str
    kind: str
    bytes: int
    used: float


class CompileCache:
    """The compiled kernels of this user on disk. `hits`, `misses` and `stored` count the uses by this process."""

    def __init__(self) -> None:
        self.hits = self.misses = self.stored = 0

    @property
    def directory(self) -> str:
        """The cache folder: CUDA_GRAPHS_CACHE_DIR, else in the user's cache folder. "" for a user without a home."""
        return str(disk_cache.directory() or "")

    @property
    def is_enabled(self) -> bool:
        """True unless CUDA_GRAPHS_CACHE turns the cache off."""
        return disk_cache.is_enabled()

    @property
    def bytes(self) -> int:
        """The size of all entries in bytes."""
        return sum(each.bytes for each in self.entries())

    @property
    def limit(self) -> int:
        """The size in bytes above which the least recently used entries are removed."""
        return disk_cache.limit_bytes()

    def entries(self) -> list[Entry]:
        """Return the entries, last used first."""
        found = sorted(disk_cache.entries(), reverse=True)
        return [Entry(path.stem, path.suffix[1:], size, used) for used, size, path in found]

    def clear(self) -> int:
        """Remove all entries and return their number. Loaded kernels stay loaded."""
        return disk_cache.remove()

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
    fuse: str | None = None,
    mode: str | None = None,
    checkpoints: bool = False,
    rules: NumberRules = USUAL,
    exchanges: tuple[str, ...] = (),
    early: tuple[str, ...] | None = None,
) -> Artifact:
    """Return the artifact of `compile_kernel`, from disk if a process of this user has compiled it before.

    A kernel that depends on an object without a lasting identity is compiled each time. CUDA_GRAPHS_DEBUG=2 or above
    compiles every kernel, so that all steps are visible.
    """
    options = debug, graph, chain, fuse, mode, checkpoints, rules, exchanges, early
    key = fingerprint(function, signature, target, *options) if disk_cache.is_enabled() else None
    found = None
    if key is not None and trace.level() < trace.PASSES:
        with trace.timed("cache"):
            found = load(*key)
    if found is not None and (
        not (mode or "").startswith(("reverse", "second")) or found.gradient is not None
    ):
        compile_cache.hits += 1
        return found
    compile_cache.misses += 1
    llvm.preload()
    with paused_collection():
        from cuda_graphs.compiler.pipeline import (
            compile_kernel,  # imports the frontend and all passes, which a hit does not need
        )

        artifact = compile_kernel(
            function,
            signature,
            target,
            debug=debug,
            graph=graph,
            chain=chain,
            fuse=fuse,
            mode=mode,
            checkpoints=checkpoints,
            rules=rules,
            exchanges=exchanges,
            early=early,
        )
    # A free name that another thread changed meanwhile may be in the code with its old or its new value.
    if key is not None and key != fingerprint(function, signature, target, *options):
        key = None
    definitions.forget()
    data = None if key is None else encoded(artifact, key[1])
    if key is not None and data is not None and disk_cache.write(KIND, key[0], data):
        compile_cache.stored += 1
    return artifact


Functions = dict[str, list[Callable[..., Any]]]


def fingerprint(
    function: Callable[..., Any], signature: Mapping[str, Spec], target: X86 | Ptx, *options: Any
) -> tuple[str, Functions] | None:
    """Return (name of the entry, the functions of the kernel by qualified name), or None without a fingerprint."""
    found = Fingerprint()
    found.text(compiler_hash())
    try:
        found.add(target.depends_on(), *options, dict(signature))
        found.source(function)
        found.file(getattr(target, "libdevice", None))
        syntax.keep()
    except NoFingerprint as error:
        trace.show(trace.TIMING, f"{function.__qualname__} is not kept on disk: it depends on {error}")
        return None
    return found.digest(), found.functions


def load(name: str, functions: Functions) -> Artifact | None:
    """Return the entry of that name, or None. Report an entry with a valid checksum and malformed content."""
    data = disk_cache.read(KIND, name)
    try:
        return None if data is None else decoded(data, functions)
    except MALFORMED:
        disk_cache.refuse(KIND, name)
        return None


def encoded(artifact: Artifact, functions: Functions) -> bytes | None:
    """Return an artifact as bytes, or None if it depends on names of a function that the fingerprint does not know.

    The code is stored once, as the end of the image. Values of free names are stored as their names.
    """
    try:
        recorded = [(*_number(functions, each), list(names)) for each, names in artifact.free_values.items()]
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
        "disjoint": artifact.disjoint,
        "apart": artifact.apart,
        "equal": artifact.equal,
        "large_loops": artifact.large_loops,
        "fusion": artifact.fusion,
        "again": artifact.again,
        "early": artifact.early,
        "why": artifact.why,
        "checkpoints": artifact.checkpoints,
        "parts": artifact.parts,
        "stack_bytes": artifact.stack_bytes,
        "exchanged": artifact.exchanged,
        "asserts": [_plain_assert(each) for each in artifact.asserts],
        "temps": artifact.temps,
        "results": [(each.temp, each.type.name) for each in artifact.results],
        "free_values": recorded,
        "gradient": None if artifact.gradient is None else dataclasses.asdict(artifact.gradient),
    }
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + artifact.image + artifact.llvm.encode()


def _plain_assert(found: Any) -> tuple[Any, ...]:
    """Return an AssertInfo without the calls around its position: those of called functions have none."""
    message = [part if isinstance(part, str) else (part[0].name, part[1]) for part in found.message]
    loc = found.loc
    return (
        found.kind,
        message,
        loc and (loc.file, loc.line, loc.column, loc.end_column, loc.function),
    )


def _asserts(found: list[Any]) -> tuple[Any, ...]:
    if not found:
        return ()
    from cuda_graphs.compiler.ir.ir import Loc  # few kernels need these modules
    from cuda_graphs.compiler.passes.report import AssertInfo

    return tuple(
        AssertInfo(
            kind,
            tuple(part if isinstance(part, str) else (SCALARS[part[0]], part[1]) for part in message),
            None if loc is None else Loc(*loc),
        )
        for kind, message, loc in found
    )


def _plain(task: TaskInfo) -> dict[str, Any]:
    found = {each.name: getattr(task, each.name) for each in dataclasses.fields(task)}
    slots = [dataclasses.astuple(slot) for slot in task.slots]
    resident_tasks = [_plain(each) for each in task.resident_tasks]
    sets = {"reads": sorted(task.reads), "writes": sorted(task.writes)}
    return {**found, "slots": slots, "resident_tasks": resident_tasks, **sets}


def decoded(data: bytes, functions: Functions) -> Artifact | None:
    """Return the artifact from the bytes of `encoded`, or None if a free name no longer exists."""
    start = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:start])
    end = start + head["image"]
    image = data[start:end]
    listed = [(name, number, paths) for name, number, paths in head["free_values"]]
    try:
        recorded = {
            functions[name][number]: _values(functions[name][number], paths) for name, number, paths in listed
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
        recorded,
        data[end:].decode(),
        asserts=_asserts(head["asserts"]),
        stack_bytes=head["stack_bytes"],
        exchanged=_tuples(head["exchanged"]),
        lowering=head["lowering"],
        disjoint=_tuples(head["disjoint"]),
        apart=_tuples(head["apart"]),
        equal=_tuples(head["equal"]),
        large_loops=_tuples(head["large_loops"]),
        fusion=_tuples(head["fusion"]),
        again=_tuples(head["again"]),
        early=head["early"],
        why=head["why"],
        gradient=_gradient(head.get("gradient")),
        checkpoints=_tuples(head["checkpoints"]),
        parts=_tuples(head["parts"]),
    )


def _gradient(found: dict[str, Any] | None) -> GradientInfo | None:
    """Return the description of a gradient.

    Returns None for an entry without it, or without the capacities of stacks. `cached_compile` checks for None.
    """
    if found is None or any("capacity" not in stack for stack in found.get("stacks", ({},))):
        return None
    stacks = tuple(
        StackInfo(**{name: _tuples(value) for name, value in each.items()}) for each in found["stacks"]
    )
    names = ("arrays", "written", "repeats", "gathered")
    return GradientInfo(stacks, *(_tuples(found[name]) for name in names))


def _task(found: dict[str, Any]) -> TaskInfo:
    sets = {name: frozenset(found[name]) for name in ("reads", "writes")}
    slots = tuple(Slot(*slot) for slot in found["slots"])
    parts = {"slots": slots, "resident_tasks": tuple(_task(each) for each in found["resident_tasks"])}
    return TaskInfo(**{name: _tuples(value) for name, value in found.items()} | sets | parts)


def _tuples(value: Any) -> Any:
    """Return a value of JSON with tuples in place of lists."""
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


def _number(functions: Functions, function: Callable[..., Any]) -> tuple[str, int]:
    """Return (qualified name, number among the functions of that name), which equal fingerprints share."""
    name = function.__qualname__
    for number, each in enumerate(functions.get(name, ())):
        if each is function:
            return name, number
    raise LookupError(f"the function {name}, which ran for cg.static")


def _values(function: Callable[..., Any], paths: list[str]) -> dict[str, Any]:
    """Return the values of free names of a function. Equal fingerprints imply equal values."""
    names: dict[str, Any] = {}
    for path in paths:
        free_values.record(names, path, path_value(function, path))
    return names
