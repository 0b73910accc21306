# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The translation of one function. Calls are inlined: each makes another frame on the same builder."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileError,
    CompileRecursionError,
    CompileTypeError,
    UnsupportedSyntaxError,
    fail,
)
from cuda_graphs.compiler.frontend.expressions.values import Computed
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import FieldSpec

from .captured import Captured, note, note_whole
from .scope import Scope
from .source import Source

MAX_DEPTH = 64  # calls inside calls


@dataclass
class Conditionals:
    """The conditionals of a graph kernel: their number, and how many surround the current statement.

    lowering  the lowering of the kernel, one of lowerings.LOWERINGS
    """

    lowering: str
    count: int = 0
    depth: int = 0
    region: Any = None  # the directly enclosing cg.graph_parallel (sections.py)
    in_section: bool = False
    checkpoints: Any = None  # Checkpoints (checkpoint_flags.py), for kernels with checkpoints


class Frame:
    """The state of the translation of one function. statements.py and expressions.py contain the visitors.

    parallel_level  a loop here is a task of its own: no run-time control flow surrounds it
    parallel        the current statement is in a parallel loop
    """

    def __init__(
        self, builder: Builder, source: Source, caller: Frame | None = None, parallel_level: bool = False
    ) -> None:
        self.builder, self.source, self.caller = builder, source, caller
        self.depth: int = 0 if caller is None else caller.depth + 1
        self.call_loc: ir.Loc | None = None if caller is None else builder.loc
        self.parallel_level = parallel_level
        self.parallel: bool = False if caller is None else caller.parallel
        # The enclosing loops in this frame: the block of a static loop, None for other loops.
        self.loops: list[ir.Block | None] = []
        self.arrays: list[ir.Array] = []  # of the kernel
        self.parallel_loops = 0  # of `loops`: 1 in a parallel loop of this frame
        self.returned_early = False
        self.scope = Scope()
        self.outer_scope: Scope | None = None  # this scope and its parents existed before the parallel loop
        self.parameters: set[str] = set()
        self.returned: tuple[ScalarType, ...] = ()
        self.result: Any = None
        self.captured: Captured = {}  # captured names of inlined functions
        self.sources: dict[Callable[..., Any], Source] = {}  # of a kernel: those of functions that it calls
        self.next_loop: tuple[ir.LoopSettings, ir.Loc | None] | None = None  # settings of cg.loop_config
        self.root_block = builder.block
        self.team: Any = None  # of a kernel: the current parallel loop (blocks.py)
        self.shared_arrays = 0  # of a kernel: their number
        self.return_types: tuple[ScalarType, ...] | None = None  # of a kernel: the annotated types
        self.conditionals: Conditionals | None = None  # of a graph kernel

    def run(self, statements: list[ast.stmt]) -> None:
        """Translate statements of this function, in order."""
        from cuda_graphs.compiler.frontend.statements.loops import unused_settings

        for i, statement in enumerate(statements):
            self.at(statement)
            last = i == len(statements) - 1
            self.visit_statement(statement, last)
            if self.returned_early:
                break
        unused_settings(self)

    def at(self, node: ast.AST) -> ir.Loc:
        """Make the position of a node the current one, and return it."""
        self.builder.loc = self.source.loc(node, self.call_loc)
        return self.builder.loc

    def visit_statement(self, node: ast.stmt, last: bool) -> None:
        from cuda_graphs.compiler.frontend.statements.checkpoints import check_bare
        from cuda_graphs.compiler.frontend.statements.statements import STATEMENTS

        visit = STATEMENTS.get(type(node))
        if visit is None:
            raise self.refuse(node)
        before = len(self.builder.block.body)
        visit(self, node, last)
        if len(self.builder.block.body) > before:
            check_bare(self, node)

    def visit(self, node: ast.expr) -> Any:
        """Translate an expression; return its meaning."""
        from cuda_graphs.compiler.frontend.expressions.lvalues import read

        found = self.visit_number(node)
        return read(self, found) if isinstance(found, Computed) else found

    def visit_number(self, node: ast.expr) -> Any:
        """Translate an expression. Arithmetic on numbers of the source is Computed, for callers that need it exact."""
        from cuda_graphs.compiler.frontend.expressions.expressions import EXPRESSIONS

        visit = EXPRESSIONS.get(type(node))
        if visit is None:
            raise self.refuse(node)
        outer = self.builder.loc
        self.at(node)
        result = visit(self, node)
        self.builder.loc = outer
        return result

    def refuse(self, node: ast.AST) -> CompileError:
        """Return the error for Python syntax that kernels do not support."""
        name = type(node).__name__
        return fail(
            UnsupportedSyntaxError, self.at(node), f"{NAMES.get(name, name)} is not supported in kernels",
            REMEDIES.get(name, "see the language reference for what kernels may contain"),
        )  # fmt: skip

    @contextmanager
    def block(self, block: ir.Block, parallel_level: bool = False) -> Iterator[None]:
        """Put statements into a block of the IR with a scope of its own."""
        before = self.scope, self.parallel_level
        self.scope, self.parallel_level = Scope(self.scope), parallel_level
        with self.builder.into(block):
            try:
                yield
            finally:
                self.scope, self.parallel_level = before

    def value(self, node: ast.expr, what: str = "this expression") -> ir.Value:
        """Translate an expression that must be a scalar."""
        found = self.visit(node)
        return self.scalar(found, what)

    def scalar(self, found: Any, what: str = "this expression") -> ir.Value:
        """Return a number or a place as a value."""
        from cuda_graphs.compiler.frontend.expressions.lvalues import read

        result = read(self, found)
        if not isinstance(result, ir.Value):
            raise fail(
                CompileTypeError,
                self.builder.loc,
                f"{what} must be a number, not {kind_of(found)}",
                "take one element of it, or a component: x[i], v.x",
            )
        return result

    def inline(self, function: Callable[..., Any], names: dict[str, Any]) -> Any:
        """Translate a call: the body of `function` with its parameters bound. Return its result."""
        from .arguments import result_of
        from .translate import body_of

        if self.depth + 1 >= MAX_DEPTH:
            raise fail(
                CompileRecursionError, self.builder.loc,
                f"{function.__name__} calls itself more than {MAX_DEPTH} levels deep",
                "a recursion must end at compile time: decide with `if cg.static(...)`",
            )  # fmt: skip
        source = self.root.sources.setdefault(function, Source(function))
        frame = Frame(self.builder, source, self, self.parallel_level)
        frame.scope.names.update(names)
        frame.outer_scope = self.outer_scope
        loc = self.builder.loc
        frame.run(body_of(frame.source.tree))
        self.builder.loc = loc
        self.root.captured[function] = source.captured
        return result_of(self, function, frame.result)

    def capture(self, path: str, found: Any, whole: bool) -> None:
        """Record the value of a captured name or attribute: `settings.dt`.

        With `whole`, the object itself is used, so all of its attributes may matter.
        """
        if self.scope.find(path.partition(".")[0]) is None and not isinstance(found, ModuleType):
            (note_whole if whole else note)(self.source.captured, path, found)

    def field(self, spec: FieldSpec) -> ir.Array:
        """Return the array of a field in this kernel."""
        arrays = self.root.arrays
        for known in arrays:
            if known.path == spec.name:
                return known
        shape = (*spec.shape, *spec.inner)
        arrays.append(
            ir.Array(
                spec.name,
                spec.dtype,
                len(shape),
                ir.Space.FIELD,
                shape,
                spec.inner,
                spec.needs_grad,
                spec.needs_dual,
            )
        )
        return arrays[-1]

    def stops(self, array: ir.Array) -> bool:
        """Return whether reads of an array are constants to gradients, here or in a calling function."""
        return self.scope.stops(array) or (self.caller is not None and self.caller.stops(array))

    def in_parallel_loop(self) -> bool:
        """Return whether the innermost loop of this frame is a parallel one."""
        return (
            self.parallel_loops > 0
            and len([each for each in self.loops if each is None]) == self.parallel_loops
        )

    @property
    def root(self) -> Frame:
        """The frame of the kernel."""
        return self if self.caller is None else self.caller.root


def kind_of(found: Any) -> str:
    """Return the description of a compile-time object for messages."""
    if isinstance(found, ir.Array):
        return f"the array {found.path!r}"
    if isinstance(found, ir.Param):
        return f"the parameter {found.path!r}"
    if isinstance(found, (ir.Value, ir.Local)):
        return f"a number of type {found.type}"
    if type(found).__name__ in NOUNS:
        return NOUNS[type(found).__name__].format(found)
    name = getattr(found, "__name__", None)
    return f"{type(found).__name__} {name}" if name else f"a {type(found).__name__}"


# Names of the frontend's own classes in messages.
NOUNS = {
    "Vector": "a vector", "VectorElement": "a vector", "Struct": "a {0.cls.__name__}",
    "Element": "an element of {0.array.path!r}",
    "IndexRange": "a range", "Bound": "the method {0.name!r}", "TypeOf": "the type {0.type}", "Static": "a cg.static",
    "NoneType": "None", "tuple": "a tuple",
}  # fmt: skip
NAMES = {
    "Try": "try", "Raise": "raise", "Lambda": "lambda", "ClassDef": "class", "Import": "import", "ImportFrom": "import",
    "Delete": "del", "Yield": "yield", "YieldFrom": "yield from", "Global": "global", "Nonlocal": "nonlocal",
    "Match": "match", "With": "with", "FunctionDef": "a function inside a function",
    "AsyncFunctionDef": "async def", "AsyncWith": "async with", "AsyncFor": "async for",
    "Await": "await", "Set": "a set", "SetComp": "a set comprehension", "GeneratorExp": "a generator expression",
    "Starred": "*", "keyword": "**", "JoinedStr": "an f-string outside print and assert", "Slice": "a slice",
}  # fmt: skip
REMEDIES = {
    "Try": "check the condition with if", "Raise": "use assert", "FunctionDef": "define it outside, with @cg.func",
    "Lambda": "define a function outside, with @cg.func", "Slice": "write a loop over the indices",
    "Match": "write if and elif", "Starred": "write each of them", "keyword": "write each of them",
    "Import": "import outside of the kernel", "ImportFrom": "import outside of the kernel",
}  # fmt: skip
