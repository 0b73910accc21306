# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The translation of one function. Calls are inlined: each makes another frame on the same builder."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from itertools import chain
from types import ModuleType
from typing import Any

import numpy as np

from cuda_graphs.compiler.errors import (
    CompileError,
    CompileLoopError,
    CompileTypeError,
    UnsupportedSyntaxError,
    compile_error,
)
from cuda_graphs.compiler.frontend import free_values
from cuda_graphs.compiler.frontend.free_values import FreeValues
from cuda_graphs.compiler.frontend.source import Source
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import ScalarType, bool_, promote
from cuda_graphs.compiler.language.annotations import FieldSpec
from cuda_graphs.compiler.language.number_rules import USUAL, NumberRules
from cuda_graphs.compiler.records import record

from . import remedies
from .called import CalledFunctions
from .graph_state import GraphState
from .parallel_loop import ParallelLoop
from .paths import OpenPath, Path, Paths, ReturnPoint
from .scope import Scope
from .values import (
    VARIABLES,
    BoundFunction,
    Component,
    Computed,
    Element,
    Static,
    Struct,
    Vector,
    VectorElement,
    describe,
)
from .weak_types import WeakTypes

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@record
class Syntax:
    """The translations of all constructs. They use the frame, so they stand above this file (syntax.py).

    statement   translates a statement of a frame; the flag is True for the last statement of a block
    expression  translates an expression of a frame, and returns its meaning
    call        translates the call of a method of a structure on values, and returns its result
    """

    statement: Callable[[Frame, ast.stmt, bool], None]
    expression: Callable[[Frame, ast.expr], Any]
    call: Callable[[Frame, BoundFunction, list[Any]], Any]


class Frame:
    """The state of the translation of one function.

    syntax          the translations of statements and expressions
    parallel_level  a loop here is a task of its own: no run-time control flow surrounds it
    parallel        the current statement is in a parallel loop
    """

    def __init__(
        self,
        builder: Builder,
        source: Source,
        syntax: Syntax,
        caller: Frame | None = None,
        parallel_level: bool = False,
    ) -> None:
        self.builder, self.source, self.syntax, self.caller = builder, source, syntax, caller
        self.depth: int = 0 if caller is None else caller.depth + 1
        self.call_loc: ir.Loc | None = None if caller is None else builder.loc
        self.parallel_level = parallel_level
        self.parallel: bool = False if caller is None else caller.parallel
        # The enclosing loops in this frame: the block of a static loop, None for other loops.
        self.loops: list[ir.Block | None] = []
        self.arrays: list[ir.Array] = []  # of the kernel
        self.parallel_loops = 0  # of `loops`: 1 in a parallel loop of this frame
        self.scope = Scope()
        self.outer_scope: Scope | None = None  # this scope and its parents existed before the parallel loop
        self.parameters: set[str] = set()
        # What the parameters of a kernel have in place of objects from outside, by function and path.
        self.outside: dict[tuple[Callable[..., Any], str], Any] = {} if caller is None else caller.outside
        self.returned: tuple[ScalarType, ...] = ()
        self.free_values: FreeValues = {}  # of the inlined functions
        self.sources: dict[Callable[..., Any], Source] = {}  # of a kernel: those of functions that it calls
        self.next_loop: tuple[ir.LoopSettings, ir.Loc | None] | None = None  # settings of cg.loop_config
        self.root_block, self.start = builder.block, len(builder.block.body)
        self.returns: list[ReturnPoint] = []
        self.path: Path = None  # after the current statement
        self.has_returned, self.tests_return = ir.Local("returned", bool_), False
        self.is_behind_return = (
            False  # the current statement would be at the parallel level without a return before
        )
        self.parallel_loop: ParallelLoop | None = None  # of a kernel: the current one
        self.shared_arrays = 0  # of a kernel: their number
        self.return_types: tuple[ScalarType, ...] | None = None  # of a kernel: the annotated types
        self.graph_state: GraphState | None = None  # of a graph kernel
        self.lone_call: ast.Call | None = None  # the call that is the current statement
        self.is_lone = False  # nothing uses the result of the call whose arguments are translated
        self.weak_types: WeakTypes = WeakTypes() if caller is None else caller.weak_types
        self.called: CalledFunctions = CalledFunctions() if caller is None else caller.called
        self.rules: NumberRules = USUAL if caller is None else caller.rules

    def run(self, statements: list[ast.stmt]) -> None:
        """Translate statements of this function, in order."""

        def translate(i: int) -> None:
            self.at(statements[i])
            self.syntax.statement(self, statements[i], i == len(statements) - 1)

        self.sequence(partial(translate, i) for i in range(len(statements)))
        self.require_no_settings()

    def sequence(self, steps: Iterator[Callable[[], None]]) -> None:
        """Translate one step after the other, each on the paths that have not returned yet."""
        for step in steps:
            step()
            if self.path is not None:
                self.go_on(steps)
                return

    def go_on(self, steps: Iterator[Callable[[], None]]) -> None:
        """Translate the steps after one that may have returned."""
        path, self.path, loc = self.path, None, self.builder.loc
        if path is Paths.ENDED:
            self.path = path  # the rest never runs
        elif isinstance(path, OpenPath):
            with self.rest_in(path):
                self.sequence(steps)
        elif self.in_run_time_loop():
            self.put_if_returned(ir.Block([ir.Break(loc)]), ir.Block(), loc)
            self.sequence(steps)
        else:
            first = next(steps, None)
            if first is None:
                self.path = path
                return
            rest = ir.Block()
            self.put_if_returned(ir.Block(), rest, loc)
            with self.rest_in(OpenPath(rest, Scope(self.scope, at_run_time=True))):
                self.sequence(chain((first,), steps))

    def put_if_returned(self, then: ir.Block, orelse: ir.Block, loc: ir.Loc | None) -> None:
        """Put an If on the flag that the function has returned."""
        self.tests_return = True
        self.builder.put(ir.If(self.builder.put(ir.Get(self.has_returned, loc)), then, orelse, loc))

    def in_run_time_loop(self) -> bool:
        """Return whether a loop of this frame surrounds the current statement, besides unrolled loops."""
        return any(each is None for each in self.loops)

    @contextmanager
    def rest_in(self, path: OpenPath) -> Iterator[None]:
        """Continue the statements of the current block on the only path that goes on."""
        before = self.scope, self.parallel_level, self.is_behind_return, self.loops
        if self.loops and self.loops[-1] is self.builder.block:
            self.loops = [*self.loops[:-1], path.block]
        self.is_behind_return = self.is_behind_return or self.parallel_level
        self.scope, self.parallel_level = path.scope, False
        try:
            with self.builder.into(path.block):
                yield
        finally:
            self.scope, self.parallel_level, self.is_behind_return, self.loops = before
            self.path = self.path or path

    def at(self, node: ast.AST) -> ir.Loc:
        """Make the position of a node the current one, and return it."""
        self.builder.loc = self.source.loc(node, self.call_loc)
        return self.builder.loc

    def visit(self, node: ast.expr) -> Any:
        """Translate an expression; return its meaning."""
        found = self.visit_number(node)
        return self.read(found) if isinstance(found, Computed) else found

    def visit_number(self, node: ast.expr) -> Any:
        """Translate an expression. Arithmetic on numbers of the source is Computed, for callers that need it exact."""
        outer = self.builder.loc
        self.at(node)
        result = self.syntax.expression(self, node)
        self.builder.loc = outer
        return result

    def in_order(self, nodes: Sequence[ast.expr], visit: Callable[[ast.expr], Any]) -> list[Any]:
        """Return the meanings of expressions, each with the value that it has in its turn. `visit` translates one."""
        return [self.before(visit(each), nodes[number:]) for number, each in enumerate(nodes, 1)]

    def before(self, found: Any, later: Sequence[ast.AST]) -> Any:
        """Return the meaning of an expression before `later` ones, whose calls may change its value."""
        if isinstance(found, (tuple, *VARIABLES)) and any(map(may_change_variables, later)):
            return self.snapshot(found)
        return found

    def snapshot(self, found: Any) -> Any:
        """Return what keeps the present value of variables. Other objects stay."""
        if isinstance(found, tuple):
            return tuple(self.snapshot(part) for part in found)
        is_of_source = isinstance(found, Vector) and found.numbers
        return self.read(found) if isinstance(found, VARIABLES) and not is_of_source else found

    def refuse(self, node: ast.AST) -> CompileError:
        """Return the error for Python syntax that kernels do not support."""
        name = type(node).__name__
        return compile_error(
            UnsupportedSyntaxError, self.at(node), f"{remedies.NAMES.get(name, name)} is not supported in kernels",
            remedies.SYNTAX.get(name, "write it with if, for, while, and calls of functions"),
        )  # fmt: skip

    @contextmanager
    def block(self, block: ir.Block, parallel_level: bool = False) -> Iterator[None]:
        """Put statements into a block of the IR with a scope of its own."""
        before = self.scope, self.parallel_level
        self.scope, self.parallel_level = Scope(self.scope, at_run_time=True), parallel_level
        with self.builder.into(block):
            try:
                yield
            finally:
                self.scope, self.parallel_level = before

    def read(self, found: Any) -> Any:
        """Return the current value: numbers become Values, places are loaded, other objects stay."""
        builder = self.builder
        match found:
            case ir.Local():
                exact = self.weak_types.constant(found)
                if exact is not None:
                    return ir.Const(exact, found.type, builder.loc)
                return builder.put(ir.Get(found, builder.loc))
            case ir.Value():
                return found
            case Static():
                return self.read(found.value)
            case Computed():
                return found.constant()
            case Element():
                loaded = builder.put(ir.Load(found.array, found.index, builder.loc))
                stops = loaded.type.kind == "float" and self.stops(found.array)
                return builder.op("stop_grad", loaded) if stops else loaded
            case Component():
                return self.chosen(found)
            case VectorElement():
                return found.elements.map(self.read)
            case Vector():
                return found.map(self.read)
            case Struct():
                return found.map(self.read)
            case tuple():
                return tuple(self.read(part) for part in found) if has_places(found) else found
        return builder.literal(found) if isinstance(found, NUMBERS) else found  # type: ignore[arg-type]

    def chosen(self, component: Component) -> ir.Value:
        """Return the value of the component that a run-time index chooses, in the type of all components."""
        builder, index = self.builder, component.index
        parts = [
            self.read(part) for part in component.parts
        ]  # the indices of cg.grouped may have several types
        joined = reduce(promote, [part.type for part in parts])
        *others, result = [builder.cast(part, joined) for part in parts]
        for i, other in reversed(list(enumerate(others))):
            is_it = builder.op("equal", index, ir.Const(i, index.type))
            result = self.choice(is_it, other, result)
        return result

    def choice(self, is_first: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        """Return one of two values of one type. A choice between floats of the source keeps their digits."""
        builder = self.builder
        local: ir.Local | None = None
        if a.type.kind == "float" and not isinstance(is_first, ir.Const):
            local = self.weak_types.declare_made(builder.loc, "choice", a.type, a, b)
        if local is None:
            return builder.op("select", is_first, a, b)
        chosen = builder.op("select", is_first, builder.cast(a, local.type), builder.cast(b, local.type))
        builder.put(ir.Set(local, chosen, builder.loc))
        return builder.put(ir.Get(local, builder.loc))

    def value(self, node: ast.expr, what: str = "this expression") -> ir.Value:
        """Translate an expression that must be a scalar."""
        return self.scalar(self.visit(node), what)

    def scalar(self, found: Any, what: str = "this expression") -> ir.Value:
        """Return a number or a place as a value."""
        result = self.read(found)
        if not isinstance(result, ir.Value):
            raise compile_error(
                CompileTypeError, self.builder.loc, f"{what} must be a number, not {describe(found)}",
                remedies.remedy_of_number(found),
            )  # fmt: skip
        return result

    def require_no_settings(self) -> None:
        """Raise if no loop has used the settings of the last cg.loop_config."""
        if self.next_loop is not None:
            raise compile_error(
                CompileLoopError, self.next_loop[1], "cg.loop_config is not followed by a loop that it could configure",
                "put it right before a `for` over range, cg.ndrange, cg.grouped or an array, in the same function",
            )  # fmt: skip

    def record(self, path: str, found: Any, whole: bool) -> None:
        """Record the value of a free name or of its attribute: `settings.dt`.

        With `whole`, the object itself is used, so all of its attributes may matter.
        """
        if self.scope.find(path.partition(".")[0]) is None and not isinstance(found, ModuleType):
            record = free_values.record_object if whole else free_values.record
            record(self.source.free_values, path, found)

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
                offset=spec.offset,
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


def may_change_variables(node: ast.AST) -> bool:
    """Return whether an expression has a call or an assignment."""
    return any(isinstance(each, (ast.Call, ast.NamedExpr)) for each in ast.walk(node))


def has_places(found: tuple[Any, ...]) -> bool:
    """Return whether parts of a tuple change at run time."""
    return any(
        has_places(part)
        if isinstance(part, tuple)
        else isinstance(part, (ir.Value, ir.Local, Vector, Element, VectorElement, Struct))
        for part in found
    )
