# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The source of a function: its syntax tree, with the line numbers of its file, and the values of its names."""

from __future__ import annotations

import ast
import builtins
import linecache
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cuda_graphs.compiler.errors import CompileError, CompileNameError, CompileSyntaxError, compile_error
from cuda_graphs.compiler.frontend import free_values
from cuda_graphs.compiler.ir import ir

from .definitions import block_of, definition_in

# Parts of a function whose assignments are not its own.
OWN_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(eq=False)
class Source:
    """One function. `free_values` collects the globals and closure variables that were read, with their values.

    `values` keeps the first value of each name. Later changes by other threads have no effect on the translation.
    """

    function: Callable[..., Any]
    free_values: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def file(self) -> str:
        return self.function.__code__.co_filename

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file."""
        linecache.checkcache(self.file)
        return linecache.getlines(self.file, self.function.__globals__)

    @cached_property
    def definition(self) -> tuple[str, ast.stmt]:
        """The text and the syntax of the function itself, even if it wraps another one."""
        first = self.function.__code__.co_firstlineno
        if first > len(self.lines):
            raise self.without_source()
        found = definition_in(self.lines, first)
        if found is None:
            raise self.not_by_def()
        return found

    @cached_property
    def text(self) -> str:
        """The source in the file."""
        if self.is_lambda:
            first = self.function.__code__.co_firstlineno
            if first > len(self.lines):
                raise self.without_source()
            return block_of(self.lines[first - 1 :])
        return self.definition[0]

    @property
    def is_lambda(self) -> bool:
        return self.function.__code__.co_name == "<lambda>"

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The definition, with line and column numbers of the file. A lambda returns its expression."""
        if self.is_lambda:
            if not self.lines:
                raise self.without_source()
            return definition_of(find_lambda(self.function.__code__, self.lines))
        found = self.definition[1]
        if not isinstance(found, ast.FunctionDef):
            raise self.not_by_def()
        return found

    def without_source(self) -> CompileError:
        return compile_error(
            CompileSyntaxError, None, f"the source of {self.function.__qualname__} cannot be found ({self.file})",
            "define kernels in a file or a notebook cell; code made by exec needs an entry in linecache",
        )  # fmt: skip

    def not_by_def(self) -> CompileError:
        return compile_error(
            CompileSyntaxError, None, f"{self.function.__qualname__} is not made by def", "use a def"
        )

    @property
    def body(self) -> list[ast.stmt]:
        """The statements without the docstring."""
        return body_of(self.tree)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The names that the statements assign, without those of functions and comprehensions inside."""
        found: set[str] = set()
        todo: list[ast.AST] = [*self.tree.body]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            if not isinstance(node, OWN_SCOPES):
                todo += ast.iter_child_nodes(node)
        return frozenset(found)

    def loc(self, node: Any, caller: ir.Loc | None) -> ir.Loc:
        """Return the position of a node of the tree."""
        end = node.end_col_offset if node.end_lineno == node.lineno else 0
        return ir.Loc(self.file, node.lineno, node.col_offset, end, self.function.__name__, caller)

    def lookup(self, name: str, loc: ir.Loc) -> Any:
        """Return the value of a name that has none in the scopes of the translation.

        A name that the function assigns anywhere is a variable of the function and no global, as in Python.
        """
        cells = self.function.__code__.co_freevars
        if name in cells:
            value = self.function.__closure__[cells.index(name)].cell_contents  # type: ignore[index]
        elif name in self.own_names:
            raise not_defined(name, loc)
        elif name in self.function.__globals__:
            value = self.function.__globals__[name]
        elif hasattr(builtins, name):
            return getattr(builtins, name)
        else:
            raise not_defined(name, loc)
        value = self.once(name, value)
        self.record(name, value)
        return value

    def once(self, path: str, value: Any) -> Any:
        """Return the value of a path at its first read."""
        return self.values.setdefault(path, value)

    def record(self, path: str, value: Any) -> None:
        """Record the current value of a name, or of an attribute of a named object."""
        free_values.record(self.free_values, path, value)


def not_defined(name: str, loc: ir.Loc) -> CompileError:
    return compile_error(
        CompileNameError, loc, f"name {name!r} is not defined here",
        "a variable that is first assigned in an if or a loop exists only there: assign it before",
    )  # fmt: skip


def body_of(tree: ast.FunctionDef) -> list[ast.stmt]:
    """Return the statements of a definition without the docstring."""
    return tree.body[1:] if ast.get_docstring(tree) is not None else tree.body


LONGEST = 200  # lines of a statement before the line of a lambda in it
DEEP = " " * LONGEST  # an indent below any other


def find_lambda(code: types.CodeType, lines: list[str]) -> ast.Lambda:
    """Return the syntax of a lambda: the one at its line whose expression has the positions of its bytecode."""
    found = lambdas_at(lines, code.co_firstlineno)
    count = len(found)
    if count > 1:
        spans = set(code.co_positions())
        found = [
            each for each in found if span_of(each.body) in spans and names_of(each) == parameters_of(code)
        ]
    if len(found) != 1:
        why = f"is one of {count} in its line" if count else "is not in its file"
        raise compile_error(
            CompileSyntaxError, None, f"a lambda {why}, {code.co_filename}:{code.co_firstlineno}",
            "use a def, or put each lambda into a line of its own",
        )  # fmt: skip
    return found[0]


def lambdas_at(lines: list[str], number: int) -> list[ast.Lambda]:
    """Return the lambdas that begin at a line. The statement around them may begin at an earlier line.

    The whole file is parsed if that does not help: a line as `else: f(lambda: ...)` is no part of a shorter statement.
    """
    for start in range(number, max(number - LONGEST, 0), -1):
        found = lambdas_of(parse_statement(lines[start - 1 :], start), number)
        if found:
            return found
    try:
        return lambdas_of(ast.parse("".join(lines)), number)
    except SyntaxError:
        return []


def lambdas_of(tree: ast.Module, number: int) -> list[ast.Lambda]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and n.lineno == number]


def parse_statement(lines: list[str], number: int) -> ast.Module:
    """Return the statements from a line to the end of the first one with a lambda, without its block. The line numbers
    are those of the file."""
    text = block_of(lines)
    around = "if 1:\n" if text[:1].isspace() else "\n"
    for rest in ("", f"{DEEP}pass\n"):
        try:
            tree = ast.parse(f"{around}{text}{rest}")
        except SyntaxError:
            continue
        ast.increment_lineno(tree, number - 2)
        return tree
    return ast.Module([], [])


def span_of(node: ast.expr) -> tuple[int, int | None, int, int | None]:
    """Return the position of an expression, as `co_positions` gives those of instructions."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def names_of(node: ast.Lambda) -> tuple[str, ...]:
    return tuple(each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))


def parameters_of(code: types.CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def definition_of(node: ast.Lambda) -> ast.FunctionDef:
    """Return a lambda as the definition of a function."""
    made = ast.FunctionDef("<lambda>", node.args, [ast.copy_location(ast.Return(node.body), node.body)], [])
    return ast.copy_location(made, node)
