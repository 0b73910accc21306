# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The members of objects that the text of functions uses, at any depth.

`self.part.scale` uses the member `scale` of the member `part`, and nothing else of that object.
"""

from __future__ import annotations

import ast
import dataclasses
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from cuda_graphs.compiler.frontend.source import Source

__all__ = [
    "STAR", "MemberUses", "Uses", "is_func", "is_inlined", "merged", "plain", "uses_at", "uses_from", "uses_in",
    "uses_of",
]  # fmt: skip

Uses = dict[str, Any]
"""Name of a member -> the Uses of that member; None for a member that is used as a whole.

A member that is unpacked, as in `*self.shape`, is also there by its name with STAR before it.
"""

STAR = "*"


@dataclasses.dataclass(frozen=True)
class MemberUses:
    """The members of `self` that a kernel names, and the methods that it calls, at any depth."""

    names: Uses | None  # None if the kernel passes `self` on, so that it may use all members
    functions: tuple[Callable[..., Any], ...]

    def hold(self, cls: type) -> bool:
        """Return True if the class still has these functions."""
        return all(getattr(cls, each.__name__, None) is each for each in self.functions)

    def plain_functions(self) -> list[Callable[..., Any]]:
        """Return the functions without their decorators."""
        return [plain(each) for each in self.functions]


def uses_of(function: Callable[..., Any], cls: type) -> MemberUses:
    """Return the MemberUses of a kernel and of the methods that it calls, at any depth."""
    return uses_from(uses_in(function), cls)


def uses_from(uses: Uses | None, cls: type) -> MemberUses:
    """Return the MemberUses of code that uses these members, and of the methods that it calls, at any depth."""
    functions: list[Callable[..., Any]] = []
    waiting = [uses]
    while waiting:
        names = waiting.pop()
        for name in dir(cls) if names is None else names:
            method: Any = getattr(cls, name, None)
            if is_inlined(method) and not name.startswith("__") and method not in functions:
                functions.append(method)
                waiting.append(uses_in(plain(method)))
    return MemberUses(uses, tuple(functions))


def uses_in(function: Callable[..., Any]) -> Uses | None:
    """Return the members of its first argument that a function uses; None if it passes that argument on."""
    if function not in known_uses:
        code = function.__code__
        known_uses[function] = uses_at(function, code.co_varnames[0]) if code.co_argcount else {}
    return known_uses[function]


known_uses: weakref.WeakKeyDictionary[Callable[..., Any], Uses | None] = weakref.WeakKeyDictionary()


def uses_at(function: Callable[..., Any], path: str) -> Uses | None:
    """Return the members of the object at a dotted path that a function uses; None if it uses it as a whole."""
    start = path.split(".")
    found: Uses | None = {}
    for each in paths(Source(function).tree):
        if each[: len(start)] == start:
            found = merged(found, nested(each[len(start) :]))
    return found


def paths(tree: ast.AST) -> Iterator[list[str]]:
    """Yield the names of each `a.b.c` in a tree, once for the longest path; for `*a.b.c`, yield that with STAR too."""
    names: list[str] = []
    inner = tree.value if isinstance(tree, ast.Starred) else tree
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    if isinstance(inner, ast.Name):
        names = [inner.id, *reversed(names)]
        yield names
        if isinstance(tree, ast.Starred):
            yield [*names[:-1], STAR + names[-1]]
        return
    for each in ast.iter_child_nodes(inner):
        yield from paths(each)


def nested(names: list[str]) -> Uses | None:
    """Return the Uses of one path."""
    return {names[0]: nested(names[1:])} if names else None


def merged(a: Uses | None, b: Uses | None) -> Uses | None:
    """Return the Uses of code with both uses."""
    if a is None or b is None:
        return None
    both = {name: merged(a[name], b[name]) for name in a.keys() & b.keys()}
    return {**a, **b, **both}


def plain(function: Any) -> Callable[..., Any]:
    """Return a function without its decorator."""
    found: Callable[..., Any] = getattr(function, "__cuda_graphs_func__", function)
    return found


def is_inlined(value: Any) -> bool:
    """Return True for a member of a class that kernels inline: a `func`, or a plain method."""
    return is_func(value) or isinstance(value, types.FunctionType)


def is_func(value: Any) -> bool:
    """Return True for a `func`, or for a method that is a `func`."""
    return hasattr(value, "__cuda_graphs_func__")
